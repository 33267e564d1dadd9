package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text/width"
	"github.com/heedlog/heed/signature"
)

// TextOptions shapes the text form of a report.
type TextOptions struct {
	// Width is the number of columns to fill, at least 20; 0 to cut and wrap
	// nothing.
	Width int

	// Color marks what matters with colors, for a terminal.
	Color bool

	// Rows is the height of the screen, 0 for none. A longer text repeats its first facts at its end, since the first ones
	// have scrolled out of sight.
	Rows int
}

// How many causes text and Markdown show before they count the others, and how many rules the text form: the first
// screen has to answer by itself.
const (
	fullCauses   = 4
	listedCauses = 12
	textWith     = 3 // rules that came with a cause
)

// labelIndent is the column at which the text after a label begins.
const labelIndent = 12

// Text appends a report as text: what deserved attention, the table of signatures,
// the accounting. A comparison is sentences and tables.
func Text[D Rendered](dst []byte, d D, o TextOptions) []byte {
	if o.Width > 0 { // in less, text cannot be read
		o.Width = max(o.Width, width.Min)
	}
	return d.appendText(dst, o)
}

func (d *Document) appendText(dst []byte, o TextOptions) []byte {
	t := textReport{Document: d, Page: Page{o, dst}}
	t.headline()
	switch {
	case d.Summary.Lines == 0:
	case d.texts != nil:
		t.sentence(Faint, "%s", t.say("The rest is for developers, in English: --lang en shows it."))
	default:
		t.causes()
		t.signatures()
		t.section(Strong, "ACCOUNTING")
		t.facts(t.Accounting())
		t.again(len(dst))
	}
	return t.Out
}

// textReport is the state of one rendering.
type textReport struct {
	*Document // nil of a comparison

	Page
}

// Page gathers text for a person, for a terminal or a file. Its texts are escaped.
type Page struct {
	Options TextOptions
	Out     []byte
}

func (p *Page) printf(format string, args ...any) { p.Out = fmt.Appendf(p.Out, format, args...) }

// Styled appends text in a style, if colors are wanted.
func (p *Page) Styled(s string, in Style) {
	if p.Options.Color && in != Plain && s != "" {
		s = "\x1b[" + string(in) + "m" + s + "\x1b[0m"
	}
	p.Out = append(p.Out, s...)
}

// wrapped appends text, wrapped and indented below itself, in a style. The style is of its lines without the spaces
// they begin with, and ends with each line, so that a pager or a cut shows none out of place.
func (p *Page) wrapped(s string, indent int, in Style) {
	for line := range bytes.Lines(cells.AppendWrapped(nil, s, p.Options.Width, indent)) {
		text := strings.TrimLeft(string(line), " ")
		p.printf("%s", line[:len(line)-len(text)])
		p.Styled(strings.TrimSuffix(text, "\n"), in)
		p.printf("\n")
	}
}

// Labeled appends a label and the text after it, wrapped.
func (p *Page) Labeled(label, s string, in Style) { p.wrapped(s, p.label(label), in) }

// labeledLine prints a line after a label, cut to the width.
func (t *textReport) labeledLine(label, line string) {
	indent := t.label(label)
	t.printf("%s\n", fit(line, t.Options.Width-indent))
}

// label prints a label and returns the column at which the text for it begins.
// Where there is little room that is the next line.
func (p *Page) label(label string) (indent int) {
	p.printf("  ")
	if p.Options.Width == 0 || p.Options.Width >= 3*labelIndent {
		p.Styled(label+strings.Repeat(" ", max(labelIndent-2-cells.StringWidth(label), 1)), Faint)
		return labelIndent
	}
	if label != "" {
		p.Styled(label, Faint)
		p.printf("\n  ")
	}
	p.printf("  ")
	return 4
}

// sentence prints one sentence, indented and wrapped.
func (t *textReport) sentence(in Style, format string, args ...any) {
	t.printf("  ")
	t.wrapped(fmt.Sprintf(format, args...), 2, in)
}

// section begins a part of the report.
func (t *textReport) section(in Style, format string, args ...any) {
	t.printf("\n")
	t.Styled(fit(fmt.Sprintf(format, args...), t.Options.Width), in)
	t.printf("\n")
}

func (t *textReport) headline() {
	s := &t.Summary
	file, about := s.File, ": "+t.about()
	if w := t.Options.Width; w > 0 {
		room := max(w-cells.StringWidth(about), min(w/2, cells.StringWidth(file)))
		file = cells.TruncateLeft(file, room, "…") // the end of a path matters most
		about = fit(about, w-cells.StringWidth(file))
	}
	t.Styled(file, Strong)
	t.printf("%s\n", about)
	if made := s.Environment.inShort(plainly, t.texts); made != nil {
		t.printf("  ")
		t.Styled(fit(strings.Join(made, ", "), max(t.Options.Width-2, 0)), Faint)
		t.printf("\n")
	}
	t.sentence(styles[states[s.Verdict.State].class], "%s", s.Verdict.lead())
	t.facts(t.glance(plainly))
}

// about returns the form and the length of the log: its family, its layout, and one of them if the other says no more.
func (d *Document) about() string {
	s := &d.Summary
	form := s.family + ", " + s.Layout
	switch {
	case s.Lines == 0 && s.Error == "" && !s.Interrupted:
		return d.say("empty, no lines")
	case strings.HasPrefix(s.Layout, s.family):
		form = s.Layout
	case s.Layout == "plain":
		form = s.family
	}
	lines, records := uint64(s.Lines), s.Records
	return form + ", " + d.one(lines, "%d line", "%d lines", lines) + ", " +
		d.one(records, "%d record", "%d records", records)
}

// facts prints facts after their labels.
func (t *textReport) facts(facts []fact) {
	for _, f := range facts {
		label := f.Label
		if f.under && label != "" {
			label = "  " + label
		}
		switch f.kind {
		case factQuote:
			t.quote(f.Says)
		case factLine:
			t.labeledLine(label, f.Says)
		default:
			t.Labeled(label, f.Says, f.in)
		}
	}
}

// quoteLines is how many lines of text the words of the log may take: loggers write so
// much before them that one may hold nothing else.
const quoteLines = 2

// quote shows the log text of a cause: the summary of a rule holds for others as well.
func (t *textReport) quote(says string) {
	const mark = "> "
	indent := t.label("") + len(mark)
	says = fit(says, quoteLines*(t.Options.Width-indent-quoteSlack))
	t.printf(mark)
	t.wrapped(says, indent, Faint)
}

// quoteSlack is how many columns of a line of a quote may stay free, since it ends with a
// word.
const quoteSlack = 6

// again repeats the glance where it has scrolled out of sight.
func (t *textReport) again(start int) {
	if t.Options.Rows == 0 || bytes.Count(t.Out[start:], []byte("\n")) < t.Options.Rows {
		return
	}
	t.section(Strong, "AT A GLANCE: %s", t.Summary.Verdict.Headline)
	t.facts(t.glance(plainly))
}

// causes shows what deserved attention, cause by cause.
func (t *textReport) causes() {
	for i := range top(t.Causes, fullCauses) {
		t.cause(&t.Causes[i], i == 0)
	}
	t.headed(t.otherCauses("ALSO"))
}

// otherCauses lists the causes that are not shown in full.
func (d *Document) otherCauses(heading string) headedGrid {
	rest := d.Causes[min(len(d.Causes), fullCauses):]
	operation := column{title: "OPERATION", limit: 40, log: true, optional: true}
	return headedGrid{heading, gridOf(top(rest, listedCauses), 32, []columnOf[Cause]{
		{column{title: "LINE", right: true}, func(c *Cause) string { return number(c.First) }},
		{column{title: "DISPOSITION", style: dispositionStyle}, func(c *Cause) string { return c.Disposition.String() }},
		{column{title: "ITEMS", right: true}, func(c *Cause) string { return number(c.Items) }},
		{column{title: "ENTRIES", right: true}, func(c *Cause) string { return number(c.Entries) }},
		{column{title: "RULE", limit: 40, log: true}, func(c *Cause) string { return c.Rule }},
		blameColumn(func(c *Cause) []string { return c.Blame }),
		{operation, func(c *Cause) string { return strings.TrimSpace(c.origin.word + " " + c.origin.name) }},
		{column{title: "WHAT"}, func(c *Cause) string { return c.what + c.changed + c.repetition() }},
	}), moreRows(len(rest)-listedCauses, "… and %d more (--format json shows all)")}
}

// moreRows returns in words how many rows are not shown, "" for none.
func moreRows(more int, format string) string {
	if more <= 0 {
		return ""
	}
	return fmt.Sprintf(format, more)
}

// headed prints a table that has rows.
func (t *textReport) headed(h headedGrid) {
	if len(h.grid.rows) == 0 {
		return
	}
	t.section(Strong, "%s", h.heading)
	t.grid(h.grid)
	if h.left != "" {
		t.sentence(Plain, "%s", h.left)
	}
}

// cause shows one cause in full.
func (t *textReport) cause(c *Cause, first bool) {
	t.section(styleOf(c.Disposition)+";1", "%s %s, first at line %d", strings.ToUpper(c.Disposition.String()),
		c.Severity, c.First)
	t.facts(c.facts(plainly, textWith, first))
	label := "sample"
	for _, s := range c.Samples {
		t.labeledLine(label, sampled(&s, s.Message))
		label = ""
	}
}

// signatures prints the table of signatures, a section per disposition.
func (t *textReport) signatures() {
	t.section(Strong, "SIGNATURES by disposition")
	t.explainSignatures()
	for _, d := range dispositions {
		table, rows := t.table(d), t.rows(d)
		if table.Entries == 0 {
			continue
		}
		t.printf("\n")
		heading := t.groupsHeading(d, len(rows))
		if len(rows) < table.Rows {
			heading += " (--top 0 shows all)"
		}
		t.sentence(styleOf(d), "%s", heading)
		t.grid(signatureGrid(rows))
	}
}

// explainSignatures explains signatures, groups and masks.
func (t *textReport) explainSignatures() {
	if len(t.Signatures) == 0 {
		return
	}
	text := "A signature is the text of an entry"
	if slices.ContainsFunc(t.Signatures, func(r Row) bool { return strings.Contains(r.Template, signature.Mask) }) {
		text += ", with " + signature.Mask + " where it varies"
	}
	t.sentence(Faint, "%s.", text)
	t.sentence(Faint, "Signatures that one log statement wrote form a group; FORMS counts them.")
	if slices.ContainsFunc(t.Signatures, func(r Row) bool { return len(r.Variants) > 0 }) {
		t.sentence(Faint, "What entries of a group decide differently, such as a code, stands in brackets, with counts.")
	}
}

// signatureGrid lays rows out.
func signatureGrid(rows []Row) *grid {
	return gridOf(rows, 60, []columnOf[Row]{
		{column{title: "COUNT", right: true, style: only(Strong)}, func(r *Row) string { return number(r.Count) }},
		{column{title: "FIRST", right: true}, func(r *Row) string { return number(r.First) }},
		{column{title: "LAST", right: true}, func(r *Row) string { return number(r.Last) }},
		{column{title: "FORMS", right: true}, func(r *Row) string { return number(r.Forms) }},
		{column{title: "SIGNATURE", style: only(Faint), log: true}, func(r *Row) string { return r.Signature.String() }},
		{column{title: "RULE", limit: 40, log: true}, func(r *Row) string { return r.Rule }},
		blameColumn(func(r *Row) []string { return r.Blame }),
		{column{title: "TEMPLATE", log: true}, func(r *Row) string { return r.varied(oneLine(r.Template)) }},
	})
}

// blameColumn shows the mods that rows name, if any does.
func blameColumn[R any](of func(*R) []string) columnOf[R] {
	c := column{title: "BLAME", limit: 24, style: only(Name), log: true, optional: true}
	return columnOf[R]{c, func(r *R) string { return blamed(of(r)) }}
}

// column is one column of a [grid].
type column struct {
	title string
	right bool // align to the right
	limit int  // columns at most, 0 for no limit
	log   bool // text of a log or of a rule: in Markdown it is code
	omit  bool
	// optional leaves the column out if no row has a value.
	optional bool

	style func(cell string) Style // nil: plain
}

// only returns a style for any cell.
func only(s Style) func(string) Style { return func(string) Style { return s } }

// dispositionStyle is the style of a cell that begins with a disposition.
func dispositionStyle(cell string) Style {
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
	last, width := len(g.columns)-1, t.Options.Width
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
			in := Plain
			if f := g.columns[i].style; title {
				in = Faint
			} else if f != nil {
				in = f(row[i])
			}
			text = fit(text, left)
			t.printf("%*s", blank, "")
			t.Styled(text, in)
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

// Style has the parameters of the escape sequence SGR for text on a terminal. Only the eight basic colors are used,
// which every theme of a terminal keeps legible. The words mean the same without colors.
type Style string

// The styles.
const (
	Plain  Style = ""
	Strong Style = "1"
	Faint  Style = "2"
	Alarm  Style = "1;31" // what blocks, and blindness
	Notice Style = "33"   // advisory
	Calm   Style = "32"   // all is well
	Name   Style = "1;36" // mods
)

// styles are the styles in text of the classes that a page has; "none" has none.
var styles = map[string]Style{
	"blocking": Alarm, "blind": Alarm, "advisory": Notice, "gaps": Notice, "ignore": Faint, "healthy": Calm,
}

// styleOf returns the style of a disposition.
func styleOf(d event.Disposition) Style { return styles[d.String()] }

// cells measures and cuts text in columns of a terminal.
var cells width.Measure

// fit cuts text to so many columns; 0 means no limit.
func fit(text string, limit int) string {
	if limit <= 0 {
		return text
	}
	return cells.Truncate(text, limit, "…")
}
