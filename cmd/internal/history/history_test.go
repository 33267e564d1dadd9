package history_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return now }

func open(t testing.TB, c history.Config) *history.History {
	t.Helper()
	if c.Path == "" {
		c.Path = filepath.Join(t.TempDir(), "history.db")
	}
	if c.Now == nil {
		c.Now = clock
	}
	h := testkit.Must(history.Open(context.Background(), c))
	require.Empty(t, h.SetAside())
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// day is a day of November.
func day(n int) time.Time { return time.Date(2026, 11, n, 20, 0, 0, 0, time.UTC) }

func mods(names ...string) (all []capture.ListedMod) {
	for _, name := range names {
		name, versions, _ := strings.Cut(name, "@")
		all = append(all, capture.ListedMod{Mod: blame.Mod{Name: name}, Versions: versions})
	}
	return all
}

// session is one of a game with a log of its own; n is at least 1.
func session(n uint64, state string, mods []capture.ListedMod, groups ...signature.ID) *summary.Session {
	s := &summary.Session{
		Version: summary.Version, State: state, Signatures: signature.Version, Records: 500, Mods: mods, Headline: state,
		Complete: true,
		Facts:    capture.Facts{Game: "Colony 1.2"}, Log: summary.Log{Name: "a.log", Bytes: n, Hash: summary.Hash(n)},
	}
	for _, id := range groups {
		s.Groups = append(s.Groups, summary.Group{
			Signature: id, Template: fmt.Sprintf("text %v of <*>", id), Disposition: event.Blocking, Rule: "test.rule", Count: 2,
			First: 3, Last: 9, Phase: "play", Sample: fmt.Sprintf("text %v of 7", id),
		})
	}
	return s
}

func remember(t testing.TB, h *history.History, s *summary.Session, at time.Time) int64 {
	t.Helper()
	return testkit.Must(h.Remember(context.Background(), s, at, false))
}

// TestGroups: what is known of a group that came with a mod, and went with it.
func TestGroups(t *testing.T) {
	h := open(t, history.Config{})
	for n := 1; n <= 9; n++ {
		all, groups := mods("Core", "Extra@1.0"), []signature.ID{1}
		switch {
		case n == 9:
			all = mods("Core", "Extra@1.1")
		case n >= 4:
			all, groups = mods("Core", "Extra@1.0", "New"), []signature.ID{1, 2}
		}
		s := session(uint64(n), "broken", all, groups...)
		s.Began = day(n).Add(-2 * time.Hour)
		remember(t, h, s, day(n))
	}
	cut := session(10, "healthy", nil)
	cut.MoreGroups, cut.MoreEntries = 1, 1
	remember(t, h, cut, day(10)) // which does not show it
	groups := testkit.Must(h.Groups(t.Context(), 2))
	require.Len(t, groups, 1)
	g := groups[0]
	require.Equal(t, "New was added", g.First.Changes.String())
	require.Equal(t, "New was removed and Extra went from 1.0 to 1.1", g.Gone.Changes.String())
	require.Equal(t, "nothing", g.Last.Changes.String())
	known := func(sig signature.ID, mods []capture.ListedMod) string {
		t.Helper()
		return testkit.Must(h.Known(t.Context(), session(9, "", mods), sig))
	}
	require.Equal(t, "suspect: New, in 5 of 5 sessions with it and in 0 of 4 without; new since 4 November, when New was added; "+
		"5 of 6 sessions since, 0 of 3 before; "+
		"last on 8 November, not in the one session since", known(2, nil))
	require.Equal(t, "known since 1 November, the first session of the game that is remembered; in 9 of 9 sessions", known(1, nil))
	require.Equal(t, "new: in none of 9 sessions since 1 November; since the last one Next was added", known(3,
		mods("Core", "Extra@1.1", "Next")))
	other := session(9, "", nil)
	other.Signatures++
	text := testkit.Must(h.Known(t.Context(), other, 1))
	require.Empty(t, text, "of another version of signatures nothing is known")

	_, s, err := h.Session(t.Context(), 4)
	require.NoError(t, err)
	want := session(4, "broken", mods("Core", "Extra@1.0", "New"), 1, 2)
	want.Began = day(4).Add(-2 * time.Hour)
	require.Equal(t, want, s)
	_, _, err = h.Session(t.Context(), 77)
	require.ErrorIs(t, err, history.ErrUnknown)
}

// TestNewcombe has an example of the paper: 56 of 70 and 48 of 80 differ by 0.2, from 0.0524 to 0.3339.
func TestNewcombe(t *testing.T) {
	h := open(t, history.Config{})
	for n := range 150 {
		all, broken := mods("Core"), n-70 < 48
		if n < 70 {
			all, broken = mods("Core", "Suspect"), n < 56
		}
		state := "healthy"
		if broken {
			state = "crashed"
		}
		remember(t, h, session(uint64(n+1), state, all), now)
	}
	found := testkit.Must(h.Mods(t.Context(), "Colony"))
	all := found.Mods
	require.Equal(t, "Suspect", all[0].Name)
	require.Contains(t, found.Suspects.Text, "56 of 70 sessions with it, 48 of 80 without")
	require.InDelta(t, 0.2, all[0].Difference.Value, 1e-9)
	require.InDelta(t, 0.0524, all[0].Difference.Low, 5e-5)
	require.InDelta(t, 0.3339, all[0].Difference.High, 5e-5)
}

// TestSameLog: what is longer replaces what was shorter, and what is read again changes the summary alone.
func TestSameLog(t *testing.T) {
	h := open(t, history.Config{})
	write := func(text string) summary.Log { // each byte 4 KiB long
		hasher := summary.NewHasher()
		for i := range len(text) {
			_, _ = hasher.Write(bytes.Repeat([]byte{text[i]}, 4096))
		}
		return hasher.Log("a.log")
	}
	s := session(1, "healthy", nil, 1)
	s.Log = write("Loading\n")
	id := remember(t, h, s, day(1))
	s.State = "broken"
	require.Equal(t, id, remember(t, h, s, day(5)))
	got, _, err := h.Session(t.Context(), id)
	require.NoError(t, err)
	require.True(t, got.Ended.Equal(day(1)))
	require.Equal(t, "broken", got.State)

	longer := session(2, "crashed", nil, 2)
	longer.Log = write("Loading\nBoom\n")
	other := session(3, "healthy", nil, 3)
	other.Log = write("Something else\n")
	require.NotEqual(t, id, remember(t, h, other, day(2)))
	require.Equal(t, id, remember(t, h, longer, day(6)))
	got, sum, err := h.Session(t.Context(), id)
	require.NoError(t, err)
	require.True(t, got.Ended.Equal(day(6)))
	require.Equal(t, longer.Groups, sum.Groups)
	groups := testkit.Must(h.Groups(t.Context(), 1))
	require.Empty(t, groups, "a group that no session has is forgotten")

	shorter := session(4, "healthy", nil, 4)
	shorter.Log = write("Load")
	require.Equal(t, id, remember(t, h, shorter, day(7)))
	got, sum, err = h.Session(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []any{longer.Groups, "crashed"}, []any{sum.Groups, got.State}, "it changes nothing")
	after := session(5, "healthy", nil)
	after.Log = write("Loading\nBoom\nagain")
	require.NotEqual(t, id, remember(t, h, after, day(8)), "what crashed has no longer copy that did not")
	shorter.State, shorter.Log = "crashed", write("Loading\nBoom\nag")
	require.Equal(t, id, remember(t, h, shorter, day(9)), "one that crashed is")
}

// TestSameLogOfTwoRuns: two runs that write the same log are two sessions. A log that is read is of the latest, as often
// as it is read; and so is a run whose beginning was not seen.
func TestSameLogOfTwoRuns(t *testing.T) {
	h := open(t, history.Config{})
	s := session(1, "healthy", nil, 1)
	run := func(began, ended time.Time) (id int64) {
		s.Began = began
		id = testkit.Must(h.Remember(t.Context(), s, ended, true))
		require.NoError(t, h.Update(t.Context(), id, s, ended, false))
		return id
	}
	first, second := run(day(1), day(2)), run(day(3), day(4))
	require.NotEqual(t, first, second)
	require.Equal(t, second, run(day(3).Add(time.Hour), day(4)), "two followers of one run")
	require.Equal(t, second, run(time.Time{}, day(4)))
	s.Began = time.Time{}
	require.Equal(t, second, remember(t, h, s, day(5)))
	require.Equal(t, second, remember(t, h, s, day(6)))
	s.Began = day(7) // by the times in the log
	require.Equal(t, second, remember(t, h, s, day(8)))
	require.Len(t, testkit.Must(h.Sessions(t.Context(), "", 0)), 2)
}

// TestRunning: a session that runs is one row, and one that was killed is told once.
func TestRunning(t *testing.T) {
	at := now
	path := filepath.Join(t.TempDir(), "history.db")
	h := open(t, history.Config{Path: path, Now: func() time.Time { return at }})
	s := session(1, "healthy", nil)
	s.Log.Bytes = 0
	id := testkit.Must(h.Remember(t.Context(), s, at, true))
	next := testkit.Must(h.Remember(t.Context(), s, at, true))
	require.NotEqual(t, id, next, "two games began with an empty log")
	require.NoError(t, h.Update(t.Context(), next, s, at, false))
	for range 5 {
		at = at.Add(time.Second)
		s.Log.Bytes++
		require.NoError(t, h.Update(t.Context(), id, s, at, true))
		gone := testkit.Must(h.Unfinished(t.Context()))
		require.Empty(t, gone)
	}
	killed := at
	require.Equal(t, id, remember(t, h, s, day(1)), "another reads the log")
	at = at.Add(time.Minute)
	other := open(t, history.Config{Path: path, Now: func() time.Time { return at }})
	gone := testkit.Must(other.Unfinished(t.Context()))
	require.Empty(t, gone, "it runs, and has nothing to say")
	require.NoError(t, h.Close())
	h = other
	gone = testkit.Must(h.Unfinished(t.Context()))
	require.Len(t, gone, 1)
	require.Equal(t, id, gone[0].ID)
	require.Equal(t, killed, gone[0].Saved)
	require.False(t, gone[0].Running)
	gone = testkit.Must(h.Unfinished(t.Context()))
	require.Empty(t, gone)
	n := testkit.Must(h.Forget(t.Context(), history.Which{IDs: []int64{id, id}}))
	require.Equal(t, 1, n)
	require.ErrorIs(t, h.Update(t.Context(), id, s, at, true), history.ErrUnknown)
}

// TestResumed: a log that heed follows again is its session, which runs again.
func TestResumed(t *testing.T) {
	h := open(t, history.Config{})
	s := session(1, "healthy", nil)
	id := remember(t, h, s, day(1))
	again := testkit.Must(h.Remember(t.Context(), s, day(2), true))
	require.Equal(t, id, again)
	got, _, err := h.Session(t.Context(), id)
	require.NoError(t, err)
	require.True(t, got.Running && got.Live)
	require.True(t, got.Ended.Equal(day(2)))
	require.Equal(t, now, got.Saved)
	require.Empty(t, testkit.Must(open(t, history.Config{Path: h.Path()}).Unfinished(t.Context())))
	lock := fmt.Sprintf("%s.session-%d.lock", h.Path(), id)
	require.FileExists(t, lock)
	require.NoError(t, h.Update(t.Context(), id, s, day(3), false))
	require.NoFileExists(t, lock)
}

// TestNoLog: sessions of whose logs nothing was read are not one.
func TestNoLog(t *testing.T) {
	h := open(t, history.Config{})
	for n := 1; n <= 3; n++ {
		s := session(1, "healthy", nil, signature.ID(n))
		s.Log = summary.Log{Name: "none.log"}
		require.EqualValues(t, n, remember(t, h, s, day(n)))
	}
	all := testkit.Must(h.Sessions(t.Context(), "", 0))
	require.Len(t, all, 3)
}

// TestComparable: a session counts as one without a group only if it would show that.
func TestComparable(t *testing.T) {
	for name, change := range map[string]func(s *summary.Session) (running bool){
		"nothing":                func(*summary.Session) bool { return false },
		"it runs":                func(*summary.Session) bool { return true },
		"groups are left out":    func(s *summary.Session) bool { s.MoreGroups = 1; return false },
		"its end is missing":     func(s *summary.Session) bool { s.Complete = false; return false },
		"its beginning is":       func(s *summary.Session) bool { s.Headless = true; return false },
		"a part is no evidence":  func(s *summary.Session) bool { s.Blind = true; return false },
		"rules protected more":   func(s *summary.Session) bool { s.Masking++; return false },
		"unknown what they do":   func(s *summary.Session) bool { s.Masking = 0; return false },
		"another signature's":    func(s *summary.Session) bool { s.Signatures++; return false },
		"of another game's":      func(s *summary.Session) bool { s.Facts.Game = "Chess 1.0"; return false },
		"its groups are unknown": func(s *summary.Session) bool { s.MoreGroups, s.Groups = 7, nil; return false },
	} {
		h := open(t, history.Config{})
		s, with, next := session(1, "healthy", mods("Core")), session(2, "broken", mods("Core"), 7), session(3, "", nil)
		s.Masking, with.Masking, next.Masking = 5, 5, 5
		running := change(s)
		testkit.Must(h.Remember(t.Context(), s, day(1), running))
		remember(t, h, with, day(2))
		groups := testkit.Must(h.Groups(t.Context(), 7))
		want := 1
		if name == "nothing" || s.Masking == 0 {
			want = 2
		}
		require.Equal(t, want, groups[0].Of, name)
		text := testkit.Must(h.Known(t.Context(), next, 8))
		require.Equal(t, map[int]string{
			1: "new: not in the one session since 2 November", 2: "new: in none of 2 sessions since 1 November",
		}[want], text, name)
		all := testkit.Must(h.Mods(t.Context(), "Colony")).Mods
		count := 2
		if running || s.Facts.Game != "Colony 1.2" {
			count = 1
		}
		require.Equal(t, count, all[0].With, name)
	}
}

// TestSince: where sessions between do not show whether a group is there, what changed is since the last that does, and
// the first session that has it is not called the first of all.
func TestSince(t *testing.T) {
	h := open(t, history.Config{})
	for n, all := range [][]capture.ListedMod{
		mods("Core@1"), mods("Core", "B"), mods("Core@2", "B"), mods("Core@2", "B"),
	} {
		s := session(uint64(n+1), "broken", all)
		s.Blind = n == 1
		if n > 1 {
			s = session(uint64(n+1), "broken", all, 7)
		}
		remember(t, h, s, day(n+1))
	}
	text := testkit.Must(h.Known(t.Context(), session(9, "", nil), 7))
	require.Equal(t, "new since 3 November; since 1 November, when it was not there, B was added and Core went from 1 to 2; "+
		"2 of 2 sessions since, 0 of 1 before", text)
	groups := testkit.Must(h.Groups(t.Context(), 7))
	require.EqualValues(t, 1, groups[0].First.Changes.Since)
	all := testkit.Must(h.Sessions(t.Context(), "Colony", 2))
	require.Equal(t, "Core went from 1 to 2", all[1].Changes.String(), "whose version the session before did not list")
	for _, want := range all {
		one, _, err := h.Session(t.Context(), want.ID)
		require.NoError(t, err)
		require.Equal(t, want, one)
	}
	testkit.Must(h.Forget(t.Context(), history.Which{IDs: []int64{1}}))
	text = testkit.Must(h.Known(t.Context(), session(9, "", nil), 7))
	require.Equal(t, "known since 3 November, the first session that shows whether it is there; in 2 of 2 sessions", text)
}

// TestFollowed: a followed log that has grown to one that is known is that, once it has ended or another reads it.
func TestFollowed(t *testing.T) {
	for _, ended := range []bool{true, false} {
		h := open(t, history.Config{})
		s := session(1, "healthy", nil)
		known := remember(t, h, s, day(1))
		s.Log.Hash++
		id := testkit.Must(h.Remember(t.Context(), s, day(2), true))
		require.NotEqual(t, known, id)
		s.Log.Hash--
		require.NoError(t, h.Update(t.Context(), id, s, day(2), !ended))
		if !ended {
			require.Equal(t, id, remember(t, h, s, day(3)))
		}
		all := testkit.Must(h.Sessions(t.Context(), "", 0))
		require.Len(t, all, 1)
		require.Equal(t, id, all[0].ID)
	}
}

// TestForget: only what is named is forgotten, and a file that another process keeps from shrinking is an error.
func TestForget(t *testing.T) {
	h := open(t, history.Config{})
	before := remember(t, h, session(1, "healthy", nil), time.Unix(-1, 0))
	gone := remember(t, h, session(2, "healthy", nil), day(1))
	n := testkit.Must(h.Forget(t.Context(), history.Which{IDs: []int64{gone}}))
	require.Equal(t, 1, n)

	reader := testkit.Must(sql.Open("sqlite", h.Path()))
	defer reader.Close() //nolint:errcheck // the test has ended
	tx := testkit.Must(reader.Begin())
	var sessions int
	require.NoError(t, tx.QueryRow("SELECT count(*) FROM session").Scan(&sessions))
	h.DB().SetMaxOpenConns(1)
	_ = testkit.Must(h.DB().Exec("PRAGMA busy_timeout = 1"))
	n, err := h.Forget(t.Context(), history.Which{IDs: []int64{before}})
	require.ErrorContains(t, err, "1 sessions are forgotten, but the file still has their text: another process reads it")
	require.Equal(t, 1, n)
	require.NoError(t, tx.Rollback())
}

// TestUnlisted: what a log does not list is not known to have changed, and sessions of unknown games are not compared.
func TestUnlisted(t *testing.T) {
	h := open(t, history.Config{})
	names, versions := mods("Core", "Extra"), mods("Core@1", "Extra@1.0")
	for i := range names {
		names[i].PackageID, versions[i].PackageID = strings.ToUpper(names[i].Name), strings.ToLower(names[i].Name)
	}
	names[1].Name = names[1].PackageID // no name is listed
	for n, all := range [][]capture.ListedMod{versions, names, versions, nil, versions} {
		remember(t, h, session(uint64(n+1), "broken", all, 7), day(n+1))
	}
	unknown := session(9, "broken", mods("Other"), 7)
	unknown.Facts.Game = ""
	remember(t, h, unknown, day(8))
	unknown.Log.Bytes, unknown.Mods = 10, mods("Another")
	remember(t, h, unknown, day(9))
	all := testkit.Must(h.Sessions(t.Context(), "", 0))
	for _, s := range all {
		require.Equal(t, "nothing", s.Changes.String(), s.ID)
		require.Equal(t, s.ID == 4 || s.ID == 1 || s.Game == "", s.Changes == nil, s.ID)
	}
	text := testkit.Must(h.Known(t.Context(), unknown, 7))
	require.Empty(t, text)
	groups := testkit.Must(h.Groups(t.Context(), 7))
	require.Equal(t, "The game is not known: its sessions may be of several.", groups[0].Suspects.Text)
	known := testkit.Must(h.Mods(t.Context(), "Colony")).Mods
	require.Equal(t, "Extra", known[1].Name, "a name outlasts a list without names")

	old := session(11, "", versions)
	old.Ended = day(1).Add(-time.Hour)
	text = testkit.Must(h.Known(t.Context(), old, 8))
	require.Empty(t, text, "it ended before all that is remembered")
}

// TestTimes: a session keeps when it began, ends not later than now, and has no length that is not credible.
func TestTimes(t *testing.T) {
	h := open(t, history.Config{})
	s := session(1, "healthy", nil)
	s.Began = day(1).Add(-time.Hour)
	id := remember(t, h, s, day(1))
	s.Began = time.Time{}
	require.Equal(t, id, remember(t, h, s, day(2)))
	got, _, err := h.Session(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, time.Hour, got.Length())
	s = session(2, "healthy", nil)
	s.Began = time.Unix(0, 0)
	got, _, err = h.Session(t.Context(), remember(t, h, s, now.AddDate(9, 0, 0)))
	require.NoError(t, err)
	require.True(t, got.Ended.Equal(now))
	require.Zero(t, got.Length())
}

// TestRates: entries are counted per hour where all sessions with them have a length, and per 1,000 records in any case.
func TestRates(t *testing.T) {
	lengths := []time.Duration{time.Hour, 3 * time.Hour, 0}
	for order := range 6 {
		h := open(t, history.Config{})
		var hours, entries float64
		timed := true
		for n := range 2 {
			length := lengths[(order+n*(1+order/3))%3]
			s := session(uint64(n+1), "broken", nil, 7)
			s.Groups[0].Count = uint64(6 * (n + 1))
			if length > 0 {
				s.Began = day(n + 1).Add(-length)
			}
			remember(t, h, s, day(n+1))
			hours, entries, timed = hours+length.Hours(), entries+float64(s.Groups[0].Count), timed && length > 0
		}
		groups := testkit.Must(h.Groups(t.Context(), 7))
		require.InDelta(t, entries, groups[0].PerThousand, 1e-9, "of two sessions with 500 records each")
		want := 0.0
		if timed {
			want = entries / hours
		}
		require.InDelta(t, want, groups[0].PerHour, 1e-9)
	}
}

// TestChangesOfNow is the table of changes of mods in a session that is not remembered and has a new group.
func TestChangesOfNow(t *testing.T) {
	h := open(t, history.Config{})
	remember(t, h, session(1, "healthy", mods("Core@1", "Crane")), day(1))
	remember(t, h, session(2, "healthy", nil), day(2))
	const none = "new: in none of 2 sessions since 1 November"
	for _, c := range []struct {
		mods []capture.ListedMod
		more int
		want string
	}{
		{mods("Core@1", "Crane"), 0, none},
		{mods("Core", "Crane"), 0, none},
		{nil, 0, none},
		{mods("Core@1"), 3, none},
		{mods("Core@2", "Crane"), 0, none + "; since the last one Core went from 1 to 2"},
		{mods("Core@1", "Next", "Other"), 0, none + "; since the last one Next and Other were added and Crane was removed"},
	} {
		s := session(9, "", c.mods)
		s.MoreMods = c.more
		text := testkit.Must(h.Known(t.Context(), s, 7))
		require.Equal(t, c.want, text)
	}
	h = open(t, history.Config{Now: func() time.Time { return now.AddDate(1, 0, 0) }})
	remember(t, h, session(1, "healthy", nil), day(1))
	remember(t, h, session(2, "healthy", nil), day(2))
	text := testkit.Must(h.Known(t.Context(), session(9, "", nil), 7))
	require.Equal(t, none+" 2026", text, "of another year")
}

// TestEach: the summaries of a game's sessions come oldest first. A session that is forgotten during the call is left
// out, a session that cannot be read is named after all others, and an error of the caller ends the call.
func TestEach(t *testing.T) {
	h := open(t, history.Config{})
	for n, at := range []int{3, 1, 2, 4, 5} {
		s := session(uint64(n+1), "healthy", nil, 1)
		if n == 3 {
			s.Facts.Game = "Harbor 1.0"
		}
		require.EqualValues(t, n+1, remember(t, h, s, day(at)))
	}
	each := func(game string, f func(n uint64) error) (got []uint64, err error) {
		err = h.Each(t.Context(), game, func(s *summary.Session) error {
			require.Equal(t, "text 0000000000000001 of <*>", s.Groups[0].Template)
			got = append(got, s.Log.Bytes)
			return f(s.Log.Bytes)
		})
		return got, err
	}
	for game, want := range map[string][]uint64{"": {2, 3, 1, 4, 5}, "Colony": {2, 3, 1, 5}, "Harbor": {4}, "None": nil} {
		got := testkit.Must(each(game, func(uint64) error { return nil }))
		require.Equal(t, want, got, game)
	}
	enough := errors.New("enough")
	got, err := each("", func(n uint64) error { return map[bool]error{true: enough}[n == 3] })
	require.ErrorIs(t, err, enough)
	require.Equal(t, []uint64{2, 3}, got)
	_ = testkit.Must(h.DB().Exec(`UPDATE body SET data = x'00' WHERE session IN (2, 1)`))
	got, err = each("", func(n uint64) error {
		_, err := h.Forget(t.Context(), history.Which{IDs: []int64{4}})
		require.True(t, n != 3 || err == nil)
		return nil
	})
	require.Equal(t, []uint64{3, 5}, got)
	require.ErrorContains(t, err, "session 2: ")
	require.ErrorContains(t, err, "session 1: ")
	require.NotContains(t, err.Error(), "session 4")
}
