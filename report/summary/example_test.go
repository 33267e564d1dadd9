package summary_test

import (
	"bytes"
	"fmt"

	"github.com/heedlog/heed/report/summary"
)

// A log that grew is the same log.
func ExampleHasher() {
	h := summary.NewHasher()
	_, _ = h.Write(bytes.Repeat([]byte("Loading game\n"), 1000))
	before := h.Log("Player.log")
	_, _ = h.Write([]byte("Saved\n"))
	now := h.Log("copy.log")
	fmt.Println(before.Begins(&now), now.Begins(&before))
	// Output: true false
}
