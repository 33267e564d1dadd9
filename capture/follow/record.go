package follow

import (
	"time"

	"github.com/heedlog/heed/capture"
)

// Record is a record of the followed file with when it came. It and its strings
// are valid for the call of the [Handler] only.
type Record struct {
	capture.Record

	// Arrived is when the bytes that completed the record were read, in UTC and without a
	// monotonic part, so that a recording holds it exactly. It is also the Time of the
	// log record or event, where the log tells none. Zero for History.
	Arrived time.Time

	// History says that the record was in the file when the Follower started:
	// when it was written is not known, and nothing is invented.
	History bool
}

// Handler takes a record. It is called by one goroutine, in order. While it runs
// nothing more is read: a slow one slows the reading, and loses nothing.
type Handler func(*Record)
