package summary_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/blame"
	"github.com/heedlog/heed/signature"
	"github.com/heedlog/heed/summary"
)

// TestBeginnings holds the hashes of beginnings to those of the bytes themselves, however they are written.
func TestBeginnings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		lengths := rapid.SliceOf(rapid.Uint64Range(0, uint64(len(data)+3))).Draw(t, "lengths")
		h := summary.NewHasher(lengths)
		for rest := data; len(rest) > 0; {
			n := rapid.IntRange(0, len(rest)).Draw(t, "write")
			_, _ = h.Write(rest[:n])
			rest = rest[n:]
		}
		log := h.Log("x")
		require.Equal(t, uint64(len(data)), log.Bytes)
		require.EqualValues(t, xxhash.Sum64(data), log.Hash)
		for _, n := range lengths {
			if n > uint64(len(data)) {
				require.NotContains(t, log.Beginnings, n)
				continue
			}
			earlier := summary.Log{Bytes: n, Hash: summary.Hash(xxhash.Sum64(data[:n]))}
			require.Equal(t, n > 0 || len(data) == 0, log.Same(&earlier), n)
			earlier.Hash++
			require.False(t, log.Same(&earlier))
		}
	})
}

func TestParse(t *testing.T) {
	s := summary.Session{
		Version: summary.Version, Log: summary.Log{Name: "a", Bytes: 5, Hash: 1 << 63},
		Groups: []summary.Group{
			{
				Signature: 1, Members: []signature.ID{2},
				Blame: []summary.Blame{{Mod: "a", Evidence: []blame.Kind{blame.Frame, blame.Assembly}}},
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
		`{"version":1,"log":{"hash":"1"}}`:                                            `hash "1": want 16`,
	} {
		_, err := summary.Parse([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

func TestGame(t *testing.T) {
	for text, want := range map[string][2]string{
		"RimWorld 1.6.4566 rev607": {"RimWorld", "1.6.4566 rev607"}, "Half-Life 2": {"Half-Life 2", ""},
		"Euro Truck Simulator 2 v1.49": {"Euro Truck Simulator 2", "v1.49"}, "": {}, "1.2": {"1.2", ""},
	} {
		name, version := summary.Game(text)
		require.Equal(t, want, [2]string{name, version}, text)
	}
}
