package coalesce_test

import (
	"fmt"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// A storm of one fault is one item, and costs one acknowledgement.
func Example() {
	c, err := coalesce.New(coalesce.Config{Epoch: "run7"})
	if err != nil {
		fmt.Println(err)
		return
	}
	show := func() {
		for u, ok := c.NextUpdate(); ok; u, ok = c.NextUpdate() {
			fmt.Printf("%s, %s: %s %s\n", u.Kind, u.Reason, u.Item.ID, u.Item.Summary)
		}
	}
	for i := range 1000 {
		c.Fold(&coalesce.Input{
			Entry:     &event.Entry{Seq: uint64(i + 1), Message: "Exception ticking Deer1"},
			Signature: signature.Signature{ID: 1},
			Decision:  event.Decision{Rule: "tick", Disposition: event.Blocking, Severity: event.SeverityError},
			Summary:   "something fails on every tick",
		})
		if i == 0 {
			show()
		}
	}
	show()

	a, _ := c.Current("")
	res := c.Ack("", a.ID, a.LatestSequence)
	fmt.Println("acknowledged:", res.Acknowledged, "still open:", res.Open)
	show()
	// Output:
	// opened, new: run7-1 something fails on every tick (1 entry in 1 group); see entries after 0
	// updated, count: run7-1 something fails on every tick (1000 entries in 1 group); first at entry 1; see entries after 0
	// acknowledged: true still open: false
	// cleared, acknowledged: run7-1 something fails on every tick (1000 entries in 1 group); first at entry 1; cleared: acknowledged
}
