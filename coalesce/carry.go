package coalesce

import (
	"cmp"
	"slices"

	"github.com/heedlog/heed/event"
)

// Held is a blocking item in the form that every version reads. The form never changes.
type Held struct {
	Number           uint64         `json:"-"` // at the end of the id
	ID               string         `json:"id"`
	Severity         event.Severity `json:"severity"`
	Summary          string         `json:"summary"`
	StateInvalidated bool           `json:"stateInvalidated,omitempty"`
}

// Held returns the open items that block, or will when a load is over, in the order of their numbers. A summary is the
// title of the item and the mods that it names. latest is the number of the latest item of all.
func (c *Coalescer) Held() (held []Held, latest uint64) {
	for i := range c.Items {
		it := &c.Items[i]
		if !it.open() || it.Disposition != event.Blocking {
			continue
		}
		m := &c.members(it)[0]
		summary := m.Title
		if blame, _ := m.Mods(); it.Scope.plain() && len(blame) > 0 {
			summary += "; blame: " + safeNames(blame)
		}
		held = append(held, Held{it.Number, it.id, it.Severity, summary, it.Invalidates})
	}
	slices.SortFunc(held, func(a, b Held) int { return cmp.Compare(a.Number, b.Number) })
	return held, c.Numbers
}

// Continue sets the numbers of the latest entry and the latest item of another Coalescer in a Coalescer with lower
// ones, and whether evidence was incomplete. Nothing else of the other one is known.
func (c *Coalescer) Continue(seq, numbers uint64, blind bool) {
	c.Now.seq, c.Numbers, c.Counts.Blind = seq, max(c.Numbers, numbers), c.Counts.Blind || blind
}

// Reopen folds an entry of the host that opens the item with a number that was given before [Coalescer.Continue], or by
// another Coalescer since.
func (c *Coalescer) Reopen(in *Input, number uint64) Folded {
	latest := max(c.Numbers, number)
	c.Numbers = number - 1
	f := c.Fold(in)
	c.Numbers = latest
	return f
}
