package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Nearest returns the name that was likely meant by a word that is none of them:
// the one with the fewest letters added, left out, changed or swapped, at most a
// third of them, or else the only one that begins with the word; "" for none.
func Nearest(word string, names []string) string {
	word = strings.ToLower(word)
	best, least := "", max(1, len(word)/3)+1
	for _, name := range names {
		if d := distance(word, strings.ToLower(name)); d < least {
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

// maxBeside bounds how many names of a folder are looked at for one that was meant.
const maxBeside = 4096

// Missing says of a file that is not there what it is called that was likely meant, as
// the end of a message: a file or folder beside it; "" for none.
func Missing(name string) string {
	f, err := os.Open(filepath.Dir(name))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()      // only read from
	names, _ := f.Readdirnames(maxBeside) // what cannot be read is not suggested
	slices.Sort(names)
	base := filepath.Base(name)
	names = slices.DeleteFunc(names, func(n string) bool { return n == base }) // a link that leads nowhere
	near := Nearest(base, names)
	if near == "" {
		return ""
	}
	return "; did you mean " + strings.TrimSuffix(name, base) + near + "?"
}

// distance counts the edits between two words (optimal string alignment). It
// compares bytes, since names are ASCII.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
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
		before, last, row = last, row, before
	}
	return last[len(b)]
}
