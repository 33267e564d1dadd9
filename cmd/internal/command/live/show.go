package live

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/width"
)

// style is the escape sequence that begins a part of a line if there are colors.
type style string

// The styles, as classify-replay has them.
const (
	plain  style = ""
	strong style = "\x1b[1m"
	faint  style = "\x1b[2m"
	red    style = "\x1b[1;31m"
	yellow style = "\x1b[33m"
	green  style = "\x1b[32m"
	name   style = "\x1b[36m"

	styleEnd = "\x1b[0m"
)

// span is a part of a line. Its text may be untrusted.
type span struct {
	style style
	text  string
}

// page gathers output for a person.
type page struct {
	buf   []byte
	width int // columns; 0: lines are not cut
	color bool
}

// cells measures output.
var cells width.Measure

// page returns an empty one, as wide as was asked for or as the terminal is.
func (p *program) page(columns int) *page {
	if columns == 0 {
		columns, _ = cli.Size(p.Stdout)
	}
	return &page{width: columns, color: p.Color}
}

// line adds a line, cut if it is too wide. Its texts are made harmless.
func (g *page) line(spans ...span) {
	left := g.width
	for _, s := range spans {
		text := text.Safe(s.text, 0)
		if g.width > 0 {
			text = cells.Truncate(text, left, "…")
			left -= cells.StringWidth(text)
		}
		g.put(s.style, text)
		if g.width > 0 && left <= 0 {
			break
		}
	}
	g.buf = append(g.buf, '\n')
}

// put adds harmless text.
func (g *page) put(s style, text string) {
	if g.color && s != plain && text != "" {
		text = string(s) + text + styleEnd
	}
	g.buf = append(g.buf, text...)
}

// labelColumn is how wide the column of labels is, with its indentation.
const labelColumn = 12

// about adds a label and its value, over as many lines as it takes; nothing for an empty value.
func (g *page) about(label string, s style, value string) {
	if value == "" {
		return
	}
	room := 0
	if g.width > 0 {
		room = max(g.width-labelColumn, width.Min)
	}
	for line := range bytes.Lines(cells.AppendHanging(nil, "", text.Safe(value, 0), room)) {
		g.put(faint, fmt.Sprintf("  %-*s", labelColumn-2, label))
		g.put(s, strings.TrimRight(string(line), " \n"))
		g.buf = append(g.buf, '\n')
		label = ""
	}
}

// inPlace makes the page take the place of the one before on a terminal of so many rows: it begins at the top, and
// overwrites the old one. The last row is the cursor's.
func (g *page) inPlace(rows int) {
	lines := bytes.SplitAfter(g.buf, []byte("\n"))
	out := []byte("\x1b[H")
	for _, line := range lines[:min(len(lines), rows-1)] {
		if text, ended := bytes.CutSuffix(line, []byte("\n")); ended {
			out = append(append(out, text...), "\x1b[K\n"...)
		}
	}
	g.buf = append(out, "\x1b[J"...)
}

// write prints the page.
func (p *program) write(g *page) error { return p.print(g.buf) }

// print writes to standard output; its error has an exit status.
func (p *program) print(data []byte) error { return p.Print("", data) }

// clock is a time of today, or with its date.
func (p *program) clock(t time.Time) string {
	t = t.Local()
	if now := p.Now(); now.Sub(t) > 12*time.Hour {
		return t.Format(time.DateTime)
	}
	return t.Format(time.TimeOnly)
}

// ago is how long a time lies back, for a person.
func (p *program) ago(t time.Time) string { return lasted(p.Now().Sub(t)) + " ago" }

// lasted is a duration for a person: in its two largest units.
func lasted(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Second:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}
