package compare

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRounded(t *testing.T) {
	for in, want := range map[float64]float64{
		0: 0, math.NaN(): 0, math.Inf(1): 1e12, 2e12: 1e12, 123456: 123500, -123456: -123500, 1234: 1234, 1.23456: 1.235,
		0.000123456: 0.0001235,
	} {
		require.Equal(t, want, rounded(in), in) //nolint:testifylint // what is rounded is exact
	}
}

// TestQuoted: what YAML takes for something else than text, or a person cannot see, stands in quotes.
func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{
		"save.failed": "save.failed", "default.log_1-x": "default.log_1-x",
		"": `""`, "null": `"null"`, "1.5": `"1.5"`, "a.b{c": `"a.b{c"`, "a.b[": `"a.b["`, "a.b c": `"a.b c"`, "a.ä": `"a.ä"`,
		`a."b\`: `"a.\"b\\"`, "a.\n\x01\u0085\u200b\U000e0001": `"a.\n\u0001\u0085\u200b\U000e0001"`,
	} {
		require.Equal(t, want, plain(in))
	}
	for in, want := range map[string]string{
		"one line": "\"one line\"\n", "two\nlines": "|-\n  two\n  lines\n", `a "b"`: "|-\n  a \"b\"\n",
		" a\nb": "\" a\\nb\"\n", "a\nb ": "\"a\\nb \"\n", "a\n\nb": "\"a\\n\\nb\"\n", "a\n\tb": "\"a\\n\\tb\"\n",
		"\xff": "!!binary \"/w==\"\n",
	} {
		require.Equal(t, want, string(appendTemplate(nil, in, "  ")))
	}
}
