package scrub

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// finder looks for private spans in one text.
type finder struct {
	s     string
	spans []span
	seen  [maxForms]int // up to where the expression of each form ran

	line int // where the line begins

	colons, digits int // where the last run of an address and of digits ended
}

// scan looks at each byte once.
func (f *finder) scan() {
	s := f.s
	h, word, number := roll(0, '\n'), 0, -1 // word and number are the places of the last word and digit
	part, inside := uint(0), false          // the sum of the last part of a name
	for i := 0; i <= len(s); i++ {
		b := byte('\n')
		if i < len(s) {
			b = fold[s[i]]
		}
		c := class[b]
		if c&separator != 0 && inside && (ends.has(part) || s[i-1] >= utf8.RuneSelf) {
			f.label(i)
		}
		if c&inName == 0 {
			inside = false
		} else if inside && !isHump(s, i) {
			part = sum(part, b)
		} else {
			part, inside = uint(b), true
		}
		if c&inToken == 0 {
			if i-word >= shortestKey && number >= word {
				f.opaque(word, i)
			}
			word = i + 1
		}
		if h = roll(h, b); hinted.has(h) {
			for _, hint := range hints[h] {
				at, end := i+1-len(hint.text), i+1
				switch isHere := f.hasHint(at, hint.text); {
				case isHere && hint.form.rule == "tail":
					f.tail(at, end)
				case isHere && hint.form.rule == "root":
					f.home(at, end)
				case isHere:
					f.window(hint.form, at+strings.Count(hint.text[:1], "\n"))
				}
			}
		}
		if c&isSign != 0 {
			if digit(b) {
				number = i
			}
			f.sign(i, b)
		}
	}
}

// isHump reports whether a word begins at the place: with a capital that follows another letter or a digit of ASCII, as
// in camel case, or after a sign that is not of ASCII.
func isHump(s string, at int) bool {
	if s[at-1] >= utf8.RuneSelf {
		return s[at] < utf8.RuneSelf && !isNamePart(lastRune(s[:at]))
	}
	return upper(s[at]) && !upper(s[at-1])
}

// hasHint reports whether a hint is at the place. The text has a line feed before and after it.
func (f *finder) hasHint(at int, hint string) bool {
	for i := range len(hint) {
		b := byte('\n')
		if at+i >= 0 && at+i < len(f.s) {
			b = fold[f.s[at+i]]
		}
		if b != hint[i] {
			return false
		}
	}
	return true
}

// sign looks for the forms that have the byte at the place.
func (f *finder) sign(i int, b byte) {
	switch {
	case b == '@' && i > 0 && i+1 < len(f.s) && f.s[i-1] > ' ' && (f.s[i+1] == '[' || isNamePart(firstRune(f.s[i+1:]))),
		b == '\\' && isDomain(f.s[:i]):
		for _, h := range hints[roll(0, b)] {
			f.window(h.form, i)
		}
	case b == '\n':
		f.line = i + 1
	case digit(b) && i >= f.digits:
		f.number(i)
	case (b == ':' || b == '-') && i >= f.colons:
		f.hardware(i)
	}
}

// isDomain reports whether s may end in a domain: a word in capitals that is not in a path.
func isDomain(s string) bool {
	n := len(strings.TrimRight(s, upperLetters+digits+"-"))
	return n < len(s) && (n == 0 || strings.IndexByte(spaces+"\"'=:([,;<", s[n-1]) >= 0)
}

// window adds the private texts that a form finds at a hint, in its line, or in the rest of the text, as the place of
// the form says.
func (f *finder) window(form *form, at int) {
	s := f.s
	if at < f.seen[form.index] {
		return
	}
	if form.rule == "own" { // the value may begin before the hint
		f.search(form, at-len(lastOf(s[max(0, at-maxBefore):at], "+/=.|~%:")), len(s))
	}
	from, to := at, len(s)
	if n := strings.IndexByte(s[at:], '\n'); n >= 0 && form.place != "lines" {
		to = at + n
	}
	if form.place == "at" && to-at > maxAt && !form.expr().MatchString(s[at:at+maxAt]) {
		return // so that hints in sequence are not each read to the end of the text
	}
	if form.place != "at" {
		if from = max(f.line, at-maxBefore); from > f.line {
			from += max(0, strings.LastIndexAny(s[from:at], spaces))
		}
		f.seen[form.index] = to
	}
	f.search(form, from, to)
}

// search adds the private texts of a form between two places.
func (f *finder) search(form *form, from, to int) {
	s := f.s
	for expr := form.expr(); from < to; {
		m := expr.FindStringSubmatchIndex(s[from:to])
		if m == nil {
			break
		}
		group := 2
		for group+3 < len(m) && m[group] < 0 {
			group += 2 // the first group that matched
		}
		start, end := from+m[group], from+m[group+1]
		from = max(end, from+1) // matches may share the signs around them
		f.seen[form.index] = max(f.seen[form.index], from)
		if form.keep == nil || !form.keep(s, start, end) {
			f.add(form.kind, start, end)
		}
	}
}

// wordByte reports whether b is one of \w.
func wordByte(b byte) bool { return digit(b) || 'a' <= fold[b] && fold[b] <= 'z' || b == '_' }

func digit(b byte) bool { return '0' <= b && b <= '9' }

// hexDigit reports whether b is a digit of hexadecimal.
func hexDigit(b byte) bool { return digit(b) || 'a' <= fold[b] && fold[b] <= 'f' }

func isNamePart(r rune) bool {
	if r < utf8.RuneSelf {
		return wordByte(byte(r)) && r != '_'
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// noSpaces reports whether r is of a script that has no spaces between words.
func noSpaces(r rune) bool { return r >= 0x2E80 && r <= 0xFFDC && unicode.IsLetter(r) }

func firstRune(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }

func lastRune(s string) rune { r, _ := utf8.DecodeLastRuneInString(s); return r }

// skip returns the first place from p on without one of signs.
func skip(s string, p int, signs string) int { return len(s) - len(strings.TrimLeft(s[p:], signs)) }
