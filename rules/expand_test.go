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
