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

	labels = userWord | nounWord | secretWord | tokenWord | hostWord | machineWord | netWord | idWord | noneWord | personWord
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
	shortest int    // the length of the shortest value in rules.tsv; in forms.tsv, of the longest word of a match
	place    string // where a match is: it begins "at" the hint or "near" it, in its word; it is in one "word" or in "lines"
}

// maxForms bounds the rows of forms.tsv.
const maxForms = 96

// hint is a string in lower case in all texts that match the form, unless they have another hint of it. A line feed
// in it, "⏎" in a table, is one or the beginning or the end of the text. "‚" in a table is a comma.
type hint struct {
	text string
	key  int // the place of the three bytes by which it is looked up
	form *form
}

var (
	// words are the rows of words.tsv by their text, normalized as key does.
	words = map[string]word{}

	// deeds are the acts, joiners the words between a label and its value, letters pairs of other scripts and ASCII.
	deeds, joiners, letters []string

	// person matches the two names of a person, and lastName a name at the end of a text.
	person, lastName func() *regexp.Regexp

	// buckets are the hints by the hash of three of their bytes, and hinted has a bit for each that has hints. ends and
	// agents have a bit for each end of a word before a value, and of a word of agents, and lasts for its last part.
	buckets             [1 << hashBits]uint16
	hinted              [1 << (hashBits - 6)]uint64
	hints               = [][]hint{nil}
	ends, agents, lasts [1 << 12]uint64
)

// hashBits is the size of a hash of three bytes. The last byte is in its low bits.
const hashBits = 15

func roll(h uint, b byte) uint { return (h<<5 ^ uint(b)) & (1<<hashBits - 1) }

// endsWord reports whether a word before a value, or a word of agents, may end at the place. It looks up the last bytes of
// the word: up to twelve without the signs between its parts, or four in other scripts, where it may begin anywhere.
func endsWord(s string, at int) (label, agent bool) {
	most := 12
	if s[at-1] >= utf8.RuneSelf {
		most = 4
	}
	var last uint64
	joint := true
	for i, n := at-1, 0; n < most; i-- {
		quote := i >= 2 && s[i] == '\x99' && s[i-2:i+1] == "’"
		inside := i >= 0 && class[s[i]]&inName != 0 && !quote
		if quote {
			i -= 2
		}
		if inside {
			last, n = last*131+uint64(fold[s[i]]), n+1
		}
		if !inside || n == most || upper(s[i]) && i > 0 && !upper(s[i-1]) {
			place, bit := bitOf(last)
			label, agent = label || ends[place]&bit != 0, agent || agents[place]&bit != 0
		}
		if !inside && (joint || i < 0 || class[s[i]]&isJoint == 0 && !quote) {
			break
		}
		joint = !inside
	}
	return label, agent
}

// bitOf returns the place and the bit of the bytes of an end in ends and agents.
func bitOf(last uint64) (place, bit uint64) {
	last *= 0x9E3779B97F4A7C15
	return last >> 52, 1 << (last >> 46 & 63)
}

// addEnds adds the end of a word, as endsWord looks it up, in each case.
func addEnds(table *[1 << 12]uint64, text string) {
	lower, title := key(text), ""
	for _, part := range strings.FieldsFunc(text, joins) {
		first := utf8.RuneLen(firstRune(part))
		title += strings.ToUpper(part[:first]) + part[first:]
	}
	first := utf8.RuneLen(firstRune(title))
	for _, part := range []string{lower, key(text[strings.LastIndexFunc(text, joins)+1:])} {
		var last uint64
		for i := range len(part) {
			last = last*131 + uint64(part[i])
		}
		place, bit := bitOf(last)
		lasts[place] |= bit
	}
	for _, end := range []string{lower, title[:first] + lower[first:], title, strings.ToUpper(title)} {
		most := 12
		if end[len(end)-1] >= utf8.RuneSelf {
			most = 4
		}
		var last uint64
		for i := len(end) - 1; i >= max(0, len(end)-most); i-- {
			last = last*131 + uint64(fold[end[i]])
		}
		place, bit := bitOf(last)
		table[place] |= bit
	}
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
		expr := row[4]
		if row[5] == "at" {
			expr = "^(?:" + expr + ")"
		}
		addHints(row[2], &form{row[0], Kind("<" + row[0] + ">"), row[1] != "", keep, lazy(expr), count, shortest, row[5]})
		count++
	}
	for row := range rows(ruleTable) {
		if row[0] == "near" {
			for name := range strings.SplitSeq(row[1], ",") {
				words[key(name)] |= providerWord
				addEnds(&ends, name)
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
				addEnds(&agents, text)
			case kind&(labels&^noneWord|leadWord) != 0:
				addEnds(&ends, text)
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
		h := uint(0)
		for _, b := range []byte(text[key:min(key+3, len(text))]) {
			h = roll(h, b)
		}
		at := &buckets[h]
		if *at == 0 {
			*at = uint16(len(hints))
			hints = append(hints, nil)
			hinted[h>>6] |= 1 << (h & 63)
		}
		hints[*at] = append(hints[*at], hint{text, key, form})
	}
}

// rarity is how rare the first three bytes of s are in logs.
func rarity(s string) (n int) {
	for i := range min(3, len(s)) {
		if strings.IndexByte(" etaoinsrlcdu", s[i]) < 0 {
			n++
		}
	}
	return n
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

// hasFold reports whether s begins with lower, whatever the case of ASCII in s. A line feed is at the end of s.
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
