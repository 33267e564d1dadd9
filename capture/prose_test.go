package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestProse requires that what is told from frames by its first word is none.
func TestProse(t *testing.T) {
	pieces := []string{"Foo", ".Bar", ":", "Baz", " ", "  ", "(", "()", "(int)", ":0", "<", ">", "[[", "]]", ", ", " at offset ", " in file:line:column ", " (at <01>:0)", "é", "a"}
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces"), ""))
		if isProse(b) {
			require.False(t, isUnityFrame(b) || isOffsetFrame(b), "%q", b)
		}
	})
	require.True(t, isProse([]byte("Could not load (it)")))
	require.False(t, isProse([]byte("Gadget.Panel:Draw (int)")))
}
