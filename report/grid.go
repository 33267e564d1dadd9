package report

import (
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
)

// column is one column of a [grid].
type column struct {
	title string
	right bool // align to the right
	limit int  // columns at most, 0 for no limit

	style func(cell string) style // nil: plain
}

// only returns a style for whatever a cell holds.
func only(s style) func(string) style { return func(string) style { return s } }

// dispositionStyle is the style of a cell that begins with a disposition.
func dispositionStyle(cell string) style {
	word, _, _ := strings.Cut(cell, " ")
	if d, ok := event.Parse[event.Disposition](word); ok {
		return styleOf(d)
	}
	return plain
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

	color bool
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

// minLimited is the narrowest that a column with a limit gets where there is
// little room.
const minLimited = 8

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
	// Names are shortened where the columns alone are too wide, the longest first, so
	// that none is lost for another.
	for width > 0 && used > width {
		longest := -1
		for i, c := range g.columns[:last] {
			if c.limit > 0 && widths[i] > minLimited && (longest < 0 || widths[i] > widths[longest]) {
				longest = i
			}
		}
		if longest < 0 {
			break
		}
		widths[longest]--
		used--
	}
	below := width > 0 && width-used < g.minLast && slices.ContainsFunc(g.rows, func(row []string) bool {
		return cells.StringWidth(row[last]) > width-used
	})
	line := func(row []string, title, below bool) {
		l := gridLine{dst: dst, room: width, color: g.color}
		style := func(i int) style {
			switch f := g.columns[i].style; {
			case title:
				return faint
			case f != nil:
				return f(row[i])
			}
			return plain
		}
		l.skip(gap)
		for i, w := range widths {
			cell := row[i]
			if g.columns[i].limit > 0 {
				cell = fit(cell, w)
			}
			pad := max(0, w-cells.StringWidth(cell))
			if g.columns[i].right {
				l.skip(pad)
				pad = 0
			}
			l.put(cell, style(i))
			l.skip(pad + gap)
		}
		if below && row[last] != "" {
			l.end()
			l.skip(3 * gap)
		}
		l.put(strings.TrimRight(row[last], " "), style(last))
		dst = l.end()
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
	return dst
}

// gridLine lays out one line: without spaces at its end, and cut where the
// columns alone are wider than there is room.
type gridLine struct {
	dst   []byte
	room  int // columns, 0 for any number
	used  int // columns
	gap   int // spaces that come before the next text
	color bool
}

func (l *gridLine) skip(columns int) { l.gap += columns }

func (l *gridLine) put(text string, s style) {
	if text == "" {
		return
	}
	if l.room > 0 {
		left := l.room - l.used - l.gap
		if left <= 0 {
			return
		}
		text = fit(text, left)
	}
	l.dst = append(l.dst, strings.Repeat(" ", l.gap)...)
	l.used += l.gap + cells.StringWidth(text)
	l.gap = 0
	if !l.color {
		s = plain
	}
	l.dst = appendStyled(l.dst, text, s)
}

// end ends the line; another may follow.
func (l *gridLine) end() []byte {
	l.dst = append(l.dst, '\n')
	l.used, l.gap = 0, 0
	return l.dst
}
