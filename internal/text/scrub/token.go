package scrub

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heedlog/heed/internal/text"
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
// names, counts against it like a change. A word that can be read has no evidence.
func (w *shape) bits() int {
	against := w.length - w.changes
	if w.kinds&6 != 6 {
		against /= 2
	}
	return 2*(w.changes-1) - against - 2*(len(w.text)-w.length)
}

// isRandom reports whether a word has so many bits of evidence and cannot be read.
func (w *shape) isRandom(bits int) bool { return w.bits() >= bits && !isReadable(w.text) }

// isHex reports whether a word is in hexadecimal.
func (w *shape) isHex() bool { return strings.Trim(w.text, "0123456789abcdefABCDEF_-") == "" }

// isOpaque reports whether a word is a secret by its letters alone: random, long enough, and no hash. A word of one
// case has no signs: those that have some are names of machines.
func (w *shape) isOpaque() bool {
	ulid := w.length == 26 && w.text[0] == '0' // an id that begins with a time
	return (w.kinds == 7 || w.length == len(w.text) && !ulid) && w.length >= shortestToken &&
		!w.isHex() && w.isRandom(certain)
}

// isPrefixed reports whether a word has a prefix that is no common word, as tokens of providers have, and a random
// part.
func (w *shape) isPrefixed() bool {
	m := prefixed().FindStringSubmatch(w.text)
	if m == nil {
		return false
	}
	rest := shapeOf(m[2] + m[3])
	switch prefixes := strings.FieldsFunc(strings.ToLower(m[1]), joins); {
	case !slices.ContainsFunc(prefixes, func(p string) bool { return !common(p) || is(p, secretWord|tokenWord) }):
		return false
	case rest.isHex():
		return strings.Trim(m[1], lowerLetters+upperLetters+"_-") == "" && (m[2] != "" || rest.bits() >= certain)
	}
	return rest.kinds == 7 && rest.isRandom(expected) || rest.length >= 20 && rest.isRandom(1)
}

// isReadable reports whether a name of words with capitals, digits or signs between them has a common word of more than
// three letters, as few random words have.
func isReadable(s string) bool {
	return slices.ContainsFunc(parts().FindAllString(s, -1), func(part string) bool {
		return vocabulary()[strings.ToLower(part)]
	})
}

const (
	// shortestToken is the length of the shortest word that may be a secret by its letters, shortestKey of a product key.
	shortestToken = 16
	shortestKey   = 14

	// maxWide bounds the bytes of a word with signs of base64 after its first part, and the bytes by which a value after a
	// word for secrets is judged, maxBefore the bytes before a hint or a word.
	maxWide   = 1024
	maxBefore = 128

	// maxAt bounds the bytes after a hint in which a form that begins there must show itself.
	maxAt = 256

	// expected are the bits of evidence for a secret after a word for secrets: one of twenty names has them. certain are
	// the bits elsewhere: fewer than one of a thousand names have them, since a log has thousands.
	expected = 4
	certain  = 10

	uuid = `[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}`
)

var (
	prefixed = text.Lazy(`^((?:[A-Za-z][A-Za-z0-9]{1,11}[_-]){1,3})(?:(` + uuid + `)|([A-Za-z0-9]{16,})(?:[_-].*)?)$`)
	parts    = text.Lazy(`[A-Za-z][a-z]{3,}|[A-Z]{4,}`)
	identity = text.Lazy(`^(?:` + uuid + `|[0-9a-fA-F]{32}|[0-9a-fA-F]{40})$`)

	// partsBefore and partsAfter match the other parts of a token.
	partsBefore = text.Lazy(`(?:\b(?:[\w-]*\d[\w-]*|[\w-]{1,8})\.)+$`)
	partsAfter  = text.Lazy(`^(?:\.(?:[\w-]*\d[\w-]*|[\w-]{1,8})\b)+`)

	// media matches the beginning of compressed data, pictures and sounds in base64.
	media = text.Lazy(`^0?(?:H4sI|eJ|eN|/9j/|iVBOR|R0lGOD|UklGR|UEsDB|T2dnU|AAAA|Qk|KLUv|SUkq|TVNDR)`)

	// owned matches the text before an id of an account or of a device.
	owned = text.Lazy(`(?i)(?:account|users?|player|owner|device|machine|hardware|client|install(?:ation)?|profile|customer|tenant|` +
		`member|subscriber|identity|principal|whitelist|author|friend|epic|eos|psn|riot|session|sitzung|ses[ij][^\s:=]{1,4}|sess[aãi][^\s:=]{1,4}|oturum|relace|сессия|сеанс|セッション|会话|세션)(?:[\w. -]{0,16}?(?:id|guid|uuid|hash|puid)\w{0,12}|[ _-]?id)?["']{0,2}[\s=:：("'{\[#/]{1,4}$`)

	productKey = text.Lazy(`^(?:[A-Z0-9]{2}-(?:[A-Z0-9]{4}-){4}[A-Z0-9]{4}|[A-Z0-9]{5}(?:-[A-Z0-9]{5}){2,5}|[A-Z0-9]{4}(?:-[A-Z0-9]{4}){2,5})$`)

	// unsaid matches the text before a value that is no secret.
	unsaid = text.Lazy(`(?i)hash|sha|commit|checksum|guid|md5|asset|version|revision|algorithm|length|polic|strength`)

	// compound matches a longer word for secrets.
	compound = text.Lazy(`(?i)[\pL_](?:key|token|secret|schlüssel|password|passwort|sleutel|nyckel|nøkkel)\W`)
)

// opaque adds a word with a digit if it is the id of an account, or a secret: after a word for secrets, with a prefix,
// or by its letters alone. Words in paths, in code and in data stay.
func (f *finder) opaque(from, to int) {
	s, word := f.s, shapeOf(f.s[from:to])
	if len(word.text) <= len("0x0000000000000000") && strings.HasPrefix(word.text, "0x") ||
		from > 0 && strings.IndexByte("<{", s[from-1]) >= 0 {
		return
	}
	isURL := strings.Contains(s[max(0, from-80):from], "://")
	start, end := from, to
	if !isURL {
		start, end = wide(s, from, to)
	}
	long := shapeOf(s[start:end])
	switch {
	case word.length >= 32 && identity().MatchString(word.text) && owned().MatchString(s[max(f.line, from-48):from]):
		f.add(ID, from, to)
	case len(long.text) >= 40 && strings.ContainsAny(long.text, "+/=") && long.kinds == 7 && long.isRandom(certain):
		if !media().MatchString(long.text) && !f.isData(start, end) {
			f.addToken(start, end)
		}
	case !isURL && (strings.ContainsAny(s[max(0, from-1):from]+s[to:min(len(s), to+1)], `/\`) ||
		strings.HasSuffix(s[:start], `\`)): // in a path
	case word.isRandom(expected) && f.credited(start), word.kinds == 3 && productKey().MatchString(word.text),
		!strings.HasPrefix(s[to:], "+") && !strings.HasSuffix(s[:from], "+") &&
			(word.isOpaque() || word.isPrefixed()) && !media().MatchString(long.text):
		f.addToken(from, to)
	}
}

// wide returns the word between two places with the signs of base64 and the parts that they join.
func wide(s string, from, to int) (start, end int) {
	follows := func(b byte) bool { return class[b]&inToken != 0 || strings.IndexByte("+/=", b) >= 0 }
	for end = to; end < min(len(s), to+maxWide) && follows(s[end]); {
		end++
	}
	return from - len(lastOf(s[max(0, from-maxBefore):from], "+/")), end
}

// isData reports whether a word in base64 is a line of data. A line of a private key is no longer, and no path.
func (f *finder) isData(from, to int) bool {
	isAlone := strings.TrimLeft(f.s[f.line:from], " \t") == "" && (to == len(f.s) || f.s[to] <= ' ')
	return isAlone && (to-from < 58 || to-from > 80 || strings.Count(f.s[from:to], "/") > 6)
}

// credited reports whether one of the last words before the place is a word for secrets, or ends in one.
func (f *finder) credited(from int) bool {
	kinds, text := f.before(from, 5), f.s[max(f.line, from-48):from]
	return kinds&noneWord == 0 &&
		(kinds&(secretWord|tokenWord) != 0 || f.before(from, 1)&providerWord != 0 || compound().MatchString(text))
}

// addToken adds a secret, with the other parts that dots join to it: short ones, or with digits.
func (f *finder) addToken(from, to int) {
	before := f.s[max(0, from-maxBefore):from]
	f.add(Secret, from-len(partsBefore().FindString(before)), to+len(partsAfter().FindString(f.s[to:])))
}

// lastOf returns the last word of s, of letters, digits, "_", "-" and signs.
func lastOf(s, signs string) string {
	return s[1+strings.LastIndexFunc(s, func(r rune) bool {
		return (r >= utf8.RuneSelf || class[r]&inToken == 0) && !strings.ContainsRune(signs, r)
	}):]
}
