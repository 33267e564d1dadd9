package bridge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/coalesce"
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
	client := p.mod.client.Load()
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
	run := d.Running.(*session.Running)
	within := p.cfg.within(drainTimeout) - time.Since(came)
	n := p.mod.calls.begin()
	result, err := client.CallRaw(ctx, r.Method, r.Params)
	answered := isAnswer(err)
	if answered {
		p.mod.heard.Add(1)
	}
	run.Missed = drain(ctx, client, within)
	p.mod.calls.end(n, answered)
	if answered {
		p.watch.answers()
	}

	o := p.outcome(ctx, result, err)
	// The mod's own operation is a part of this call.
	if o.theirs != "" && run.ID() != "" {
		p.session.Observe(event.Operation{ID: o.theirs, Parent: run.ID()}.Entry())
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
		if run.ID() != "" {
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
	refusal := way.Refusal{Tool: tool, Why: why, Wait: "wait for the game, and list its tools"}
	return (&gabp.Error{Code: code, Message: p.way.Refuse(refusal)}).WithData(data)
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

// inBand returns the failure that a tool's result itself reports, its text, and the mod's operation.
func inBand(result json.RawMessage) (failed bool, text, operation string) {
	var r struct {
		Success, OK, IsError, Error, Message, ErrorMessage json.RawMessage
		OperationID, Operation, Meta                       json.RawMessage
		MetaMCP                                            json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(result, &r) != nil { // no object
		return false, "", ""
	}
	// A member of another type is ignored, and not decoded: it may be large.
	switch said := string(r.Success); {
	case said == "true" || said == "false":
		failed = said == "false"
	case string(r.OK) == "true" || string(r.OK) == "false":
		failed = string(r.OK) == "false"
	default:
		failed = string(r.IsError) == "true" || isObject(r.Error) || textIn(r.Error) != ""
	}
	if failed {
		text = cmp.Or(messageIn(r.ErrorMessage), messageIn(r.Error), messageIn(r.Message))
	}
	operation = cmp.Or(textIn(r.OperationID), textIn(r.Operation, "operationId"), textIn(r.Meta, "operationId"),
		textIn(r.MetaMCP, "operationId"))
	return failed, text, operation
}

// messageIn returns a text, or the member message of an object.
func messageIn(raw json.RawMessage) string { return cmp.Or(textIn(raw), textIn(raw, "message")) }

// textIn returns the text at a path of names in JSON text, "" if there is none.
func textIn(raw json.RawMessage, path ...string) string {
	for _, name := range path {
		var object map[string]json.RawMessage
		_ = json.Unmarshal(raw, &object) // nil if it is none
		raw = object[name]
	}
	var text string
	_ = json.Unmarshal(raw, &text) // "" if it is none
	return text
}

func isObject(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }

// finding holds the members that heed adds to an answer of the mod.
type finding struct {
	Executed  bool       `json:"executed,omitempty"`
	Attention *heed.Item `json:"attention,omitempty"`
	Notice    string     `json:"notice,omitempty"`  // acknowledgements by others
	Verdict   *verdict   `json:"verdict,omitempty"` // nil for a call that is no operation
}

// maxNoticed bounds the items that a notice names.
const maxNoticed = 4

// notice describes acknowledgements by others in heed's own words. more counts further ones. The answer has the item
// shown in full.
func notice(items []session.AckedByOther, more uint64, shown string) string {
	var b strings.Builder
	for i := range items[:min(len(items), maxNoticed)] {
		a := &items[i]
		by := "another agent"
		if session.Person(a.By) {
			by = "a person"
		}
		about := ""
		if a.Item.ID != shown {
			about = " (" + named(a.Item.Summary) + ")"
		}
		fmt.Fprintf(&b, "Item %s%s was acknowledged by %s, %q, at %s. ", named(a.Item.ID), about, by, named(a.By),
			stamp(a.Time).Format(time.RFC3339))
	}
	if more += uint64(max(0, len(items)-maxNoticed)); more > 0 {
		fmt.Fprintf(&b, "So were %d earlier ones; heed/timeline shows them. ", more)
	}
	return b.String() + "The game's state may have changed meanwhile: read it again."
}

// addAcks adds acknowledgements by others that the consumer has not received to found. They count as delivered to it.
func (p *Proxy) addAcks(ctx context.Context, consumer string, found *finding) {
	if !p.attends || ctx.Err() != nil { // the bridge has gone
		return
	}
	items, more := p.session.TakeAckedByOthers(consumer)
	if len(items) == 0 {
		return
	}
	if found.Attention == nil {
		found.Attention = gabp.Project(&items[0].Item)
	}
	found.Notice = notice(items, more, found.Attention.ID)
}

// verdict is the verdict of an operation on its result. A clean one has no reason and no text.
type verdict struct {
	Outcome      string                 `json:"outcome"`
	Reason       coalesce.VerdictReason `json:"reason,omitempty"`
	Text         string                 `json:"text,omitempty"`
	CleanThrough uint64                 `json:"cleanThrough"`
}

func shownVerdict(v *heed.Verdict) *verdict {
	shown := &verdict{Outcome: v.Outcome, CleanThrough: integer(v.CleanThrough)}
	if v.Outcome != coalesce.Clean {
		shown.Reason, shown.Text = v.Reason, v.Text
	}
	return shown
}

// amend adds what heed found to a result, or to the data of an error. An object gets it as members at its end, the rest
// of it stays byte for byte; if it has one of these names itself, they go into a member "heed", or "_heed" and so on
// if it has that, too. A value that is not an object becomes the member "value" of one. If there is nothing but a
// clean verdict, an object gets that alone, and any other value stays byte for byte.
func amend(result json.RawMessage, found finding) json.RawMessage {
	quiet := found.Attention == nil && (found.Verdict == nil || found.Verdict.Outcome == coalesce.Clean)
	if quiet && (found.Verdict == nil || !isObject(result)) {
		return result
	}
	if quiet {
		found.Executed = false
	}
	said := Encode(found)
	var has map[string]skipped
	object := json.Unmarshal(result, &has) == nil && has != nil
	taken := func(name string) bool { _, ok := has[name]; return ok }
	switch {
	case len(bytes.TrimSpace(result)) == 0:
		return said
	case !object:
		return slices.Concat([]byte(`{"value":`), result, []byte(","), said[1:])
	case !taken("executed") && !taken("attention") && !taken("verdict") && (found.Notice == "" || !taken("notice")):
		return join(result, said[1:len(said)-1])
	}
	name := "heed"
	for taken(name) {
		name = "_" + name
	}
	return join(result, []byte(`"`+name+`":`+string(said)))
}

// skipped discards a JSON value, which may be large.
type skipped struct{}

// UnmarshalJSON implements [json.Unmarshaler].
func (*skipped) UnmarshalJSON([]byte) error { return nil }

// join adds members to the end of an object.
func join(object, members []byte) json.RawMessage {
	object = bytes.TrimRight(object, " \t\r\n")
	object = bytes.TrimRight(object[:len(object)-1], " \t\r\n") // the brace
	out := make([]byte, 0, len(object)+len(members)+2)
	out = append(out, object...)
	if object[len(object)-1] != '{' {
		out = append(out, ',')
	}
	out = append(out, members...)
	return append(out, '}')
}

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
	Exempt bool         `json:"exempt,omitempty"` // its host never holds it back: it reads the game's state
	Held   string       `json:"held,omitempty"`   // the item for which the host denied it, which is no start
	Status event.Status `json:"status"`
}

// reported holds the open calls that hosts of agents have reported. They are operations that the engine knows, whose
// number is bounded.
type reported struct {
	pass atomic.Bool // all calls pass the gate: a reported one would count twice

	mu   sync.Mutex
	seen bool // a start
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
	if c.Held != "" {
		item, _ := p.session.Item(c.Held)
		p.source.Refused(gate.Decision{Call: c.call(), Attention: &item})
		return verdicts, nil
	}
	ended, missed := p.reported.take(p, c)
	if missed && p.attends {
		verdicts = append(verdicts, p.session.Verdict(c.ID))
		verdicts[0].Method = c.Tool
	}
	for _, run := range ended {
		if v, _, _ := run.End(ctx, c.Status, ""); p.attends && v.Outcome != coalesce.Clean {
			verdicts = append(verdicts, v)
		}
	}
	return verdicts, nil
}

// call returns c as the gate knows calls. One that its host never holds back reads the game's state.
func (c *Call) call() session.Call {
	call := session.Call{ID: c.ID, Tool: c.Tool, Consumer: c.Agent}
	if c.Exempt {
		call.Tags = []string{"read-only"}
	}
	return call
}

// take begins a call, unless it has begun, passes the gate or is exempt from it, or removes and returns the calls that
// end with c. A call that is never held back is no evidence of play, which ends a load, and no operation. A call that
// reads ends at once, since its end may not be reported. Calls that were abandoned are forgotten. A call that ends
// before any start was reported has begun before heed was started: it is missed.
func (t *reported) take(p *Proxy, c Call) (ended []reportedCall, missed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	names := func(o *reportedCall) bool {
		return c.Agent == o.Agent && (c.ID == "" || c.ID == o.Call.ID) && (c.Tool == "" || c.Tool == o.Tool)
	}
	var named, others []reportedCall
	for _, o := range t.open {
		if names(&o) && (named == nil || c.ID+c.Tool == "") {
			named = append(named, o)
		} else if v := p.session.Engine().Verdict(o.Running.ID()); v.Known && !v.Abandoned {
			others = append(others, o)
		} else {
			o.Abandon()
		}
	}
	call := c.call()
	seen := t.pass.Load() || p.mod.client.Load() != nil // by the gate
	passes := seen || p.gate.Exempt(&call) != ""
	if c.Status.Ended() {
		t.open = others
		return named, !t.seen && !passes && c.ID != ""
	}
	t.open, t.seen = append(named, others...), true
	switch {
	case c.Exempt && !seen:
		_, _, _ = p.session.Begin(call).End(context.Background(), event.StatusCompleted, "")
	case !passes && (c.ID == "" || named == nil):
		t.open = append(t.open, reportedCall{c, p.session.Begin(call)})
	}
	return nil, false
}
