package text

import (
	"strings"
	"unicode/utf8"
)

// Markdown returns s, an output of [Safe], as Markdown of exactly that text: it escapes characters with a meaning
// within a line. It writes another way the forms that hosts turn into links even if they are escaped.
func Markdown(s string) string {
	var b strings.Builder
	for i, r := range s {
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		word := next == '_' || next >= '0' && next <= '9' || next >= 'a' && next <= 'z' || next >= 'A' && next <= 'Z'
		switch {
		case r == '@' && word:
			b.WriteRune('＠')
		case r == '#' && word, r == '!' && word, r == '~' && word, r == '%' && word, r == '$', r == '&' && word:
			b.WriteRune(r + 0xfee0) // its form of full width
		case r == ':' && next == '/':
			b.WriteRune('：')
		case r == '.' && b.Len() >= 3 && strings.EqualFold(s[i-min(i, 3):i], "www"):
			b.WriteRune('．')
		case strings.ContainsRune("\\`*_{}[]<>#|~&^=+!", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// MarkdownCode returns s, made safe as by [Safe], as code within a line of Markdown. A backtick in it becomes ˋ
// (U+02CB).
func MarkdownCode(s string, limit int) string {
	s = strings.ReplaceAll(Safe(s, limit), "`", "ˋ")
	if strings.Trim(s, " ") == "" {
		s = "(blank)" // two backticks alone begin code
	}
	return "`" + s + "`"
}
