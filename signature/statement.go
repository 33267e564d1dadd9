package signature

import "bytes"

// statement returns the part of a head that a log statement wrote. Of a record that is
//
//   - three fields or more after text, or one or more after a quotation: watch started id=<*> of=<*> in=<*>, the text;
//   - fields alone: the value of the field for text with the most words, such as msg;
//   - anything else, or if a key has nothing for a value, as in text that was put together: the head.
func (t *tokens) statement(head []byte) []byte {
	fields, from := 0, 0
	var text []byte
	for i := 0; i < len(head); {
		key, v, end := field(head, i)
		switch {
		case end == 0: // no field
			if fields, text = 0, nil; head[i] == '"' {
				end = quoted(head, i)
			}
			for i = max(i+1, end); i < len(head) && head[i] != ' ' && head[i] != '{'; {
				i++
			}
		case len(v) == 0:
			return head
		default:
			if fields == 0 {
				from = i
			}
			if keywordOfKey(key) == textKeyword && bytes.Count(v, []byte{' '}) >= bytes.Count(text, []byte{' '}) {
				text = v
			}
			fields++
			i = end
		}
		for i < len(head) && bytes.IndexByte([]byte(" ,;{}"), head[i]) >= 0 {
			i++
		}
	}
	said := bytes.TrimRight(head[:from], " {,")
	switch {
	case fields > 0 && len(said) == 0 && text != nil:
		return text
	case fields >= 3 && len(said) > 0, fields > 0 && (bytes.HasSuffix(said, []byte{'"'}) || bytes.HasSuffix(said, []byte(`"]`))):
		return said
	}
	return head
}

// field returns the key and the value of the field at i, key=value, [key=value] or "key": value, and its end, 0 for none.
func field(s []byte, i int) (key, v []byte, end int) {
	open := byteAt(s, i)
	from := i
	if open == '[' || open == '"' {
		from++
	}
	j := from
	for j < len(s) && (isWordByte(s[j]) || bytes.IndexByte([]byte(".-/@"), s[j]) >= 0) {
		j++
	}
	key = s[from:j]
	mark := byte('=')
	if open == '"' && byteAt(s, j) == '"' {
		j++
		mark = ':'
	}
	if len(key) == 0 || byteAt(s, j) != mark || byteAt(s, j+1) == '=' || byteAt(s, j+1) == '>' {
		return nil, nil, 0
	}
	for j++; byteAt(s, j) == ' ' && mark == ':'; {
		j++
	}
	end = j
	switch b := byteAt(s, j); {
	case b == '"' || b == '\'':
		end = quoted(s, j)
		v = bytes.Trim(s[j:end], `"'`)
	default:
		for end < len(s) && !isAfter(s[end]) {
			end++
		}
		v = s[j:end]
	}
	if open == '[' && byteAt(s, end) == ']' {
		end++
	}
	return key, v, end
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

// keywordOfKey returns what a word, or the last part of a compound such as exitCode or exit_code, says of what stands
// after it.
func keywordOfKey(key []byte) keyword {
	last := len(key)
	for last > 0 && isLower(key[last-1]) {
		last--
	}
	for small := last < len(key); last > 0 && isUpper(key[last-1]); {
		if last--; small {
			break
		}
	}
	if string(key) == "@m" {
		return textKeyword
	}
	return keywordOf(key[last:])
}
