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
	var small [3 * 65]int
	rows := small[:]
	if 3*n > len(small) {
		rows = make([]int, 3*n)
	}
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

// Nearest returns the name that was likely meant by a word that is none of them:
// the one with the fewest letters added, left out, changed or swapped, at most a
// third of them, or else the only one that begins with the word; "" for none.
func Nearest(word string, names []string) string {
	word = strings.ToLower(word)
	best, least := "", max(1, len(word)/3)+1
	for _, name := range names {
		if d := Distance(word, strings.ToLower(name), least); d < least {
			best, least = name, d
		}
	}
	if best != "" || word == "" {
		return best
	}
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(name), word) {
			if best != "" {
				return ""
			}
			best = name
		}
	}
	return best
}
