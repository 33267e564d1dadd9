package scrub

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// shape is how the letters and digits of a word are mixed.
type shape struct {
	text    string
	length  int // without signs
	kinds   int // bits: 1 for digits, 2 for capitals, 4 for small letters
	changes int // of the kind
}

func shapeOf(s string) shape {
	w := shape{text: s}
	last := 0
	for i := range len(s) {
		kind := 4
		switch b := s[i]; {
		case digit(b):
			kind = 1
		case upper(b):
			kind = 2
		case !wordByte(b) || b == '_':
			continue
		}
		if w.length++; kind != last {
			w.changes++
		}
		w.kinds, last = w.kinds|kind, kind
	}
	return w
}

// bits returns the evidence that a word is random and no name, in bits: letters and digits of random words change their
// kind at four of seven places, names do at one. So a change counts log2(4), and any other place log2(1/2). In words of
// one case random ones change at two of five places, so that other places count half. A sign, which joins the parts of
// names, counts against it like a change.
func (w *shape) bits() int {
	against := w.length - w.changes
	if w.kinds&6 != 6 {
		against /= 2
	}
	return 2*(w.changes-1) - against - 2*(len(w.text)-w.length)
}

// isHex reports whether a word is in hexadecimal.
func (w *shape) isHex() bool { return strings.Trim(w.text, "0123456789abcdefABCDEF_-") == "" }

// isRandom reports whether a word has capitals and small letters and looks random, where one is expected. A hash has
// one case.
func (w *shape) isRandom() bool { return w.kinds&6 == 6 && w.bits() >= expected }

// isOpaque reports whether a word is a secret by its letters alone: random, long enough, and no hash. A word of one
// case has no signs: those that have some are names of machines.
func (w *shape) isOpaque() bool {
	ulid := w.length == 26 && w.text[0] == '0' // an id that begins with a time
	return w.kinds&1 != 0 && (w.kinds == 7 || w.length == len(w.text) && !ulid) && w.length >= shortestToken &&
		w.bits() >= certain && !w.isHex() && !isReadable(w.text)
}

// isBase64 reports whether s has signs of base64 and is random.
func isBase64(s string) bool {
	if len(s) < 40 || !strings.ContainsAny(s, "+/=") {
		return false
	}
	w := shapeOf(s)
	return w.kinds == 7 && w.bits() >= certain && !isReadable(s)
}

// isCredential reports whether a word may be the value of a word for secrets: of groups, hexadecimal, or of letters and
// digits that change often.
func (w *shape) isCredential() bool {
	isHex := w.isHex() && !strings.HasPrefix(w.text, "0000")
	return (w.bits() >= expected && (isHex || w.kinds&1 != 0) || groups.MatchString(w.text)) && !isReadable(w.text)
}

// isPrefixed reports whether a word has a prefix that is no common word, as tokens of providers have, and a random
// part.
func (w *shape) isPrefixed() bool {
	if w.length == len(w.text) {
		return false
	}
	m := prefixed.FindStringSubmatch(w.text)
	if m == nil || blob.MatchString(m[1]) {
		return false
	}
	known := true
	prefixes := strings.FieldsFunc(strings.ToLower(m[1]), joins)
	for _, prefix := range prefixes {
		known = known && common(prefix) && !is(prefix, secretWord|tokenWord)
	}
	rest := shapeOf(m[2] + m[3])
	switch {
	case known:
		return rest.kinds == 7 && rest.bits() >= certain && !isReadable(rest.text)
	case rest.isHex():
		return strings.Trim(prefixes[0], lowerLetters) == "" && (m[2] != "" || rest.bits() >= certain)
	}
	return (rest.kinds == 7 && rest.bits() >= expected || rest.length >= 20 && rest.bits() > 0) && !isReadable(rest.text)
}

// isReadable reports whether a name of words with capitals, digits or signs between them has a common word of more than
// three letters, as few random words have.
func isReadable(s string) bool {
	return slices.ContainsFunc(parts.FindAllString(s, -1), func(part string) bool {
		return vocabulary()[strings.ToLower(part)]
	})
}

const (
	// shortestToken is the length of the shortest word that may be a secret by its letters, shortestKey of a product key.
	shortestToken = 16
	shortestKey   = 14

	// maxWide bounds the bytes of a word with signs of base64 after its first part, maxBefore the bytes before a hint or
	// a word, maxShort the bytes of a short match.
	maxWide   = 1024
	maxShort  = 96
	maxBefore = 128

	// expected are the bits of evidence for a secret after a word for secrets: one of twenty names has them. certain are
	// the bits elsewhere: fewer than one of a thousand names have them, since a log has thousands.
	expected = 4
	certain  = 10

	uuid = `[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}`
)

var (
	groups   = regexp.MustCompile(`^(?:` + uuid + `|[A-Za-z0-9]{4,5}(?:-[A-Za-z0-9]{4,5}){2,})$`)
	prefixed = regexp.MustCompile(`^((?:[A-Za-z][A-Za-z0-9]{1,11}[_-]){1,3})(?:(` + uuid + `)|([A-Za-z0-9]{16,})(?:[_-].*)?)$`)
	parts    = regexp.MustCompile(`[A-Za-z][a-z]{3,}|[A-Z]{4,}`)

	// partsBefore and partsAfter match the other parts of a token.
	partsBefore = regexp.MustCompile(`(?:\b(?:[\w-]*\d[\w-]*|[\w-]{1,8})\.)+$`)
	partsAfter  = regexp.MustCompile(`^(?:\.(?:[\w-]*\d[\w-]*|[\w-]{1,8})\b)+`)

	// blob matches the text before data, and media the beginning of compressed data, pictures and sounds in base64.
	blob  = regexp.MustCompile(`(?i)(?:data|blob|base64|payload|chunk|sha\d*|\bh1|hash|integrity|checksum|digest|buffer|bytes|seed|etag|texture|mesh|asset|save|level|replay|signature)\W*[^\s]{0,8}$`)
	media = regexp.MustCompile(`^0?(?:H4sI|eJ|eN|/9j/|iVBOR|R0lGOD|UklGR|UEsDB|T2dnU|AAAA|Qk|KLUv|SUkq|TVNDR)`)

	// owned matches the text before an id of an account or of a device.
	owned = regexp.MustCompile(`(?i)(?:account|users?|player|owner|device|machine|hardware|client|install(?:ation)?|profile|customer|tenant|` +
		`member|subscriber|identity|principal|whitelist|author|friend|epic|eos|psn|riot)(?:[\w. -]{0,16}?(?:id|guid|uuid|hash|puid)\w{0,12}|[ _-]?id)?["']{0,2}[\s=:("'{\[#/]{1,4}$`)

	productKey = regexp.MustCompile(`^(?:[A-Z0-9]{2}-(?:[A-Z0-9]{4}-){4}[A-Z0-9]{4}|[A-Z0-9]{5}(?:-[A-Z0-9]{5}){2,5}|[A-Z0-9]{4}(?:-[A-Z0-9]{4}){2,5})$`)

	// option matches the text before the value of an option of a command, and unsaid one about a value that is no secret.
	option = regexp.MustCompile(`(?:^|\s)-\w[ =]["']?$`)
	unsaid = regexp.MustCompile(`(?i)hash|sha|commit|checksum|guid|md5|asset|version|revision|algorithm|length|polic|strength`)

	// compounds are the ends of longer words for secrets.
	compounds = []string{"key", "token", "secret", "schlüssel", "password", "passwort", "sleutel", "nyckel", "nøkkel"}
)

// opaque adds a word with a digit if it is the id of an account, or a secret: after a word for secrets, with a prefix,
// or by its letters alone. Words in paths and in data stay.
func (f *finder) opaque(from, to int) {
	s := f.s
	if to-from <= len("0x0000000000000000") && strings.HasPrefix(s[from:], "0x") || f.inCode(from, to) {
		return
	}
	start, end := wide(s, from, to)
	word := shapeOf(s[from:to])
	isURL := strings.Contains(s[max(0, from-80):from], "://")
	if isURL {
		start = from
	}
	inPath := !isURL && (strings.ContainsAny(s[max(0, from-1):from]+s[to:min(len(s), to+1)], `/\`) || strings.HasSuffix(s[:start], `\`))
	before := s[max(f.line, from-48):from]
	switch {
	case isIdentity(word.text) && (strings.HasPrefix(word.text, "0002") || owned.MatchString(before)):
		f.add(ID, from, to, false)
	case !inPath && word.isCredential() && f.credited(start), word.kinds == 3 && productKey.MatchString(word.text):
		f.addToken(from, to)
	case media.MatchString(s[start:end]), blob.MatchString(s[max(f.line, start-32):start]):
	case !isURL && isBase64(s[start:end]):
		if !f.isData(start, end) {
			f.addToken(start, end)
		}
	case !inPath && (to == end || s[to] == '=') && !strings.HasSuffix(s[:from], "+") &&
		(word.isOpaque() || word.isPrefixed()):
		f.addToken(from, to)
	}
}

// inCode reports whether a word is a call, or a placeholder or an element begins with it.
func (f *finder) inCode(from, to int) bool {
	return from > 0 && strings.IndexByte("<{", f.s[from-1]) >= 0 || strings.HasPrefix(f.s[to:], "(")
}

// isData reports whether a word in base64 is a line of data. A line of a private key is no longer, and no path.
func (f *finder) isData(from, to int) bool {
	word, apart := f.s[from:to], strings.TrimLeft(f.s[f.line:from], " \t") == "" && (to == len(f.s) || f.s[to] <= ' ')
	return apart && (len(word) < 58 || len(word) > 80 || strings.Count(word, "/") > 6)
}

// wide returns the word between two places with the signs of base64 and the parts that they join.
func wide(s string, from, to int) (start, end int) {
	follows := func(b byte) bool { return class[b]&inToken != 0 || strings.IndexByte("+/=", b) >= 0 }
	for end = to; end < min(len(s), to+maxWide) && follows(s[end]); {
		end++
	}
	return from - len(lastOf(s[max(0, from-maxBefore):from], "+/")), end
}

// isIdentity reports whether s has a form of ids: a UUID, or as many digits of hexadecimal as hashes have.
func isIdentity(s string) bool {
	return (len(s) == 32 || len(s) == 36 || len(s) == 40) && strings.Trim(s, "0123456789abcdefABCDEF-") == ""
}

// credited reports whether one of the last words before the place is a word for secrets, or the place is after an
// option.
func (f *finder) credited(from int) bool {
	s, first := f.s, max(f.line, from-64)
	first += strings.LastIndexAny(s[first:from], ")]>") + 1
	found := false
	for at, n := from, 0; at > first && n < 5 && !found; at-- {
		if class[s[at-1]]&inName == 0 || class[s[at]]&inName != 0 {
			continue
		}
		n++
		kinds, _ := f.word(at)
		if kinds&noneWord != 0 {
			return false
		}
		found = kinds&(secretWord|tokenWord) != 0 || kinds&providerWord != 0 && n < 2 ||
			slices.ContainsFunc(compounds, func(end string) bool {
				return at-first > len(end) && hasFold(s[at-len(end):at], end)
			})
	}
	return (found || option.MatchString(s[first:from])) && !unsaid.MatchString(s[first:from])
}

// addToken adds a secret, with the other parts that dots join to it: short ones, or with digits.
func (f *finder) addToken(from, to int) {
	before := f.s[max(0, from-maxBefore):from]
	f.add(Secret, from-len(partsBefore.FindString(before)), to+len(partsAfter.FindString(f.s[to:])), false)
}

// isOutside reports whether r is no letter of ASCII, digit, "_" or "-".
func isOutside(r rune) bool { return r >= utf8.RuneSelf || class[r]&inToken == 0 }

// lastOf returns the last word of s, of letters, digits, "_", "-" and signs.
func lastOf(s, signs string) string {
	return s[1+strings.LastIndexFunc(s, func(r rune) bool { return isOutside(r) && !strings.ContainsRune(signs, r) }):]
}
