package command

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
)

// The widths of texts in an explanation, in characters: enough to recognize a
// line by, while the capture itself has the rest.
const (
	widthText   = 400
	widthMasked = 120
	widthClause = 200
	maxMasked   = 12 // masked parts
)

// notKnown stands for a value that the log does not show.
const notKnown = "not known"

//go:embed explain.txt
var explainText string

// explainForm is the explanation for a person; see [prose.form].
var explainForm = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"safe":  func(s string) string { return safe(s, 0) },
		"clip":  func(s string) string { return safe(s, widthText) },
		"head":  func(s string) string { return strings.SplitN(s, "\n", 2)[0] },
		"rest":  func(s string) string { _, rest, _ := strings.Cut(s, "\n"); return rest },
		"count": func(s string) int { return len(slices.Collect(strings.Lines(s))) },

		"trim": strings.TrimSpace, "join": strings.Join, "number": text.Count[int], "lines": lineRange,
		"likely":  blame.Likely,
		"bytes":   func(n uint64) string { return text.Count(int(n), "byte") },
		"seconds": func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) },
		"shown":   func(all []masked) []masked { return all[:min(len(all), maxMasked)] },
		"hidden":  func(all []masked) int { return max(0, len(all)-maxMasked) },

		"class": className, "by": decidedBy, "places": places, "quoted": quoted, "clause": clauseText,
	}).Parse(explainText))
})

// lines writes the explanation for a person.
func (e *explanation) lines(p *prose) { p.form(explainForm(), e) }

// Fewer returns the decision about fewer entries than escalate.
func (e *explanation) Fewer() string { return cmp.Or(e.alone, className(&e.Decision)) }

// quoted returns text of a log in quotes that its own cannot be taken for.
func quoted(s string) string {
	open, end := "“", "”"
	return open + strings.NewReplacer(open, `"`, end, `"`).Replace(safe(s, widthMasked)) + end
}

// clauseText returns a clause, and the values and words by which it holds or fails.
func clauseText(c *rules.Clause) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.Reads)) {
		parts = append(parts, name+" is "+cmp.Or(safe(c.Reads[name], widthMasked), notKnown))
	}
	for _, word := range c.Words {
		parts = append(parts, "by "+quoted(word))
	}
	if c.Error != "" {
		parts = append(parts, "cannot be evaluated: "+safe(c.Error, widthClause))
	}
	text := safe(c.Text, widthClause)
	if len(parts) > 0 {
		text += "  — " + strings.Join(parts, ", ")
	}
	return text
}

func className(d *rules.Details) string {
	s := d.Disposition.String()
	if d.Disposition == event.Blocking {
		s = "BLOCKING"
	}
	return s + " " + d.Severity.String()
}

func decidedBy(d *rules.Details) string {
	switch {
	case d.Place == "":
		return "the default " + d.Rule
	case d.Escalated:
		return "rule " + d.Rule + ", escalated by repetition"
	}
	return "rule " + d.Rule
}

// places returns the place of a rule, and the place of the overridden rule.
func places(own, over string) string {
	if over == "" {
		return safe(own, 0)
	}
	return safe(own, 0) + ", which overrides " + safe(over, 0)
}
