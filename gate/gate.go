package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// DefaultTimeout is the default of [Config].Timeout. Bridges in the field wait
// for two seconds.
const defaultTimeout = 1500 * time.Millisecond

// ErrNoAttention is what a [Source] returns that has no attention to ask about.
var ErrNoAttention = errors.New("gate: no attention capability")

// Config sets up a [Gate]. Source is required.
type Config struct {
	// Source is what the gate asks.
	Source Source

	// Allow names tools that are never held back, before any tag is looked at:
	// exact names, or patterns of whole segments between slashes, in which "*"
	// stands for one segment and a last "**" for one or more ("saves/*",
	// "debug/**"). A part of a word is no pattern, and an error.
	Allow []string

	// Tags are those of tools that are never held back, compared without regard
	// to case. nil means diagnostic, diagnostics, health,
	// lifecycle, observation, read-only, status, telemetry and attention-bypass; an
	// empty list means none.
	Tags []string

	// FailOpen lets calls through where the source was asked and failed. The
	// default is to hold them back.
	FailOpen bool

	// Timeout bounds each Check, and each look of Done and Ack. Default
	// 1.5 s.
	Timeout time.Duration
}

// Validate returns an error that names the first field of c that is not valid.
func (c *Config) Validate() error {
	if c.Source == nil {
		return errors.New("gate: Config.Source is nil: it is what the gate asks, such as Engine or Remote")
	}
	if c.Timeout < 0 {
		return fmt.Errorf("gate: Config.Timeout is negative: %v", c.Timeout)
	}
	for i, p := range c.Allow {
		if err := validPattern(p); err != nil {
			return fmt.Errorf("gate: Config.Allow[%d]: %w", i, err)
		}
	}
	for i, tag := range c.Tags {
		if strings.TrimSpace(tag) == "" {
			return fmt.Errorf("gate: Config.Tags[%d] is empty", i)
		}
	}
	return nil
}

// Gate decides about calls. Make one with [New]. It has no state of its own.
type Gate struct {
	source   Source
	policy   policy
	failOpen bool
	timeout  time.Duration
}

// New returns a gate for c, which it does not change. The error names the field
// of c that is at fault.
func New(c Config) (*Gate, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Gate{
		source: c.Source, policy: newPolicy(c.Allow, c.Tags), failOpen: c.FailOpen,
		timeout: cmp.Or(c.Timeout, defaultTimeout),
	}, nil
}

// Call is a call that is about to be dispatched.
type Call struct {
	// ID names the call. Where the source journals calls under it ([Engine]), it
	// must be one that no other call has.
	ID string

	// Tool is the tool's full name, such as "colony/build".
	Tool string

	// Tags are the tool's own, as whoever offers it declares them.
	Tags []string

	// Consumer is who calls: the name under which the source keeps what was delivered.
	Consumer string

	// Diagnostics says that the call only looks at what heed or the game tells of
	// itself: it is not journaled. Some tags say the same; see [Call.Diagnostic].
	Diagnostics bool
}

// Decision is what a gate says before a call. It belongs to the caller.
type Decision struct {
	Call Call

	// Allowed says that the call may be dispatched. If not, it must not be, and
	// was not executed.
	Allowed bool

	// Exempt says why the call was allowed without regard to attention:
	// "owner's list: saves/*", "tag: read-only", "no attention capability", or
	// that the source failed and the gate is to fail open. It is "" where the
	// gate looked, and nothing held the call back.
	Exempt string

	// Attention is the item that holds the call back, nil where none does. It
	// counts as shown to the caller.
	Attention *heed.Attention

	// Err says why the source could not tell, nil where it could. Such a call is
	// allowed only where the gate is to fail open.
	Err error

	// Refusal says in a line why the call was not executed and how to go on: ""
	// where it is allowed. It holds no text of the log.
	Refusal string

	// Running is the call under way, where the source is a [Recorder] and the call
	// is allowed; nil otherwise. [Gate.Done] ends it.
	Running Running

	before *heed.Attention // what was seen, where the source records no calls
	looked bool
}

// Result is what a gate says after a call. It belongs to the caller.
type Result struct {
	// Executed says that the call was dispatched. It is false only for a decision
	// that did not allow it.
	Executed bool

	// Related is the item that tells what came of the call, or that opened while
	// it ran; nil where there is none. It counts as shown to the caller.
	Related *heed.Attention

	// Verdict is what is known of the call as an operation, where the source
	// keeps account of calls.
	Verdict heed.Verdict

	// Err says why the source could not tell whether anything came of the call.
	Err error
}

// Check decides about a call that is about to be dispatched. It takes in
// everything that is there to be known first, and fails only by way of the
// Decision. Where it allows the call, [Gate.Done] has to be told of its end.
func (g *Gate) Check(ctx context.Context, call Call) Decision {
	d := Decision{Call: call}
	if d.Exempt = g.policy.exempt(&call); d.Exempt == "" {
		g.look(ctx, &d)
	} else {
		d.Allowed = true
	}
	recorder, ok := g.source.(Recorder)
	if !ok {
		return d
	}
	if d.Allowed {
		d.Running = recorder.Begin(call)
	} else {
		recorder.Refused(d)
	}
	return d
}

// look asks the source about a call that is not exempt.
func (g *Gate) look(ctx context.Context, d *Decision) {
	a, open, err := g.current(ctx, d.Call.Consumer)
	switch {
	case errors.Is(err, ErrNoAttention):
		d.Allowed, d.Exempt = true, "no attention capability"
	case err != nil && g.failOpen:
		d.Err = err
		d.Allowed, d.Exempt = true, "could not look, and the gate is set to fail open: "+reason(err)
	case err != nil:
		d.Err = err
		d.Refusal = "not executed: whether something needs attention cannot be seen (" + reason(err) +
			"); look at the game's state, then call again; " + g.policy.exemptions
	case open && a.Blocking:
		d.Attention = &a
		d.Refusal = refusal(&a) + "; " + g.policy.exemptions
	default:
		d.Allowed, d.looked = true, true
		if open {
			d.before = &a
		}
	}
}

// current is Source.Current within the gate's time.
func (g *Gate) current(ctx context.Context, viewer string) (heed.Attention, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	a, open, err := g.source.Current(ctx, viewer)
	if err == nil {
		err = ctx.Err() // what came too late may be of another moment
	}
	return a, open, err
}

// refusal says which item holds a call back, and how to go on.
func refusal(a *heed.Attention) string {
	return "not executed: " + a.Summary + "; acknowledge " + text.Safe(a.ID, maxReason) + " with attention/ack, then call again"
}

// maxReason bounds what is said of an error, in characters: it may be a peer's.
const maxReason = 160

func reason(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, context.Canceled):
		return "the call was given up"
	}
	return text.Safe(err.Error(), maxReason)
}

// Done tells the gate how a call ended that it had allowed, and returns what came
// of it: once for each Decision. Status is one of [event.StatusCompleted],
// [event.StatusFailed], [event.StatusCancelled] and [event.StatusTimedOut], and
// errText the error of a call that did not complete.
func (g *Gate) Done(ctx context.Context, d Decision, status event.Status, errText string) Result {
	if !d.Allowed {
		return Result{}
	}
	res := Result{Executed: true}
	switch {
	case d.Running != nil:
		res.Verdict, res.Related, res.Err = d.Running.End(ctx, status, errText)
	case d.looked:
		a, open, err := g.current(ctx, d.Call.Consumer)
		switch {
		case err != nil:
			res.Err = err
		case open && d.concerns(&a):
			res.Related = &a
		}
	}
	return res
}

// concerns reports whether a, which is open after the call, was not before it.
func (d *Decision) concerns(a *heed.Attention) bool {
	b := d.before
	return b == nil || a.ID != b.ID || a.Blocking && !b.Blocking || a.CausalOperationID != "" && a.CausalOperationID == d.Call.ID
}

// Ack acknowledges the item called id for a viewer, up to the sequence number
// upTo, the latest that it was shown; 0 means what the source showed it last. An
// unknown id is no error: the answer says what is open.
func (g *Gate) Ack(ctx context.Context, consumer, id string, through uint64) (heed.AckResult, error) {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	return g.source.Ack(ctx, consumer, id, through)
}
