package heed

import (
	"fmt"
	"strings"
	"time"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// hostRule is the beginning of the rules under which the host's own acts stand.
const hostRule = "host."

// The bounds of what a host says in a [Report], in characters.
const (
	maxReportKey     = 64
	maxReportSummary = 160
)

// Report is something that the host itself wants to be heeded: a save that
// failed, a tool that is out of order.
type Report struct {
	Time time.Time

	// Key tells the host's reports apart. Reports of one key are one item while
	// it is open. At most 64 characters are kept. Default "report".
	Key string

	// Disposition says what the report asks for. One that is to be ignored is
	// journaled, and no more.
	Disposition event.Disposition
	Severity    event.Severity
	Invalidates bool // what is known of the game's state may not hold

	// Summary says in a line what happened: at most 160 characters of it are
	// shown, escaped. Optional.
	Summary string

	// Message is the text to be journaled and sampled.
	Message string

	// OperationID names the operation that it came of. Optional.
	OperationID string

	Pos uint64 // see [event.Log]
}

// Raise opens an item for what the host itself reports, or goes on with the one
// that is open under the report's key, and returns its id: "" for a report that
// asks for nothing. Rules have no say in it. What was acknowledged comes back as
// other items do, when it says something new.
func (e *Engine) Raise(r Report) string {
	key := text.Safe(r.Key, maxReportKey)
	if key == "" {
		key = "report"
	}
	summary := text.Safe(r.Summary, maxReportSummary)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.entry = event.Entry{
		Kind: event.KindHost, Status: event.StatusRaised, Time: r.Time, Source: key, Message: r.Message,
		OperationID: r.OperationID, Pos: r.Pos,
	}
	return e.act(&coalesce.Input{
		Signature: e.normalizer.Signature(r.Message, ""), Raised: key, Summary: summary,
		Decision: event.Decision{Rule: hostRule + key, Disposition: r.Disposition, Severity: r.Severity, Invalidates: r.Invalidates},
	}, e.coalescer.Fold).ID
}

// Clear ends the open item called id, whoever opened it, and journals that. What
// it holds is new when it returns. It returns false where no open item has this
// id.
func (e *Engine) Clear(id string) bool {
	e.mu.Lock()
	defer e.mu.Release()
	if !e.coalescer.Withdraw(id) {
		return false
	}
	e.note(event.StatusWithdrawn, "", id)
	return true
}

// AckBy is Ack for one of several viewers, called by a name of at most 64 bytes:
// where upTo is 0, what counts is what [Engine.View] or [Engine.Shown] gave this
// one. Each acknowledgement is journaled with who, what, and up to where.
func (e *Engine) AckBy(viewer, id string, upTo uint64) AckResult {
	e.mu.Lock()
	defer e.mu.Release()
	res := e.coalescer.Ack(viewer, id, upTo)
	e.tend() // before the note, which may displace the evidence that is to be kept
	if res.Acknowledged && !res.Already {
		e.note(event.StatusAcknowledged, viewer, acknowledgement(&res))
	}
	return res
}

// acknowledgement says in words what was acknowledged.
func acknowledgement(res *AckResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s up to %d", res.ID, res.Watermark)
	if len(res.Covered) > 0 {
		fmt.Fprintf(&b, ", with %s", strings.Join(res.Covered, ", "))
	}
	if res.Successor != "" {
		fmt.Fprintf(&b, "; continued by %s", res.Successor)
	}
	return b.String()
}

// View is Current for one of several viewers, called by a name of at most 64
// bytes. What it returns counts as shown to this one.
func (e *Engine) View(viewer string) (Attention, bool) {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.Current(viewer)
}

// Shown notes that a viewer was shown the item called id up to a sequence number,
// such as by an update that was delivered to it. It returns false where the item
// is not known.
func (e *Engine) Shown(viewer, id string, upTo uint64) bool {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.Delivered(viewer, id, upTo)
}

// Attach notes that an agent has arrived, called viewer. What was open before
// becomes one advisory item, whose id is returned: "" where there was nothing.
// What still holds stays as it is: state that was invalidated and not loaded
// anew since, blindness, and what the host raised. So does all of it while
// another agent is attached.
func (e *Engine) Attach(viewer string, now time.Time) string {
	e.mu.Lock()
	defer e.mu.Release()
	e.entry = event.Entry{Kind: event.KindHost, Status: event.StatusAttached, Time: now, Source: viewer}
	in := coalesce.Input{Decision: e.coalescer.Arrival(viewer)}
	return e.act(&in, func(in *coalesce.Input) coalesce.Folded { return e.coalescer.Attach(viewer, in) }).ID
}

// Detach notes that an agent has left. Nothing else changes.
func (e *Engine) Detach(viewer string) {
	e.mu.Lock()
	defer e.mu.Release()
	e.coalescer.Detach(viewer)
}

// note journals what somebody did to attention. The lock is held.
func (e *Engine) note(status event.Status, who, what string) {
	e.entry = event.Entry{Kind: event.KindHost, Status: status, Source: who, Message: what}
	e.act(&coalesce.Input{Decision: event.Decision{Rule: hostRule + status.String()}}, e.coalescer.Fold)
}

// act passes e.entry, about which in says what is decided, to the journal and to
// fold. The lock is held.
func (e *Engine) act(in *coalesce.Input, fold func(*coalesce.Input) coalesce.Folded) coalesce.Folded {
	e.number()
	e.journal.Append(&e.entry, in.Signature, in.Decision)
	_, blind := e.classifier.Blind()
	in.Entry, in.Blind = &e.entry, blind
	folded := fold(in)
	e.keep(&folded)
	return folded
}
