package history_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

// FuzzFile opens a history of which a part has other bytes, and one end is missing, or any other file. It is opened,
// refused, or set aside: whatever becomes of it, its bytes are still there, unless it was opened. The next one opens it
// again.
func FuzzFile(f *testing.F) {
	whole := wholeFile(f)
	f.Add([]byte{}, uint(0), []byte{}, uint(0))
	f.Add([]byte{}, uint(28), []byte{0, 0, 0, 1}, uint(0)) // the number of pages
	f.Add([]byte{}, uint(60), []byte{0, 0, 0, 9}, uint(0)) // a newer version
	f.Add([]byte{}, uint(60), []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, uint(0))
	f.Add([]byte{}, uint(68), []byte{1, 2, 3, 4}, uint(0)) // another program's
	f.Add([]byte{}, uint(100), bytes.Repeat([]byte{0xff}, 50), uint(0))
	f.Add([]byte{}, uint(8192), bytes.Repeat([]byte{0}, 4096), uint(0))
	f.Add([]byte{}, uint(0), []byte{}, uint(4096))
	f.Add([]byte{}, uint(0), []byte{}, uint(5000))
	f.Add([]byte("a log\n"), uint(0), []byte{}, uint(0))
	f.Add([]byte("SQLite format 3\x00"), uint(0), []byte{}, uint(0))
	f.Fuzz(func(t *testing.T, data []byte, at uint, patch []byte, cut uint) {
		if len(data) == 0 {
			data = bytes.Clone(whole)
		}
		if at < uint(len(data)) {
			copy(data[at:], patch)
		}
		data = data[:uint(len(data))-min(cut, uint(len(data)))]
		c := history.Config{Path: filepath.Join(t.TempDir(), "history.db"), Now: clock}
		require.NoError(t, os.WriteFile(c.Path, data, 0o600))
		for range 2 {
			before := testkit.Must(os.ReadFile(c.Path))
			h, err := history.Open(t.Context(), c)
			if err != nil {
				requireSame(t, before, c.Path)
				continue
			}
			if h.SetAside() != "" {
				requireSame(t, before, h.SetAside())
			}
			use(t, h)
			require.NoError(t, h.Close())
		}
	})
}

// requireSame holds that a file has these bytes, but for the part of its header in which SQLite counts changes.
func requireSame(t *testing.T, want []byte, path string) {
	got := testkit.Must(os.ReadFile(path))
	require.Len(t, got, len(want))
	for _, text := range [][]byte{want, got} {
		if len(text) >= 100 {
			clear(text[18:20])
			clear(text[24:28])
			clear(text[92:100])
		}
	}
	require.True(t, bytes.Equal(want, got), "%s has changed", path)
}

// wholeFile returns the file of a history of some sessions.
func wholeFile(tb testing.TB) []byte {
	h := open(tb, history.Config{})
	for n := range uint64(5) {
		remember(tb, h, session(n+1, "broken", mods("Core", "Crane@1.2"), signature.ID(n+1), 9), day(int(n)+1))
	}
	require.NoError(tb, h.Close())
	return testkit.Must(os.ReadFile(h.Path()))
}

// use reads all that a history has, and writes a session. It may find that the file is corrupt.
func use(t *testing.T, h *history.History) {
	ctx := t.Context()
	games, _ := h.Games(ctx)
	for _, game := range append(games, "Colony") {
		_, _ = h.Mods(ctx, game)
		_ = h.Each(ctx, game, func(*summary.Session) error { return nil })
		all, _ := h.Sessions(ctx, game, 10)
		for _, s := range all {
			_, _, _ = h.Session(ctx, s.ID)
		}
	}
	_, _ = h.Groups(ctx, 9)
	_, _ = h.Unfinished(ctx)
	_, _ = h.Known(ctx, session(50, "broken", nil, 9), 9)
	id, err := h.Remember(ctx, session(60, "broken", mods("Core"), 9), day(9), false)
	if err == nil {
		_, _, err = h.Session(ctx, id)
		_ = err
	}
}

// FuzzSummary holds that a summary of a session is read as it was written.
func FuzzSummary(f *testing.F) {
	for _, s := range []*summary.Session{
		session(1, "broken", mods("Core", "Crane@1.2", "Crane"), 1, 2), session(2, "", nil),
		{Version: summary.Version},
		{Version: summary.Version, Groups: []summary.Group{
			{Signature: 1, Members: []signature.ID{2, 3}, Template: "a"},
			{Signature: 2, Template: "b"},
			{Signature: 4, Count: 1 << 63},
		}},
	} {
		for i := range s.Groups {
			s.Groups[i].Severity = event.SeverityError
		}
		data := testkit.Must(json.Marshal(s))
		f.Add(data)
	}
	h := open(f, history.Config{})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := summary.Parse(data)
		if err != nil {
			return
		}
		want := testkit.Must(json.Marshal(s))
		id := testkit.Must(h.Remember(context.Background(), s, day(3), false))
		_, back, err := h.Session(context.Background(), id)
		require.NoError(t, err)
		got := testkit.Must(json.Marshal(back))
		require.Equal(t, string(want), string(got))
		testkit.Must(h.Forget(context.Background(), history.Which{IDs: []int64{id}}))
	})
}
