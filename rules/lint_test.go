package rules_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// findings returns the findings but those about phases, of which tests make up many.
func findings(texts ...string) []string {
	return slices.DeleteFunc(allFindings(texts...), func(f string) bool { return strings.HasSuffix(f, "[phase]") })
}

func allFindings(texts ...string) []string {
	files := make([]rules.File, len(texts))
	for i, text := range texts {
		files[i] = rules.File{Name: fmt.Sprintf("f%d.yaml", i+1), Data: []byte(text)}
	}
	var out []string
	for _, f := range rules.Lint(files...) {
		out = append(out, f.String())
	}
	return out
}

// tested is the end of a rule that has the tests it should have. They need not
// pass.
const tested = `, tests: [{match: a}, {match: b}, {no_match: c}]}`

func TestLintReach(t *testing.T) {
	require.Equal(t, []string{
		`f2.yaml:4:5: warning: rule same: can never match: rule mute at f1.yaml:5 comes first and has the same conditions, or fewer (narrow that rule; to change this one, write its id and override: true) [shadowed]`,
		`f2.yaml:5:5: warning: rule covered: can never match: rule all at f1.yaml:6 comes first and has the same conditions, or fewer (narrow that rule; to change this one, write its id and override: true) [shadowed]`,
	}, findings(`
version: 1
rules:
  - {id: tag.c, when: 'template == "x"', continue: true, tags: [c]`+tested+`
  - {id: mute, when: 'template == "x"', disposition: ignore`+tested+`
  - {id: all, when: 'level == "info"', disposition: ignore`+tested+`
  - {id: tag.a, when: 'phase == "y"', continue: true, tags: [a]`+tested+`
  - {id: tag.b, when: '(phase == "y")', continue: true, tags: [b]`+tested+`
`, `
version: 1
rules:
  - {id: same, when: 'template  ==  "x"', disposition: blocking`+tested+`
  - {id: covered, when: 'level == "info" and phase == "y"', disposition: blocking`+tested+`
  - {id: off, when: 'template == "x"', disposition: blocking, enabled: false}
`))
}

// TestLintBreaks: a file whose rules decide texts that break play, and less than they should, has one finding.
func TestLintBreaks(t *testing.T) {
	base := `
version: 1
rules:
  - {id: crash, when: 'template startsWith "crash"', disposition: blocking, tags: [crash], tests: [{match: crash a}, {match: crash b}, {no_match: c}]}
  - {id: hang, when: 'template startsWith "hang"', disposition: blocking, tags: [hang], tests: [{match: hang a}, {match: hang b}, {no_match: c}]}
  - {id: end, when: 'template startsWith "end"', disposition: blocking, severity: fatal, tests: [{match: end a}, {match: end b}, {no_match: c}]}
  - {id: small, when: 'template startsWith "small"', disposition: blocking, tests: [{match: small a}, {match: small b}, {no_match: c}]}
`
	for name, test := range map[string]struct{ rules, want string }{
		"not mine": {
			`  - {id: mine, when: 'not (template contains "mine")', disposition: ignore` + tested,
			`f1.yaml:4:5: warning: rule mine: the rules of this file decide 6 tests of later rules that break play, such as crash (narrow it: see the tests with rules check) [breaks]`,
		},
		"two rules": {
			`  - {id: b, when: 'template endsWith "nd b"', disposition: advisory` + tested + `
  - {id: a, when: 'template endsWith "h a"', disposition: ignore` + tested,
			`f1.yaml:4:5: warning: rule b: the rules of this file decide 2 tests of later rules that break play, such as crash (narrow it: see the tests with rules check) [breaks]`,
		},
		"as serious":    {`  - {id: own, when: 'template startsWith "crash"', disposition: blocking, tags: [crash]` + tested, ""},
		"only a fault":  {`  - {id: own, when: 'template startsWith "small"', disposition: ignore` + tested, ""},
		"tags it alone": {`  - {id: own, when: 'phase == ""', continue: true, tags: [own]` + tested, ""},
	} {
		found := slices.DeleteFunc(findings("\nversion: 1\nrules:\n"+test.rules+"\n", base), func(f string) bool {
			return !strings.HasSuffix(f, "[breaks]")
		})
		require.Equal(t, test.want, strings.Join(found, "\n"), name)
	}
}

// TestLintNumbers: conditions that differ in a number are not the same.
func TestLintNumbers(t *testing.T) {
	require.Empty(t, findings(`
version: 1
rules:
  - {id: a, when: 'len(template) == 3', disposition: ignore`+tested+`
  - {id: b, when: 'len(template) == 4', disposition: ignore`+tested+`
  - {id: c, when: 'template[0:3] == "abc"', disposition: ignore`+tested+`
  - {id: d, when: 'template[0:4] == "abc"', disposition: ignore`+tested+`
`))
}

func TestLintTests(t *testing.T) {
	const hint = " (write two texts that it must match, and a similar one that it must not match) [tests]"
	require.Equal(t, []string{
		"f1.yaml:4:5: warning: rule none: has no tests" + hint,
		"f1.yaml:5:5: warning: rule one: has 1 of 2 match tests and 0 of 1 no_match tests" + hint,
		"f1.yaml:6:5: warning: rule near: has 2 of 2 match tests and 0 of 1 no_match tests" + hint,
		"f1.yaml:7:5: warning: rule only: has 0 of 2 match tests and 1 of 1 no_match tests" + hint,
	}, findings(`
version: 1
rules:
  - {id: none, when: 'phase == "a"', disposition: ignore, exceptions: ['phase == "x"']}
  - {id: one, when: 'phase == "b"', disposition: ignore, tests: [{match: a}]}
  - {id: near, when: 'phase == "c"', disposition: ignore, tests: [{match: a}, {match: b}]}
  - {id: only, when: 'phase == "d"', disposition: ignore, tests: [{no_match: a}]}
  - {id: all, when: 'phase == "e"', disposition: ignore`+tested+`
  - {id: off, when: 'phase == "f"', disposition: ignore, enabled: false}
`))
}

// TestLintMasked: texts that masking hides, and texts that it leaves.
func TestLintMasked(t *testing.T) {
	for _, tc := range []struct{ when, want string }{
		{`template == "Human12 is gone"`, `24: no template contains "Human12 is gone": masking replaces a part of it (write "<*> is gone")`},
		{`"Human12 is gone" != template`, `12: no template contains "Human12 is gone": masking replaces a part of it (write "<*> is gone")`},
		{`template startsWith "12 pawns"`, `32: no template contains "12 pawns": masking replaces a part of it (write "<*> pawns")`},
		{`template endsWith " took 5 ms"`, `30: no template contains " took 5 ms": masking replaces a part of it (write " took <*>")`},
		{`not (template contains " Thing77 ")`, `35: no template contains " Thing77 ": masking replaces a part of it ("<*>" stands in its place; add the word to protect, or compare message)`},
		{`template in ["ok", "Job_60 failed"]`, `24: no template contains "Job_60 failed": masking replaces a part of it (write "<*> failed")`},
		{`template in hidden`, `24: no template contains "Pawn7 left": masking replaces a part of it (and of other items in the list) (write "<*> left")`},
		{`contains_any(template, hidden)`, `35: no template contains "Pawn7 left": masking replaces a part of it (and of other items in the list) (write "<*> left")`},
		{`starts_with_any(template, hidden)`, `38: no template contains "Pawn7 left": masking replaces a part of it (and of other items in the list) (write "<*> left")`},
		{`ends_with_any(template, ["Pawn7"])`, `36: no template contains "Pawn7": masking replaces a part of it ("<*>" stands in its place; add the word to protect, or compare message)`},
		{`hasPrefix(template, "7 pawns")`, `32: no template contains "7 pawns": masking replaces a part of it (write "<*> pawns")`},
		{`hasSuffix(template, "pawns 7")`, `32: no template contains "pawns 7": masking replaces a part of it (write "pawns <*>")`},
		{`indexOf(template, "pawn7") > 3`, `30: no template contains "pawn7": masking replaces a part of it ("<*>" stands in its place; add the word to protect, or compare message)`},
		{`phase == "x" and template contains "/home/ann/"`, `47: no template contains "/home/ann/": masking replaces a part of it ("<*>" stands in its place; add the word to protect, or compare message)`},
		{`template contains "two\nlines"`, `30: no template contains "two\nlines": masking replaces a part of it (write "two")`},
		{`seven`, `12: no template contains "7 pawns": masking replaces a part of it (write "<*> pawns")`},
		{`template startsWith "[Error  :Cart Tweaks] lamp"`, `32: no template contains "[Error  :Cart Tweaks] lamp": masking replaces a part of it (write "lamp")`},

		{`template == "<*> is gone"`, ""},
		{`template startsWith "Could not load "`, ""},
		{`template contains "Beta2"`, ""},
		{`template contains "404"`, ""},
		{`template contains "status 404"`, ""},
		{`template endsWith " 'Foo'"`, ""},
		{`template contains " (Human"`, ""},
		{`template contains "x='"`, ""},
		{`phase == "Human12" and source contains "12"`, ""},
		{`message == template`, ""},
		{`any(["7 pawns"], # contains phase)`, ""},
		{`template matches "^[0-9]+"`, ""},
		{`contains_any(frames, hidden)`, ""},
	} {
		var got []string
		for _, f := range findings(`
version: 1
protect: [Beta2]
lists: {hidden: [fine, Pawn7 left, Pawn8 left, Beta2]}
macros: {seven: 'template == "7 pawns"'}
rules:
  - id: x
    when: '` + tc.when + `'
    disposition: ignore
    tests: [{match: a}, {match: b}, {no_match: c}]
`) {
			if f, ok := strings.CutSuffix(f, " [masked]"); ok {
				got = append(got, f)
			}
		}
		if tc.want == "" {
			require.Empty(t, got, tc.when)
			continue
		}
		line, msg, _ := strings.Cut(tc.want, ": ")
		require.Equal(t, []string{"f1.yaml:8:" + line + ": warning: rule x: " + msg}, got, tc.when)
	}
}

// TestLintLeavesTemplates: a template is its own template, so a rule that asks
// for one is never reported as without result.
func TestLintLeavesTemplates(t *testing.T) {
	n, err := signature.New(signature.Config{})
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ a-zA-Z0-9_.:/'"=()<>*,-]{1,40}`).Draw(t, "text")
		template := string(n.AppendTemplate(nil, text, ""))
		if template == "" || strings.Contains(template, "\n") {
			return
		}
		for _, op := range []string{"==", "startsWith", "endsWith", "contains"} {
			for _, f := range findings("version: 1\nrules: [{id: x, disposition: ignore, when: " + strconv.Quote("template "+op+" "+strconv.Quote(template)) + "}]") {
				require.NotContains(t, f, "[masked]")
			}
		}
	})
}

// TestLintErrors: what does not compile is found too, and nothing else then.
func TestLintErrors(t *testing.T) {
	require.Equal(t, []string{
		`f1.yaml:3:32: error: rule x: when: unknown name "templat" (did you mean "template"?) [compile]`,
		`f2.yaml: error: the file is empty (a rule file begins with "version: 1") [compile]`,
	}, findings("version: 1\nrules:\n- {disposition: ignore, when: 'templat', id: x}\n", ""))
	f := rules.Lint(rules.File{Name: "\x1b[2J", Data: []byte("\x00")})[0]
	require.Equal(t, event.SeverityError, f.Severity)
	require.Equal(t, `\x1b[2J:1:1: error: control character (write it as an escape in double quotes, such as "\x1b") [compile]`, f.String())
}

// TestDefaultsLint: the default rules are what lint asks of others.
func TestDefaultsLint(t *testing.T) {
	require.Empty(t, rules.Lint(rules.Defaults()...))
}

// TestLintIsDeterministic lints a set with findings of every kind, twice.
func TestLintIsDeterministic(t *testing.T) {
	texts := make([]string, 0, 30)
	for i := range 30 {
		texts = append(texts, fmt.Sprintf("version: 1\nrules:\n  - {id: r%d, when: 'template == \"Pawn%d\" and message != \"\"', disposition: ignore}\n  - {id: s%d, when: 'phase == \"x\"', continue: true, tags: [t]}\n", i, i, i))
	}
	first := findings(texts...)
	require.Len(t, first, 30*3)
	for range 3 {
		require.Equal(t, first, findings(texts...))
	}
}

func TestLintPhases(t *testing.T) {
	require.Equal(t, []string{
		`f1.yaml:5:29: warning: rule a: no rule sets the phase "Play" (did you mean "play"?) [phase]`,
		`f1.yaml:6:29: warning: rule b: no rule sets the phase "combat" (known: start, boot, menu, load, play, save, quit, crashed, raid) [phase]`,
		`f1.yaml:6:29: warning: rule b: no rule sets the phase "rayd" (did you mean "raid"?) [phase]`,
		`f1.yaml:7:97: warning: rule c: no rule sets the phase "mneu" (did you mean "menu"?) [phase]`,
	}, allFindings(`
version: 1
rules:
  - {id: s, when: 'template == "x"', disposition: ignore, sets_phase: raid, tests: [{match: a}, {match: b}, {no_match: c}]}
  - {id: a, when: 'phase == "Play"', disposition: ignore`+tested+`
  - {id: b, when: 'phase in ["", "raid", "combat", "rayd"]', disposition: ignore`+tested+`
  - {id: c, when: 'phase == "save"', disposition: ignore, tests: [{match: a}, {match: b, phase: mneu}, {no_match: c, phase: raid}]}
`))
}

func TestLintIdle(t *testing.T) {
	require.Equal(t, []string{
		`f1.yaml:3:9: warning: nothing uses the list "orphans" (remove it, or use it) [unused]`,
		`f1.yaml:4:10: warning: nothing uses the macro "m" (remove it, or use it) [unused]`,
		`f1.yaml:7:5: warning: rule speaks: is off, and nothing else ends the blindness that rule blind begins (turn that rule off too, or let another one resolve it) [blindness]`,
	}, findings(`
version: 1
lists: {orphans: [a, b], words: {append: true, items: [a]}}
macros: {m: 'template in words'}
rules:
  - {id: a, override: true, disposition: ignore, invalidates: false}
  - {id: speaks, override: true, enabled: false}
  - {id: b, override: true, disposition: blocking}
`, `
version: 1
lists: {words: [a, b]}
rules:
  - {id: a, when: 'template == "a"', disposition: ignore`+tested+`
  - {id: b, when: 'template in words', disposition: ignore`+tested+`
  - {id: blind, when: 'template == "c"', disposition: ignore, blinds: true`+tested+`
  - {id: speaks, when: 'template == "d"', disposition: ignore, resolves: [blind]`+tested+`
`))
}

// TestLintUnusedByOverride: what an override leaves unused in another file is
// not reported there.
func TestLintUnusedByOverride(t *testing.T) {
	require.Empty(t, findings(`
version: 1
macros: {m: {override: true, when: 'template == "b"'}}
rules:
  - {id: a, override: true, when: 'm'`+tested+`
`, `
version: 1
lists: {l1: [a, b], l2: [c, d], l3: [e, f]}
macros: {m: 'template in l2'}
rules:
  - {id: a, when: 'template in l1 and m', exceptions: ['source in l3'], disposition: ignore`+tested+`
`))
}

// TestLintMatchesAll: what one rule does to all others is said once.
func TestLintMatchesAll(t *testing.T) {
	require.Equal(t, []string{
		`f1.yaml:4:5: warning: rule all: matches every entry, so the rules after it (2) never match (narrow it, or use defaults instead) [shadowed]`,
	}, findings(`
version: 1
rules:
  - {id: all, when: 'true', disposition: ignore`+tested+`
`, `
version: 1
rules:
  - {id: a, when: 'template == "a"', disposition: ignore`+tested+`
  - {id: b, when: 'template == "b"', disposition: ignore`+tested+`
`))
}

// TestReferenceChecks holds the last table of the reference to the checks.
func TestReferenceChecks(t *testing.T) {
	page, err := os.ReadFile("../docs/rules.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(page), "\n## Lint\n")
	require.True(t, ok)
	var got []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(table, -1) {
		got = append(got, row[1])
	}
	require.Equal(t, rules.Checks, got)
	code, err := os.ReadFile("lint.go")
	require.NoError(t, err)
	require.Len(t, regexp.MustCompile(`(?m)^\tcheck\w+ += `).FindAllString(string(code), -1), len(got),
		"each check of lint.go is in Checks of export_test.go and in the table of docs/rules.md")
}
