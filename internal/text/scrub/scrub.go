// Package scrub removes private data from log text: names of users and computers, accounts, ids of devices, network
// addresses, secrets, e-mail addresses, numbers of cards and bank accounts.
//
// [Text] looks for forms, not for values. It leaves a mark with the kind ([Kinds]), so that a reader sees that
// something was there, and texts about two users keep one shape:
//
//	C:\Users\Maria\AppData\…      C:\Users\<user>\AppData\…
//	/home/maria/Documents/Tax/a   /home/<user>/Documents/<folder>/a
//	\\MARIA-PC\mods\x.dll         \\<computer>\mods\x.dll
//	76561198000000001             <steam-id>
//	deviceId: 0a1b2c3d4e5f        deviceId: <id>
//	192.168.178.20:27015          <address>:27015
//	token=0a1b2c3d                token=<secret>
//	maria@example.org             <email>
//	Benutzer: Maria               Benutzer: <user>
//
// A folder below a home keeps its name if that is a common word, and from a folder of programs on all keep theirs.
//
// There are five sources of forms. gitleaks/rules.tsv has the tokens and the names of known providers. words.tsv has,
// in 20 languages and more, the words before a private value, and the phrases before and after a name. forms.tsv has
// expressions for other forms. token.go judges words of 16 letters and more by their letters: random ones, ones with a
// prefix that is no word, and ones after a word for secrets. Numbers with a grammar or a check digit are in numbers.go.
//
// A name that appears alone has no form. [Names] learns names from texts that show them in such a form, and finds them
// in others.
//
// A form that could as well be something a reader needs stays: a version such as 1.4.3.0 or 10.2.0.1 where nothing
// marks it as an address, the id of a Workshop item or of a package, a hash without a word that marks it as a secret,
// loopback addresses. Coordinates, telephone numbers and street addresses stay. A value in another text than its key is
// not found: a text should be a record rather than a line.
//
// [Strict] keeps far less: it is for those who want to share nothing that a person typed.
//
// All functions are pure and safe for concurrent use; a Names is for one goroutine. Scrubbing twice changes nothing
// more.
//
// # Cost
//
// One pass over a text looks for the beginnings of forms. An expression is tried only where its beginning was found. A
// text without private data and without a word before a value costs that pass, and no allocation.
package scrub

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heedlog/heed/internal/text"
)

// Kind is a kind of private text.
type Kind string

// The kinds that [Text] removes, by the mark that it leaves.
const (
	User     Kind = "<user>"
	Computer Kind = "<computer>"
	SteamID  Kind = "<steam-id>"
	ID       Kind = "<id>" // of a device, or of an account elsewhere than on Steam
	Address  Kind = "<address>"
	Secret   Kind = "<secret>"
	Email    Kind = "<email>"
	Money    Kind = "<bank>"   // the number of a card or of a bank account
	Folder   Kind = "<folder>" // the name that a user gave to a folder
)

var kinds = []Kind{User, Computer, SteamID, ID, Address, Secret, Email, Money, Folder}

// Kinds returns the kinds, for a message that lists them.
func Kinds() []Kind { return slices.Clone(kinds) }

// mark matches a mark.
const mark = "<(?:user|computer|steam-id|id|address|secret|email|bank|folder)>"

// maxPasses bounds the passes over a text. A removal may show a form to the next pass.
const maxPasses = 4

// Text returns s without private data.
func Text(s string) string {
	for range maxPasses {
		spans := find(s)
		if len(spans) == 0 {
			break
		}
		s = replace(s, spans)
	}
	return s
}

// hides reports whether no reader sees a character, so that it may be within a name.
func hides(r rune) bool { return text.Hides(r) && !unicode.IsSpace(r) }

// span is private text in a longer one.
type span struct {
	from, to int
	kind     Kind
}

// find returns the private spans of s in their order, without overlaps. It looks at s without what hides.
func find(s string) []span {
	if !strings.ContainsFunc(s, hides) {
		return findSeen(s)
	}
	var seen []byte
	var places []int // in s, of the bytes of seen
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		for range size {
			if !hides(r) {
				seen, places = append(seen, s[i]), append(places, i)
			}
			i++
		}
	}
	spans := findSeen(string(seen))
	for i, p := range spans {
		spans[i].from, spans[i].to = places[p.from], places[p.to-1]+1
	}
	return spans
}

func findSeen(s string) []span {
	load()
	f := finder{s: s}
	f.scan()
	if len(f.spans) < 2 {
		return f.spans
	}
	// Of two spans that begin together the kind of the first counts.
	slices.SortStableFunc(f.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	kept := f.spans[:1]
	for _, next := range f.spans[1:] {
		if last := &kept[len(kept)-1]; next.from >= last.to {
			kept = append(kept, next)
		} else if next.from == last.from || last.kind == next.kind { // two views of one value
			last.to = max(last.to, next.to)
		}
	}
	return kept
}

// replace returns s with the mark of its kind in place of each span.
func replace(s string, spans []span) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for _, p := range spans {
		b.WriteString(s[done:p.from])
		b.WriteString(string(p.kind))
		done = p.to
	}
	b.WriteString(s[done:])
	return b.String()
}

// add records a span, unless it is empty or a mark.
func (f *finder) add(kind Kind, from, to int) {
	if from < to && !isMark(f.s[from:]) && (from == 0 || !isMark(f.s[from-1:])) {
		f.spans = append(f.spans, span{from, to, kind})
	}
}

// isMark reports whether s begins with a mark.
func isMark(s string) bool {
	return strings.HasPrefix(s, "<") &&
		slices.ContainsFunc(kinds, func(k Kind) bool { return strings.HasPrefix(s, string(k)) })
}
