package scrub

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heedlog/heed/internal/text"
)

// maxNames bounds what a Names knows. A log is of one computer, mostly of one user;
// a log of a server has more, and those that come first are learned.
const maxNames = 64

// The bounds of a name that is learned, in letters. Shorter ones are in too many words.
const (
	minName = 3
	maxName = 64
)

// Names are the names of users and computers that texts have in a form that marks them,
// such as homes. With them, they are found where they stand alone.
//
// What is learned is in words: its parts may be joined by other signs than where it was
// learned, and its case may be another. Not learned are words that everybody's log has
// (user, admin, steam), names of fewer than three letters, and names in the paths of source
// files: those are of the authors of mods, whose mods bear them. A name that is a part
// of a longer dotted one stays, since packages and types are called so.
//
// The zero Names knows nothing. It is for one goroutine.
type Names struct {
	known []name
	first [256]bool // by the first byte of a name, in either case
}

type name struct {
	kind  Kind
	parts []string // in lower case
}

// Learn takes the names from s. It reports whether there were new ones. A text with no hint
// of one costs the look that [Text] takes, and no allocation.
func (n *Names) Learn(s string) bool {
	if len(n.known) == maxNames {
		return false
	}
	hinted := look(s)
	if hinted&teaching == 0 {
		return false
	}
	before := len(n.known)
	for i := range forms {
		f := &forms[i]
		if !f.teaches || hinted&(1<<i) == 0 || f.may != nil && hinted != every && !f.may(s) {
			continue
		}
		t := f.scrub(s, func(s string, from, to int) {
			if !isSource(s[to:]) {
				n.add(f.kind, s[from:to])
			}
		})
		if t != s {
			s, hinted = t, look(t)
		}
	}
	return len(n.known) > before
}

// isSource reports whether the path that goes on with rest is one of a source file or of
// what compilers make of it, which has the name of its builder.
func isSource(rest string) bool {
	rest = upTo(rest, "\"'<>|\r\n")
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
	switch {
	case letters < minName || letters > maxName, len(n.known) == maxNames, !strings.ContainsFunc(whole,
		unicode.IsLetter), !utf8.ValidString(text),
		strings.ContainsAny(text, "<>*{}$%~"), isOrdinary(whole):
		return
	}
	for i := range n.known {
		if strings.Join(n.known[i].parts, " ") == whole {
			return
		}
	}
	n.known = append(n.known, name{kind, parts})
	for _, r := range []rune{firstRune(parts[0]), unicode.ToUpper(firstRune(parts[0]))} {
		n.first[string(r)[0]] = true
	}
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func isNamePart(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }

// Text returns s, which is scrubbed, without the names that n knows. Where there is none, it
// is s and costs a look at each byte.
func (n *Names) Text(s string) string {
	if n == nil || len(n.known) == 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); i++ {
		if !n.first[s[i]] {
			continue
		}
		if before, _ := utf8.DecodeLastRuneInString(s[:i]); i > 0 && isNamePart(before) {
			continue
		}
		if kind, length := n.at(s, i); length > 0 {
			b.WriteString(s[done:i])
			b.WriteString(string(kind))
			done = i + length
			i = done - 1
		}
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// Cut returns s in the pieces between what is private in it: a text with nothing of the
// kind is one piece. s may be a template, in which masking took a part of an address or of a
// name, so that each word of a name that is known counts by itself. Bytes that are not UTF-8 are
// cut out as well.
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

	// marks are what stands for private text, several in a row for one.
	marks = regexp.MustCompile(`(?:<(?:user|computer|steam-id|id|address|secret|email)>)+`)
)

// at returns the longest name that stands at i, and 0 for none.
func (n *Names) at(s string, i int) (kind Kind, longest int) {
	for j := range n.known {
		if length := n.known[j].length(s[i:]); length > longest && !isDotted(s, i, i+length) {
			kind, longest = n.known[j].kind, length
		}
	}
	return kind, longest
}

// joints are what may stand between the parts of a name.
var joints = [...]string{"", " ", ".", "_", "-", "+", "%20", "'", "’"}

// length returns how long n is at the beginning of s as a whole word, and 0 where it is
// not there.
func (n *name) length(s string) int {
	at := 0
	for i, part := range n.parts {
		if i > 0 {
			for _, j := range joints {
				if strings.HasPrefix(s[at:], j) && hasFold(s[at+len(j):], part) {
					at += len(j)
					break
				}
			}
		}
		if !hasFold(s[at:], part) {
			return 0
		}
		at += len(part)
	}
	if after, _ := utf8.DecodeRuneInString(s[at:]); at < len(s) && isNamePart(after) {
		return 0
	}
	return at
}

// hasFold reports whether s begins with part, in any case. Letters whose cases differ in
// length are found as they were learned only.
func hasFold(s, part string) bool {
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

// isOrdinary reports whether a name is a word that logs have, so that to take it out
// everywhere would take out what a reader needs.
func isOrdinary(name string) bool {
	for word := range strings.FieldsSeq(name) {
		if !ordinary[word] {
			return false
		}
	}
	return true
}

// isOrdinaryPart keeps ordinary words.
func isOrdinaryPart(s string, from, to int) bool { return isOrdinary(strings.ToLower(s[from:to])) }

var ordinary = text.Words(`
	admin administrator administrators account adm all app appdata apps application art auto bin build builder builds buildslave buildbot
	ci client cloud code common computer config container core custom data date debug default defaultuser defaultuser0 deck demo
	desktop dev developer device disk docker documents domain download downloads editor email engine error
	event exception false file files game games gamer gaming github global group guest help home host hosts html http https id info
	internal jenkins key laptop library life linux load loader local localhost log logs mac macos machine main manager map master max me min
	mine misc mod mods mono my name network none notebook notset null object office office365 online other
	owner path pc personal play player players private profile program programs project public random release remote
	rimworld root run runner save saves script secret security server service session set settings share shared start steam steamapps
	steamuser support sys system temp test tester testing text this time tmp tool tools travis type
	ubuntu unity unknown update usb user username users value vagrant version view void warning web
	win windows workgroup workstation world www xbox you true the and for not new old one two node state status
	address mail token steamid
`)
