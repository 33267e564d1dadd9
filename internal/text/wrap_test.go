package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/text/width"
)

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
