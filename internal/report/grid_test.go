package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func testGrid() *grid {
	g := &grid{columns: []column{{title: "N", right: true}, {title: "NAME", limit: 8}, {title: "TEXT"}}, minLast: 48}
	g.rows = append(g.rows, []string{"1", "오류", "one"})
	g.rows = append(g.rows, []string{"1000", "e\u0301tude", strings.Repeat("word ", 30)})
	g.rows = append(g.rows, []string{"22", "much too long a name", ""})
	return g
}

func laidOut(g *grid, o TextOptions) string {
	t := textReport{options: o}
	t.grid(g)
	return string(t.out)
}

func TestGridAligns(t *testing.T) {
	long := strings.TrimSuffix(strings.Repeat("word ", 30), " ")
	require.Equal(t, ""+
		"     N  NAME      TEXT\n"+
		"     1  오류      one\n"+
		"  1000  e\u0301tude     "+long+"\n"+
		"    22  much to…\n", laidOut(testGrid(), TextOptions{Width: 0}))
}

func TestGridFitsItsWidth(t *testing.T) {
	for _, width := range []int{30, 66, 80, 120} {
		out := laidOut(testGrid(), TextOptions{Width: width})
		for line := range strings.SplitSeq(out, "\n") {
			require.LessOrEqual(t, cells.StringWidth(line), width, "%q", line)
			require.Equal(t, strings.TrimRight(line, " "), line, "no spaces at the end")
		}
	}
}

func TestGridPutsTheLastColumnBelowWhereItIsNarrow(t *testing.T) {
	require.Equal(t, ""+
		"     N  NAME\n"+
		"     1  오류\n"+
		"      one\n"+
		"  1000  e\u0301tude\n"+
		"      word word word word word …\n"+
		"    22  much to…\n", laidOut(testGrid(), TextOptions{Width: 32}))
}
