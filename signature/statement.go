package signature

import "bytes"

// maxFields bounds the fields of a head that are looked at; what follows them belongs to the last.
const maxFields = 48

// A statement is the head of a template, cut into what the log statement says and the fields that it was given:
// status=404, [state=idle], {"op": "read"}. What a statement says stays the same from line to line; which fields it
// has, and their order, may not.
type statement struct {
	head   []byte
	fields [maxFields]field
	n      int
	bare   bool // it has a key with nothing for a value, as only text that was put together has
	json   bool
	tail   bool // something is said before the JSON
	left   int  // how many bytes may still be searched for closing brackets, so that the whole is linear
}

// field is a key with its value, or a value in brackets alone; from and to are all of it.
type field struct {
	from, to   int
	key, value []byte
}

// cut finds the fields of a head.
func (s *statement) cut(head []byte) {
	s.head, s.left, s.n, s.bare = head, 4*len(head), 0, false
	s.json, s.tail = len(head) > 0 && head[0] == '{', false
	for i := 0; i < len(head); {
		b := head[i]
		begins := i == 0 || isBefore(head[i-1])
		switch {
		case begins && (isLetter(b) || b == '_'):
			j := i + 1
			for j < len(head) && (isWordByte(head[j]) || head[j] == '.' || head[j] == '-' || head[j] == '/') {
				j++
			}
			if byteAt(head, j) == '=' && byteAt(head, j+1) != '=' && byteAt(head, j+1) != '>' {
				i = s.add(i, i, j, j+1)
			} else {
				i = j
			}
		case begins && b == '"':
			end := quoted(head, i)
			switch c := byteAt(head, end); {
			case c == '=' && end > i+2:
				i = s.add(i, i+1, end-1, end+1)
			case c == ':' && end > i+2 && s.json:
				end++
				for byteAt(head, end) == ' ' {
					end++
				}
				key := quotedText(head[i:])
				if byteAt(head, end) == '{' { // its fields are fields, too
					s.put(field{from: i, to: end + 1, key: key, value: head[end : end+1]})
					i = end + 1
				} else {
					i = s.add(i, i+1, i+1+len(key), end)
				}
			default:
				i++
			}
		case b == '{' && i > 0 && !s.json && bytes.HasPrefix(bytes.TrimLeft(head[i+1:], " "), []byte{'"'}):
			s.json, s.tail = true, headerSays(head[:i])
			i++
		case isOpening(b) && i > 0 && isWordByte(head[i-1]): // of an object or a call, whose fields are its own
			i = max(i+1, s.closing(i))
		default:
			i++
		}
	}
}

// add adds the field at from with the key head[a:b] and a value that begins at v, and returns its end.
func (s *statement) add(from, a, b, v int) int {
	end := s.valueEnd(v)
	s.bare = s.bare || end == v
	s.put(field{from: from, to: end, key: s.head[a:b], value: s.head[v:end]})
	return end
}

func (s *statement) put(f field) {
	if s.n == maxFields {
		s.fields[s.n-1].to = f.to
		return
	}
	s.fields[s.n] = f
	s.n++
}

// valueEnd returns the end of the value at i: a quotation, what is in brackets, maybe after a type in parentheses,
// or all up to a byte that ends a word.
func (s *statement) valueEnd(i int) int {
	h := s.head
	for i < len(h) && isOpening(h[i]) {
		end := s.closing(i)
		if end == 0 {
			break
		}
		if h[i] != '(' || isAfter(byteAt(h, end)) {
			return end
		}
		i = end
	}
	if i < len(h) && (h[i] == '"' || h[i] == '\'') {
		return quoted(h, i)
	}
	for i < len(h) && !isAfter(h[i]) {
		i++
	}
	return i
}

// closing returns the position after the bracket that closes the one at i, or 0. Brackets of all kinds are one:
// intervals mix them. Those in quotation marks do not count.
func (s *statement) closing(i int) int {
	depth := 0
	for h := s.head; i < len(h) && s.left > 0; i++ {
		s.left--
		switch b := h[i]; {
		case b == '"':
			end := quoted(h, i)
			s.left -= end - i
			i = end - 1
		case isOpening(b):
			depth++
		case b == ']' || b == '}' || b == ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
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

// quotedText returns what is in the quotation with which s begins.
func quotedText(s []byte) []byte {
	end := quoted(s, 0)
	if end > 1 && s[end-1] == s[0] {
		end--
	}
	return s[1:end]
}

// text calls say with each part of the head that says something, and drop with each field that is data.
//
//   - A quotation that is the whole message but for fields, and a header that says nothing, is the statement:
//     ["watch started"] [id=<*>].
//   - So is the value of a key such as msg, in a line of fields.
//   - Two words or more, with three fields after them alone, are the statement: watch started id=<*> of=<*> in=<*>.
//   - Otherwise all is.
func (s *statement) text(say func([]byte), drop func(*field)) {
	h, fields := s.head, s.fields[:s.n]
	if from, to := s.quotation(); to > 0 {
		say(h[:from])
		say(quotedText(h[from:to]))
		for i := range fields {
			drop(&fields[i])
		}
		return
	}
	before, all, after, at := 0, 0, false, 0
	for i := range fields {
		f := &fields[i]
		all += saidWords(h[at:f.from])
		if i == 0 {
			before = all
		} else {
			after = after || says(h[at:f.from])
		}
		at = f.to
	}
	all += saidWords(h[at:])
	after = after || says(h[at:])
	if i := s.message(); i >= 0 && all < 2 && !s.tail {
		for k := range fields {
			switch f := &fields[k]; {
			case k != i:
				drop(f)
			case f.value[0] == '"':
				say(quotedText(f.value))
			default:
				say(f.value)
			}
		}
		return
	}
	if len(fields) > 0 && (before >= 2 && len(fields) >= minFields || s.tail) && !after && !s.bare {
		say(h[:fields[0].from])
		for i := range fields {
			drop(&fields[i])
		}
		return
	}
	say(h)
	for i := range fields {
		if f := &fields[i]; len(f.value) > 0 && f.value[0] == '"' && keywordOfKey(f.key).announces() {
			drop(f) // the words of a quotation decide together
		}
	}
}

// minFields is how many fields after the statement are a record.
const minFields = 3

// message returns the number of the field with a key such as msg that says the most, or -1.
func (s *statement) message() int {
	best, most := -1, 0
	for i := range s.fields[:s.n] {
		f := &s.fields[i]
		if n := 1 + bytes.Count(f.value, []byte{' '}); len(f.value) > 0 && keywordOfKey(f.key) == textKeyword && n > most {
			best, most = i, n
		}
	}
	return best
}

// quotation returns the bounds of a quotation that is the whole message but for fields and a header.
func (s *statement) quotation() (from, to int) {
	h := s.head
	from = bytes.IndexByte(h, '"')
	if from < 0 || s.n > 0 && s.fields[0].from <= from || headerSays(h[:from]) {
		return 0, 0
	}
	to = quoted(h, from)
	if c := byteAt(h, to); to < len(h) && c != ']' && c != ' ' || saidWords(h[from:to]) == 0 {
		return 0, 0
	}
	at := to
	for i := range s.n {
		if f := &s.fields[i]; f.from >= at {
			if says(h[at:f.from]) {
				return 0, 0
			}
			at = f.to
		}
	}
	if says(h[at:]) {
		return 0, 0
	}
	return from, to
}

// saidWords counts the words of two letters and more in s, up to 2.
func saidWords(s []byte) int {
	n, run := 0, 0
	for _, b := range s {
		if !isLetter(b) && b < 0x80 {
			run = 0
		} else if run++; run == 2 {
			if n++; n == 2 {
				break
			}
		}
	}
	return n
}

// says reports whether s holds a word, or a number that the masking left.
func says(s []byte) bool { return saidWords(s) > 0 || bytes.ContainsAny(s, "0123456789") }

// headerSays reports whether s holds two words, but for text in brackets.
func headerSays(s []byte) bool {
	words := 0
	for len(s) > 0 {
		if s[0] == '[' {
			end := bytes.IndexByte(s, ']')
			if end < 0 {
				return false
			}
			s = s[end+1:]
			continue
		}
		word, rest, _ := bytes.Cut(s, []byte{' '})
		if saidWords(word) > 0 {
			if words++; words > 1 {
				return true
			}
		}
		s = rest
	}
	return false
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

// isDecidingKey reports whether what follows this word decides.
func isDecidingKey(key []byte) bool {
	k := keywordOfKey(key)
	return k == codeKeyword || k == fieldKeyword
}

func byteAt(s []byte, i int) byte {
	if uint(i) < uint(len(s)) {
		return s[i]
	}
	return 0
}

func isOpening(b byte) bool { return b == '[' || b == '{' || b == '(' }

func isWordByte(b byte) bool {
	return isLetter(b) || '0' <= b && b <= '9' || b == '_' || b == '$' || b >= 0x80
}

// isBefore reports whether b may stand before a key.
func isBefore(b byte) bool { return bytes.IndexByte([]byte(" ,;([{|\""), b) >= 0 }

// isAfter reports whether b ends a value.
func isAfter(b byte) bool { return b == 0 || bytes.IndexByte([]byte(" ,;)]}\"|"), b) >= 0 }
