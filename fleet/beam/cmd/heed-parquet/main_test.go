package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	goparquet "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/fleet/beam/parquet"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

// TestRun holds that what is read of the file is what was written, and that a bad line is named.
func TestRun(t *testing.T) {
	at := time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)
	var lines strings.Builder
	for n := range 2500 { // several groups of rows
		s := summary.Session{
			Version: summary.Version, Log: summary.Log{Name: "a.log", Bytes: uint64(n), Hash: summary.Hash(n + 1)},
			State: "broken", Headline: "Broken", Records: uint64(n), Began: at,
			Facts: capture.Facts{Game: "Colony 1.2"}, Mods: []capture.ListedMod{{Mod: blame.Mod{Name: "A"}, Versions: "1"}},
			Groups: []summary.Group{
				{
					Signature: 7, Members: []signature.ID{8}, Template: "it broke", Disposition: event.Blocking, Count: uint64(n + 1),
					Blame: []summary.Blame{{Mod: "A", Evidence: []blame.Kind{blame.Frame}}},
				},
			},
		}
		line := testkit.Must(json.Marshal(s))
		lines.Write(append(line, '\n'))
	}
	var out bytes.Buffer
	require.NoError(t, run(&out, input{"a", strings.NewReader(lines.String())}))
	rows := testkit.Must(goparquet.Read[parquet.Row](bytes.NewReader(out.Bytes()), int64(out.Len())))
	require.Len(t, rows, 2500)
	r := rows[1234]
	require.Equal(t, []any{int64(1234), "00000000000004d3", at, "Colony 1.2", "A"},
		[]any{r.Records, r.LogHash, r.Began.UTC(), r.Game, r.Mods[0].Name})
	require.Nil(t, r.Ended)
	g := r.Groups[0]
	require.Equal(t, []any{"0000000000000007", "0000000000000008", "blocking", int64(1235), "frame"},
		[]any{g.Signature, g.Members[0], g.Disposition, g.Count, g.Blame[0].Evidence[0]})

	for line, want := range map[string]string{
		`{"version":9}`: "b: line 2: summary: another version",
		`{"version":1}`: "b: line 2: no session",
		`{"version":1,"state":"broken","log":{"hash":"0000000000000001"},"records":9223372036854775808}`: "line 2: parquet: a number",
	} {
		out.Reset()
		err := run(&out, input{"a", strings.NewReader("\n")}, input{"b", strings.NewReader("\n" + line)})
		require.ErrorContains(t, err, want)
	}
	rows = testkit.Must(goparquet.Read[parquet.Row](bytes.NewReader(out.Bytes()), int64(out.Len())))
	require.Empty(t, rows)
}
