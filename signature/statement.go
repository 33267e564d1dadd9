package signature

import (
	"bytes"
	"strings"
	"unicode"
)

// statement returns the part of a head that a log statement wrote. Of a record that is
//
//   - text and fields, the text: watch started id=<*> [in=<*>];
//   - fields alone: the value of the field for text with the most words, such as msg;
//   - anything else, or if a key has nothing for a value, as in text that was put together: the head.
func statement(head []byte) []byte {
	fields, from, words := 0, 0, 0
	var text []byte
	for i, end := 0, 0; i < len(head); i = end + 1 {
		for end = i; end < len(head) && head[end] != ' '; {
			if head[end] != '"' && (head[end] != '\'' || byteAt(head, end-1) != '=') {
				end++
				continue
			}
			end = quoted(head, end)
		}
		key, v, assigns := bytes.Cut(bytes.Trim(head[i:end], "[],;"), []byte{'='})
		switch {
		case !assigns || bytes.IndexFunc(key, isEdge) >= 0 || len(v) > 0 && (v[0] == '=' || v[0] == '>'):
			fields, words = 0, 0
			continue
		case len(v) == 0 && i > 0 && (from > 0 || fields == 0):
			return head
		case fields == 0:
			from, text = i, nil
		}
		fields++
		if n := 1 + bytes.Count(v, []byte{' '}); keywordOfKey(key) == textKeyword && n > words {
			text, words = bytes.Trim(v, `"`), n
		}
	}
	switch {
	case fields > 0 && from > 0:
		return head[:from]
	case fields > 0 && text != nil:
		return text
	}
	return head
}

// isEdge reports whether r cannot be in a key.
func isEdge(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.-/@", r)
}

// quoted returns the end of the quotation at i, or the length of s where it is not closed.
func quoted(s []byte, i int) int {
	mark := s[i]
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case mark:
			return i + 1
		}
	}
	return len(s)
}

// keywordOfKey returns the keyword of a word, or of the last part of a compound such as exitCode or exit_code.
func keywordOfKey(key []byte) keyword {
	if string(key) == "@m" {
		return textKeyword
	}
	return keywordOf(key[wordStart(key, 0, len(key)):])
}
