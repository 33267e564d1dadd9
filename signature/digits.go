package signature

import (
	"bytes"
	"slices"
	"strings"
	"unsafe"
)

// DigitsVary reports whether message, a line with digits in it whose key without a stack
// is key, keeps its key whatever digits stand in place of those. It may say no where
// that is so, and does where scratch, which it overwrites, is shorter than message. It
// costs some four keys and does not allocate.
//
// Of a digit, masking knows that it is one, but for words that are never masked, numbers
// that begin with 0 and the first digit of a status, 1 to 5. So what holds for one digit of
// each kind alone holds for all of them, unless such a word may come about.
func (n *Normalizer) DigitsVary(message string, key Key, scratch []byte) bool {
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
		if !digits || n.Key(unsafe.String(unsafe.SliceData(text), len(text)), "") != key {
			return false
		}
	}
	return !slices.ContainsFunc(n.digitWords, func(w []byte) bool { return bytes.Contains(text, w) })
}

// digitWords returns the words with digits, with 0 in place of each: whatever digits vary, one of them may come about.
func digitWords(lists ...[]string) (words [][]byte) {
	for _, list := range lists {
		for _, w := range list {
			zeros, digits := []byte(w), false
			for i, b := range zeros {
				if classes[b]&digit != 0 {
					zeros[i], digits = '0', true
				}
			}
			if digits && !slices.ContainsFunc(words, func(o []byte) bool { return bytes.Equal(o, zeros) }) {
				words = append(words, zeros)
			}
		}
	}
	return words
}
