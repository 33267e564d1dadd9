package signature

import (
	"slices"
	"strings"
	"unsafe"
)

// DigitsVary reports whether message, a line with digits of a source, keeps its key, without a stack,
// if any of its digits becomes another. False negatives occur, and DigitsVary overwrites
// scratch: it returns false if scratch is shorter than message. It costs about four keys
// and does not allocate.
//
// Masking treats all digits the same, except in words that are never masked, in numbers
// that begin with 0 and in the first digit of a status, 1 to 5. So one trial for each kind
// of digit covers all digits, unless such a word may result.
func (n *Normalizer) DigitsVary(message, source string, key Key, scratch []byte) bool {
	if len(message) > len(scratch) || strings.IndexByte(message, '\n') >= 0 {
		return false
	}
	text := scratch[:copy(scratch, message)]
	digits := false
	for _, d := range [...]byte{'9', '1', '0'} {
		for i, b := range text {
			if classes[b]&digit != 0 {
				text[i], digits = d, true
			}
		}
		// Key keeps nothing of its text, so it need not be a copy.
		if !digits || n.Key(unsafe.String(unsafe.SliceData(text), len(text)), "").From(source) != key {
			return false
		}
	}
	zeros := unsafe.String(unsafe.SliceData(text), len(text))
	return !slices.ContainsFunc(n.digitWords, func(w string) bool { return strings.Contains(zeros, w) })
}

var zero = strings.NewReplacer("1", "0", "2", "0", "3", "0", "4", "0", "5", "0", "6", "0", "7", "0", "8", "0", "9", "0")

// digitWords returns the words with digits, with 0 in place of each digit: digits that vary may spell one of them.
func digitWords(lists ...[]string) (words []string) {
	for _, w := range slices.Concat(lists...) {
		if w = zero.Replace(w); strings.Contains(w, "0") && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}
