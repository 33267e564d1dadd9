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
	given      map[string]*yamlfile.Entry // the fields that were given
	rule       Rule                       // but for what linking adds
	idAt       value
	override   bool
	overridden *ruleDecl // the rule that overrides this one, if any
	when       exprText
	exceptions []exceptionDecl
	escalateTo value
	resolves   []value
	explained  []value // by the problems of these rules
	advice     string  // as written
	tests      []testDecl
	until      string // the last day, such as 2026-01-31; "" for none
}

type exceptionDecl struct {
	name string
	when exprText
}

func parseRule(v value) *ruleDecl {
	file := ownerOf(v)
	src := file.src
	v = value{Node: v.Node, Owner: &owner{src, ruleID(v.Node), file.errs}}
	d := &ruleDecl{src: src, home: src, at: placeOf(v)}
	r := &d.rule
	r.File, r.Line, r.Column, r.Place = src.name, v.Line, v.Column, fmt.Sprintf("%s:%d", src.name, v.Line)
	d.given = ruleFields.Read(d, v)
	if v.Kind != yaml.MappingNode {
		return nil
	}
	return d
}

// check reports fields that are missing or do not go together. A rule that
// overrides another has taken over the other's fields by then.
func (d *ruleDecl) check(errs *collector) {
	r := &d.rule
	if d.given["when"] == nil {
		errs.add(d.at.of("when"), idAndWhen, "is missing")
	}
	decides := d.given["disposition"] != nil
	switch {
	case r.Continue:
		for _, f := range decidingFields {
			switch e := d.given[f]; {
			case e == nil:
			case ownerOf(e.Key).src == d.src:
				e.Key.Fail("remove the field, or remove continue", "a rule with continue only adds tags and advice, and sets the phase")
			default:
				d.given["continue"].Key.Fail("turn that rule off with enabled: false, and write one with another id",
					"a rule with continue only adds tags and advice, and sets the phase; the rule that this one overrides gives a %s at %s:%d",
					f, yamlfile.Clean(ownerOf(e.Key).src.name), e.Key.Line)
			}
		}
		if d.given["tags"] == nil && r.SetsPhase == "" && d.advice == "" {
			d.given["continue"].Key.Fail("add tags: [...]", "a rule with continue must have tags, advice or sets_phase")
		}
	case !decides:
		errs.add(d.at.of("disposition"), "one of "+strings.Join(dispositions, ", "), "is missing")
	}
	if e := r.Escalate; e != nil && !r.Continue && decides && e.To <= r.Disposition {
		if ownerOf(d.given["escalate"].Key).src != d.src {
			r.Escalate = nil // the override is already as urgent
			return
		}
		d.escalateTo.Fail("write a higher disposition, or remove escalate",
			"must be higher than the disposition of the rule, which is %s", r.Disposition)
	}
}

var exceptionFields = keys[exceptionDecl]{
	yamlfile.KeyOf("name", func(e *exceptionDecl) *string { return &e.name }, named("name", "")),
	yamlfile.KeyOf("when", func(e *exceptionDecl) *exprText { return &e.when }, expression).
		Needed(`an exception is a condition, such as: 'source == "Analyzer"'`),
}

// parseExceptions reads the exceptions of a rule, each a condition alone or a
// mapping that also names it.
func parseExceptions(v value) []exceptionDecl {
	var out []exceptionDecl
	for i, item := range v.Items() {
		if i == maxExceptions {
			item.Fail("join conditions with or, or use a list", "a rule has at most %d exceptions", maxExceptions)
			break
		}
		var e exceptionDecl
		exceptionFields.ReadOr("when", &e, item)
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

func parseTags(v value) (tags []string) {
	for _, w := range words(v) {
		switch {
		case !validName(w.Value):
			w.Fail("", "%s is not a tag: lower-case letters, digits, '.', '_' and '-', at most %d", yamlfile.Quote(w.Value),
				maxName)
		case slices.Contains(tags, w.Value):
			w.Fail("remove one of the two", "tag %s is given twice", yamlfile.Quote(w.Value))
		case len(tags) == maxTagsPerRule:
			w.Fail("", "a rule has at most %d tags", maxTagsPerRule)
			return tags
		default:
			tags = append(tags, w.Value)
		}
	}
	return tags
}

// idAndWhen answers a rule without one of them.
const idAndWhen = "every rule needs an id and a when"

// ruleFields are the fields of rules, in the order in which they are listed to people.
var ruleFields = keys[ruleDecl]{
	yamlfile.Key[ruleDecl]{Name: "id", Parse: parseID}.Needed(idAndWhen),
	yamlfile.KeyOf("when", func(d *ruleDecl) *exprText { return &d.when }, expression),
	yamlfile.KeyOf("exceptions", func(d *ruleDecl) *[]exceptionDecl { return &d.exceptions }, parseExceptions),
	yamlfile.KeyOf("disposition", func(d *ruleDecl) *event.Disposition { return &d.rule.Disposition }, parseDisposition),
	yamlfile.KeyOf("severity", func(d *ruleDecl) *event.Severity { return &d.rule.Severity }, parseSeverity),
	yamlfile.KeyOf("invalidates", func(d *ruleDecl) *bool { return &d.rule.Invalidates }, value.Bool),
	{Name: "escalate", Parse: func(d *ruleDecl, v value) {
		d.rule.Escalate, d.escalateTo = parseEscalate(v)
	}},
	yamlfile.KeyOf("summary", func(d *ruleDecl) *string { return &d.rule.Summary }, parseLine),
	yamlfile.KeyOf("why", func(d *ruleDecl) *string { return &d.rule.Why }, parseText),
	yamlfile.KeyOf("advice", func(d *ruleDecl) *string { return &d.advice }, parseAdvice),
	yamlfile.KeyOf("program", func(d *ruleDecl) *ruleTexts { return &d.rule.program },
		func(v value) (t ruleTexts) { programFields.Read(&t, v); return t }),
	yamlfile.KeyOf("explained_by", func(d *ruleDecl) *[]value { return &d.explained }, words),
	yamlfile.KeyOf("sets_phase", func(d *ruleDecl) *string { return &d.rule.SetsPhase }, named("phase", `such as "load" or "play"`)),
	yamlfile.KeyOf("blinds", func(d *ruleDecl) *bool { return &d.rule.Blinds }, value.Bool),
	yamlfile.KeyOf("resolves", func(d *ruleDecl) *[]value { return &d.resolves }, words),
	yamlfile.KeyOf("tags", func(d *ruleDecl) *[]string { return &d.rule.Tags }, parseTags),
	yamlfile.KeyOf("continue", func(d *ruleDecl) *bool { return &d.rule.Continue }, value.Bool),
	yamlfile.KeyOf("until", func(d *ruleDecl) *string { return &d.until }, parseDay),
	yamlfile.KeyOf("enabled", func(d *ruleDecl) *bool { return &d.rule.Disabled }, parseDisabled),
	yamlfile.KeyOf("override", func(d *ruleDecl) *bool { return &d.override }, value.Bool),
	// of its own condition
	yamlfile.KeyOf("tests", func(d *ruleDecl) *[]testDecl { return &d.tests }, parseTests),
}

func parseID(d *ruleDecl, v value) {
	d.idAt = v
	s, ok := v.Text()
	switch {
	case !ok:
	case !validID(s):
		v.Fail("", "%s is not an id: lower-case letters, digits, '.', '_' and '-', at most %d", yamlfile.Quote(s), maxID)
	case strings.HasPrefix(s, "default."):
		v.Fail("use another first word", `ids beginning with "default." name the defaults`)
	default:
		d.rule.ID = s
	}
}

func parseDisabled(v value) bool { return !v.Bool() }

func parseDay(v value) string {
	if _, err := time.Parse(time.DateOnly, v.Value); v.Kind != yaml.ScalarNode || err != nil {
		v.Fail("write it as 2026-01-31", "must be a day")
	}
	return v.Value
}

func parseText(v value) string {
	s, _ := v.Text()
	return s
}

func parseLine(v value) string {
	s, ok := v.Text()
	if ok && (s == "" || len(s) > maxSummary || yamlfile.Clean(s) != s) {
		v.Fail("", "must be one line of 1 to %d bytes without control characters", maxSummary)
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
	yamlfile.KeyOf("summary", func(t *ruleTexts) *string { return &t.summary }, parseLine),
	yamlfile.KeyOf("why", func(t *ruleTexts) *string { return &t.why }, parseText),
	yamlfile.KeyOf("advice", func(t *ruleTexts) *string { return &t.advice }, parseAdvice),
}

// parseAdvice reads advice whose parts for a game that has started are in brackets.
func parseAdvice(v value) string {
	s := parseLine(v)
	if strings.ContainsAny(started.ReplaceAllString(s, ""), "[]") {
		v.Fail(`such as "Restart the game[, or load an older save]."`, "a bracket has no other one")
	}
	return s
}

// named returns a parser of a name of some kind, such as "phase".
func named(kind, hint string) func(value) string {
	return func(v value) string {
		s, ok := v.Text()
		if ok && !validName(s) {
			v.Fail(hint, "%s is not a %s: lower-case letters, digits, '.', '_' and '-', at most %d",
				yamlfile.Quote(s), kind, maxName)
		}
		return s
	}
}

func parseTests(v value) (tests []testDecl) {
	for _, item := range v.Items() {
		if t, ok := parseTest(item); ok {
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
	yamlfile.KeyOf("after", func(e *event.Escalation) *int { return &e.After }, upTo(maxEscalateAfter)).
		Needed("how many occurrences, such as after: 20"),
	yamlfile.Key[event.Escalation]{Name: "within", Parse: parseWithin}.Needed("in what time, such as within: 30s"),
	yamlfile.KeyOf("to", func(e *event.Escalation) *event.Disposition { return &e.To },
		oneIn[event.Disposition](dispositions[event.Advisory:])).Needed("one of advisory, blocking"),
	yamlfile.KeyOf("severity", func(e *event.Escalation) *event.Severity { return &e.Severity }, parseSeverity),
}

var withinFields = keys[event.Escalation]{
	yamlfile.KeyOf("duration", func(e *event.Escalation) *time.Duration { return &e.Within }, duration),
	yamlfile.KeyOf("entries", func(e *event.Escalation) *int { return &e.Entries }, upTo(maxEscalateEntries)),
}

// parseEscalate reads when a rule becomes more urgent, and returns the place of
// "to" as well. It returns nil when there are errors.
func parseEscalate(v value) (e *event.Escalation, to value) {
	errs := ownerOf(v).errs
	before := errs.count()
	e = &event.Escalation{}
	given := escalateFields.Read(e, v)
	if to = v; given["to"] != nil {
		to = given["to"].Value
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
		given["within"].Value.Fail("increase entries, or decrease after", "%d occurrences do not fit into %d entries", e.After,
			e.Entries)
		return nil, to
	}
	return e, to
}

// parseWithin reads a window: a duration alone, or a mapping of a duration and
// a number of entries; either may be missing. A missing value stays 0.
func parseWithin(e *event.Escalation, v value) {
	withinFields.ReadOr("duration", e, v)
	if v.Kind == yaml.MappingNode && len(v.Content) == 0 {
		v.Fail("give a duration, such as 30s, or entries, or both", "is empty")
	}
}

// duration returns the value of n, which must be a positive duration with its
// unit; 0 when it is not.
func duration(v value) time.Duration {
	if v.Kind == yaml.ScalarNode && (v.ShortTag() == "!!int" || v.ShortTag() == "!!float") {
		v.Fail("such as 30s, 5m or 1h; a number of entries is written {entries: 500}", "the duration has no unit")
		return 0
	}
	s, ok := v.Text()
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		v.Fail("such as 30s, 5m or 1h30m", "%s is not a duration", yamlfile.Quote(s))
	case d < time.Millisecond || d > maxEscalateWithin:
		v.Fail("", "must be from 1ms to 24h, not %s", yamlfile.Clean(s))
	default:
		return d
	}
	return 0
}

// upTo returns a parser of a whole number from 2 to high; 0 when it is none.
func upTo(high int) func(value) int {
	return func(v value) int {
		n, err := strconv.Atoi(v.Value)
		if v.Kind == yaml.ScalarNode && v.ShortTag() == "!!int" && err == nil && n >= 2 && n <= high {
			return n
		}
		v.Fail("", "must be a whole number from 2 to %d, not %s", high, v.Shown())
		return 0
	}
}
