package report

import (
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// cells measures text in columns of a terminal. It does not follow the locale,
// as the package's default would: the same replay gives the same bytes
// everywhere.
var cells = &runewidth.Condition{EastAsianWidth: false, StrictEmojiNeutral: true}

// column is one column of a [grid].
type column struct {
	title string
	right bool // align to the right
	limit int  // columns at most, 0 for no limit
}

// grid lays rows out in aligned columns. The last column takes what is left of
// the width.
type grid struct {
	columns []column
	rows    [][]string

	// minLast is the narrowest last column that is worth having. Where less is
	// left and a row does not fit into it, that column goes to lines of its own,
	// each below its row.
	minLast int
}

func (g *grid) add(row ...string) {
	if len(row) != len(g.columns) {
		panic("BUG: report: a row does not fit its columns")
	}
	for i := range row[:len(row)-1] {
		row[i] = fit(row[i], g.columns[i].limit)
	}
	g.rows = append(g.rows, row)
}

// appendTo lays the grid out. A width of zero means that lines are not cut.
func (g *grid) appendTo(dst []byte, width int) []byte {
	const gap = 2
	last := len(g.columns) - 1
	widths := make([]int, last)
	used := gap // the left margin
	for i := range widths {
		widths[i] = cells.StringWidth(g.columns[i].title)
		for _, row := range g.rows {
			widths[i] = max(widths[i], cells.StringWidth(row[i]))
		}
		used += widths[i] + gap
	}
	below := width > 0 && width-used < g.minLast && slices.ContainsFunc(g.rows, func(row []string) bool {
		return cells.StringWidth(row[last]) > width-used
	})
	line := func(row []string, below bool) {
		start, indent := len(dst), used
		dst = append(dst, "  "...)
		for i, w := range widths {
			pad := strings.Repeat(" ", max(0, w-cells.StringWidth(row[i])))
			if g.columns[i].right {
				dst = append(append(dst, pad...), row[i]...)
			} else {
				dst = append(append(dst, row[i]...), pad...)
			}
			dst = append(dst, "  "...)
		}
		if below {
			dst = endLine(dst, start, width)
			start, indent = len(dst), 3*gap
			dst = append(dst, strings.Repeat(" ", indent)...)
		}
		text := row[last]
		if width > 0 && text != "" {
			text = fit(text, max(1, width-indent))
		}
		dst = endLine(append(dst, text...), start, width)
	}
	titles := make([]string, len(g.columns))
	for i, c := range g.columns {
		titles[i] = c.title
	}
	if below {
		titles[last] = ""
	}
	line(titles, false)
	for _, row := range g.rows {
		line(row, below)
	}
	return dst
}

// endLine ends the line that begins at start: without spaces at its end, and
// cut where the columns alone are wider than there is room.
func endLine(dst []byte, start, width int) []byte {
	line := strings.TrimRight(string(dst[start:]), " ")
	return append(append(dst[:start], fit(line, width)...), '\n')
}

// fit cuts text to so many columns; 0 means no limit.
func fit(text string, limit int) string {
	if limit <= 0 {
		return text
	}
	return cells.Truncate(text, limit, "…")
}

// appendWrapped appends text broken at spaces to lines of at most width
// columns, the first after indent columns that are there already, the others
// after as many spaces. A width of zero means one line.
func appendWrapped(dst []byte, text string, width, indent int) []byte {
	at := indent
	for i, word := range strings.Fields(text) {
		w := cells.StringWidth(word)
		switch {
		case i == 0:
		case width > 0 && at+1+w > width:
			dst = append(dst, '\n')
			dst = append(dst, strings.Repeat(" ", indent)...)
			at = indent
		default:
			dst = append(dst, ' ')
			at++
		}
		dst = append(dst, word...)
		at += w
	}
	return append(dst, '\n')
}
