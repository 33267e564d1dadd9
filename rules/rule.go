package rules

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/yamlfile"
)

type ruleDecl struct {
	src        *source
	home       *source // of the rule that this one overrides, src otherwise
	at         at
	given      map[string]*entry // the fields that were given
	rule       Rule              // but for what linking adds
	idAt       at
	override   bool
	overridden *ruleDecl // the rule that overrides this one, if any
	when       exprText
	exceptions []exceptionDecl
	escalateTo at
	resolves   []word
	explained  []word // by the problems of these rules
	advice     string // as written
	tests      []testDecl
	until      string // the last day, such as 2026-01-31; "" for none
}

type exceptionDecl struct {
	name string
	when exprText
}

func parseRule(src *source, n *yaml.Node, errs *collector) *ruleDecl {
	p := at{src: src, line: n.Line, col: n.Column}
	p.rule = ruleID(n)
	d := &ruleDecl{src: src, home: src, at: p}
	r := &d.rule
	r.File, r.Line, r.Column, r.Place = src.name, n.Line, n.Column, fmt.Sprintf("%s:%d", src.name, n.Line)
	d.given = ruleFields.read(d, p, n, errs)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	return d
}

// check reports fields that are missing or do not go together. A rule that
// overrides another has taken over the other's fields by then.
func (d *ruleDecl) check(errs *collector) {
	r := &d.rule
	if d.given["when"] == nil {
		errs.add(d.at.under("when"), "is missing", idAndWhen)
	}
	decides := d.given["disposition"] != nil
	switch {
	case r.Continue:
		for _, f := range decidingFields {
			switch e := d.given[f]; {
			case e == nil:
			case e.at.src == d.src:
				errs.add(e.at, "a rule with continue only adds tags and advice, and sets the phase", "remove the field, or remove continue")
			default:
				errs.addf(d.given["continue"].at, "turn that rule off with enabled: false, and write one with another id",
					"a rule with continue only adds tags and advice, and sets the phase; the rule that this one overrides gives a %s at %s:%d",
					f, yamlfile.Clean(e.at.src.name), e.at.line)
			}
		}
		if d.given["tags"] == nil && r.SetsPhase == "" && d.advice == "" {
			errs.add(d.given["continue"].at, "a rule with continue must have tags, advice or sets_phase", "add tags: [...]")
		}
	case !decides:
		errs.add(d.at.under("disposition"), "is missing", "one of "+strings.Join(dispositions, ", "))
	}
	if e := r.Escalate; e != nil && !r.Continue && decides && e.To <= r.Disposition {
		if d.given["escalate"].at.src != d.src {
			r.Escalate = nil // the override is already as urgent
			return
		}
		errs.addf(d.escalateTo, "write a higher disposition, or remove escalate",
			"must be higher than the disposition of the rule, which is %s", r.Disposition)
	}
}

var exceptionFields = keys[exceptionDecl]{
	keyOf("name", func(e *exceptionDecl) *string { return &e.name }, named("name", "")),
	keyOf("when", func(e *exceptionDecl) *exprText { return &e.when }, expression).
		needed(`an exception is a condition, such as: 'source == "Analyzer"'`),
}

// parseExceptions reads the exceptions of a rule, each a condition alone or a
// mapping that also names it.
func parseExceptions(p at, n *yaml.Node, errs *collector) []exceptionDecl {
	var out []exceptionDecl
	for i, item := range items(p, n, errs) {
		ip := p.item(i)
		if i == maxExceptions {
			errs.addf(ip.here(item), "join conditions with or, or use a list", "a rule has at most %d exceptions", maxExceptions)
			break
		}
		var e exceptionDecl
		exceptionFields.readOr("when", &e, ip, item, errs)
		out = append(out, e)
	}
	return out
}

// ruleID returns the id of the rule in n, for messages, when it has a valid one.
func ruleID(n *yaml.Node) string {
	if n.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "id" && n.Content[i+1].Kind == yaml.ScalarNode && validID(n.Content[i+1].Value) {
			return n.Content[i+1].Value
		}
	}
	return ""
}

func parseTags(p at, n *yaml.Node, errs *collector) (tags []string) {
	for _, w := range words(p, n, errs) {
		switch {
		case !validName(w.text):
			errs.addf(w.at, "", "%s is not a tag: lower-case letters, digits, '.', '_' and '-', at most %d",
				yamlfile.Quote(w.text), maxName)
		case slices.Contains(tags, w.text):
			errs.addf(w.at, "remove one of the two", "tag %s is given twice", yamlfile.Quote(w.text))
		case len(tags) == maxTagsPerRule:
			errs.addf(w.at, "", "a rule has at most %d tags", maxTagsPerRule)
			return tags
		default:
			tags = append(tags, w.text)
		}
	}
	return tags
}

// idAndWhen answers a rule without one of them.
const idAndWhen = "every rule needs an id and a when"

// ruleFields are the fields of rules, in the order in which they are listed to people.
var ruleFields = keys[ruleDecl]{
	key[ruleDecl]{name: "id", parse: parseID}.needed(idAndWhen),
	keyOf("when", func(d *ruleDecl) *exprText { return &d.when }, expression),
	keyOf("exceptions", func(d *ruleDecl) *[]exceptionDecl { return &d.exceptions }, parseExceptions),
	keyOf("disposition", func(d *ruleDecl) *event.Disposition { return &d.rule.Disposition },
		oneIn[event.Disposition](dispositions)),
	keyOf("severity", func(d *ruleDecl) *event.Severity { return &d.rule.Severity }, oneIn[event.Severity](severities)),
	keyOf("invalidates", func(d *ruleDecl) *bool { return &d.rule.Invalidates }, parseBool),
	{name: "escalate", parse: func(d *ruleDecl, p at, n *yaml.Node, errs *collector) {
		d.rule.Escalate, d.escalateTo = parseEscalate(p, n, errs)
	}},
	keyOf("summary", func(d *ruleDecl) *string { return &d.rule.Summary }, parseLine),
	keyOf("why", func(d *ruleDecl) *string { return &d.rule.Why }, parseText),
	keyOf("advice", func(d *ruleDecl) *string { return &d.advice }, parseAdvice),
	keyOf("program", func(d *ruleDecl) *ruleTexts { return &d.rule.program },
		func(p at, n *yaml.Node, errs *collector) (t ruleTexts) { programFields.read(&t, p, n, errs); return t }),
	keyOf("explained_by", func(d *ruleDecl) *[]word { return &d.explained }, words),
	keyOf("sets_phase", func(d *ruleDecl) *string { return &d.rule.SetsPhase }, named("phase", `such as "load" or "play"`)),
	keyOf("blinds", func(d *ruleDecl) *bool { return &d.rule.Blinds }, parseBool),
	keyOf("resolves", func(d *ruleDecl) *[]word { return &d.resolves }, words),
	keyOf("tags", func(d *ruleDecl) *[]string { return &d.rule.Tags }, parseTags),
	keyOf("continue", func(d *ruleDecl) *bool { return &d.rule.Continue }, parseBool),
	keyOf("until", func(d *ruleDecl) *string { return &d.until }, parseDay),
	keyOf("enabled", func(d *ruleDecl) *bool { return &d.rule.Disabled }, parseDisabled),
	keyOf("override", func(d *ruleDecl) *bool { return &d.override }, parseBool),
	// of its own condition
	keyOf("tests", func(d *ruleDecl) *[]testDecl { return &d.tests }, parseTests),
}

func parseID(d *ruleDecl, p at, n *yaml.Node, errs *collector) {
	d.idAt = p.here(n)
	s, ok := text(p, n, errs)
	switch {
	case !ok:
	case !validID(s):
		errs.addf(d.idAt, "", "%s is not an id: lower-case letters, digits, '.', '_' and '-', at most %d", yamlfile.Quote(s), maxID)
	case strings.HasPrefix(s, "default."):
		errs.add(d.idAt, `ids beginning with "default." name the defaults`, "use another first word")
	default:
		d.rule.ID = s
	}
}

func parseDisabled(p at, n *yaml.Node, errs *collector) bool { return !parseBool(p, n, errs) }

func parseDay(p at, n *yaml.Node, errs *collector) string {
	if _, err := time.Parse(time.DateOnly, n.Value); n.Kind != yaml.ScalarNode || err != nil {
		errs.add(p.here(n), "must be a day", "write it as 2026-01-31")
	}
	return n.Value
}

func parseText(p at, n *yaml.Node, errs *collector) string {
	s, _ := text(p, n, errs)
	return s
}

func parseLine(p at, n *yaml.Node, errs *collector) string {
	s, ok := text(p, n, errs)
	if ok && (s == "" || len(s) > maxSummary || yamlfile.Clean(s) != s) {
		errs.addf(p.here(n), "", "must be one line of 1 to %d bytes without control characters", maxSummary)
	}
	return s
}

// started encloses a part of advice for a game that has started.
var started = regexp.MustCompile(`\[([^\[\]]*)\]`)

// adviceOf returns advice as written for a game after and before its start.
func adviceOf(written string) (advice, atStart string) {
	return started.ReplaceAllString(written, "$1"), strings.TrimSpace(started.ReplaceAllString(written, ""))
}

// ruleTexts are the texts of a rule about programs that are no games, "" where they do not differ.
type ruleTexts struct{ summary, why, advice string }

var programFields = keys[ruleTexts]{
	keyOf("summary", func(t *ruleTexts) *string { return &t.summary }, parseLine),
	keyOf("why", func(t *ruleTexts) *string { return &t.why }, parseText),
	keyOf("advice", func(t *ruleTexts) *string { return &t.advice }, parseAdvice),
}

// parseAdvice reads advice whose parts for a game that has started are in brackets.
func parseAdvice(p at, n *yaml.Node, errs *collector) string {
	s := parseLine(p, n, errs)
	if strings.ContainsAny(started.ReplaceAllString(s, ""), "[]") {
		errs.add(p.here(n), "a bracket has no other one", `such as "Restart the game[, or load an older save]."`)
	}
	return s
}

// named returns a parser of a name of some kind, such as "phase".
func named(kind, hint string) func(at, *yaml.Node, *collector) string {
	return func(p at, n *yaml.Node, errs *collector) string {
		s, ok := text(p, n, errs)
		if ok && !validName(s) {
			errs.addf(p.here(n), hint, "%s is not a %s: lower-case letters, digits, '.', '_' and '-', at most %d",
				yamlfile.Quote(s), kind, maxName)
		}
		return s
	}
}

func parseTests(p at, n *yaml.Node, errs *collector) (tests []testDecl) {
	for i, item := range items(p, n, errs) {
		if t, ok := parseTest(p.item(i), item, errs); ok {
			tests = append(tests, t)
		}
	}
	return tests
}

// Bounds of an escalation. Its consumer remembers that many occurrences for each
// rule with an escalation.
const (
	maxEscalateAfter   = 1000
	maxEscalateWithin  = 24 * time.Hour
	maxEscalateEntries = 1_000_000
)

// entriesPerSecond turns one measure of a window into the other where a file
// gives only one: a captured log has no clock, and a live one no fixed rate. It
// is the rate of the windows that coalesce has by default.
const entriesPerSecond = 50

var escalateFields = keys[event.Escalation]{
	keyOf("after", func(e *event.Escalation) *int { return &e.After }, upTo(maxEscalateAfter)).
		needed("how many occurrences, such as after: 20"),
	key[event.Escalation]{name: "within", parse: parseWithin}.needed("in what time, such as within: 30s"),
	keyOf("to", func(e *event.Escalation) *event.Disposition { return &e.To },
		oneIn[event.Disposition](dispositions[event.Advisory:])).needed("one of advisory, blocking"),
	keyOf("severity", func(e *event.Escalation) *event.Severity { return &e.Severity },
		oneIn[event.Severity](severities)),
}

var withinFields = keys[event.Escalation]{
	keyOf("duration", func(e *event.Escalation) *time.Duration { return &e.Within }, duration),
	keyOf("entries", func(e *event.Escalation) *int { return &e.Entries }, upTo(maxEscalateEntries)),
}

// parseEscalate reads when a rule becomes more urgent, and returns the place of
// "to" as well. It returns nil when there are errors.
func parseEscalate(p at, n *yaml.Node, errs *collector) (e *event.Escalation, to at) {
	before := errs.count()
	e = &event.Escalation{}
	given := escalateFields.read(e, p, n, errs)
	if to = p.here(n); given["to"] != nil {
		to = given["to"].place()
	}
	if errs.count() > before {
		return nil, to
	}
	if given["severity"] == nil {
		e.Severity = severityOf(e.To)
	}
	// A rate that was not given must be reachable.
	if e.Entries == 0 {
		e.Entries = min(max(int(math.Ceil(e.Within.Seconds()*entriesPerSecond)), e.After), maxEscalateEntries)
	}
	if e.Within == 0 {
		e.Within = time.Duration(e.Entries) * time.Second / entriesPerSecond
	}
	if e.Entries < e.After {
		errs.addf(given["within"].place(), "increase entries, or decrease after", "%d occurrences do not fit into %d entries", e.After,
			e.Entries)
		return nil, to
	}
	return e, to
}

// parseWithin reads a window: a duration alone, or a mapping of a duration and
// a number of entries; either may be missing. A missing value stays 0.
func parseWithin(e *event.Escalation, p at, n *yaml.Node, errs *collector) {
	withinFields.readOr("duration", e, p, n, errs)
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		errs.add(p.here(n), "is empty", "give a duration, such as 30s, or entries, or both")
	}
}

// duration returns the value of n, which must be a positive duration with its
// unit; 0 when it is not.
func duration(p at, n *yaml.Node, errs *collector) time.Duration {
	if n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!int" || n.ShortTag() == "!!float") {
		errs.add(p.here(n), "the duration has no unit", "such as 30s, 5m or 1h; a number of entries is written {entries: 500}")
		return 0
	}
	s, ok := text(p, n, errs)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		errs.addf(p.here(n), "such as 30s, 5m or 1h30m", "%s is not a duration", yamlfile.Quote(s))
	case d < time.Millisecond || d > maxEscalateWithin:
		errs.addf(p.here(n), "", "must be from 1ms to 24h, not %s", yamlfile.Clean(s))
	default:
		return d
	}
	return 0
}

// upTo returns a parser of a whole number from 2 to high; 0 when it is none.
func upTo(high int) func(at, *yaml.Node, *collector) int {
	return func(p at, n *yaml.Node, errs *collector) int {
		got := yamlfile.KindName(n)
		if n.Kind == yaml.ScalarNode {
			got = yamlfile.Quote(n.Value)
			if n.ShortTag() == "!!int" {
				if v, err := strconv.Atoi(n.Value); err == nil && v >= 2 && v <= high {
					return v
				}
			}
		}
		errs.addf(p.here(n), "", "must be a whole number from 2 to %d, not %s", high, got)
		return 0
	}
}
