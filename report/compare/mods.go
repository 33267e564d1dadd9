package compare

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heedlog/heed/blame"
	"github.com/heedlog/heed/event"
)

// Mod is a mod of a list, in load order.
type Mod struct {
	Name      string
	PackageID string
	Version   string // as the list has it, assemblies with theirs included; "" where unknown

	Assemblies []string // names, without versions
}

// key returns what a mod is recognized by in another list.
func (m *Mod) key() string { return strings.ToLower(cmp.Or(m.PackageID, m.Name)) }

// ModsHash identifies a set of mods and their versions. The order is no part of
// it: it is what players change for no reason at all. A mod that several logs list
// counts once. Of no mods it is 0.
func ModsHash(mods []Mod) uint64 {
	if len(mods) == 0 {
		return 0
	}
	lines := make([]string, len(mods))
	for i := range mods {
		lines[i] = mods[i].key() + "\x00" + mods[i].Version
	}
	slices.Sort(lines)
	h := fnv.New64a()
	for _, l := range slices.Compact(lines) {
		_, _ = fmt.Fprintf(h, "%s\x01", l) // a hash takes everything
	}
	return h.Sum64()
}

// versioned reports whether a list is one that gives versions.
func versioned(mods []Mod) bool {
	return slices.ContainsFunc(mods, func(m Mod) bool { return m.Version != "" })
}

// Change is what became of a mod between two lists.
type Change string

// The changes.
const (
	Unchanged Change = ""
	Added     Change = "added"
	Updated   Change = "updated"
	Removed   Change = "removed"
	Moved     Change = "moved" // in the load order, past others that both lists have
)

// ModChange is one mod of two lists.
type ModChange struct {
	Mod        Mod // of the new list; of the old one where it was removed
	Change     Change
	OldVersion string
	OldPlace   int // in load order, from 1; 0 where it is not in the list
	NewPlace   int
}

// ModChanges returns the mods of both lists: those of the new one in order, then
// those removed. As few as possible count as moved: those outside of the longest
// run of mods that are in the same order in both. Whether a mod was updated is known
// only where both lists give versions.
func ModChanges(before, after []Mod) []ModChange {
	versions := versioned(before) && versioned(after)
	old := make(map[string]int, len(before))
	for i := range before {
		old[before[i].key()] = i
	}
	var out []ModChange
	var common []int // places in the old list, in the new order
	var where []int  // their index in out
	seen := make(map[string]bool, len(after))
	for i := range after {
		key := after[i].key()
		if seen[key] { // a list that names a mod twice
			continue
		}
		seen[key] = true
		c := ModChange{Mod: after[i], Change: Added, NewPlace: i + 1}
		if o, ok := old[key]; ok {
			c.Change, c.OldVersion, c.OldPlace = Unchanged, before[o].Version, o+1
			if versions && before[o].Version != after[i].Version {
				c.Change = Updated
			}
			common, where = append(common, o), append(where, len(out))
		}
		out = append(out, c)
	}
	stay := increasing(common)
	for i, at := range where {
		if !stay[i] && out[at].Change == Unchanged {
			out[at].Change = Moved
		}
	}
	for i := range before {
		if key := before[i].key(); !seen[key] {
			seen[key] = true
			out = append(out, ModChange{Mod: before[i], Change: Removed, OldVersion: before[i].Version, OldPlace: i + 1})
		}
	}
	return out
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
	if len(tails) == 0 {
		return marked
	}
	for i := tails[len(tails)-1]; i >= 0; i = previous[i] {
		marked[i] = true
	}
	return marked
}

// The weights of what speaks for a mod as the cause of a new group. What points at
// it and what changed about it are independent, so that they add up; of each kind
// the strongest counts. What points at a mod by the code that threw weighs 60 in
// package blame.
const (
	scoreNamed = 30 // its name, package id or an assembly stands in the text
	scoreFirst = 15 // blamed in the new logs, and in the old ones for nothing
)

var changeScores = map[Change]int{Added: 40, Updated: 30, Removed: 15, Moved: 10}

// maxSuspects bounds the mods that are named for one group: half a screen.
const maxSuspects = 8

// ModSuspect is a mod that may be the cause of a new group.
type ModSuspect struct {
	Name      string
	PackageID string // "" where no list has the mod
	Change    Change
	Score     int
	Evidence  []string // in words of heed's own, the strongest first
}

// Suspects is a new group with the mods that may be its cause.
type Suspects struct {
	Row      Row
	Suspects []ModSuspect // the likeliest first
	More     int          // that were left out
}

// Investigation is what two sides and their mods say about what is new.
type Investigation struct {
	// Listed says which sides have a list of mods.
	Listed [2]bool

	// Changes are the mods that differ between the lists, where both sides have one.
	Changes []ModChange

	// Groups are those that are new and urgent, or more frequent and urgent, in that
	// order, each by what matters.
	Groups []Suspects
}

// lists reports whether a log of the side has a list of mods.
func (c *Collector) lists(side Side) bool {
	return slices.ContainsFunc(c.runs[side], func(r *Run) bool { return r.hasMods })
}

// modChanges returns the mods that differ between the sides, where both have a list.
func (c *Collector) modChanges() []ModChange {
	if !c.lists(Old) || !c.lists(New) {
		return nil
	}
	return slices.DeleteFunc(ModChanges(c.listed(Old), c.listed(New)), func(m ModChange) bool { return m.Change == Unchanged })
}

// Investigate finds the suspects for the groups of d that are new or more frequent,
// and urgent. d must be of this collector.
func (c *Collector) Investigate(d *Diff) *Investigation {
	out := &Investigation{}
	for side := range c.runs {
		out.Listed[side] = c.lists(Side(side))
	}
	var changes []ModChange
	if out.Listed[Old] && out.Listed[New] {
		changes = ModChanges(c.listed(Old), c.listed(New))
		out.Changes = c.modChanges()
	} else {
		for i, m := range c.listed(New) { // nothing is known of changes, but names are
			changes = append(changes, ModChange{Mod: m, NewPlace: i + 1})
		}
	}
	known := map[string]bool{} // blamed on the old side
	for _, t := range c.texts {
		for _, s := range t.tally[Old].suspects {
			known[nameKey(s.Mod)] = true
		}
	}
	for _, rows := range [][]Row{d.Added, d.More} {
		for i := range rows {
			if rows[i].New.Disposition == event.Ignore {
				continue
			}
			s := Suspects{Row: rows[i], Suspects: suspectsOf(&rows[i], changes, known)}
			if n := len(s.Suspects); n > maxSuspects {
				s.More, s.Suspects = n-maxSuspects, s.Suspects[:maxSuspects]
			}
			out.Groups = append(out.Groups, s)
		}
	}
	return out
}

// suspectsOf returns the mods that may be the cause of a row.
func suspectsOf(row *Row, changes []ModChange, known map[string]bool) []ModSuspect {
	haystack := strings.ToLower(strings.Join(row.Templates, "\n") + "\n" + row.Sample)
	shared := map[string]int{} // assemblies, by how many mods bring them along
	for i := range changes {
		for _, a := range changes[i].Mod.Assemblies {
			shared[a]++
		}
	}
	var out []ModSuspect
	blamed := make([]bool, len(row.Blame))
	for i := range changes {
		ch := &changes[i]
		s := ModSuspect{Name: ch.Mod.Name, PackageID: ch.Mod.PackageID, Change: ch.Change}
		points := 0
		for j, b := range row.Blame {
			if ch.Mod.is(b.Mod) {
				blamed[j] = true
				points = max(points, b.Score)
				s.sayBlame(&b)
			}
		}
		if name := ch.Mod.namedIn(haystack, shared); name != "" && points < scoreNamed {
			points = scoreNamed
			s.say("its text names %s", name)
		}
		switch ch.Change {
		case Added:
			s.say("newly added")
		case Updated:
			s.say("updated")
		case Removed:
			s.say("removed")
		case Moved:
			s.say("moved in the load order from place %d to %d", ch.OldPlace, ch.NewPlace)
		}
		if points == 0 && ch.Change != Unchanged { // to differ between the lists is no proof
			s.say("nothing in the log points at it")
		}
		if s.Score = points + changeScores[ch.Change]; s.Score > 0 {
			out = append(out, s)
		}
	}
	for j, b := range row.Blame {
		if blamed[j] {
			continue
		}
		s := ModSuspect{Name: b.Mod, Score: b.Score}
		s.sayBlame(&b)
		if !known[nameKey(b.Mod)] {
			s.Score += scoreFirst
			s.say("blamed for nothing in the old logs")
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b ModSuspect) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name), cmp.Compare(a.PackageID, b.PackageID))
	})
	return out
}

// sayBlame says by what b points at the mod.
func (s *ModSuspect) sayBlame(b *blame.Suspect) {
	for _, e := range b.Evidence {
		s.say("%s", blameWords[e.Kind])
	}
}

// say adds a piece of evidence, once.
func (s *ModSuspect) say(format string, args ...any) {
	e := fmt.Sprintf(format, args...)
	if !slices.Contains(s.Evidence, e) {
		s.Evidence = append(s.Evidence, e)
	}
}

// blameWords says what a kind of evidence of package blame is.
var blameWords = map[blame.Kind]string{
	blame.Frame:    "its code is on the stack",
	blame.Title:    "it heads the stack trace",
	blame.Path:     "the text has a path of its files",
	blame.Named:    "the text says that it speaks of it",
	blame.Type:     "the text has a type or an assembly of it",
	blame.Tag:      "the text begins with its tag",
	blame.Patch:    "it patches a method on the stack",
	blame.Assembly: "an assembly of it is on the stack",
}

// is reports whether a name that blame gave is that of the mod.
func (m *Mod) is(name string) bool {
	key := nameKey(name)
	if key == "" {
		return false
	}
	if key == nameKey(m.Name) || key == nameKey(m.PackageID) {
		return true
	}
	if i := strings.LastIndexByte(m.PackageID, '.'); i >= 0 && key == nameKey(m.PackageID[i+1:]) {
		return true
	}
	return slices.ContainsFunc(m.Assemblies, func(a string) bool { return key == nameKey(a) })
}

// nameKey folds a name to its letters and digits: "[Some Mod]" is SomeMod.
func nameKey(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// minName is the shortest name that is looked for in a text: shorter ones are
// words of other things.
const minName = 5

// namedIn returns the name of the mod that a text, in small letters, holds as whole
// words. An assembly that several mods bring along is the name of none.
func (m *Mod) namedIn(text string, shared map[string]int) string {
	named := func(name string) bool {
		return utf8.RuneCountInString(name) >= minName && holdsWord(text, strings.ToLower(name))
	}
	for _, name := range []string{m.PackageID, m.Name} {
		if named(name) {
			return name
		}
	}
	for _, name := range m.Assemblies {
		if shared[name] == 1 && named(name) {
			return name
		}
	}
	return ""
}

// holdsWord reports whether text has word with no letter or digit beside it.
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
