package coalesce

import "strings"

// Attribute says whom the entry of the latest [Coalescer.Fold] points at, where
// that was the first of its group in the item called owner: names of mods,
// likeliest first, of which at most maxBlame are kept. They hold no line feed. It
// changes nothing but what is shown of the group, and of the item whose cause it
// holds.
func (c *Coalescer) Attribute(owner uint64, names []string) {
	if len(names) == 0 {
		return
	}
	for i := range c.items {
		it := &c.items[i]
		if it.state == itemFree || it.number != owner || len(it.counters.rows) == 0 {
			continue
		}
		if row := &it.counters.rows[len(it.counters.rows)-1]; row.first.seq == c.now.seq {
			c.save(it)
			row.blame = strings.Join(names[:min(len(names), maxBlame)], "\n")
		}
		return
	}
}

// maxBlame bounds the names that a group has.
const maxBlame = 2

// blame returns whom the group of the item's cause points at. What other groups
// point at is no answer to what happened first.
func (it *item) blame() []string {
	if c := it.counters.find(it.cause.Rule, it.cause.Signature); c != nil {
		return c.attributed()
	}
	return nil
}

// attributed returns the names that c has, nil for none.
func (c *counter) attributed() []string {
	if c.blame == "" {
		return nil
	}
	return strings.Split(c.blame, "\n")
}
