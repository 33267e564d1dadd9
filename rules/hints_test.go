package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/rules"
)

// TestHints: what people write first, by other languages' habits, is answered
// with what to write here.
func TestHints(t *testing.T) {
	for when, want := range map[string]string{
		`'template contains "initAction's"'`:  `and a single quote in them twice`,
		`'template containz "a"'`:             `(did you mean contains?)`,
		`'template CONTAINS "a"'`:             `(did you mean contains?)`,
		`'template contain "a"'`:              `(did you mean contains?)`,
		`'template starts_with "a"'`:          `(did you mean startsWith?)`,
		`'template is "a"'`:                   `(did you mean ==?)`,
		`'phase == "a" & level == "error"'`:   `(did you mean and?)`,
		`'phase == "a" AND level == "error"'`: `(did you mean and?)`,
		`'not template contains "x"'`:         `(here not applies only to the first text: write template not contains "text", or not (…))`,
		`'template contains ("a" or "b")'`:    `(and, or join conditions: repeat the comparison, or write contains_any(template, ["a", "b"]))`,
		`'template contains "a" or "b"'`:      `(and, or join conditions: repeat the comparison, or write contains_any(template, ["a", "b"]))`,
		`'template contains "a" and "b"'`:     `(and, or join conditions: repeat the comparison`,
		`'template contains q'`:               `(any of a list: template in list, contains_any(template, list), starts_with_any or ends_with_any)`,
		`'template startsWith q'`:             `(any of a list: template in list`,
		`'template == q'`:                     `(any of a list: template in list`,
		`'"a" in template'`:                   `(in looks for an item in a list: template in ["a", "b"]; a part of a text is found by contains)`,
		`'text == "a"'`:                       `unknown name "text" (did you mean "template"?)`,
		`'startsWith(template, "a")'`:         `(write it between two texts: template startsWith "text")`,
		`'template.contains("a")'`:            `(write template contains "text", startsWith or endsWith)`,
	} {
		_, err := rules.Compile(rules.File{Name: "f.yaml", Data: []byte("version: 1\nlists: {q: [a, b]}\nrules:\n  - id: x\n    when: " + when + "\n    disposition: ignore\n")})
		require.ErrorContains(t, err, want, when)
	}
}

// TestIDHints: an id that is not there.
func TestIDHints(t *testing.T) {
	for id, want := range map[string]string{
		"save.faild": `(did you mean "save.failed"?)`,
		"no.such":    `(write the id of a rule of the set, or the beginning of some and a '*')`,
	} {
		var text strings.Builder
		text.WriteString("version: 1\nrules:\n")
		for _, r := range append([]string{"save.failed", "save.slow"}, strings.Fields("a1.x a2.x a3.x a4.x a5.x a6.x a7.x a8.x a9.x b1.x b2.x b3.x b4.x b5.x b6.x b7.x b8.x b9.x c1.x c2.x")...) {
			text.WriteString("  - {id: " + r + ", when: 'phase == \"" + r + "\"', disposition: ignore}\n")
		}
		text.WriteString("  - {id: z, when: 'phase == \"z\"', disposition: ignore, resolves: ['" + id + "']}\n")
		_, err := rules.Compile(rules.File{Name: "f.yaml", Data: []byte(text.String())})
		require.ErrorContains(t, err, want, id)
	}
}

// TestVain: conditions that hold always, never or by chance are refused.
func TestVain(t *testing.T) {
	for _, tc := range []struct{ when, want string }{
		{`level >= "error"`, `level is a text, and >= compares texts alphabetically (write level in ["…", "…"])`},
		{`level < "warning"`, `level is a text, and < compares texts alphabetically (write level in ["…", "…"])`},
		{`"warning" < level`, `level is a text, and < compares texts alphabetically (write level in ["…", "…"])`},
		{`level > "fatal"`, `level is a text, and > compares texts alphabetically (write level in ["…", "…"])`},
		{`not (phase <= "play")`, `phase is a text, and <= compares texts alphabetically (write phase in ["…", "…"])`},
		{`kind > "log"`, `kind is a text, and > compares texts alphabetically (write kind in ["…", "…"])`},
		{`status > source`, `status is a text, and > compares texts alphabetically (write status in ["…", "…"])`},

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
