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

func TestGridAligns(t *testing.T) {
	long := strings.TrimSuffix(strings.Repeat("word ", 30), " ")
	require.Equal(t, ""+
		"     N  NAME      TEXT\n"+
		"     1  오류      one\n"+
		"  1000  e\u0301tude     "+long+"\n"+
		"    22  much to…\n", string(testGrid().appendTo(nil, TextOptions{Width: 0})))
}

func TestGridFitsItsWidth(t *testing.T) {
	for _, width := range []int{30, 66, 80, 120} {
		out := string(testGrid().appendTo(nil, TextOptions{Width: width}))
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
		"    22  much to…\n", string(testGrid().appendTo(nil, TextOptions{Width: 32})))
}

func TestWrapped(t *testing.T) {
	for _, c := range []struct {
		name, text    string
		width, indent int
		want          string
	}{
		{"no width", "a b  c", 0, 4, "a b c\n"},
		{"fits exactly", "aaa bbb", 11, 4, "aaa bbb\n"},
		{"one too many", "aaa bbb", 10, 4, "aaa\n    bbb\n"},
		{"wide", "오류 오류", 8, 0, "오류\n오류\n"},
		{"a word too long is broken", "aaaaaaaaaa b", 5, 0, "aaaaa\naaaaa\nb\n"},
		{"a wide word too long", "오류오류 b", 5, 0, "오류\n오류\nb\n"},
		{"a family is not broken", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦 b", 3, 0, "👨‍👩‍👧‍👦\n👨‍👩‍👧‍👦\nb\n"},
		{"no room at all", "오 b", 1, 0, "오\nb\n"},
		{"empty", "", 10, 2, "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, string(cells.AppendWrapped(nil, c.text, c.width, c.indent)))
		})
	}
}
