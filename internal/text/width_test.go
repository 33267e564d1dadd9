package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/text/template"
	"github.com/heedlog/heed/internal/text/width"
)

// TestWidth: columns by the tables of Unicode, and cuts that go through no character.
func TestWidth(t *testing.T) {
	var m width.Measure
	for text, want := range map[string]int{
		"":                         0,
		"plain":                    5,
		"Привіт":                   6,
		"и\u0306":                  1,
		"й":                        1,
		"오류":                       4,
		"\u110b\u1169\u1105\u1172": 4, // 오류, as conjoining jamo
		"日本":                       4,
		"ｱ":                        1, // halfwidth
		"Ａ":                        2, // fullwidth
		"👍🏽":                       2, // with a skin tone
		"👨‍👩‍👧‍👦":                  2, // joined
		"🇺🇦":                       2, // a flag
		"⚠\ufe0f":                  2, // with the selector for emoji
		"e\u0301\u0323":            1, // two marks
		"شمس":                      3,
		"न\u094dद":                 2, // a conjunct; terminals differ
		"…":                        1,
		"│":                        1, // ambiguous: narrow
	} {
		require.Equal(t, want, m.StringWidth(text), "%q", text)
		require.Equal(t, text, m.Truncate(text, want, "…"))
		require.Equal(t, text, m.TruncateLeft(text, want, "…"))
	}
	const text = "오류 👨‍👩‍👧‍👦 Привіт и\u0306 🇺🇦 ⚠️ конец"
	for limit := 1; limit < m.StringWidth(text); limit++ {
		left, right := m.TruncateLeft(text, limit, "…"), m.Truncate(text, limit, "…")
		require.LessOrEqual(t, m.StringWidth(left), limit)
		require.LessOrEqual(t, m.StringWidth(right), limit)
		require.True(t, strings.HasSuffix(text, strings.TrimPrefix(left, "…")), left)
		require.True(t, strings.HasPrefix(text, strings.TrimSuffix(right, "…")), right)
		require.NotContains(t, left+right, "\u200d…")
		require.NotContains(t, left+right, "…\u200d")
	}
}

func TestAppendHanging(t *testing.T) {
	var m width.Measure
	for _, c := range []struct {
		lead, text string
		width      int
		want       string
	}{
		{"  text      ", "two  words", 0, "  text      two  words\n"},
		{"  text      ", "two  words", 22, "  text      two  words\n"},
		{"  text      ", "a few more  words", 24, "  text      a few more\n            words\n"},
		{"  text      ", "a few more  words", 20, "  text\n    a few more words\n"},
		{"  text      ", "열두 글자가 넘는 말", 24, "  text      열두 글자가\n            넘는 말\n"},
		{"", "a few more words", 12, "a few more\nwords\n"},
		{"", "", 12, "\n"},
	} {
		got := string(m.AppendHanging(nil, c.lead, c.text, c.width))
		require.Equal(t, c.want, got)
		for line := range strings.Lines(got) {
			if c.width > 0 {
				require.LessOrEqual(t, m.StringWidth(strings.TrimSuffix(line, "\n")), c.width)
			}
		}
	}
}

func TestAppendWrapped(t *testing.T) {
	var m width.Measure
	for _, c := range []struct {
		text          string
		width, indent int
		want          string
	}{
		{"a b  c", 0, 4, "a b c\n"},
		{"aaa bbb", 11, 4, "aaa bbb\n"},
		{"aaa bbb", 10, 4, "aaa\n    bbb\n"},
		{"오류 오류", 8, 0, "오류\n오류\n"},
		{"aaaaaaaaaa b", 5, 0, "aaaaa\naaaaa\nb\n"},
		{"오류오류 b", 5, 0, "오류\n오류\nb\n"},
		{"👨‍👩‍👧‍👦👨‍👩‍👧‍👦 b", 3, 0, "👨‍👩‍👧‍👦\n👨‍👩‍👧‍👦\nb\n"},
		{"오 b", 1, 0, "오\nb\n"},
		{"", 10, 2, "\n"},
	} {
		require.Equal(t, c.want, string(m.AppendWrapped(nil, c.text, c.width, c.indent)))
	}
}

func TestCommon(t *testing.T) {
	for _, tc := range []struct{ a, b, want string }{
		{"Anna is late", "Boris is late", "<*> is late"},
		{"<*> is late", "Chloe is late", "<*> is late"},
		{"Chloe is late", "<*> is late", "<*> is late"},
		{"a b c", "a x y", "a <*>"},
		{"a b c d", "a x c y", "a <*> c <*>"},
		{"same", "same", "same"},
		{"of other length", "of other", "of other <*>"},
		{"of other", "of other length", "of other <*>"},
		{"Old Hob is late for work", "Anna is late for work", "<*> is late for work"},
		{"Anna is late for work", "Old Hob is late for work", "<*> is late for work"},
		{"the lamp of Anna is out", "the lamp of the mill of Boris is out", "the lamp of <*> is out"},
		{"no words", "of it in common", "<*>"},
		{"Anna is late\nat A.B\nat C.D", "Boris is late\nat A.B\nat C.D", "<*> is late\nat A.B\nat C.D"},
		{"a" + strings.Repeat(" b", 200) + " c", "a" + strings.Repeat(" d", 300) + " c", "a <*>"},
		{"", "", ""},
	} {
		require.Equal(t, tc.want, template.Common(tc.a, tc.b), "%q and %q", tc.a, tc.b)
	}
}

func TestDiffering(t *testing.T) {
	for _, tc := range []struct{ all, want []string }{
		{[]string{"status 200", "status 404"}, []string{"200", "404"}},
		{[]string{"stopped 12 now", "stopped 7 now"}, []string{"12", "7"}},
		{[]string{"failed", "failed 12"}, []string{"failed", "failed 12"}},
		{[]string{"", "failed 12"}, []string{"", "failed 12"}},
		{[]string{"a b a", "a a"}, []string{"b a", "a"}},
		{[]string{"open"}, []string{"open"}},
	} {
		for i, v := range tc.all {
			require.Equal(t, tc.want[i], template.Differing(v, tc.all), "%q", tc.all)
		}
	}
}

func TestLine(t *testing.T) {
	require.Equal(t, `broken\x1b | at A.B | at C.D`, template.Line("broken\x1b\nat A.B\nat C.D"))
	require.Empty(t, template.Line(""))
}
