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
	protect  []word
	loggers  []word
	gameCode []word // see gamecode.go
	defined  []*definition
	defaults []defaultDecl
	rules    []*ruleDecl
	ended    []string // sentences about rules whose last day is over
}

// word is a text with its place.
type word struct {
	text string
	at   at
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
	text string
	node *yaml.Node
	at   at
}

// place returns the place of the character of e with an offset.
func (e *exprText) place(offset int) at {
	p := e.at
	p.line, p.col = locate(p.src, e.node, offset)
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
	root := parseYAML(src, data, errs)
	if root == nil {
		return d
	}
	fileFields.read(d, at{src: src}, root, errs)
	return d
}

var fileFields = keys[document]{
	key[document]{name: "version", parse: checkVersion}.needed(`a rule file begins with "version: 1"`),
	keyOf("families", func(d *document) *[]string { return &d.families }, parseFamilies),
	keyOf("protect", func(d *document) *[]word { return &d.protect }, words),
	keyOf("logger_frames", func(d *document) *[]word { return &d.loggers }, words),
	keyOf("game_code", func(d *document) *[]word { return &d.gameCode }, words),
	definitions("lists", parseList),
	definitions("macros", parseMacro),
	keyOf("defaults", func(d *document) *[]defaultDecl { return &d.defaults }, parseDefaults),
	{name: "rules", parse: func(d *document, p at, n *yaml.Node, errs *collector) {
		for _, item := range items(p, n, errs) {
			r := parseRule(d.src, item, errs)
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

func checkVersion(_ *document, p at, n *yaml.Node, errs *collector) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Value != "1" {
		got := yamlfile.KindName(n)
		if n.Kind == yaml.ScalarNode {
			got = yamlfile.Quote(n.Value)
		}
		errs.addf(p.here(n), "write version: 1", "must be the number 1, not %s", got)
	}
}

// definitions is a key of a file for the lists or the macros.
func definitions(name string, parse func(*definition, at, *yaml.Node, *collector)) key[document] {
	return key[document]{name: name, parse: func(d *document, p at, n *yaml.Node, errs *collector) {
		for _, e := range mapping(p, n, nil, errs) {
			own := &definition{kind: strings.TrimSuffix(name, "s"), name: e.key, at: e.at}
			parse(own, e.at, e.value, errs)
			d.defined = append(d.defined, own)
		}
	}}
}

var listFields = keys[definition]{
	keyOf("items", func(d *definition) *[]string { return &d.items }, parseItems).needed("write items: [a, b]"),
	keyOf("override", func(d *definition) *bool { return &d.override }, parseBool),
	keyOf("append", func(d *definition) *bool { return &d.extend }, parseBool),
}

// parseList reads a list: its items alone, or a mapping that also holds their
// relation to the items of another file.
func parseList(d *definition, p at, n *yaml.Node, errs *collector) {
	listFields.readOr("items", d, p, n, errs)
	if d.override && d.extend {
		errs.add(p.here(n), "a list cannot have both override and append", "remove one of the two")
	}
}

func parseItems(p at, n *yaml.Node, errs *collector) []string {
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		errs.add(p.here(n), "the list is empty", "remove it, or add items: nothing matches an empty list")
	}
	var out []string
	seen := make(map[string]int, len(n.Content))
	for i, w := range words(p, n, errs) {
		if first, dup := seen[w.text]; dup {
			errs.addf(w.at, "remove one of the two", "%s is in the list twice, first as item %d", yamlfile.Quote(w.text), first+1)
			continue
		}
		if seen[w.text] = i; w.text == "" {
			errs.add(w.at, "is an empty text, which every text contains",
				`remove it; to test for an empty text, write == ""`)
			continue
		}
		out = append(out, w.text)
	}
	return out
}

var macroFields = keys[definition]{
	keyOf("when", func(d *definition) *exprText { return &d.expr }, expression).
		needed(`write when: 'template contains "text"'`),
	keyOf("override", func(d *definition) *bool { return &d.override }, parseBool),
}

// parseMacro reads a macro: its condition alone, or a mapping.
func parseMacro(d *definition, p at, n *yaml.Node, errs *collector) {
	macroFields.readOr("when", d, p, n, errs)
}

// expression returns an expression as written; an empty text when there is
// none, which has then been reported.
func expression(p at, n *yaml.Node, errs *collector) exprText {
	e := exprText{node: n, at: p.here(n)}
	s, ok := text(p, n, errs)
	switch {
	case !ok:
	case strings.TrimSpace(s) == "":
		errs.add(e.at, "the expression is empty", `write a condition, such as: 'template contains "text"'`)
	case len(s) > maxExpression:
		errs.addf(e.at, "use a list or macros", "the expression has %d bytes, more than the %d allowed", len(s),
			maxExpression)
	case nesting(s) > maxNesting:
		errs.addf(e.at, "use macros", "brackets are nested more than %d deep", maxNesting)
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
	keyOf("disposition", func(d *defaultDecl) *event.Disposition { return &d.disposition },
		oneIn[event.Disposition](dispositions)),
	keyOf("severity", func(d *defaultDecl) *event.Severity { return &d.severity }, oneIn[event.Severity](severities)),
	keyOf("invalidates", func(d *defaultDecl) *bool { return &d.invalidates }, parseBool),
}

func parseDefaults(p at, n *yaml.Node, errs *collector) []defaultDecl {
	var out []defaultDecl
	for _, k := range mapping(p, n, kinds, errs) {
		kind, _ := event.Parse[event.Kind](k.key)
		known := statusesOf(kind)
		switch kind {
		case event.KindLog:
			known = levels
		case event.KindOperation:
			known = append(known, byCallerKey)
		}
		for _, e := range mapping(k.at, k.value, known, errs) {
			d := defaultDecl{kind: k.key, key: e.key}
			if e.value.Kind == yaml.SequenceNode {
				errs.add(e.place(), "must be a disposition or a mapping, not a list",
					"fields: "+strings.Join(defaultFields.names(), ", "))
				continue
			}
			given := defaultFields.readOr("disposition", &d, e.at, e.value, errs)
			d.hasSeverity = given["severity"] != nil
			if given["disposition"] == nil {
				errs.add(e.place(), "disposition is missing", "one of "+strings.Join(dispositions, ", "))
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
