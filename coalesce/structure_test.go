package coalesce

import (
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// openItems returns all open items.
func openItems(c *Coalescer) []Item {
	var all []Item
	for _, id := range c.OpenIDs(nil) {
		a, _ := c.Item(id)
		all = append(all, a)
	}
	return all
}

// updates drains all pending updates.
func updates(c *Coalescer) []Update {
	var all []Update
	for u, ok := c.NextUpdate(); ok; u, ok = c.NextUpdate() {
		all = append(all, u)
	}
	return all
}

// checkIndex compares the index with the items.
func checkIndex(t require.TestingT, c *Coalescer) {
	groups, rules, crowd := map[uint32]uint64{}, map[uint32]uint64{}, 0
	for i := range c.items {
		it := &c.items[i]
		for k := range it.counters.rows {
			row := &it.counters.rows[k]
			ref := it.counters.base + uint32(k)
			require.Same(t, &c.index.rows[ref], row)
			groups[ref] = uint64(row.sig.ID)
			if row.variant == others {
				crowd++
			}
		}
		require.False(t, it.familiar && !it.acked)
		if it.acked && it.counters.counted() >= familiarGroups {
			require.True(t, it.familiar)
		}
		for k := range it.rules {
			if it.familiar {
				rules[uint32(1+i*maxRules+k)] = xxhash.Sum64String(it.rules[k].rule)
			}
		}
	}
	same := func(want map[uint32]uint64, table *chains) {
		n := 0
		for list, ref := range table.heads {
			for ; ref != 0; ref = table.next[ref] {
				hash, ok := want[ref]
				require.True(t, ok && hash&uint64(len(table.heads)-1) == uint64(list))
				n++
			}
		}
		require.Equal(t, len(want), n)
	}
	require.Equal(t, crowd, c.index.others)
	same(groups, &c.index.groups)
	same(rules, &c.index.rules)
}

// checkStructure checks what always holds inside a coalescer.
func checkStructure(t require.TestingT, c *Coalescer) {
	open := 0
	numbers := map[uint64]bool{}
	queued := map[*item]bool{}
	for _, it := range c.queue {
		require.False(t, queued[it], "queued twice")
		queued[it] = true
	}
	for i := range c.items {
		it := &c.items[i]
		require.Equal(t, it.pending != "", queued[it])
		if it.state == itemFree {
			require.Zero(t, it.number)
			require.Zero(t, it.total)
			require.Empty(t, it.counters.rows)
			continue
		}
		require.NotNil(t, it.causeRow(), "a merge looks for a cause where its group is")
		require.False(t, numbers[it.number])
		numbers[it.number] = true
		require.Equal(t, c.id(it.number), it.id)
		require.Equal(t, it.scope == scopeOperation, it.root != nil)
		if it.open() {
			open++
			require.False(t, it.acked)
			require.Empty(t, it.clearedBy)
		}
		sum, groups := it.untracked, map[modelGroup]bool{}
		for n := range it.counters.rows {
			row := it.counters.rows[n]
			sum += row.count
			groups[modelGroup{row.rule, row.sig, ""}] = true
			require.NotZero(t, row.count)
			it.counters.last = 1 << 20 // so that the index is asked
			require.Same(t, &it.counters.rows[n], it.counters.find(row.rule, row.sig, row.variant))
			if it.open() {
				require.LessOrEqual(t, row.severity, it.severity)
				require.LessOrEqual(t, row.disposition, it.disposition)
				require.True(t, it.invalidates || !row.invalidates)
				if row.calm == c.version {
					require.True(t, it.unmoved(&event.Decision{
						Rule: row.rule, Disposition: row.disposition, Severity: row.severity,
						Invalidates: row.invalidates,
					}))
				}
				require.True(t, row.first.seq <= row.worst.seq && row.worst.seq <= row.raised.seq && row.raised.seq <= row.last.seq)
			}
		}
		require.Equal(t, len(groups), it.counters.counted())
		require.Equal(t, it.total, sum, "every entry is in one group or untracked")
		if it.open() && it.disposition == event.Advisory {
			require.False(t, c.cfg.AdvisoryTTL.passed(it.alive, c.now), "expired")
			soonest := alarm{}
			soonest.add(&c.cfg.AdvisoryTTL, it.alive, c.now)
			requireNotLater(t, c.expiry, soonest)
		}
	}
	checkIndex(t, c)
	require.Equal(t, open, c.nOpen)
	require.False(t, c.expiry.due(c.now), "an alarm that stays due would sweep at each entry")
	require.False(t, c.abandon.due(c.now))
	gathers := func(it *item) { require.True(t, it == nil || it.open()) }
	gathers(c.episode.item)
	gathers(c.blindly)
	if c.pool != nil {
		require.True(t, c.pool.open() && c.pool.disposition == event.Advisory && c.pool.scope.plain())
	}
	require.False(t, c.calls.ends.due(c.now))
	require.False(t, c.loadEnds.due(c.now))
	for _, o := range c.ops.order {
		require.Equal(t, o.begun && (o.running() || o.lingers(&c.cfg.Linger, c.now)), slices.Contains(c.ops.live, o), o.id)
	}
	for _, o := range c.ops.live {
		require.True(t, c.ops.holds(o))
		if !o.running() {
			soonest := alarm{}
			soonest.add(&c.cfg.Linger, o.ended, c.now)
			requireNotLater(t, c.calls.ends, soonest)
		}
	}
	require.Len(t, c.ops.byID, len(c.ops.order))
	for _, o := range c.ops.order {
		require.Same(t, o, c.ops.byID[o.id])
		require.False(t, o.gone)
		gathers(o.openItem)
		if o.running() {
			require.False(t, c.cfg.OperationMax.passed(o.started, c.now), "given up")
			soonest := alarm{}
			soonest.add(&c.cfg.OperationMax, o.started, c.now)
			requireNotLater(t, c.abandon, soonest)
		}
		root := c.ops.root(o)
		require.True(t, root.parent == "" || c.ops.get(root.parent) == nil, "no loops")
		require.True(t, o == root || o.openItem == nil || c.nOpen == c.cfg.MaxOpen, "only roots gather")
	}
	cached := c.onlyRoot()
	c.only.valid = false
	require.Same(t, cached, c.onlyRoot(), "the inference is up to date")
}

// requireNotLater checks that alarm a goes off when b does, or earlier.
func requireNotLater(t require.TestingT, a, b alarm) {
	if b.seq != 0 {
		require.True(t, a.seq != 0 && a.seq <= b.seq, "%v is later than %v", a, b)
	}
	if b.generation != 0 {
		require.True(t, a.generation == b.generation && a.at <= b.at, "%v is later than %v", a, b)
	}
}
