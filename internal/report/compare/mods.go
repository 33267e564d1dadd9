package compare

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/blame"
)

// key returns the key of a mod in all lists: its package id or its name, in small letters.
func key(m *capture.ListedMod) string { return strings.ToLower(cmp.Or(m.PackageID, m.Name)) }

// How a mod differs between two lists.
const (
	unchanged = ""
	added     = "added"
	updated   = "updated"
	removed   = "removed"
	moved     = "moved" // in the load order, past others that both lists have
)

// modChanges returns the mods of both lists, by the names of the new one, or of the old one if it was removed: first
// the new list in order, then the removed mods. As few as possible count as moved: the mods outside of the longest run
// of mods that are in the same order in both. Whether a mod was updated is known only if both lists have versions.
func modChanges(before, after []capture.ListedMod) []ModChange {
	versioned := func(m capture.ListedMod) bool { return m.Versions != "" }
	versions := slices.ContainsFunc(before, versioned) && slices.ContainsFunc(after, versioned)
	old := make(map[string]int, len(before))
	for i := range before {
		old[key(&before[i])] = i
	}
	var out []ModChange
	var common []int // places in the old list, in the new order
	var where []int  // their index in out
	seen := make(map[string]bool, len(after))
	for i := range after {
		m := &after[i]
		if seen[key(m)] { // a list that names a mod twice
			continue
		}
		seen[key(m)] = true
		c := changeOf(m, added)
		c.Version, c.Place = m.Versions, i+1
		if o, ok := old[key(m)]; ok {
			c.Change, c.OldVersion, c.OldPlace = unchanged, before[o].Versions, o+1
			if versions && before[o].Versions != m.Versions {
				c.Change = updated
			}
			common, where = append(common, o), append(where, len(out))
		}
		out = append(out, c)
	}
	stay := increasing(common)
	for i, at := range where {
		if !stay[i] && out[at].Change == unchanged {
			out[at].Change = moved
		}
	}
	for i := range before {
		if m := &before[i]; !seen[key(m)] {
			seen[key(m)] = true
			c := changeOf(m, removed)
			c.OldVersion, c.OldPlace = m.Versions, i+1
			out = append(out, c)
		}
	}
	return out
}

func changeOf(m *capture.ListedMod, change string) ModChange {
	return ModChange{Name: m.Title(), PackageID: m.PackageID, Change: change, assemblies: m.Assemblies}
}

// increasing marks a longest increasing subsequence, in n log n.
func increasing(values []int) []bool {
	var tails []int // by length: the index of the smallest last value
	previous := make([]int, len(values))
	for i, v := range values {
		n, _ := slices.BinarySearchFunc(tails, v, func(t, v int) int { return cmp.Compare(values[t], v) })
		previous[i] = -1
		if n > 0 {
			previous[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	marked := make([]bool, len(values))
	if n := len(tails); n > 0 {
		for i := tails[n-1]; i >= 0; i = previous[i] {
			marked[i] = true
		}
	}
	return marked
}

// is reports whether a name that blame gave is a name of the mod.
func (m *ModChange) is(name string) bool {
	last := m.PackageID[strings.LastIndexByte(m.PackageID, '.')+1:]
	key := blame.Key(name)
	return key != "" && slices.ContainsFunc(append([]string{m.Name, m.PackageID, last}, m.assemblies...),
		func(own string) bool { return blame.Key(own) == key })
}

// minName is the shortest name that is looked for in a text: shorter ones are
// words of other things.
const minName = 5

// namedIn returns the name of the mod that a text, in small letters, holds as whole
// words. An assembly that several mods bring along is the name of none.
func (m *ModChange) namedIn(text string, shared map[string]int) string {
	own := slices.DeleteFunc(slices.Clone(m.assemblies), func(a string) bool { return shared[a] > 1 })
	for _, name := range append([]string{m.PackageID, m.Name}, own...) {
		if utf8.RuneCountInString(name) >= minName && holdsWord(text, strings.ToLower(name)) {
			return name
		}
	}
	return ""
}

// holdsWord reports whether text has word without a letter or digit before or after it.
func holdsWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		at := from + i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		if !wordRune(before) && !wordRune(after) {
			return true
		}
		from = at + 1 // the next may begin within this one
	}
}

func wordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}
