package scrub

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestHintsMissNothing: what an expression takes out, the look before it finds.
func TestHintsMissNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`([0-9a-fA-F]{0,4}[.:-]|[0-9]{1,3}[.:]| |x|::|host ){0,12}[0-9a-f]{0,4}`).Draw(t, "text")
		for i := range forms {
			if f := &forms[i]; f.scrub(s) != s && !f.hinted(strings.ToLower(s)) {
				t.Fatalf("%s: %q becomes %q unseen", f.kind, s, f.scrub(s))
			}
		}
	})
}
