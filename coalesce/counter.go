package coalesce

import (
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// counter holds one group of an item: the entries of one signature that one
// rule judged.
type counter struct {
	sig  signature.Signature
	rule string

	disposition event.Disposition
	severity    event.Severity

	count    uint64
	first    moment
	last     moment
	firstPos uint64
	lastPos  uint64

	// raised is when the severity or disposition of the group rose last, its
	// first entry included, and sinceRaise counts the entries from there on:
	// an acknowledgement of an earlier state has not seen them.
	raised     moment
	raisedPos  uint64
	sinceRaise uint64

	// operation and method are what the entry at raised named, if it did.
	operation string
	method    string

	invalidates bool

	text string // escaped sample of the first entry
}

// add counts one entry at now.
func (c *counter) add(in *Input, now moment) {
	d, pos := &in.Decision, in.Entry.Pos
	if c.count == 0 || d.Severity > c.severity || d.Disposition > c.disposition {
		c.severity = max(c.severity, d.Severity)
		c.disposition = max(c.disposition, d.Disposition)
		c.raised, c.raisedPos, c.sinceRaise = now, pos, 0
		c.operation, c.method = in.causeOperation, in.causeMethod
	}
	c.invalidates = c.invalidates || d.Invalidates
	c.count++
	c.sinceRaise++
	c.last, c.lastPos = now, pos
}

// counters is a table of bounded size from (rule, signature) to counter: open
// addressing over indices into a slice that never moves. Nothing is deleted
// but everything at once.
//
// Invariants: len(slots) is a power of two of at least twice cap(rows); a slot
// holds 0 or the index of a row plus one.
type counters struct {
	rows  []counter
	slots []uint16
	last  int // row that was found last: storms repeat themselves
}

// maxCounters keeps an index in a uint16 slot.
const maxCounters = 1 << 14

func newCounters(capacity int) counters {
	size := 2
	for size < 2*capacity {
		size *= 2
	}
	return counters{rows: make([]counter, 0, capacity), slots: make([]uint16, size)}
}

func (t *counters) reset() {
	clear(t.rows)
	t.rows = t.rows[:0]
	clear(t.slots)
	t.last = 0
}

// find returns the counter of (rule, sig), or nil.
func (t *counters) find(rule string, sig signature.Signature) *counter {
	if t.last < len(t.rows) {
		if r := &t.rows[t.last]; r.sig == sig && r.rule == rule {
			return r
		}
	}
	mask := len(t.slots) - 1
	for i := int(sig.ID) & mask; t.slots[i] != 0; i = (i + 1) & mask {
		n := int(t.slots[i]) - 1
		if r := &t.rows[n]; r.sig == sig && r.rule == rule {
			t.last = n
			return r
		}
	}
	return nil
}

// add returns a new counter for (rule, sig), which must not be there yet, or
// nil when the table is full.
func (t *counters) add(rule string, sig signature.Signature) *counter {
	if len(t.rows) == cap(t.rows) {
		return nil
	}
	mask := len(t.slots) - 1
	i := int(sig.ID) & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.rows = append(t.rows, counter{rule: rule, sig: sig})
	t.slots[i] = uint16(len(t.rows))
	t.last = len(t.rows) - 1
	return &t.rows[t.last]
}

// ruleCount holds what an item knows about one rule. It decides whether the
// rule is new to the item, and whether the item is resolved.
type ruleCount struct {
	rule        string
	summary     string
	disposition event.Disposition
	first       moment
	resolved    bool
}

// maxRules bounds the rules that an item tells apart. Rules are few: the
// default set has some hundred, and an item that meets more than this many of
// them is an item about everything.
const maxRules = 64

// rate counts entries over consecutive spans of a window.
type rate struct {
	start    moment
	current  uint64
	previous uint64
}

// add counts one entry at now.
func (r *rate) add(w *Window, now moment) {
	if r.start.seq == 0 || w.passed(r.start, now) {
		r.start, r.previous, r.current = now, r.current, 0
	}
	r.current++
}

// peak returns the higher count of the two latest spans.
func (r *rate) peak() uint64 { return max(r.current, r.previous) }
