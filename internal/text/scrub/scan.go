package scrub

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// finder looks for private spans in one text.
type finder struct {
	s     string
	spans []span
	seen  [maxForms]int // up to where the expression of each form ran

	line, longest int // where the line begins, and the length of the longest word, 0 if it is not known yet

	colons, digits int // where the last run of an address or of digits ended
}

// scan looks at each byte once.
func (f *finder) scan() {
	s := f.s
	h, word, number := roll(0, '\n'), 0, -1 // word and number are the places of the last word and digit
	var part uint64                         // of the word that a sign, or a capital after a small letter, begins
	for i := 0; i <= len(s); i++ {
		b := byte('\n')
		if i < len(s) {
			b = fold[s[i]]
		}
		c := class[b]
		if c&separator != 0 && i > 0 && class[s[i-1]]&inName != 0 {
			place, bit := bitOf(part)
			if lasts[place]&bit != 0 || s[i-1] >= utf8.RuneSelf {
				if label, agent := endsWord(s, i); label || agent && beginsName(s[min(i+1, len(s)):]) {
					f.label(i)
				}
			}
		}
		switch {
		case c&inName == 0:
			part = 0
		case i > 0 && upper(s[i]) && !upper(s[i-1]):
			part = uint64(b)
		default:
			part = part*131 + uint64(b)
		}
		if c&inToken == 0 {
			if i-word >= shortestToken && number >= word {
				f.opaque(word, i)
			}
			word = i + 1
		}
		if c&isSign != 0 {
			if b <= '9' && b >= '0' {
				number = i
			}
			f.sign(i, b)
		}
		h = roll(h, b)
		if hinted[h>>6]&(1<<(h&63)) != 0 {
			for _, h := range hints[buckets[h]] {
				if at := i - 2 - h.key; f.hasHint(at, h.text) {
					f.hinted(h.form, max(at, 0), at+len(h.text))
				}
			}
		}
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

// shortestToken is the length of the shortest word that may be a secret by its letters.
const shortestToken = 16

// opaque adds a word with a digit that a machine made up: one whose letters are random, one with a prefix as providers
// have, or one after a word for secrets. Words in paths and in data stay.
func (f *finder) opaque(from, to int) {
	s := f.s
	if from > 0 && strings.IndexByte("<{", s[from-1]) >= 0 {
		return
	}
	wideFrom, wideTo := from, to
	for wideFrom > max(0, from-maxBefore) && (class[s[wideFrom-1]]&inToken != 0 || strings.IndexByte("+/", s[wideFrom-1]) >= 0) {
		wideFrom--
	}
	for wideTo < min(len(s), to+maxWide) && (class[s[wideTo]]&inToken != 0 || strings.IndexByte("+/=", s[wideTo]) >= 0) {
		wideTo++
	}
	word, wide, before := s[from:to], s[wideFrom:wideTo], s[max(0, wideFrom-80):wideFrom]
	isURL := strings.Contains(s[max(0, from-80):from], "://")
	inPath := !isURL && (strings.HasPrefix(s[to:], `\`) || strings.HasPrefix(s[to:], "/") ||
		strings.HasSuffix(s[:from], "/") || strings.HasSuffix(before, `\`))
	if isURL {
		wideFrom = from
	}
	switch {
	case strings.HasPrefix(s[to:], "("):
		return
	case isIdentity(word) && (strings.HasPrefix(word, "0002") || owned.MatchString(s[max(f.line, from-48):from])):
		f.add(ID, from, to, false)
		return
	case isCredential(word) && !inPath && f.credited(wideFrom):
		f.addToken(from, to)
		return
	case !isURL && len(wide) >= 40 && strings.ContainsAny(wide, "+/=") && isRandomText(wide):
		if wideFrom == f.line && (wideTo == len(s) || s[wideTo] < ' ') {
			return // a line of data
		}
		from, to = wideFrom, wideTo
	case inPath, to < wideTo && s[to] != '=', from > 0 && s[from-1] == '+', !isOpaque(word) && !isPrefixed(word):
		return
	}
	if !media.MatchString(wide) && !blob.MatchString(before[max(0, len(before)-32):]) {
		f.addToken(from, to)
	}
}

// addToken adds a secret, with the other parts that dots join to it.
func (f *finder) addToken(from, to int) {
	s := f.s
	for to < len(s) && s[to] == '.' {
		end := skipToken(s, to+1)
		if !isPart(s[to+1 : end]) {
			break
		}
		to = end
	}
	for from > 0 && s[from-1] == '.' {
		start := from - 1
		for start > 0 && class[s[start-1]]&inToken != 0 {
			start--
		}
		if !isPart(s[start : from-1]) {
			break
		}
		from = start
	}
	f.add(Secret, from, to, false)
}

// isPart reports whether a word may be a part of a secret: a short one, or one with digits.
func isPart(s string) bool { return s != "" && (len(s) <= 8 || strings.ContainsAny(s, "0123456789")) }

// skipToken returns the end of the word of a machine at the place.
func skipToken(s string, at int) int {
	for at < len(s) && class[s[at]]&inToken != 0 {
		at++
	}
	return at
}

var (
	blob = regexp.MustCompile(`(?i)(?:data|blob|base64|payload|chunk|sha\d*|\bh1|hash|integrity|checksum|digest|buffer|bytes|seed|etag|texture|mesh|asset|save|level|replay|signature)\W*[^\s]{0,8}$`)

	// media matches the beginning of compressed data, pictures, sounds and archives in base64.
	media = regexp.MustCompile(`^0?(?:H4sI|eJ|eN|/9j/|iVBOR|R0lGOD|UklGR|UEsDB|T2dnU|AAAA|Qk|KLUv|SUkq|TVNDR)`)

	uuid     = `[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}`
	groups   = regexp.MustCompile(`^(?:` + uuid + `|[A-Za-z0-9]{4,5}(?:-[A-Za-z0-9]{4,5}){2,})$`)
	prefixed = regexp.MustCompile(`^((?:[A-Za-z][A-Za-z0-9]{1,11}[_-]){1,3})(?:(` + uuid + `)|([A-Za-z0-9]{16,})(?:[_-].*)?)$`)

	// compounds are the ends of longer words for secrets.
	compounds = []string{"key", "token", "secret", "schlüssel", "password", "passwort", "sleutel", "nyckel", "nøkkel"}

	option = regexp.MustCompile(`(?:^|\s)-\w[ =]["']?$`)
	unsaid = regexp.MustCompile(`(?i)hash|sha|commit|checksum|guid|md5|asset|version|revision|algorithm|length|polic|strength`)
)

// isCredential reports whether a word may be the value of a word for secrets: of groups, hexadecimal, or of letters and
// digits that change often.
func isCredential(s string) bool {
	kinds, changes, _ := mixture(s)
	if isReadable(s) {
		return false
	}
	return isHex(s) && changes > 4 && !strings.HasPrefix(s, "0000") || isRandom(s) || groups.MatchString(s) ||
		kinds != 7 && changes*100 > len(s)*28 && len(numbers.FindAllString(s, 3)) > 2
}

// isIdentity reports whether s has a form of ids: a UUID, or as many digits of hexadecimal as hashes have.
func isIdentity(s string) bool {
	return (len(s) == 32 || len(s) == 36 || len(s) == 40) && isHex(s)
}

// owned matches the text before an id of an account or of a device.
var owned = regexp.MustCompile(`(?i)(?:account|users?|player|owner|device|machine|hardware|client|install(?:ation)?|profile|customer|tenant|` +
	`member|subscriber|identity|principal|whitelist|author|friend)(?:[\w. -]{0,16}?(?:id|guid|uuid|hash|puid)\w{0,12}|[ _-]?id)?["']{0,2}[\s=:("'{\[#/]{1,4}$`)

// isPrefixed reports whether a word has a prefix of a provider, which is no common word, and a part as machines make up.
func isPrefixed(s string) bool {
	m := prefixed.FindStringSubmatch(s)
	if m == nil || blob.MatchString(m[1]) {
		return false
	}
	known := true
	for _, part := range strings.FieldsFunc(strings.ToLower(m[1]), func(r rune) bool { return r == '_' || r == '-' }) {
		known = known && common(part) && !is(part, secretWord|tokenWord)
	}
	digits := len(numbers.FindAllString(m[3], 4))
	kinds, changes, _ := mixture(m[3])
	switch letters := strings.Trim(m[1][:strings.IndexAny(m[1], "_-")], lowerLetters+upperLetters) == ""; {
	case known:
		return kinds == 7 && digits > 1 && changes*100 > len(m[3])*52 && !isReadable(m[3])
	case m[2] != "":
		return letters
	case isHex(m[3]):
		return letters && len(m[3]) >= 24 && digits > 3
	}
	return digits > 2 && !isReadable(m[3]) && (kinds == 7 || len(m[3]) >= 20)
}

// isRandomText reports whether s is random text in base64.
func isRandomText(s string) bool {
	kinds, changes, longest := mixture(s)
	return kinds == 7 && changes*100 > len(s)*45 && longest < 8
}

// credited reports whether one of the last words before the place is a word for secrets, or the place is after an option.
func (f *finder) credited(from int) bool {
	s, first := f.s, max(f.line, from-64)
	first += strings.LastIndexAny(s[first:from], ")]>") + 1
	found := false
	for at, n := from, 0; at > first && n < 5 && !found; at-- {
		if class[s[at-1]]&inName == 0 || class[s[at]]&inName != 0 {
			continue
		}
		n++
		if ends, _ := endsWord(s, at); ends {
			kinds, _ := f.word(at)
			if kinds&noneWord != 0 {
				return false
			}
			found = kinds&(secretWord|tokenWord) != 0 || kinds&providerWord != 0 && n < 2
		}
		found = found || slices.ContainsFunc(compounds, func(end string) bool {
			return at-first > len(end) && hasFold(s[at-len(end):at], end)
		})
	}
	return (found || option.MatchString(s[first:from])) && !unsaid.MatchString(s[first:from])
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
		for _, h := range hints[buckets[roll(0, '@')]] {
			f.hinted(h.form, i, i+1)
		}
	case b == '\\':
		f.domain(i)
	case b == '\n':
		f.armor(f.line, i)
		f.line = i + 1
	case digit(b) && i >= f.digits:
		f.number(i)
	case (b == ':' || b == '-') && i >= f.colons:
		f.hardware(i)
	}
}

// armored matches a line of a private key.
var armored = regexp.MustCompile(`^[ \t]*([A-Za-z0-9+/]{58,78}={0,2})[ \t\r]*$`)

// armor adds a line of a private key that is a text by itself, since a log is shown line by line.
func (f *finder) armor(from, to int) {
	if to-from < 60 || to-from > 90 {
		return
	}
	if m := armored.FindStringSubmatch(f.s[from:to]); m != nil && strings.Count(m[1], "/") < 7 {
		if kinds, _, _ := mixture(m[1]); kinds == 7 {
			from += strings.Index(f.s[from:to], m[1])
			f.add(Secret, from, from+len(m[1]), false)
		}
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
		_ = f.value(form, at) || f.value(form, tokenStart(f.s, at))
	default:
		f.window(form, at)
	}
}

// maxWide bounds a word with the signs of base64.
const maxWide = 1024

// maxBefore is how far before a hint a form begins, if its line is longer.
const maxBefore = 128

// window adds the private texts that a form finds in the line of a hint. One for a private key, which has several
// lines, sees the rest of the text.
func (f *finder) window(form *form, at int) {
	s := f.s
	if at < f.seen[form.index] || form.shortest > 0 && !f.hasWord(form.shortest) {
		return
	}
	from, to := f.line, len(s)
	if n := strings.IndexByte(s[at:], '\n'); n >= 0 && form.place != "lines" {
		to = at + n
	}
	most := maxBefore
	switch form.place {
	case "at":
		f.all(form, at, to)
		return
	case "word":
		most = 0
		if n := strings.IndexAny(s[at+1:to], " \t"); n >= 0 {
			to = at + n + 2
		}
	case "near":
		most = 0
	}
	if at-from > most {
		from = max(f.line, f.line+strings.LastIndexAny(s[f.line:at-most], " \t"))
	}
	f.seen[form.index] = to
	f.all(form, from, to)
}

// hasWord reports whether the text has a word of n letters, digits and dashes with a digit in it.
func (f *finder) hasWord(n int) bool {
	if f.longest == 0 {
		run, digits := 0, 0
		for i := range len(f.s) {
			if b := f.s[i]; !wordByte(b) && b != '-' {
				run, digits = -1, 0
			} else if digit(b) {
				digits++
			}
			if run++; digits > 0 {
				f.longest = max(f.longest, run)
			}
		}
		f.longest = max(f.longest, 1)
	}
	return f.longest >= n
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
	for to < len(s) && (wordByte(s[to]) || s[to] == '-' || s[to] == '=') {
		to++
	}
	f.add(Secret, at, to, false)
	return true
}

// all adds the private texts of a form between two places. Matches may share the signs around them, so each search
// begins where the last private text ended.
func (f *finder) all(form *form, at, end int) {
	expr := form.expr()
	for at < end {
		m := expr.FindStringSubmatchIndex(f.s[at:end])
		if m == nil {
			return
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
}

// tokenStart returns where the word that has a place in it begins.
func tokenStart(s string, at int) int {
	for at > 0 && tokenByte(s[at-1]) {
		at--
	}
	return at
}

// tokenByte reports whether b is in words that machines make up.
func tokenByte(b byte) bool { return wordByte(b) || strings.IndexByte("-+/=.|~%:", b) >= 0 }

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
