package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/compare"
)

func TestSidesInWords(t *testing.T) {
	for hours, want := range map[float64]string{
		0.5: "a.log (1 record, 0.5 hours)", 0: "a.log (1 record)", 99.5: "a.log (1 record, 99.5 hours)",
		1234: "a.log (1 record, 1234 hours)",
	} {
		side := compare.Totals{Files: []compare.File{{Name: "a.log"}}, Records: 1, Hours: hours}
		require.Equal(t, want, sideName(&side))
	}
	require.Equal(t, "a.log and 1 more (2 records)",
		sideName(&compare.Totals{Files: []compare.File{{Name: "a.log"}, {Name: "b.log"}}, Records: 2}))
	side := compare.Totals{Files: []compare.File{{
		Name: "a.log",
		Gaps: []compare.Gap{
			{Kind: "blind", From: 3, To: 9, Rule: "some.rule"},
			{Kind: "hole", From: 12},
			{Kind: "hole", From: 13},
		},
	}}}
	require.Equal(t, []string{
		"stops at line 3 (some.rule), until line 9",
		"has missing bytes at line 12",
		"has 1 more such gap",
	}, gapsOf(&side))
}

// TestShortNames: logs of equal names are told apart by their folders.
func TestShortNames(t *testing.T) {
	var logs []compare.File
	want := map[string]string{
		"/logs/a/Player.log": "a/Player.log", "/logs/b/Player.log": "b/Player.log", `C:\b\Player.log`: `b\Player.log`,
		"/logs/x/1/own.log": "x/1/own.log", "1/own.log": "1/own.log", "z/other.log": "other.log",
	}
	for path := range want {
		logs = append(logs, compare.File{Name: path})
	}
	require.Equal(t, want, shortNames(logs))
	require.Nil(t, shortNames(logs[:1]))
}

func TestChangedModsAreFew(t *testing.T) {
	mods := []compare.ModChange{{Name: "z", Change: "removed"}}
	for i := range maxChangedMods + 2 {
		mods = append(mods, compare.ModChange{Name: string(rune('a' + i)), Change: "added"})
	}
	require.Equal(t, "Mods: added a, b, c, d, e, 2 more; removed z.", changedMods(mods, literally))
}

// TestRatesAndSuspects: a table has the rates of both sides and their ratio, and the text explains it; groups
// with suspects too.
func TestRatesAndSuspects(t *testing.T) {
	old, now := &compare.Tally{Count: 2, Per1000: 1.5, PerHour: 3}, &compare.Tally{Count: 9, Per1000: 12, PerHour: 40}
	more := compare.Group{Template: "lost <*>", Rule: "a.rule", Disposition: event.Blocking, Old: old, New: now}
	side := compare.Totals{Files: []compare.File{{Name: "a.log"}}, Hours: 1}
	d := &compare.Diff{Old: side, New: side, More: []compare.Group{more}}
	out := string(Text(nil, &Comparison{Found: d}, TextOptions{}))
	require.Contains(t, out, "  OLD  NEW   /1000  /HOUR  FIRST  DISPOSITION    RULE    TEMPLATE\n"+
		"    2    9  1.5→12   3→40         blocking info  a.rule  lost <*>\n")
	require.Contains(t, out, "RATIO is the new rate divided by the old rate")
	s := &compare.Suspects{Old: side, New: side, Groups: []compare.SuspectGroup{{Group: more}}}
	require.Contains(t, string(Text(nil, &Comparison{Found: s}, TextOptions{})),
		"\nMORE frequent: 1 group, by every measure\n  OLD  NEW   /1000  /HOUR  FIRST  DISPOSITION    RULE    TEMPLATE\n")
}

func TestGapsNameTheirLog(t *testing.T) {
	empty := compare.File{Name: "a.log", Gaps: []compare.Gap{{Kind: "empty"}}}
	require.Equal(t, []string{"is empty"}, gapsOf(&compare.Totals{Files: []compare.File{empty}}))
	require.Equal(t, []string{"has a log that is empty (a.log)"},
		gapsOf(&compare.Totals{Files: []compare.File{empty, {}}}))
}

// TestGamesOfSides: a comparison of logs of different games says so, and names them.
func TestGamesOfSides(t *testing.T) {
	side := func(games ...string) (t compare.Totals) {
		for _, game := range games {
			t.Files = append(t.Files, compare.File{Name: "a.log", Game: game})
		}
		return t
	}
	const warning = "These are logs of different games, Colony and Farm, Mine: most differences mean nothing."
	for _, c := range []struct {
		old, now compare.Totals
		warns    bool
	}{
		{side("Colony"), side("Farm", "Mine"), true},
		{side("Colony"), side("Farm", "Colony"), false},
		{side("Colony"), side(""), false},
	} {
		text := string(Text(nil, &Comparison{Found: &compare.Diff{Old: c.old, New: c.now}}, TextOptions{}))
		require.Equal(t, c.warns, strings.Contains(text, warning), text)
	}
}
