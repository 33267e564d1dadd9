package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text/width"
)

// column is one column of a [grid].
type column struct {
	title string
	right bool // align to the right
	limit int  // columns at most, 0 for no limit
	log   bool // text of a log or of a rule: in Markdown it is code
	omit  bool
	// optional leaves the column out if no row has a value.
	optional bool

	style func(cell string) style // nil: plain
}

// only returns a style for any cell.
func only(s style) func(string) style { return func(string) style { return s } }

// dispositionStyle is the style of a cell that begins with a disposition.
func dispositionStyle(cell string) style {
	word, _, _ := strings.Cut(cell, " ")
	return styles[word]
}

// columnOf is a column with the cells of rows of one type.
type columnOf[R any] struct {
	column
	cell func(*R) string
}

// gridOf returns a grid of rows.
func gridOf[R any](rows []R, minLast int, columns []columnOf[R]) *grid {
	g := &grid{minLast: minLast, rows: make([][]string, len(rows))}
	for _, c := range columns {
		if c.omit {
			continue
		}
		values, some := make([]string, len(rows)), !c.optional
		for i := range rows {
			values[i] = c.cell(&rows[i])
			some = some || values[i] != ""
		}
		if !some {
			continue
		}
		g.columns = append(g.columns, c.column)
		for i, value := range values {
			g.rows[i] = append(g.rows[i], value)
		}
	}
	return g
}

// grid lays rows out in aligned columns. The last column takes the rest of the width.
type grid struct {
	columns []column
	rows    [][]string

	// minLast is the narrowest last column that is worth having. Where less is
	// left and a row does not fit into it, that column goes to lines of its own,
	// each below its row.
	minLast int
}

// minLimited is the narrowest that a column with a limit gets where there is
// little room.
const minLimited = 8

// grid lays a grid out. A width of zero means that lines are not cut.
func (t *textReport) grid(g *grid) {
	const gap = 2
	last, width := len(g.columns)-1, t.options.Width
	widths := make([]int, last)
	used := gap // the left margin
	for i := range widths {
		widths[i] = cells.StringWidth(g.columns[i].title)
		for _, row := range g.rows {
			row[i] = fit(row[i], g.columns[i].limit)
			widths[i] = max(widths[i], cells.StringWidth(row[i]))
		}
		used += widths[i] + gap
	}
	if width > 0 {
		used -= g.shorten(widths, used-width)
	}
	below := width > 0 && width-used < g.minLast && slices.ContainsFunc(g.rows, func(row []string) bool {
		return cells.StringWidth(row[last]) > width-used
	})
	// line appends a line without spaces at its end, cut where the columns alone are wider than there is room.
	line := func(row []string, title, below bool) {
		used, blank := 0, gap // columns, and spaces that come before the next text
		put := func(i int, text string) {
			left := width - used - blank
			if text == "" || width > 0 && left <= 0 {
				return
			}
			in := plain
			if f := g.columns[i].style; title {
				in = faint
			} else if f != nil {
				in = f(row[i])
			}
			text = fit(text, left)
			t.printf("%*s", blank, "")
			t.styled(text, in)
			used, blank = used+blank+cells.StringWidth(text), 0
		}
		for i, w := range widths {
			cell := row[i]
			if g.columns[i].limit > 0 {
				cell = fit(cell, w)
			}
			pad := max(0, w-cells.StringWidth(cell))
			if g.columns[i].right {
				blank, pad = blank+pad, 0
			}
			put(i, cell)
			blank += pad + gap
		}
		if below && row[last] != "" {
			t.printf("\n")
			used, blank = 0, 3*gap
		}
		put(last, strings.TrimRight(row[last], " "))
		t.printf("\n")
	}
	titles := make([]string, len(g.columns))
	for i, c := range g.columns {
		titles[i] = c.title
	}
	if below {
		titles[last] = ""
	}
	line(titles, true, false)
	for _, row := range g.rows {
		line(row, false, below)
	}
}

// shorten makes the columns of names narrower by so many columns, the longest first, so that none is lost for another.
// It returns by how many.
func (g *grid) shorten(widths []int, by int) (done int) {
	for ; done < by; done++ {
		longest := -1
		for i, w := range widths {
			if g.columns[i].limit > 0 && w > minLimited && (longest < 0 || w > widths[longest]) {
				longest = i
			}
		}
		if longest < 0 {
			break
		}
		widths[longest]--
	}
	return done
}

// maxCell bounds a cell of a table in Markdown, in characters.
const maxCell = 160

// appendMarkdown appends the grid as a table.
func (g *grid) appendMarkdown(dst []byte) []byte {
	line := func(cell func(i int, c *column) string) {
		for i := range g.columns {
			dst = fmt.Appendf(dst, "| %s ", cell(i, &g.columns[i]))
		}
		dst = append(dst, "|\n"...)
	}
	line(func(_ int, c *column) string { return c.title })
	line(func(_ int, c *column) string {
		if c.right {
			return "---:"
		}
		return "---"
	})
	for _, row := range g.rows {
		line(func(i int, c *column) string {
			if c.log && row[i] != "" {
				return cell(row[i], maxCell)
			}
			return prose(row[i])
		})
	}
	return dst
}

// style has the parameters of the escape sequence SGR for text on a terminal. Only the eight basic colors are used,
// which every theme of a terminal keeps legible. The words mean the same without colors.
type style string

const (
	plain  style = ""
	strong style = "1"
	faint  style = "2"
	alarm  style = "1;31" // what blocks, and blindness
	notice style = "33"   // advisory
	calm   style = "32"   // all is well
	name   style = "1;36" // mods
)

// styles are the styles in text of the classes that a page has; "none" has none.
var styles = map[string]style{
	"blocking": alarm, "blind": alarm, "advisory": notice, "gaps": notice, "ignore": faint, "healthy": calm,
}

// styleOf returns the style of a disposition.
func styleOf(d event.Disposition) style { return styles[d.String()] }

// cells measures and cuts text in columns of a terminal.
var cells width.Measure

// fit cuts text to so many columns; 0 means no limit.
func fit(text string, limit int) string {
	if limit <= 0 {
		return text
	}
	return cells.Truncate(text, limit, "…")
}
