package scrub

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
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
// [Text] takes.
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

// Home records a folder that is the home of a user, of any form, and its name. A home that many machines have is not
// recorded.
func (n *Names) Home(folder string) {
	load()
	folder = strings.ToLower(strings.TrimRight(folder, `/\`))
	user := folder[strings.LastIndexAny(folder, `/\`)+1:]
	if isOrdinary(user) || sharedHome(user) || user == folder {
		return
	}
	n.add(User, user)
	for _, slash := range []string{`/`, `\`, `\\`} {
		n.know(User, []string{strings.NewReplacer(`/`, slash, `\`, slash).Replace(folder)})
	}
}

// isSource matches the rest of the path of a source file, or of a file that compilers make of it. It has the name of
// its builder.
var isSource = regexp.MustCompile(`^[^"'<>|\r\n]*(?:\.(?:cs|pdb|cpp|hpp|vb|fs|java|rs:|go:|c:|h:)|[\\/](?:source[\\/]repos|obj)[\\/])`).MatchString

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
	n.know(kind, strings.Fields(otherScript().Replace(whole)))
	n.know(kind, []string{strings.Trim(strings.ToLower(strconv.QuoteToASCII(text)), `"`)}) // as JSON has it
	n.know(kind, []string{strings.ToLower(url.PathEscape(text))})
	if short := []rune(strings.Join(parts, "")); len(short) > 6 {
		n.know(kind, []string{string(short[:6]) + "~1"})
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

// otherScript replaces letters in lower case by letters of ASCII, as names of accounts have them.
var otherScript = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer(strings.Split(lists["letter"][0], ",")...) })

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
	return replace(s, spans)
}

// Cut returns s in the pieces between its private parts: a text without any is one piece. s may be a template, in which
// masking took a part of an address or of a name, so that each word of a name that is known counts by itself. Bytes
// that are not UTF-8 are cut out as well.
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
	marks = regexp.MustCompile(mark + "+")
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

// length returns the length of n at the beginning of s as a whole word, and 0 if s begins with another one.
func (n *name) length(s string) int {
	at := 0
	for i, part := range n.parts {
		for _, j := range joints {
			if i > 0 && strings.HasPrefix(s[at:], j) && equalFold(s[at+len(j):], part) {
				at += len(j)
				break
			}
		}
		if !equalFold(s[at:], part) {
			return 0
		}
		at += len(part)
	}
	if at < len(s) && isNamePart(firstRune(s[at:])) {
		return 0
	}
	return at
}

// equalFold reports whether s begins with part, in any case. Letters whose cases differ in length are found as they
// are.
func equalFold(s, part string) bool {
	return len(s) >= len(part) && strings.EqualFold(s[:len(part)], part)
}

// isDotted reports whether s[from:to] is part of a longer name with dots, as packages and types have. The ending of a
// file makes none.
func isDotted(s string, from, to int) bool {
	return from >= 2 && s[from-1] == '.' && wordByte(s[from-2]) || to < len(s) && s[to] == '.' &&
		longEnding.MatchString(s[to:])
}

var longEnding = regexp.MustCompile(`^\.\w{5}`)

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
