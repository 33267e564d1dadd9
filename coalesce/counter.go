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
	invalidates bool

	count   uint64
	first   place
	firstBy *operation // that the first entry named, or nil
	last    logicalTime
	lastPos uint64

	// worst is where the disposition reached its present height, raised where
	// the group became worse last in any way; neither is before first. An
	// acknowledgement of what was before a turn has not seen what is after it.
	worst  turn
	raised turn

	text  string // escaped sample of the first entry
	blame string // names of whom the first entry points at, joined by line feeds

	calm uint64 // Coalescer.version at which item.unmoved held of it; see item.repeat
}

// turn is an entry at which a group became worse.
type turn struct {
	place
	named *operation // that the entry named, or nil

	// What the group was before.
	count       uint64
	disposition event.Disposition
	severity    event.Severity
}

// add counts one entry at now, which named an operation or nil.
func (c *counter) add(in *Input, named *operation, now logicalTime) {
	d, at := &in.Decision, place{now.seq, in.Entry.Pos}
	if c.count == 0 {
		c.first, c.firstBy = at, named
	}
	if c.count == 0 || c.worsens(d) {
		c.raised = turn{place: at, named: named, count: c.count, disposition: c.disposition, severity: c.severity}
		if c.count == 0 || d.Disposition > c.disposition {
			c.worst = c.raised
		}
		c.severity = max(c.severity, d.Severity)
		c.disposition = max(c.disposition, d.Disposition)
		c.invalidates = c.invalidates || d.Invalidates
	}
	c.again(now, at.pos)
}

// again counts one entry at now.
func (c *counter) again(now logicalTime, pos uint64) {
	c.count++
	c.last, c.lastPos = now, pos
}

// worsens reports whether an entry that d decides about makes the group worse
// than it is.
func (c *counter) worsens(d *event.Decision) bool {
	return d.Severity > c.severity || d.Disposition > c.disposition || d.Invalidates && !c.invalidates
}

// since makes t, a turn of c, count from an earlier one on. Of a group merged
// from two, a turn may have counted less than was before it, or than an earlier
// one; but what is after the first entry has that before it.
func (t *turn) since(c *counter, earlier turn) {
	t.count -= min(t.count, earlier.count)
	if t.seq > c.first.seq {
		t.count = max(t.count, 1)
	}
}

// split takes from c what it counted from turn t on, and returns it as a group
// of its own. t is worst, or raised, or where the group began. The last entry
// that c is left with is not known; it keeps the one it had. What moves is taken
// to be as bad as all of c was: where a host reports one thing now as blocking and
// now as advisory, that may be worse than it is.
func (c *counter) split(t turn) counter {
	next := *c
	next.count = c.count - t.count
	next.first, next.firstBy = t.place, t.named
	if next.worst.seq < t.seq {
		next.worst = t
	}
	next.worst.since(&next, t)
	next.raised.since(&next, t)

	c.count = t.count
	c.disposition, c.severity = t.disposition, t.severity
	if c.worst.seq >= t.seq {
		c.worst = turn{place: c.first, named: c.firstBy}
	}
	return next
}

// counters are the groups of one item, in the order in which they came. They are
// rows of the index that all items share.
type counters struct {
	index *index
	base  uint32    // of the item's rows in index.rows
	rows  []counter // index.rows from base on; its capacity is that of the item
	last  int       // row that was found last: storms repeat themselves
}

// maxGroups bounds Config.MaxGroups.
const maxGroups = 1 << 14

// find returns the counter of (rule, sig), or nil.
func (t *counters) find(rule string, sig signature.Signature) *counter {
	if t.last < len(t.rows) {
		if r := &t.rows[t.last]; r.sig == sig && r.rule == rule {
			return r
		}
	}
	x := t.index
	for ref := x.groups.first(uint64(sig.ID)); ref != 0; ref = x.groups.next[ref] {
		if n := ref - t.base; n < uint32(len(t.rows)) { // else it is a row of another item
			if r := &t.rows[n]; r.sig == sig && r.rule == rule {
				t.last = int(n)
				return r
			}
		}
	}
	return nil
}

// add appends a row, whose group must not be there yet. The table must not be
// full.
func (t *counters) add(c counter) *counter {
	t.rows = append(t.rows, c)
	t.last = len(t.rows) - 1
	t.index.groups.add(uint64(c.sig.ID), t.base+uint32(t.last))
	return &t.rows[t.last]
}

// retain drops every row that keep refuses.
func (t *counters) retain(keep func(*counter) bool) {
	kept := t.rows[:0]
	for i := range t.rows {
		t.index.groups.remove(uint64(t.rows[i].sig.ID), t.base+uint32(i))
	}
	for i := range t.rows {
		if keep(&t.rows[i]) {
			kept = append(kept, t.rows[i])
		}
	}
	clear(t.rows[len(kept):])
	t.rows, t.last = kept, 0
	for i := range t.rows {
		t.index.groups.add(uint64(t.rows[i].sig.ID), t.base+uint32(i))
	}
}

// reset drops every row.
func (t *counters) reset() {
	t.retain(func(*counter) bool { return false })
}

// ruleCount holds what an item knows about one rule. It decides whether the
// rule is new to the item, and whether the item is resolved.
type ruleCount struct {
	rule        string
	summary     string
	disposition event.Disposition
	first       uint64 // sequence number of its first entry
	resolved    bool
}

// maxRules bounds the rules that an item tells apart. Rules are few: the
// default set has some hundred, and an item that meets more than this many of
// them is an item about everything.
const maxRules = 64

// rate counts entries over consecutive spans of a window.
type rate struct {
	start    logicalTime
	current  uint64
	previous uint64
}

// add counts one entry at now.
func (r *rate) add(w *Window, now logicalTime) {
	if r.start.seq == 0 || w.passed(r.start, now) {
		r.previous = r.current
		if twice := (Window{2 * w.Duration, 2 * w.Entries}); twice.passed(r.start, now) {
			r.previous = 0
		}
		r.start, r.current = now, 0
	}
	r.current++
}

// perSpan returns how many entries fall into one span, by the fuller of the two
// latest. While the first span lasts, what it holds is taken to go on as it
// began: who acknowledges within a second what comes each tick knows its rate.
// A single entry is no rate.
func (r *rate) perSpan(w *Window, now logicalTime) uint64 {
	if r.previous == 0 && r.current > 1 {
		return 10 * r.current / w.tenths(r.start, now)
	}
	return max(1, r.current, r.previous)
}
