package rules

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestPatternForms: which expressions are looked for by their literal.
func TestPatternForms(t *testing.T) {
	for text, want := range map[string]string{
		`[A-Za-z.]Exception(:| |$)`:     "Exception",
		`[a-z][0-9]item.*x`:             "item",
		`item[0-9]+`:                    "item",
		`(?m)[a-z]item$`:                "item",
		`[a-z]item`:                     "item",
		`^[a-z]item`:                    "",
		`(?m)^[a-z]item`:                "",
		`[a-z]item\b`:                   "",
		`[^a-z]item`:                    "", // the class matches characters of several bytes
		`(?i)[k]item`:                   "",
		`[a-z](?i)item`:                 "",
		`[a-z]*item`:                    "",
		`([a-z])item`:                   "",
		`[a-z]item|[a-z]other`:          "",
		`item`:                          "", // package regexp does it as well
		"[a-z]\\x{FFFD}item":            "",
		`[a-z]\Qitem`:                   "", // would quote what closes it
		`[a-z]item(?P<rest>[a-z]|\z|x)`: "item",
	} {
		p, err := newPattern(text)
		require.NoError(t, err, text)
		require.Equal(t, want, p.literal, text)
		require.Equal(t, want == "", p.here == nil, text)
	}
	_, err := newPattern("(")
	require.Error(t, err)
}

// TestPatternPlaces: at the first byte that may be one, and past the places that
// are tried.
func TestPatternPlaces(t *testing.T) {
	p, err := newPattern("[ab]aa(:|$)")
	require.NoError(t, err)
	for s, want := range map[string]bool{
		"": false, "aa:": false, "baa:": true, "xaa:": false, "aaaaaaaaaa:": true, "aaaaaaaaaaax": false,
		"aaaaa:": true, "aaaaaa:": true, "aaaaaaa:": true, "aa aa aa aa aa aa:": false, "aa aa aa aa aa aaa:": true,
	} {
		require.Equal(t, want, p.match(s), s)
	}
}

// TestPatternEqualsRegexp compares with package regexp, on texts with more
// places than are tried and with invalid bytes.
func TestPatternEqualsRegexp(t *testing.T) {
	texts := []string{
		`[ab]ab(:| |$)`, `[ab][a-c]ab.*:$`, `ab[^b]+:`, `(?m)[ab]b$`, `[ab]é[ab]`, `éa*:`, `[ab]b(?s).:`, `aa[ab]*:`,
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(t, "pattern")
		p, err := newPattern(text)
		require.NoError(t, err)
		require.NotNil(t, p.here, text)
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "aab", "é", "\xc3", "\xa9", ":", "\n", " ", "c"}), 0, 20).Draw(t, "s"), "")
		require.Equal(t, regexp.MustCompile(text).MatchString(s), p.match(s), "%s in %q", text, s)
	})
}
