package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

// defaultTimeout is the default of [Config].Timeout. Bridges in the field wait two
// seconds.
const defaultTimeout = 1500 * time.Millisecond

// ErrNoAttention is returned by a [Source] without the attention capability.
var ErrNoAttention = errors.New("gate: no attention capability")

// Config configures a [Gate]. Source is required.
type Config struct {
	// Source has the attention, such as [Engine] or [Remote].
	Source Source

	// Allow names tools that are never held back, before any tag is looked at: exact names, or patterns of whole
	// segments between slashes, in which "*" matches one segment and a last "**" one or more ("saves/*", "debug/**"). A
	// part of a word is no pattern, and an error.
	Allow []string

	// FailOpen allows calls if the source failed. The default is to hold them back.
	FailOpen bool

	// Timeout bounds each Check and Ack, and the look of Done. Default 1.5 s.
	Timeout time.Duration
}

// New returns a gate for c, which it does not change. The error names the invalid
// field of c.
func New(c Config) (*Gate, error) {
	if c.Source == nil {
		return nil, errors.New("gate: Config.Source is nil; set it to what the gate asks, such as Engine, of an engine that is not nil, or Remote")
	}
	if c.Timeout < 0 {
		return nil, fmt.Errorf("gate: Config.Timeout is negative: %v", c.Timeout)
	}
	for i, p := range c.Allow {
		if err := validPattern(p); err != nil {
			return nil, fmt.Errorf("gate: Config.Allow[%d]: %w", i, err)
		}
	}
	c.Allow, c.Timeout = slices.Clone(c.Allow), cmp.Or(c.Timeout, defaultTimeout)
	return &Gate{cfg: c, exemptions: exemptions(c.Allow)}, nil
}

// Source has the attention of a [Gate]. It must be safe for concurrent use, and return
// soon after the context ends.
type Source interface {
	// Current ingests all existing evidence, and returns the current item for a consumer, false if none is open.
	// Only a blocking item counts as delivered: the gate returns no other to the caller. [ErrNoAttention] means that
	// there is no attention; with any other error its state is unknown.
	Current(ctx context.Context, consumer string) (heed.Item, bool, error)

	// Ack acknowledges an item; see [Gate.Ack].
	Ack(ctx context.Context, consumer, id string, through uint64) (heed.AckResult, error)
}

// Recorder is a [Source] that records calls.
type Recorder interface {
	Source

	// Begin records that a call is about to be dispatched. An error says why the call cannot be recorded.
	Begin(call Call) (Running, error)

	// Refused records that a call was held back.
	Refused(d Decision)
}

// Running is a call in progress of a [Recorder].
type Running interface {
	// End records the end of the call, and returns its verdict and the item to return
	// to the caller, or nil. With an error, some evidence could not be ingested. It is
	// called once.
	End(ctx context.Context, status event.Status, errText string) (v heed.Verdict, related *heed.Item, err error)
}

// Gate decides about calls. Make one with [New]. It has no state of its own.
type Gate struct {
	cfg        Config
	exemptions string // for refusals
}

// Call is a call that is about to be dispatched.
type Call struct {
	// ID names the call. If the source journals calls under it ([Engine]), it must be unique: a call without one, or with
	// the ID of a call that runs, fails.
	ID string

	// Tool is the tool's full name, such as "colony/build".
	Tool string

	// Tags are the tool's own, as its provider declares them.
	Tags []string

	// Consumer names the caller: the source keeps deliveries under this name.
	Consumer string

	// Diagnostics marks a call that only reads what heed or the game reports of itself:
	// it is not journaled. Some tags have the same effect; see [Call.Diagnostic].
	Diagnostics bool
}

// Decision is the result of [Gate.Check]. It belongs to the caller.
type Decision struct {
	Call Call

	// Allowed reports whether the call may be dispatched. If not, it must not be.
	Allowed bool

	// Exempt is why the call was allowed without regard to attention:
	// "owner's list: saves/*", "tag: read-only", "no attention capability", or that
	// the source failed and the gate fails open. It is "" if the gate looked, and
	// nothing held the call back.
	Exempt string

	// Attention is the item that holds the call back, nil if none does. It counts
	// as delivered to the caller.
	Attention *heed.Item

	// Err is the error of the source. Such a call is allowed only if the gate fails
	// open.
	Err error

	// Refusal is a line about why the call was not executed and how to go on, ""
	// if it is allowed. It holds no log text.
	Refusal string

	// Why is the part of the refusal that says why the gate could not check, "" if it could.
	Why string

	// Running is the call under way, if the source is a [Recorder] and the call
	// is allowed; nil otherwise. [Gate.Done] ends it.
	Running Running

	before string // id of the item before the call, which did not block
	looked bool
}

// Result is the result of [Gate.Done]. It belongs to the caller.
type Result struct {
	// Executed reports whether the call was dispatched. It is false only for a
	// decision that did not allow it.
	Executed bool

	// Related is the item of the call's verdict, or an item that opened during the call; nil without any. It counts as
	// delivered to the caller. It is open, except for an acknowledged fault that returned and makes the outcome
	// unknown; that item holds no call back.
	Related *heed.Item

	// Verdict is the verdict of the call as an operation, if the source records calls. A call that only looks
	// ([Call.Diagnostic]) has a verdict, and a related item, only if an entry names its id, such as of a panic in it.
	Verdict heed.Verdict

	// Err is the error of the source, with which Related may be incomplete, or of a status that does not end a call.
	Err error
}

// Check decides about a call that is about to be dispatched. The source ingests all
// existing evidence first. A failure is part of the Decision. If it allows the call,
// [Gate.Done] must be called at its end.
func (g *Gate) Check(ctx context.Context, call Call) Decision {
	d := Decision{Call: call}
	if d.Exempt = g.Exempt(&call); d.Exempt == "" {
		g.look(ctx, &d)
	} else {
		d.Allowed = true
	}
	recorder, ok := g.cfg.Source.(Recorder)
	if ok && d.Allowed {
		var err error
		if d.Running, err = recorder.Begin(call); err != nil {
			g.fail(&d, "the call cannot be recorded", err)
		}
	}
	if ok && !d.Allowed {
		recorder.Refused(d)
	}
	return d
}

// fail decides about a call that the source failed.
func (g *Gate) fail(d *Decision, how string, err error) {
	d.Err, d.Allowed, d.Exempt, d.looked = err, g.cfg.FailOpen, "", false
	if g.cfg.FailOpen {
		d.Exempt = "the check failed, and the gate is set to fail open: " + reason(err)
		return
	}
	d.Why = how + " (" + reason(err) + ")"
	d.Refusal = "not executed: " + d.Why + "; check the game's state, then call again; " + g.exemptions
}

// look decides about a call that is not exempt.
func (g *Gate) look(ctx context.Context, d *Decision) {
	a, open, err := g.current(ctx, d.Call.Consumer)
	switch {
	case errors.Is(err, ErrNoAttention):
		d.Allowed, d.Exempt = true, "no attention capability"
	case err != nil:
		g.fail(d, "the gate cannot check for attention", err)
	case open && a.Blocking:
		d.Attention = &a
		d.Refusal = refusal(&a) + "; " + g.exemptions
	default:
		d.Allowed, d.looked = true, true
		if open {
			d.before = a.ID
		}
	}
}

// current is Source.Current within the gate's timeout.
func (g *Gate) current(ctx context.Context, consumer string) (heed.Item, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Timeout)
	defer cancel()
	a, open, err := g.cfg.Source.Current(ctx, consumer)
	if err == nil {
		err = ctx.Err() // a late answer may be outdated
	}
	return a, open, err
}

// refusal names the item that holds a call back, and how to go on.
func refusal(a *heed.Item) string {
	return "not executed: " + a.Summary + "; acknowledge " + text.Safe(a.ID, maxReason) +
		" with attention/ack, then call again"
}

// maxReason bounds the text of an error, which may be a peer's, in characters.
const maxReason = 160

func reason(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, context.Canceled):
		return "the call was cancelled"
	}
	return text.Safe(err.Error(), maxReason)
}

// Done reports the end of an allowed call, once for each Decision, and returns its
// consequences. Status is one of [event.StatusCompleted],
// [event.StatusFailed], [event.StatusCancelled] and [event.StatusTimedOut], and
// errText the error of a call that did not complete. With any other status the call
// ends as failed, and Result.Err says so.
func (g *Gate) Done(ctx context.Context, d Decision, status event.Status, errText string) Result {
	if !d.Allowed {
		return Result{}
	}
	res := Result{Executed: true}
	var wrong error
	if !status.Ended() {
		wrong = fmt.Errorf("gate: Done: status %s does not end a call, which counts as failed", status)
		status = event.StatusFailed
	}
	switch {
	case d.Running != nil:
		res.Verdict, res.Related, res.Err = d.Running.End(ctx, status, errText)
	case d.looked:
		a, open, err := g.current(ctx, d.Call.Consumer)
		switch {
		case err != nil:
			res.Err = err
		case open && (a.ID != d.before || a.Blocking || a.CausalOperationID != "" && a.CausalOperationID == d.Call.ID):
			res.Related = &a // it was not open before the call, or is worse, or names the call
		}
	}
	if wrong != nil {
		res.Err = errors.Join(wrong, res.Err)
	}
	return res
}

// Ack acknowledges the item with this id for a consumer, through this sequence number; 0 means the latest delivery by
// the source. An unknown id is no error.
func (g *Gate) Ack(ctx context.Context, consumer, id string, through uint64) (heed.AckResult, error) {
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Timeout)
	defer cancel()
	return g.cfg.Source.Ack(ctx, consumer, id, through)
}

// exemptTags are the tags of tools that are not held back: of what only looks, and of what starts and stops the game.
var exemptTags = []string{
	"diagnostic", "diagnostics", "health", "lifecycle", "observation", "read-only", "status", "telemetry",
	"attention-bypass",
}

// diagnosticTags are the tags of tools that only look: their calls are not
// journaled as operations. "lifecycle" and "attention-bypass" are not among them,
// since such calls change things.
var diagnosticTags = []string{"diagnostic", "diagnostics", "health", "observation", "read-only", "status", "telemetry"}

// Diagnostic reports whether the call only looks, by its flag or by a tag:
// diagnostic, diagnostics, health, observation, read-only, status, telemetry.
func (c *Call) Diagnostic() bool { return c.Diagnostics || c.tagged(diagnosticTags) != "" }

// readTags are the tags of tools that read the game's state, not its own reports such as its health.
var readTags = []string{"observation", "read-only"}

// ReadsState reports whether the call reads the game's state, by a tag: observation or
// read-only.
func (c *Call) ReadsState() bool { return !c.Diagnostics && c.tagged(readTags) != "" }

// tagged returns the first tag of the call that is one of tags, in lower case, or "".
func (c *Call) tagged(tags []string) string {
	for _, tag := range c.Tags {
		if slices.ContainsFunc(tags, func(t string) bool { return strings.EqualFold(t, tag) }) {
			return strings.ToLower(tag)
		}
	}
	return ""
}

// exemptions names the calls that are never held back, for refusals.
func exemptions(allow []string) string {
	exempt := "tools tagged " + strings.Join(exemptTags, ", ") + "; attention/current and attention/ack"
	if len(allow) > 0 {
		exempt = strings.Join(allow, ", ") + "; " + exempt
	}
	return "always allowed: " + exempt
}

// Exempt returns why a call is never held back, "" if it may be. The owner's list comes first.
func (g *Gate) Exempt(c *Call) string {
	for _, pattern := range g.cfg.Allow {
		if matches(pattern, c.Tool) {
			return "owner's list: " + pattern
		}
	}
	if tag := c.tagged(exemptTags); tag != "" {
		return "tag: " + tag
	}
	return ""
}

// validPattern refuses patterns of parts of words.
func validPattern(p string) error {
	segments := strings.Split(p, "/")
	for i, s := range segments {
		switch {
		case s == "":
			return fmt.Errorf("%q has an empty segment: name a tool, such as \"saves/list\"", p)
		case s == "*", s == "**" && i == len(segments)-1:
		case strings.Contains(s, "*"):
			return fmt.Errorf("%q: a star means one whole segment, as in \"saves/*\"; two stars at the end mean "+
				"several, as in \"saves/**\"", p)
		case strings.TrimSpace(s) != s:
			return fmt.Errorf("%q has a space around a segment", p)
		}
	}
	if segments[0] == "**" {
		return errors.New("\"**\" would allow every tool; remove the gate instead")
	}
	return nil
}

// matches reports whether the pattern matches a name.
func matches(pattern, name string) bool {
	for {
		p, morePattern, more := strings.Cut(pattern, "/")
		n, moreName, moreN := strings.Cut(name, "/")
		switch {
		case p == "**":
			return n != ""
		case n == "", p != "*" && p != n, more != moreN:
			return false
		case !more:
			return true
		}
		pattern, name = morePattern, moreName
	}
}

// Engine returns a [Recorder] on an engine in the same process. Calls become its
// operations under their ids, which must be unique; diagnostic ones ([Call.Diagnostic])
// do not, so that they have a verdict only if an entry names their id, and those that read
// the game's state ([Call.ReadsState]) are reported by [heed.Engine.StateRead] once they
// have completed. now returns the time of day, such as time.Now; nil means that entries
// have none. Without an engine there is no Recorder: it is nil.
//
// It does not wait for evidence: the host observes all entries that precede a Check
// before it, and those that belong to a call before its Done.
func Engine(e *heed.Engine, now func() time.Time) Recorder {
	if e == nil {
		return nil
	}
	if now == nil {
		now = func() time.Time { return time.Time{} }
	}
	return &engine{e: e, now: now}
}

type engine struct {
	e     *heed.Engine
	now   func() time.Time
	begin sync.Mutex // held by Begin, so that a second call with the same id does not begin
}

// Current implements [Source]. An item counts as delivered only if it blocks.
func (s *engine) Current(ctx context.Context, consumer string) (a heed.Item, open bool, err error) {
	if items := s.e.Open(nil); len(items) > 0 {
		if a, open = items[0], true; a.Blocking {
			a, open = s.e.Current(consumer)
		}
	}
	return a, open, ctx.Err()
}

// Ack implements [Source].
func (s *engine) Ack(ctx context.Context, consumer, id string, through uint64) (heed.AckResult, error) {
	if err := ctx.Err(); err != nil {
		return heed.AckResult{}, err
	}
	return s.e.Ack(consumer, id, through), nil
}

// Begin implements [Recorder].
func (s *engine) Begin(call Call) (Running, error) {
	r := &running{source: s, call: call, began: ^uint64(0)}
	if call.Diagnostic() {
		return r, nil
	}
	if call.ID == "" {
		return nil, errors.New("Call.ID is empty: each call needs an id of its own")
	}
	s.begin.Lock()
	defer s.begin.Unlock()
	if v := s.e.Verdict(call.ID); v.Status == event.StatusStarted && !v.Abandoned {
		return nil, fmt.Errorf("a call %q is running: each call needs an id of its own", text.Safe(call.ID, maxReason))
	}
	r.began = s.e.Observe(event.Operation{
		Time: s.now(), ID: call.ID, Method: call.Tool,
		Status: event.StatusStarted,
	}.Entry()).Seq
	return r, nil
}

// Refused implements [Recorder]. The engine does not record calls that were not
// executed.
func (s *engine) Refused(Decision) {}

type running struct {
	source *engine
	call   Call
	began  uint64 // of a call that is not journaled the greatest
}

// End implements [Running].
func (r *running) End(_ context.Context, status event.Status, errText string) (heed.Verdict, *heed.Item, error) {
	e := r.source.e
	switch {
	case !r.call.Diagnostic():
		e.Observe(event.Operation{
			Time: r.source.now(), ID: r.call.ID, Method: r.call.Tool, Status: status, Error: errText,
		}.Entry())
	case status == event.StatusCompleted && r.call.ReadsState():
		e.StateRead()
	}
	v, related := Related(e, r.call.ID, r.began)
	if !v.Known && r.call.Diagnostic() {
		v = heed.Verdict{}
	}
	if related != nil {
		e.Delivered(r.call.Consumer, related.ID, related.LatestSequence)
	}
	return v, related, nil
}

// Related returns the verdict of an operation that began with the entry of this sequence number, and the item to return
// to its caller: the open item of the verdict, or else the most urgent blocking item that opened since, or else the
// cleared item of the verdict if it makes the outcome unknown. It does not count as delivered.
func Related(e *heed.Engine, operation string, began uint64) (heed.Verdict, *heed.Item) {
	v := e.Verdict(operation)
	a, known := e.Item(v.AttentionID)
	if known && a.ClearedBy == "" {
		return v, &a
	}
	for _, a := range e.Open(nil) {
		if a.Blocking && a.OpenedAtSequence > began {
			return v, &a
		}
	}
	if known && (v.Reason == coalesce.ReasonBackground || v.Reason == coalesce.ReasonStanding) {
		return v, &a
	}
	return v, nil
}

// caller sends a request and decodes the answer into result.
type caller interface {
	Call(ctx context.Context, method string, params, result any) error
}

// Remote returns a [Source] that asks a peer over GABP through c, a [gabp.Client]. methods are the methods that the
// peer advertises: Welcome().Capabilities.Methods of the client. If attention/current is not among them, the peer is
// never asked and the answer is [ErrNoAttention].
//
// An answer that [gabp.ParseAttention] refuses is an error. An acknowledgement over GABP has no sequence number: it
// covers the entries that the peer delivered.
func Remote(c caller, methods []string) Source {
	return &remote{
		caller:  c,
		current: slices.Contains(methods, gabp.MethodAttentionCurrent),
		ack:     slices.Contains(methods, gabp.MethodAttentionAck),
	}
}

type remote struct {
	caller       caller
	current, ack bool
}

// Current implements [Source].
func (r *remote) Current(ctx context.Context, _ string) (heed.Item, bool, error) {
	if !r.current {
		return heed.Item{}, false, ErrNoAttention
	}
	var answer gabp.CurrentResult
	if err := r.caller.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &answer); err != nil {
		return heed.Item{}, false, fmt.Errorf("%s: %w", gabp.MethodAttentionCurrent, err)
	}
	if answer.Attention == nil {
		return heed.Item{}, false, nil
	}
	return *answer.Attention, true, nil
}

// Ack implements [Source].
func (r *remote) Ack(ctx context.Context, _, id string, _ uint64) (heed.AckResult, error) {
	if !r.ack {
		return heed.AckResult{}, ErrNoAttention
	}
	var answer gabp.AckResult
	if err := r.caller.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: id}, &answer); err != nil {
		return heed.AckResult{}, fmt.Errorf("%s: %w", gabp.MethodAttentionAck, err)
	}
	res := heed.AckResult{Acknowledged: answer.Acknowledged, ID: cmp.Or(answer.AttentionID, id)}
	if answer.CurrentAttention != nil {
		res.Current, res.Open = *answer.CurrentAttention, true
	}
	return res, nil
}
