package live

import (
	"bytes"
	_ "embed"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/width"
)

// span is a part of a line. Its text may be untrusted.
type span struct {
	style report.Style
	text  string
}

// page gathers output for a person.
type page struct{ report.Page }

// cells measures output.
var cells width.Measure

// page returns an empty one, as wide as was asked for or as the terminal is.
func (p *program) page(columns int) *page {
	if columns == 0 {
		columns, _ = cli.Size(p.Stdout)
	}
	return &page{report.Page{Options: report.TextOptions{Width: columns, Color: p.Color}}}
}

// line adds a line, cut if it is too wide. Its texts are made harmless.
func (g *page) line(spans ...span) {
	left := g.Options.Width
	for _, s := range spans {
		text := text.Safe(s.text, 0)
		if g.Options.Width > 0 {
			text = cells.Truncate(text, left, "…")
			left -= cells.StringWidth(text)
		}
		g.Styled(text, s.style)
		if g.Options.Width > 0 && left <= 0 {
			break
		}
	}
	g.Out = append(g.Out, '\n')
}

//go:embed pages.txt
var pages string

// mark surrounds a style and the end of its text, in the text of a template. No harmless text has it.
const mark = "\x00"

// styled returns values with a style, harmless, as the text of a template.
func styled(s report.Style, values ...any) string {
	var b strings.Builder
	for _, v := range values {
		_, _ = fmt.Fprint(&b, v)
	}
	said := text.Safe(b.String(), 0)
	if s == report.Plain || said == "" {
		return said
	}
	return mark + string(s) + mark + said + mark
}

// pageForms are the pages in pages.txt. Each text of a log or a game goes through a style there.
var pageForms = sync.OnceValue(func() *template.Template {
	as := func(s report.Style) any { return func(values ...any) string { return styled(s, values...) } }
	never := func(time.Time) string { return "" } // each program has its own
	return template.Must(template.New("").Funcs(template.FuncMap{
		"plain": as(report.Plain), "strong": as(report.Strong), "faint": as(report.Faint), "red": as(report.Alarm),
		"yellow": as(report.Notice), "green": as(report.Calm), "name": as(report.Name),
		"blank":  func() string { return mark },
		"many":   func(n any, noun string, plural ...string) string { return text.Many(whole(n), noun, plural...) },
		"number": func(n any) string { return text.Number(whole(n)) },
		"item":   way.Number, "join": func(names []string) string { return strings.Join(names, ", ") },
		"clock": never, "ago": never, "now": time.Now, "lasted": lasted, "date": date, "rate": rate, "game": gameName,
		"pad":     func(s string, to int) string { return strings.Repeat(" ", max(0, to-len(s))) },
		"bytes":   func(n any) string { return cli.Bytes(float64(whole(n))) },
		"percent": func(share float64) float64 { return 100 * share },
	}).Parse(pages))
})

// form adds the page of a title. A line of it without text is left out, and so is a label without a value.
func (p *program) form(g *page, title string, data any) {
	t := template.Must(pageForms().Clone()).Funcs(template.FuncMap{"clock": p.clock, "ago": p.ago, "now": p.Now})
	for line := range strings.SplitSeq(string(text.Rendered(t.Lookup(title), data)), "\n") {
		label, value, hasLabel := strings.Cut(line, "\t")
		switch parts := spans(value); {
		case line == mark:
			g.line()
		case hasLabel && len(parts) == 1 && parts[0].text != "":
			g.Labeled(strings.TrimSpace(label), text.Safe(parts[0].text, 0), parts[0].style)
		case !hasLabel && line != "":
			g.line(spans(line)...)
		}
	}
}

// whole returns a whole number of any type, 0 for a negative one.
func whole(n any) uint64 {
	v := reflect.ValueOf(n)
	if v.CanUint() {
		return v.Uint()
	}
	return uint64(max(0, v.Int()))
}

// spans returns the parts of a line.
func spans(line string) (parts []span) {
	for i, text := range strings.Split(line, mark) { // plain, a style, its text, plain
		switch {
		case i%3 == 1:
			parts = append(parts, span{style: report.Style(text)})
		case i%3 == 2:
			parts[len(parts)-1].text = text
		case text != "":
			parts = append(parts, span{report.Plain, text})
		}
	}
	return parts
}

// inPlace makes the page take the place of the one before on a terminal of so many rows: it begins at the top, and
// overwrites the old one. The last row is the cursor's.
func (g *page) inPlace(rows int) {
	lines := bytes.SplitAfter(g.Out, []byte("\n"))
	out := []byte("\x1b[H")
	for _, line := range lines[:min(len(lines), rows-1)] {
		if text, ended := bytes.CutSuffix(line, []byte("\n")); ended {
			out = append(append(out, text...), "\x1b[K\n"...)
		}
	}
	g.Out = append(out, "\x1b[J"...)
}

// printForm prints the page of a title, as wide as was asked for.
func (p *program) printForm(columns int, title string, data any) error {
	g := p.page(columns)
	p.form(g, title, data)
	return p.print(g.Out)
}

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
