package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
