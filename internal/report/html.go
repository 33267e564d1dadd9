package report

import (
	"crypto/sha256"
	_ "embed" // for the parts of the page
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"
)

// The parts of the page.
var (
	//go:embed html/page.html
	pageTemplate string
	//go:embed html/page.css
	pageStyle string
	//go:embed html/page.js
	pageScript string
)

// maxPage is the size in bytes that a page does not exceed, unless it shows hundreds of logs. Where it would,
// it shows fewer rows, and reports how many are left out.
const maxPage = 5_000_000

// HTML appends reports as one HTML file: complete in itself, readable without scripts, and without a way out,
// since its Content-Security-Policy allows nothing but its own style and script. What logs hold is text in it
// and nothing else. The replays must have been made with [Config.Details]; the logs share the page's room.
func HTML(dst []byte, docs ...*Document) []byte {
	for halvings := 0; ; halvings++ {
		var sections []*section
		left := 0
		for i, d := range docs {
			s := newSection(d, len(docs), i+1, halvings)
			sections = append(sections, s)
			left += len(s.Groups) + len(s.Excerpts) + len(s.Mods)
		}
		if p := onePage(sections); len(p) <= maxPage || left == 0 {
			return append(dst, p...)
		}
	}
}

var parsedPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(pageFuncs).Parse(pageTemplate))
})

func onePage(sections []*section) []byte {
	title := "heed report"
	if len(sections) == 1 {
		v := sections[0].Summary.Verdict
		title = v.Title() + " · " + sections[0].Base()
	}
	// html/template escapes a value by its place. Files of this package are the only values that it does not escape.
	script, style := PageSources()
	return render(parsedPage(), map[string]any{
		"Title": title, "Lang": sections[0].say("en"),
		"Policy": fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; base-uri 'none'; form-action 'none'",
			script, style),
		"Style":    template.CSS(pageStyle),
		"Script":   template.JS(pageScript),
		"Sections": sections,
		"Scrubbed": !slices.ContainsFunc(sections, func(s *section) bool { return !s.scrubbed }),
		"Several":  len(sections) > 1,
	})
}

// PageSources returns the source expressions by which a Content-Security-Policy allows the script and the style of a
// page.
func PageSources() (script, style string) {
	hash := func(content string) string {
		sum := sha256.Sum256([]byte(strings.ReplaceAll(content, "\r\n", "\n")))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return hash(pageScript), hash(pageStyle)
}
