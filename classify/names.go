package classify

import "strings"

// names gives strings numbers, so that they can be part of a small key. It
// never forgets one; beyond its bounds, new strings get no number.
type names struct {
	numbers map[string]uint32
	texts   []string
	limit   int
	last    string // the one asked for last, which mostly is the next one too
	lastN   uint32
}

// maxNameBytes bounds the length of a string that gets a number.
const maxNameBytes = 256

// newNames returns a table of at most limit strings, besides the empty one,
// whose number is 0.
func newNames(limit int) names {
	return names{numbers: map[string]uint32{"": 0}, texts: []string{""}, limit: limit + 1}
}

// number returns the number of s. It copies s if it keeps it.
func (n *names) number(s string) (uint32, bool) {
	if s == n.last {
		return n.lastN, true
	}
	num, ok := n.numbers[s]
	if !ok {
		if len(n.texts) == n.limit || len(s) > maxNameBytes {
			return 0, false
		}
		num = uint32(len(n.texts))
		s = strings.Clone(s)
		n.texts = append(n.texts, s)
		n.numbers[s] = num
	}
	n.last, n.lastN = n.texts[num], num
	return num, true
}

func (n *names) held() int { return len(n.texts) - 1 }
