package bridge

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

// MethodCall is the method by which the host of an agent reports the calls of the game that it sees. It takes a [Call],
// and answers with [Verdicts].
const MethodCall = "heed/call"

// Call is the start or the end of a call of the game.
type Call struct {
	Agent string `json:"agent"` // as in heed/ack
	// ID and Tool name the call. An end without ID is of the oldest open call of the tool, and without both of all open
	// calls of the agent.
	ID     string       `json:"id,omitempty"`
	Tool   string       `json:"tool,omitempty"`
	Status event.Status `json:"status"`
}

// Verdicts are the verdicts of calls that ended, but for those that are clean.
type Verdicts struct {
	Verdicts []heed.Verdict `json:"verdicts"`
}

// reported holds the open calls that hosts of agents have reported.
type reported struct {
	pass atomic.Bool // all calls pass the gate: a reported one would count twice

	mu   sync.Mutex
	open []reportedCall // oldest first
}

type reportedCall struct {
	Call
	*session.Running
}

// maxReported bounds the open calls that are reported.
const maxReported = 256

// reportCall answers heed/call.
func (p *Proxy) reportCall(ctx context.Context, r *gabp.Request) (any, error) {
	var c Call
	if json.Unmarshal(r.Params, &c) != nil || c.Agent == "" || c.Status.Kind() != event.KindOperation {
		return nil, gabp.Errorf(gabp.CodeInvalidParams, "params: want the agent, id, tool and status of a call")
	}
	answer := Verdicts{Verdicts: []heed.Verdict{}}
	if !c.Status.Ended() {
		return answer, p.beginReported(c)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.gateTimeout) // the host may be gone
	defer cancel()
	for _, run := range p.reported.take(c) {
		if v, _, _ := run.End(ctx, c.Status, ""); p.attends && v.Outcome != coalesce.Clean {
			answer.Verdicts = append(answer.Verdicts, v)
		}
	}
	return answer, nil
}

// beginReported begins a call, unless it has begun, or passes the gate. Calls that were abandoned are forgotten.
func (p *Proxy) beginReported(c Call) error {
	t := &p.reported
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = slices.DeleteFunc(t.open, func(o reportedCall) bool {
		return p.session.Verdict(o.Running.ID()).Abandoned && o.Abandon()
	})
	switch {
	case t.pass.Load(), p.mod.current() != nil, c.ID != "" && slices.ContainsFunc(t.open, c.names):
		return nil
	case len(t.open) == maxReported:
		return gabp.Errorf(gabp.CodeBusy, "%d calls are open", maxReported)
	}
	t.open = append(t.open, reportedCall{c, p.session.Begin(session.Call{ID: c.ID, Tool: c.Tool, Consumer: c.Agent})})
	return nil
}

// take removes and returns the calls whose end c is.
func (t *reported) take(c Call) (ended []reportedCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = slices.DeleteFunc(t.open, func(o reportedCall) bool {
		ends := c.names(o) && (len(ended) == 0 || c.ID+c.Tool == "")
		if ends {
			ended = append(ended, o)
		}
		return ends
	})
	return ended
}

// names reports whether c names an open call.
func (c *Call) names(o reportedCall) bool {
	return c.Agent == o.Agent && (c.ID == "" || c.ID == o.Call.ID) && (c.Tool == "" || c.Tool == o.Tool)
}
