package signature

import (
	"bytes"

	"github.com/cespare/xxhash/v2"
)

// maxTokens bounds the words of a statement. A template with more is a group of its own.
const maxTokens = 96

// tokens is what a template's statement says, as words and values, with hashes that make it cheap to leave a word out:
// the sum of a hash of each word at its place, and of what stands between them.
type tokens struct {
	words   [maxTokens]term
	n       int
	anchors int    // words that hold the statement together: letters, no value
	frames  uint64 // hash of the frames
	sum     uint64
	marks   uint64 // hash of the punctuation since the last word
	gap     gap    // what stands before the next word
	full    bool
	dropped [maxFields]*field
	drops   int
	st      statement
}

// term is a word or a value.
type term struct {
	text   []byte
	hash   uint64 // of the text, or of the mask
	kind   kindOfWord
	marks  uint64 // hash of the punctuation before it
	gap    gap
	anchor bool
	// decides is set of a value by which a line decides something else than others that have another there.
	decides bool
	call    bool // parentheses follow directly
}

// gap is what stands before a word.
type gap uint8

const (
	gapSpace gap = iota
	gapValue     // a value often follows: a colon or an equals sign
	gapOpen      // an opening bracket or quotation mark
	gapComma
	gapArrow
)

// parse cuts a template. It returns false for one with too many words.
func (t *tokens) parse(template []byte) bool {
	head, frames, _ := bytes.Cut(template, []byte("\n"))
	t.n, t.anchors, t.drops, t.marks, t.gap, t.full = 0, 0, 0, 0, gapSpace, false
	t.frames = xxhash.Sum64(frames)
	t.st.cut(head)
	t.st.text(t.say, t.give, t.drop)
	t.findStates()
	for i := range t.n {
		if w := &t.words[i]; w.kind == unknownWord {
			w.kind = t.kindOf(i)
		}
	}
	t.fold()
	t.stems()
	t.sum = t.frames + place(t.marks, maxTokens+t.n)
	for i := range t.n {
		w := &t.words[i]
		w.anchor = w.kind != value && letters(w.text) >= 2
		if w.anchor {
			t.anchors++
		}
		t.sum += place(w.hash, i) + place(w.marks, maxTokens+i)
	}
	return !t.full
}

// stems makes names of words by which a qualified name of the statement begins: quarry beside quarry.service.
func (t *tokens) stems() {
	for i := range t.n {
		long := &t.words[i]
		if long.kind != nameWord {
			continue
		}
		for j := range t.n {
			w := &t.words[j]
			if n := len(w.text); w.kind != value && w.kind != nameWord && n > 2 && n < len(long.text) && long.text[n] == '.' &&
				bytes.HasPrefix(long.text, w.text) {
				w.kind = nameWord
			}
		}
	}
}

// give takes a field that is part of what is said.
func (t *tokens) give(f *field) {
	t.mark('=')
	if len(f.key) > 0 {
		t.put(f.key, fixedWord, false)
	}
	if len(f.value) > 0 {
		t.put(f.value, value, false)
	}
	t.drop(f)
}

func (t *tokens) drop(f *field) {
	if t.drops < len(t.dropped) {
		t.dropped[t.drops] = f
		t.drops++
	}
}

func (t *tokens) put(text []byte, kind kindOfWord, decides bool) {
	if t.n == len(t.words) {
		t.full = true
		return
	}
	hash := valueHash
	if kind != value {
		hash = xxhash.Sum64(text)
		if t.n > 0 && t.gap == gapSpace && t.words[t.n-1].kind == value {
			hash = t.counted(text)
		}
	}
	t.words[t.n] = term{text: text, hash: hash, kind: kind, marks: t.marks, gap: t.gap, decides: decides}
	t.gap, t.marks = gapSpace, 0
	t.n++
}

// counted returns the hash of the singular of a word after a value, which may be a count.
func (t *tokens) counted(text []byte) uint64 {
	if n := len(text) - 3; n > 1 && string(text[n:]) == "ies" {
		var d xxhash.Digest
		d.Reset()
		_, _ = d.Write(text[:n])
		_, _ = d.WriteString("y")
		return d.Sum64()
	}
	if n := len(text) - 1; n > 2 && text[n] == 's' && isLower(text[n-1]) && text[n-1] != 's' {
		text = text[:n]
	}
	return xxhash.Sum64(text)
}

// mark takes a byte of punctuation.
func (t *tokens) mark(b byte) {
	t.marks = place(t.marks, int(b))
}

// say takes text.
func (t *tokens) say(s []byte) {
	for i := 0; i < len(s) && !t.full; {
		b := s[i]
		switch {
		case b == ' ':
			i++
		case isWordByte(b) || isMaskAt(s, i):
			i = t.word(s, i)
		default:
			if end := loneValue(s, i); end > 0 {
				t.put(s[i:end], value, b == '(')
				i = end
				continue
			}
			if end := t.group(s, i); end > 0 {
				i = end
				continue
			}
			switch {
			case b == '>' && i > 0 && (s[i-1] == '-' || s[i-1] == '='):
				t.gap = gapArrow
			case b == ',':
				t.gap = gapComma
			case b == ':' || b == '=':
				t.gap = gapValue
			case isOpening(b) || b == '"' || b == '\'':
				t.gap = gapOpen
			case b != '-':
				t.gap = gapSpace
			}
			sign := b == '#' || b == '~' || isMaskAt(s, i+1) && (b == '.' || b == '-' || b == '+')
			if !sign {
				t.mark(b)
			}
			i++
		}
	}
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
	if j < len(s) && isOpening(s[j]) {
		if end := t.closing(s, j); end > 0 {
			in := s[j+1 : end-1]
			if isObject(in) || s[j] == '{' && masked || s[j] != '(' && isUpper(w[0]) && bytes.IndexByte(in, ' ') > 0 {
				t.put(s[i:end], value, false)
				return end
			}
		}
	}
	switch {
	case masked:
		t.put(w, value, false)
	case isConstant(w) || (string(w) == "no" || string(w) == "unknown") && isAfter(byteAt(s, j)) && byteAt(s, j) != ' ':
		t.put(w, value, true)
	case digits && !wellKnownWords.has(string(w)):
		t.put(w, value, true) // a code: the masking left it
	default:
		t.put(w, unknownWord, false)
		if byteAt(s, j) == '(' && !isUpper(w[0]) && !t.full {
			t.words[t.n-1].call = true
		}
	}
	return j
}

// group takes what is in the brackets at i as one word, if it is a list, an object or a name of some words, and returns
// the end, or 0.
func (t *tokens) group(s []byte, i int) int {
	if s[i] != '[' && s[i] != '{' && (s[i] != '(' || t.gap != gapValue) {
		return 0
	}
	end := t.closing(s, i)
	if end == 0 {
		return 0
	}
	in, kind := s[i+1:end-1], value
	switch {
	case isList(in), s[i] == '{' && isObject(in):
	case s[i] == '[' && isLabel(in):
		if !bytes.Contains(in, []byte(Mask)) {
			kind = titleWord
		}
	default:
		return 0
	}
	t.mark(s[i])
	t.gap = gapOpen
	t.put(in, kind, false)
	t.mark(s[end-1])
	return end
}

// closing is statement.closing in a part of the head.
func (t *tokens) closing(s []byte, i int) int {
	in := statement{head: s, left: t.st.left}
	end := in.closing(i)
	t.st.left = in.left
	return end
}

// isList reports whether what is in brackets is a list, maybe an empty one: words or values with commas between them.
func isList(s []byte) bool {
	items, words := 1, 0
	for i, b := range s {
		switch {
		case b == ',' || b == ';':
			items++
		case b == ' ' && i > 0 && s[i-1] != ',' && s[i-1] != ';':
			words++
		}
	}
	return len(bytes.TrimSpace(s)) == 0 || items > 1 && words <= 2*items
}

// isObject reports whether what is in brackets after a name is the fields of an object.
func isObject(s []byte) bool { return bytes.ContainsAny(s, "=:") && !bytes.HasPrefix(s, []byte(":")) }

// isLabel reports whether what is in brackets is a name of some words, with capitals or a value.
func isLabel(s []byte) bool {
	words := 1
	for i, b := range s {
		switch b {
		case ' ':
			words++
			if i+1 < len(s) && isLower(s[i+1]) {
				return false
			}
		case ':', '[', '(', '"', '=':
			return false
		}
	}
	return words > 1 && words <= 4
}

// loneValue returns the end of a value at i that is no word, or 0: a path of dots, or nothing in parentheses.
func loneValue(s []byte, i int) int {
	if s[i] == '(' {
		end := bytes.IndexByte(s[i:min(len(s), i+len("(unset)"))], ')')
		if end > 1 && isNothing(s[i+1:i+end]) {
			return i + end + 1
		}
		return 0
	}
	j := i
	for j < len(s) && j < i+2 && bytes.IndexByte([]byte("./~*"), s[j]) >= 0 {
		j++
	}
	if j == i || i == 0 || !isBefore(s[i-1]) && bytes.IndexByte([]byte("=:'"), s[i-1]) < 0 || !isAfter(byteAt(s, j)) {
		return 0
	}
	return j
}

// findStates finds states by where they stand: the words around an arrow, those after from and to, and what follows a
// word such as state.
func (t *tokens) findStates() {
	for i := 1; i < t.n; i++ {
		w, before := &t.words[i], &t.words[i-1]
		switch {
		case w.gap == gapArrow:
			if w.kind != value && before.kind != value {
				before.beState()
				w.beState()
			}
		case i+2 < t.n && string(before.text) == "from" && string(t.words[i+1].text) == "to" && w.looksLike(&t.words[i+2]):
			w.beState()
			t.words[i+2].beState()
		case w.kind == unknownWord && isDecidingKey(before.text) && bytes.IndexByte(w.text, '.') < 0 &&
			(w.gap == gapValue || w.gap == gapOpen || isCapitals(w.text)):
			w.beState()
		}
	}
}

// fold makes one value of a list without brackets, which ends the line, and one name of words with capitals.
func (t *tokens) fold() {
	n := 0
	for i := 0; i < t.n; i++ {
		w := t.words[i]
		j := i + 1
		for w.gap == gapValue && j < t.n && t.words[j].gap == gapComma && t.words[j].kind != fixedWord {
			j++
		}
		switch {
		case j > i+1 && w.kind != fixedWord && j == t.n:
			w = term{text: w.text, hash: valueHash, kind: value, marks: w.marks, gap: w.gap}
			i = j - 1
		case i > 0 && w.isCapitalised():
			for i+1 < t.n && t.words[i+1].isCapitalised() && t.words[i+1].gap == gapSpace && t.words[i+1].marks == 0 {
				i++
				next := &t.words[i]
				w.text = w.text[:len(w.text)+1+len(next.text)]
				w.hash = place(w.hash, 0) ^ next.hash
				w.kind, w.decides = titleWord, w.decides || next.decides
			}
		}
		t.words[n] = w
		n++
	}
	t.n = n
}

// looksLike reports whether two words may be states of one thing.
func (w *term) looksLike(o *term) bool {
	return isCapitals(w.text) == isCapitals(o.text) && isTitle(w.text) == isTitle(o.text) &&
		isQualified(w.text) == isQualified(o.text) && !isWord(o.text, states)
}

func (w *term) beState() {
	if w.kind == unknownWord {
		w.kind, w.decides = stateWord, true
	}
}

// key returns the hash of all that is not word i, and of where i is. A name that stands in several places is left out
// of them all.
func (t *tokens) key(i int) uint64 {
	w := &t.words[i]
	sum := t.sum - place(w.hash, i)
	if w.kind != value {
		for j := range t.n {
			if j != i && t.words[j].hash == w.hash {
				sum += place(sameHash, j) - place(w.hash, j)
			}
		}
	}
	return place(sum, i) | 1 // 0 is an empty slot
}

// replace puts w in the place of word i.
func (t *tokens) replace(i int, w term) {
	old := &t.words[i]
	if old.anchor {
		t.anchors--
	}
	if w.anchor {
		t.anchors++
	}
	t.sum += place(w.hash, i) - place(old.hash, i)
	*old = w
}

func isMaskAt(s []byte, i int) bool { return bytes.HasPrefix(s[i:], []byte(Mask)) }

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
