package heed

import (
	"time"

	"github.com/heedlog/heed/event"
)

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
