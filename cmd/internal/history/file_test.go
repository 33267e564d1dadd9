package history_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/db"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

// ends is a context that ends when it is asked so many times whether it has.
type ends struct {
	context.Context
	left atomic.Int64
	done chan struct{}
}

func (c *ends) Done() <-chan struct{} {
	if c.left.Add(-1) == 0 {
		close(c.done)
	}
	return c.done
}

func (c *ends) Err() error {
	select {
	case <-c.done:
		return context.Canceled
	default:
		return nil
	}
}

// rows returns all that a history holds.
func rows(t testing.TB, h *history.History) (rows []string) {
	t.Helper()
	for _, table := range []string{"session", "body", "signature", "occurrence", "modlist", "modlist_entry", "mod"} {
		all := testkit.Must(h.DB().Query("SELECT * FROM " + table + " ORDER BY 1, 2"))
		columns := testkit.Must(all.Columns())
		row := make([]any, len(columns))
		for i := range row {
			row[i] = new(any)
		}
		for all.Next() {
			require.NoError(t, all.Scan(row...))
			text := table
			for _, v := range row {
				text += fmt.Sprint(" ", *v.(*any))
			}
			rows = append(rows, text)
		}
		require.NoError(t, errors.Join(all.Err(), all.Close()))
	}
	return rows
}

// TestInterrupted ends each method at any of its steps. A method that reads returns an error or all rows. A method that
// writes does all of its work, or nothing and returns an error.
func TestInterrupted(t *testing.T) {
	full := func() *history.History {
		h := open(t, history.Config{MaxSessions: 8})
		for n, all := range [][]capture.ListedMod{
			mods("Core"), mods("Core"), mods("Core", "Crane@1.0", "Hats"), mods("Core", "Crane@1.1"), nil, mods("Core", "Crane@1.1"),
		} {
			s := session(uint64(n+1), []string{"healthy", "broken"}[min(1, n/2)], all, []signature.ID{1, 2}[:min(2, 1+n/2)]...)
			s.Facts.Game = "Colony " + []string{"1.2", "1.3"}[min(1, n/2)]
			remember(t, h, s, day(n+1))
		}
		other := session(20, "healthy", mods("Core"), 3)
		other.Facts.Game = "Harbor 1"
		remember(t, h, other, day(7))
		running := session(30, "healthy", mods("Core"), 1)
		running.Log.Bytes = 0
		id := testkit.Must(h.Remember(t.Context(), running, day(10), true))
		require.EqualValues(t, 8, id)
		return h
	}
	h, other := full(), full()
	each := func(what string, f func(ctx context.Context) (over bool)) {
		t.Helper()
		for steps := int64(1); ; steps++ {
			ctx := &ends{Context: t.Context(), done: make(chan struct{})}
			ctx.left.Store(steps)
			if over := f(ctx); over || t.Failed() {
				require.Greater(t, steps, int64(3), what)
				return
			}
		}
	}
	for what, read := range map[string]func(ctx context.Context) (any, error){
		"Games":    func(ctx context.Context) (any, error) { return h.Games(ctx) },
		"Revision": func(ctx context.Context) (any, error) { return h.Revision(ctx) },
		"Sessions": func(ctx context.Context) (any, error) { return h.Sessions(ctx, "", 0) },
		"Session": func(ctx context.Context) (any, error) {
			s, sum, err := h.Session(ctx, 4)
			return []any{s, sum}, err
		},
		"Groups": func(ctx context.Context) (any, error) { return h.Groups(ctx, 2) },
		"Mods":   func(ctx context.Context) (any, error) { return h.Mods(ctx, "Colony") },
		"Known":  func(ctx context.Context) (any, error) { return h.Known(ctx, session(9, "", nil), 2) },
		"Known, of a new one": func(ctx context.Context) (any, error) {
			return h.Known(ctx, session(9, "", mods("Core", "Crane@1.2", "Next")), 7)
		},
		"Each": func(ctx context.Context) (any, error) {
			var all []*summary.Session
			err := h.Each(ctx, "", func(s *summary.Session) error { all = append(all, s); return nil })
			return all, err
		},
	} {
		want, err := read(t.Context())
		require.NoError(t, err, what)
		each(what, func(ctx context.Context) bool {
			got, err := read(ctx)
			if err == nil {
				require.Equal(t, want, got, what)
			} else {
				require.ErrorContains(t, err, h.Path(), what)
			}
			return ctx.Err() == nil
		})
	}
	longer := session(1, "crashed", mods("Core", "New"), 1, 5)
	ended := session(30, "crashed", mods("Core", "Crane@1.1"), 1, 6)
	for _, c := range []struct {
		what  string
		write func(h *history.History, ctx context.Context) error
	}{
		{"Remember", func(h *history.History, ctx context.Context) error {
			_, err := h.Remember(ctx, longer, day(9), false)
			return err
		}},
		{"Remember one more", func(h *history.History, ctx context.Context) error {
			_, err := h.Remember(ctx, session(40, "healthy", mods("Core"), 1, 7), day(9), false)
			return err
		}},
		{"Update", func(h *history.History, ctx context.Context) error { return h.Update(ctx, 8, ended, day(11), false) }},
		{"Forget", func(h *history.History, ctx context.Context) error {
			_, err := h.Forget(ctx, history.Which{IDs: []int64{4}, Before: day(3)})
			return err
		}},
	} {
		before := rows(t, h)
		require.NoError(t, c.write(other, t.Context()), c.what)
		want := rows(t, other)
		require.NotEqual(t, before, want, c.what)
		each(c.what, func(ctx context.Context) bool {
			err := c.write(h, ctx)
			got := rows(t, h)
			if err != nil {
				require.ErrorContains(t, err, h.Path(), c.what)
			}
			if err != nil && slices.Equal(before, got) {
				return false
			}
			require.Equal(t, want, got, c.what)
			return true
		})
	}
}

// TestBounded: the oldest go first, by number and by size, and the file does not grow beyond.
func TestBounded(t *testing.T) {
	h := open(t, history.Config{MaxSessions: 5})
	for n := 1; n <= 9; n++ {
		remember(t, h, session(uint64(n), "healthy", nil, signature.ID(n)), day(n))
	}
	all := testkit.Must(h.Sessions(t.Context(), "", 0))
	require.Len(t, all, 5)
	require.EqualValues(t, 5, all[4].ID)

	path := filepath.Join(t.TempDir(), "history.db")
	const most = 400_000
	h = open(t, history.Config{Path: path, MaxBytes: most})
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 50; n++ {
		remember(t, h, synthetic(r, n, 25), day(1).Add(time.Duration(n)*time.Minute))
	}
	all = testkit.Must(h.Sessions(t.Context(), "", 0))
	require.Less(t, len(all), 50)
	require.Greater(t, len(all), 12)
	require.EqualValues(t, 50, all[0].ID)
	size := func() int64 {
		_ = testkit.Must(h.DB().Exec("PRAGMA wal_checkpoint(TRUNCATE)"))
		info := testkit.Must(os.Stat(path))
		return info.Size()
	}
	require.Less(t, size(), int64(most*5/4))
	n := testkit.Must(h.Forget(t.Context(), history.Which{Before: all[3].Ended}))
	require.Equal(t, len(all)-4, n)
	require.Less(t, size(), int64(most/2))
	testkit.Must(h.Forget(t.Context(), history.Which{All: true}))
	left := testkit.Must(os.ReadFile(path))
	for _, private := range []string{"a.log", "Mod 3", "text of group"} {
		require.NotContains(t, string(left), private)
	}
}

// TestDamaged: what is found corrupt while it is read is set aside when the history is opened next.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	h := open(t, history.Config{Path: path})
	remember(t, h, synthetic(rand.New(rand.NewPCG(1, 2)), 1, 20), day(1))
	var page, size int
	require.NoError(t, h.DB().QueryRow(`SELECT rootpage, page_size FROM sqlite_master, pragma_page_size
		WHERE name = 'session'`).Scan(&page, &size))
	require.NoError(t, h.Close())
	data := testkit.Must(os.ReadFile(path))
	clear(data[(page-1)*size : page*size])
	require.NoError(t, os.WriteFile(path, data, 0o600))

	h = open(t, history.Config{Path: path})
	_, err := h.Sessions(t.Context(), "", 0)
	require.ErrorContains(t, err, path)
	require.NoError(t, h.Close())
	for _, aside := range []string{path + ".corrupt-1", ""} {
		h = testkit.Must(history.Open(t.Context(), history.Config{Path: path, Now: clock}))
		require.Equal(t, aside, h.SetAside())
		testkit.Must(h.Sessions(t.Context(), "", 0))
		require.NoError(t, h.Close())
	}
}

// TestFull: what does not fit a full disk is an error that names the file, and what was there stays.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	h := open(t, history.Config{Path: path})
	h.DB().SetMaxOpenConns(1)
	r := rand.New(rand.NewPCG(1, 2))
	remember(t, h, synthetic(r, 1, 20), day(1))
	var pages int
	require.NoError(t, h.DB().QueryRow("PRAGMA page_count").Scan(&pages))
	_ = testkit.Must(h.DB().Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages+2)))
	_, err := h.Remember(t.Context(), synthetic(r, 2, 900), day(2), false)
	require.ErrorIs(t, err, db.ErrFull)
	require.ErrorContains(t, err, path)
	all := testkit.Must(h.Sessions(t.Context(), "", 0))
	require.Len(t, all, 1)
	require.NoError(t, h.Update(t.Context(), 1, synthetic(rand.New(rand.NewPCG(1, 2)), 1, 20), day(1), false))
}

// synthetic is a session with so many groups of some thousands, and with 300 mods that change now and then.
func synthetic(r *rand.Rand, n, groups int) *summary.Session {
	s := session(uint64(n), "healthy", nil)
	if r.IntN(3) == 0 {
		s.State = "broken"
	}
	s.Began = day(1)
	s.Facts.Game = "Colony 1." + strconv.Itoa(n/100)
	for i := range 300 {
		name := fmt.Sprint("Mod ", i+n/8)
		s.Mods = append(s.Mods, capture.ListedMod{
			Mod:      blame.Mod{Name: name, PackageID: "author." + name, WorkshopID: fmt.Sprint(2_000_000_000 + i + n/8)},
			Versions: "1.0." + strconv.Itoa(n/30),
		})
	}
	seen := map[int]bool{}
	for len(seen) < groups {
		i := int(r.ExpFloat64() * 1000)
		if seen[i] {
			continue
		}
		seen[i] = true
		id := signature.ID(uint64(i+1) * 0x9e3779b97f4a7c15)
		s.Groups = append(s.Groups, summary.Group{
			Signature: id, Members: []signature.ID{id + 1, id + 2}, Disposition: event.Advisory, Severity: event.SeverityError,
			Template: fmt.Sprintf("text of group %d about <*> in %s <*>", i, strings.Repeat("a long word ", 1+i%20)),
			Rule:     fmt.Sprint("rule.number-", i%40), Count: uint64(1 + r.IntN(1000)), First: uint64(r.IntN(100000)),
			Last: uint64(r.IntN(100000)), Phase: "play",
			Sample: fmt.Sprintf("text of group %d about %x in %s %x", i, r.Uint64(), strings.Repeat("a long word ", 1+i%20),
				r.Uint64()),
			Blame: []summary.Blame{{Mod: fmt.Sprint("Mod ", i%300), Evidence: []blame.Kind{blame.Frame}}},
		})
	}
	return s
}

// TestFigures prints the size and the times of a history of a thousand sessions of 300 groups.
func TestFigures(t *testing.T) {
	sessions := 5
	if testkit.IsFull() {
		sessions = 1000
	}
	h := open(t, history.Config{})
	r := rand.New(rand.NewPCG(1, 2))
	took := func(what string, f func() error) {
		t.Helper()
		begin := time.Now()
		require.NoError(t, f())
		t.Logf("%-32s %6.1f ms", what, float64(time.Since(begin).Microseconds())/1000)
	}
	var s *summary.Session
	for n := 1; n <= sessions; n++ {
		s = synthetic(r, n, 300)
		remember(t, h, s, day(1).Add(time.Duration(n)*time.Hour))
	}
	known := func(sig signature.ID) error {
		_, err := h.Known(t.Context(), session(1, "", s.Mods), sig)
		return err
	}
	took("update", func() error { return h.Update(t.Context(), int64(sessions), s, now, false) })
	took("sessions", func() error { _, err := h.Sessions(t.Context(), "", 0); return err })
	took("groups", func() error { _, err := h.Groups(t.Context(), s.Groups[0].Signature); return err })
	took("mods", func() error { _, err := h.Mods(t.Context(), "Colony"); return err })
	took("known", func() error { return known(s.Groups[0].Signature) })
	took("known of a new one", func() error { return known(1) })
	one := history.Which{IDs: []int64{3}}
	took("forget one, shrink", func() error { _, err := h.Forget(t.Context(), one); return err })
	took("close", h.Close)
	size := testkit.Must(os.Stat(h.Path())).Size()
	t.Logf("%d bytes, %d a session", size, size/int64(sessions))
	require.Less(t, size, int64(sessions)*200_000)
}

// TestEarlierVersions: a file of each version, as sqlite3 dumped it, becomes one of this version with all that it had.
func TestEarlierVersions(t *testing.T) {
	schema := func(h *history.History) (all []string) {
		rows := testkit.Must(h.DB().Query("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' ORDER BY name"))
		for rows.Next() {
			var text string
			require.NoError(t, rows.Scan(&text))
			all = append(all, text)
		}
		require.NoError(t, errors.Join(rows.Err(), rows.Close()))
		return all
	}
	dumps := testkit.Must(filepath.Glob("testdata/version*.sql"))
	require.NotEmpty(t, dumps)
	for _, dump := range dumps {
		path := filepath.Join(t.TempDir(), "history.db")
		text := testkit.Must(os.ReadFile(dump))
		raw := testkit.Must(sql.Open("sqlite", path))
		_, err := raw.Exec(string(text))
		require.NoError(t, errors.Join(err, raw.Close()))
		h := open(t, history.Config{Path: path})
		require.Equal(t, schema(open(t, history.Config{})), schema(h))
		_, sum, err := h.Session(t.Context(), 1)
		require.NoError(t, err)
		want := session(1, "healthy", mods("Core"), 1)
		want.Complete, want.Signatures = sum.Complete, 2 // which versions differ in
		require.Equal(t, want, sum)
		groups := testkit.Must(h.Groups(t.Context(), 3))
		require.Len(t, groups, 1)
		require.Equal(t, "New was added", groups[0].First.Changes.String())
		require.EqualValues(t, 3, remember(t, h, session(3, "healthy", nil, 4), day(3)))
	}
}
