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

	// FirstItem is the item that came first, Largest the one with most entries.
	FirstItem, Largest heed.Item

	parts parts // of Entries, by the rule that decided
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

	parts map[string]parts // of the open items, and of unreported
	// unreported is the item whose parts were begun last. There may be no update about it yet.
	unreported string

	items         uint64
	byDisposition [3]uint64 // items by the highest disposition they reached
}

// openItem is an item as it was seen last.
type openItem struct {
	attention heed.Item
	number    uint64 // order of opening
}

func newCauses() causes {
	return causes{open: map[string]*openItem{}, sums: map[causeKey]*cause{}, parts: map[string]parts{}}
}

func (c *causes) add(u *heed.Update) {
	c.see(&u.Item)
	if u.Item.State == cleared {
		// A cleared item is never opened again.
		delete(c.open, u.Item.ID)
		sum(c.sums, &u.Item, c.parts[u.Item.ID], false)
		delete(c.parts, u.Item.ID)
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

// isOpen reports whether an item that a rule caused is open.
func (c *causes) isOpen(rule string) bool {
	for _, it := range c.open {
		if it.attention.Cause.Rule == rule {
			return true
		}
	}
	return false
}

// lead returns the rule that an item is named for: that of its cause, unless that decided few of the entries of
// the item's disposition, and then the one that decided most.
func (p parts) lead(a *heed.Item) string {
	own := p[a.Cause.Rule]
	if own == nil {
		return a.Cause.Rule
	}
	most, all := own, uint64(0)
	for _, o := range p {
		if o.disposition != a.Disposition {
			continue
		}
		all += o.entries
		if o.entries > most.entries || o.entries == most.entries && o.first < most.first {
			most = o
		}
	}
	if own.entries*few >= all {
		return own.rule
	}
	return most.rule
}

// sum adds an item to the sum that it belongs to.
func sum(sums map[causeKey]*cause, a *heed.Item, of parts, open bool) {
	first, names := a.Cause.Pos, a.Blame
	key := causeKey{of.lead(a), a.Disposition}
	if key.rule != a.Cause.Rule {
		first, names = of[key.rule].first, of[key.rule].blame
	}
	s := sums[key]
	if s == nil {
		s = &cause{
			Cause:     Cause{Rule: key.rule, Disposition: a.Disposition, First: first, Blame: names},
			FirstItem: *a, Largest: *a, parts: parts{},
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
	s.parts.merge(of)
	s.Last = max(s.Last, a.LatestPos)
	if a.Cause.Seq < s.FirstItem.Cause.Seq {
		s.First, s.Blame, s.FirstItem = first, names, *a
	}
	if a.TotalUrgentEntries > s.Largest.TotalUrgentEntries {
		s.Largest = *a
	}
}

// list returns the sums over all items, those that are open included, in the
// order in which to look at them: what blocks first, then by severity, then what
// recurs, then what came first, since causes come before consequences.
func (c *causes) list() []*cause {
	sums := make(map[causeKey]*cause, len(c.sums))
	for key, s := range c.sums {
		clone := *s
		clone.parts = parts{}
		clone.parts.merge(s.parts)
		sums[key] = &clone
	}
	for _, it := range slices.SortedFunc(maps.Values(c.open), func(a, b *openItem) int {
		return cmp.Compare(a.number, b.number)
	}) {
		sum(sums, &it.attention, c.parts[it.attention.ID], true)
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b *cause) int {
		return cmp.Or(
			cmp.Compare(b.Disposition, a.Disposition),
			cmp.Compare(b.Severity, a.Severity),
			cmp.Compare(min(b.own(), recurring)/recurring, min(a.own(), recurring)/recurring),
			cmp.Compare(a.FirstItem.Cause.Seq, b.FirstItem.Cause.Seq),
			cmp.Compare(a.Rule, b.Rule),
		)
	})
}

// samples returns the entry that was the first cause, and the most frequent
// other one of the largest item.
func (c *cause) samples() []heed.Sample {
	var samples []heed.Sample
	if len(c.FirstItem.Sample) > 0 {
		samples = append(samples, c.FirstItem.Sample[0])
	}
	var most *heed.Sample
	for i := range c.Largest.Sample {
		s := &c.Largest.Sample[i]
		if s.Signature != c.FirstItem.Cause.Signature && (most == nil || s.RepeatCount > most.RepeatCount) {
			most = s
		}
	}
	if most != nil {
		samples = append(samples, *most)
	}
	return samples
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

// part is what one rule decided among the entries of an item. An item is named
// after what broke first in it, and that is often a small part: what came with
// it may be what the player sees.
type part struct {
	rule        string
	disposition event.Disposition // the highest that the rule came to
	entries     uint64
	first, last uint64 // lines of the first and of the last of them

	blame []string // whom the first entry points at that names anybody
}

// parts are those of one item, or of the items of one cause. There are no more than
// rules.
type parts map[string]*part

// add counts an entry that a rule decided, and returns the part that it belongs to.
func (p parts) add(d *event.Decision, line uint64) *part {
	it := p[d.Rule]
	if it == nil {
		it = &part{rule: d.Rule, first: line}
		p[d.Rule] = it
	}
	it.disposition = max(it.disposition, d.Disposition)
	it.entries++
	it.last = max(it.last, line)
	return it
}

// merge adds the parts of another item to those of p, which holds on to none of them.
func (p parts) merge(others parts) {
	for rule, o := range others {
		it := p[rule]
		if it == nil {
			clone := *o
			p[rule] = &clone
			continue
		}
		it.disposition = max(it.disposition, o.disposition)
		it.entries += o.entries
		it.first, it.last = min(it.first, o.first), max(it.last, o.last)
		if len(it.blame) == 0 {
			it.blame = o.blame
		}
	}
}

// observe counts an entry for the item that it was folded into. That item is
// only heard of once the engine is asked for updates, and never again where it was
// acknowledged and repeats are added to it: its parts go with the next that begin.
func (c *causes) observe(o *heed.Outcome, line uint64, row *row) {
	if o.AttentionID == "" {
		return
	}
	of := c.parts[o.AttentionID]
	if of == nil {
		if c.open[c.unreported] == nil {
			delete(c.parts, c.unreported)
		}
		of = parts{}
		c.parts[o.AttentionID], c.unreported = of, o.AttentionID
	}
	if p := of.add(&o.Decision, line); p.blame == nil {
		p.blame = row.Blame
	}
}

// own returns how many entries the cause's rule itself decided. Without
// [Replay.Observe] all are.
func (c *cause) own() uint64 {
	if len(c.parts) == 0 {
		return c.Entries
	}
	if it := c.parts[c.Rule]; it != nil {
		return it.entries
	}
	return 0
}

// others returns what came with those: what blocks first, then by the number of entries, of equals what
// came first.
func (c *cause) others() []*part {
	var all []*part
	for _, it := range c.parts {
		if it.rule != c.Rule {
			all = append(all, it)
		}
	}
	slices.SortFunc(all, func(a, b *part) int {
		return cmp.Or(
			cmp.Compare(b.disposition, a.disposition),
			cmp.Compare(b.entries, a.entries),
			cmp.Compare(a.first, b.first),
			cmp.Compare(a.rule, b.rule),
		)
	})
	return all
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
