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

	members members // by the rule that decided
}

// members are what rules decided in the items of a cause.
type members map[string]*heed.Member

// add adds the members of another item.
func (m members) add(others []heed.Member) {
	for _, o := range others {
		if it := m[o.Rule]; it != nil {
			joined := *it // others may hold it
			joined.Join(&o)
			o = joined
		}
		m[o.Rule] = &o
	}
}

type causeKey struct {
	rule        string
	disposition event.Disposition
}

// causes follows the items of a replay and sums up those that have ended.
// There are no more sums than rules, and no more open items than the engine
// holds, so that both are exact and bounded.
type causes struct {
	open map[string]*openItem
	sums map[causeKey]*cause

	items         uint64
	byDisposition [3]uint64 // items by the highest disposition they reached
}

// openItem is an item as it was seen last.
type openItem struct {
	attention heed.Item
	number    uint64 // order of opening
}

func newCauses() causes {
	return causes{open: map[string]*openItem{}, sums: map[causeKey]*cause{}}
}

func (c *causes) add(u *heed.Update) {
	c.see(&u.Item)
	if u.Item.State == cleared {
		// A cleared item is never opened again.
		delete(c.open, u.Item.ID)
		sum(c.sums, &u.Item, false)
	}
}

// see records the present state of an item.
func (c *causes) see(a *heed.Item) {
	it := c.open[a.ID]
	if it == nil {
		c.items++
		it = &openItem{number: c.items}
		c.open[a.ID] = it
		c.byDisposition[a.Disposition]++
	} else if a.Disposition != it.attention.Disposition {
		c.byDisposition[it.attention.Disposition]--
		c.byDisposition[a.Disposition]++
	}
	it.attention = *a
}

// sum adds an item to the sum that it belongs to.
func sum(sums map[causeKey]*cause, a *heed.Item, open bool) {
	key, m := causeKey{a.Rule, a.Disposition}, &a.Members[0]
	s := sums[key]
	if s == nil {
		s = &cause{
			Cause:     Cause{Rule: key.rule, Disposition: a.Disposition, First: m.First},
			FirstItem: *a, members: members{},
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
	s.members.add(a.Members)
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
	for _, it := range slices.SortedFunc(maps.Values(c.open), func(a, b *openItem) int {
		return cmp.Compare(a.number, b.number)
	}) {
		sum(sums, &it.attention, true)
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b *cause) int { return a.own().Compare(b.own()) })
}

// own returns what the cause's rule itself decided.
func (c *cause) own() *heed.Member { return c.members[c.Rule] }

// others returns what came with that, by weight.
func (c *cause) others() []*heed.Member {
	others := maps.Clone(c.members)
	delete(others, c.Rule)
	return slices.SortedFunc(maps.Values(others), (*heed.Member).Compare)
}

// isOpen reports whether an open item holds a rule that nothing resolved.
func (c *causes) isOpen(rule string) bool {
	for _, it := range c.open {
		if slices.ContainsFunc(it.attention.Members, func(m heed.Member) bool { return m.Rule == rule && !m.Over }) {
			return true
		}
	}
	return false
}

// member returns what a rule decided at a disposition in all items, nil for nothing.
func (c *causes) member(key causeKey) *heed.Member {
	all := members{}
	for _, s := range c.list() {
		if m := s.members[key.rule]; m != nil && m.Disposition == key.disposition {
			all.add([]heed.Member{*m})
		}
	}
	return all[key.rule]
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

// timeline keeps the first and the last updates of a replay.
type timeline struct {
	first []heed.Update
	last  []heed.Update // ring: the oldest is at next once it is full
	next  int
	limit int // of each
	total uint64
}

func (t *timeline) add(u *heed.Update) {
	t.total++
	switch {
	case len(t.first) < t.limit:
		t.first = append(t.first, *u)
	case len(t.last) < t.limit:
		t.last = append(t.last, *u)
	default:
		t.last[t.next] = *u
		t.next = (t.next + 1) % t.limit
	}
}

// left is the number of updates between the first and the last that are not
// kept.
func (t *timeline) left() uint64 { return t.total - uint64(len(t.first)+len(t.last)) }

// ends returns the updates before and after those that are left out.
func (t *timeline) ends() (first, last []heed.Update) {
	last = append(append([]heed.Update{}, t.last[t.next:]...), t.last[:t.next]...)
	return t.first, last
}
