package coalesce

import (
	"slices"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
)

// runGap is the silence within a group that makes its next entry another occurrence: entries that follow each other
// more closely are one.
var runGap = Window{250 * time.Millisecond, 64}

const (
	// aloneAfter is how often a fault must come outside of calls, with no call since it came before, to be known to
	// come by itself. Without it, an exception every 31 s stops an agent with 0.5 s of thought 1.8 times in 100 calls.
	aloneAfter = 2

	// standingAfter is how many times a fault stops calls after an acknowledgement before it is standing.
	// forgetAfter is the number of calls without the fault after which the count starts again: with 60, agents act on a
	// stale state in 2 % of their calls on faults of one site.
	standingAfter = 3
	forgetAfter   = 20
)

// recurrence counts the occurrences of a group after the first, and its stops after acknowledgements.
type recurrence struct {
	Alone uint32      // those outside of calls, without a call since the one before
	Times uint64      // in all
	First logicalTime // from which they count

	Call    uint64 // number of the latest call to which it was charged
	Charged uint64 `json:",omitzero"` // sequence number of the latest entry that was
	Stops   int    `json:",omitzero"` // with the state read in between, where reads are reported
	Unread  int    `json:",omitzero"` // without, at most standingAfter
}

// occur counts another occurrence of a group, outside of calls or not.
func (c *Coalescer) occur(r *counter, outside bool) {
	if r.Recurrence == nil {
		r.Recurrence = &recurrence{First: r.Last}
	}
	r.Recurrence.Times++
	if outside && c.Calls.BegunAt < r.Last.seq {
		r.Recurrence.Alone++
	}
}

// known is the acknowledged item that covers an entry: the latest acknowledged, if there are several.
type known struct {
	item    *item
	row     *counter // of the variant, or of another group with its frame; nil: only its group or its rule is known
	gravity          // the most that any of them was acknowledged with
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
		k.raise(it.gravity)
	}
	group := false
	c.index.each(d.Rule, in.Signature, func(row *counter) {
		group = true
		if row.Variant == in.variant {
			look(row.of, row)
		}
	})
	switch {
	case k.item != nil || to.Scope == scopeHost:
	case group:
		c.index.each(d.Rule, in.Signature, func(row *counter) { look(row.of, nil) })
	default:
		for _, r := range slices.Backward(c.index.frames[frame(in.Frame)]) {
			if c.quiet(in, r.of) || r.akin(in.Blame) {
				look(r.of, r)
			}
		}
		for i := range c.Items {
			it := &c.Items[i]
			if k.row == nil && c.quiet(in, it) && slices.ContainsFunc(it.Counters.Rows, func(r *counter) bool {
				return r.Rule == d.Rule && r.First.Seq <= it.AckedAt.seq && r.akin(in.Blame)
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
	if it.State != itemAcked {
		return false
	}
	w := &c.Config.QuietTime
	if in.starting() {
		w = &loadMax
	}
	return !w.passed(it.AckedAt, c.Now)
}

// akin reports whether an entry of the group points at one of mods, or there are none.
func (c *counter) akin(mods []string) bool {
	return len(mods) == 0 || slices.ContainsFunc(c.Accused, func(a AccusedMod) bool {
		return slices.ContainsFunc(mods, func(name string) bool { return blame.Same(a.Name, name) })
	})
}

// covers reports whether it is an acknowledged item of the kind of burst that an entry of a rule belongs to.
func (c *Coalescer) covers(it *item, rule string, to *destination) bool {
	if it.State != itemAcked || to.Scope == scopeDigest ||
		(it.Scope == scopeBlind) != (to.Scope == scopeBlind) || (it.Scope == scopeHost) != (to.Scope == scopeHost) {
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
	if why := gravityOf(d).above(k.gravity); why != "" { // 1
		return why
	}
	since, before := c.laterCall(it, to)
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
	apart := runGap.passed(last, c.Now)
	blocking := d.Disposition == event.Blocking
	switch { // 3
	case c.Config.AckMemory.passed(last, c.Now):
		k.row.Recurrence = nil
		return reasonReturned
	case blocking && to.Scope == scopeHost && apart: // the host knows
		return reasonReturned
	case blocking && to.Scope.plain() && !c.Load.Acked && it.AckedAt.seq < c.Load.Began.seq:
		return reasonReturned
	}
	// Without times, a call that began since the last entry separates occurrences.
	if !apart && (since <= last.seq || to.named == nil && clocked(last, c.Now)) {
		return ""
	}
	if c.occur(k.row, since == 0 && !before && !c.Loading()); since == 0 || c.Loading() || !blocking || !to.Scope.plain() {
		return ""
	}
	return c.charge(k) // 4, 5
}

// charge decides about a blocking entry in a call that began after the acknowledgement: it is charged to the call, or
// is standing, or comes by itself.
func (c *Coalescer) charge(k *known) Reason {
	x := k.row.Recurrence
	if x.Alone >= aloneAfter {
		return ""
	}
	if c.Calls.Begun > x.Call+forgetAfter+1 || c.FreshSince > x.Charged {
		x.Stops, x.Unread = 0, 0
	}
	x.Call, x.Charged = c.Calls.Begun, c.Now.seq
	switch {
	case x.Stops == standingAfter:
		return reasonStanding
	case !c.Calls.Reads || c.Calls.ReadAt >= k.item.Opened.Seq || x.Unread == standingAfter:
		x.Stops++
	default:
		x.Unread++ // and perhaps its reads are not reported
	}
	return reasonCharged
}

// laterCall returns the number of the entry with which the call of an entry began, if that was since item it was
// acknowledged, else 0; and whether the call of the entry began before. The call is the one that the entry names, or
// else the latest. A named call without such an entry so far counts as one that began since.
func (c *Coalescer) laterCall(it *item, to *destination) (since uint64, before bool) {
	if o := to.named; o != nil {
		if o.Started.seq > it.AckedAt.seq || o.Worst < event.Blocking {
			return o.Started.seq, false
		}
		return 0, true
	}
	for _, o := range c.Operations.live {
		started := c.Operations.root(o).Started.seq
		if started > it.AckedAt.seq {
			since = max(since, started)
		} else {
			before = true
		}
	}
	return since, before
}

// suppress counts an entry in the acknowledged item that covers it. If no call runs, no result reports it: the next
// call does, unless the fault is known to come by itself.
func (c *Coalescer) suppress(k *known, in *Input, to *destination, why Reason) Folded {
	it := k.item
	it.add(in, it.Counters.find(in.Decision.Rule, in.Signature, in.variant), to.named, c.Now, &c.Config)
	c.Counts.Suppressed++
	because := ReasonBackground
	if why == reasonStanding {
		because = ReasonStanding
	}
	c.concern(in, to, it.Number, because)
	byItself := k.row != nil && k.row.Recurrence != nil && k.row.Recurrence.Alone >= aloneAfter
	if in.Decision.Disposition == event.Blocking && to.Scope.plain() && !byItself &&
		!slices.ContainsFunc(c.Operations.live, (*operation).running) {
		c.Calls.Pending = mark{it.Number, because}
	}
	return Folded{ID: it.id, Owner: it.Number}
}
