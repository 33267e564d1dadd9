package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/yamlfile"
)

// What [Finding.Check] may be.
const (
	checkCompile = "compile" // the file does not compile
	// a rule that can never match, because of an earlier file; or one that matches every entry.
	checkShadowed  = "shadowed"
	checkDuplicate = "duplicate" // two rules with one condition, of which one only adds tags
	checkTests     = "tests"     // a rule with less than two tests that match and one that does not
	checkMasked    = "masked"    // a text compared with template that no template can hold
	checkBare      = "bare"      // a beginning of template that only a line without a logger's prefix has
	checkPerEntry  = "per-entry" // a rule that is evaluated for each entry
	checkCost      = "cost"      // a condition that may take long for a long entry
	checkPhase     = "phase"     // a phase that no rule sets
	checkUnused    = "unused"    // a list or macro that nothing uses
	checkOverride  = "override"  // an override that changes nothing
	checkBlindness = "blindness" // a rule is off that alone ends the blindness of another
)

// Finding is something in a rule file that is valid and yet unlikely to be
// meant, or dearer than it has to be; or an error of [Compile], whose check is
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
	return place + f.Severity.String() + ": " + f.Problem.what() + " [" + f.Check + "]"
}

// Lint compiles the given files and returns what is valid in them but should be
// looked at, as warnings ordered by file (as given), line and column, or the
// errors of [Compile]. Rules that are off are left out.
func Lint(files ...File) []Finding {
	set, err := Compile(files...)
	if err == nil {
		return set.lint()
	}
	list, ok := errors.AsType[Errors](err)
	if !ok {
		panic("BUG: rules: Compile returned an error that is not Errors")
	}
	out := make([]Finding, len(list))
	for i, e := range list {
		out[i] = Finding{Problem: *e, Severity: event.SeverityError, Check: checkCompile}
	}
	return out
}

func (s *Set) lint() []Finding {
	l := &linter{set: s, lists: map[listUse]hiddenText{}, found: slices.Clone(s.notes)}
	l.reach()
	l.tests()
	for _, r := range s.active {
		l.conditions(r)
	}
	slices.SortStableFunc(l.found, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.Problem.Line, b.Problem.Line),
			cmp.Compare(a.Problem.Column, b.Problem.Column))
	})
	out := make([]Finding, len(l.found))
	for i, f := range l.found {
		out[i] = f.Finding
	}
	return out
}

// linter gathers findings about a set.
type linter struct {
	set   *Set
	found []placed
	lists map[listUse]hiddenText // what was found out about lists
	buf   []byte
}

// placed is a finding and the index of its file.
type placed struct {
	file int
	Finding
}

// warning returns a finding about the file with an index.
func warning(file int, check string, e Error) placed {
	return placed{file, Finding{Problem: e, Severity: event.SeverityWarning, Check: check}}
}

// rule reports something about a rule as a whole.
func (l *linter) rule(r *Rule, check, hint, format string, args ...any) {
	e := Error{File: r.File, Line: r.Line, Column: r.Column, Rule: r.ID, Msg: fmt.Sprintf(format, args...), Hint: hint}
	l.found = append(l.found, warning(r.file, check, e))
}

// node reports something about a part of a condition of r.
func (l *linter) node(r *Rule, c *condition, n ast.Node, check, hint, format string, args ...any) {
	src := c.expr.at.src
	line, col := locate(src, c.expr.node, n.Location().From)
	e := Error{File: src.name, Line: line, Column: col, Rule: r.ID, Msg: fmt.Sprintf(format, args...), Hint: hint}
	l.found = append(l.found, warning(src.index, check, e))
}

// reach reports rules that others leave nothing to.
func (l *linter) reach() {
	first := map[string]*Rule{} // by fingerprint
	var all *Rule               // that matches every entry
	after := 0                  // rules that it leaves nothing to
	for _, r := range l.set.active {
		switch {
		case all != nil:
			after++
			continue
		case r.MatchesAll():
			all = r
		}
		same := first[r.print]
		if same == nil {
			first[r.print] = r
		}
		switch by := l.set.byID[r.ShadowedBy]; {
		case by != nil && by.print == r.print:
			l.rule(r, checkShadowed, "to change that rule, write its id and override: true",
				"can never match: rule %s at %s:%d has the same condition and comes first", by.ID, yamlfile.Clean(by.File), by.Line)
		case by != nil:
			l.rule(r, checkShadowed, "narrow that rule, or switch this one off with override: true and enabled: false",
				"can never match: rule %s at %s:%d and rules before it always match first", by.ID, yamlfile.Clean(by.File), by.Line)
		case same != nil && same.Continue && r.Continue:
			l.rule(r, checkDuplicate, "give that rule the tags of both",
				"has the same condition as rule %s at %s:%d", same.ID, yamlfile.Clean(same.File), same.Line)
		case same != nil:
			l.rule(r, checkDuplicate, "give the tags of this rule to the other one",
				"has the same condition as rule %s at %s:%d", same.ID, yamlfile.Clean(same.File), same.Line)
		}
	}
	if after > 0 {
		l.rule(all, checkShadowed, "narrow it, or use defaults instead",
			"matches every entry, so the rules after it (%d) never match", after)
	}
}

// tests reports rules with too few tests.
func (l *linter) tests() {
	match, noMatch := map[*Rule]int{}, map[*Rule]int{}
	for _, t := range l.set.tests {
		if err := l.set.CheckPhase(t.decl.phase); err != nil && !t.rule.Disabled {
			at := t.decl.phaseAt
			e := Error{File: at.src.name, Line: at.line, Column: at.col, Rule: t.rule.ID, Msg: err.Msg, Hint: err.Hint}
			l.found = append(l.found, warning(at.src.index, checkPhase, e))
		}
		if t.decl.match {
			match[t.rule]++
		} else {
			noMatch[t.rule]++
		}
	}
	const hint = "write two texts that it must match, and a similar one that it must not match"
	for _, r := range l.set.active {
		switch yes, no := match[r], noMatch[r]; {
		case yes+no == 0:
			l.rule(r, checkTests, hint, "has no tests")
		case yes < 2 || no == 0:
			l.rule(r, checkTests, hint, "has %d of 2 match tests and %d of 1 no_match tests", yes, no)
		}
	}
}

// conditions looks at the parts of a rule's condition and exceptions.
func (l *linter) conditions(r *Rule) {
	reported := varSet(0)
	for i := -1; i < len(r.Exceptions); i++ {
		c := r.cond
		if i >= 0 {
			c = r.Exceptions[i].cond
		}
		if c.cost.steps > dearCost {
			l.node(r, c, c.cost.most, checkCost, c.cost.hint, "may take %s", &c.cost)
		}
		ast.Find(c.tree, func(n ast.Node) bool {
			if id, ok := n.(*ast.IdentifierNode); ok {
				if v := varOf(id.Value) & perEntry &^ reported; v != 0 {
					reported |= v
					l.node(r, c, n, checkPerEntry, alternatives[v],
						"reads %s, so it is evaluated for each entry, not once per signature", id.Value)
				}
			}
			l.comparison(r, c, n)
			l.phase(r, c, n)
			return false
		})
	}
}

// alternatives are, for each variable of perEntry, what costs less.
var alternatives = map[varSet]string{
	varMessage:   "compare template, if masking leaves enough of the text",
	varStack:     "compare frames, the methods of the stack",
	varOperation: "compare method or status, which describe the operation",
}

// phases are those that hosts and the default rules know. A host may have
// others, so that a phase which is none of them is no error.
var phases = []string{"start", "boot", "menu", "load", "play", "save", "quit", "crashed"}

// CheckPhase returns what is wrong with the name of a phase: nil where a rule of
// the set sets it, where it is one that hosts commonly have, and for "", the
// phase that is not known. The error has no place. A host may know phases of
// its own, so it is a warning.
func (s *Set) CheckPhase(name string) *Error {
	if name == "" || slices.Contains(phases, name) {
		return nil
	}
	known := slices.Clone(phases)
	for _, r := range s.active {
		if r.SetsPhase == name {
			return nil
		}
		if r.SetsPhase != "" && !slices.Contains(known, r.SetsPhase) {
			known = append(known, r.SetsPhase)
		}
	}
	return &Error{Msg: "no rule sets the phase " + yamlfile.Quote(name), Hint: yamlfile.DidYouMean(name, known)}
}

// phase reports n when it compares the phase with one that nobody sets.
func (l *linter) phase(r *Rule, c *condition, n ast.Node) {
	b, ok := n.(*ast.BinaryNode)
	if !ok || b.Operator != "==" && b.Operator != "!=" && b.Operator != "in" {
		return
	}
	for _, side := range [][2]ast.Node{{b.Left, b.Right}, {b.Right, b.Left}} {
		if v, ok := side[0].(*ast.IdentifierNode); !ok || varOf(v.Value) != varPhase {
			continue
		}
		for _, name := range textsIn(side[1]) {
			if err := l.set.CheckPhase(name); err != nil {
				l.node(r, c, side[1], checkPhase, err.Hint, "%s", err.Msg)
			}
		}
	}
}
