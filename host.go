package heed

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// hostRule is the prefix of the rules for acts of the host.
const hostRule = "host."

// The bounds of a [Report], in characters.
const (
	maxReportKey     = 64
	maxReportSummary = 160
)

// Report is a fault that the host itself reports: a save that failed, a tool that is out
// of order.
type Report struct {
	Time time.Time

	// Key distinguishes the host's reports. Reports of one key are one item while
	// it is open. At most 64 characters are kept. Default "report".
	Key string

	// Disposition of the item. A report to be ignored is journaled only.
	Disposition event.Disposition
	Severity    event.Severity
	Invalidates bool // an agent's knowledge of the game's state may not hold any more

	// Summary is a line about the fault, shown escaped and up to 160 characters. Optional.
	Summary string

	// Message is the text to be journaled and sampled.
	Message string

	// OperationID names the operation that caused it. Optional.
	OperationID string

	Pos uint64 // see [event.Log]

	// ID is the id of an item that was reported after the snapshot of a restored engine: it is opened under that id. An id
	// that the engine knows, or that no entry so far can have opened, has no effect. Optional.
	ID string
}

// Raise opens an item for a report of the host, or adds to the item that is open under the report's key, and returns
// its id: "" for a report that is not actionable. Rules do not apply to it. After an acknowledgement it opens a
// successor as other items do, if it is new.
func (e *Engine) Raise(r Report) string {
	key := cmp.Or(text.Safe(r.Key, maxReportKey), "report")
	summary, message := text.Safe(r.Summary, maxReportSummary), e.cut(r.Message)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.entry = event.Entry{
		Kind: event.KindHost, Status: event.StatusRaised, Time: r.Time, Source: key, Message: message,
		OperationID: r.OperationID, Pos: r.Pos,
	}
	fold := e.coalescer.Fold
	digits, _ := strings.CutPrefix(r.ID, e.cfg.Epoch+"-")
	_, known := e.coalescer.Item(e.itemID(r.ID))
	if n, _ := strconv.ParseUint(digits, 10, 64); !known && n > 0 && n <= e.Seq {
		fold = func(in *coalesce.Input) coalesce.Folded { return e.coalescer.Reopen(in, n) }
	}
	return e.act(&coalesce.Input{
		Signature: e.normalizer.Signature(message, ""), Raised: key, Summary: summary,
		Decision: event.Decision{
			Rule: hostRule + key, Disposition: min(r.Disposition, event.Blocking),
			Severity: min(r.Severity, event.SeverityFatal), Invalidates: r.Invalidates,
		},
	}, fold).ID
}

// itemID returns the id of an item that is called by its id, or by the number that ends it.
func (e *Engine) itemID(name string) string {
	if n, err := strconv.ParseUint(name, 10, 64); err == nil {
		return e.cfg.Epoch + "-" + strconv.FormatUint(n, 10)
	}
	return name
}

// Clear ends the open item called id, whatever opened it, and journals that. Faults that
// it held are new when they return. It returns false if no open item has this id.
func (e *Engine) Clear(id string) bool {
	e.mu.Lock()
	defer e.mu.Release()
	id = e.itemID(id)
	if !e.coalescer.Withdraw(id) {
		return false
	}
	e.note(event.StatusWithdrawn, "", id)
	return true
}

// Ack acknowledges the item called id for a consumer, through a sequence number: the latest that was delivered to it,
// or 0 for that. The item is cleared in any case; new entries that were not delivered to the consumer open a successor.
// An unknown id is no error. Each acknowledgement is journaled with its consumer, its item and its watermark.
func (e *Engine) Ack(consumer, id string, through uint64) AckResult {
	e.mu.Lock()
	defer e.mu.Release()
	res := e.coalescer.Ack(consumer, e.itemID(id), through)
	e.retain() // before the note, whose entry may evict an entry to be retained
	if res.Acknowledged && !res.Already {
		e.note(event.StatusAcknowledged, consumer, acknowledgement(&res))
	}
	return res
}

// acknowledgement is the journal's text for an acknowledgement.
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

// Current returns the one open item that a consumer should see first, and false when nothing is open. Its summary names
// the others that an acknowledgement of it covers. The item counts as delivered to the consumer, which is any name of
// at most 64 bytes: a host with one consumer calls it "". It costs a rendering, as in [Engine.Updates].
func (e *Engine) Current(consumer string) (Item, bool) {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.Current(consumer)
}

// Delivered notes that the item called id was delivered to a consumer through a
// sequence number, such as by an update. It returns false where the item is not known.
func (e *Engine) Delivered(consumer, id string, through uint64) bool {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.Delivered(consumer, e.itemID(id), through)
}

// Know records, for the item called id, a line that the host knows from elsewhere, such as from earlier runs of the
// game. The item's summary has it in quotes from then on. It causes no update. It returns false if the item is not
// known.
func (e *Engine) Know(id, line string) bool {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.Know(e.itemID(id), line)
}

// Attach records that a consumer has arrived. The open items become one advisory item, whose id is returned: "" if
// there was none. Items that are still true stay as they are: invalidated state that was not loaded again since,
// blindness, and reports of the host. All stay while another consumer is attached.
func (e *Engine) Attach(consumer string, now time.Time) string {
	e.mu.Lock()
	defer e.mu.Release()
	e.entry = event.Entry{Kind: event.KindHost, Status: event.StatusAttached, Time: now, Source: consumer}
	in := coalesce.Input{Decision: e.coalescer.Arrival(consumer)}
	return e.act(&in, func(in *coalesce.Input) coalesce.Folded { return e.coalescer.Attach(consumer, in) }).ID
}

// BeginRun records that the host starts the game again, after its engine was restored: the open items are not true any
// more, so that [Engine.Attach] sums them up; operations that ran are abandoned. It journals an
// [event.StatusRestarted], which it returns. Rules for it may change the phase and resolve rules that ended with the
// run before.
func (e *Engine) BeginRun(now time.Time) event.Entry {
	e.mu.Lock()
	defer e.mu.Release()
	notice := event.Notice{Time: now, Status: event.StatusRestarted, Detail: "the game was started again"}.Entry()
	e.entry = notice
	e.coalescer.Detach("") // a host has an agent, or will have one
	e.ingest()
	e.coalescer.BeginRun()
	return notice
}

// StateRead records that an agent read the game's state again. A fault that returns again and again after such reads
// stops blocking after a while: it cannot be mended from outside. A host that reports no reads is taken to read after
// each stop.
func (e *Engine) StateRead() {
	e.mu.Lock()
	defer e.mu.Release()
	e.coalescer.StateRead()
}

// Detach notes that a consumer has left. Nothing else changes.
func (e *Engine) Detach(consumer string) {
	e.mu.Lock()
	defer e.mu.Release()
	e.coalescer.Detach(consumer)
}

// note journals a change of attention by a consumer or the host. The lock is held.
func (e *Engine) note(status event.Status, who, what string) {
	e.entry = event.Entry{Kind: event.KindHost, Status: status, Source: who, Message: what}
	e.act(&coalesce.Input{Decision: event.Decision{Rule: hostRule + status.String()}}, e.coalescer.Fold)
}

// act passes e.entry, whose decision is in in, to the journal and to fold. The lock is
// held.
func (e *Engine) act(in *coalesce.Input, fold func(*coalesce.Input) coalesce.Folded) coalesce.Folded {
	e.number()
	e.journal.Append(&e.entry, in.Signature, in.Decision)
	in.Entry, in.Blind, in.Phase = &e.entry, len(e.classifier.Blind()) > 0, e.classifier.Phase()
	folded := fold(in)
	e.keep(&folded)
	return folded
}

// heartbeat is the state of the game's signs of life.
type heartbeat struct {
	By      [2]int64 // when the next sign of life is expected, in seconds since 1970 and nanoseconds; 0: never
	Stalled bool
	Busy    bool // in an event during which the game cannot answer
}

// Expect is a sign of life: the game answered at now, and the host expects the next such call by the time by. When
// [Engine.Advance] passes that, a stall is ingested, once, as an [event.StatusStall] of the host would be; the next
// sign of life ends it. A long event cancels the expectation; during one, nothing is missed. A zero by expects nothing.
func (e *Engine) Expect(now, by time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := &e.Heartbeat
	if h.By = [2]int64{}; !by.IsZero() {
		h.By = [2]int64{by.Unix(), int64(by.Nanosecond())}
	}
	if h.Stalled {
		h.Stalled = false
		e.entry = event.Entry{Kind: event.KindState, Status: event.StatusRecovered, Time: now}
		e.ingest()
	}
}

// observe applies an entry about the game's state.
func (h *heartbeat) observe(s event.Status) {
	switch s {
	case event.StatusLongEvent:
		h.Busy = true
	case event.StatusLongEventEnd:
		h.Busy, h.By = false, [2]int64{}
	case event.StatusStall:
		h.Stalled = true
	case event.StatusRecovered:
		h.Stalled = false
	case event.StatusExited, event.StatusDisconnected:
		*h = heartbeat{}
	}
}

// missed reports whether a sign of life has become overdue.
func (h *heartbeat) missed(now time.Time) bool {
	if h.By == [2]int64{} || h.Stalled || h.Busy || now.Before(time.Unix(h.By[0], h.By[1])) {
		return false
	}
	h.Stalled = true
	return true
}

// EndLog records that the log ends, such as in a replay. The load under way ends with it: the faults that it deferred
// block.
func (e *Engine) EndLog() {
	e.mu.Lock()
	defer e.mu.Release()
	e.coalescer.EndLog()
}

// Advance sets the time, where no entry does: windows that have passed take effect. A
// time before the latest one seen changes nothing, unless it is further back than
// [coalesce.Config].MaxSkew: then the clock was set back. If [Engine.Expect] named a time
// that is not after now, the game has stalled.
func (e *Engine) Advance(now time.Time) {
	e.mu.Lock()
	defer e.mu.Release()
	if e.Heartbeat.missed(now) {
		e.entry = event.Entry{
			Kind: event.KindState, Status: event.StatusStall, Time: now,
			Message: "no sign of life by the time that the host expected one",
		}
		e.ingest()
	}
	e.coalescer.Advance(now)
	e.retain()
}
