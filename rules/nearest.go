package rules

import (
	"sort"
	"strings"

	texts "github.com/heedlog/heed/internal/text"
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
		d := texts.Distance(folded, name, bestDist)
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

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
