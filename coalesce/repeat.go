package coalesce

import (
	"slices"

	"github.com/heedlog/heed/event"
)

// repeatable is where the entry folded last was counted, in the item of the ambient
// burst, while another one like it changes nothing but counts.
//
// It is valid while version is that of the Coalescer. Besides what changes that, only
// Fold makes items worse or lets them gather other bursts, and Fold resets it.
type repeatable struct {
	version uint64 // 0: not known
	row     *counter
}

// Repeat is Fold for an entry that differs from the one folded last in Seq, Time
// and Pos alone: a log entry that names no operation, and resolves and begins nothing.
// It takes half the time where the ambient burst holds that group.
func (c *Coalescer) Repeat(in *Input) Folded {
	e := in.Entry
	c.now.seq, c.pos = e.Seq, e.Pos
	c.tick(e.Time)
	c.sweep()
	it := c.episode.item
	if c.repeatable.version != c.version || c.thorough || it.Total+1 >= it.NextCount ||
		c.cfg.AmbientQuiet.passed(c.episode.last, c.now) || runGap.passed(c.repeatable.row.Last, c.now) {
		f := c.Fold(in)
		c.remember(in)
		return f
	}
	c.stats.Received++
	c.stats.Folded++
	c.stats.ByDisposition[in.Decision.Disposition]++
	it.count(c.now, e.Pos, &c.cfg)
	c.repeatable.row.bump(in, c.now)
	c.episode.last = c.now
	c.wake(it)
	return Folded{ID: it.id, Owner: it.Number}
}

// remember sets repeatable for what was just folded, if the next one like it would be
// folded into the ambient item by repeat.
func (c *Coalescer) remember(in *Input) {
	it := c.episode.item
	if it == nil || !in.Decision.Disposition.Urgent() {
		return
	}
	if row := it.Counters.find(in.Decision.Rule, in.Signature, in.variant); row != nil && !row.worsens(&in.Decision) &&
		it.unmoved(&in.Decision) {
		c.repeatable = repeatable{version: c.version, row: row}
	}
}

// repeat does what add does for an entry that the item knows and that changes
// nothing about it but counts, and returns true; else it does nothing. Most of
// add is about what may change, and storms consist of what does not (go test -bench
// Fold). A fuzz test holds the two to each other.
//
// r is the entry's counter, or nil where it was not looked for. Where unmoved held
// of it at this version of the Coalescer, it does until an entry is worse than its
// group: an item is as bad as its groups, and nothing else but another version makes
// it false.
func (c *Coalescer) repeat(it *item, in *Input, r *counter) bool {
	d := &in.Decision
	if r == nil {
		r = c.row(it, in)
	}
	if it.Total+1 >= it.NextCount || in.digest != nil {
		return false
	}
	if r == nil {
		return c.repeatUncounted(it, in)
	}
	if r.worsens(d) {
		return false
	}
	if r.calm != c.version {
		if !it.unmoved(d) {
			return false
		}
		r.calm = c.version
	}
	if runGap.passed(r.Last, c.now) {
		c.occur(r, c.calls.Side)
	}
	it.count(c.now, in.Entry.Pos, &c.cfg)
	r.bump(in, c.now)
	return true
}

// repeatUncounted is repeat for an entry of a group that no counter counts: all that is
// full of groups consists of those.
func (c *Coalescer) repeatUncounted(it *item, in *Input) bool {
	d, t := &in.Decision, &it.Counters
	if groups, _ := t.groups(); len(t.Uncounted.Keys) == 0 || groups >= it.NextGroups || it.admits(d) ||
		t.counted() < familiarGroups || !it.unmoved(d) || !t.Uncounted.has(groupKey(d.Rule, in.Signature)) {
		return false
	}
	it.count(c.now, in.Entry.Pos, &c.cfg)
	it.Untracked++
	it.rule(d.Rule).Untracked++ // unmoved found it
	return true
}

// unmoved reports whether an entry that does not make its group worse leaves the
// item as it is but for counts.
func (it *item) unmoved(d *event.Decision) bool {
	if it.worsens(d) || uint64(it.Counters.counted()) >= it.NextGroups || it.Deferred {
		return false
	}
	r := it.rule(d.Rule)
	return r != nil && r.Disposition >= d.Disposition && !r.Resolved
}

// known is the acknowledged item that accounts for an entry: of those that know it, the
// one that was acknowledged last.
type known struct {
	item *item
	row  *counter // of the entry's group and variant, nil where only its rule is known, or its group

	// The most that any of them was acknowledged with.
	disposition event.Disposition
	severity    event.Severity
	invalidates bool
}

// latest is the known of the entry that was looked up last, which holds while version is
// that of the Coalescer: storms repeat themselves.
type latest struct {
	version uint64 // 0: none
	known
}

// isLatest reports whether c.latest is that of an entry.
func (c *Coalescer) isLatest(in *Input) bool {
	r := c.latest.row
	return c.latest.version == c.version && r.Sig == in.Signature && r.Variant == in.variant && r.Rule == in.Decision.Rule
}

// account returns the acknowledged item that accounts for an entry, and "" when the
// entry is a repeat of what it holds, reasonStanding when it is one that stands, another
// reason when it goes beyond; and reasonNew when there is none.
func (c *Coalescer) account(in *Input, to *destination) (k known, why Reason) {
	d := &in.Decision
	if to.scope.plain() && c.isLatest(in) {
		k = c.latest.known
		return k, c.beyond(&k, in, to)
	}
	open := false // an open item has the group
	look := func(it *item, row *counter) {
		open = open || it.open() && !it.Past
		if !c.accounts(it, in, to) {
			return
		}
		if k.item == nil || it.ClearedAt > k.item.ClearedAt {
			k.item, k.row = it, row
		}
		k.disposition, k.severity = max(k.disposition, it.Disposition), max(k.severity, it.Severity)
		k.invalidates = k.invalidates || it.Invalidates
	}
	if !to.unseen {
		c.index.each(d.Rule, in.Signature, func(i int, row *counter) {
			if row.Variant == in.variant {
				look(&c.items[i], row)
			}
		})
	}
	if k.item == nil && !c.Loading() {
		c.index.eachFamiliar(d.Rule, func(i int) {
			if it := &c.items[i]; it.Opened.Seq > c.loadEnded && !c.cfg.AmbientQuiet.passed(it.Latest, c.now) {
				look(it, nil)
			}
		}, c.items)
	}
	if k.item == nil && to.novel {
		c.index.each(d.Rule, in.Signature, func(i int, _ *counter) { look(&c.items[i], nil) })
		if k.item != nil {
			return k, reasonVariant
		}
	}
	if k.item == nil {
		return k, reasonNew
	}
	if k.row != nil && to.scope.plain() && !open {
		c.latest = latest{version: c.version, known: k}
	}
	return k, c.beyond(&k, in, to)
}

// rateFactor is how much more frequent something acknowledged must become to
// be worth another look.
const rateFactor = 10

// accounts reports whether it is an acknowledged item that covers the burst of an entry
// whose group or rule it holds.
func (c *Coalescer) accounts(it *item, in *Input, to *destination) bool {
	if it.State != itemCleared || !it.Acked || it.Past || to.scope == scopeDigest {
		return false
	}
	if (it.Scope == scopeBlind) != (to.scope == scopeBlind) || (it.Scope == scopeHost) != (to.scope == scopeHost) {
		return false
	}
	r := it.rule(in.Decision.Rule)
	return r == nil || !r.Resolved
}

// beyond returns why an entry goes beyond what was acknowledged with the item that
// accounts for it, or "" or reasonStanding where it does not. It counts the occurrence.
func (c *Coalescer) beyond(k *known, in *Input, to *destination) Reason {
	it, d := k.item, &in.Decision
	switch {
	case d.Disposition > k.disposition:
		return reasonDisposition
	case d.Severity > k.severity:
		return reasonSeverity
	case d.Invalidates && !k.invalidates:
		return reasonInvalidated
	}
	last := it.Latest
	if k.row != nil {
		last = k.row.Last
	}
	apart := runGap.passed(last, c.now)
	blocking := d.Disposition == event.Blocking && to.scope.plain()
	switch {
	case d.Disposition == event.Blocking && to.scope == scopeHost && apart:
		return reasonReturned // the host knows
	case blocking && c.Loading() && it.AckedAt < c.load.Began.seq:
		return reasonReturned
	case c.cfg.AckMemory.passed(last, c.now):
		return reasonReturned
	case (k.row == nil || !k.row.Recurrence.standing()) && // whose rate counts by calls
		it.Rate.Current+1 >= rateFactor*it.AckRate && !c.cfg.RateWindow.passed(it.Rate.Start, c.now):
		return reasonRate
	case !apart && to.named == nil && clocked(last, c.now):
		return ""
	}
	root, since, before := c.inCall(it, to)
	if k.row == nil {
		if blocking && since != 0 && (to.named != nil || to.novel || c.cfg.Linger.passed(last, c.now)) {
			return reasonCharged // a form of the same that a later call met first
		}
		return ""
	}
	// Without times a call that began since the last one sets occurrences apart.
	if !apart && (since == 0 || to.named == nil && since <= last.seq) {
		return ""
	}
	why := Reason("")
	switch {
	case c.Loading() || before && since == 0:
		c.occur(k.row, neither)
		return ""
	case since == 0:
		c.occur(k.row, outside)
	default:
		c.occur(k.row, inside)
		if blocking {
			why = c.charge(k, root)
		}
	}
	// Between calls no result tells of it: whoever calls next should know, unless it is
	// known to come by itself.
	between := !slices.ContainsFunc(c.ops.live, (*operation).running)
	switch {
	case !blocking || !between:
	case why == reasonStanding:
		c.calls.Owed = mark{it.Number, ReasonStanding}
	case why == "" && k.row.Recurrence.Seen[outside] <= standingAfter:
		c.calls.Owed = mark{it.Number, ReasonBackground}
	}
	return why
}

// suppress counts a repeat of what was acknowledged.
func (c *Coalescer) suppress(k *known, in *Input, to *destination, why Reason) Folded {
	it := k.item
	it.add(in, to.named, c.now, &c.cfg)
	c.stats.Suppressed++
	because := ReasonBackground
	if why == reasonStanding {
		because = ReasonStanding
	}
	c.concern(in, to, it.Number, because)
	return Folded{ID: it.id, Owner: it.Number}
}
