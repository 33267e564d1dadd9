package report

import (
	"embed"
	"encoding/xml"
	"strings"
	"sync"
	"text/template"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// suite is the suite of a log: two cases about the log itself, and a case for each problem.
type suite struct {
	*checkedLog
	Cases                            []*found
	Tests, Failures, Errors, Skipped int
}

var junitForm = form("junit.xml", template.FuncMap{
	"blamed": blamed, "safe": safe,
	"lines": func(s string) []string { return strings.Split(s, "\n") },
	"xml": func(s string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(s))                    // which a builder never refuses
		return strings.ReplaceAll(b.String(), "&#xA;", "\n") // only texts have line feeds, and no attributes
	},
})

// JUnit appends reports as JUnit's XML, for servers of continuous integration: a test suite for each, with a
// test case per problem, which is what one rule decided, with its groups in the text: failed where it blocks and
// skipped, with its text as output, where it is advisory. Two more cases are about the log itself: "read to its end"
// is in error if it was not, and failed if there was nothing to read; "complete" is skipped if the log went blind.
//
// The names of cases stay the same: they hold disposition, rule and summary, and neither text of the log, counts nor
// lines.
func JUnit[D Rendered](dst []byte, docs ...D) []byte {
	var suites []suite
	for _, d := range docs {
		c := d.checked()
		for i := range c.logs {
			suites = append(suites, suiteOf(&c.logs[i], c.found))
		}
	}
	return append(dst, text.Rendered(junitForm(), suites)...)
}

// suiteOf returns the suite of a log, with the problems that are in it.
func suiteOf(l *checkedLog, problems []found) suite {
	s := suite{checkedLog: l, Tests: 2}
	switch {
	case l.Unread != "":
		s.Errors++
	case l.Silence != "":
		s.Failures++
	}
	if l.Lacks != "" {
		s.Skipped++
	}
	for i := range problems {
		p := &problems[i]
		switch {
		case p.File != l.File:
			continue
		case p.Fails():
			s.Failures++
		default:
			s.Skipped++
		}
		s.Tests++
		s.Cases = append(s.Cases, p)
	}
	return s
}

// Fails reports whether the case of a problem fails.
func (p *found) Fails() bool {
	return !p.passes && (p.Disposition == event.Blocking || p.reasons != nil)
}

// forms are the templates of the forms that are text.
//
//go:embed forms
var forms embed.FS

// form returns the template of a form, which is parsed when it is first used.
func form(name string, funcs template.FuncMap) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		return template.Must(template.New(name).Funcs(funcs).ParseFS(forms, "forms/"+name))
	})
}
