package signature

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpans(t *testing.T) {
	n, err := New(Config{})
	require.NoError(t, err)
	for _, tc := range []struct {
		message string
		want    []string // mask and text, alternating
	}{
		{"", nil},
		{"plain words", nil},
		{"loaded 12 of 40 ms", []string{"<num>", "12", "<num>", "40 ms"}},
		{"  at (12, 0, 5)  ", []string{"<vec>", "12, 0, 5"}},
		{"cannot read C:\\Games\\a.xml\nbody 12", []string{"<path>", "C:\\Games\\a.xml"}},
		{"cannot read Maps/Colony7", []string{"<path>", "Maps/Colony7"}},
		{"Human12 said \"hello\"", []string{"<id>", "Human12", "<quoted>", "\"hello\""}},
		{"job for Human12:\nSystem.Exception: code 12 at 14", []string{"<id>", "Human12", "<num>", "14"}},
		{"<*> did it", []string{"<*>", "<*>"}},
	} {
		spans, head := n.AppendSpans(nil, tc.message)
		var got []string
		for _, s := range spans {
			got = append(got, s.Mask, head[s.From:s.To])
		}
		require.Equal(t, tc.want, got, tc.message)
		checkSpans(t, n, tc.message)
	}
}

func ExampleNormalizer_AppendSpans() {
	n, err := New(Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	spans, head := n.AppendSpans(nil, "Could not save Colony17 to C:\\Saves\\one.rws")
	for _, s := range spans {
		fmt.Println(s.Mask, head[s.From:s.To])
	}
	// Output:
	// <id> Colony17
	// <path> C:\Saves\one.rws
}

func TestSpansKeepDst(t *testing.T) {
	n, err := New(Config{})
	require.NoError(t, err)
	first, _ := n.AppendSpans(nil, "a 1")
	both, head := n.AppendSpans(first, "bb 22")
	require.Equal(t, []Span{{"<num>", 2, 3}, {"<num>", 3, 5}}, both)
	require.Equal(t, "bb 22", head)
}

func FuzzSpans(f *testing.F) {
	for _, c := range headCases {
		f.Add(c.text)
	}
	for _, s := range hostile {
		f.Add(s)
	}
	f.Add("first:\nSystem.Exception: second 12")
	n, _ := testNormalizer(f)
	f.Fuzz(func(t *testing.T, message string) {
		if len(message) <= 512 {
			checkSpans(t, n, message)
		}
	})
}

// checkSpans asserts that the spans of a message rebuild the head of its template.
func checkSpans(t *testing.T, n *Normalizer, message string) {
	t.Helper()
	want, _, _ := strings.Cut(string(n.AppendTemplate(nil, message, "")), "\n")
	require.Equal(t, want, rebuild(t, n, message, func(Span) string { return Mask }), "%q", message)
}

// rebuild puts what mask returns in place of the spans of a message.
func rebuild(t *testing.T, n *Normalizer, message string, mask func(Span) string) string {
	t.Helper()
	spans, head := n.AppendSpans(nil, message)
	require.Contains(t, message, head)
	var b strings.Builder
	keep := func(s string) {
		for i := range len(s) {
			switch {
			case classes[s[i]]&space == 0:
				b.WriteByte(s[i])
			case i == 0 || classes[s[i-1]]&space == 0:
				b.WriteByte(' ')
			}
		}
	}
	end := 0
	for _, s := range spans {
		require.LessOrEqual(t, end, s.From, "%+v of %q", spans, message)
		require.LessOrEqual(t, s.From, s.To, "%+v of %q", spans, message)
		keep(head[end:s.From])
		b.WriteString(mask(s))
		end = s.To
	}
	keep(head[end:])
	return b.String()
}

// checkPlanes holds the planes of s, of at most 64 bytes, to the table of roles.
func checkPlanes(t *testing.T, s string) {
	t.Helper()
	var want [4]uint64
	for i := range len(s) {
		for p := range want {
			want[p] |= roles[s[i]] >> (16 * p) & 1 << i
		}
	}
	all := uint64(1)<<len(s) - 1
	n, x, y, z := planesOf(s)
	require.Equal(t, want, [4]uint64{n & all, x & all, y & all, z & all}, "%q", s)
}

// TestPlanes tries every byte, at every length.
func TestPlanes(t *testing.T) {
	var b strings.Builder
	for c := range 256 {
		b.WriteByte(byte(c))
	}
	text := b.String() + b.String()
	for i := range 256 {
		for size := 1; size <= 64; size++ {
			checkPlanes(t, text[i:i+size])
		}
	}
}

func FuzzPlanes(f *testing.F) {
	for _, c := range benchTexts {
		f.Add(c.text, 0)
	}
	f.Fuzz(func(t *testing.T, s string, from int) {
		s = s[max(0, min(from, len(s))):]
		if s != "" {
			checkPlanes(t, s[:min(len(s), 64)])
		}
	})
}

// TestWindowTokens holds the tokens that a window knows to what narrowEnd finds.
func TestWindowTokens(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	known := 0
	for range 1_000 {
		var b strings.Builder
		for range 1 + rnd.IntN(40) {
			b.WriteString(headPieces[rnd.IntN(len(headPieces))])
		}
		text := b.String()
		var w window
		for i := 0; i < len(text); {
			if classes[text[i]]&narrow == 0 {
				i++
				continue
			}
			end, all := narrowEnd(text, i)
			w.fill(text, i)
			for j := i; j < len(text) && j < i+int(w.valid); {
				if classes[text[j]]&narrow == 0 {
					j++
					continue
				}
				wantEnd, want := narrowEnd(text, j)
				gotEnd, got := w.token(text, j)
				require.Equal(t, wantEnd, gotEnd, "%q at %d", text, j)
				if got&event != 0 {
					require.Equal(t, want&(digit|glue|slash|tick), got&(digit|glue|slash|tick), "%q at %d", text, j)
				} else {
					require.Zero(t, want&(digit|glue), "%q at %d", text, j)
					known++
				}
				j = wantEnd
			}
			require.True(t, w.valid > 0 || end-i > 60, "%q at %d: %v", text, i, all)
			i = end
		}
	}
	require.Greater(t, known, 1_000)
}
