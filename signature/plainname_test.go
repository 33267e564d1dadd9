package signature

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlainName(t *testing.T) {
	for _, c := range []struct {
		line, name string // the canonical name, "" if that takes parts
	}{
		{"Acme.Works.Press.Run (System.Int32 count)", "Acme.Works.Press.Run"},
		{"Acme.Works.Press:Run ()", "Acme.Works.Press.Run"},
		{"Acme.Press..ctor ()", "Acme.Press..ctor"},
		{"Acme/Nested.Run()", "Acme/Nested.Run"},
		{"A2b.Run_it", "A2b.Run_it"},
		{"Acme.Pr", "Acme.Pr"},
		{"Acme.Pre", "Acme.Pre"},
		{"abcdefg8.Run ()", ""},
		{"abcdef8.Run ()", ""},
		{"Acme.Run_Patch1 (A)", ""},
		{"Acme.Run.", ""},
		{"Acme.(*T).Run()", ""},
		{"Acme:Run:Again ()", ""},
		{"Acme::Run ()", ""},
		{"Acme:12", ""},
		{"Acme+Nested.Run ()", ""},
		{"List`1[T].Add ()", ""},
		{"Acme.<>c.Run ()", ""},
		{"main.lambda$x ()", ""},
		{"Ünal.Run ()", ""},
		{"_a.b ()", ""},
		{"", ""},
	} {
		n := findPlainName(c.line)
		require.Equal(t, c.name != "", n.end > 0, "%q", c.line)
		if c.name != "" {
			require.Equal(t, referenceKey(c.name), n.hash(newHasher(), c.line).sum(), "%q", c.line)
		}
	}
}

// TestPlainNameIsParts holds names that are found to be plain to what their parts
// spell.
func TestPlainNameIsParts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", "Bc", "_", "7", "42", ".", ".", "/", ":", "Press", "_Patch1", "func1", " ", "(", ")", "<", "$", "é"}
	plain := 0
	for range 50_000 {
		var b strings.Builder
		for range 1 + rnd.IntN(12) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		line := b.String()
		n := findPlainName(line)
		if n.end == 0 {
			continue
		}
		plain++
		h := newHasher()
		p := parts{s: line}
		for p.next() {
			h = h.text(p.s, p.from, p.to).text(p.sep, 0, len(p.sep))
		}
		require.Equal(t, h.end(endLine).sum(), n.hash(newHasher(), line).sum(), "%q", line)
		require.Equal(t, p.i, n.end, "%q", line)
		require.Equal(t, p.dots > 0, n.dots, "%q", line)
		require.Equal(t, p.methods, map[bool]int{true: 1}[n.colon >= 0], "%q", line)
		require.False(t, p.generic || p.made, "%q", line)
	}
	require.Greater(t, plain, 1_000)
}

// TestBeginnings tries every word that may mean more than it says.
func TestBeginnings(t *testing.T) {
	n, r := testNormalizer(t)
	for word := range strings.FieldsSeq(
		"Jan Feb Mar Apr May Jun Jul Aug Sep Sept Oct Nov Dec January February March April June July August September October November December " +
			"Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun Monday Tuesday Wednesday Thursday Friday Saturday Sunday NaN",
	) {
		require.True(t, mayMean(word, 0), word)
		for _, text := range []string{
			word, "it is " + word, word + " 5", "on " + word + " 5 it", "7 " + word,
			"for " + word + " anna", word + "s", "x" + word, word[:2],
		} {
			checkLaws(t, n, r, text, "")
		}
	}
	require.False(t, mayMean("Mox", 0))
	require.False(t, mayMean("Mo", 0))
}
