package coalesce

import (
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
	if c.repeatable.version != c.version || c.thorough || it.total+1 >= it.nextCount ||
		c.cfg.AmbientQuiet.passed(c.episode.last, c.now) {
		f := c.Fold(in)
		c.remember(in)
		return f
	}
	c.stats.Received++
	c.stats.Folded++
	c.stats.ByDisposition[in.Decision.Disposition]++
	c.save(it)
	it.count(c.now, e.Pos, &c.cfg)
	c.repeatable.row.bump(c.now, e.Pos)
	c.episode.last = c.now
	c.wake(it)
	return Folded{ID: it.id, Owner: it.number}
}

// remember sets repeatable for what was just folded, if the next one like it would be
// folded into the ambient item by repeat.
func (c *Coalescer) remember(in *Input) {
	it := c.episode.item
	if it == nil || !in.Decision.Disposition.Urgent() {
		return
	}
	if row := it.counters.find(in.Decision.Rule, in.Signature); row != nil && !row.worsens(&in.Decision) &&
		it.unmoved(&in.Decision) {
		c.repeatable = repeatable{version: c.version, row: row}
	}
}

// repeat does what add does for an entry that the item knows and that changes
// nothing about it but counts, and returns true; else it does nothing. Most of
// add is about what may change, and storms consist of what does not (go test -bench
// Fold). A fuzz test holds the two to each other.
//
// c is the entry's counter, or nil where it was not looked for. Where unmoved held
// of it at this version of the Coalescer, it does until an entry is worse than its
// group: an item is as bad as its groups, and nothing else but another version makes
// it false.
func (it *item) repeat(in *Input, c *counter, now logicalTime, version uint64, cfg *Config) bool {
	d := &in.Decision
	if c == nil {
		c = it.counters.find(d.Rule, in.Signature)
	}
	if c == nil || c.worsens(d) || it.total+1 >= it.nextCount || in.digest != nil {
		return false
	}
	if c.calm != version {
		if !it.unmoved(d) {
			return false
		}
		c.calm = version
	}
	it.count(now, in.Entry.Pos, cfg)
	c.bump(now, in.Entry.Pos)
	return true
}

// unmoved reports whether an entry that does not make its group worse leaves the
// item as it is but for counts.
func (it *item) unmoved(d *event.Decision) bool {
	if it.worsens(d) || uint64(len(it.counters.rows)) >= it.nextGroups {
		return false
	}
	r := it.rule(d.Rule)
	return r != nil && r.disposition >= d.Disposition && !r.resolved
}

// account looks for an acknowledged item that accounts for an entry. It
// returns that item and "" when the entry is a repeat of what it holds; the
// latest one that knows the entry, and a reason, when it goes beyond all of
// them; and nil and reasonNew when none knows it. What names an operation is
// accounted for by items of that operation alone; what names none, by any: an
// inference is no evidence that this is another fault.
func (c *Coalescer) account(in *Input, to *destination) (*item, Reason) {
	if it := c.suppressor; it != nil && c.accounts(it, in, to) && c.exceeds(it, in) == "" {
		return it, ""
	}
	var known, latest *item
	why := reasonNew
	c.knowing(in.Decision.Rule, in.Signature, func(it *item) {
		if !c.accounts(it, in, to) {
			return
		}
		reason := c.exceeds(it, in)
		if reason == "" && (known == nil || it.clearedAt > known.clearedAt) {
			known = it
		}
		if latest == nil || it.clearedAt > latest.clearedAt {
			latest, why = it, reason
		}
	})
	if known != nil {
		return known, ""
	}
	return latest, why
}

// rateFactor is how much more frequent something acknowledged must become to
// be worth another look.
const rateFactor = 10

// accounts reports whether it is an acknowledged item that knows the entry and
// covers its burst.
func (c *Coalescer) accounts(it *item, in *Input, to *destination) bool {
	if it.state != itemCleared || !it.acked || to.scope == scopeDigest {
		return false
	}
	if (it.scope == scopeBlind) != (to.scope == scopeBlind) || (it.scope == scopeHost) != (to.scope == scopeHost) {
		return false
	}
	if to.named != nil && to.scope == scopeOperation && (it.root == nil || c.ops.root(it.root) != to.root) {
		return false
	}
	return it.knows(in.Decision.Rule, in.Signature)
}

// exceeds returns why an entry goes beyond what was acknowledged with an item
// that accounts for it, or "" where it does not.
func (c *Coalescer) exceeds(it *item, in *Input) Reason {
	switch d := &in.Decision; {
	case d.Disposition > it.disposition:
		return reasonDisposition
	case d.Severity > it.severity:
		return reasonSeverity
	case d.Invalidates && !it.invalidates:
		return reasonInvalidated
	}
	last := it.latest
	if ctr := it.counters.find(in.Decision.Rule, in.Signature); ctr != nil {
		last = ctr.last
	}
	if c.cfg.AckMemory.passed(last, c.now) {
		return reasonReturned
	}
	if it.rate.current+1 >= rateFactor*it.ackRate && !c.cfg.RateWindow.passed(it.rate.start, c.now) {
		return reasonRate
	}
	return ""
}

// suppress counts a repeat of what was acknowledged.
func (c *Coalescer) suppress(it *item, in *Input, to *destination) Folded {
	c.suppressor = it
	c.save(it)
	it.add(in, to.named, c.now, &c.cfg)
	c.stats.Suppressed++
	if to.named != nil {
		c.noteOperation(in, to, it.number)
	}
	return Folded{ID: it.id, Owner: it.number}
}
