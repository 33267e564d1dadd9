package scrub

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLongLines: each of many homes in one line is found.
func TestLongLines(t *testing.T) {
	const homes = 500
	require.Equal(t, homes, strings.Count(Text(strings.Repeat(`C:\Users\ab `, homes)), string(User)))
}

// BenchmarkLongLines: a line twice as long takes twice the time, also one of many backslashes or homes.
func BenchmarkLongLines(b *testing.B) {
	for name, unit := range map[string]string{"backslashes": `\`, "homes": `C:\Users\ab `, "hints": `&user=`} {
		long := strings.Repeat(unit, 100_000/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(long)))
			for b.Loop() {
				Text(long)
				(&Names{}).Learn(long)
			}
		})
	}
}
