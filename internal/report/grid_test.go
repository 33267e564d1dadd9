package report

import (
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/internal/text/width"
	"github.com/heedlog/heed/signature"
)

func testGrid() *grid {
	g := &grid{columns: []column{{title: "N", right: true}, {title: "NAME", limit: 8}, {title: "TEXT"}}, minLast: 48}
	g.rows = append(g.rows, []string{"1", "오류", "one"})
	g.rows = append(g.rows, []string{"1000", "e\u0301tude", strings.Repeat("word ", 30)})
	g.rows = append(g.rows, []string{"22", "much too long a name", ""})
	return g
}

func laidOut(g *grid, o TextOptions) string {
	t := textReport{Page: Page{Options: o}}
	t.grid(g)
	return string(t.Out)
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

// TestColorsChangeNothingElse: without its escapes a colored line is the plain
// one, so that widths hold, and no style goes over the end of a line.
func TestColorsChangeNothingElse(t *testing.T) {
	for _, width := range []int{0, 20, 33, 80} {
		g := testGrid()
		g.columns[0].style, g.columns[1].style = only(Strong), only(Name)
		want := laidOut(g, TextOptions{Width: width})
		got := laidOut(g, TextOptions{Width: width, Color: true})
		require.NotEqual(t, want, got)
		require.Equal(t, want, testkit.WithoutColors(got))
		for line := range strings.Lines(got) {
			require.Equal(t, strings.Count(line, "\x1b["), 2*strings.Count(line, "\x1b[0m"), "%q", line)
		}
	}
	words := strings.Repeat("오류 слово ", 9)
	colored := textReport{Page: Page{Options: TextOptions{Width: 20, Color: true}}}
	colored.wrapped(words, 4, Alarm)
	require.Equal(t, string(cells.AppendWrapped(nil, words, 20, 4)), testkit.WithoutColors(string(colored.Out)))
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
	require.Contains(t, string(SARIF(nil, r.Document(0))), "nothing is known about the game")
}

func TestFold(t *testing.T) {
	sig := func(id signature.ID) signature.Signature { return signature.Signature{ID: id} }
	table := newTable(10)
	text := map[signature.ID]string{1: "Anna is late", 2: "Boris is late", 3: "the lamp is out", 4: "Dora is late"}
	template := func(s signature.Signature) (string, bool) { return text[s.ID], true }
	table.add(rowKey{sig(2), "r"}, sig(2), event.SeverityError, 5, template)
	table.add(rowKey{sig(1), "r"}, sig(1), event.SeverityWarning, 7, template)
	table.add(rowKey{sig(1), "r"}, sig(1), event.SeverityWarning, 9, template)
	table.add(rowKey{sig(1), "s"}, sig(1), event.SeverityWarning, 10, template)
	table.add(rowKey{sig(3), "r"}, sig(3), event.SeverityInfo, 11, template)
	table.add(rowKey{sig(4), "r"}, sig(2), event.SeverityInfo, 12,
		template) // the grouper was full, and knows no more of 4
	table.fold(func(s signature.Signature) signature.Signature {
		if s.ID == 2 {
			return sig(1)
		}
		return s
	}, func(string) string { return "" })
	require.Equal(t, []*row{
		{Row: Row{
			Forms: 3, Rule: "r", Severity: event.SeverityError, Count: 4, First: 5, Last: 12,
			Template: "<*> is late",
		}, sig: sig(1), group: sig(2), members: []signature.ID{2, 1, 4}},
		{Row: Row{
			Forms: 1, Rule: "s", Severity: event.SeverityWarning, Count: 1, First: 10, Last: 10,
			Template: "Anna is late",
		}, sig: sig(1), group: sig(1), members: []signature.ID{1}},
		{Row: Row{
			Forms: 1, Rule: "r", Severity: event.SeverityInfo, Count: 1, First: 11, Last: 11,
			Template: "the lamp is out",
		}, sig: sig(3), group: sig(3), members: []signature.ID{3}},
	}, table.top(0))
}

// TestSaysIsOwn holds that the text that a row keeps outlives the memory of its record.
func TestSaysIsOwn(t *testing.T) {
	read := []byte("PressFailed")
	says := headOf(unsafe.String(&read[0], len(read)))
	clear(read)
	require.Equal(t, "PressFailed", says)
}

// TestHeadOfIsText: what Python threw is not cut within a character.
func TestHeadOfIsText(t *testing.T) {
	head := headOf("Traceback (most recent call last):\nKeyError: x" + strings.Repeat("é", maxSays))
	require.True(t, utf8.ValidString(head), "%q", head)
}
