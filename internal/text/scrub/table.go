package scrub

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
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
	netWord
	sharedWord
	providerWord
	personWord

	labels = userWord | nounWord | secretWord | tokenWord | hostWord | machineWord | netWord | idWord | noneWord |
		personWord
)

// wordKinds are the names of the kinds in order.
var wordKinds = strings.Fields("user noun secret token host machine id none lead plain nobody ordinary particle preposition agent net shared provider name")

// form is one expression for private text, which is its first group that matches.
type form struct {
	rule     string // "own" of rules.tsv, "tail" and "root" of words.tsv, or the kind of a row in forms.tsv
	kind     Kind
	teaches  bool // finds names, which [Names] learns
	keep     func(text string, from, to int) bool
	expr     func() *regexp.Regexp // compiled for its first text
	index    int
	shortest int    // the length of the shortest value in rules.tsv
	place    string // of a match, as forms.tsv has it
}

// maxForms bounds the rows of forms.tsv.
const maxForms = 128

// hint is a string in lower case in all texts that match the form, unless they have another hint of it. A line feed
// in it, "⏎" in a table, is one or the beginning or the end of the text. "‚" in a table is a comma.
type hint struct {
	text string
	key  int // the place of the three bytes by which it is looked up
	hash uint
	form *form
}

var (
	// words are the rows of words.tsv by their text, normalized as key does.
	words = map[string]word{}

	// deeds are the acts, joiners the words between a label and its value, letters pairs of other scripts and ASCII.
	deeds, joiners, letters []string

	// person matches the two names of a person, and lastName a name at the end of a text.
	person, lastName func() *regexp.Regexp

	// hints are the hints by the hash of three of their bytes, and hinted has a bit for each hash. ends has the ends of
	// the words before a value, agents of the words of agents, and lasts the last parts of both.
	hints               [1 << placeBits][]hint
	hinted              [1 << (hashBits - 6)]uint64
	lasts, ends, agents set
)

// hashBits is the size of a hash of three bytes. The last byte is in its low bits.
const (
	hashBits  = 18
	placeBits = 15 // of the place in hints
)

// hintsAt returns the hints at a hash, and maybe others.
func hintsAt(h uint) *[]hint { return &hints[h&(1<<placeBits-1)] }

func roll(h uint, b byte) uint { return (h<<6 ^ uint(b)) & (1<<hashBits - 1) }

func hash(s string) (h uint) {
	for i := range len(s) {
		h = roll(h, s[i])
	}
	return h
}

// set is a set of sums. It reports a few others as members.
type set [1 << 12]uint64

func (s *set) has(sum uint64) bool {
	sum *= 0x9E3779B97F4A7C15
	return s[sum>>52]&(1<<(sum>>46&63)) != 0
}

func (s *set) add(sum uint64) {
	sum *= 0x9E3779B97F4A7C15
	s[sum>>52] |= 1 << (sum >> 46 & 63)
}

// sum returns the sum of a part of a word with one more byte.
func sum(sum uint64, b byte) uint64 { return sum*131 + uint64(b) }

// both returns the sum of two parts.
func both(before, last uint64) uint64 { return before*31 + last }

// sumOf returns the sum of s in the lower case of ASCII.
func sumOf(s string) (n uint64) {
	for i := range len(s) {
		n = sum(n, fold[s[i]])
	}
	return n
}

// addEnd adds the end of a word, in each case: its last two parts, and all parts without signs between them. A word of
// another script, which may begin anywhere, is known by its last two bytes as well.
func addEnd(to *set, text string) {
	for _, text := range []string{text, strings.ReplaceAll(text, "'", "’")} {
		parts := strings.FieldsFunc(text, func(r rune) bool { return joins(r) && r != '’' })
		last, before := parts[len(parts)-1], parts[max(0, len(parts)-2)]
		to.add(sumOf(key(text)))
		lasts.add(sumOf(key(text)))
		for _, change := range []func(string) string{strings.ToLower, strings.ToUpper, title} {
			end := change(last)
			lasts.add(sumOf(end))
			if len(parts) > 1 {
				to.add(both(sumOf(change(before)), sumOf(end)))
				to.add(both(sumOf(title(before)), sumOf(last)))
			} else {
				to.add(sumOf(end))
			}
			if end[len(end)-1] >= utf8.RuneSelf {
				to.add(sumOf(end[len(end)-2:]))
			}
		}
	}
}

// title returns s with a capital.
func title(s string) string {
	first := utf8.RuneLen(firstRune(s))
	return strings.ToUpper(s[:first]) + s[first:]
}

// load fills the tables, for the first text: a program that scrubs nothing does without.
var load = sync.OnceFunc(func() {
	count := 0
	for row := range rows(formTable) {
		keep, known := keeps[row[3]]
		if !known || count == maxForms {
			panic("BUG: scrub: too many forms, or no function " + row[3])
		}
		expr := row[4]
		if row[5] == "at" || row[5] == "short" {
			expr = "^(?:" + expr + ")"
		}
		addHints(row[2], &form{row[0], Kind("<" + row[0] + ">"), row[1] != "", keep, lazy(expr), count, 0, row[5]})
		count++
	}
	for row := range rows(ruleTable) {
		if row[0] == "near" {
			for name := range strings.SplitSeq(row[1], ",") {
				words[key(name)] |= providerWord
				addEnd(&ends, name)
			}
			continue
		}
		shortest, _ := strconv.Atoi(row[2])
		addHints(row[1], &form{rule: row[0], shortest: shortest, expr: lazy("^(?:" + row[3] + ")")})
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
			switch {
			case kind == agentWord:
				addEnd(&agents, text)
			case kind&(labels&^noneWord|leadWord) != 0:
				addEnd(&ends, text)
			}
		}
	}
	const part = `[\pL\pM\pN_.'’#~-]*`
	between := ` (?i:(?:` + strings.Join(particles, "|") + `) )*`
	person = lazy(`^(\p{Lu}[\p{Ll}\pM]+(?:['’-]\p{Lu}?[\p{Ll}\pM]+)*)` + between + `(\p{Lu}[\p{Ll}\pM'’-]+(?:['’-]\p{Lu}[\p{Ll}\pM]+)*)`)
	lastName = lazy(`(?:^|[^\pL\pM\pN_/])((?:\p{Lu}` + part + between + `){0,3}\p{Lu}` + part + `|[\pL\pN_]` + part + `)$`)
})

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
		text = strings.NewReplacer("⏎", "\n", "‚", ",").Replace(text)
		if len(text) == 2 {
			for third := range 256 {
				if third != ',' && fold[third] == byte(third) {
					addHints(text+string([]byte{byte(third)}), form)
				}
			}
			continue
		}
		key := 0
		for at := range max(0, len(text)-2) {
			if rarity(text[at:]) > rarity(text[key:]) {
				key = at
			}
		}
		h := hash(text[key:min(key+3, len(text))])
		hinted[h>>6] |= 1 << (h & 63)
		*hintsAt(h) = append(*hintsAt(h), hint{text, key, h, form})
	}
}

// usual has how often the common words have each three bytes, by their hash.
var usual = sync.OnceValue(func() map[uint]int {
	counts, h := map[uint]int{}, uint(0)
	for _, b := range []byte(vocabularyText) {
		h = roll(h, b)
		counts[h]++
	}
	return counts
})

// rarity is how rare the first three bytes of s are in logs.
func rarity(s string) (n int) {
	s = s[:min(3, len(s))]
	for _, b := range []byte(s) {
		_, after, _ := strings.Cut("qzjxk\"'yw.v0hbgfpmudclrsn:/ioate ", string(rune(b)))
		n -= len(after)
	}
	return n - 2*usual()[hash(s)]
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
	isJoint               // may be between the parts of a word before a value
)

var class = func() (table [256]uint8) {
	for i := range table {
		b := byte(i)
		if wordByte(b) || b == '-' {
			table[i] |= inToken
		}
		if wordByte(b) && b != '_' || b >= utf8.RuneSelf {
			table[i] |= inName
		}
		if strings.IndexByte(" \t\n:=\"'>(,.\\&%[|", b) >= 0 || b >= 0xE2 && b < 0xF0 {
			table[i] |= separator
		}
		if joins(rune(b)) {
			table[i] |= isJoint
		}
		if digit(b) || strings.IndexByte("@\\\n:-", b) >= 0 {
			table[i] |= isSign
		}
	}
	return table
}()

// fold has the lower case of ASCII.
var fold = func() (table [256]byte) {
	for i := range table {
		if table[i] = byte(i); 'A' <= i && i <= 'Z' {
			table[i] += 'a' - 'A'
		}
	}
	return table
}()

// hasFold reports whether s begins with lower, in any case of ASCII. The end of s counts as a line feed.
func hasFold(s, lower string) bool {
	for i := range len(lower) {
		if i == len(s) {
			return lower[i:] == "\n"
		} else if fold[s[i]] != lower[i] {
			return false
		}
	}
	return true
}
