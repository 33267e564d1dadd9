package signature

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unsafe"
)

// DigitsVary reports whether message, a line with digits, keeps its key, without a stack,
// if any of its digits becomes another. False negatives occur, and DigitsVary overwrites
// scratch: it returns false if scratch is shorter than message. It costs about four keys
// and does not allocate.
//
// Masking treats all digits the same, except in words that are never masked, in numbers
// that begin with 0 and in the first digit of a status, 1 to 5. So one trial for each kind
// of digit covers all digits, unless such a word may result.
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

var digitPattern = regexp.MustCompile(`[0-9]`)

// digitWords returns the words with digits, with 0 in place of each digit: digits that vary may spell one of them.
func digitWords(lists ...[]string) (words [][]byte) {
	for _, w := range slices.Concat(lists...) {
		zeros := digitPattern.ReplaceAll([]byte(w), []byte("0"))
		if digitPattern.MatchString(w) && !slices.ContainsFunc(words, func(o []byte) bool { return bytes.Equal(o, zeros) }) {
			words = append(words, zeros)
		}
	}
	return words
}
