package history_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

// model is what history should know, naively.
type model struct {
	sessions []modelSession // by number
	groups   []modelGroup
	last     int64
	most     int
}

type modelSession struct {
	id     int64
	log    string
	ended  time.Time
	sum    *summary.Session
	counts map[signature.ID]int64
}

// modelGroup are signatures of a game that are one group.
type modelGroup struct {
	game string
	sigs []signature.ID
}

func (m *model) remember(s *summary.Session, log string, at time.Time) {
	if slices.ContainsFunc(m.sessions, func(o modelSession) bool {
		return len(o.log) > len(log) && strings.HasPrefix(o.log, log) && log != ""
	}) {
		return
	}
	n := modelSession{log: log, ended: at, sum: s, counts: map[signature.ID]int64{}}
	var known []modelSession
	for _, o := range m.sessions { // in order
		if strings.HasPrefix(log, o.log) && o.log != "" {
			known = append(known, o)
		}
	}
	slices.SortStableFunc(known, func(a, b modelSession) int { return cmp.Compare(len(a.log), len(b.log)) })
	if last := len(known) - 1; last >= 0 {
		m.forget(func(_ int, o *modelSession) bool {
			return slices.ContainsFunc(known[:last], func(k modelSession) bool { return k.id == o.id })
		})
		n.id = known[last].id
		i := slices.IndexFunc(m.sessions, func(o modelSession) bool { return o.id == n.id })
		if len(m.sessions[i].log) == len(log) {
			n.ended = m.sessions[i].ended
		}
		m.sessions = slices.Delete(m.sessions, i, i+1) // its groups stay until those of the new one came
	} else {
		m.last++
		n.id = m.last
	}
	game, _ := summary.Game(s.Facts.Game)
	for _, g := range s.Groups {
		n.counts[g.Signature] = int64(g.Count)
		joined := modelGroup{game: game, sigs: append([]signature.ID{g.Signature}, g.Members...)}
		var others []modelGroup
		for _, o := range m.groups {
			if o.game == game && slices.ContainsFunc(o.sigs, func(id signature.ID) bool {
				return slices.Contains(joined.sigs, id)
			}) {
				joined.sigs = append(joined.sigs, o.sigs...)
			} else {
				others = append(others, o)
			}
		}
		slices.Sort(joined.sigs)
		joined.sigs = slices.Compact(joined.sigs)
		m.groups = append(others, joined)
	}
	m.sessions = append(m.sessions, n)
	m.order()
	m.forget(func(i int, _ *modelSession) bool { return i < len(m.sessions)-m.most })
}

// order sorts sessions by when they ended.
func (m *model) order() {
	slices.SortFunc(m.sessions, func(a, b modelSession) int {
		return cmp.Or(a.ended.Compare(b.ended), cmp.Compare(a.id, b.id))
	})
}

func (m *model) forget(which func(i int, s *modelSession) bool) (n int) {
	var kept []modelSession
	for i := range m.sessions {
		if !which(i, &m.sessions[i]) {
			kept = append(kept, m.sessions[i])
		}
	}
	n = len(m.sessions) - len(kept)
	m.sessions = kept
	m.prune()
	return n
}

// prune forgets groups that no session has.
func (m *model) prune() {
	m.groups = slices.DeleteFunc(m.groups, func(g modelGroup) bool { return len(m.with(&g)) == 0 })
}

// with returns the sessions with a group, the oldest first.
func (m *model) with(g *modelGroup) (all []*modelSession) {
	for i := range m.sessions {
		s := &m.sessions[i]
		game, _ := summary.Game(s.sum.Facts.Game)
		if game != g.game {
			continue
		}
		if slices.ContainsFunc(g.sigs, func(id signature.ID) bool { return s.counts[id] > 0 }) {
			all = append(all, s)
		}
	}
	return all
}

// check holds history to the model.
func (m *model) check(t *rapid.T, h *history.History) {
	sessions := testkit.Must(h.Sessions(t.Context(), "", 0))
	require.Len(t, sessions, len(m.sessions))
	slices.Reverse(sessions)
	for i := range m.sessions {
		s := &m.sessions[i]
		got, sum, err := h.Session(t.Context(), sessions[i].ID)
		require.NoError(t, err)
		require.Equal(t, s.id, got.ID)
		require.True(t, s.ended.Equal(got.Ended))
		want := *s.sum
		want.Log.Marks = nil
		require.Equal(t, &want, sum)
	}
	for sig := signature.ID(1); sig <= 8; sig++ {
		groups := testkit.Must(h.Groups(t.Context(), sig))
		n := 0
		for i := range m.groups {
			want := &m.groups[i]
			if !slices.Contains(want.sigs, sig) {
				continue
			}
			n++
			at := slices.IndexFunc(groups, func(g history.Group) bool { return g.Game == want.game })
			require.GreaterOrEqual(t, at, 0)
			g := &groups[at]
			with, of := m.with(want), 0
			var entries int64
			for _, s := range with {
				for _, id := range want.sigs {
					entries += s.counts[id]
				}
			}
			for i := range m.sessions {
				if game, _ := summary.Game(m.sessions[i].sum.Facts.Game); game == want.game {
					of++
				}
			}
			require.Equal(t, want.sigs, g.Signatures)
			require.Equal(t, []int64{int64(len(with)), int64(of), entries, with[0].id, with[len(with)-1].id},
				[]int64{int64(g.Sessions), int64(g.Of), g.Entries, g.First.ID, g.Last.ID})
			var count, sum int64
			var first, last string
			require.NoError(t, h.DB().QueryRow(`SELECT g.sessions, g.entries, g.first_seen, g.last_seen FROM groups g
				JOIN occurrences o ON o."group" = g.signature AND o.game = g.game WHERE o.session = ? AND o.signature = ?`,
				g.Last.ID, g.Signature.String()).Scan(&count, &sum, &first, &last))
			require.Equal(t, []any{
				int64(len(with)), entries, g.First.Ended.UTC().Format(time.RFC3339),
				g.Last.Ended.UTC().Format(time.RFC3339),
			}, []any{count, sum, first, last})
		}
		require.Len(t, groups, n)
	}
	var rows int
	require.NoError(t, h.DB().QueryRow("SELECT count(*) FROM signature").Scan(&rows))
	for _, g := range m.groups {
		rows -= len(g.sigs)
	}
	require.Zero(t, rows, "signatures that no group has")
	require.NoError(t, h.DB().QueryRow(`SELECT (SELECT count(*) FROM modlist) - (SELECT count(DISTINCT modlist)
		FROM session) + (SELECT count(*) FROM mod) - (SELECT count(DISTINCT mod) FROM modlist_entry)`).Scan(&rows))
	require.Zero(t, rows, "mods that no session has")
}

func init() { _ = flag.Set("rapid.checks", "40") }

// TestModel: sessions in any order, the same log again, longer copies, joins of groups, and forgetting.
func TestModel(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		m := &model{most: rapid.IntRange(2, 8).Draw(t, "most")}
		h := testkit.Must(history.Open(t.Context(), history.Config{
			Path: filepath.Join(dir, time.Duration(n).String()), Now: clock, MaxSessions: m.most,
		}))
		defer h.Close() //nolint:errcheck // only read from
		_ = testkit.Must(h.DB().Exec("PRAGMA synchronous = OFF"))
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				before := day(rapid.IntRange(1, 9).Draw(t, "before"))
				got := testkit.Must(h.Forget(t.Context(), history.Which{Before: before}))
				require.Equal(t, m.forget(func(_ int, s *modelSession) bool { return s.ended.Before(before) }), got)
			case 1:
				if len(m.sessions) > 0 {
					id := rapid.SampledFrom(m.sessions).Draw(t, "session").id
					testkit.Must(h.Forget(t.Context(), history.Which{IDs: []int64{id}}))
					m.forget(func(_ int, s *modelSession) bool { return s.id == id })
				}
			default:
				log := rapid.StringMatching("[ab]{0,3}").Draw(t, "log")
				at := day(rapid.IntRange(1, 9).Draw(t, "day"))
				s := drawn(t, log)
				testkit.Must(h.Remember(t.Context(), s, at, false))
				m.remember(s, log, at)
			}
		}
		m.check(t, h)
	})
}

// drawn is a session of one of two games.
func drawn(t *rapid.T, log string) *summary.Session {
	hasher := summary.NewHasher()
	for i := range len(log) { // each byte 4 KiB long
		_, _ = hasher.Write(bytes.Repeat([]byte{log[i]}, 4096))
	}
	s := session(1, rapid.SampledFrom([]string{"healthy", "broken"}).Draw(t, "state"), nil)
	s.Log = hasher.Log("a.log")
	s.Facts.Game = rapid.SampledFrom([]string{"Colony 1.2", "Colony 1.3", ""}).Draw(t, "game")
	s.Mods = mods(rapid.SliceOfN(rapid.StringMatching("[a-c]@1.[01]"), 0, 3).Draw(t, "mods")...)
	sig := rapid.Custom(func(t *rapid.T) signature.ID { return signature.ID(rapid.IntRange(1, 8).Draw(t, "signature")) })
	for _, name := range rapid.SliceOfNDistinct(sig, 0, 4, rapid.ID).Draw(t, "groups") {
		s.Groups = append(s.Groups, summary.Group{
			Signature: name, Members: rapid.SliceOfNDistinct(sig, 1, 2, rapid.ID).Draw(t, "members"),
			Template: "text " + name.String(), Count: uint64(rapid.IntRange(1, 9).Draw(t, "count")),
		})
	}
	return s
}

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
