package width

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWidth: columns by the tables of Unicode, and cuts that go through no character.
func TestWidth(t *testing.T) {
	var m Measure
	for text, want := range map[string]int{
		"":        0,
		"plain":   5,
		"Привіт":  6,
		"и\u0306": 1,
		"오류":      4,
		"👍🏽":      2,
		"🇺🇦":      2,
		"⚠\ufe0f": 2,
	} {
		require.Equal(t, want, m.StringWidth(text), "%q", text)
		require.Equal(t, text, m.Truncate(text, want, "…"))
		require.Equal(t, text, m.TruncateLeft(text, want, "…"))
	}
	const text = "오류 Привіт и\u0306 🇺🇦 конец"
	for limit := 1; limit < m.StringWidth(text); limit++ {
		left, right := m.TruncateLeft(text, limit, "…"), m.Truncate(text, limit, "…")
		require.LessOrEqual(t, m.StringWidth(left), limit)
		require.LessOrEqual(t, m.StringWidth(right), limit)
		require.True(t, strings.HasSuffix(text, strings.TrimPrefix(left, "…")), left)
		require.True(t, strings.HasPrefix(text, strings.TrimSuffix(right, "…")), right)
	}
}
