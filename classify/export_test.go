package classify

import (
	"math"

	"github.com/heedlog/heed/event"
)

// Decide is Classify with a copy of the result.
func (c *Classifier) Decide(e *event.Entry) Result {
	r, _ := c.Classify(e)
	return *r
}

// Snapshot appends a whole snapshot to dst.
func (c *Classifier) Snapshot(dst []byte) []byte {
	dst = c.BeginSnapshot(dst)
	for more := true; more; {
		dst, more = c.ContinueSnapshot(dst, math.MaxInt)
	}
	return dst
}

// Validate returns what [New] says of c.
func (c Config) Validate() error { return c.validate() }
