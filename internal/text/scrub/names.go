package scrub

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNames bounds the names that a Names knows. A log is of one computer, mostly of one user;
// a log of a server has more, and those that come first are learned.
const maxNames = 64

// The bounds of a name that is learned, in letters. Shorter ones are in too many words.
const (
	minName = 3
	maxName = 64
)

// Names are the names of users and computers that texts show in a form that marks them, such as homes. With them,
// they are found where they appear alone.
//
// A name is learned in words. Its parts may be joined by other signs than where it was learned, and its case may be
// another. It is found as well where it is encoded in a URL or escaped, as the short name of a file, and in the letters
// of the other of the scripts Latin and Cyrillic. Not learned are words that the logs of all people have (user, admin,
// steam), names of fewer than three letters, and names in the paths of source files: those are of the authors of mods,
// whose mods bear them. A name that is a part of a longer dotted one stays, since packages and types are called so.
//
// The zero Names knows nothing. It is for one goroutine.
type Names struct {
	known []name
	names int       // without the other forms of each
	first [256]bool // by the first byte of a name, in either case
}

type name struct {
	kind  Kind
	parts []string // in lower case
}

// Learn takes the names from s. It reports whether there were new ones. A text that shows none costs the pass that
// [Text] takes, and no allocation.
func (n *Names) Learn(s string) bool {
	before := len(n.known)
	if n.names == maxNames {
		return false
	}
	for _, p := range find(s) {
		if p.teaches && !isSource(s[p.to:]) {
			n.add(p.kind, s[p.from:p.to])
		}
	}
	return len(n.known) > before
}

// isSource reports whether the path that goes on with rest is one of a source file or of
// what compilers make of it, which has the name of its builder.
func isSource(rest string) bool {
	if n := strings.IndexAny(rest, "\"'<>|\r\n"); n >= 0 {
		rest = rest[:n]
	}
	return slices.ContainsFunc(sourceMarks, func(mark string) bool { return strings.Contains(rest, mark) })
}

var sourceMarks = []string{
	".cs", ".pdb", ".cpp", ".hpp", ".vb", ".fs", ".java", ".rs:", ".go:", ".c:", ".h:", `\source\repos\`, "/source/repos/",
	`\obj\`, "/obj/",
}

// Any reports whether n knows a name.
func (n *Names) Any() bool { return len(n.known) > 0 }

func (n *Names) add(kind Kind, text string) {
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	parts := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isNamePart(r) })
	letters := 0
	for _, p := range parts {
		letters += utf8.RuneCountInString(p)
	}
	whole := strings.Join(parts, " ")
	if letters < minName || letters > maxName || n.names == maxNames || !strings.ContainsFunc(whole, unicode.IsLetter) ||
		!utf8.ValidString(text) || strings.ContainsAny(text, "<>*{}$%") || isOrdinary(whole) || !n.know(kind, parts) {
		return
	}
	n.names++
	if other := otherScript(whole); other != whole {
		n.know(kind, strings.Fields(other))
	}
	if escaped := escape(text); escaped != text {
		n.know(kind, []string{strings.ToLower(escaped)})
		n.know(kind, []string{strings.ToLower(url.PathEscape(text))})
	}
}

// know adds a form of a name, unless it is known.
func (n *Names) know(kind Kind, parts []string) bool {
	if slices.ContainsFunc(n.known, func(k name) bool { return slices.Equal(k.parts, parts) }) {
		return false
	}
	n.known = append(n.known, name{kind, parts})
	first := firstRune(parts[0])
	for _, r := range []rune{first, unicode.ToUpper(first)} {
		n.first[string(r)[0]] = true
	}
	return true
}

// escape returns s as JSON and other languages write letters that are not ASCII.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// cyrillic are the letters of Cyrillic in Latin, as names of accounts have them.
var cyrillic = strings.NewReplacer("а", "a", "б", "b", "в", "v", "г", "g", "д", "d", "е", "e", "ё", "e", "ж", "zh", "з", "z", "и", "i", "й", "y",
	"к", "k", "л", "l", "м", "m", "н", "n", "о", "o", "п", "p", "р", "r", "с", "s", "т", "t", "у", "u", "ф", "f", "х", "kh", "ц", "ts", "ч", "ch",
	"ш", "sh", "щ", "shch", "ъ", "", "ы", "y", "ь", "", "э", "e", "ю", "yu", "я", "ya", "і", "i", "ї", "yi", "є", "ye", "ґ", "g",
	"ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "é", "e", "è", "e", "ê", "e", "á", "a", "à", "a", "â", "a", "ã", "a", "å", "a", "í", "i", "ó", "o", "ô", "o",
	"õ", "o", "ø", "o", "ú", "u", "ñ", "n", "ç", "c", "ł", "l", "ś", "s", "ż", "z", "ź", "z", "ć", "c", "ń", "n", "ą", "a", "ę", "e", "č", "c", "š", "s",
	"ž", "z", "ř", "r", "ě", "e", "ý", "y", "ů", "u", "ğ", "g", "ş", "s", "ı", "i")

// otherScript returns a name in lower case in the letters of ASCII, as far as they are known.
func otherScript(s string) string { return cyrillic.Replace(s) }

// Text returns s, which is scrubbed, without the names that n knows. Where there is none, it
// is s and costs a look at each byte.
func (n *Names) Text(s string) string {
	if n == nil || len(n.known) == 0 {
		return s
	}
	var spans []span
	for i := 0; i < len(s); i++ {
		if !n.first[s[i]] {
			continue
		}
		if i > 0 && (isNamePart(lastRune(s[:i])) || s[i-1] == '<' && isMark(s[i-1:])) {
			continue
		}
		if kind, length := n.at(s, i); length > 0 {
			spans = append(spans, span{from: i, to: i + length, kind: kind})
			i += length - 1
		}
	}
	if spans == nil {
		return s
	}
	return replace(s, spans)
}

// Cut returns s in the pieces between its private parts: a text without any is one piece. s may be a template, in which
// masking took a part of an address or of a name, so that each word of a name that is known counts by itself. Bytes that
// are not UTF-8 are cut out as well.
func (n *Names) Cut(s string) []string {
	words := &Names{}
	for i := range n.known {
		words.add(n.known[i].kind, strings.Join(n.known[i].parts, " "))
		for _, part := range n.known[i].parts {
			words.add(n.known[i].kind, part)
		}
	}
	s = mailbox.ReplaceAllString(strings.ToValidUTF8(s, string(Secret)), string(Email))
	return marks.Split(words.Text(Text(s)), -1)
}

var (
	// mailbox is an address as a text has it, and as a template does.
	mailbox = regexp.MustCompile(`(?:<\*>|[^\s@<>"'(),;:])+@(?:<\*>|[^\s@<>"'(),;:])+`)

	// marks are the marks of private text, several in a row for one.
	marks = regexp.MustCompile("(?:" + strings.Join(marksOf, "|") + ")+")
)

// at returns the longest name that begins at i, and 0 for none.
func (n *Names) at(s string, i int) (kind Kind, longest int) {
	for j := range n.known {
		if length := n.known[j].length(s[i:]); length > longest && !isDotted(s, i, i+length) {
			kind, longest = n.known[j].kind, length
		}
	}
	return kind, longest
}

// joints are the signs that may be between the parts of a name.
var joints = [...]string{"", " ", ".", "_", "-", "+", "%20", "'", "’"}

// length returns how long n is at the beginning of s as a whole word, and 0 if it is not there.
func (n *name) length(s string) int {
	at := 0
	for i, part := range n.parts {
		if i > 0 {
			for _, j := range joints {
				if strings.HasPrefix(s[at:], j) && equalFold(s[at+len(j):], part) {
					at += len(j)
					break
				}
			}
		}
		if !equalFold(s[at:], part) {
			return n.short(s)
		}
		at += len(part)
	}
	if at < len(s) && isNamePart(firstRune(s[at:])) {
		return n.short(s)
	}
	return at
}

// short returns the length of n as the short name of a file: its first letters, a tilde and a digit.
func (n *name) short(s string) int {
	at := 0
	for _, part := range n.parts {
		for i := 0; i < len(part) && at < len(s) && at < 6 && fold[s[at]] == part[i]; i++ {
			at++
		}
	}
	if at >= minName && at+1 < len(s) && s[at] == '~' && digit(s[at+1]) {
		return at + 2
	}
	return 0
}

// equalFold reports whether s begins with part, in any case. Letters whose cases differ in
// length are found as they were learned only.
func equalFold(s, part string) bool {
	return len(s) >= len(part) && strings.EqualFold(s[:len(part)], part)
}

// isDotted reports whether s[from:to] is part of a longer name with dots, as packages and
// types have; the ending of a file makes none.
func isDotted(s string, from, to int) bool {
	if from >= 2 && s[from-1] == '.' && wordByte(s[from-2]) {
		return true
	}
	if to+1 >= len(s) || s[to] != '.' {
		return false
	}
	n := 0
	for to+1+n < len(s) && wordByte(s[to+1+n]) {
		n++
	}
	return n > 4
}

// isOrdinary reports whether a name is a word that logs have, so that to remove it everywhere would remove words that a
// reader needs.
func isOrdinary(name string) bool {
	for word := range strings.FieldsSeq(name) {
		if words[word]&(ordinaryWord|nobodyWord|plainWord) == 0 {
			return false
		}
	}
	return true
}
