package coalesce

import (
	"strconv"
	"strings"

	"github.com/heedlog/heed/event"
)

// AckResult is the answer to an acknowledgement.
type AckResult struct {
	ID string

	// Acknowledged says that the item is cleared by this acknowledgement or
	// by an earlier one. It is false for an id that is not known (any more).
	Acknowledged bool

	// Already says that an earlier acknowledgement had cleared it.
	Already bool

	// Successor is the id of the item that holds what the acknowledger had not
	// been shown, or "".
	Successor string

	// Covered holds the ids of the other items that the acknowledged view
	// named, and that are cleared with it.
	Covered []string

	// Current is the item that is open now, if Open.
	Current Attention
	Open    bool
}

// Ack acknowledges the item called id up to the sequence number upTo, the
// latest that the acknowledger was shown; 0 means what Updates or Current gave
// out last. The item is cleared in any case. What came after upTo and is new
// to it opens a successor; repeats stay in its totals. Items that the view of
// it by Current named are acknowledged with it, each as far as it was shown.
func (c *Coalescer) Ack(id string, upTo uint64) AckResult {
	res := AckResult{ID: id}
	if it := c.lookup(id); it != nil {
		switch {
		case it.open():
			res.Acknowledged = true
			covers := it.covers
			res.Successor = c.id(c.acknowledge(it, c.mark(it, upTo)))
			for _, cv := range covers {
				if other := c.byNumber(cv.number); other != nil && other.open() {
					c.acknowledge(other, cv.mark)
					res.Covered = append(res.Covered, other.id)
				}
			}
		case it.acked:
			res.Acknowledged, res.Already = true, true
		}
	}
	res.Current, res.Open = c.Current()
	return res
}

// mark returns the sequence number up to which an acknowledgement of it goes.
// Whoever knows the id has seen at least that the item was opened.
func (c *Coalescer) mark(it *item, upTo uint64) uint64 {
	switch {
	case upTo != 0:
		return max(upTo, it.opened.seq)
	case it.shown.seq != 0:
		return it.shown.seq
	}
	return it.latest.seq
}

// lookup returns the item called id, or nil.
func (c *Coalescer) lookup(id string) *item {
	digits, ok := strings.CutPrefix(id, c.prefix)
	if !ok {
		return nil
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || c.id(n) != id {
		return nil
	}
	return c.byNumber(n)
}

func (c *Coalescer) byNumber(n uint64) *item {
	for i := range c.items {
		if it := &c.items[i]; it.number == n && it.state != itemFree {
			return it
		}
	}
	return nil
}

// acknowledge clears an open item up to mark and returns the number of its
// successor, or 0.
func (c *Coalescer) acknowledge(it *item, mark uint64) uint64 {
	unseen := it.unseen(mark)
	to := destination{scope: it.scope, inferred: it.inferred}
	if it.scope == scopeOperation {
		if to.root = c.ops.get(it.operation); to.root == nil {
			to.root = &operation{id: it.operation, method: it.method}
		}
		to.root.lastItem = it.number
	}
	wasAmbient := c.ambient == it
	if wasAmbient {
		c.lastAmbient = it.number
	}
	it.acked = true
	it.ackRate = max(1, it.rate.peak())
	c.stats.Acknowledged++
	c.clear(it, ReasonAcknowledged)
	if len(unseen) == 0 {
		return 0
	}
	ambient := c.ambient
	next := c.openItem(&to, it.counters.rows[unseen[0]].raised, it.counters.rows[unseen[0]].raisedPos)
	if it.scope == scopeAmbient && !wasAmbient {
		// The episode is over: its successor gathers nothing more.
		c.ambient = ambient
	}
	next.predecessor = it.number
	next.take(it, unseen)
	c.wake(next)
	next.pendingSeq, next.pendingPos = next.latest.seq, next.latestPos
	c.queueUpdate(next, Opened, ReasonNew)
	return next.number
}

// unseen returns the rows, in order, of the groups of which an acknowledger
// who was shown the item up to mark has not seen what matters: that they
// exist, or that one of them rose above all the item held.
func (it *item) unseen(mark uint64) []int {
	if it.latest.seq <= mark {
		return nil
	}
	seen := 0
	for i := range it.counters.rows {
		if it.counters.rows[i].first.seq <= mark {
			seen++
		}
	}
	var rows []int
	for i := range it.counters.rows {
		ctr := &it.counters.rows[i]
		fresh := ctr.first.seq > mark
		if fresh && seen >= familiarGroups {
			r := it.rule(ctr.rule)
			fresh = r == nil || r.first.seq > mark
		}
		rose := ctr.raised.seq > mark && it.roseAt.seq > mark &&
			(ctr.severity == it.severity || ctr.disposition == it.disposition)
		if fresh || rose {
			rows = append(rows, i)
		}
	}
	return rows
}

// take moves into it, an item just opened, what the given rows of from have
// counted since they rose.
func (it *item) take(from *item, rows []int) {
	for _, n := range rows {
		src := &from.counters.rows[n]
		dst := it.counters.add(src.rule, src.sig)
		*dst = *src
		dst.count = src.sinceRaise
		dst.first, dst.firstPos = src.raised, src.raisedPos
		src.count -= src.sinceRaise
		src.sinceRaise = 0
		from.total -= dst.count
		it.total += dst.count

		it.severity = max(it.severity, dst.severity)
		it.invalidates = it.invalidates || dst.invalidates
		if dst.raised.seq < it.opened.seq {
			it.opened, it.openedPos = dst.raised, dst.raisedPos
		}
		if dst.last.seq > it.latest.seq {
			it.latest, it.latestPos = dst.last, dst.lastPos
		}
		if it.rule(dst.rule) == nil && len(it.rules) < cap(it.rules) {
			if r := from.rule(dst.rule); r != nil {
				it.rules = append(it.rules, ruleCount{rule: r.rule, summary: r.summary, disposition: dst.disposition, first: dst.raised})
			} else {
				it.allRules = false
			}
		}
		if dst.disposition > it.disposition || dst.disposition == it.disposition && dst.raised.seq < it.cause.Seq {
			it.disposition = dst.disposition
			it.cause = Cause{Seq: dst.raised.seq, Pos: dst.raisedPos, Rule: dst.rule, Signature: dst.sig}
			it.causeOperation, it.causeMethod = dst.operation, dst.method
		}
	}
	for i := range it.rules {
		it.rules[i].disposition = max(it.rules[i].disposition, event.Advisory)
	}
	for i := range it.counters.rows {
		if ctr := &it.counters.rows[i]; ctr.first.seq < it.cause.Seq && ctr.disposition < it.disposition {
			it.prelude += ctr.count
		}
	}
	it.roseAt = it.latest
	it.rate = from.rate
	it.nextCount, it.nextGroups = nextMark(it.total), nextMark(uint64(len(it.counters.rows)))
}
