package coalesce

import (
	"math"

	"github.com/heedlog/heed/signature"
)

// recall remembers which of the acknowledged items know a group, so that a repeat
// need not ask all of them. What it says is exact: it forgets everything whenever an
// item is cleared or forgotten, a rule is resolved, or groups become one, and
// nothing else changes what a cleared item knows.
type recall struct {
	slots [recallSets][recallWays]recalled
	era   uint64 // of what is remembered; from 1 on
}

// A group is remembered in any slot of the set that its id gives, of a power of two.
const (
	recallSets = 128
	recallWays = 4
)

// recallItems is how many items may know a group that is remembered: more than one
// do after a return, and each return takes ten times the entries of the one before.
const recallItems = 3

// recalled is a group with the items that know it.
type recalled struct {
	era  uint64
	sig  signature.Signature
	rule string
	list [recallItems]uint16 // indices into Coalescer.items, in order
	n    int
}

// expire forgets everything.
func (r *recall) expire() { r.era++ }

// slot returns where (rule, sig) is remembered, and true; or where it may be.
func (r *recall) slot(rule string, sig signature.Signature) (*recalled, bool) {
	set := &r.slots[uint64(sig.ID)%recallSets]
	free := &set[uint64(sig.ID)/recallSets%recallWays]
	for i := range set {
		switch s := &set[i]; {
		case s.era != r.era:
			free = s
		case s.sig == sig && s.rule == rule:
			return s, true
		}
	}
	return free, false
}

// knowing calls f for each acknowledged item that knows (rule, sig), in the order of
// the items.
func (c *Coalescer) knowing(rule string, sig signature.Signature, f func(it *item)) {
	r, ok := c.recall.slot(rule, sig)
	if ok {
		for _, i := range r.list[:r.n] {
			f(&c.items[i])
		}
		return
	}
	*r = recalled{era: c.recall.era, sig: sig, rule: rule}
	for i := range c.items {
		it := &c.items[i]
		if it.state != itemCleared || !it.acked || !it.knows(rule, sig) {
			continue
		}
		if r.n < recallItems && i <= math.MaxUint16 {
			r.list[r.n] = uint16(i)
			r.n++
		} else {
			r.era = 0 // too many to be remembered
		}
		f(it)
	}
}
