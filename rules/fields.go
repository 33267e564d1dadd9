package rules

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/event"
)

// ruleField is a key of a rule, with all that the language has to know of it. What says
// only that a rule overrides another, and which, is nothing to compare or to take over.
type ruleField struct {
	name  string
	parse func(d *ruleDecl, p at, n *yaml.Node, errs *collector)
	same  func(d, base *ruleDecl) bool // whether d, which overrides base, changes nothing by giving it
	take  func(d, base *ruleDecl)      // takes it over from base, where d does not give it
}

// ruleTable has the fields of rules, in the order in which they are listed to people.
var ruleTable = []ruleField{
	{name: "id", parse: parseID},
	field("when", func(d *ruleDecl) *exprText { return &d.when }, expression, func(x, y exprText) bool { return x.text == y.text }),
	field("exceptions", func(d *ruleDecl) *[]exceptionDecl { return &d.exceptions }, parseExceptions, sameExceptions),
	field("disposition", func(d *ruleDecl) *event.Disposition { return &d.rule.Disposition }, parseDisposition, equal),
	{
		"severity", func(d *ruleDecl, p at, n *yaml.Node, errs *collector) {
			s, _ := oneOf(p, n, severities, errs)
			d.rule.Severity, d.rule.HasSeverity = event.ParseSeverity(s)
		},
		func(d, b *ruleDecl) bool {
			return d.rule.Severity == b.rule.Severity && d.rule.HasSeverity == b.rule.HasSeverity
		},
		func(d, b *ruleDecl) { d.rule.Severity, d.rule.HasSeverity = b.rule.Severity, b.rule.HasSeverity },
	},
	field("invalidates", func(d *ruleDecl) *bool { return &d.rule.Invalidates }, parseBool, equal),
	{
		"escalate", func(d *ruleDecl, p at, n *yaml.Node, errs *collector) {
			d.rule.Escalate, d.escalateTo = parseEscalate(p, n, errs)
		},
		func(d, b *ruleDecl) bool {
			return d.rule.Escalate != nil && b.rule.Escalate != nil && *d.rule.Escalate == *b.rule.Escalate
		},
		func(d, b *ruleDecl) { d.rule.Escalate, d.escalateTo = b.rule.Escalate, b.escalateTo },
	},
	field("summary", func(d *ruleDecl) *string { return &d.rule.Summary }, parseSummary, equal),
	field("why", func(d *ruleDecl) *string { return &d.rule.Why }, parseText, equal),
	field("sets_phase", func(d *ruleDecl) *string { return &d.rule.SetsPhase }, parsePhase, equal),
	field("blinds", func(d *ruleDecl) *bool { return &d.rule.Blinds }, parseBool, equal),
	field("resolves", func(d *ruleDecl) *[]word { return &d.resolves }, words, sameWords),
	field("tags", func(d *ruleDecl) *[]string { return &d.rule.Tags }, parseTags, slices.Equal),
	field("continue", func(d *ruleDecl) *bool { return &d.rule.Continue }, parseBool, equal),
	field("enabled", func(d *ruleDecl) *bool { return &d.rule.Disabled }, parseDisabled, equal),
	{name: "override", parse: func(d *ruleDecl, p at, n *yaml.Node, errs *collector) { d.override = parseBool(p, n, errs) }},
	field("tests", func(d *ruleDecl) *[]testDecl { return &d.tests }, parseTests, func(_, _ []testDecl) bool { return false }), // of its own condition
}

var ruleFields = func() (names []string) {
	for _, f := range ruleTable {
		names = append(names, f.name)
	}
	return names
}()

// field is a field that is one value of a rule.
func field[T any](name string, of func(*ruleDecl) *T, parse func(at, *yaml.Node, *collector) T, same func(x, y T) bool) ruleField {
	return ruleField{
		name:  name,
		parse: func(d *ruleDecl, p at, n *yaml.Node, errs *collector) { *of(d) = parse(p, n, errs) },
		same:  func(d, base *ruleDecl) bool { return same(*of(d), *of(base)) },
		take:  func(d, base *ruleDecl) { *of(d) = *of(base) },
	}
}

func equal[T comparable](x, y T) bool { return x == y }

func sameExceptions(x, y []exceptionDecl) bool {
	return slices.EqualFunc(x, y, func(x, y exceptionDecl) bool { return x.name == y.name && x.when.text == y.when.text })
}

func sameWords(x, y []word) bool {
	return slices.EqualFunc(x, y, func(x, y word) bool { return x.text == y.text })
}

func parseID(d *ruleDecl, p at, n *yaml.Node, errs *collector) {
	d.idAt = p.here(n)
	s, ok := text(p, n, errs)
	switch {
	case !ok:
	case !validID(s):
		errs.addf(d.idAt, "", "%s is not an id: lower-case letters, digits, '.', '_' and '-', at most %d", quote(s), maxID)
	case strings.HasPrefix(s, "default."):
		errs.add(d.idAt, `ids beginning with "default." name the defaults`, "use another first word")
	default:
		d.rule.ID = s
	}
}

func parseDisposition(p at, n *yaml.Node, errs *collector) event.Disposition {
	s, _ := oneOf(p, n, dispositions, errs)
	d, _ := event.ParseDisposition(s)
	return d
}

func parseBool(p at, n *yaml.Node, errs *collector) bool {
	v, _ := boolean(p, n, errs)
	return v
}

func parseDisabled(p at, n *yaml.Node, errs *collector) bool {
	on, ok := boolean(p, n, errs)
	return ok && !on
}

func parseText(p at, n *yaml.Node, errs *collector) string {
	s, _ := text(p, n, errs)
	return s
}

func parseSummary(p at, n *yaml.Node, errs *collector) string {
	s, ok := text(p, n, errs)
	if ok && (s == "" || len(s) > maxSummary || clean(s) != s) {
		errs.addf(p.here(n), "", "must be one line of 1 to %d bytes without control characters", maxSummary)
	}
	return s
}

func parsePhase(p at, n *yaml.Node, errs *collector) string {
	s, ok := text(p, n, errs)
	if ok && !validName(s) {
		errs.addf(p.here(n), `such as "load" or "play"`, "%s is not a phase: lower-case letters, digits, '.', '_' and '-', at most %d", quote(s), maxName)
	}
	return s
}

func parseTests(p at, n *yaml.Node, errs *collector) (tests []testDecl) {
	for i, item := range items(p, n, errs) {
		if t, ok := parseTest(p.item(i), item, errs); ok {
			tests = append(tests, t)
		}
	}
	return tests
}
