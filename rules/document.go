package rules

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/yamlfile"
)

// The parsed form of files: their fields, each checked, with the positions that
// errors of later steps need.

type document struct {
	src      *source
	families []string // for which it holds; none: for all
	protect  []value
	loggers  []value
	gameCode []string
	defined  []*definition
	defaults []defaultDecl
	rules    []*ruleDecl
	ended    []string // sentences about rules whose last day is over
}

// definition is a list or a macro.
type definition struct {
	kind     string // "list" or "macro"
	name     string
	at       at
	items    []string // of a list
	expr     exprText // of a macro
	override bool     // in place of the definition of a file after this one
	extend   bool     // a list, in addition to the list of a file after this one
}

// overrides reports whether d changes the definition of a file after this one.
func (d *definition) overrides() bool { return d.override || d.extend }

// exprText is an expression as written.
type exprText struct {
	value

	text string // "" if it has errors
}

// place returns the place of the character of e with an offset.
func (e *exprText) place(offset int) at {
	p := placeOf(e.value)
	p.line, p.col = locate(p.src, e.Node, offset)
	return p
}

// defaultDecl is a decision about entries that no rule matches.
type defaultDecl struct {
	kind, key   string
	disposition event.Disposition
	severity    event.Severity
	hasSeverity bool
	invalidates bool
}

// Fields that decide or act, which a rule with "continue" does neither.
var decidingFields = []string{
	"disposition", "severity", "invalidates", "escalate", "summary", "blinds", "resolves", "explained_by",
}

var (
	dispositions = names(event.Ignore, event.Blocking)
	severities   = names(event.SeverityInfo, event.SeverityFatal)
	levels       = names(event.LevelUnknown, event.LevelFatal)
	kinds        = names(event.KindLog, event.KindNotice)
	statuses     = names(event.StatusNone, event.StatusLogFound)
)

// byCallerKey is the key under defaults.operation for operations that their
// own caller cancelled.
const byCallerKey = "cancelled_by_caller"

// names returns the names of the values from first to last.
func names[T interface {
	~uint8
	String() string
}](first, last T) []string {
	out := make([]string, 0, last-first+1)
	for v := first; v <= last; v++ {
		out = append(out, v.String())
	}
	return out
}

// statusesOf returns the names of the statuses that entries of kind k have.
func statusesOf(k event.Kind) []string {
	return slices.DeleteFunc(slices.Clone(statuses), func(name string) bool {
		s, _ := event.Parse[event.Status](name)
		return s.Kind() != k
	})
}

// parseFile reads src. From a file with errors it returns the readable parts, so
// that one mistake does not cause a hundred others.
func parseFile(src *source, data []byte, errs *collector) *document {
	d := &document{src: src}
	if root, ok := language.Open(data, &owner{src: src, errs: errs}); ok {
		fileFields.Read(d, root)
	}
	return d
}

var fileFields = keys[document]{
	yamlfile.Key[document]{Name: "version", Parse: checkVersion}.Needed(`a rule file begins with "version: 1"`),
	yamlfile.KeyOf("families", func(d *document) *[]string { return &d.families }, parseFamilies),
	yamlfile.KeyOf("protect", func(d *document) *[]value { return &d.protect }, words),
	yamlfile.KeyOf("logger_frames", func(d *document) *[]value { return &d.loggers }, words),
	yamlfile.KeyOf("game_code", func(d *document) *[]string { return &d.gameCode }, parseGameCode),
	definitions("lists", parseList),
	definitions("macros", parseMacro),
	yamlfile.KeyOf("defaults", func(d *document) *[]defaultDecl { return &d.defaults }, parseDefaults),
	{Name: "rules", Parse: func(d *document, v value) {
		for _, item := range v.Items() {
			r := parseRule(item)
			if r != nil && r.until != "" && r.until < d.src.today {
				d.ended = append(d.ended, fmt.Sprintf("%s: rule %s ended on %s and is not used: remove it, or give it another day",
					r.rule.Place, r.rule.ID, r.until))
				r.rule.Disabled = true // others may name it
				if r.override {
					continue // the rule that it changed holds again
				}
			}
			if r != nil {
				d.rules = append(d.rules, r)
			}
		}
	}},
}

func parseGameCode(v value) (names []string) {
	for _, w := range words(v) {
		switch {
		case strings.Trim(w.Value, ". ") == "" || strings.ContainsAny(w.Value, "\t\r\n"):
			w.Fail(`write the beginning of a namespace, such as "Engine."`, "%s is not a name of code", yamlfile.Quote(w.Value))
		case len(w.Value) > maxGameCodeName:
			w.Fail("write the namespace, without what is in it", "the name has %d bytes, more than the %d allowed",
				len(w.Value), maxGameCodeName)
		default:
			names = append(names, w.Value)
		}
	}
	return names
}

func checkVersion(_ *document, v value) {
	if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!int" || v.Value != "1" {
		v.Fail("write version: 1", "must be the number 1, not %s", v.Shown())
	}
}

// definitions is a key of a file for the lists or the macros.
func definitions(name string, parse func(*definition, value)) yamlfile.Key[document] {
	return yamlfile.Key[document]{Name: name, Parse: func(d *document, v value) {
		for e := range v.Mapping(nil) {
			own := &definition{kind: strings.TrimSuffix(name, "s"), name: e.Key.Value, at: placeOf(e.Key)}
			parse(own, e.Value)
			d.defined = append(d.defined, own)
		}
	}}
}

var listFields = keys[definition]{
	yamlfile.KeyOf("items", func(d *definition) *[]string { return &d.items }, parseItems).Needed("write items: [a, b]"),
	yamlfile.KeyOf("override", func(d *definition) *bool { return &d.override }, value.Bool),
	yamlfile.KeyOf("append", func(d *definition) *bool { return &d.extend }, value.Bool),
}

// parseList reads a list: its items alone, or a mapping that also holds their
// relation to the items of another file.
func parseList(d *definition, v value) {
	listFields.ReadOr("items", d, v)
	if d.override && d.extend {
		v.Fail("remove one of the two", "a list cannot have both override and append")
	}
}

func parseItems(v value) []string {
	if v.Kind == yaml.SequenceNode && len(v.Content) == 0 {
		v.Fail("remove it, or add items: nothing matches an empty list", "the list is empty")
	}
	var out []string
	seen := make(map[string]int, len(v.Content))
	for i, w := range words(v) {
		if first, dup := seen[w.Value]; dup {
			w.Fail("remove one of the two", "%s is in the list twice, first as item %d", yamlfile.Quote(w.Value), first+1)
			continue
		}
		if seen[w.Value] = i; w.Value == "" {
			w.Fail(`remove it; to test for an empty text, write == ""`, "is an empty text, which every text contains")
			continue
		}
		out = append(out, w.Value)
	}
	return out
}

var macroFields = keys[definition]{
	yamlfile.KeyOf("when", func(d *definition) *exprText { return &d.expr }, expression).
		Needed(`write when: 'template contains "text"'`),
	yamlfile.KeyOf("override", func(d *definition) *bool { return &d.override }, value.Bool),
}

// parseMacro reads a macro: its condition alone, or a mapping.
func parseMacro(d *definition, v value) {
	macroFields.ReadOr("when", d, v)
}

// expression returns an expression as written; an empty text when there is
// none, which has then been reported.
func expression(v value) exprText {
	e := exprText{value: v}
	s, ok := v.Text()
	switch {
	case !ok:
	case strings.TrimSpace(s) == "":
		v.Fail(`write a condition, such as: 'template contains "text"'`, "the expression is empty")
	case len(s) > maxExpression:
		v.Fail("use a list or macros", "the expression has %d bytes, more than the %d allowed", len(s), maxExpression)
	case nesting(s) > maxNesting:
		v.Fail("use macros", "brackets are nested more than %d deep", maxNesting)
	default:
		e.text = s
	}
	return e
}

// nesting returns how deep brackets are nested in an expression, those in texts
// left out. The parser of expr takes time and stack in proportion to it.
func nesting(s string) int {
	deepest, depth := 0, 0
	var quoted byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted != 0:
			if c == '\\' && quoted != '`' {
				i++
			} else if c == quoted {
				quoted = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quoted = c
		case c == '(' || c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ')' || c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}

var defaultFields = keys[defaultDecl]{
	yamlfile.KeyOf("disposition", func(d *defaultDecl) *event.Disposition { return &d.disposition }, parseDisposition),
	yamlfile.KeyOf("severity", func(d *defaultDecl) *event.Severity { return &d.severity }, parseSeverity),
	yamlfile.KeyOf("invalidates", func(d *defaultDecl) *bool { return &d.invalidates }, value.Bool),
}

func parseDefaults(v value) []defaultDecl {
	var out []defaultDecl
	for k := range v.Mapping(kinds) {
		kind, _ := event.Parse[event.Kind](k.Key.Value)
		known := statusesOf(kind)
		switch kind {
		case event.KindLog:
			known = levels
		case event.KindOperation:
			known = append(known, byCallerKey)
		}
		for e := range k.Value.Mapping(known) {
			d := defaultDecl{kind: k.Key.Value, key: e.Key.Value}
			if e.Value.Kind == yaml.SequenceNode {
				e.Value.Fail("fields: "+strings.Join(defaultFields.Names(), ", "),
					"must be a disposition or a mapping, not a list")
				continue
			}
			given := defaultFields.ReadOr("disposition", &d, e.Value)
			d.hasSeverity = given["severity"] != nil
			if given["disposition"] == nil {
				e.Value.Fail("one of "+strings.Join(dispositions, ", "), "disposition is missing")
			}
			out = append(out, d)
		}
	}
	return out
}

// validID reports whether s may be the id of a rule.
func validID(s string) bool { return yamlfile.ValidName(s, maxID) }

// validName reports whether s may be a tag or a phase.
func validName(s string) bool { return yamlfile.ValidName(s, maxName) }
