package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/internal/text/width"
)

// TestColorsChangeNothingElse: without its escapes a colored line is the plain
// one, so that widths hold, and no style goes over the end of a line.
func TestColorsChangeNothingElse(t *testing.T) {
	for _, width := range []int{0, 20, 33, 80} {
		g := testGrid()
		g.columns[0].style, g.columns[1].style = only(strong), only(name)
		want := laidOut(g, TextOptions{Width: width})
		got := laidOut(g, TextOptions{Width: width, Color: true})
		require.NotEqual(t, want, got)
		require.Equal(t, want, testkit.WithoutColors(got))
		for line := range strings.Lines(got) {
			require.Equal(t, strings.Count(line, "\x1b["), 2*strings.Count(line, "\x1b[0m"), "%q", line)
		}
	}
	words := strings.Repeat("오류 слово ", 9)
	colored := textReport{options: TextOptions{Width: 20, Color: true}}
	colored.wrapped(words, 4, alarm)
	require.Equal(t, string(cells.AppendWrapped(nil, words, 20, 4)), testkit.WithoutColors(string(colored.out)))
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
		"      Error\n", laidOut(g, TextOptions{Width: 40}))
}

func TestEmptyLogFitsItsWidth(t *testing.T) {
	r := newReplay(t, Config{File: "logs/of/a/server/Player.log"})
	r.End(End{})
	narrow := string(Text(nil, r.Document(0), TextOptions{Width: width.Min}))
	require.True(t, strings.HasPrefix(narrow, "…layer.log: empty, …\n  Empty. The log has\n  no record, so\n"), narrow)
	require.Equal(t, "logs/of/a/server/Player.log: empty, no lines\n"+
		"  Empty. The log has no record, so nothing is known about the game.\n  log       The log has no record.\n",
		string(Text(nil, r.Document(0), TextOptions{})))
}
