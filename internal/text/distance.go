package text

import "strings"

// distance returns the number of edits between a and b: bytes inserted, deleted
// and replaced, and swaps of adjacent ones (optimal string alignment).
func distance(a, b string) int {
	var before []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// Nearest returns the one of names that word was most likely meant to be, or "" if none is near: within a third of its
// length in edits, at least one, at most four, or beginning with it. Of several equally near ones it returns the first
// in the order of names.
func Nearest(word string, names []string) string {
	if word == "" || len(word) > maxNear {
		return ""
	}
	best, least := "", min(max((len(word)+1)/3, 1), 4)+1
	folded := strings.ToLower(word)
	for _, n := range names {
		if n == "" || n == word || len(n) > maxNear {
			continue
		}
		name := strings.ToLower(n)
		d := distance(folded, name)
		if len(word) >= 3 && strings.HasPrefix(name, folded) {
			d = min(d, 1) // a word cut short, such as "warn"
		}
		if d < least {
			best, least = n, d
		}
	}
	return best
}

// maxNear bounds the bytes of names that are compared.
const maxNear = 64
