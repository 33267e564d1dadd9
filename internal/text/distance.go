package text

import "strings"

// Distance returns the number of edits between a and b: bytes inserted, deleted
// and replaced, and swaps of adjacent ones (optimal string alignment). Where it
// is not below bound, any value of at least bound is returned.
func Distance(a, b string, bound int) int {
	if d := len(a) - len(b); d >= bound || -d >= bound {
		return bound
	}
	n := len(b) + 1
	rows := make([]int, 3*n)
	before, last, row := rows[:n], rows[n:2*n], rows[2*n:3*n]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least >= bound {
			return bound
		}
		before, last, row = last, row, before
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
		d := Distance(folded, name, least)
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
