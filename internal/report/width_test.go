package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/internal/text/width"
)

// TestCellsOfScripts: what one character takes on a terminal, by the tables of
// Unicode; terminals that draw joined emoji take two columns for one.
func TestCellsOfScripts(t *testing.T) {
	for text, want := range map[string]int{
		"plain":                    5,
		"Привіт":                   6, // Cyrillic
		"и\u0306":                  1, // й, decomposed
		"й":                        1,
		"오류":                       4,
		"\u110b\u1169\u1105\u1172": 4, // 오류, as conjoining jamo
		"日本":                       4,
		"ｱ":                        1, // halfwidth
		"Ａ":                        2, // fullwidth
		"👍":                        2,
		"👍🏽":                       2, // with a skin tone
		"👨‍👩‍👧‍👦":                  2, // joined
		"🇺🇦":                       2, // a flag
		"⚠️":                       2, // with the selector for emoji
		"e\u0301\u0323":            1, // two marks
		"شمس":                      3,
		"न\u094dद":                 2, // a conjunct; terminals differ
		"…":                        1,
		"│":                        1, // ambiguous: narrow
	} {
		require.Equal(t, want, cells.StringWidth(text), "%q", text)
	}
}

// TestFitKeepsCharactersWhole: no cut goes through a character of several code
// points, and nothing is wider than it may be.
func TestFitKeepsCharactersWhole(t *testing.T) {
	const text = "오류 👨‍👩‍👧‍👦 é́ 🇺🇦 Привіт ⚠️ конец"
	for limit := 1; limit < 40; limit++ {
		for _, got := range []string{fit(text, limit), fitEnd(text, limit)} {
			require.LessOrEqual(t, cells.StringWidth(got), limit, "%q", got)
			kept := strings.Trim(got, "…")
			require.Contains(t, text, kept)
			require.False(t, strings.HasSuffix(kept, "\u200d"), "%q", got)
			require.False(t, strings.HasPrefix(kept, "\u200d"), "%q", got)
		}
	}
	require.Equal(t, "…오류.log", fitEnd("C:/Games/오류.log", 9))
	require.Equal(t, "…류.log", fitEnd("C:/Games/오류.log", 8))
}

// TestColorsChangeNothingElse: without its escapes a colored line is the plain
// one, so that widths hold, and no style goes over the end of a line.
func TestColorsChangeNothingElse(t *testing.T) {
	for _, width := range []int{0, 20, 33, 80} {
		g := testGrid()
		g.columns[0].style, g.columns[1].style = only(strong), only(name)
		want := string(g.appendTo(nil, TextOptions{Width: width}))
		got := string(g.appendTo(nil, TextOptions{Width: width, Color: true}))
		require.NotEqual(t, want, got)
		require.Equal(t, want, testkit.WithoutColors(got))
		for line := range strings.Lines(got) {
			require.Equal(t, strings.Count(line, "\x1b["), 2*strings.Count(line, "\x1b[0m"), "%q", line)
		}
	}
	lines := cells.AppendWrapped(nil, strings.Repeat("오류 слово ", 9), 20, 4)
	require.Equal(t, string(lines), testkit.WithoutColors(string(appendPainted(nil, lines, alarm))))
}

func TestNamesGiveWay(t *testing.T) {
	g := &grid{columns: []column{
		{title: "N", right: true},
		{title: "RULE", limit: 40},
		{title: "BLAME", limit: 24},
		{title: "TEXT"},
	}, minLast: 60}
	g.rows = append(g.rows, []string{"1", "startup.static_constructor", "Prepare Carefully Continued", "Error"})
	require.Equal(t, ""+
		"  N  RULE             BLAME\n"+
		"  1  startup.static…  Prepare Careful…\n"+
		"      Error\n", string(g.appendTo(nil, TextOptions{Width: 40})))
}

func TestEmptyLogFitsItsWidth(t *testing.T) {
	r := newReplay(t, Config{File: "logs/of/a/server/Player.log"})
	r.End(End{})
	require.Equal(t, "…layer.log: empty, …\n", string(Text(nil, r.Document(0), TextOptions{Width: width.Min})))
	require.Equal(t, "logs/of/a/server/Player.log: empty, no lines\n",
		string(Text(nil, r.Document(0), TextOptions{})))
}
