package command

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// anonymizer knows what a text must not give away: the names of accounts that the
// paths of a log name, and addresses of mail. Paths, numbers, links and network
// addresses are masked in templates already. A name that stands in no path
// cannot be told from any other word.
type anonymizer struct {
	names map[string]bool // lower case
}

// maxNames bounds the names that an anonymizer keeps. A log names one or two.
const maxNames = 64

var (
	homes = regexp.MustCompile(`(?i)[\\/](?:users|home|documents and settings)[\\/]+([^\\/:*?"<>|\r\n\t]{1,64})[\\/]`)

	// mail matches an address as a record has it, and as a template does, in
	// which masking may have taken a part of it: the host, or digits in the name.
	mail = regexp.MustCompile(`(?:<\*>|[^\s@<>"'(),;:])+@(?:<\*>|[^\s@<>"'(),;:])+`)

	// sharedHomes are folders beside those of the users.
	sharedHomes = map[string]bool{"public": true, "shared": true, "default": true, "all users": true}
)

// learn takes the names of accounts from the paths in a text.
func (a *anonymizer) learn(text string) {
	for _, m := range homes.FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(strings.TrimSpace(m[1]))
		if sharedHomes[name] {
			continue
		}
		// A path with a space in it is masked in pieces, so that each word of
		// the name has to be known.
		for _, word := range append(strings.Fields(name), name) {
			if len(a.names) < maxNames && utf8.RuneCountInString(word) > 1 {
				if a.names == nil {
					a.names = map[string]bool{}
				}
				a.names[word] = true
			}
		}
	}
}

// cut returns text in the pieces between what must not be shown: names as whole
// words, addresses, and bytes that are not UTF-8. A text with nothing of the
// kind is one piece.
func (a *anonymizer) cut(text string) []string {
	hide := mail.FindAllStringIndex(text, -1)
	for from := 0; from < len(text); {
		r, size := utf8.DecodeRuneInString(text[from:])
		if r == utf8.RuneError && size == 1 {
			hide = append(hide, []int{from, from + 1})
		}
		if !wordRune(r) {
			from += size
			continue
		}
		to := from
		for to < len(text) {
			if r, size = utf8.DecodeRuneInString(text[to:]); !wordRune(r) {
				break
			}
			to += size
		}
		if a.names[strings.ToLower(text[from:to])] {
			hide = append(hide, []int{from, to})
		}
		from = to
	}
	return without(text, hide)
}

// without returns the pieces of text between the given ranges, which may
// overlap and come in any order.
func without(text string, hide [][]int) []string {
	hidden := make([]bool, len(text))
	for _, h := range hide {
		for i := h[0]; i < h[1]; i++ {
			hidden[i] = true
		}
	}
	var pieces []string
	from := 0
	for i := 0; i < len(text); i++ {
		if hidden[i] {
			pieces = append(pieces, text[from:i])
			for i < len(text) && hidden[i] {
				i++
			}
			from = i
		}
	}
	return append(pieces, text[from:])
}

// wordRune reports whether r can be part of the name of an account.
func wordRune(r rune) bool {
	return r != utf8.RuneError && (r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}
