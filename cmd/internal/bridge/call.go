package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/gabp/gate"
)

// callTool answers tools/call.
func (p *Proxy) callTool(ctx context.Context, r *gabp.Request) (any, error) {
	call, _ := gabp.ParseToolCall(r.Params) // the server has checked them
	if result, known, err := p.diagnostics.Call(ctx, r.Session.Consumer, call); known {
		return result, err
	}
	return p.pass(ctx, r, call.Name)
}

// passMethod answers a method that is not heed's, or is between programs of heed and so no capability. Mods have tools
// under the names of methods, too.
func (p *Proxy) passMethod(ctx context.Context, r *gabp.Request) (any, error) {
	if r.Method == MethodCall {
		return p.reportCall(ctx, r)
	}
	return p.pass(ctx, r, r.Method)
}

// pass passes a request to the mod, past the gate, as an operation: the only way to the game. A tool or method that the
// mod's list tags is exempt, or no operation, by its tags.
func (p *Proxy) pass(ctx context.Context, r *gabp.Request, tool string) (any, error) {
	consumer := r.Session.Consumer
	client := p.mod.current()
	if client == nil {
		return nil, p.noMod(ctx, r, tool)
	}
	came := time.Now()
	d := p.gate.Check(ctx, gate.Call{
		ID: strconv.FormatUint(p.calls.Add(1), 10), Tool: tool, Tags: p.mod.tagsOf(tool), Consumer: consumer,
		// The mod's own attention, if it is left to the mod, is asked for before each call.
		Diagnostics: !p.attends && slices.Contains(attentionMethods, r.Method),
	})
	if !d.Allowed {
		return nil, p.refuse(ctx, consumer, &d)
	}
	operation := ""
	run, recorded := d.Running.(*session.Running)
	if recorded {
		operation = run.ID()
	}
	within := p.cfg.within(drainTimeout) - time.Since(came)
	n := p.mod.calls.begin()
	result, err := client.CallRaw(ctx, r.Method, r.Params)
	answered := isAnswer(err)
	if answered {
		p.mod.heard.Add(1)
	}
	if err := drain(ctx, client, within); recorded {
		run.Missed = err
	}
	p.mod.calls.end(n, answered)
	if answered {
		p.watch.answers()
	}

	o := p.outcome(ctx, result, err)
	// The mod's own operation is a part of this call.
	if o.theirs != "" && operation != "" {
		p.session.Observe(event.Operation{ID: o.theirs, Parent: operation}.Entry())
	}
	// The outcome is recorded even if the bridge is gone.
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.cfg.within(gateTimeout))
	defer cancel()
	res := p.gate.Done(done, d, o.status, o.text)
	if o.status == event.StatusCompleted && slices.Contains(stateMethods, r.Method) {
		p.session.StateRead()
	}
	if o.verbatim != nil { // it has no place for an item, which holds the next call back
		return nil, o.verbatim
	}
	var found finding
	if p.attends {
		found.Attention = gabp.Project(res.Related)
		if operation != "" {
			found.Verdict = shownVerdict(&res.Verdict)
			p.addAcks(ctx, consumer, &found)
		}
	}
	if o.failure != nil {
		_, found.Executed = errors.AsType[*gabp.Error](err) // without an answer it is not known
		data := amend(o.failure.Data, found)
		return nil, &gabp.Error{Code: o.failure.Code, Message: o.failure.Message, Data: data}
	}
	found.Executed = true
	return amend(result, found), nil
}

// outcome is how a call ended that was forwarded to the mod.
type outcome struct {
	status event.Status
	text   string // error of a call that did not complete, or did not follow the protocol
	theirs string // the mod's own operation

	failure  *gabp.Error    // the answer to the bridge, if that is an error
	verbatim *gabp.Verbatim // the same, if it does not follow the protocol
}

// outcome returns how a call ended by the answer of the mod, or the lack of one.
func (p *Proxy) outcome(ctx context.Context, result json.RawMessage, err error) outcome {
	o := outcome{status: event.StatusCompleted}
	if o.verbatim = p.mod.verbatim(err); o.verbatim != nil {
		if o.verbatim.Failed {
			o.status = event.StatusFailed
		}
		o.text = "the mod's answer does not follow the protocol and was passed on unchanged: " + o.verbatim.Err.Message
		return o
	}
	if err != nil {
		o.failure, o.status = modError(ctx, err)
		p.explain(ctx, o.failure, err)
		o.text = o.failure.Message
		return o
	}
	var bad bool
	if bad, o.text, o.theirs = inBand(result); bad {
		o.status = event.StatusFailed
	}
	return o
}

// blocked is the data of the error that a refused call is answered with.
type blocked struct {
	Executed  bool       `json:"executed"` // false
	Status    string     `json:"status"`   // "blocked_by_attention", or "no_mod"
	Tool      string     `json:"tool"`
	Attention *heed.Item `json:"attention,omitempty"`
	Notice    string     `json:"notice,omitempty"` // acknowledgements by others
}

// refuse returns the answer to a call that was held back.
func (p *Proxy) refuse(ctx context.Context, consumer string, d *gate.Decision) *gabp.Error {
	r := way.Refusal{Tool: d.Call.Tool, Item: d.Attention, Why: d.Why}
	found := finding{Attention: gabp.Project(r.Item)}
	p.addAcks(ctx, consumer, &found)
	if r.Item != nil {
		r.Told = p.diagnostics.briefHead(ctx, r.Item)
	}
	if r.Told != "" { // it has the texts
		found.Attention.Sample, found.Attention.Summary = nil, cmp.Or(r.Item.Title, r.Item.Summary)
	}
	return (&gabp.Error{Code: gabp.CodeToolUnavailable, Message: p.way.Refuse(r)}).WithData(blocked{
		Status: "blocked_by_attention", Tool: r.Tool, Attention: found.Attention, Notice: found.Notice,
	})
}

// noMod refuses a request that no mod can execute.
func (p *Proxy) noMod(ctx context.Context, r *gabp.Request, tool string) *gabp.Error {
	data := blocked{Status: "no_mod", Tool: tool}
	why := "no mod is connected to execute " + tool
	if a, open, err := p.source.Current(ctx, r.Session.Consumer); err == nil && open {
		data.Attention = gabp.Project(&a)
		why += "; " + a.Summary
	}
	code := gabp.CodeMethodNotFound
	switch r.Method {
	case gabp.MethodToolsCall:
		code = gabp.CodeToolUnavailable
	case gabp.MethodResourcesRead:
		code = gabp.CodeResourceNotFound
	}
	return (&gabp.Error{Code: code, Message: p.way.Refuse(way.Refusal{Tool: tool, Why: why})}).WithData(data)
}

var (
	// stateMethods are the methods by which a mod returns the game's state.
	stateMethods = []string{"state/get", gabp.MethodResourcesRead}

	attentionMethods = []string{gabp.MethodAttentionCurrent, gabp.MethodAttentionAck}
)

// modError returns the answer to a bridge for an error of a call to the mod: the mod's own error, or the loss of the
// connection; and how the call ended. The data of a loss say that it is not known whether the request was executed.
func modError(ctx context.Context, err error) (*gabp.Error, event.Status) {
	if e, answered := errors.AsType[*gabp.Error](err); answered {
		switch e.Code {
		case gabp.CodeTooLarge:
			return gabp.Errorf(e.Code, "%s; its result was dropped, the setting max-message lets larger ones pass", e.Message),
				event.StatusCompleted
		case gabp.CodeToolTimeout, gabp.CodeTimeout:
			return e, event.StatusTimedOut
		}
		return e, event.StatusFailed
	}
	code, why, status := gabp.CodeToolFailed, "the connection to the game's mod was lost", event.StatusTimedOut
	if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		code, why = gabp.CodeToolTimeout, "the game's mod did not answer in time"
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		status = event.StatusCancelled // the bridge has gone
	}
	return gabp.Errorf(code, "%s; whether the request was executed is not known", why).
		WithData(map[string]string{"outcome": "unknown"}), status
}
