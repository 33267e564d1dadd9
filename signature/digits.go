package signature

import (
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
	return !n.digitWords.in(text)
}

// digitWords are the words with digits that are never masked, with 0 in place of each,
// by the byte before the first 0, or by '0' where they begin with it.
type digitWords [256][]string

func newDigitWords(lists ...[]string) *digitWords {
	var t digitWords
	for _, list := range lists {
		for _, w := range list {
			zeros := []byte(w)
			for i, b := range zeros {
				if classes[b]&digit != 0 {
					zeros[i] = '0'
				}
			}
			switch i := strings.IndexByte(string(zeros), '0'); i {
			case -1:
			case 0:
				t['0'] = append(t['0'], string(zeros))
			default:
				t[zeros[i-1]] = append(t[zeros[i-1]], string(zeros))
			}
		}
	}
	return &t
}

// in reports whether one of the words is in text, which has 0 in place of each digit.
func (t *digitWords) in(text []byte) bool {
	for i, b := range text {
		if b != '0' {
			continue
		}
		for _, w := range t['0'] {
			if len(text)-i >= len(w) && string(text[i:i+len(w)]) == w {
				return true
			}
		}
		if i == 0 || text[i-1] == '0' {
			continue
		}
		for _, w := range t[text[i-1]] {
			if from := i - strings.IndexByte(w, '0'); from >= 0 && len(text)-from >= len(w) &&
				string(text[from:from+len(w)]) == w {
				return true
			}
		}
	}
	return false
}
