package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// Nearest returns the name that was likely meant by a word that is none of them:
// the one with the fewest letters added, left out, changed or swapped, at most a
// third of them, or else the only one that begins with the word; "" for none.
func Nearest(word string, names []string) string {
	word = strings.ToLower(word)
	best, least := "", max(1, len(word)/3)+1
	for _, name := range names {
		if d := text.Distance(word, strings.ToLower(name), least); d < least {
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
