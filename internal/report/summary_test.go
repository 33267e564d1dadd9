package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/signature"
)

// TestSummaryMarks holds the identity of a log to its bytes, however they are written: it begins another one that is longer
// and agrees with it up to the last of the lengths that have a mark.
func TestSummaryMarks(t *testing.T) {
	lengths := []int{}
	for n, step := 4096, 64; n < 80_000; n += step {
		lengths = append(lengths, n)
		if n == 128*step {
			step *= 2
		}
	}
	hashed := func(t *rapid.T, data []byte) summary.Log {
		h := summary.NewHasher()
		for rest := data; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "write")
			_, _ = h.Write(rest[:n])
			rest = rest[n:]
		}
		return h.Log("x")
	}
	rapid.Check(t, func(t *rapid.T) {
		long := make([]byte, rapid.IntRange(0, 70_000).Draw(t, "bytes"))
		for i := range long {
			long[i] = byte(i * i >> 3)
		}
		short := slices.Clone(long[:rapid.IntRange(0, len(long)).Draw(t, "shorter")])
		differs := len(short)
		if len(short) > 0 && rapid.Bool().Draw(t, "differ") {
			differs = rapid.IntRange(0, len(short)-1).Draw(t, "from")
			short[differs]++
		}
		a, b := hashed(t, short), hashed(t, long)
		require.EqualValues(t, xxhash.Sum64(long), b.Hash)
		last := -1
		for _, n := range lengths {
			if n <= len(short) {
				last = n
			}
		}
		want := last > 0 && differs >= last
		if len(short) == len(long) {
			want = differs == len(short)
		}
		require.Equal(t, want, a.Begins(&b))
		require.Equal(t, want && len(short) == len(long), b.Begins(&a))
		require.LessOrEqual(t, len(short)-max(last, 4095), max(4095, len(short)/64))
	})
}

func TestParseSummary(t *testing.T) {
	s := summary.Session{
		Version: summary.Version, Log: summary.Log{Name: "a", Bytes: 5, Hash: 1 << 63},
		Groups: []summary.Group{
			{
				Signature: 1, Members: []signature.ID{2},
				Blame: []summary.Blame{{Mod: "a", Evidence: []blame.Kind{blame.Frame, blame.Patch}}},
			},
			{Signature: 3},
		},
	}
	data, err := json.Marshal(s)
	require.NoError(t, err)
	got, err := summary.Parse(data)
	require.NoError(t, err)
	require.Equal(t, &s, got)

	same := `{"signature":"0000000000000001"}`
	for text, want := range map[string]string{
		`{`:             "unexpected end",
		`{"version":2}`: "version of summaries: 2, want 1",
		`{"version":1,"groups":[` + same + `,` + same + `]}`:                          "groups[1]: signature 0000000000000001 names two groups",
		`{"version":1,"groups":[` + strings.Repeat(`{},`, summary.MaxGroups) + `{}]}`: "1001 groups, at most 1000",
		`{"version":1,"groups":[{"blame":[{"evidence":["x"]}]}]}`:                     `there is no evidence "x"`,
		`{"version":1,"log":{"hash":"1"}}`:                                            `id "1": want 16`,
	} {
		_, err := summary.Parse([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

func TestGameOfSummary(t *testing.T) {
	for text, want := range map[string][2]string{
		"RimWorld 1.6.4566 rev607": {"RimWorld", "1.6.4566 rev607"}, "Half-Life 2": {"Half-Life 2", ""},
		"Euro Truck Simulator 2 v1.49": {"Euro Truck Simulator 2", "v1.49"}, "": {}, "1.2": {"1.2", ""},
	} {
		name, version := summary.Game(text)
		require.Equal(t, want, [2]string{name, version}, text)
	}
}
