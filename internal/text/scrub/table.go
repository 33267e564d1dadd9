package scrub

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/heedlog/heed/internal/text"
)

//go:generate sh -c "go -C ../../../tools run ./secretrules > gitleaks/rules.tsv"

//go:embed gitleaks/rules.tsv
var ruleTable string

//go:embed words.tsv
var wordTable string

//go:embed forms.tsv
var formTable string

//go:embed vocabulary.txt
var vocabularyText string

// vocabulary returns the common words.
var vocabulary = sync.OnceValue(func() map[string]bool {
	_, list, _ := strings.Cut(vocabularyText, ".\n")
	return text.Words(list)
})

// word is a set of the kinds of rows in words.tsv.
type word uint32

const (
	userWord word = 1 << iota
	nounWord
	secretWord
	tokenWord
	hostWord
	machineWord
	idWord
	noneWord
	leadWord
	plainWord
	nobodyWord
	ordinaryWord
	particleWord
	prepositionWord
	agentWord
	sharedWord
	providerWord
	personWord
	folderWord
	platformWord
	lookupWord

	labels = userWord | nounWord | secretWord | tokenWord | hostWord | machineWord | idWord |
		noneWord | personWord | lookupWord
)

// wordKinds are the names of the kinds in order.
var wordKinds = strings.Fields("user noun secret token host machine id none lead plain nobody ordinary particle " +
	"preposition agent shared provider name folder platform lookup")

// form is one way to find private text near a hint.
type form struct {
	rule  string // "own" of rules.tsv, "tail" and "root" of words.tsv, or the kind of a row in forms.tsv
	kind  Kind
	keep  func(text string, from, to int) bool
	index int                   // in the order of forms.tsv, 0 for all rows of rules.tsv
	expr  func() *regexp.Regexp // whose first group that matches is private, compiled for its first text
	place string                // of a match, as forms.tsv has it
}

// maxForms bounds the rows of forms.tsv.
const maxForms = 192

// hint is a string in lower case in all texts that match the form, unless they have another hint of it. A line feed
// in it, "⏎" in a table, is one or the beginning or the end of the text. "‚" in a table is a comma.
type hint struct {
	text string
	form *form
}

var (
	// words are the rows of words.tsv by their text, normalized as key does, and lists their texts by kind.
	words = map[string]word{}
	lists = map[string][]string{}

	// person matches the two names of a person, otherName one after the first, lastName a name at the end of a text, and
	// joint the text between a word and its value.
	person, otherName, lastName, joint func() *regexp.Regexp

	// hints are the hints by the hash of their last three bytes, and hinted has a bit for each hash. ends has the ends of
	// the words before a value.
	hints  = map[uint][]hint{}
	hinted set
	ends   set
)

// hashBits is the size of a hash. One of three bytes has the last in its low bits.
const hashBits = 18

func roll(h uint, b byte) uint { return (h<<6 ^ uint(b)) & (1<<hashBits - 1) }

// sum returns the hash of a part of a word with one more byte.
func sum(h uint, b byte) uint { return (h*131 + uint(b)) & (1<<hashBits - 1) }

// hash returns the hash of s by roll or by sum.
func hash(s string, next func(uint, byte) uint) (h uint) {
	for i := range len(s) {
		h = next(h, fold[s[i]])
	}
	return h
}

// set is a set of hashes.
type set [1 << (hashBits - 6)]uint64

func (s *set) has(h uint) bool { return s[h>>6]&(1<<(h&63)) != 0 }

func (s *set) add(h uint) { s[h>>6] |= 1 << (h & 63) }

// addEnd adds the end of a word, in each case: its last part, and all parts without signs between them.
func addEnd(text string) {
	parts := strings.FieldsFunc(text, joins)
	last := parts[len(parts)-1]
	first := utf8.RuneLen(firstRune(last))
	for _, end := range []string{last, strings.ToUpper(last), strings.ToUpper(last[:first]) + last[first:], key(text)} {
		ends.add(hash(end, sum))
	}
}

// load fills the tables, for the first text: a program that scrubs nothing does without.
var load = sync.OnceFunc(func() {
	index := 0
	for _, row := range rows(formTable) {
		index++
		expr := row[3]
		if row[4] == "at" {
			expr = "^(?:" + expr + ")"
		}
		addHints(row[1], &form{row[0], Kind("<" + row[0] + ">"), keeps[row[2]], index, text.Lazy(expr), row[4]})
	}
	for _, row := range rows(ruleTable) {
		if row[0] == "near" {
			for name := range strings.SplitSeq(row[1], ",") {
				words[key(name)] |= providerWord
			}
			continue
		}
		addHints(row[1], &form{row[0], Secret, keeps[row[0]], 0, text.Lazy("^(" + row[3] + `[\w=-]*)`), "at"})
	}
	for _, row := range rows(wordTable) {
		text := row[2]
		lists[row[0]] = append(lists[row[0]], text)
		switch row[0] {
		case "tail":
			addHints(text, &form{rule: row[0]})
		case "root":
			addHints(text+`\,`+text+"/,"+text+"%", &form{rule: row[0]})
		default:
			if kind := word(1) << max(0, slices.Index(wordKinds, row[0])); slices.Contains(wordKinds, row[0]) {
				words[key(text)] |= kind
				if kind&(labels&^noneWord|leadWord|agentWord) != 0 {
					addEnd(text)
				}
			}
		}
	}
	const part = `[\pL\pM\pN_.'’#~-]*`
	between := ` (?i:(?:` + strings.Join(lists["particle"], "|") + `) )*`
	person = text.Lazy(`^(\p{Lu}[\p{Ll}\pM]+(?:['’-]\p{Lu}?[\p{Ll}\pM]+)*)` + between + `(\p{Lu}[\p{Ll}\pM'’-]+(?:['’-]\p{Lu}[\p{Ll}\pM]+)*)`)
	otherName = text.Lazy(`^` + between + `(\p{Lu}[\pL\pM\pN_.'’$~#·-]*|[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]{1,3})`)
	lastName = text.Lazy(`(?:^|[^\pL\pM\pN_/])((?:\p{Lu}` + part + between + `){0,3}\p{Lu}` + part + `|[\pL\pN_]` + part + `)$`)
	const quotes = `^(?:\(\))?(?:["']\)|[\\"'»”]*)(?: (?:type|serializeAs|lang|class)="\w*")*(?: value)?`
	joint = text.Lazy(quotes + `(?:\.?\]?(?: \([^)\r\n]{1,25}\))?[. \t\x{a0}]*(:=|->|=>|[:：]?</\pL+>\s*<(?:string|` + strings.Join(lists["value"], "|") + `)>|>\s*<value>|REG_\w*SZ\s|[:=：→>]|\.{4,}|%3[dD]|[—–] )|` +
		`[ \t\x{a0}]*((?i:` + strings.Join(lists["is"], "|") + `)(?:[ :]+|$)|[是为は] *)|([ \t\x{a0}]*(?:#\d+ )?))` +
		"[ \\t\\r\\n>|\\-\\[(\\\\]*([\"'`«„“「『‘]?)(?:\\.\\\\)?")
})

// rows returns the fields of each row of a table.
func rows(table string) (all [][]string) {
	for line := range strings.Lines(table) {
		if line[0] != '#' {
			all = append(all, strings.Split(strings.TrimRight(line, "\n"), "\t"))
		}
	}
	return all
}

// addHints adds the hints that a list has, each by its last three bytes, one of two bytes after each other byte.
func addHints(list string, form *form) {
	for text := range strings.SplitSeq(list, ",") {
		text = strings.NewReplacer("⏎", "\n", "‚", ",").Replace(text)
		keys := []uint{hash(text[max(0, len(text)-3):], roll)}
		for first := range 256 {
			if len(text) == 2 {
				keys = append(keys, hash(string([]byte{byte(first)})+text, roll))
			}
		}
		for _, h := range keys {
			hinted.add(h)
			hints[h] = append(hints[h], hint{text, form})
		}
	}
}

// key returns a word as words has it: in lower case, without signs between its parts.
func key(text string) string {
	return strings.Map(func(r rune) rune {
		if joins(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// joins reports whether r may be between the parts of a word before a value.
func joins(r rune) bool {
	return r == ' ' || r == '_' || r == '-' || r == '.' || r == '\'' || r == '’'
}

// is reports whether text is in a row of one of the kinds.
func is(text string, kinds word) bool { return words[key(text)]&kinds != 0 }

// The classes of bytes.
const (
	inToken   = 1 << iota // in a word that a machine made up
	inName                // in a word, or in a letter of another script
	separator             // may follow a word before a value: a sign, or the first byte of a letter without spaces
	isSign                // has forms of its own
)

// class has the classes of each byte, and fold the lower case of ASCII.
var class, fold = func() (class, fold [256]uint8) {
	for i := range class {
		b := byte(i)
		if fold[i] = b; upper(b) {
			fold[i] += 'a' - 'A'
		}
		isLetter := 'a' <= fold[i] && fold[i] <= 'z'
		if isLetter || digit(b) || b == '_' || b == '-' {
			class[i] |= inToken
		}
		if isLetter || digit(b) || b >= utf8.RuneSelf {
			class[i] |= inName
		}
		if strings.IndexByte(" \t\n:=\"'<>(,.\\&%[|", b) >= 0 || b >= 0xE2 && b < 0xF0 {
			class[i] |= separator
		}
		if digit(b) || strings.IndexByte("@\\\n:-", b) >= 0 {
			class[i] |= isSign
		}
	}
	return class, fold
}()
