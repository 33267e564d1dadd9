package rules

import (
	"fmt"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// test is an inline test and the rule that it belongs to.
type test struct {
	rule *Rule
	decl *testDecl
}

// TestResult is what became of one inline test.
type TestResult struct {
	Rule   *Rule  // that the test stands at
	File   string // of the test
	Line   int    // of its match or no_match
	Column int

	Text     string // of the record
	Template string // what masking made of it: the first line
	Match    bool   // true for match, false for no_match

	// Got is the decision of the whole set.
	Got event.Decision

	// Passed: Rule decided the record, or in case of a rule with Continue
	// matched it, exactly if Match says so. A test of a disabled rule passes.
	Passed bool

	// Overridden: the record was to match, but a rule of an earlier file
	// decided it first. Such a test says nothing about its rule.
	Overridden bool
}

// Failed reports whether the test shows that its rule is wrong.
func (r *TestResult) Failed() bool { return !r.Passed && !r.Overridden }

// String returns one line that says where the test is, what was expected and
// what came out. It is safe to print.
func (r *TestResult) String() string {
	verb := "match"
	if !r.Match {
		verb = "no_match"
	}
	state := "passed"
	switch {
	case r.Overridden:
		state = "overridden"
	case !r.Passed:
		state = "failed"
	}
	s := fmt.Sprintf("%s:%d:%d: rule %s: %s %s: %s, decided by %s",
		clean(r.File), r.Line, r.Column, r.Rule.ID, verb, quote(r.Text), state, r.Got.Rule)
	if r.Failed() {
		s += fmt.Sprintf(" (template %s)", quote(r.Template))
	}
	return s
}

// Test runs the inline tests of all files, in order: each text is masked by n
// and decided by the whole set. With a nil n, masking is that of a
// [Set.Masking].
func (s *Set) Test(n *signature.Normalizer) []TestResult {
	if n == nil {
		n = s.normalizer
	}
	ev := s.NewEvaluator()
	out := make([]TestResult, 0, len(s.tests))
	var buf []byte
	for _, t := range s.tests {
		d := t.decl
		buf = n.AppendTemplate(buf[:0], d.text, d.stack)
		head, frames, _ := strings.Cut(string(buf), "\n")
		o, continued := ev.evaluate(&Input{
			Template: head, Frames: frames, Message: d.text, Stack: d.stack,
			Level: d.level, Kind: d.kind, Status: d.status, Source: d.source, Phase: d.phase, Operation: d.op,
		})
		hit := o.Rule == t.rule
		for _, r := range continued {
			hit = hit || r == t.rule
		}
		out = append(out, TestResult{
			Rule: t.rule, File: d.at.src.name, Line: d.at.line, Column: d.at.col,
			Text: d.text, Template: head, Match: d.match, Got: o.Decision,
			Passed:     hit == d.match || t.rule.Disabled,
			Overridden: d.match && !hit && !t.rule.Disabled && o.Rule != nil && o.Rule.file < d.at.src.index && o.Rule.index < t.rule.index,
		})
	}
	return out
}
