package compare

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHoldsWord(t *testing.T) {
	for _, test := range []struct {
		text, word string
		want       bool
	}{
		{"loading of big guns failed", "big guns", true},
		{"loading of big gunsmith failed", "big guns", false},
		{"big gunsmith, big guns", "big guns", true},
		{"xab-ab-ab", "ab-ab", true}, // the second begins within the first
		{"xab-ab", "ab-ab", false},
		{"big guns", "big guns", true},
		{"", "big guns", false},
	} {
		require.Equal(t, test.want, holdsWord(test.text, test.word), "%q in %q", test.word, test.text)
	}
}
