package rules

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/event"
)

// The parsed form of files: what stands in them, checked field by field, with
// the position of everything that a later step may have to complain about.

type document struct {
	src      *source
	protect  []word
	loggers  []word
	gameCode []word // see gamecode.go
	lists    []listDecl
	macros   []macroDecl
	defaults []defaultDecl
	rules    []*ruleDecl
}

// word is a text with its place.
type word struct {
	text string
	at   at
}

type listDecl struct {
	name     string
	at       at
	items    []string
	override bool // in place of the list of a file after this one
	extend   bool // in addition to it
}

type macroDecl struct {
	name     string
	at       at
	expr     exprText
	override bool // in place of the macro of a file after this one
}

// exprText is an expression as written.
type exprText struct {
	text string
	node *yaml.Node
	at   at
}

// defaultDecl is what a file says about entries that no rule matches.
type defaultDecl struct {
	kind, key   string
	disposition event.Disposition
	severity    event.Severity
	hasSeverity bool
	invalidates bool
}

type ruleDecl struct {
	src        *source
	home       *source // of the rule that this one overrides, src otherwise
	at         at
	given      map[string]at // the fields that were given, with the places of their keys
	rule       Rule          // but for what linking adds
	idAt       at
	override   bool
	overridden *ruleDecl // the rule that overrides this one, if any
	idle       bool      // it overrides another and changes nothing
	when       exprText
	exceptions []exceptionDecl
	escalateTo at
	resolves   []word
	tests      []testDecl
}

type exceptionDecl struct {
	name string
	when exprText
}

type testDecl struct {
	at      at
	text    string
	match   bool
	stack   string
	level   event.Level
	kind    event.Kind
	status  event.Status
	phase   string
	source  string
	phaseAt at
	op      string
}

var (
	fileFields  = []string{"version", "protect", "logger_frames", "game_code", "lists", "macros", "defaults", "rules"}
	listFields  = []string{"items", "override", "append"}
	macroFields = []string{"when", "override"}
	// Fields that decide or act, which a rule with "continue" does neither.
	decidingFields  = []string{"disposition", "severity", "invalidates", "escalate", "summary", "sets_phase", "blinds", "resolves"}
	exceptionFields = []string{"name", "when"}
	escalateFields  = []string{"after", "within", "to", "severity"}
	withinFields    = []string{"duration", "entries"}
	testFields      = []string{"match", "no_match", "level", "phase", "stack", "source", "kind", "status", "method", "operation"}
	defaultFields   = []string{"disposition", "severity", "invalidates"}

	dispositions = names(event.Ignore, event.Blocking)
	severities   = names(event.SeverityInfo, event.SeverityFatal)
	levels       = names(event.LevelUnknown, event.LevelFatal)
	kinds        = names(event.KindLog, event.KindNotice)
	statuses     = names(event.StatusNone, event.StatusRestarted)
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
	var out []string
	for s := event.StatusNone; s <= event.StatusRestarted; s++ {
		if s.Kind() == k {
			out = append(out, s.String())
		}
	}
	return out
}

// parseFile reads src. Of a file with errors it returns what could be read, so
// that one mistake does not bring a hundred others with it.
func parseFile(src *source, data []byte, errs *collector) *document {
	d := &document{src: src}
	root := parseYAML(src, data, errs)
	if root == nil {
		return d
	}
	top := at{src: src}
	version := false
	for _, e := range mapping(top, root, fileFields, errs) {
		p := top.under(e.key)
		switch e.key {
		case "version":
			version = true
			if e.value.Kind != yaml.ScalarNode || e.value.ShortTag() != "!!int" || e.value.Value != "1" {
				got := kindName(e.value)
				if e.value.Kind == yaml.ScalarNode {
					got = quote(e.value.Value)
				}
				errs.addf(p.here(e.value), "write version: 1", "must be the number 1, not %s", got)
			}
		case "protect":
			d.protect = words(p, e.value, errs)
		case "logger_frames":
			d.loggers = words(p, e.value, errs)
		case "game_code":
			d.gameCode = words(p, e.value, errs)
		case "lists":
			for _, l := range mapping(p, e.value, nil, errs) {
				d.lists = append(d.lists, parseList(p.under(l.key), l, errs))
			}
		case "macros":
			for _, m := range mapping(p, e.value, nil, errs) {
				d.macros = append(d.macros, parseMacro(p.under(m.key), m, errs))
			}
		case "defaults":
			d.defaults = parseDefaults(p, e.value, errs)
		case "rules":
			for _, n := range items(p, e.value, errs) {
				if r := parseRule(src, n, errs); r != nil {
					d.rules = append(d.rules, r)
				}
			}
		}
	}
	if !version && root.Kind == yaml.MappingNode {
		errs.add(top.here(root).in("version"), "is missing", `a rule file begins with "version: 1"`)
	}
	return d
}

// parseList reads a list: its items alone, or a mapping that also says how they
// stand to those of another file.
func parseList(p at, l entry, errs *collector) listDecl {
	decl := listDecl{name: l.key, at: p.here(l.name)}
	if l.value.Kind != yaml.MappingNode {
		decl.items = parseItems(p, l.value, errs)
		return decl
	}
	given := false
	for _, f := range mapping(p, l.value, listFields, errs) {
		fp := p.under(f.key)
		switch f.key {
		case "items":
			given = true
			decl.items = parseItems(fp, f.value, errs)
		case "override":
			decl.override, _ = boolean(fp, f.value, errs)
		case "append":
			decl.extend, _ = boolean(fp, f.value, errs)
		}
	}
	if !given {
		errs.add(p.here(l.value).under("items"), "is missing", "write items: [a, b]")
	}
	if decl.override && decl.extend {
		errs.add(p.here(l.value), "a list overrides another or is appended to it, not both", "remove one of the two")
	}
	return decl
}

func parseItems(p at, n *yaml.Node, errs *collector) []string {
	nodes := items(p, n, errs)
	if n.Kind == yaml.SequenceNode && len(nodes) == 0 {
		errs.add(p.here(n), "the list is empty", "a test against it would always fail; remove it or fill it")
	}
	var out []string
	seen := make(map[string]int, len(nodes))
	for i, n := range nodes {
		s, ok := text(p.item(i), n, errs)
		if !ok {
			continue
		}
		if first, dup := seen[s]; dup {
			errs.addf(p.item(i).here(n), "remove one of the two", "%s is in the list twice, first as item %d", quote(s), first+1)
			continue
		}
		if seen[s] = i; s == "" {
			errs.add(p.item(i).here(n), "is an empty text, which every text holds", `remove it; what is empty is compared with == ""`)
			continue
		}
		out = append(out, s)
	}
	return out
}

// parseMacro reads a macro: its condition alone, or a mapping.
func parseMacro(p at, m entry, errs *collector) macroDecl {
	decl := macroDecl{name: m.key, at: p.here(m.name)}
	if m.value.Kind != yaml.MappingNode {
		decl.expr = expression(p, m.value, errs)
		return decl
	}
	given := false
	for _, f := range mapping(p, m.value, macroFields, errs) {
		fp := p.under(f.key)
		switch f.key {
		case "when":
			given = true
			decl.expr = expression(fp, f.value, errs)
		case "override":
			decl.override, _ = boolean(fp, f.value, errs)
		}
	}
	if !given {
		errs.add(p.here(m.value).under("when"), "is missing", `write when: 'template contains "text"'`)
	}
	return decl
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
		errs.addf(e.at, "use a list or macros", "the expression has %d bytes, more than the %d allowed", len(s), maxExpression)
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

func parseDefaults(p at, n *yaml.Node, errs *collector) []defaultDecl {
	var out []defaultDecl
	for _, k := range mapping(p, n, kinds, errs) {
		kind, _ := event.ParseKind(k.key)
		keys := statusesOf(kind)
		switch kind {
		case event.KindLog:
			keys = levels
		case event.KindOperation:
			keys = append(keys, byCallerKey)
		}
		kp := p.under(k.key)
		for _, e := range mapping(kp, k.value, keys, errs) {
			ep := kp.under(e.key)
			d := defaultDecl{kind: k.key, key: e.key}
			switch {
			case e.value.Kind == yaml.SequenceNode:
				errs.add(ep.here(e.value), "must be a disposition or a mapping, not a list", "fields: "+strings.Join(defaultFields, ", "))
				continue
			case e.value.Kind != yaml.MappingNode:
				if s, ok := oneOf(ep, e.value, dispositions, errs); ok {
					d.disposition, _ = event.ParseDisposition(s)
					out = append(out, d)
				}
				continue
			}
			given := false
			for _, f := range mapping(ep, e.value, defaultFields, errs) {
				fp := ep.under(f.key)
				switch f.key {
				case "disposition":
					given = true
					d.disposition = parseDisposition(fp, f.value, errs)
				case "severity":
					s, _ := oneOf(fp, f.value, severities, errs)
					d.severity, d.hasSeverity = event.ParseSeverity(s)
				case "invalidates":
					d.invalidates = parseBool(fp, f.value, errs)
				}
			}
			if !given {
				errs.add(ep.here(e.value), "disposition is missing", "one of "+strings.Join(dispositions, ", "))
			}
			out = append(out, d)
		}
	}
	return out
}

func parseRule(src *source, n *yaml.Node, errs *collector) *ruleDecl {
	p := at{src: src, line: n.Line, col: n.Column}
	p.rule = ruleID(n)
	fields := mapping(p, n, ruleFields, errs)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	d := &ruleDecl{src: src, home: src, at: p, given: make(map[string]at, len(fields))}
	r := &d.rule
	r.File, r.Line, r.Column = src.name, n.Line, n.Column
	for _, f := range fields {
		fp := p.under(f.key)
		d.given[f.key] = fp.here(f.name)
		for i := range ruleTable {
			if t := &ruleTable[i]; t.name == f.key {
				t.parse(d, fp, f.value, errs)
			}
		}
	}
	if _, ok := d.given["id"]; !ok {
		errs.add(p.in("id"), "is missing", "every rule has an id and a when")
	}
	return d
}

// check reports fields that are missing or do not go together. A rule that
// overrides another has taken over the other's fields by then.
func (d *ruleDecl) check(errs *collector) {
	r := &d.rule
	if _, ok := d.given["when"]; !ok {
		errs.add(d.at.in("when"), "is missing", "every rule has an id and a when")
	}
	_, decides := d.given["disposition"]
	switch {
	case r.Continue:
		for _, f := range decidingFields {
			switch p, ok := d.given[f]; {
			case ok && p.src == d.src:
				errs.add(p, "a rule with continue only adds tags", "remove the field, or remove continue")
			case ok:
				errs.addf(d.given["continue"], "turn that rule off with enabled: false, and write one with another id",
					"a rule with continue only adds tags, and the rule that this one overrides gives a %s at %s:%d", f, clean(p.src.name), p.line)
			}
		}
		if _, ok := d.given["tags"]; !ok {
			errs.add(d.given["continue"], "a rule with continue adds tags, and has none", "add tags: [...]")
		}
	case !decides:
		errs.add(d.at.in("disposition"), "is missing", "one of "+strings.Join(dispositions, ", "))
	}
	if e := r.Escalate; e != nil && !r.Continue && decides && e.To <= r.Disposition {
		if d.given["escalate"].src != d.src {
			r.Escalate = nil // the override is already as urgent
			return
		}
		errs.addf(d.escalateTo, "name a higher one, or remove escalate", "the rule is %s from the first occurrence on, which is no less than %s", r.Disposition, e.To)
	}
}

// parseExceptions reads the exceptions of a rule, each a condition alone or a
// mapping that also names it.
func parseExceptions(p at, n *yaml.Node, errs *collector) []exceptionDecl {
	var out []exceptionDecl
	named := map[string]bool{}
	for i, item := range items(p, n, errs) {
		ip := p.item(i)
		if i == maxExceptions {
			errs.addf(ip.here(item), "join conditions with or, or use a list", "a rule has at most %d exceptions", maxExceptions)
			break
		}
		if item.Kind != yaml.MappingNode {
			out = append(out, exceptionDecl{when: expression(ip, item, errs)})
			continue
		}
		var e exceptionDecl
		given := false
		for _, f := range mapping(ip, item, exceptionFields, errs) {
			fp := ip.under(f.key)
			switch f.key {
			case "name":
				s, ok := text(fp, f.value, errs)
				switch {
				case !ok:
				case !validName(s):
					errs.addf(fp.here(f.value), "", "%s is not a name: lower-case letters, digits, '.', '_' and '-', at most %d", quote(s), maxName)
				case named[s]:
					errs.addf(fp.here(f.value), "give one of them another name", "two exceptions have the name %s", quote(s))
				}
				named[s] = true
				e.name = s
			case "when":
				given = true
				e.when = expression(fp, f.value, errs)
			}
		}
		if !given {
			errs.add(ip.here(item).under("when"), "is missing", `an exception is a condition, such as: 'source == "Analyzer"'`)
		}
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

func parseTags(p at, n *yaml.Node, errs *collector) []string {
	var tags []string
	for i, item := range items(p, n, errs) {
		ip := p.item(i)
		s, ok := text(ip, item, errs)
		switch {
		case !ok:
		case !validName(s):
			errs.addf(ip.here(item), "", "%s is not a tag: lower-case letters, digits, '.', '_' and '-', at most %d", quote(s), maxName)
		case slices.Contains(tags, s):
			errs.addf(ip.here(item), "remove one of the two", "tag %s is given twice", quote(s))
		case len(tags) == maxTagsPerRule:
			errs.addf(ip.here(item), "", "a rule has at most %d tags", maxTagsPerRule)
			return tags
		default:
			tags = append(tags, s)
		}
	}
	return tags
}

func parseTest(p at, n *yaml.Node, errs *collector) (testDecl, bool) {
	before := errs.count()
	t := testDecl{at: p.here(n)}
	given := map[string]*yaml.Node{}
	fields := mapping(p, n, testFields, errs)
	for _, f := range fields {
		given[f.key] = f.value
		fp := p.under(f.key)
		switch f.key {
		case "match", "no_match":
			t.text, _ = text(fp, f.value, errs)
			t.match = f.key == "match"
			t.at = fp.here(f.value)
		case "level":
			s, _ := oneOf(fp, f.value, levels, errs)
			t.level, _ = event.ParseLevel(s)
		case "kind":
			s, _ := oneOf(fp, f.value, kinds, errs)
			t.kind, _ = event.ParseKind(s)
		case "status":
			s, _ := oneOf(fp, f.value, statuses, errs)
			t.status, _ = event.ParseStatus(s)
		case "phase":
			t.phase, _ = text(fp, f.value, errs)
			t.phaseAt = fp.here(f.value)
		case "stack":
			t.stack, _ = text(fp, f.value, errs)
		case "source", "method":
			t.source, _ = text(fp, f.value, errs)
		case "operation":
			t.op, _ = text(fp, f.value, errs)
		}
	}
	if n.Kind == yaml.MappingNode && (given["match"] == nil) == (given["no_match"] == nil) {
		errs.add(p.here(n), "a test has either match or no_match", `such as - match: "text of a log record"`)
	}
	if given["kind"] == nil {
		t.kind = t.status.Kind()
		if given["method"] != nil && given["status"] == nil {
			t.kind, t.status = event.KindOperation, event.StatusFailed
			given["status"] = n
		}
	}
	switch {
	case t.status.Kind() != t.kind && given["status"] == nil:
		errs.addf(p.here(n).under("status"), "one of "+strings.Join(statusesOf(t.kind), ", "),
			"is missing: an entry of kind %s has one", t.kind)
	case t.status.Kind() != t.kind:
		errs.addf(p.here(given["status"]).under("status"), "one of "+strings.Join(statusesOf(t.kind), ", "),
			"an entry of kind %s cannot have status %s", t.kind, t.status)
	case t.kind != event.KindLog && given["level"] != nil:
		errs.addf(p.here(given["level"]).under("level"), "remove it", "an entry of kind %s has no level", t.kind)
	case given["method"] != nil && t.kind != event.KindOperation:
		errs.addf(p.here(given["method"]).under("method"), "remove it, or give the status of an operation", "an entry of kind %s has no method", t.kind)
	case given["method"] != nil && given["source"] != nil:
		errs.add(p.here(given["source"]).under("source"), "the source of an operation is its method", "remove one of the two")
	}
	return t, errs.count() == before
}

// validID reports whether s may be the id of a rule.
func validID(s string) bool { return validChars(s, maxID) }

// validName reports whether s may be a tag or a phase.
func validName(s string) bool { return validChars(s, maxName) }

func validChars(s string, limit int) bool {
	if s == "" || len(s) > limit {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
