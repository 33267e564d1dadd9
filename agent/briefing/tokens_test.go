package briefing

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTokens(t *testing.T) {
	t.Run("estimate_basic", func(t *testing.T) {
		for _, c := range []struct {
			line Line
			want int
		}{
			{Line{}, 1},                      // the line feed
			{Line{Text: "abc"}, 1},           // with the line feed: 4 runes
			{Line{Text: "abcd"}, 2},          // rounded up
			{Line{Text: "ééé"}, 1},           // runes, not bytes
			{Line{Text: "a", Data: true}, 1}, // "> a\n"
			{Line{Text: "ab", Data: true}, 2},
			{Line{Text: "\x00", Data: true}, 2}, // `> \x00`, as it is shown
			{Line{Text: strings.Repeat("x", 5*maxLineRunes)}, maxLineRunes/4 + 1},
		} {
			require.Equal(t, c.want, (&Tokens{}).Estimate(c.line), "%+v", c.line)
		}
	})
	t.Run("estimate_configurable", func(t *testing.T) {
		tokens := Tokens{
			"default": 5, "hex": 2, "stack": 2.5, "cjk": 1, "hangul": 0.5, "cyrillic": 2, "old_italic": 0.25,
		}
		for _, c := range []struct {
			line Line
			want int
		}{
			{Line{Text: "123456789"}, 2},
			{Line{Text: "123456789", Kind: Hex}, 5},
			{Line{Text: "123456789", Kind: Stack}, 4},
			{Line{Text: "日本語、テスト"}, 8},        // with the line feed, and the punctuation of the script
			{Line{Text: "日本語", Kind: Hex}, 4}, // whatever the kind
			{Line{Text: "한국"}, 5},             // what is named comes before what it is part of
			{Line{Text: "привет"}, 4},
			{Line{Text: "привет 1234"}, 5},
			{Line{Text: "𐌀"}, 5},
		} {
			for range 20 { // nothing depends on the order of a map
				require.Equal(t, c.want, tokens.Estimate(c.line), "%+v", c.line)
			}
		}
		ascii := Tokens{"latin": 6, "common": 1}
		require.Equal(t, 6, ascii.Estimate(Line{Text: "letters{} éß"}), "9 of 6, 4 of 1")
		require.Equal(t, 2, ascii.Estimate(Line{Text: "azAZaz"}), "6 of 6, 1 of 1")
		require.Equal(t, 3, (&Tokens{"default": 10}).Estimate(Line{Text: strings.Repeat("é", 29)}), "sums are exact")
	})
}
