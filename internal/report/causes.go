package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// cause sums up the attention items that one rule caused: a game that loads a
// damaged save ten times opens ten items, and it is one thing to look at.
type cause struct {
	Cause // not escaped; without the words and what only documents have

	FirstItem heed.Item // the item that came first

	members map[string]*heed.Member // by the rule that decided
}

// addMember adds entries to those with the same key.
func addMember[K comparable](all map[K]*heed.Member, key K, m heed.Member) {
	if it := all[key]; it != nil {
		joined := *it // an item may hold it
		joined.Join(&m)
		m = joined
	}
	all[key] = &m
}

type causeKey struct {
	rule        string
	disposition event.Disposition
}

// causes follows the items of a replay and sums up those that have ended.
// There are no more sums than rules, and no more open items than the engine
// holds, so that both are exact and bounded.
type causes struct {
	open []heed.Item // as they were seen last, in the order of opening
	sums map[causeKey]*cause

	byDisposition [3]uint64 // items by the highest disposition they reached
}

func (c *causes) add(u *heed.Update) {
	c.see(&u.Item)
	if u.Item.State == cleared {
		// A cleared item is never opened again.
		c.open = slices.DeleteFunc(c.open, func(a heed.Item) bool { return a.ID == u.Item.ID })
		sum(c.sums, &u.Item, false)
	}
}

// see records the present state of an item.
func (c *causes) see(a *heed.Item) {
	c.byDisposition[a.Disposition]++
	if i := slices.IndexFunc(c.open, func(o heed.Item) bool { return o.ID == a.ID }); i >= 0 {
		c.byDisposition[c.open[i].Disposition]--
		c.open[i] = *a
		return
	}
	c.open = append(c.open, *a)
}

// sum adds an item to the sum that it belongs to.
func sum(sums map[causeKey]*cause, a *heed.Item, open bool) {
	key, m := causeKey{a.Rule, a.Disposition}, &a.Members[0]
	s := sums[key]
	if s == nil {
		s = &cause{
			Cause:     Cause{Rule: key.rule, Disposition: a.Disposition, First: m.First},
			FirstItem: *a, members: map[string]*heed.Member{},
		}
		sums[key] = s
	}
	s.Severity = max(s.Severity, a.Severity)
	s.Invalidates = s.Invalidates || a.StateInvalidated
	s.Items++
	if open {
		s.Open++
	}
	s.Entries += a.TotalUrgentEntries
	for _, m := range a.Members {
		addMember(s.members, m.Rule, m)
	}
	s.Last = max(s.Last, a.LatestPos)
	if a.Cause.Seq < s.FirstItem.Cause.Seq {
		s.First, s.FirstItem = m.First, *a
	}
}

// list returns the sums over all items, those that are open included, by weight.
func (c *causes) list() []*cause {
	sums := make(map[causeKey]*cause, len(c.sums))
	for key, s := range c.sums {
		clone := *s
		clone.members = maps.Clone(s.members)
		sums[key] = &clone
	}
	for i := range c.open {
		sum(sums, &c.open[i], true)
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b *cause) int { return a.own().Compare(b.own()) })
}

// own returns the entries that the cause's rule itself decided.
func (c *cause) own() *heed.Member { return c.members[c.Rule] }

// others returns the other rules' entries in the items, by weight.
func (c *cause) others() []*heed.Member {
	others := maps.Clone(c.members)
	delete(others, c.Rule)
	return slices.SortedFunc(maps.Values(others), (*heed.Member).Compare)
}

// isOpen reports whether an open item holds a rule that nothing resolved.
func (c *causes) isOpen(rule string) bool {
	return slices.ContainsFunc(c.open, func(a heed.Item) bool {
		return slices.ContainsFunc(a.Members, func(m heed.Member) bool { return m.Rule == rule && !m.Over })
	})
}

// all returns the entries of each rule at each disposition in all items.
func (c *causes) all() map[causeKey]*heed.Member {
	all := map[causeKey]*heed.Member{}
	for _, s := range c.list() {
		for _, m := range s.members {
			addMember(all, causeKey{m.Rule, m.Disposition}, *m)
		}
	}
	return all
}

// operation names the operation that the first item came from or after. The name is the host's.
func (c *cause) operation() origin {
	a := &c.FirstItem
	if name := cmp.Or(a.CausalMethod, a.CausalOperationID); name != "" {
		return origin{"during", text.Safe(name, maxName)}
	}
	if name := cmp.Or(a.AfterMethod, a.AfterOperation); name != "" {
		return origin{"after", text.Safe(name, maxName)}
	}
	return origin{}
}
