package signature

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestSource: a source is a line of its own, with a mask for each number.
func TestSource(t *testing.T) {
	for source, want := range map[string]string{
		"":                   "it broke",
		" \t\n":              "it broke",
		"Lamps":              "it broke\nfrom Lamps",
		" Lamps and Ovens\r": "it broke\nfrom Lamps and Ovens",
		"Lamps 2\nat A.B":    "it broke\nfrom Lamps <*>",
		"conn-17/4":          "it broke\nfrom conn-<*>/<*>",
		"<*>":                "it broke\nfrom <*>",
	} {
		got := string(AppendSource([]byte("it broke"), source))
		require.Equal(t, want, got, "%q", source)
		text, name := CutSource(got)
		require.Equal(t, "it broke", text)
		require.Equal(t, strings.TrimPrefix(want[len(text):], sourceLine), name)
	}
}

// FuzzSource: two entries have one key if and only if they have one template.
func FuzzSource(f *testing.F) {
	f.Add("a 1 b", "conn-17", "a 2 b", "conn-<*>")
	f.Add("a", "", "a", " \n")
	f.Add("a", "x\xff"+strings.Repeat("y", 300), "a\nat A.B", "7")
	n := testkit.Must(New(Config{}))
	f.Fuzz(func(t *testing.T, textA, sourceA, textB, sourceB string) {
		a := AppendSource(n.AppendTemplate(nil, textA, ""), sourceA)
		b := AppendSource(n.AppendTemplate(nil, textB, ""), sourceB)
		keyA, keyB := n.Key(textA, "").From(sourceA), n.Key(textB, "").From(sourceB)
		require.Equal(t, string(a) == string(b), keyA == keyB, "%q, %q", a, b)
		text, source := CutSource(string(a))
		require.Equal(t, string(n.AppendTemplate(nil, textA, "")), text)
		require.Equal(t, string(a), string(AppendSource([]byte(text), source)), "a template is its own template")
	})
}
