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
	before [maxTokens + 1]uint64 // hash of the words before word i, and of the punctuation in front of it
	after  [maxTokens + 1]uint64 // hash of the words from i on, and of the frames
	held   [maxTokens + 1]uint8  // words before word i that hold the statement together
	plain  [maxTokens + 1]uint8  // those of them that are no names
	sum    uint64                // hash of all

	frames  uint64 // hash of the frames
	marks   uint64 // hash of the punctuation since the last word
	gap     gap    // before the next word
	full    bool
	dropped [maxFields]*field
	drops   int
	st      statement
}

// term is a word of a statement, or several that are one.
type term struct {
	text  []byte
	hash  uint64 // of the text, or of the mask
	marks uint64 // hash of the punctuation before it
	kind  kindOfWord
	gap   gap
	holds bool // it is a word of two letters or more, and no value
	again bool // it refers to a word before it
	code  bool // it is a value that the id keeps
}

// kindOfWord is a form of words.
type kindOfWord uint8

const (
	plainWord   kindOfWord = iota
	capitalWord            // ENOENT
	titleWord              // Tobin, Anna Lindqvist
	nameWord               // acme.press, works/press, pressWheel, host:<*>, "press"
	value                  // <*>, true, null, [a, b], Point{x=<*>}, and a number that the id keeps
)

// gap is the form of the punctuation before a word.
type gap uint8

const (
	gapSpace gap = iota
	gapOpen      // a value often follows: a colon, an equals sign, an opening bracket or a quotation mark
	gapComma
	gapArrow
)

// isName reports whether words of the form are names.
func (k kindOfWord) isName() bool { return k == titleWord || k == nameWord }

// parse cuts a template. It returns false for one with too many words.
func (t *tokens) parse(template []byte) bool {
	head, frames, _ := bytes.Cut(template, []byte("\n"))
	t.n, t.drops, t.marks, t.gap, t.full = 0, 0, 0, gapSpace, false
	t.frames = xxhash.Sum64(frames)
	t.st.cut(head)
	t.st.text(t.say, t.drop)
	t.fold()
	t.refer()
	t.add()
	return !t.full
}

// add sums the hashes.
func (t *tokens) add() {
	sum := uint64(0)
	for i := range t.n {
		w := &t.words[i]
		t.held[i+1], t.plain[i+1] = t.held[i], t.plain[i]
		if w.holds {
			t.held[i+1]++
			if i == 0 || !w.kind.isName() {
				t.plain[i+1]++
			}
		}
		sum += place(w.marks, 2*i)
		t.before[i] = sum
		sum += place(w.hash, 2*i+1)
	}
	t.before[t.n] = sum
	sum = t.frames
	t.after[t.n] = sum
	if t.n > 0 && t.words[t.n-1].kind != value {
		sum += place(t.marks, 0)
	}
	for i := t.n - 1; i >= 0; i-- {
		w := &t.words[i]
		sum += place(w.hash, 2*(t.n-i)) + place(w.marks, 2*(t.n-i)+1)
		t.after[i] = sum
	}
	t.sum = sum
}

// others returns how many words hold the statement together but for those from i to j.
func (t *tokens) others(i, j int) int { return int(t.held[t.n] - t.held[j] + t.held[i]) }

func (t *tokens) drop(f *field) {
	if t.drops < len(t.dropped) {
		t.dropped[t.drops] = f
		t.drops++
	}
}

func (t *tokens) put(text []byte, kind kindOfWord, code bool) {
	if t.n == len(t.words) {
		t.full = true
		return
	}
	w := term{text: text, kind: kind, marks: t.marks, gap: t.gap, code: code, hash: valueHash}
	if kind != value {
		w.hash, w.holds = xxhash.Sum64(text), letters(text) >= 2
	}
	t.words[t.n] = w
	t.gap, t.marks = gapSpace, 0
	t.n++
}

// say takes text.
func (t *tokens) say(s []byte) {
	for i := 0; i < len(s) && !t.full; {
		b := s[i]
		switch {
		case b == ' ':
			i++
		case isWordByte(b):
			i = t.word(s, i)
		default:
			if end := t.value(s, i); end > 0 {
				i = end
				continue
			}
			switch {
			case b == ',':
				t.gap = gapComma
			case b == '>' && i > 0 && (s[i-1] == '-' || s[i-1] == '='):
				t.gap = gapArrow
			case b == ':' || b == '=' || isOpening(b) || b == '"' || b == '\'':
				t.gap = gapOpen
			case b != '\\':
				t.gap = gapSpace
			}
			t.marks = place(t.marks, int(b))
			i++
		}
	}
}

// value takes the value at i, that begins with no letter and no digit, and returns its end, or 0.
func (t *tokens) value(s []byte, i int) int {
	j := i
	for j < i+3 && bytes.IndexByte([]byte("#~.-+<>@/*$%"), byteAt(s, j)) >= 0 && !isMaskAt(s, j) {
		j++
	}
	if isMaskAt(s, j) {
		end := t.glued(s, j)
		t.put(s[i:end], value, false)
		return end
	}
	if j > i && i > 0 && (isBefore(s[i-1]) || bytes.IndexByte([]byte("=:'"), s[i-1]) >= 0) && isAfter(byteAt(s, j)) &&
		bytes.IndexByte([]byte("./~*"), s[i]) >= 0 {
		t.put(s[i:j], value, false)
		return j
	}
	if !isOpening(s[i]) {
		return 0
	}
	end := t.closing(s, i)
	if end == 0 {
		return 0
	}
	in := s[i+1 : end-1]
	if isConstant(in) || isList(in) && (s[i] != '(' || t.gap == gapOpen && len(in) > 0) && (s[i] != '{' || t.n > 0) ||
		s[i] == '{' && t.n > 0 && isObject(in) {
		t.put(s[i:end], value, isConstant(in))
		return end
	}
	return 0
}

// glued returns the end of what is glued to the mask at i.
func (t *tokens) glued(s []byte, i int) int {
	for i < len(s) {
		b := s[i]
		switch {
		case isMaskAt(s, i):
			i += len(Mask)
		case isAfter(b) || b == '\'' || (b == ':' || b == '=' || b == '.' || b == '!' || b == '?') && isAfter(byteAt(s, i+1)):
			return i
		case isOpening(b):
			end := t.closing(s, i)
			if end == 0 || bytes.IndexByte(s[i:end], ' ') >= 0 {
				return i
			}
			i = end
		default:
			i++
		}
	}
	return i
}

// word takes the word at i and returns its end.
func (t *tokens) word(s []byte, i int) int {
	j, masked, digits := i, false, false
	for j < len(s) {
		next := byteAt(s, j+1)
		switch {
		case isMaskAt(s, j):
			masked = true
			j += len(Mask)
			continue
		case isWordByte(s[j]):
			digits = digits || '0' <= s[j] && s[j] <= '9'
			j++
			continue
		case joinsWords(s[j]) && (isWordByte(next) || isMaskAt(s, j+1)):
			j++
			continue
		case s[j] == ':' && next == ':' && isWordByte(byteAt(s, j+2)):
			j += 2
			continue
		}
		break
	}
	w := s[i:j]
	switch b := byteAt(s, j); {
	case b == ':' && isMaskAt(s, j+1):
		j, masked = t.glued(s, j+1), true
	case isOpening(b):
		if end := t.closing(s, j); end > 0 {
			in := s[j+1 : end-1]
			switch {
			case isObject(in) || b == '{' && masked || b != '(' && isUpper(w[0]) && bytes.IndexByte(in, ' ') > 0:
				t.put(s[i:end], value, false)
				return end
			case isMaskAt(in, 0) && bytes.IndexByte(in, ' ') < 0:
				j, masked = end, true
			}
		}
	case b == '.' && len(w) == 1 && isUpper(w[0]) && byteAt(s, j+1) == ' ' && isUpper(byteAt(s, j+2)):
		j++
	}
	switch {
	case masked:
		t.put(s[i:j], nameWord, false)
	case isConstant(w):
		t.put(w, value, true)
	case digits && !wellKnownWords.has(string(w)):
		t.put(w, value, true)
	case isQualified(w) || i > 0 && (s[i-1] == '"' || s[i-1] == '\'') && byteAt(s, j) == s[i-1] &&
		byteAt(s, j+1) != ':':
		t.put(s[i:j], nameWord, false)
	case isCapitals(w):
		t.put(w, capitalWord, false)
	case isTitle(w):
		t.put(s[i:j], titleWord, false)
	default:
		t.put(w, plainWord, false)
	}
	return j
}

// closing is statement.closing in a part of the head.
func (t *tokens) closing(s []byte, i int) int {
	in := statement{head: s, left: t.st.left}
	end := in.closing(i)
	t.st.left = in.left
	return end
}

// isList reports whether the text between brackets is a list, maybe an empty one: words or values with commas.
func isList(s []byte) bool {
	items, words := 1, 0
	for i, b := range s {
		switch {
		case b == ',' || b == ';' || b == ' ' && i > 0 && s[i-1] == '\\':
			items++
		case b == ' ' && i > 0 && s[i-1] != ',' && s[i-1] != ';':
			words++
		}
	}
	return items > 1 && words <= 2*items || words == 0 && (isMaskAt(s, 0) || len(bytes.TrimSpace(s)) == 0)
}

// isObject reports whether the text in brackets after a name is the fields of an object.
func isObject(s []byte) bool { return bytes.ContainsAny(s, "=:") && !bytes.HasPrefix(s, []byte(":")) }

// fold makes one value of values with commas between them, and one name of words with capitals.
func (t *tokens) fold() {
	n := 0
	for i := 0; i < t.n; i++ {
		w := t.words[i]
		j := i + 1
		for j < t.n && t.words[j].gap == gapComma && t.words[j].kind >= titleWord {
			j++
		}
		list := j > i+1 && w.kind >= titleWord
		if !list && w.gap == gapOpen {
			for j < t.n && t.words[j].gap == gapComma {
				j++
			}
			list = j > i+1 && j == t.n
		}
		switch {
		case list:
			w = term{text: w.text, hash: valueHash, kind: value, marks: w.marks, gap: w.gap}
			i = j - 1
		case i > 0 && w.kind == titleWord:
			for i+1 < t.n && t.words[i+1].gap == gapSpace && t.words[i+1].marks == 0 &&
				t.words[i+1].kind == titleWord {
				i++
				next := &t.words[i]
				w.text = w.text[:min(cap(w.text), len(w.text)+1+len(next.text))]
				w.hash, w.holds = place(w.hash, 0)^next.hash, true
			}
		}
		t.words[n] = w
		n++
	}
	t.n = n
}

// refer makes references of words that occurred before, and of names that continue one.
func (t *tokens) refer() {
	for i := 1; i < t.n; i++ {
		w := &t.words[i]
		if w.kind == value || !w.holds {
			continue
		}
		for j := range i {
			o := &t.words[j]
			if o.kind == value || !o.holds {
				continue
			}
			if n := len(w.text); o.kind == nameWord && len(o.text) > n && joinsWords(o.text[n]) && bytes.HasPrefix(o.text, w.text) {
				w.hash, w.again, w.holds = sameHash, true, false
				break
			}
			if !bytes.HasPrefix(w.text, o.text) {
				continue
			}
			if rest := w.text[len(o.text):]; len(rest) == 0 {
				w.hash, w.again, w.holds = sameHash, true, false
			} else if w.kind == nameWord && joinsWords(rest[0]) {
				w.hash, w.again, w.holds = sameHash^xxhash.Sum64(rest), true, false
			}
			break
		}
	}
}

// nameEnd returns the end of the name of several words at i, such as Old Hob or Muffalo <*>, or i.
func (t *tokens) nameEnd(i int) int {
	j := i
	for j < min(t.n, i+3) {
		w := &t.words[j]
		if w.kind != titleWord && (j == i || w.kind != value || w.code) || j > i && (w.gap != gapSpace || w.marks != 0) {
			break
		}
		j++
	}
	return j
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
	return place(t.before[i]+place(t.after[j], 0), 0) | 1 // 0 is an empty slot
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
	w := term{hash: valueHash, kind: value}
	if i < u.n {
		w.marks, w.gap = u.words[i].marks, u.words[i].gap
	}
	copy(t.words[:], u.words[:i])
	t.words[i] = w
	copy(t.words[i+1:], u.words[j:u.n])
	t.n, t.frames, t.marks = u.n-(j-i)+1, u.frames, u.marks
	t.add()
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

// isTitle reports whether w begins with a capital that others do not all follow.
func isTitle(w []byte) bool {
	r, _ := utf8.DecodeRune(w)
	return unicode.IsUpper(r)
}

// isCapitals reports whether w has two letters or more, none of them small.
func isCapitals(w []byte) bool {
	return len(w) > 1 && isUpper(w[0]) && bytes.IndexFunc(w, unicode.IsLower) < 0
}

// isConstant reports whether w is a boolean, or nothing.
func isConstant(w []byte) bool {
	switch string(w) {
	case "true", "false", "True", "False", "TRUE", "FALSE", "NaN", "undefined",
		"null", "NULL", "Null", "nil", "None", "unset":
		return true
	}
	return false
}

// isEdge reports whether r may stand around a word: punctuation, and the mask.
func isEdge(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// letters counts the bytes of word that are letters or part of one beyond
// ASCII.
func letters(word []byte) int {
	n := 0
	for _, b := range word {
		if b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80 {
			n++
		}
	}
	return n
}

func isMaskAt(s []byte, i int) bool { return i < len(s) && bytes.HasPrefix(s[i:], []byte(Mask)) }

// joinsWords reports whether b between two words makes one of them.
func joinsWords(b byte) bool { return bytes.IndexByte([]byte(".-/\\'`@+&~*"), b) >= 0 }

var (
	valueHash      = xxhash.Sum64String(Mask)
	sameHash       = xxhash.Sum64String("same")
	wellKnownWords = newWords(wellKnown)
)

// place mixes a hash with a position (the finalizer of SplitMix64).
func place(h uint64, i int) uint64 {
	h ^= uint64(i+1) * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
