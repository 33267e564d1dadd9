package blame

import (
	"bytes"
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	texts "github.com/heedlog/heed/internal/text"
)

// maxName is how many bytes the name of a mod may have; longer ones are cut.
const maxName = 64

// signs are the characters besides letters, digits and spaces that a name may
// have. None of them ends a quotation, a list, a line or a tag. A colon only
// joins: nothing ends in one.
const signs = "._-+'&!?#:"

// display returns name with only the characters of a
// name: letters and digits of any script, and ._-+'&!?#: as they are, a single
// space for all other characters between them, at most [maxName] bytes. The
// result is empty where nothing is left.
func display(name string) string {
	var b strings.Builder
	name = strings.Trim(name, " :")
	for i, r := range name {
		if r == ':' && !joins(name[i+1:]) || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(signs, r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	name = strings.Join(strings.Fields(b.String()), " ")
	return strings.TrimRight(name[:texts.Prefix(name, maxName)], " :")
}

// joins reports whether rest, after a colon, begins with a letter or digit at once or after one space.
func joins(rest string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimPrefix(rest, " "))
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// maxWords is how many words a name may have that no list of mods has. A text in
// a tag has any length, and may be meant to be read as something other than a
// name.
const maxWords = 3

// words counts the words of a name that may have been written to be read: joined
// or not, and in scripts without spaces. The dots of a package id join.
func words(name string) int {
	n := len(strings.FieldsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '.'
	}))
	unspaced := 0
	for _, r := range name {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			unspaced++
		}
	}
	const runes = 4 // to a word, in those scripts, or less
	return n + unspaced/runes
}

// Key returns a name without case, spaces and punctuation, to count
// names: two with one key are one mod's, also where no list joins them.
func Key(name string) string { return fold(strings.TrimPrefix(name, texts.Code)) }

// Same reports whether two names have one key, at the cost of no allocation.
func Same(a, b string) bool {
	var x, y [maxName + utf8.UTFMax]byte
	return a == b || bytes.Equal(
		appendFolded(x[:0], strings.TrimPrefix(a, texts.Code)), appendFolded(y[:0], strings.TrimPrefix(b, texts.Code)))
}

// fold returns a name without case, spaces and punctuation.
func fold(name string) string {
	var b [maxName + utf8.UTFMax]byte
	return string(appendFolded(b[:0], name))
}

// appendFolded appends to key what fold leaves of a name.
func appendFolded(key []byte, name string) []byte {
	for _, r := range name {
		switch {
		case len(key) >= maxName:
			return key
		case r >= utf8.RuneSelf:
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				key = utf8.AppendRune(key, unicode.ToLower(r))
			}
		case r >= 'A' && r <= 'Z':
			key = append(key, byte(r)|0x20)
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			key = append(key, byte(r))
		}
	}
	return key
}

// lastPart returns the part after the last dot of a dotted name, and "" for any
// other.
func lastPart(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 && !strings.ContainsRune(name, ' ') {
		return name[i+1:]
	}
	return ""
}

// The ranks of names, the most readable first.
const (
	rankListed = iota // as a list of mods has it
	rankTag
	rankNamed
	rankFolder
	rankCode   // a namespace
	rankOwner  // an id
	rankNumber // of a folder
	rankPhrase // of many words, which no list has
)

// owner is a mod as one place of a record names it.
type owner struct {
	display string
	rank    int
	mod     int    // index among the mods learned, plus one; 0: not among them
	number  string // of its folder in the Steam Workshop, "" where that is not named
	keys    [3]string
}

// doubted returns the weight of evidence of this weight against o: a name as long as a
// sentence that no list has is kept, but not enough to be named.
func (o *owner) doubted(weight int) int {
	if o.rank == rankPhrase {
		return min(weight, weightPhrase)
	}
	return weight
}

// same reports whether two owners are one mod, as far as their names show.
func (o *owner) same(p *owner) bool {
	if o.mod != 0 && p.mod != 0 {
		return o.mod == p.mod
	}
	for _, k := range o.keys {
		for _, l := range p.keys {
			if k != "" && k == l || o.mod != 0 && len(l) >= minPart && strings.HasPrefix(k, l) ||
				p.mod != 0 && len(k) >= minPart && strings.HasPrefix(l, k) { // code: the name of a listed mod begins so
				return true
			}
		}
	}
	return false
}

// before reports whether the name of o is shown rather than the name of p.
func (o *owner) before(p *owner) bool {
	return cmp.Or(cmp.Compare(o.rank, p.rank), cmp.Compare(o.display, p.display)) < 0
}

// identifier returns the leading part of s that is one identifier of code, and
// "" where s does not begin with a letter.
func identifier(s string) string {
	for i, r := range s {
		if unicode.IsLetter(r) || r == '_' || i > 0 && (unicode.IsDigit(r) || r == '-') {
			continue
		}
		return s[:i]
	}
	return s
}

// letters counts the letters of s.
func letters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}
