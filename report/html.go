package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the parts of the page
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// The parts of the page. The files in html/uplot are those of the chart library
// uPlot as it is published.
var (
	//go:embed html/page.html
	pageTemplate string
	//go:embed html/page.css
	pageStyle string
	//go:embed html/page.js
	pageScript string
	//go:embed html/uplot/uPlot.iife.min.js
	chartScript string
	//go:embed html/uplot/uPlot.min.css
	chartStyle string
	// chartLicense asks to be in every copy, and a page is one.
	//go:embed html/uplot/LICENSE
	chartLicense string
)

// MaxPage is the size in bytes that a page does not exceed, unless it shows hundreds of
// logs. Where it would, it shows fewer rows, and says how many are left out.
const MaxPage = 5_000_000

// Page is a report on some logs as one HTML file: complete in itself, readable
// without scripts, and without a way out, since its Content-Security-Policy allows
// nothing but its own style and script. What logs say is text in it and nothing
// else.
//
// A Page is for one goroutine. It does not hold on to the replays.
type Page struct {
	logs     int // that share the room
	sections []*section
}

// NewPage returns a page that shows no log yet, and has room for the given number
// of them.
func NewPage(logs int) *Page {
	return &Page{logs: max(logs, 1)}
}

// Add adds a section about a log whose replay has ended. The replay must have
// been made with [Config.Details].
func (p *Page) Add(r *Replay) {
	p.sections = append(p.sections, newSection(r, p.logs, len(p.sections)+1))
}

// Len returns how many logs the page shows.
func (p *Page) Len() int { return len(p.sections) }

// Append appends the page to dst.
func (p *Page) Append(dst []byte) []byte {
	for {
		page := p.render()
		if len(page) <= MaxPage || !p.shrink() {
			return append(dst, page...)
		}
	}
}

// shrink leaves out half of what sections show, and reports whether there was
// anything to leave out.
func (p *Page) shrink() bool {
	less := false
	for _, s := range p.sections {
		less = s.shrink() || less
	}
	return less
}

func (p *Page) render() []byte {
	style := chartStyle + "\n" + pageStyle
	script := "/*!\n" + chartLicense + "*/\n" + chartScript + "\n" + pageScript
	data := make([]chartData, 0, len(p.sections))
	for _, s := range p.sections {
		data = append(data, s.chart)
		s.link()
	}
	title := "heed report"
	if len(p.sections) == 1 {
		title = p.sections[0].Verdict.Title + " · " + p.sections[0].Base
	}
	// A template of html/template escapes by the place where a value stands. The
	// only values that it takes as they are, are files of this package.
	var out bytes.Buffer
	err := template.Must(template.New("page").Funcs(template.FuncMap{"many": many}).Parse(pageTemplate)).Execute(&out, struct {
		Title, Policy string
		Style         template.CSS
		Script        template.JS
		Data          []chartData
		Sections      []*section
		Scrubbed      bool
		Several       bool
	}{
		Title:    title,
		Policy:   fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'", hash(script), hash(style)),
		Style:    template.CSS(style),
		Script:   template.JS(script),
		Data:     data,
		Sections: p.sections,
		Scrubbed: !slices.ContainsFunc(p.sections, func(s *section) bool { return !s.scrubbed }),
		Several:  len(p.sections) > 1,
	})
	if err != nil {
		panic("BUG: report: " + err.Error())
	}
	return out.Bytes()
}

// hash returns the source expression of a Content-Security-Policy that allows what
// stands in an element and nothing else.
func hash(content string) string {
	sum := sha256.Sum256([]byte(strings.ReplaceAll(content, "\r\n", "\n")))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
