package rules_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

const overridable = `
version: 1
lists: {words: [a, b]}
macros: {calm: 'level == "info"'}
rules:
  - {id: first, when: 'template == "1"', disposition: ignore}
  - id: load.failed
    when: 'template in words or calm'
    exceptions: ['source == "quiet"']
    disposition: advisory
    severity: fatal
    invalidates: true
    escalate: {after: 3, within: 1s, to: blocking}
    summary: it failed
    why: because
    sets_phase: failed
    blinds: true
    resolves: [first]
    tags: [t]
    tests: [{match: a}, {no_match: c}]
  - {id: last, when: 'template == "2"', disposition: ignore}
  - {id: tagging, when: 'template == "2"', continue: true, tags: [t2], enabled: false}
`

// TestOverrideField: an override changes the fields that it gives, and no other, and has a place of its own. The order
// of the rules stays as it was.
func TestOverrideField(t *testing.T) {
	want := visible(compile(t, "version: 1\n", overridable).Rule("load.failed"))
	want.Resolves = []string{"last"}
	over := compile(t, "version: 1\nrules: [{id: load.failed, override: true, resolves: [last]}]", overridable)
	require.Equal(t, 4, len(over.Rules()))
	r := over.Rules()[1]
	require.Same(t, r, over.Rule("load.failed"))
	require.Equal(t, want, visible(r))
	require.Equal(t, []any{"f1.yaml", 2, 9}, []any{r.File, r.Line, r.Column})
	require.Equal(t, []string{`f2.yaml:9:18: source == "quiet"`}, r.Exceptions())

	set := compile(t, "version: 1\nrules: [{id: tagging, override: true, enabled: true, continue: false, disposition: blocking, when: 'phase == \"x\"'}]", overridable)
	require.Equal(t, "tagging", set.NewEvaluator().Evaluate(&rules.Input{Phase: "x"}).Decision.Rule)
}

// TestOverrideEscalation: an escalation that is taken over and says no more than
// the rule now does is left out; giving one is an error.
func TestOverrideEscalation(t *testing.T) {
	set := compile(t, "version: 1\nrules: [{id: load.failed, override: true, disposition: blocking}]", overridable)
	require.Nil(t, set.Rule("load.failed").Escalate)
}

// TestOverrideEqualsMerge compares a stack of files with the one file that a
// naive merge of their fields makes.
func TestOverrideEqualsMerge(t *testing.T) {
	values := map[string][]string{
		"when":        {`'template == "a"'`, `'template contains "b" and phase == "x"'`, `'message != ""'`},
		"exceptions":  {`['source == "q"']`, `['phase == "y"', {name: n, when: 'message == "m"'}]`, `[]`},
		"disposition": {"ignore", "advisory"},
		"severity":    {"info", "fatal"},
		"invalidates": {"true", "false"},
		"escalate":    {"{after: 3, within: 1s, to: blocking}", "{after: 9, within: {entries: 50}, to: blocking, severity: fatal}"},
		"summary":     {"one", "two"},
		"why":         {"one", "two"},
		"advice":      {"one", "two"},
		"sets_phase":  {"x", "y"},
		"blinds":      {"true", "false"},
		"tags":        {"[a]", "[b, c]", "[]"},
		"enabled":     {"true", "false"},
	}
	fields := slices.Sorted(maps.Keys(values))
	render := func(rulesOf []map[string]string, override bool) string {
		text := "version: 1\nrules:\n"
		for _, r := range rulesOf {
			text += "  - id: " + r["id"] + "\n"
			if override {
				text += "    override: true\n"
			}
			for _, f := range fields {
				if v, ok := r[f]; ok {
					text += "    " + f + ": " + v + "\n"
				}
			}
		}
		if len(rulesOf) == 0 {
			return "version: 1\n"
		}
		return text
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "rules")
		base, merged := make([]map[string]string, n), make([]map[string]string, n)
		for i := range base {
			base[i] = map[string]string{"id": fmt.Sprintf("r%d", i)}
			for _, f := range fields {
				if f == "when" || f == "disposition" || rapid.Bool().Draw(t, f) {
					base[i][f] = rapid.SampledFrom(values[f]).Draw(t, f)
				}
			}
			// No two may have one condition, in whatever file.
			base[i]["when"] = strings.TrimSuffix(base[i]["when"], "'") + fmt.Sprintf(" and kind != \"log\" or template == \"base%d\"'", i)
			merged[i] = maps.Clone(base[i])
		}
		texts := []string{render(base, false)}
		for file := range rapid.IntRange(0, 3).Draw(t, "files") {
			var changes []map[string]string
			for i := range base {
				if !rapid.Bool().Draw(t, "changed") {
					continue
				}
				change := map[string]string{"id": base[i]["id"]}
				for _, f := range fields {
					if rapid.IntRange(0, 2).Draw(t, f) == 0 {
						change[f] = rapid.SampledFrom(values[f]).Draw(t, f)
					}
				}
				if w, ok := change["when"]; ok {
					change["when"] = strings.TrimSuffix(w, "'") + fmt.Sprintf(" or template == \"file%d.%d\"'", file, i)
				}
				maps.Copy(merged[i], change)
				changes = append(changes, change)
			}
			texts = slices.Insert(texts, 0, render(changes, true))
		}
		got, want := compile(t, texts...), compile(t, render(merged, false))
		require.Equal(t, len(want.Rules()), len(got.Rules()))
		for i, w := range want.Rules() {
			g := got.Rules()[i]
			require.Equal(t, visible(w), visible(g))
			require.Equal(t, []any{w.PerEntry, w.Variables()}, []any{g.PerEntry, g.Variables()})
		}
		ev, ref := got.NewEvaluator(), want.NewEvaluator()
		for range 5 {
			in := drawInput(t)
			require.Equal(t, ref.Evaluate(&in).Decision, ev.Evaluate(&in).Decision)
		}
	})
}

// shown is the content of a rule, without its places.
type shown struct {
	rules.Rule
	Exceptions []string
}

// visible returns the content of r.
func visible(r *rules.Rule) shown {
	c := shown{Rule: rules.Rule{
		ID: r.ID, When: r.When, Disposition: r.Disposition, Severity: r.Severity, HasSeverity: r.HasSeverity,
		Invalidates: r.Invalidates,
		Summary:     r.Summary, Why: r.Why, SetsPhase: r.SetsPhase, Blinds: r.Blinds, Resolves: r.Resolves, Tags: r.Tags,
		Continue: r.Continue, Disabled: r.Disabled,
	}}
	if r.Escalate != nil {
		e := *r.Escalate
		c.Escalate = &e
	}
	for _, e := range r.Exceptions() {
		_, text, _ := strings.Cut(e, ": ")
		c.Exceptions = append(c.Exceptions, text)
	}
	return c
}

// TestOverrideTests: tests belong to the condition, and follow it.
func TestOverrideTests(t *testing.T) {
	run := func(mine string) []string {
		var got []string
		for _, r := range compile(t, "version: 1\nrules: ["+mine+"]", overridable).Test() {
			got = append(got, fmt.Sprintf("%s %q %v", r.File, r.Text, r.Passed))
			require.False(t, r.Failed)
		}
		return got
	}
	require.Equal(t, []string{`f2.yaml "a" true`, `f2.yaml "c" true`}, run(`{id: load.failed, override: true, disposition: blocking}`))
	require.Empty(t, run(`{id: load.failed, override: true, when: 'template == "x"'}`))
	require.Empty(t, run(`{id: load.failed, override: true, exceptions: []}`))
	require.Equal(t, []string{`f1.yaml "x" true`}, run(`{id: load.failed, override: true, when: 'template == "x"', tests: [{match: x}]}`))
	require.Equal(t, []string{`f1.yaml "b" true`}, run(`{id: load.failed, override: true, tests: [{match: b}]}`))
	// What an override takes from another rule's test is no fault of that rule.
	require.Equal(t, []string{`f2.yaml "a" false`, `f2.yaml "c" true`}, run(`{id: first, override: true, when: 'template in ["a", "c"]'}`))
}

// TestSharedMasking: words that any file protects are left as they are for all
// files, and what is masked is the same for every rule.
func TestSharedMasking(t *testing.T) {
	const text = `
version: 1
rules:
  - {id: x, when: 'template == "Human7 is gone"', disposition: ignore, tests: [{match: Human7 is gone}]}
`
	require.True(t, compile(t, text).Test()[0].Failed)
	require.True(t, compile(t, text, "version: 1\nprotect: [Human7]\n").Test()[0].Passed)
	require.True(t, compile(t, "version: 1\nprotect: [Other9]\n", "version: 1\nprotect: [Human7, Other9]\n", text).Test()[0].Passed)
}

// TestDisabled: a rule that is off decides nothing, tags nothing, covers
// nothing, is resolved by nothing, and is valid all the same.
func TestDisabled(t *testing.T) {
	set := compileRules(t, `
  - {id: off, when: 'true', disposition: blocking, enabled: false}
  - {id: off.tag, when: 'true', continue: true, tags: [t], enabled: false}
  - {id: on, when: 'template == "x"', disposition: advisory, enabled: true, resolves: ["off*", same]}
  - {id: same, when: 'template == "y"', disposition: ignore}
`)
	ev := set.NewEvaluator()
	in := &rules.Input{Template: "x"}
	want := event.Decision{Rule: "on", Disposition: event.Advisory, Severity: event.SeverityWarning}
	require.Equal(t, want, ev.Evaluate(in).Decision)
	p := ev.Plan(in)
	require.Equal(t, want, ev.Decide(&p, in).Decision)
	require.Equal(t, []string{"same"}, set.Rule("on").Resolves)
	require.Empty(t, set.Rule("same").ShadowedBy)
	require.ErrorContains(t, compileError(t, rules.File{Name: "f", Data: []byte(rule("id: x", "enabled: false", "when: 'templat'", "disposition: ignore"))}), "did you mean")
}

// TestContinueOnlyTags: each field that decides or acts is refused.
func TestContinueOnlyTags(t *testing.T) {
	for _, field := range []string{
		"disposition: ignore", "severity: info", "invalidates: true", "escalate: {after: 2, within: 1s, to: blocking}", "summary: s",
		"blinds: true", "resolves: [x]",
	} {
		errs := compileError(t, rules.File{Name: "f", Data: []byte(rule("id: c", "when: 'phase == \"c\"'", "continue: true", "tags: [t]", field) +
			"  - {id: x, when: 'true', disposition: ignore}\n")})
		require.Len(t, errorsOf(t, errs), 1)
		require.ErrorContains(t, errs, "f:7:5: rule c: ", field)
		require.ErrorContains(t, errs, "a rule with continue only adds tags and advice, and sets the phase (remove the field, or remove continue)", field)
	}
}

// TestFewNearNames: of many overrides of nothing, the first hundred name the rule that was meant.
func TestFewNearNames(t *testing.T) {
	mine := "version: 1\nrules:\n"
	for i := range 102 {
		mine += fmt.Sprintf("  - {id: load.failed%d, override: true, enabled: false}\n", i)
	}
	base := "version: 1\nrules: [{id: load.failed, when: 'template == \"x\"', disposition: ignore}]"
	_, err := rules.Compile(rules.File{Name: "mine", Data: []byte(mine)}, rules.File{Name: "base", Data: []byte(base)})
	require.Error(t, err)
	require.Equal(t, 102, strings.Count(err.Error(), "no file after this one has a rule"))
	require.Equal(t, 100, strings.Count(err.Error(), "did you mean"), err.Error())
}
