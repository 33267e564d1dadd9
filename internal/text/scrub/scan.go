package scrub

import (
	"regexp"
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

	colons, digits, values int // where the last run of an address or of digits, and the last token of a provider, ended
}

// scan looks at each byte once.
func (f *finder) scan() {
	s := f.s
	h, word, number := roll(0, '\n'), 0, -1 // word and number are the places of the last word and digit
	var before, part uint64                 // sums of the last two parts of a name
	inside := false                         // a name
	for i := 0; i <= len(s); i++ {
		b := byte('\n')
		if i < len(s) {
			b = fold[s[i]]
		}
		c := class[b]
		if c&separator != 0 && inside && (lasts.has(part) || s[i-1] >= utf8.RuneSelf) {
			f.end(i, before, part)
		}
		switch {
		case c&inName != 0 && inside && !isHump(s, i):
			part = sum(part, b)
		case c&inName != 0:
			before, part = part, uint64(b)
		case inside && c&isJoint == 0 || !inside:
			before, part = 0, 0
		}
		inside = c&inName != 0
		if c&inToken == 0 {
			if i-word >= shortestKey && number >= word {
				f.opaque(word, i)
			}
			word = i + 1
		}
		h = roll(h, b)
		if hinted[h>>6]&(1<<(h&63)) != 0 {
			for _, hint := range *hintsAt(h) {
				if at := i - 2 - hint.key; hint.hash == h && f.hasHint(at, hint.text) {
					f.hinted(hint.form, at+strings.Count(hint.text[:1], "\n"), at+len(hint.text))
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
		last := lastRune(s[:at])
		return s[at] < utf8.RuneSelf && !isNamePart(last) && !joins(last)
	}
	return upper(s[at]) && !upper(s[at-1])
}

// end looks for a value if a word before one may end at the place, by the sums of its last two parts.
func (f *finder) end(at int, before, part uint64) {
	other := f.s[at-1] >= utf8.RuneSelf && ends.has(sumOf(f.s[max(0, at-2):at]))
	if other || ends.has(part) || ends.has(both(before, part)) ||
		(agents.has(part) || agents.has(both(before, part))) && beginsName(f.s[min(at+1, len(f.s)):]) {
		f.label(at)
	}
}

// hasHint reports whether a hint is at the place. The place before the text has a line feed.
func (f *finder) hasHint(at int, hint string) bool {
	if at < 0 {
		return at == -1 && hint[0] == '\n' && hasFold(f.s, hint[1:])
	}
	return hasFold(f.s[at:], hint)
}

// beginsName reports whether s begins as a name does after the word of an agent: with a capital, a letter of another
// script or a quote.
func beginsName(s string) bool {
	return s != "" && (fold[s[0]] != s[0] || s[0] >= utf8.RuneSelf || s[0] == '"' || s[0] == '\'')
}

// domain are the ends of domains that are no endings of files.
var domain = regexp.MustCompile(`(?i)\.(?:[a-z]{2}|com|org|net|edu|gov|info|app|dev|example|test|mail|online|xn--.*)$`)

// domain adds the domain in capitals and the account that have a backslash between them.
func (f *finder) domain(at int) {
	s, from := f.s, at
	for from > 0 && (upper(s[from-1]) || digit(s[from-1]) || s[from-1] == '-') {
		from--
	}
	after := skip(s, at, `\`)
	switch name := s[from:at]; {
	case len(name) < 2, from > 0 && strings.IndexByte(spaces+"\"'=:([,;<", s[from-1]) < 0:
		return // a part of a path, or of a word
	case is(name, ordinaryWord|nobodyWord), !strings.ContainsAny(name, upperLetters):
		return
	}
	end := f.name(after, "")
	if end == after || end < len(s) && strings.IndexByte(`\/:&`, s[end]) >= 0 && !strings.HasPrefix(s[end:], ": ") {
		return
	}
	f.add(Computer, from, at, true)
	f.add(User, after, end, true)
}

// sign looks for the forms that have the byte at the place.
func (f *finder) sign(i int, b byte) {
	switch {
	case b == '@' && i > 0 && i+1 < len(f.s) && fold[f.s[i-1]] > ' ' &&
		(f.s[i+1] == '[' || isNamePart(firstRune(f.s[i+1:]))):
		for _, h := range *hintsAt(roll(0, '@')) {
			f.hinted(h.form, i, i+1)
		}
	case b == '\\':
		f.domain(i)
	case b == '\n':
		f.line = i + 1
	case digit(b) && i >= f.digits:
		f.number(i)
	case (b == ':' || b == '-') && i >= f.colons:
		f.hardware(i)
	}
}

// hinted looks for the form whose hint is between two places.
func (f *finder) hinted(form *form, at, end int) {
	switch form.rule {
	case "tail":
		f.tail(at, end)
	case "root":
		f.home(at, end)
	case "own":
		_ = at < f.values || f.value(form, at) || f.value(form, at-len(lastOf(f.s[max(0, at-maxBefore):at], "+/=.|~%:")))
	default:
		f.window(form, at)
	}
}

// window adds the private texts that a form finds near a hint: in its line, its word, or the rest of the text, as the
// place of the form says.
func (f *finder) window(form *form, at int) {
	s := f.s
	if at < f.seen[form.index] {
		return
	}
	from, to := f.line, len(s)
	if n := strings.IndexByte(s[at:], '\n'); n >= 0 && form.place != "lines" {
		to = at + n
	}
	most := maxBefore
	if n := strings.IndexAny(s[at+1:to], " \t"); form.place == "word" && n >= 0 {
		to = at + n + 2
	}
	switch form.place {
	case "at":
		from = at
	case "short":
		from, to = at, min(to, at+maxShort)
	case "word", "near":
		most = 0
	}
	if at-from > most {
		from = max(f.line, f.line+strings.LastIndexAny(s[f.line:at-most], " \t"))
	}
	if f.seen[form.index] = f.all(form, from, to); from != at {
		f.seen[form.index] = to
	}
}

// value adds the value of a provider that begins at a place, with the rest of its word.
func (f *finder) value(form *form, at int) bool {
	s := f.s
	if len(s)-at < form.shortest || at > 0 && wordByte(s[at-1]) && s[at-1] != '_' && !strings.HasSuffix(s[:at], "%3D") {
		return false
	}
	m := form.expr().FindStringIndex(s[at:])
	if m == nil {
		return false
	}
	to := at + m[1]
	for to < len(s) && (class[s[to]]&inToken != 0 || s[to] == '=') {
		to++
	}
	f.add(Secret, at, to, false)
	f.values = to
	return true
}

// all adds the private texts of a form between two places. Matches may share the signs around them, so each search
// begins where the last private text ended. It returns that place.
func (f *finder) all(form *form, at, end int) int {
	expr := form.expr()
	for at < end {
		m := expr.FindStringSubmatchIndex(f.s[at:end])
		if m == nil {
			break
		}
		group := 2
		for group+3 < len(m) && m[group] < 0 {
			group += 2 // the first group that matched
		}
		from, to := at+m[group], at+m[group+1]
		at = max(to, at+1)
		if form.keep == nil || !form.keep(f.s, from, to) {
			f.add(form.kind, from, to, form.teaches)
		}
	}
	return at
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
