package scrub

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLongLines: many backslashes, and many homes, in one line take no time that grows with its square.
func TestLongLines(t *testing.T) {
	for _, unit := range []string{`\`, `C:\Users\ab `} {
		long := strings.Repeat(unit, 100_000/len(unit))
		began := time.Now()
		Text(long)
		(&Names{}).Learn(long)
		require.Less(t, time.Since(began), 3*time.Second, unit)
	}
}
