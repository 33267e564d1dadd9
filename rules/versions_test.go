package rules_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/signature"
)

// TestLintVersion: what names a template or an id of an earlier version of signatures.
func TestLintVersion(t *testing.T) {
	after := fmt.Sprintf("version %d of signatures masks no text or code after ", signature.Version)
	inPlace := `: templates have it in place of the "<*>" `
	for _, tc := range []struct{ when, tests, want string }{
		{
			`template == "worker ended with exit code <*>"`, `{match: worker ended with exit code 5}`,
			`24: ` + after + `"worker ended with exit code "` + inPlace +
				`(write "worker ended with exit code 5", or what of it decides, as in its test)`,
		},
		{
			`phase == "x" and template contains "exit code <*>, again"`, `{match: another}`,
			`47: ` + after + `"exit code "` + inPlace + `(compare with "exit code " alone)`,
		},
		{
			`template in ["fine", "<*> and exit code <*>"]`, `{match: another}`,
			`24: ` + after + `"<*> and exit code "` + inPlace + `(compare with "<*> and exit code " alone)`,
		},
		{`contains_any(template, codes)`, ``, `35: ` + after + `"exit code "` + inPlace + `(compare with "exit code " alone)`},
		{`template contains "and exit code <*>"`, `{match: "and exit code 0x00007ff812345678"}`, ""},
		{`template == "<*> items of <*>"`, ``, ""},
		{`template startsWith "<*>"`, ``, ""},
		{`template contains "took <*>ms, <*>"`, ``, ""},
		{`message contains "exit code <*>"`, ``, ""},
	} {
		var got []string
		for _, f := range lint(`
version: 1
protect: [Beta2]
lists: {codes: [fine, exit code <*>]}

rules:
  - id: x
    when: '` + tc.when + `'
    disposition: ignore
    tests: [` + tc.tests + `]
`) {
			if f, ok := strings.CutSuffix(f, " [version]"); ok {
				got = append(got, f)
			}
		}
		if tc.want == "" {
			require.Empty(t, got, tc.when)
			continue
		}
		require.Len(t, got, 1, tc.when)
		line, msg, _ := strings.Cut(tc.want, ": ")
		require.Equal(t, "f1.yaml:8:"+line+": warning: rule x: "+msg, got[0])
	}
}

func TestLintIDs(t *testing.T) {
	n, err := signature.New(signature.Config{})
	require.NoError(t, err)
	now := n.Signature("Pawn7 is gone", "").ID
	var got []string
	for _, f := range lint(`
version: 1
# Of the signatures 0123456789abcdef and ` + now.String() + `, not 0123456789abcdef0.
# Of the signatures 1123456789abcdef (version ` + strconv.Itoa(signature.Version) + `) and 2123456789abcdef (version 1).
rules:
  - id: x # 0123456789abcde0 is no line of comments
    when: 'template == "<*> is gone"'
    disposition: ignore
    why: "Like fedcba9876543210."
    tests: [{match: Pawn7 is gone}, {match: "Pawn8 is gone"}, {no_match: "0000ba9876543210"}]
`) {
		if f, ok := strings.CutSuffix(f, " [version]"); ok {
			got = append(got, f)
		}
	}
	const hint = ` ("signatures" and "rules propose" print those of a log)`
	require.Equal(t, []string{
		fmt.Sprintf("f1.yaml:3:21: warning: comment: names the id 0123456789abcdef, which no test has under version %d of "+
			"signatures"+hint, signature.Version),
		fmt.Sprintf("f1.yaml:4:54: warning: comment: names the id 2123456789abcdef, which no test has under version %d of "+
			"signatures"+hint, signature.Version),
		fmt.Sprintf("f1.yaml:6:5: warning: rule x: why: names the id fedcba9876543210, which no test has under version %d of "+
			"signatures"+hint, signature.Version),
	}, got)
}
