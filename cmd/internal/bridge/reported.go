package bridge

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

// MethodCall is the method by which the host of an agent reports the calls of the game that it sees. It takes a [Call],
// and answers with the verdicts of the calls that ended, but for those that are clean.
const MethodCall = "heed/call"

// Call is the start or the end of a call of the game.
type Call struct {
	Agent string `json:"agent"` // as in heed/ack
	// ID and Tool name the call. An end without ID is of the oldest open call of the tool, and without both of all open
	// calls of the agent.
	ID     string       `json:"id,omitempty"`
	Tool   string       `json:"tool,omitempty"`
	Exempt bool         `json:"exempt,omitempty"` // its host never holds it back
	Status event.Status `json:"status"`
}

// reported holds the open calls that hosts of agents have reported. They are operations that the engine knows, whose
// number is bounded.
type reported struct {
	pass atomic.Bool // all calls pass the gate: a reported one would count twice

	mu   sync.Mutex
	open []reportedCall
}

type reportedCall struct {
	Call
	*session.Running
}

// reportCall answers heed/call.
func (p *Proxy) reportCall(ctx context.Context, r *gabp.Request) (any, error) {
	var c Call
	if json.Unmarshal(r.Params, &c) != nil || c.Agent == "" || c.Status.Kind() != event.KindOperation {
		return nil, gabp.Errorf(gabp.CodeInvalidParams, "params: want the agent, id, tool and status of a call")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.cfg.within(gateTimeout)) // the host may be gone
	defer cancel()
	verdicts := []heed.Verdict{}
	for _, run := range p.reported.take(p, c) {
		if v, _, _ := run.End(ctx, c.Status, ""); p.attends && v.Outcome != coalesce.Clean {
			verdicts = append(verdicts, v)
		}
	}
	return verdicts, nil
}

// take begins a call, unless it has begun, passes the gate or is exempt from it, or removes and returns the calls that
// end with c. A call that is never held back is no evidence of play, which ends a load, and no operation. Calls that
// were abandoned are forgotten.
func (t *reported) take(p *Proxy, c Call) (ended []reportedCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var named, others []reportedCall
	for _, o := range t.open {
		if c.names(&o) && (named == nil || c.ID+c.Tool == "") {
			named = append(named, o)
		} else if v := p.session.Engine().Verdict(o.Running.ID()); v.Known && !v.Abandoned {
			others = append(others, o)
		} else {
			o.Abandon()
		}
	}
	if c.Status.Ended() {
		t.open = others
		return named
	}
	t.open = append(named, others...)
	call := session.Call{ID: c.ID, Tool: c.Tool, Consumer: c.Agent}
	passes := c.Exempt || t.pass.Load() || p.mod.current() != nil || p.gate.Exempt(&call) != ""
	if !passes && (c.ID == "" || named == nil) {
		t.open = append(t.open, reportedCall{c, p.session.Begin(call)})
	}
	return nil
}

// names reports whether c names an open call.
func (c *Call) names(o *reportedCall) bool {
	return c.Agent == o.Agent && (c.ID == "" || c.ID == o.Call.ID) && (c.Tool == "" || c.Tool == o.Tool)
}
