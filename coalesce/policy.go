package coalesce

import (
	"slices"
	"time"

	"github.com/heedlog/heed/event"
)

// runGap is the silence within a group that makes its next entry another occurrence: entries that follow each other
// more closely are one.
var runGap = Window{250 * time.Millisecond, 64}

const (
	// aloneAfter is how often a fault must come outside of calls, with no call since it came before, to be known to
	// come by itself. Without it, an exception every 31 s stops an agent with 0.5 s of thought 1.8 times in 100 calls.
	aloneAfter = 2

	// standingAfter is how many times a fault stops calls of one method after an acknowledgement before it is standing.
	// forgetAfter is the number of calls without the fault after which the count starts again: with 60, agents act on a
	// stale state in 2 % of their calls on faults of one site.
	standingAfter = 3
	forgetAfter   = 20

	// maxMethods bounds the methods for which the stops of a group are counted separately. Further methods count with the
	// last.
	maxMethods = 8
)

// The sides on which a fault occurs.
const (
	outside = iota // of calls
	inside

	neither = -1 // in a load, or in a call that began before the acknowledgement
)

// recurrence counts the occurrences of a group after the first, within calls and outside of them, and the stops after
// acknowledgements.
type recurrence struct {
	Seen  [2]uint32
	Alone uint32      // of those outside, without a call since the one before
	Times uint64      // in all
	First logicalTime // from which they count

	Call    uint64  // number of the latest call to which it was charged
	Charged uint64  `json:",omitzero"` // sequence number of the latest entry that was
	Stops   []stops // for each method of such calls, at most maxMethods
}

// stops is how often a group stopped calls of one method after an acknowledgement.
type stops struct {
	Method string
	Count  int // with the state read in between, where reads are reported
	Unread int // without, at most standingAfter
}

// stopsOf returns the stops in calls of a method.
func (x *recurrence) stopsOf(method string) *stops {
	for i := range x.Stops {
		if s := &x.Stops[i]; s.Method == method || i == maxMethods-1 {
			return s
		}
	}
	x.Stops = append(x.Stops, stops{Method: method})
	return &x.Stops[len(x.Stops)-1]
}

// occur counts another occurrence of a group on a side.
func (c *Coalescer) occur(r *counter, side int) {
	if r.Recurrence == nil {
		r.Recurrence = &recurrence{First: r.Last}
	}
	r.Recurrence.Times++
	if side != neither {
		r.Recurrence.Seen[side]++
	}
	if side == outside && c.calls.BegunAt < r.Last.seq {
		r.Recurrence.Alone++
	}
}

// known is the acknowledged item that covers an entry: of those that know it, the one that was acknowledged last.
type known struct {
	item *item
	row  *counter // of the variant, or of another group with its frame; nil: only its group or its rule is known

	// The most that any of them was acknowledged with.
	disposition event.Disposition
	severity    event.Severity
	invalidates bool
}

// covering returns the acknowledged item that covers an entry, by its variant; else its group; else its frame; else, in
// the quiet time, its rule. Its item is nil if there is none.
func (c *Coalescer) covering(in *Input, to *destination) (k known) {
	d := &in.Decision
	look := func(it *item, row *counter) {
		if !c.covers(it, d.Rule, to) {
			return
		}
		if k.item == nil || it.ClearedAt > k.item.ClearedAt {
			k.item, k.row = it, row
		}
		k.disposition, k.severity = max(k.disposition, it.Disposition), max(k.severity, it.Severity)
		k.invalidates = k.invalidates || it.Invalidates
	}
	group := false
	c.index.each(d.Rule, in.Signature, func(i int, row *counter) {
		group = true
		if row.Variant == in.variant {
			look(&c.items[i], row)
		}
	})
	switch {
	case k.item != nil || to.scope == scopeHost:
	case group:
		c.index.each(d.Rule, in.Signature, func(i int, _ *counter) { look(&c.items[i], nil) })
	default:
		quiet := func(it *item) bool { return it.State == itemAcked && c.quiet(in, it) }
		if in.Frame != 0 {
			c.index.eachFrame(frame(in.Frame), func(i int, row *counter) {
				if it := &c.items[i]; quiet(it) || row.akin(in.Blame) {
					look(it, row)
				}
			})
		}
		for i := range c.items {
			it := &c.items[i]
			if k.row == nil && quiet(it) && slices.ContainsFunc(it.Counters.Rows, func(r counter) bool {
				return r.Rule == d.Rule && r.akin(in.Blame)
			}) {
				look(it, nil)
			}
		}
	}
	return k
}

// quiet reports whether an entry comes in the quiet time of an acknowledged item. While the game starts, it is as long
// as a load may be.
func (c *Coalescer) quiet(in *Input, it *item) bool {
	w := &c.cfg.QuietTime
	if in.starting() {
		w = &loadMax
	}
	return !w.passed(it.AckedAt, c.now)
}

// akin reports whether an entry of the group points at one of mods, or there are none.
func (c *counter) akin(mods []string) bool {
	return len(mods) == 0 ||
		slices.ContainsFunc(c.Accused, func(a AccusedMod) bool { return slices.Contains(mods, a.Name) })
}

// covers reports whether it is an acknowledged item of the kind of burst that an entry of a rule belongs to.
func (c *Coalescer) covers(it *item, rule string, to *destination) bool {
	if it.State != itemAcked || to.scope == scopeDigest ||
		(it.Scope == scopeBlind) != (to.scope == scopeBlind) || (it.Scope == scopeHost) != (to.scope == scopeHost) {
		return false
	}
	r := it.rule(rule)
	return r == nil || !r.Resolved
}

// reopens decides whether an entry that acknowledged items cover stops again. It returns the reason if the entry opens
// a successor; "" if it is counted in the acknowledged item; and reasonStanding if that makes verdicts unknown. The
// package documentation has the rules by number.
func (c *Coalescer) reopens(k *known, in *Input, to *destination) Reason {
	it, d := k.item, &in.Decision
	switch { // 1
	case d.Disposition > k.disposition:
		return reasonDisposition
	case d.Severity > k.severity:
		return reasonSeverity
	case d.Invalidates && !k.invalidates:
		return reasonInvalidated
	}
	root, since, before := c.laterCall(it, to)
	if k.row == nil { // 2
		switch {
		case since == 0 && c.quiet(in, it):
			return ""
		case to.novel:
			return reasonVariant
		}
		return reasonNew
	}
	last := k.row.Last
	apart := runGap.passed(last, c.now)
	blocking := d.Disposition == event.Blocking
	switch { // 3
	case c.cfg.AckMemory.passed(last, c.now):
		k.row.Recurrence = nil
		return reasonReturned
	case blocking && to.scope == scopeHost && apart: // the host knows
		return reasonReturned
	case blocking && to.scope.plain() && c.Loading() && !c.load.Acked && it.AckedAt.seq < c.load.Began.seq:
		return reasonReturned
	}
	// Without times a call that began since the last entry sets occurrences apart.
	if !apart && (since <= last.seq || to.named == nil && clocked(last, c.now)) {
		return ""
	}
	side := inside
	switch {
	case c.Loading() || before && since == 0:
		side = neither
	case since == 0:
		side = outside
	}
	if c.occur(k.row, side); side != inside || !blocking || !to.scope.plain() {
		return ""
	}
	return c.charge(k, root) // 4, 5
}

// charge decides about a blocking entry in a call that began after the acknowledgement: it is charged to the call, or
// is standing, or comes without calls as well.
func (c *Coalescer) charge(k *known, root *operation) Reason {
	x := k.row.Recurrence
	if x.Alone >= aloneAfter || x.Seen[inside] <= x.Seen[outside] {
		return ""
	}
	if c.calls.Begun > x.Call+forgetAfter+1 || c.freshSince > x.Charged {
		x.Stops = x.Stops[:0]
	}
	x.Call, x.Charged = c.calls.Begun, c.now.seq
	method := ""
	if root != nil {
		method = root.Method
	}
	s := x.stopsOf(method)
	switch {
	case s.Count == standingAfter:
		return reasonStanding
	case !c.calls.Reads || c.calls.ReadAt >= k.item.Opened.Seq || s.Unread == standingAfter:
		s.Count++
	default:
		s.Unread++ // and perhaps its reads are not reported
	}
	return reasonCharged
}

// laterCall returns the root operation of the call that an entry is inside of, and the number of the entry with which
// the call began, if that was since item it was acknowledged; and whether the entry is inside of one that began before.
// The call is the one that the entry names, or else the latest. One that is named, and had no such entry yet, counts as
// one that began since.
func (c *Coalescer) laterCall(it *item, to *destination) (root *operation, since uint64, before bool) {
	if o := to.named; o != nil {
		if o.Started.seq > it.AckedAt.seq || o.Worst < event.Blocking {
			return c.ops.root(o), o.Started.seq, false
		}
		return nil, 0, true
	}
	for _, o := range c.ops.live {
		switch r := c.ops.root(o); {
		case r.Started.seq <= it.AckedAt.seq:
			before = true
		case r.Started.seq > since:
			root, since = r, r.Started.seq
		}
	}
	return root, since, before
}

// suppress counts an entry in the acknowledged item that covers it. If no call runs, no result reports it: the next
// call does, unless the fault is known to come by itself.
func (c *Coalescer) suppress(k *known, in *Input, to *destination, why Reason) Folded {
	it := k.item
	it.add(in, to.named, c.now, &c.cfg)
	c.stats.Suppressed++
	because := ReasonBackground
	if why == reasonStanding {
		because = ReasonStanding
	}
	c.concern(in, to, it.Number, because)
	byItself := k.row != nil && k.row.Recurrence != nil && k.row.Recurrence.Alone >= aloneAfter
	if in.Decision.Disposition == event.Blocking && to.scope.plain() && !byItself &&
		!slices.ContainsFunc(c.ops.live, (*operation).running) {
		c.calls.Pending = mark{it.Number, because}
	}
	return Folded{ID: it.id, Owner: it.Number}
}
