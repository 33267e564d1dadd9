package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/yamlfile"
)

// test is an inline test and the rule that it belongs to.
type test struct {
	rule *Rule
	decl *testDecl
}

// TestResult is what became of one inline test.
type TestResult struct {
	Rule   *Rule  // the rule of the test
	File   string // of the test
	Line   int    // of its match or no_match
	Column int

	Text     string // of the record
	Template string // what masking made of it: the first line
	Match    bool   // true for match, false for no_match

	// Got is the decision of the whole set.
	Got event.Decision

	// Failed: the test shows that its rule is wrong.
	Failed bool

	// Passed: Rule decided the record, or in case of a rule with Continue
	// matched it, exactly if Match is true. A test of a disabled rule passes.
	Passed bool

	// Overridden: the record was to match, but a rule of an earlier file
	// decided it first. Such a test does not check its rule.
	Overridden bool
}

// String returns one line with the place of the test, the expectation and the result.
// It is safe to print.
func (r *TestResult) String() string {
	verb := "match"
	if !r.Match {
		verb = "no_match"
	}
	state := "passed"
	switch {
	case r.Overridden:
		state = "overridden"
	case r.Failed:
		state = "failed"
	}
	s := fmt.Sprintf("%s:%d:%d: rule %s: %s %s: %s, decided by %s",
		yamlfile.Clean(r.File), r.Line, r.Column, r.Rule.ID, verb, yamlfile.Quote(r.Text), state, r.Got.Rule)
	if r.Failed {
		s += fmt.Sprintf(" (template %s)", yamlfile.Quote(r.Template))
	}
	return s
}

// Test runs the inline tests of all files, in order: each text is masked by [Set.Masking]
// and decided by the whole set. All tests have a result, also those that passed: see Failed.
func (s *Set) Test() []TestResult {
	ev := s.NewEvaluator()
	tests := s.relink().tests(s)
	out := make([]TestResult, 0, len(tests))
	var buf []byte
	for _, t := range tests {
		d := t.decl
		buf = AppendTemplate(buf[:0], s.normalizer, &d.Entry)
		in := InputOf(&d.Entry, string(buf), d.phase)
		o := ev.Evaluate(&in)
		hit := o.Rule == t.rule || slices.Contains(ev.continued, t.rule)
		res := TestResult{
			Rule: t.rule, File: d.at.src.name, Line: d.at.line, Column: d.at.col,
			Text: d.Message, Template: in.Template, Match: d.match, Got: o.Decision,
			Passed: hit == d.match || t.rule.Disabled,
			Overridden: d.match && !hit && !t.rule.Disabled && o.Rule != nil && o.Rule.file < d.at.src.index &&
				o.Rule.index < t.rule.index,
		}
		res.Failed = !res.Passed && !res.Overridden
		out = append(out, res)
	}
	return out
}

type testDecl struct {
	event.Entry
	at      at
	match   bool
	phase   string
	phaseAt at
}

var testFields = keys[testDecl]{
	yamlfile.KeyOf("match", func(t *testDecl) *string { return &t.Message }, parseText),
	yamlfile.KeyOf("no_match", func(t *testDecl) *string { return &t.Message }, parseText),
	yamlfile.KeyOf("level", func(t *testDecl) *event.Level { return &t.Level }, oneIn[event.Level](levels)),
	yamlfile.KeyOf("phase", func(t *testDecl) *string { return &t.phase }, parseText),
	yamlfile.KeyOf("stack", func(t *testDecl) *string { return &t.Stack }, parseText),
	yamlfile.KeyOf("source", func(t *testDecl) *string { return &t.Source }, parseText),
	yamlfile.KeyOf("kind", func(t *testDecl) *event.Kind { return &t.Kind }, oneIn[event.Kind](kinds)),
	yamlfile.KeyOf("status", func(t *testDecl) *event.Status { return &t.Status }, oneIn[event.Status](statuses)),
	yamlfile.KeyOf("method", func(t *testDecl) *string { return &t.Source }, parseText),
	yamlfile.KeyOf("operation", func(t *testDecl) *string { return &t.OperationID }, parseText),
}

func parseTest(v value) (testDecl, bool) {
	errs := ownerOf(v).errs
	before := errs.count()
	t := testDecl{at: placeOf(v)}
	given := testFields.Read(&t, v)
	t.match = given["match"] != nil
	if text := cmp.Or(given["match"], given["no_match"]); text != nil {
		t.at = placeOf(v.At(text.Value.Node))
	}
	if phase := given["phase"]; phase != nil {
		t.phaseAt = placeOf(phase.Value)
	}
	if v.Kind == yaml.MappingNode && (given["match"] == nil) == (given["no_match"] == nil) {
		v.Fail(`such as - match: "text of a log record"`, "a test needs either match or no_match")
	}
	if given["kind"] == nil {
		t.Kind = t.Status.Kind()
		if given["method"] != nil && given["status"] == nil {
			t.Kind, t.Status = event.KindOperation, event.StatusFailed
			given["status"] = &yamlfile.Entry{Key: v, Value: v}
		}
	}
	switch {
	case t.Status.Kind() != t.Kind && given["status"] == nil:
		v.Under("status").Fail("one of "+strings.Join(statusesOf(t.Kind), ", "),
			"is missing: an entry of kind %s has one", t.Kind)
	case t.Status.Kind() != t.Kind:
		given["status"].Value.Fail("one of "+strings.Join(statusesOf(t.Kind), ", "),
			"an entry of kind %s cannot have status %s", t.Kind, t.Status)
	case t.Kind != event.KindLog && given["level"] != nil:
		given["level"].Value.Fail("remove it", "an entry of kind %s has no level", t.Kind)
	case given["method"] != nil && t.Kind != event.KindOperation:
		given["method"].Value.Fail("remove it, or give the status of an operation",
			"an entry of kind %s has no method", t.Kind)
	case given["method"] != nil && given["source"] != nil:
		given["source"].Value.Fail("remove one of the two", "the source of an operation is its method")
	}
	return t, errs.count() == before
}
