package coalesce

import (
	"errors"
	"fmt"
)

// Stats counts the work of a [Coalescer]. The counts since its making are exact.
type Stats struct {
	Received      uint64
	Latest        uint64 // highest sequence number received, or continued from
	Ignored       uint64
	Folded        uint64
	ByDisposition [3]uint64 // of folded entries, by event.Disposition

	Suppressed uint64 // folded into an item after its acknowledgement
	Overflowed uint64 // entries that joined the item of another burst since MaxOpen blocking ones were open

	Number       uint64 // of the latest item
	Opened       uint64 // items
	Reopened     uint64 // items that had been cleared without an acknowledgement
	Open         int
	OpenBlocking int
	Cleared      uint64
	Acknowledged uint64
	Remembered   int
	Evicted      uint64

	FoldedOpen    uint64 // entries in open items
	FoldedCleared uint64 // entries in cleared items that are remembered
	FoldedEvicted uint64 // entries in cleared items that are not

	Updates        uint64 // drained
	UpdatesPending int
	UpdatesDropped uint64 // of items evicted before they were drained

	Operations          int // known
	OperationsRunning   int
	OperationsAbandoned uint64 // no end within OperationMax; those evicted since included
	OperationsEvicted   uint64 // those that ran included
	OperationsAnonymous uint64 // events without an id

	Consumers        int // known, the one without a name included
	ConsumersEvicted uint64

	Blind bool
}

// Stats returns the counts so far. Its cost grows with the bounds of Config.
func (c *Coalescer) Stats() Stats {
	s := c.Counts
	s.Latest, s.Number = c.Now.seq, c.Numbers
	for i := range c.Items {
		it := &c.Items[i]
		if !it.open() {
			s.Remembered++
			s.FoldedCleared += it.Total
			continue
		}
		s.Open++
		s.FoldedOpen += it.Total
		if it.blocking() {
			s.OpenBlocking++
		}
	}
	s.UpdatesPending = len(c.Queue)
	s.Consumers, s.Operations = len(c.Consumers.List), len(c.Operations.Order)
	for _, o := range c.Operations.Order {
		if o.running() {
			s.OperationsRunning++
		}
	}
	return s
}

// Check reports every law of conservation that s breaks. It holds at any
// logicalTime; a breach is a bug of heed.
func (s *Stats) Check() error {
	var errs []error
	equal := func(what string, a, b uint64) {
		if a != b {
			errs = append(errs, fmt.Errorf("coalesce: BUG: %s: %d is not %d", what, a, b))
		}
	}
	equal("received = ignored + folded", s.Received, s.Ignored+s.Folded)
	equal("folded = advisory + blocking", s.Folded, s.ByDisposition[1]+s.ByDisposition[2])
	equal("folded = entries of open, cleared and evicted items", s.Folded, s.FoldedOpen+s.FoldedCleared+s.FoldedEvicted)
	equal("opened + reopened = open + cleared", s.Opened+s.Reopened, uint64(s.Open)+s.Cleared)
	equal("cleared = remembered + evicted + reopened", s.Cleared, uint64(s.Remembered)+s.Evicted+s.Reopened)
	return errors.Join(errs...)
}
