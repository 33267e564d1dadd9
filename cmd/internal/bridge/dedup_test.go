package bridge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDedup(t *testing.T) {
	// Each step is a record: "l" from the log, "m" from the mod, "M" from the mod
	// with a level; in upper-case words of want it is taken in.
	for _, tc := range []struct{ name, steps, taken string }{
		{"the log alone", "lll", "+++"},
		{"the mod alone", "mmm", "+++"},
		{"the mod first", "MlMl", "+-+-"},
		{"the log first, no level", "lmlm", "+-+-"},
		{"the log first, a level once", "lMlM", "+++-"},
		{"many of the mod, then the log", "MMMlll", "+++---"},
		{"the log ahead, then behind", "llMMMl", "+++-+-"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, now := NewDedup(), time.Unix(1000, 0)
			var got strings.Builder
			for _, step := range tc.steps {
				now = now.Add(time.Millisecond)
				taken := false
				switch step {
				case 'l':
					taken = d.FromLog("a line \r\nand more", now)
				case 'm', 'M':
					taken = d.FromMod("a line\n  another tail", step == 'M', now)
				}
				if taken {
					got.WriteByte('+')
				} else {
					got.WriteByte('-')
				}
			}
			require.Equal(t, tc.taken, got.String())
		})
	}
}

func TestDedupForgets(t *testing.T) {
	d, now := NewDedup(), time.Unix(1000, 0)
	require.True(t, d.FromMod("old", true, now))
	require.False(t, d.FromLog("old", now.Add(dedupWindow)), "still its twin")
	require.True(t, d.FromMod("again", true, now))
	require.True(t, d.FromLog("again", now.Add(dedupWindow+1)), "another record")

	require.True(t, d.FromMod("pushed out", true, now))
	for i := range dedupTexts {
		require.True(t, d.FromLog(fmt.Sprintf("text %d", i), now))
	}
	require.Equal(t, dedupTexts, d.texts.Len())
	require.True(t, d.FromLog("pushed out", now))
}

// TestDedupCuts holds how much of a text is compared: 160 bytes of its first line.
func TestDedupCuts(t *testing.T) {
	now := time.Unix(1000, 0)
	for n, same := range map[int]bool{160: true, 159: false} {
		d := NewDedup()
		require.True(t, d.FromMod(strings.Repeat("x", n)+"a", false, now))
		require.Equal(t, !same, d.FromLog(strings.Repeat("x", n)+"b", now))
	}
}
