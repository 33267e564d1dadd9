package signature

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkPlanes holds the planes of s, of at most 64 bytes, to the table of roles.
func checkPlanes(t *testing.T, s string) {
	t.Helper()
	var want [4]uint64
	for i := range len(s) {
		for p := range want {
			want[p] |= roles[s[i]] >> (16 * p) & 1 << i
		}
	}
	all := uint64(1)<<len(s) - 1
	n, x, y, z := planesOf(s)
	require.Equal(t, want, [4]uint64{n & all, x & all, y & all, z & all}, "%q", s)
}

// TestPlanes tries every byte, at every length.
func TestPlanes(t *testing.T) {
	var b strings.Builder
	for c := range 256 {
		b.WriteByte(byte(c))
	}
	text := b.String() + b.String()
	for i := range 256 {
		for size := 1; size <= 64; size++ {
			checkPlanes(t, text[i:i+size])
		}
	}
}

func FuzzPlanes(f *testing.F) {
	for _, c := range benchTexts {
		f.Add(c.text, 0)
	}
	f.Fuzz(func(t *testing.T, s string, from int) {
		s = s[max(0, min(from, len(s))):]
		if s != "" {
			checkPlanes(t, s[:min(len(s), 64)])
		}
	})
}

// TestWindowTokens holds the tokens that a window knows to what narrowEnd finds.
func TestWindowTokens(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	known := 0
	for range 1_000 {
		var b strings.Builder
		for range 1 + rnd.IntN(40) {
			b.WriteString(headPieces[rnd.IntN(len(headPieces))])
		}
		text := b.String()
		var w window
		for i := 0; i < len(text); {
			if classes[text[i]]&narrow == 0 {
				i++
				continue
			}
			end, all := narrowEnd(text, i)
			w.fill(text, i)
			for j := i; j < len(text) && j < i+int(w.valid); {
				if classes[text[j]]&narrow == 0 {
					j++
					continue
				}
				wantEnd, want := narrowEnd(text, j)
				gotEnd, got := w.token(text, j)
				require.Equal(t, wantEnd, gotEnd, "%q at %d", text, j)
				if got&event != 0 {
					require.Equal(t, want&(digit|glue|slash|tick), got&(digit|glue|slash|tick), "%q at %d", text, j)
				} else {
					require.Zero(t, want&(digit|glue), "%q at %d", text, j)
					known++
				}
				j = wantEnd
			}
			require.True(t, w.valid > 0 || end-i > 60, "%q at %d: %v", text, i, all)
			i = end
		}
	}
	require.Greater(t, known, 1_000)
}
