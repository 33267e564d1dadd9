package report

import (
	"cmp"
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
)

// part is what one rule decided among the entries of an item. An item is named
// after what broke first in it, and that is often a small part: what came with
// it may be what the player sees.
type part struct {
	rule        string
	disposition event.Disposition // the highest that the rule came to
	entries     uint64
	first, last uint64 // lines of the first and of the last of them

	// blame names whom the first entry points at that names anybody; names is its
	// row, and named its line. Differs says that others name somebody else; it is
	// kept up in the parts of one item alone.
	blame   []string
	names   *row
	named   uint64
	differs bool
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
		if c.open[c.unheard] == nil {
			delete(c.parts, c.unheard)
		}
		of = parts{}
		c.parts[o.AttentionID], c.unheard = of, o.AttentionID
	}
	of.add(&o.Decision, line).accuse(row, line)
}

// accuse takes in whom an entry names that was counted in row.
func (p *part) accuse(row *row, line uint64) {
	switch {
	case len(row.Blame) == 0 || p.names == row:
	case p.names == nil:
		p.blame, p.names, p.named = row.Blame, row, line
	case !p.differs:
		p.differs = !sameMods(p.blame, row.Blame)
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

// others returns what came with those: what blocks first, then by the number of
// entries, of equals what came first. Beyond the limit it says how many more
// there are, which takes as much room as one.
func (c *cause) others(limit int) (shown []*part, more int) {
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
	if len(all) > limit+1 {
		return all[:limit], len(all) - limit
	}
	return all, 0
}
