package scrub

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

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
	netWord
	sharedWord

	labels = userWord | nounWord | secretWord | tokenWord | hostWord | machineWord | netWord | idWord | noneWord
)

// wordKinds are the names of the kinds in order.
var wordKinds = strings.Fields("user noun secret token host machine id none lead plain nobody ordinary particle preposition agent net shared")

// form is one expression for private text, which is its first group that matches.
type form struct {
	rule     string // "own" and "after" of rules.tsv, "tail" and "root" of words.tsv, or the kind of a row in forms.tsv
	kind     Kind
	teaches  bool // finds names, which [Names] learns
	keep     func(text string, from, to int) bool
	expr     func() *regexp.Regexp // compiled for its first text
	index    int
	shortest int  // the length of the shortest value in rules.tsv; in forms.tsv, of the longest word of a match
	lines    bool // a match may have several lines
}

// maxForms bounds the rows of forms.tsv.
const maxForms = 96

// hint is a string in lower case in all texts that match the form, unless they have another hint of it.
type hint struct {
	text string
	form *form
}

var (
	// words are the rows of words.tsv by their text, normalized as key does.
	words = map[string]word{}

	// deeds are the acts, joiners the words between a label and its value, letters pairs of other scripts and ASCII.
	deeds, joiners, letters []string

	// person matches the two names of a person, and lastName a name at the end of a text.
	person, lastName func() *regexp.Regexp

	// buckets are the hints by the hash of their first three bytes in lower case, and ends the kinds of words before a
	// value by the hash of their last three bytes.
	buckets [1 << hashBits]uint16
	hints   = [][]hint{nil}
	ends    [1 << hashBits]word
)

// hashBits is the size of a hash of three bytes. The last byte is in its low bits.
const hashBits = 15

func roll(h uint, b byte) uint { return (h<<5 ^ uint(b)) & (1<<hashBits - 1) }

func hashOf(s string) (h uint) {
	for i := range len(s) {
		h = roll(h, fold[s[i]])
	}
	return h
}

// load fills the tables, for the first text: a program that scrubs nothing does without.
var load = sync.OnceFunc(func() {
	count := 0
	for row := range rows(formTable) {
		keep, known := keeps[row[3]]
		if !known || count == maxForms {
			panic("BUG: scrub: too many forms, or no function " + row[3])
		}
		shortest, _ := strconv.Atoi(row[5])
		addHints(row[2], &form{
			row[0], Kind("<" + row[0] + ">"), row[1] != "", keep, lazy(row[4]), count, shortest,
			row[5] == "lines",
		})
		count++
	}
	for row := range rows(ruleTable) {
		shortest, _ := strconv.Atoi(row[2])
		expr := "^(?:" + row[3] + ")"
		if row[0] == "after" {
			expr += "$"
		}
		addHints(row[1], &form{rule: row[0], shortest: shortest, expr: lazy(expr)})
	}
	var particles []string
	for row := range rows(wordTable) {
		switch text := row[2]; row[0] {
		case "deed":
			deeds = append(deeds, text)
		case "is":
			joiners = append(joiners, text)
		case "letter":
			letters = strings.Split(text, ",")
		case "tail":
			addHints(text, &form{rule: row[0]})
		case "root":
			addHints(text+`\,`+text+"/,"+text+"%", &form{rule: row[0]})
		default:
			kind := word(1) << slices.Index(wordKinds, row[0])
			words[key(text)] |= kind
			if kind == particleWord {
				particles = append(particles, text)
			}
			if kind&(labels|leadWord|agentWord) != 0 {
				for _, joint := range []string{"", " ", "_", "-", ".", "'"} {
					addEnd(strings.Join(strings.FieldsFunc(text, isJoint), joint), kind)
					addEnd(strings.Join(strings.FieldsFunc(strings.ToUpper(text), isJoint), joint), kind)
				}
			}
		}
	}
	const part = `[\pL\pM\pN_.'’#~-]*`
	between := ` (?i:(?:` + strings.Join(particles, "|") + `) )*`
	person = lazy(`^(\p{Lu}[\p{Ll}\pM]+(?:['’-]\p{Lu}?[\p{Ll}\pM]+)*)` + between + `(\p{Lu}[\p{Ll}\pM'’-]+(?:['’-]\p{Lu}[\p{Ll}\pM]+)*)`)
	lastName = lazy(`(?:^|[^\pL\pM\pN_/])((?:\p{Lu}` + part + between + `){0,3}\p{Lu}` + part + `|[\pL\pN_]` + part + `)$`)
})

// addEnd adds the hash of the end of a word of one of the kinds.
func addEnd(s string, kind word) {
	if len(s) > 2 {
		ends[hashOf(s[len(s)-3:])] |= kind
		return
	}
	for b := range 256 {
		if !wordByte(byte(b)) || b == '_' {
			ends[hashOf((string([]byte{byte(b)}) + s)[len(s)-2:])] |= kind
		}
	}
}

// rows calls yield with the fields of each row of a table.
func rows(table string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(table) {
			if line[0] != '#' && !yield(strings.Split(strings.TrimRight(line, "\n"), "\t")) {
				return
			}
		}
	}
}

func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// addHints adds the hints that a list has. A hint of two bytes adds each hint of three bytes that begins with it.
func addHints(list string, form *form) {
	for text := range strings.SplitSeq(list, ",") {
		for third := range 256 {
			if len(text) == 2 && third != ',' && fold[third] == byte(third) {
				addHints(text+string([]byte{byte(third)}), form)
			}
		}
		if at := &buckets[hashOf(text[:min(3, len(text))])]; len(text) != 2 {
			if *at == 0 {
				*at = uint16(len(hints))
				hints = append(hints, nil)
			}
			hints[*at] = append(hints[*at], hint{text, form})
		}
	}
}

// key returns a word as words has it: in lower case, without signs between its parts.
func key(text string) string {
	return strings.Map(func(r rune) rune {
		if isJoint(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// isJoint reports whether r may be between the parts of a word before a value.
func isJoint(r rune) bool {
	return r == ' ' || r == '_' || r == '-' || r == '.' || r == '\'' || r == '’'
}

// is reports whether text is in a row of one of the kinds.
func is(text string, kinds word) bool { return words[key(text)]&kinds != 0 }

// fold has the lower case of ASCII.
var fold = func() (table [256]byte) {
	for i := range table {
		if table[i] = byte(i); 'A' <= i && i <= 'Z' {
			table[i] += 'a' - 'A'
		}
	}
	return table
}()

// hasFold reports whether s begins with lower, whatever the case of ASCII in s.
func hasFold(s, lower string) bool {
	for i := range len(lower) {
		if i == len(s) || fold[s[i]] != lower[i] {
			return false
		}
	}
	return true
}
