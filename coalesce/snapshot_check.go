package coalesce

import "github.com/heedlog/heed/event"

// check refuses what no Coalescer can be in: what its methods rely on, and the
// laws of conservation. What it does not refuse may be odd, but works.
func (s *coder) check() {
	if s.Err() != nil {
		return
	}
	c := s.c
	seen := map[uint64]bool{0: true}
	pending := 0
	for i := range c.items {
		it := &c.items[i]
		if it.state == itemFree {
			if len(it.counters.rows) > 0 || len(it.rules) > 0 {
				s.Fail("an unused item is not empty")
			}
			continue
		}
		if seen[it.number] {
			s.Fail("item number %d is 0 or occurs twice", it.number)
		}
		seen[it.number] = true
		if it.open() {
			c.nOpen++
		}
		if it.pending != "" {
			pending++
		}
		if why := it.broken(); why != "" {
			s.Fail("item %d: %s", it.number, why)
		}
	}
	if c.nOpen > c.cfg.MaxOpen {
		s.Fail("%d items are open, and Config.MaxOpen is %d", c.nOpen, c.cfg.MaxOpen)
	}
	s.checkQueue(pending)

	gathers := c.episode.item == nil || c.episode.item.open()
	gathers = gathers && (c.blindly == nil || c.blindly.open())
	for _, o := range c.ops.order {
		gathers = gathers && (o.openItem == nil || o.openItem.open())
	}
	if !gathers {
		s.Fail("an item that is not open receives entries")
	}
	if it := c.pool; it != nil && (!it.open() || it.disposition != event.Advisory || !it.scope.plain()) {
		s.Fail("an item that is not advisory, or not open, is joined by advisory entries")
	}
	st := c.Stats()
	if err := st.Check(); err != nil {
		s.Fail("its counts do not match: %w", err)
	}
	if st.Received > c.now.seq || st.Opened > c.numbers || st.Cleared != c.clears {
		s.Fail("%d entries, %d items opened and %d cleared are not possible after entry %d", st.Received, st.Opened,
			st.Cleared, c.now.seq)
	}
}

// checkQueue refuses updates that are not those of the items, which are pending.
func (s *coder) checkQueue(pending int) {
	queued := map[*item]bool{}
	for _, it := range s.c.queue {
		if it == nil || it.pending == "" || queued[it] {
			s.Fail("an update occurs twice or belongs to no item")
		}
		queued[it] = true
	}
	if len(queued) != pending {
		s.Fail("it has %d updates, but %d items have one", len(queued), pending)
	}
}

// broken returns the law that an item which is not free breaks, or "".
func (it *item) broken() string {
	left := it.total - it.untracked // which is at most the total
	for i := range it.counters.rows {
		n := it.counters.rows[i].count
		if n == 0 || n > left {
			return "the counts of its groups do not match its entries"
		}
		left -= n
	}
	switch open := it.open(); {
	case len(it.counters.rows) == 0 || it.opened.seq == 0 || it.cause.Seq == 0:
		return "it is empty"
	case uint64(len(it.counters.uncounted.keys)) > it.untracked:
		return "it has more groups without a counter than entries of them"
	case left != 0:
		return "the counts of its groups do not match its entries"
	case (it.scope == scopeOperation) != (it.root != nil):
		return "its operation is missing, or should not be there"
	case it.scope == scopeDigest && it.digest.from.seq == 0:
		return "its digest is empty"
	case open && (it.acked || it.clearedBy != "" || it.pending == Cleared):
		return "it is open and cleared"
	case !open && (it.clearedBy == "" || it.pending != "" && it.pending != Cleared):
		return "it is cleared and open"
	case open:
		return it.unsplittable()
	}
	return ""
}

// unsplittable returns the law that an open item breaks, so that an
// acknowledgement could not part it, or "".
func (it *item) unsplittable() string {
	opened, cause := false, false
	for i := range it.counters.rows {
		r := &it.counters.rows[i]
		switch {
		case r.first.seq > r.worst.seq || r.worst.seq > r.raised.seq || r.raised.seq > r.last.seq ||
			r.last.seq > it.latest.seq:
			return "a group with its entries out of order"
		case !r.holds(&r.worst) || !r.holds(&r.raised):
			return "a group that became worse after more entries than it has"
		case r.disposition > it.disposition || r.severity > it.severity || r.invalidates && !it.invalidates:
			return "a group worse than all of it"
		case r.first.seq < it.opened.seq:
			return "a group that is older"
		case r.disposition == it.disposition && r.worst.seq < it.cause.Seq,
			r.severity == it.severity && r.raised.seq < it.severeAt,
			r.invalidates && r.raised.seq < it.invalidatedAt:
			return "a group that was worse before all of it was"
		}
		opened = opened || r.first.seq == it.opened.seq
		cause = cause || r.disposition == it.disposition && r.worst.seq == it.cause.Seq
	}
	if !opened || !cause {
		return "the group of its first entry, or of its cause, is missing"
	}
	return ""
}

// holds reports whether c may have turned at t: after its first entry something
// came before, and what came before leaves something.
func (c *counter) holds(t *turn) bool {
	return t.count < c.count && (t.count > 0) == (t.seq > c.first.seq)
}
