package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/rules"
)

// TestVain: conditions that hold always, never or by chance are refused.
func TestVain(t *testing.T) {
	for _, tc := range []struct{ when, want string }{
		{`level >= "error"`, `level is a text, and >= compares texts alphabetically (write level in ["error", "fatal"])`},
		{`level < "warning"`, `level is a text, and < compares texts alphabetically (write level in ["debug", "info"])`},
		{`"warning" < level`, `level is a text, and < compares texts alphabetically (write level in ["error", "fatal"])`},
		{`level > "fatal"`, `level is a text, and > compares texts alphabetically (write level in ["error", "fatal"])`},
		{`not (phase <= "play")`, `phase is a text, and <= compares texts alphabetically (write phase in ["load", "play"])`},
		{`kind > "log"`, `kind is a text, and > compares texts alphabetically (write kind in ["state", "notice"])`},
		{`status > source`, `status is a text, and > compares texts alphabetically (write status in ["failed", "timed_out"])`},

		{`template contains ""`, `contains "" is always true (to test for an empty text, write == "")`},
		{`template not startsWith ""`, `startsWith "" is always true (to test for an empty text, write == "")`},
		{`hasSuffix(source, "")`, `hasSuffix "" is always true (to test for an empty text, write == "")`},
		{`contains_any(template, ["a", ""])`, `contains_any "" is always true (to test for an empty text, write == "")`},

		{`lower(template) contains "Exception"`, `lower(…) never contains "Exception" (write "exception")`},
		{`lower(source) == "Unity"`, `lower(…) never contains "Unity" (write "unity")`},
		{`"Unity" != lower(source)`, `lower(…) never contains "Unity" (write "unity")`},
		{`upper(source) in ["UNITY", "Mono"]`, `upper(…) never contains "Mono" (write "MONO")`},
		{`starts_with_any(lower(template), named)`, `lower(…) never contains "Named" (write "named")`},
		{`hasPrefix(lower(template), "A")`, `lower(…) never contains "A" (write "a")`},

		{`len(template) >= 3 and source < "m"`, ""},
		{`source == "" and phase in ["", "menu"]`, ""},
		{`lower(template) contains "exception"`, ""},
		{`indexOf(template, "") == 0`, ""},
	} {
		_, err := rules.Compile(rules.File{Name: "f.yaml", Data: []byte("version: 1\nlists: {named: [Named]}\n" + strings.TrimPrefix(rule("id: x", "when: '"+tc.when+"'", "disposition: ignore"), "version: 1\n"))})
		if tc.want == "" {
			require.NoError(t, err, tc.when)
			continue
		}
		require.ErrorContains(t, err, ": when: "+tc.want, tc.when)
	}
	_, err := rules.Compile(rules.File{Name: "f.yaml", Data: []byte("version: 1\nlists: {a: [b, '']}\n")})
	require.EqualError(t, err, `rules: f.yaml:2:16: lists.a[2]: is an empty text, which every text contains (remove it; to test for an empty text, write == "")`)
}

func TestLintPhases(t *testing.T) {
	require.Equal(t, []string{
		`f1.yaml:5:29: warning: rule a: no rule sets the phase "Play" (did you mean "play"?) [phase]`,
		`f1.yaml:6:29: warning: rule b: no rule sets the phase "combat" (known: start, boot, menu, load, play, save, quit, crashed, raid) [phase]`,
		`f1.yaml:6:29: warning: rule b: no rule sets the phase "rayd" (did you mean "raid"?) [phase]`,
		`f1.yaml:7:97: warning: rule c: no rule sets the phase "mneu" (did you mean "menu"?) [phase]`,
	}, lintAll(`
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
		`f1.yaml:3:26: warning: the list "words" changes nothing (remove it) [override]`,
		`f1.yaml:4:10: warning: nothing uses the macro "m" (remove it, or use it) [unused]`,
		`f1.yaml:6:5: warning: rule a: overrides a rule and changes nothing (give the fields that change, or remove it) [override]`,
		`f1.yaml:7:5: warning: rule speaks: is off, and nothing else ends the blindness that rule blind begins (turn that rule off too, or let another one resolve it) [blindness]`,
	}, lint(`
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
	require.Empty(t, lint(`
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
	}, lint(`
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
