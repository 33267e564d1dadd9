package history_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// TestKnownSuspect: of eight mods that came together, the one that a fault goes with is named once it went and came
// again; before that, all of them are alike.
func TestKnownSuspect(t *testing.T) {
	h := open(t, history.Config{})
	old := mods("Core", "Hats")
	added := mods("A", "B", "C", "D", "E", "F", "G", "Crane")
	all := slices.Concat(old, added)
	known := func(language ...map[string]string) string {
		return testkit.Must(h.Known(t.Context(), session(99, "", nil), 2, language...))
	}
	n := 0
	play := func(times int, list []capture.ListedMod, groups ...signature.ID) {
		for range times {
			n++
			remember(t, h, session(uint64(n), "broken", list, groups...), day(n))
		}
	}
	play(5, old)
	play(2, all, 2)
	require.Equal(t, "new since 6 November, when A, B, C and 5 others were added; 2 of 2 sessions since, 0 of 5 before", known())
	play(2, all, 2)
	require.Equal(t, "suspect: A, or B, or C, or 5 more, in 4 of 4 sessions with it and in 0 of 5 without; it changed only once, "+
		"so anything else that changed then looks the same; new since 6 November, when A, B, C and 5 others were added", known())
	play(3, slices.Concat(old, added[:7]))
	play(2, all, 2)
	require.Equal(t, "suspect: Crane, in 6 of 6 sessions with it and in 0 of 8 without; new since 6 November, when A, B, C and "+
		"5 others were added; 6 of 9 sessions since, 0 of 5 before", known())
	require.Equal(t, "Verdacht: Crane, in 6 von 6 Sitzungen damit und in 0 von 8 ohne; neu seit 6.11.; damals: A, B, C und "+
		"5 weitere kamen hinzu; seitdem 6 von 9 Sitzungen, davor 0 von 5", known(rules.Texts("de")))
}

// TestKnownOfOne: one session with the group has nothing to compare; one without it is where the group was not.
func TestKnownOfOne(t *testing.T) {
	h := open(t, history.Config{})
	remember(t, h, session(1, "broken", nil, 2), day(1))
	known := func(group signature.ID) string {
		return testkit.Must(h.Known(t.Context(), session(9, "", nil), group))
	}
	require.Empty(t, known(2))
	require.NotEmpty(t, known(3))
	remember(t, h, session(2, "broken", nil, 3), day(2))
	require.NotEmpty(t, known(2))
	require.NotEmpty(t, known(3))
}

// TestKnownWithoutVersions: a group is new in a game of which no session shows a version or mods.
func TestKnownWithoutVersions(t *testing.T) {
	h := open(t, history.Config{})
	for n := 1; n <= 3; n++ {
		s := session(uint64(n), "broken", nil, []signature.ID{2}[:n/3]...)
		s.Facts.Game = "Colony"
		remember(t, h, s, day(n))
	}
	now := session(9, "broken", nil)
	now.Facts.Game = "Colony"
	text := testkit.Must(h.Known(t.Context(), now, 2))
	require.Equal(t, "new since 3 November; 1 of 1 session since, 0 of 2 before", text)
}

// TestAnswers holds all answers about a month of sessions to a file, whole.
func TestAnswers(t *testing.T) {
	h := open(t, history.Config{})
	var out strings.Builder
	show := func(name string, v any) {
		fmt.Fprintf(&out, "== %s\n%s\n", name, testkit.Must(json.MarshalIndent(v, "", " ")))
	}
	for n, list := range [][]capture.ListedMod{
		mods("Core@1", "Hats"), nil, mods("Core@1", "Hats@2"), mods("Core", "Hats@2", "Crane"), mods("Core@2", "Hats@2", "Crane"),
		mods("Core@2", "Hats@3", "Crane"), mods("Core@2", "Hats@3"), mods("Core@2", "Hats@3"), nil, mods("Crane", "Bow"),
		mods("A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "Bow"), mods("A@1", "B@1", "C@1", "Bow@1"), mods("A@2", "B@2", "C@2", "E"),
	} {
		s := session(uint64(n+1), []string{"healthy", "broken", "crashed", "complaints", "unknown"}[n*n%5], list)
		s.Facts.Game = []string{"Colony 1.2", "Colony 1.2", "Colony", "Colony 1.3", "Harbor 7.1"}[n/3]
		s.Reason, s.Lines, s.Records = "reason"[:n%2*6], 10*n, uint64(100*n)
		s.Began = day(n + 1).Add(-time.Duration(n%4) * time.Hour)
		for g, name := range []signature.ID{1, 2, 3, 4, 5, 6} {
			if n%(g+1) == 0 && (name != 2 || n > 3) || name == 6 && n > 4 {
				group := session(1, "", nil, name).Groups[0]
				group.Count, group.Members = uint64(n+g), []signature.ID{name + 10}
				s.Groups = append(s.Groups, group)
			}
		}
		switch n {
		case 0:
			s.Groups = append(s.Groups, session(1, "", nil, 7).Groups...)
		case 4:
			s.MoreMods = 1
		case 8:
			s.Groups[0].Members = append(s.Groups[0].Members, 99, 98) // whose group has several signatures from now on
			s.Complete = false
		}
		at := day(n + 1)
		if n == 7 {
			at = day(1).Add(-time.Hour)
		}
		show(fmt.Sprint("remembered ", n), testkit.Must(h.Remember(t.Context(), s, at, n == 9)))
	}
	show("games", testkit.Must(h.Games(t.Context())))
	show("sessions", testkit.Must(h.Sessions(t.Context(), "", 0)))
	show("two sessions of Colony", testkit.Must(h.Sessions(t.Context(), "Colony", 2)))
	one, sum, err := h.Session(t.Context(), 6)
	show("a session", []any{one, sum, err})
	for _, name := range []signature.ID{1, 2, 6, 7, 15, 98, 77} {
		show(fmt.Sprint("group ", name), testkit.Must(h.Groups(t.Context(), name)))
	}
	for _, game := range []string{"Colony", "Harbor", "None"} {
		show("mods of "+game, testkit.Must(h.Mods(t.Context(), game)).Mods)
	}
	for _, game := range []string{"Colony 1.2", "Colony 1.4", "Harbor 7.1", "Harbor", "None 1.0", ""} {
		for _, name := range []signature.ID{1, 2, 3, 4, 5, 6, 15, 77} {
			now := session(50, "", mods("Core@3", "Hats@3", "New"))
			now.Facts.Game = game
			if name == 77 {
				now.Groups = []summary.Group{{Signature: 77, Members: []signature.ID{78, 14}}}
			}
			text := testkit.Must(h.Known(t.Context(), now, name))
			now.Ended = day(9)
			then := testkit.Must(h.Known(t.Context(), now, name))
			fmt.Fprintf(&out, "%s, %d: %s\n", game, name, text)
			if then != text {
				fmt.Fprintf(&out, "  then: %s\n", then)
			}
		}
	}
	show("revision", testkit.Must(h.Revision(t.Context())))
	show("forgotten", testkit.Must(h.Forget(t.Context(), history.Which{IDs: []int64{3}, Before: day(2)})))
	show("revision", testkit.Must(h.Revision(t.Context())))
	show("mods of Colony", testkit.Must(h.Mods(t.Context(), "Colony")).Mods)
	show("all forgotten", testkit.Must(h.Forget(t.Context(), history.Which{All: true})))
	show("rows", slices.Clip(rows(t, h)))
	testkit.Golden(t, "testdata/answers.txt", out.String())
}

// TestWords holds the words of each number of changes.
func TestWords(t *testing.T) {
	var out strings.Builder
	fmt.Fprintln(&out, (*history.Changes)(nil))
	names := []string{"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M"}
	for n := range 14 {
		for _, c := range []history.Changes{
			{Added: names[:n]}, {Removed: names[:n], To: "2", From: "1"}, {Added: names[:min(n, 1)], Updated: names[:n]},
		} {
			fmt.Fprintf(&out, "%d: %s\n", n, &c)
		}
	}
	testkit.Golden(t, "testdata/words.txt", out.String())
}

// TestDocumentedSQL runs the statements of docs/history.md, and holds the columns that it lists to the views.
func TestDocumentedSQL(t *testing.T) {
	page := testkit.Must(os.ReadFile("../../../docs/history.md"))
	h := open(t, history.Config{})
	remember(t, h, session(1, "broken", mods("Core"), 1), day(1))
	statements := regexp.MustCompile(`(?m)^sqlite3 -readonly history.db ['"](.*)['"]$`).FindAllStringSubmatch(string(page), -1)
	require.Len(t, statements, 4)
	for _, s := range statements {
		rows, err := h.DB().Query(s[1])
		require.NoError(t, err, s[1])
		for rows.Next() {
		}
		require.NoError(t, rows.Close())
		require.NoError(t, rows.Err(), s[1])
	}
	listed := map[string][]string{}
	views := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (`id`|`game`|`session`)(.*) \\|$")
	for _, row := range views.FindAllStringSubmatch(string(page), -1) {
		for _, column := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[2]+row[3], -1) {
			listed[row[1]] = append(listed[row[1]], column[1])
		}
	}
	require.Len(t, listed, 4)
	for view, want := range listed {
		rows := testkit.Must(h.DB().Query("SELECT * FROM " + view))
		columns := testkit.Must(rows.Columns())
		require.Equal(t, want, columns, view)
		require.True(t, rows.Next(), view)
		require.NoError(t, rows.Close())
	}
}
