package coalesce

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/heedlog/heed/signature"
)

// maxCount bounds numbers. No engine gets that far, and a sum of them does not overflow.
const maxCount = 1 << 62

// fits returns why s does not fit a new Coalescer: its bounds, references or numbers.
func (s *State) fits(c *Coalescer) error {
	now := &c.Config
	if s.Config.Epoch != now.Epoch {
		return fmt.Errorf("its Config.Epoch is %q, not %q", s.Config.Epoch, now.Epoch)
	}
	was := s.Config.counts()
	for i, n := range now.counts() {
		if *was[i].Value > *n.Value {
			return fmt.Errorf("it was made with Config.%s %d; %d is too small for it", n.Name, *was[i].Value, *n.Value)
		}
	}
	if why := s.odd(reflect.ValueOf(s).Elem()); why != "" {
		return errors.New(why[1:])
	}
	var all laws
	law := all.hold
	list := s.Consumers.List
	law("Consumers", len(list) > 0 && len(list) <= now.MaxConsumers && list[0].Name == "")
	law("Items", len(s.Items) <= cap(c.Items))
	law("Queue", len(s.Queue) <= cap(c.Items))
	law("Operations", len(s.Operations.Order) <= now.MaxOperations && !slices.Contains(s.Operations.Order, nil))
	law("Escalations", len(s.Escalations) <= maxEscalations)
	for i := range s.Items {
		it := &s.Items[i]
		law("Items: State or Scope", it.State != itemFree && it.State <= itemOver && it.Scope <= scopeDigest)
		law("Items: Rows", len(it.Counters.Rows) <= now.MaxGroups+reservedRows && !slices.Contains(it.Counters.Rows, nil))
		law("Items: Rules", len(it.Rules) <= now.MaxGroups+reservedRows)
		law("Items: Consumer", it.Consumer < len(list) && len(it.Delivered) <= now.MaxConsumers)
		law("Items: Covers", len(it.Covers) <= now.MaxNamed)
		law("Items: Digest", len(it.Digest.Samples) <= now.MaxSamples)
	}
	return errors.Join(all...)
}

// odd names a field of s with a number that is too large or a time after now. It returns "" if
// there is none.
func (s *State) odd(v reflect.Value) (why string) {
	bad, leaf := s.impossible(v)
	switch kind := v.Kind(); {
	case bad:
		return " is not possible"
	case leaf:
	case kind == reflect.Pointer && !v.IsNil():
		return s.odd(v.Elem())
	case kind == reflect.Slice || kind == reflect.Array:
		for i := range v.Len() {
			if why = s.odd(v.Index(i)); why != "" {
				return fmt.Sprintf("[%d]%s", i, why)
			}
		}
	case kind == reflect.Struct:
		for f, inner := range v.Fields() {
			if !f.IsExported() || strings.HasSuffix(f.Name, "Pos") {
				continue
			}
			if why = s.odd(inner); why != "" {
				return "." + f.Name + why
			}
		}
	}
	return ""
}

// impossible reports whether a value does not fit s, and whether it has no values in it to look at.
func (s *State) impossible(v reflect.Value) (bad, leaf bool) {
	switch x := v.Addr().Interface().(type) {
	case *signature.Signature, *frame, *[2]int64: // any
	case *logicalTime:
		bad = x.seq > s.Now.seq || x.seq > maxCount || x.generation > min(s.Now.generation, maxCount) || x.at < -farthest ||
			x.at > farthest || clocked(*x, s.Now) && x.at > s.Now.at
	case *place:
		bad = x.Seq > s.Now.seq
	case *AccusedMod:
		bad = x.Entries > maxCount
	default:
		bad = v.CanUint() && v.Uint() > maxCount || v.CanInt() && (v.Int() < 0 || v.Int() > int64(farthest))
		return bad, v.CanUint() || v.CanInt()
	}
	return bad, true
}

// laws are those that a state breaks.
type laws []error

func (l *laws) hold(name string, holds bool) {
	if !holds {
		*l = append(*l, errors.New(name+" is not possible"))
	}
}

// check returns the laws that c breaks: what its methods rely on, and the laws of
// conservation. A state that it does not refuse may be odd, but works.
func (c *Coalescer) check() error {
	var all laws
	numbers, pending := map[uint64]bool{0: true}, map[uint64]int{}
	for i := range c.Items {
		it := &c.Items[i]
		all.hold("Number of an item", !numbers[it.Number] && it.Number <= c.Numbers)
		numbers[it.Number] = true
		if it.Pending != "" {
			pending[it.Number]++
		}
		it.check(&all)
	}
	for _, number := range c.Queue {
		pending[number]--
	}
	for _, n := range pending {
		all.hold("Queue", n == 0)
	}
	st := c.Stats()
	all.hold("MaxOpen", st.Open <= c.Config.MaxOpen)
	all.hold("Numbers", st.Received <= c.Now.seq && st.Opened <= c.Numbers && c.Numbers <= c.Now.seq)
	return errors.Join(append(all, st.Check())...)
}

// check adds the laws that an item breaks.
func (it *item) check(all *laws) {
	left, open := it.Total-it.Untracked, it.open() // at most the total
	first := false
	for _, r := range it.Counters.Rows {
		t := &r.Raised
		all.hold("Count of a group", r.Count > 0 && r.Count <= left && it.rule(r.Rule) != nil)
		all.hold("Recurrence", r.Recurrence == nil || r.Recurrence.Times > 0)
		left, first = left-r.Count, first || r.First.Seq == it.Opened.Seq
		all.hold("the order of a group", r.First.Seq <= t.At.Seq && t.At.Seq <= r.Last.seq && r.Last.seq <= it.Latest.seq)
		all.hold("Raised of a group", t.Count < r.Count && (t.Count > 0) == (t.At.Seq > r.First.Seq))
		all.hold("a group worse than its item", !open || r.above(it.gravity) == "")
	}
	all.hold("Total", left == 0)
	all.hold("Opened", first && it.Opened.Seq > 0)
	all.hold("Cause", it.Cause.Seq > 0 && it.causeRow() != nil)
	all.hold("Root", (it.Scope == scopeOperation) == (it.Root != nil))
	all.hold("Digest", it.Scope != scopeDigest || it.Digest.From.Seq > 0)
	all.hold("State of an item", open == (it.ClearedBy == "") && (it.Pending == "" || open == (it.Pending != Cleared)) &&
		(!open || it.AckedAt.seq == 0))
}
