package coalesce

import "slices"

// unseen returns the rows, in order, of which an acknowledger who was shown the
// item up to watermark has not seen what matters: that the group exists, or that it
// became worse than all the item held; and the turn from which that is so. Of
// an item with many groups, one more of a rule that was shown does not matter;
// nor does what is resolved.
func (it *item) unseen(watermark uint64) (rows []int, turns []turn) {
	if it.latest.seq <= watermark {
		return nil, nil
	}
	seen := 0
	for i := range it.counters.rows {
		if it.counters.rows[i].first.seq <= watermark {
			seen++
		}
	}
	for i := range it.counters.rows {
		c := &it.counters.rows[i]
		r := it.rule(c.rule)
		var t turn
		switch {
		case r != nil && r.resolved:
			continue
		case c.first.seq > watermark && (seen < familiarGroups || r == nil || r.first > watermark):
			t = turn{place: c.first, named: c.firstBy}
		case c.disposition == it.disposition && it.cause.Seq > watermark:
			t = c.worst
		case c.severity == it.severity && it.severeAt > watermark, c.invalidates && it.invalidatedAt > watermark:
			t = c.raised
		default:
			continue
		}
		rows, turns = append(rows, i), append(turns, t)
	}
	return rows, turns
}

// part moves into next, which is empty, what the given rows have counted from
// their turns on, all after watermark. What is left is the item as it was shown; but
// state that was said to be invalid stays so.
func (it *item) part(next *item, watermark uint64, rows []int, turns []turn) {
	for i, n := range rows {
		moved := it.counters.rows[n].split(turns[i])
		it.total -= moved.count
		next.take(it, moved)
	}
	next.nextCount, next.nextGroups = nextThreshold(next.total), nextThreshold(uint64(len(next.counters.rows)))
	next.rate = it.rate
	next.settle()

	it.counters.retain(func(c *counter) bool { return c.count > 0 })
	it.rules = slices.DeleteFunc(it.rules, func(r ruleCount) bool { return r.first > watermark && !r.resolved })
	it.settle()
}

// take adds a group that another item had counted.
func (it *item) take(from *item, c counter) {
	it.counters.add(c)
	it.total += c.count
	if it.opened.seq == 0 || c.first.seq < it.opened.seq {
		it.opened = c.first
	}
	if c.last.seq > it.latest.seq {
		it.latest, it.latestPos = c.last, c.lastPos
	}
	it.invalidates = it.invalidates || c.invalidates
	r, known := it.rule(c.rule), from.rule(c.rule)
	switch {
	case r != nil:
		r.disposition = max(r.disposition, c.disposition)
		r.first = min(r.first, c.first.seq)
	case known != nil:
		it.rules = append(it.rules, ruleCount{rule: c.rule, summary: known.summary, disposition: c.disposition, first: c.first.seq})
	default:
		it.allRules = false
	}
}

// settle works out anew how bad the item is, since when, and its cause, from
// its groups. The prelude then counts what is known to be before the cause: of
// a group that goes on after it, nothing is.
func (it *item) settle() {
	it.disposition, it.severity = 0, 0
	for i := range it.counters.rows {
		c := &it.counters.rows[i]
		it.disposition, it.severity = max(it.disposition, c.disposition), max(it.severity, c.severity)
	}
	var cause *counter
	it.severeAt, it.invalidatedAt = 0, 0
	for i := range it.counters.rows {
		c := &it.counters.rows[i]
		if c.disposition == it.disposition && (cause == nil || c.worst.seq < cause.worst.seq) {
			cause = c
		}
		if c.severity == it.severity && (it.severeAt == 0 || c.raised.seq < it.severeAt) {
			it.severeAt = c.raised.seq
		}
		if c.invalidates && (it.invalidatedAt == 0 || c.raised.seq < it.invalidatedAt) {
			it.invalidatedAt = c.raised.seq
		}
	}
	if it.cause.Seq == cause.worst.seq {
		return
	}
	it.cause = Cause{Seq: cause.worst.seq, Pos: cause.worst.pos, Rule: cause.rule, Signature: cause.sig}
	it.causeBy = cause.worst.named
	it.prelude = cause.worst.count
	for i := range it.counters.rows {
		if c := &it.counters.rows[i]; c.last.seq < it.cause.Seq {
			it.prelude += c.count
		}
	}
}
