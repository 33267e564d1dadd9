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

	"github.com/heedlog/heed/internal/text"
)

// maxNames bounds the names that a Names knows. A log is of one computer, mostly of one user;
// a log of a server has more, and those that come first are learned.
const maxNames = 64

// The bounds of a name that is learned, in letters. Shorter ones are in too many words.
const (
	minName = 3
	maxName = 64
)

// maxPath bounds the bytes of the rest of a path that are looked at.
const maxPath = 1024

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
	forms [2][]string    // expressions for users and for computers
	expr  *regexp.Regexp // matches all forms, nil if it has to be made
	first [256]bool      // by the first byte of a form, in either case
}

type name struct {
	kind Kind
	text string // in lower case, with a space between its parts
}

// Learn takes the names from s. It reports whether there were new ones. A text that shows none costs the pass that
// [Text] takes.
func (n *Names) Learn(s string) bool {
	before := len(n.known)
	if before == maxNames {
		return false
	}
	for _, p := range find(s) {
		if (p.kind == User || p.kind == Computer) && !isSource().MatchString(s[p.to:min(len(s), p.to+maxPath)]) {
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
	n.find(User, regexp.MustCompile(`[/\\]+`).ReplaceAllString(folder, "\x00"), `[/\\]+`)
}

// isSource matches the rest of the path of a source file, or of a file that compilers make of it. It has the name of
// its builder.
var isSource = text.Lazy(`^[^"'<>|\r\n]*(?:\.(?:cs|pdb|cpp|hpp|vb|fs|java|rs:|go:|c:|h:)|[\\/](?:source[\\/]repos|obj)[\\/])`)

func (n *Names) add(kind Kind, text string) {
	text = strings.Clone(text) // a log is read into the same memory again
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	parts := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isNamePart(r) })
	letters := utf8.RuneCountInString(strings.Join(parts, ""))
	whole := strings.Join(parts, " ")
	if letters < minName || letters > maxName || len(n.known) == maxNames || isOrdinary(whole) ||
		!strings.ContainsFunc(whole, unicode.IsLetter) || !utf8.ValidString(text) || strings.ContainsAny(text, "<>*{}$%") ||
		slices.ContainsFunc(n.known, func(k name) bool { return k.text == whole }) {
		return
	}
	n.known = append(n.known, name{kind, whole})
	forms := []string{whole, otherScript().Replace(whole), strings.Trim(strconv.QuoteToASCII(text), `"`), url.PathEscape(text)}
	if letters > 6 {
		forms = append(forms, string([]rune(strings.Join(parts, ""))[:6])+"~1")
	}
	if _, rest, ok := strings.Cut(whole, " "); ok && !isOrdinary(rest) && utf8.RuneCountInString(rest) >= minName {
		forms = append(forms, "<*> "+rest) // as a template has it, in which masking took the first word
	}
	for _, form := range forms {
		n.find(kind, strings.ReplaceAll(form, " ", "\x00"), `(?:[ ._+'’-]|%20)?`)
	}
}

// find adds a form of a name, whose parts have a joint between them.
func (n *Names) find(kind Kind, form, joint string) {
	forms := &n.forms[slices.Index(kinds, kind)]
	*forms = append(*forms, strings.ReplaceAll(regexp.QuoteMeta(form), "\x00", joint))
	n.expr = nil
	first := firstRune(strings.ReplaceAll(form, "\x00", "/"))
	for _, r := range []rune{unicode.ToLower(first), unicode.ToUpper(first), '\\'} {
		n.first[string(r)[0]] = true
	}
}

// otherScript replaces letters in lower case by letters of ASCII, as names of accounts have them.
var otherScript = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(strings.Split(lists["letter"][0], ",")...)
})

// Text returns s, which is scrubbed, without the names that n knows: the longest at each word. Where there is none, it
// is s and costs a look at each byte.
func (n *Names) Text(s string) string {
	if n == nil || len(n.forms[0])+len(n.forms[1]) == 0 {
		return s
	}
	if n.expr == nil {
		n.expr = regexp.MustCompile(`^(?i:(?:(` + strings.Join(n.forms[0], "|") + `)|(` + strings.Join(n.forms[1], "|") +
			`))(?:[^\pL\pM\pN]|$))`)
		n.expr.Longest()
	}
	var spans []span
	for i := 0; i < len(s); i++ {
		if !n.first[s[i]] || i > 0 && (isNamePart(lastRune(s[:i])) || s[i-1] == '<' && isMark(s[i-1:])) {
			continue
		}
		m := n.expr.FindStringSubmatchIndex(s[i:])
		for group, kind := range []Kind{User, Computer} {
			if m != nil && m[2*group+3] > 0 && !isDotted(s, i, i+m[2*group+3]) {
				spans = append(spans, span{from: i, to: i + m[2*group+3], kind: kind})
				i += m[2*group+3] - 1
				break
			}
		}
	}
	return replace(s, spans)
}

// Cut returns s in the pieces between its private parts: a text without any is one piece. s may be a template, in which
// masking took a part of an address or of a name, so that each word of a name that is known counts by itself. Bytes
// that are not UTF-8 are cut out as well.
func (n *Names) Cut(s string) []string {
	words := &Names{}
	for _, known := range n.known {
		for _, text := range append(strings.Fields(known.text), known.text) {
			words.add(known.kind, text)
		}
	}
	s = mailbox().ReplaceAllString(strings.ToValidUTF8(s, string(Secret)), string(Email))
	return marks().Split(words.Text(Text(s)), -1)
}

var (
	// mailbox is an address as a text has it, and as a template does.
	mailbox = text.Lazy(`(?:<\*>|[^\s@<>"'(),;:])+@(?:<\*>|[^\s@<>"'(),;:])+`)

	// marks are the marks of private text, several in a row for one.
	marks = text.Lazy(mark + "+")
)

// isDotted reports whether s[from:to] is part of a longer name with dots, as packages and types have. The ending of a
// file makes none.
func isDotted(s string, from, to int) bool {
	return from >= 2 && s[from-1] == '.' && wordByte(s[from-2]) || to < len(s) && s[to] == '.' &&
		longEnding().MatchString(s[to:])
}

var longEnding = text.Lazy(`^\.\w{5}`)

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
