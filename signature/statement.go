package signature

import (
	"bytes"
	"strings"
	"unicode"
)

// statement returns the part of a head that a log statement wrote. Of a record that is
//
//   - text and fields, the text: watch started id=<*> [in=<*>], and with values alone before them the first field, too;
//   - fields alone, or JSON: the first quotation that is the value of a field for text, such as msg;
//   - anything else, or if a key has nothing for a value, as in text that was put together: the head.
//
// The value of a field ends at a space or, if a comma is before the field, at the next one.
func (t *tokens) statement(head []byte) []byte {
	if bytes.HasPrefix(head, []byte{'{'}) {
		return message(head)
	}
	fields, from, first, listed := 0, 0, 0, false
	for i, end := 0, 0; i < len(head); i = end + 1 {
		end = t.fieldEnd(head, i)
		key, v, assigns := bytes.Cut(bytes.Trim(head[i:end], "[],;"), []byte{'='})
		switch {
		case !assigns && listed && head[i-2] != ',':
			continue
		case !assigns || bytes.IndexFunc(key, isEdge) >= 0 || len(v) > 0 && (v[0] == '=' || v[0] == '>'):
			fields, listed = 0, false
			continue
		case len(v) == 0 && i > 0 && (from > 0 || fields == 0):
			return head
		case fields == 0:
			from, first = i, end
		}
		fields++
		listed = i > 1 && head[i-2] == ',' && !isClosing(head[end-1])
	}
	switch {
	case fields == 0:
		return head
	case from == 0:
		return message(head)
	case letters(head[:from]) == 0:
		return head[:first]
	}
	return head[:from]
}

// fieldEnd returns the end of the field or word at i: a space that is in no quotation and in no brackets of a value.
func (t *tokens) fieldEnd(s []byte, i int) int {
	for i < len(s) && s[i] != ' ' {
		switch before := byteAt(s, i-1); {
		case s[i] == '"' || s[i] == '\'' && before == '=':
			i = quoted(s, i)
		case before == '=' || before == ')':
			i = max(i+1, t.closing(s, i))
		default:
			i++
		}
	}
	return i
}

// message returns the first quotation in a record that is the value of a key for text, or the record.
func message(record []byte) []byte {
	for i := 0; i < len(record); i++ {
		if record[i] != '"' {
			continue
		}
		key, text := bytes.TrimRight(record[:i], `:= "`), record[i:quoted(record, i)]
		if len(key) < i && len(text) > 2 && keywordOfKey(key) == textKeyword {
			return bytes.Trim(text, `"`)
		}
		i += len(text) - 1
	}
	return record
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
