package signature

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// maxTokens bounds the words of a statement. A template with more is a group of its own.
const maxTokens = 96

// tokens is a template's statement as words, with sums of hashes that make it cheap to leave a span of them out.
type tokens struct {
	words  [maxTokens]term
	n      int
	first  int                   // the first word after tags in brackets and values, if there is one
	before [maxTokens + 1]uint64 // hash of the words before word i
	after  [maxTokens + 1]uint64 // hash of the words from i on, and of the frames
	held   [maxTokens + 1]uint8  // words before word i that hold the statement together; a tag of several is one
	plain  [maxTokens + 1]uint8  // the same without keys, the tag, and names but for the first
	bag    [maxTokens + 1]uint64 // hash of the words before word i, in any order and without marks
	sum    uint64                // hash of all
	keys   int                   // keys that hold the statement together

	frames   uint64 // hash of the frames
	marks    uint64 // hash of the punctuation since the last word
	gap      gap    // before the next word
	depth    int    // how many brackets are open
	full     bool
	nameless int // 1 if names were left out without evidence for each
	search   int // how many bytes may still be searched for closing brackets, so that the whole is linear
}

// term is a word of a statement, or several that are one.
type term struct {
	text   []byte
	hash   uint64 // of the text, or of the mask
	marks  uint64 // hash of the punctuation before it
	kind   kindOfWord
	gap    gap
	depth  int  // how many brackets are open before it
	holds  bool // it has two letters or more, and is no value
	closed bool // a closing bracket or a quotation mark is directly after it
	key    bool // of a field: an equals sign follows, or a quotation mark and a colon
}

// kindOfWord is a form of words.
type kindOfWord uint8

const (
	plainWord   kindOfWord = iota
	capitalWord            // ENOENT
	titleWord              // Tobin, Anna Lindqvist
	nameWord               // acme.press, works/press, pressWheel, host:<*>, "press", Point{x=<*>}
	value                  // <*>, true, null, [a, b], and a number that the id keeps
)

// isName reports whether w is a name by its form.
func (w term) isName() bool { return w.kind == titleWord || w.kind == nameWord }

// gap is the form of the punctuation before a word.
type gap uint8

const (
	gapSpace gap = iota
	gapComma
	gapOpen    // a value often follows: a colon or an equals sign
	gapBracket // the same: an opening bracket or a quotation mark
)

// parse cuts a template. It returns false for one with too many words.
func (t *tokens) parse(template []byte) bool {
	head, frames, _ := bytes.Cut(template, []byte("\n"))
	t.n, t.marks, t.gap, t.depth, t.full, t.nameless, t.search = 0, 0, gapSpace, 0, false, 0, 4*len(head)
	t.frames = xxhash.Sum64(frames)
	t.say(t.statement(head))
	t.fold()
	t.add()
	return !t.full
}

// findFirst finds the first word.
func (t *tokens) findFirst() {
	for t.first = 0; t.first < t.n-1 && (t.words[t.first].hash == valueHash || t.words[t.first].isEnclosed()); {
		t.first++
	}
}

// add sums the hashes.
func (t *tokens) add() {
	t.findFirst()
	sum, keys, tag := uint64(0), 0, true
	for i := range t.n {
		w := &t.words[i]
		tag = tag && (w.depth > 0 || w.kind == value)
		t.held[i+1], t.plain[i+1] = t.held[i], t.plain[i]
		if w.holds && (!tag || i == 0) {
			t.held[i+1]++
			switch {
			case tag:
			case w.key:
				keys++
			case i == t.first || !w.isName() || !isState(w.text) && !t.isVariable(i):
				t.plain[i+1]++
			}
		}
		t.before[i] = sum
		sum += place(w.marks, 2*i) + place(w.hash, 2*i+1)
		t.bag[i+1] = t.bag[i] + place(w.hash, 0)
	}
	t.before[t.n], t.keys = sum, keys
	sum = t.frames
	t.after[t.n] = sum
	sum += place(t.marks, 1)
	for i := t.n - 1; i >= 0; i-- {
		w := &t.words[i]
		sum += place(w.hash, 2*(t.n-i))
		t.after[i] = sum
		sum += place(w.marks, 2*(t.n-i)+1)
	}
	t.sum = sum
}

// others returns how many words hold the statement together but for those from i to j.
func (t *tokens) others(i, j int) int { return int(t.held[t.n] - t.held[j] + t.held[i]) }

func (t *tokens) put(text []byte, kind kindOfWord) {
	if t.n == len(t.words) {
		t.full = true
		return
	}
	w := term{text: text, kind: kind, marks: t.marks, gap: t.gap, depth: t.depth, hash: valueHash}
	if kind != value {
		w.hash, w.holds = xxhash.Sum64(text), letters(text) >= 2
	}
	t.words[t.n] = w
	t.n++
}

// say takes text.
func (t *tokens) say(s []byte) {
	for i := 0; i < len(s) && !t.full; {
		if end := t.markup(s, i); end > i {
			i = end
			continue
		}
		end, kind := t.next(s, i)
		switch {
		case end == i:
			t.mark(s, i)
			i++
			continue
		case kind != value || t.n == 0 || t.words[t.n-1].kind != value:
			t.put(s[i:end], kind)
		}
		t.gap, t.marks = gapSpace, 0
		i = end
	}
}

// markup returns the end of the tag at i, or i: </color>, or <color=#<*>> with the other after it. Games mark names so.
func (t *tokens) markup(s []byte, i int) int {
	rest, closes := bytes.CutPrefix(s[i+1:], []byte{'/'})
	n := 0
	for n < len(rest) && isLetter(rest[n]) {
		n++
	}
	end := n
	if s[i] != '<' || n == 0 || t.search < len(rest) {
		return i
	}
	t.search -= len(rest)
	for end < len(rest) && (rest[end] != '>' || rest[end-1] == '*') {
		end++
	}
	if end == len(rest) || !closes && !bytes.Contains(rest[end:], []byte("</"+string(rest[:n])+">")) {
		return i
	}
	return len(s) - len(rest) + end + 1
}

// next returns the end and the form of the word at i, or i.
func (t *tokens) next(s []byte, i int) (end int, kind kindOfWord) {
	if end = t.value(s, i); end > i {
		return end, value
	}
	switch b := s[i]; {
	case isWordByte(b):
		end, kind = t.word(s, i)
	case b == '[' && bytes.Contains(s[i:max(i, t.closing(s, i))], []byte(Mask)): // a tag
		return t.closing(s, i), nameWord
	case t.n > 0 && (b == '"' || b == '`') && (s[i-1] == ' ' || s[i-1] == '='):
		if q := quoted(s, i); byteAt(s, q) != ':' {
			return q, nameWord
		}
	}
	return end, kind
}

// mark takes the punctuation at i.
func (t *tokens) mark(s []byte, i int) {
	b := s[i]
	if b == ' ' {
		return
	}
	assigns := b == '=' && t.n > 0 && t.marks == 0 && byteAt(s, i+1) != '='
	if assigns || b == ':' && i > 0 && s[i-1] == '"' {
		t.words[max(t.n-1, 0)].key = true
	}
	if t.n > 0 && t.marks == 0 && bytes.IndexByte([]byte(")]}>\"'"), b) >= 0 {
		t.words[t.n-1].closed = true
	}
	switch {
	case isOpening(b):
		t.depth++
	case isClosing(b):
		t.depth--
	}
	switch {
	case b == ',':
		t.gap = gapComma
	case b == ':' || b == '=':
		t.gap = gapOpen
	case isOpening(b) || b == '<' || b == '"' || b == '\'':
		t.gap = gapBracket
	}
	t.marks = place(t.marks, int(b))
}

// value returns the end of the value at i, that begins with a mask, a sign or a bracket, or i.
func (t *tokens) value(s []byte, i int) int {
	j := i
	for j < i+3 && bytes.IndexByte([]byte("#~.-+<>@/*$%"), byteAt(s, j)) >= 0 && !isMask(s, j) {
		j++
	}
	if isMask(s, j) || string(s[i:j]) == "<>" {
		return t.glued(s, j)
	}
	if end := t.closing(s, i); end > 0 && t.isData(s[i:end]) {
		return end
	}
	return i
}

// isData reports whether s, in brackets, is a list, an object, one value, or nothing.
func (t *tokens) isData(s []byte) bool {
	in := bytes.TrimSpace(s[1 : len(s)-1])
	items, words := 1, 0
	for i, b := range in {
		switch {
		case b == ',' || b == ';' || b == ' ' && in[i-1] == '\\':
			items++
		case b == ' ' && in[i-1] != ',' && in[i-1] != ';':
			words++
		}
	}
	if s[0] == '(' || s[0] == '{' && t.n == 0 { // a remark, or a record
		return false
	}
	return items > 1 && words <= 2*items || words == 0 && (len(in) == 0 || isMask(in, 0)) ||
		s[0] == '{' && bytes.ContainsAny(in, "=:") && in[0] != ':'
}

// glued returns the end of all that is glued to the mask at i: up to space, or a mark that ends a value.
func (t *tokens) glued(s []byte, i int) int {
	for i < len(s) && !isAfter(s[i]) {
		switch end := t.closing(s, i); {
		case isAfter(byteAt(s, i+1)) && bytes.IndexByte([]byte(":=.!?"), s[i]) >= 0:
			return i
		default:
			i = max(i+1, end)
		}
	}
	return i
}

// wordEnd returns the end of the word at i, and whether a mask, or a digit, is in it.
func wordEnd(s []byte, i int) (end int, masked, digits bool) {
	for i < len(s) {
		next := byteAt(s, i+1)
		switch {
		case isMask(s, i):
			masked = true
			i += len(Mask)
		case isWordByte(s[i]):
			digits = digits || '0' <= s[i] && s[i] <= '9'
			i++
		case joinsWords(s[i]) && (isWordByte(next) || isMask(s, i+1)):
			i++
		case s[i] == ':' && next == ':' && isWordByte(byteAt(s, i+2)):
			i += 2
		default:
			return i, masked, digits
		}
	}
	return i, masked, digits
}

// word returns the end and the form of the word at i.
func (t *tokens) word(s []byte, i int) (int, kindOfWord) {
	j, masked, digits := wordEnd(s, i)
	w := s[i:j]
	end := t.closing(s, j)
	switch {
	case end > 0 && (isMask(s, j+1) || s[j] == '(' && end != j+3) && bytes.IndexByte(s[j:end], ' ') < 0:
		return end, nameWord
	case masked:
		return j, nameWord
	case isConstant(w) || digits:
		return j, value
	case isQualified(w):
		return j, nameWord
	case isCapitals(w):
		return j, capitalWord
	case !isTitle(w):
		return j, plainWord
	}
	return j, titleWord
}

// closing returns the position after the bracket that closes the one at i, or 0. Brackets of all kinds are one:
// intervals mix them.
func (t *tokens) closing(s []byte, i int) int {
	if !isOpening(byteAt(s, i)) {
		return 0
	}
	depth := 0
	for ; i < len(s) && t.search > 0; i++ {
		t.search--
		switch b := s[i]; {
		case isOpening(b):
			depth++
		case isClosing(b):
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// fold makes one value of a list that ends the line, and one name of words with capitals.
func (t *tokens) fold() {
	t.findFirst()
	n := 0
	for i := 0; i < t.n; i++ {
		w, end := t.words[i], i+1
		for end < t.n && t.words[end].gap == gapComma {
			end++
		}
		switch {
		case w.gap >= gapOpen && end == t.n && end > i+1:
			w = w.masked(value)
			i = end
		case i != t.first && w.kind == titleWord:
			if end = t.nameEnd(i); end > i+1 {
				i = end - 1
				w.text = w.text[:cap(w.text)-cap(t.words[i].text)+len(t.words[i].text)]
				w.hash, w.holds = xxhash.Sum64(w.text), true
			}
		}
		t.words[n] = w
		n++
	}
	t.n = n
}

// nameEnd returns the end of the names at i in sequence, the later ones maybe in capitals, or i.
func (t *tokens) nameEnd(i int) int {
	j := i
	for j < t.n && (t.words[j].isName() || j > i && t.words[j].kind == capitalWord) &&
		(j == i || t.words[j].marks == 0) {
		j++
	}
	return j
}

// isEnclosed reports whether w is alone in brackets or quotation marks.
func (w *term) isEnclosed() bool { return w.gap == gapBracket && w.closed }

// masked returns a value in place of w, maybe as a name.
func (w term) masked(kind kindOfWord) term {
	return term{hash: valueHash, kind: kind, marks: w.marks, gap: w.gap, depth: w.depth}
}

// form returns the key of the column of statements with the same first word, number of words and punctuation.
func (t *tokens) form() uint64 {
	sum := t.frames + t.words[0].hash + place(t.marks, t.n)
	for i := range t.n {
		sum += place(t.words[i].marks, i)
	}
	return place(sum, ofForm) | 1
}

// key returns the hash of all words but those from i to j.
func (t *tokens) key(i, j int) uint64 {
	return place(t.before[i]+place(t.after[j], 0), 2*t.nameless) | 1 // 0 is an empty slot
}

// content returns the hash of the words from i to j.
func (t *tokens) content(i, j int) uint64 {
	if j == i+1 {
		return t.words[i].hash
	}
	sum := uint64(1)
	for k := i; k < j; k++ {
		sum += place(t.words[k].hash, 2*(k-i)) + place(t.words[k].marks, 2*(k-i)+1)
	}
	return sum
}

// leave sets t to u with a value in place of the words from i to j.
func (t *tokens) leave(u *tokens, i, j int) {
	copy(t.words[:], u.words[:i])
	t.words[i] = u.words[i].masked(value)
	copy(t.words[i+1:], u.words[j:u.n])
	t.n, t.frames, t.marks, t.nameless = u.n-(j-i)+1, u.frames, u.marks, u.nameless
	t.add()
}

// leaveNames sets t to u with a value in place of each run of names and values, and reports whether one held a name. It
// puts no evidence for a value.
func (t *tokens) leaveNames(u *tokens) (named bool) {
	t.n, t.frames, t.marks, t.nameless = 0, u.frames, u.marks, 1
	run := false
	for i := range u.n {
		w, again := u.words[i], run
		if run = i != u.first && w.kind >= titleWord || i < u.first; run {
			named = named || w.kind != value
			if again {
				continue
			}
			w = w.masked(nameWord)
		}
		t.words[t.n] = w
		t.n++
	}
	t.add()
	return named
}

// isQualified reports whether w consists of parts: acme.press, works/press, press_wheel, pressWheel.
func isQualified(w []byte) bool {
	for i := 1; i < len(w); i++ {
		if i+1 < len(w) && bytes.IndexByte([]byte("./_\\-:@"), w[i]) >= 0 || isUpper(w[i]) && isLower(w[i-1]) {
			return true
		}
	}
	return false
}

// isCompound reports whether w is small letters and hyphens, as cross-reference is, and no name that was left out.
func isCompound(w []byte) bool {
	return len(w) > 0 && len(bytes.TrimLeft(w, "abcdefghijklmnopqrstuvwxyz-")) == 0
}

// isTitle reports whether w begins with a capital, or with a letter of a script that has none.
func isTitle(w []byte) bool {
	r, _ := utf8.DecodeRune(w)
	return unicode.IsUpper(r) || unicode.Is(unicode.Lo, r)
}

// isCapitals reports whether w has two letters or more, none of them small.
func isCapitals(w []byte) bool {
	return len(w) > 1 && isUpper(w[0]) && bytes.IndexFunc(w, unicode.IsLower) < 0
}

// isConstant reports whether w is a boolean, or nothing.
func isConstant(w []byte) bool {
	switch string(w) {
	case "true", "false", "True", "False", "TRUE", "FALSE", "NaN", "undefined", "null", "NULL", "Null", "nil", "None", "unset":
		return true
	}
	return false
}

// letters counts the bytes of word that are letters or part of one beyond
// ASCII.
func letters(word []byte) (n int) {
	for _, b := range word {
		if isLetter(b) || b >= 0x80 {
			n++
		}
	}
	return n
}

func byteAt(s []byte, i int) byte {
	if uint(i) < uint(len(s)) {
		return s[i]
	}
	return 0
}

func isOpening(b byte) bool { return b == '[' || b == '{' || b == '(' }

func isClosing(b byte) bool { return b == ']' || b == '}' || b == ')' }

func isWordByte(b byte) bool { return classes[b]&wordlike != 0 }

// isAfter reports whether b ends a value.
func isAfter(b byte) bool { return classes[b]&after != 0 }

// joinsWords reports whether b between two words makes one of them.
func joinsWords(b byte) bool { return classes[b]&joint != 0 }

var (
	valueHash      = xxhash.Sum64String(Mask)
	equalsHash     = place(0, '=')
	colonHash      = place(0, ':')
	wellKnownWords = newWords(wellKnown)
)

// place mixes a hash with a position (the finalizer of SplitMix64).
func place(h uint64, i int) uint64 {
	h ^= uint64(i+1) * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
