package summary_test

import (
	"fmt"

	"github.com/heedlog/heed/summary"
)

// A log that grew is the same log.
func ExampleHasher() {
	first := summary.NewHasher(nil)
	_, _ = first.Write([]byte("Loading game\n"))
	before := first.Log("Player.log")

	again := summary.NewHasher([]uint64{before.Bytes})
	_, _ = again.Write([]byte("Loading game\nSaved\n"))
	now := again.Log("copy.log")
	fmt.Println(now.Same(&before), before.Same(&now))
	// Output: true false
}
