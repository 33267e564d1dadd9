package rules

import (
	"sort"
	"strings"
)

// nearest returns the one of names that s was most likely meant to be, or ""
// when none is near: within a third of its length in edits, at least one, at
// most four, or beginning with it. Of several equally near ones it returns the first in the order of
// names.
func nearest(s string, names []string) string {
	if s == "" || len(s) > 64 {
		return ""
	}
	limit := min(max((len(s)+2)/3, 1), 4)
	best, bestDist := "", limit+1
	folded := strings.ToLower(s)
	for _, n := range names {
		if n == "" || n == s || len(n) > 64 {
			continue
		}
		name := strings.ToLower(n)
		d := distance(folded, name, bestDist)
		if len(s) >= 3 && strings.HasPrefix(name, folded) {
			d = min(d, 1) // a word cut short, such as "warn"
		}
		if d < bestDist {
			best, bestDist = n, d
		}
	}
	return best
}

// maxListed is how many names a hint lists at most.
const maxListed = 20

// didYouMean returns the hint for a name that is none of names: the nearest
// one, or else, when they are few enough to read, all of them.
func didYouMean(s string, names []string) string {
	if n := nearest(s, names); n != "" {
		return `did you mean "` + n + `"?`
	}
	if len(names) > 0 && len(names) <= maxListed {
		return "known: " + strings.Join(names, ", ")
	}
	return ""
}

// distance returns the number of edits between a and b (insert, delete,
// replace, and swap of two that are adjacent), or any value of at least bound when it
// is not below bound. It works on bytes: names are ASCII.
func distance(a, b string, bound int) int {
	if d := len(a) - len(b); d >= bound || -d >= bound {
		return bound
	}
	var rows [3][66]int
	prev2, prev, cur := rows[0][:len(b)+1], rows[1][:len(b)+1], rows[2][:len(b)+1]
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		low := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, prev2[j-2]+1)
			}
			cur[j] = d
			low = min(low, d)
		}
		if low >= bound {
			return bound
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
