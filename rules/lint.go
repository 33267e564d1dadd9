package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/yamlfile"
)

// What [Finding.Check] may be.
const (
	checkCompile = "compile" // the file does not compile
	// a rule that can never match, because of an earlier file; or a rule that matches every entry.
	checkShadowed  = "shadowed"
	checkTests     = "tests"     // a rule with less than two tests that match and a test that does not
	checkMasked    = "masked"    // a text compared with template that no template can hold
	checkPhase     = "phase"     // a phase that no rule sets
	checkUnused    = "unused"    // a list or macro that nothing uses
	checkBreaks    = "breaks"    // a file decides texts that break play, in place of the rules whose tests they are
	checkBlindness = "blindness" // a rule is off that alone ends the blindness of another
)

// Finding is something in a rule file that is valid and yet unlikely to be
// meant; or an error of [Compile], whose check is
// "compile". Its text is safe to print.
type Finding struct {
	Problem  Error
	Severity event.Severity
	Check    string // such as "shadowed"; docs/rules.md lists them
}

// String returns the position, severity, rule, message, hint and check in one
// line, as in
//
//	f.yaml:12:9: warning: rule save.x: has no tests (…) [tests]
func (f *Finding) String() string {
	place := yamlfile.Place(f.Problem.File, f.Problem.Line, f.Problem.Column)
	problem := strings.TrimPrefix(f.Problem.Error(), "rules: "+place)
	return place + f.Severity.String() + ": " + problem + " [" + f.Check + "]"
}

// Lint compiles the given files and returns their valid but doubtful parts, as
// warnings ordered by file (as given), line and column, or the
// errors of [Compile]. Rules that are off are left out. docs/rules.md lists the checks.
func Lint(files ...File) []Finding {
	link := link("", files, false)
	link.limits()
	l := &linter{set: link.set}
	for _, e := range link.errs.all() {
		l.found = append(l.found, Finding{Problem: *e, Severity: event.SeverityError, Check: checkCompile})
	}
	if len(l.found) > 0 {
		return l.found
	}
	l.linker = link.set.relink()
	l.unused()
	l.blindness()
	l.reach()
	l.tests()
	l.harmless()
	for i, d := range l.decls {
		if !l.set.rules[i].Disabled {
			l.condition(&d.when)
			for k := range d.exceptions {
				l.condition(&d.exceptions[k].when)
			}
		}
	}
	slices.SortStableFunc(l.found, func(a, b Finding) int { return a.Problem.compare(&b.Problem) })
	return l.found
}

// linter gathers findings about a set.
type linter struct {
	*linker // of the set, with the tests of its files
	set     *Set
	found   []Finding
	buf     []byte
}

// report adds a warning.
func (l *linter) report(p at, check, hint, format string, args ...any) {
	e := Error{
		File: p.src.name, Line: p.line, Column: p.col, Rule: p.rule, Hint: hint, Msg: fmt.Sprintf(format, args...),
		file: p.src.index,
	}
	l.found = append(l.found, Finding{Problem: e, Severity: event.SeverityWarning, Check: check})
}

// rule reports something about the rule with an index as a whole.
func (l *linter) rule(i int, check, hint, format string, args ...any) {
	l.report(l.decls[i].at, check, hint, format, args...)
}

// unused reports lists and macros that nothing uses. Names in conditions that an overriding file replaces count too.
func (l *linter) unused() {
	used := map[string]bool{}
	mention := func(expr string) {
		for _, word := range strings.FieldsFunc(expr, func(c rune) bool { return !identifier("_" + string(c)) }) {
			used[word] = true
		}
	}
	for _, doc := range l.docs {
		for _, d := range doc.rules {
			mention(d.when.text)
			for i := range d.exceptions {
				mention(d.exceptions[i].when.text)
			}
		}
		for _, m := range doc.defined {
			mention(m.expr.text)
		}
	}
	for _, d := range l.resolver.tops {
		if !used[d.name] {
			l.report(d.at, checkUnused, "remove it, or use it", "nothing uses the %s %s", d.kind, yamlfile.Quote(d.name))
		}
	}
}

// blindness reports rules that are off and alone end the blindness of another.
func (l *linter) blindness() {
	resolved := map[string]bool{} // blindness that something ends
	for _, d := range l.decls {
		for _, id := range d.rule.Resolves {
			resolved[id] = resolved[id] || !d.rule.Disabled
		}
	}
	for i, d := range l.decls {
		if !d.override || !d.rule.Disabled {
			continue
		}
		for _, id := range d.rule.Resolves {
			if l.set.byID[id].Blinds && !resolved[id] {
				l.rule(i, checkBlindness, "turn that rule off too, or let another one resolve it",
					"is off, and nothing else ends the blindness that rule %s begins", id)
			}
		}
	}
}

// reach reports rules that others leave nothing to.
func (l *linter) reach() {
	all, after := -1, 0 // the rule that matches every entry, and how many come after it
	for i, r := range l.set.rules {
		by := l.set.Rule(r.ShadowedBy)
		switch {
		case r.Disabled:
		case all >= 0:
			after++
		case r.MatchesAll:
			all = i
		case by != nil:
			l.rule(i, checkShadowed, "narrow that rule; to change this one, write its id and override: true",
				"can never match: rule %s at %s:%d comes first and has the same conditions, or fewer", by.ID, yamlfile.Clean(by.File),
				by.Line)
		}
	}
	if after > 0 {
		l.rule(all, checkShadowed, "narrow it, or use defaults instead",
			"matches every entry, so the rules after it (%d) never match", after)
	}
}

// tests reports rules with too few tests.
func (l *linter) tests() {
	const hint = "write two texts that it must match, and a similar one that it must not match"
	for i, d := range l.decls {
		if l.set.rules[i].Disabled {
			continue
		}
		yes, no := 0, 0
		for _, t := range d.tests {
			if err := l.set.CheckPhase(t.phase); err != nil {
				l.report(t.phaseAt, checkPhase, err.Hint, "%s", err.Msg)
			}
			if t.match {
				yes++
			} else {
				no++
			}
		}
		switch {
		case yes+no == 0:
			l.rule(i, checkTests, hint, "has no tests")
		case yes < 2 || no == 0:
			l.rule(i, checkTests, hint, "has %d of 2 match tests and %d of 1 no_match tests", yes, no)
		}
	}
}

// harmless reports each file with rules that decide test texts of later rules that break play.
func (l *linter) harmless() {
	type count struct{ first, rule, tests int } // the first rule of the file, and one rule whose tests it has
	counts := map[string]count{}                // by file
	for _, t := range l.set.Test() {
		meant := event.Decision{Disposition: t.Rule.Disposition, Severity: t.Rule.Severity, Tags: t.Rule.Tags}
		if got := l.set.Rule(t.Got.Rule); t.Overridden && got != nil && breaks(&meant) && !breaks(&t.Got) {
			n, seen := counts[got.File]
			if !seen {
				n = count{got.index, t.Rule.index, 0}
			}
			n.first, n.tests = min(n.first, got.index), n.tests+1
			counts[got.File] = n
		}
	}
	for _, n := range counts {
		l.rule(n.first, checkBreaks, "narrow it: see the tests with rules check",
			"the rules of this file decide %s of later rules that break play, such as %s", text.Count(n.tests, "test"),
			l.set.rules[n.rule].ID)
	}
}

// breaks reports whether an entry with a decision breaks play by itself.
func breaks(d *event.Decision) bool {
	return d.Disposition == event.Blocking && (d.Severity == event.SeverityFatal ||
		slices.ContainsFunc(d.Tags, func(tag string) bool { return tag == "crash" || tag == "hang" || tag == "breaks" }))
}

// condition looks at the parts of a condition of a rule or an exception.
func (l *linter) condition(e *exprText) {
	ast.Find(l.resolver.expand(e), func(n ast.Node) bool {
		l.comparison(e, n)
		l.phase(e, n)
		return false
	})
}

// phases are those that hosts and the default rules know. A host may have
// others, so that a phase which is none of them is no error.
var phases = []string{"start", "boot", "menu", "load", "play", "save", "quit", "crashed"}

// CheckPhase returns a warning without a place if no rule of s sets the phase
// called name, and hosts do not commonly have it. The name "" is the phase that is
// not known, and valid.
func (s *Set) CheckPhase(name string) *Error {
	known := slices.Clone(phases)
	for _, r := range s.rules {
		if !r.Disabled && r.SetsPhase != "" {
			known = append(known, r.SetsPhase)
		}
	}
	if name == "" || slices.Contains(known, name) {
		return nil
	}
	return &Error{Msg: "no rule sets the phase " + yamlfile.Quote(name), Hint: yamlfile.DidYouMean(name, known)}
}

// phase reports n if it compares the phase with a phase that no rule sets.
func (l *linter) phase(e *exprText, n ast.Node) {
	b, ok := n.(*ast.BinaryNode)
	if !ok || b.Operator != "==" && b.Operator != "!=" && b.Operator != "in" {
		return
	}
	for _, side := range [][2]ast.Node{{b.Left, b.Right}, {b.Right, b.Left}} {
		if v, ok := side[0].(*ast.IdentifierNode); !ok || v.Value != "phase" {
			continue
		}
		for _, name := range textsIn(side[1]) {
			if err := l.set.CheckPhase(name); err != nil {
				l.report(e.place(side[1].Location().From), checkPhase, err.Hint, "%s", err.Msg)
			}
		}
	}
}

// maxHint bounds a text that people copy, in bytes.
const maxHint = 2000

// hiddenText is a text that masking hides; the zero value where none is.
type hiddenText struct {
	text  string
	shown string // what templates have in its place
	more  int    // further ones in the same list
}

// comparison reports n when it compares template with a text that no template
// can hold.
func (l *linter) comparison(e *exprText, n ast.Node) {
	op, args := relation(n)
	how, ok := fits[op]
	if !ok {
		return
	}
	if how == whole && isTemplate(args[1]) {
		slices.Reverse(args)
	}
	if !isTemplate(args[0]) {
		return
	}
	h := l.hidden(textsIn(args[1]), how)
	if h.text == "" {
		return
	}
	others := ""
	if h.more > 0 {
		others = " (and of other items in the list)"
	}
	hint := "write " + strconv.Quote(text.Clip(h.shown, maxHint))
	if strings.Trim(h.shown, "<*> ") == "" {
		hint = `"<*>" stands in its place; add the word to protect, or compare message`
	}
	l.report(e.place(args[1].Location().From), checkMasked, hint,
		"no template contains %s: masking replaces a part of it%s", yamlfile.Quote(h.text), others)
}

func isTemplate(n ast.Node) bool {
	id, ok := n.(*ast.IdentifierNode)
	return ok && id.Value == "template"
}

// hidden returns the first of some texts that no template can hold.
func (l *linter) hidden(items []string, how fit) (h hiddenText) {
	for _, text := range items {
		switch {
		case text == "" || l.possible(text, how):
		case h.text != "":
			h.more++
		default:
			h.text, h.shown = text, l.template(logline.Text(text, event.LevelUnknown)) // without the head of a logger
			if !how.start && strings.HasPrefix(text, " ") {
				h.shown = " " + h.shown
			}
			if !how.end && strings.HasSuffix(text, " ") {
				h.shown += " "
			}
		}
	}
	return h
}

// The texts before and after a text that differ for masking: nothing, more of the
// same word, another word, a variable, an open quotation. Before a number it may be a
// word that announces a code, which then stays.
var (
	textsBefore = []string{"", "x", "x ", "x: ", "<*> ", "x'", "x'x '"}
	codesBefore = append(slices.Clip(textsBefore), "code ", "(code=")
	textsAfter  = []string{"", "x", " x", ": x", " <*>", "'x", "x'"}
)

// mayBeCode reports whether text may begin with an error code.
func mayBeCode(text string) bool {
	text = strings.TrimLeft(text, " :=([#-")
	end := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEFxX", r) })
	if end < 0 {
		end = len(text)
	}
	return strings.ContainsAny(text[:end], "0123456789")
}

// missingHead returns the missing beginning of a word that announces a code, if text
// begins within such a word: "rror was 5" may be a part of "error was 5".
func missingHead(text string) string {
	for _, word := range [...]string{"error was ", "code ", "status ", "hresult ", "errno "} {
		for i := 1; i < len(word)-1; i++ {
			if strings.HasPrefix(text, word[i:]) {
				return word[:i]
			}
		}
	}
	return ""
}

// possible reports whether there is a template that text fits into. It tries
// texts around it, so it may err, in both directions: masking has more rules than it
// tries, and no template needs to occur. Its result is for a warning.
func (l *linter) possible(text string, how fit) bool {
	before, after := textsBefore, textsAfter
	switch {
	case how.start:
		before = before[:1]
	case mayBeCode(text):
		before = codesBefore
	}
	if how.end {
		after = after[:1]
	}
	if b := missingHead(text); b != "" && !how.start {
		before = append(slices.Clip(before), b)
	}
	for _, b := range before {
		for _, a := range after {
			got := l.template(b + text + a)
			i := strings.Index(got, text)
			switch {
			case i < 0:
			case how == whole && got != text, how.start && i > 0, how.end && !strings.HasSuffix(got, text):
			default:
				return true
			}
		}
	}
	return false
}

// template returns the first line of the template of a message.
func (l *linter) template(message string) string {
	l.buf = l.set.normalizer.AppendTemplate(l.buf[:0], message, "")
	head, _, _ := strings.Cut(string(l.buf), "\n")
	return head
}
