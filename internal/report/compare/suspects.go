package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
)

// The weights of evidence for a mod as the cause of a new group. Evidence in the log and changes of the mod are
// independent, so that they add up; of each kind the strongest counts. The code that threw weighs 60 in package blame.
const (
	scoreNamed = 30 // the text has its name, package id or an assembly
	scoreFirst = 15 // blamed in the new logs, and in the old ones for nothing
)

var changeScores = map[string]int{added: 40, updated: 30, removed: 15, moved: 10}

// maxSuspects bounds the mods that are named for one group: half a screen; maxRanked those over all groups.
const (
	maxSuspects = 8
	maxRanked   = 20
)

// changes returns the mods of both lists. If a side has no list, it returns the mods of the new one without
// changes.
func (c *Collector) changes() (changes []ModChange) {
	before, after := c.listed(Old), c.listed(New)
	if before != nil && after != nil {
		changes = modChanges(before, after)
	} else {
		for _, m := range after {
			changes = append(changes, changeOf(&m, unchanged))
		}
	}
	names := c.blamedNames()
	for i := range changes {
		// A list may have the package id alone of a mod that is blamed by its name.
		if m := &changes[i]; m.Name == "" || m.Name == m.PackageID {
			m.Name = cmp.Or(names[blame.Key(m.PackageID)], names[blame.Key(lastPart(m.PackageID))], m.Name)
		}
	}
	return changes
}

// shown returns the mods that differ, as documents have them.
func (c *Collector) shown(changes []ModChange) []ModChange {
	out := []ModChange{}
	for _, m := range changes {
		if m.Change != unchanged {
			for _, text := range []*string{&m.Name, &m.PackageID, &m.OldVersion, &m.Version} {
				*text = c.mod(*text)
			}
			out = append(out, m)
		}
	}
	return out
}

// blamedNames returns the names that blame gives to mods, by the keys of their package ids, or of the names.
func (c *Collector) blamedNames() map[string]string {
	names := map[string]string{}
	for _, t := range c.texts {
		for _, s := range slices.Concat(t.tally[Old].suspects, t.tally[New].suspects) {
			if s.Mod != s.PackageID {
				key := blame.Key(cmp.Or(s.PackageID, s.Mod))
				names[key] = max(names[key], s.Mod) // the order of texts decides nothing
			}
		}
	}
	return names
}

// Suspects compares the two sides and finds the suspects for the groups that are new or more frequent, and
// urgent.
func (c *Collector) Suspects() *Suspects {
	d := c.Diff()
	changes := c.changes()
	finder := blame.New(c.config.Rules.GameCode())
	out := &Suspects{
		SchemaVersion: d.SchemaVersion, Old: d.Old, New: d.New, OldMods: c.listed(Old) != nil, NewMods: c.listed(New) != nil,
		Mods: c.shown(changes), Suspects: []RankedMod{}, Groups: []SuspectGroup{},
	}
	known := map[string]bool{} // blamed on the old side
	for _, t := range c.texts {
		for _, s := range t.tally[Old].suspects {
			known[blame.Key(s.Mod)] = true
		}
	}
	ranked, rows := map[[2]string]int{}, slices.Concat(d.Added, d.More)
	slices.SortStableFunc(rows, func(a, b Group) int { return cmp.Compare(b.Disposition, a.Disposition) })
	for _, row := range rows {
		if !row.Disposition.Urgent() {
			continue
		}
		g := SuspectGroup{Group: row, Suspects: suspectsOf(row.group, changes, known, finder.Passes)}
		g.Group.MayBeUnseen = false // sides are shown for themselves
		for j := range g.Suspects {
			s := &g.Suspects[j]
			s.Name, s.PackageID = c.mod(s.Name), c.mod(s.PackageID)
			for k, e := range s.Evidence {
				s.Evidence[k] = c.safe(e, 0)
			}
		}
		out.rank(&g, ranked)
		if n := len(g.Suspects); n > maxSuspects {
			g.More, g.Suspects = n-maxSuspects, g.Suspects[:maxSuspects]
		}
		out.Groups = append(out.Groups, g)
	}
	slices.SortStableFunc(out.Suspects, func(a, b RankedMod) int {
		return cmp.Or(
			cmp.Compare(min(b.Blocking, 1), min(a.Blocking, 1)), cmp.Compare(min(b.Groups, 1), min(a.Groups, 1)),
			cmp.Compare(b.Score, a.Score), cmp.Compare(b.Entries, a.Entries), cmp.Compare(a.Name, b.Name),
		)
	})
	if n := len(out.Suspects); n > maxRanked {
		out.MoreSuspects, out.Suspects = n-maxRanked, out.Suspects[:maxRanked]
	}
	return out
}

// rank adds the suspects of a group to the list of all. Evidence in the log counts for more than a change of the mod,
// and the blocking groups, which come first, for more than others. Known has the places of mods in the list.
func (d *Suspects) rank(g *SuspectGroup, known map[[2]string]int) {
	blocks := g.Group.Disposition == event.Blocking
	for i := range g.Suspects {
		s := &g.Suspects[i]
		key := [2]string{s.Name, s.PackageID}
		at, ok := known[key]
		if !ok {
			at = len(d.Suspects)
			known[key] = at
			d.Suspects = append(d.Suspects, RankedMod{modSuspect: *s})
		}
		r := &d.Suspects[at]
		counts := blocks || r.Blocking == 0
		if s.Direct && (!r.Direct || counts && s.Score > r.Score) {
			r.modSuspect = *s
		}
		if !s.Direct {
			continue
		}
		r.Groups++
		if blocks {
			r.Blocking++
		}
		if counts {
			r.Entries += s.entries
		}
	}
}

// suspectsOf returns the mods that may be the cause of a group. The name of a mod in its texts is no evidence where it
// passes as a name of the game, its runtime or its loader.
func suspectsOf(g *group, changes []ModChange, known map[string]bool, passes func(name string) bool) []modSuspect {
	named := g.pointing().suspects
	haystacks := make([]string, len(g.texts))
	for i, t := range g.texts {
		haystacks[i] = strings.ToLower(t.template + "\n" + cmp.Or(t.tally[New].sample, t.tally[Old].sample))
	}
	shared := map[string]int{} // assemblies, by how many mods bring them along
	for i := range changes {
		for _, a := range changes[i].assemblies {
			shared[a]++
		}
	}
	out := []modSuspect{}
	blamed := make([]bool, len(named))
	for i := range changes {
		ch := &changes[i]
		s := modSuspect{Name: ch.Name, PackageID: ch.PackageID, Change: ch.Change}
		points := 0
		for j, b := range named {
			if ch.is(b.Mod) || b.PackageID != "" && blame.Key(b.PackageID) == blame.Key(ch.PackageID) {
				blamed[j] = true
				points = max(points, b.Score)
				s.addBlame(&b)
				s.entries = max(s.entries, g.accusing(&b))
			}
		}
		if points < scoreNamed {
			naming := uint64(0) // entries
			for j, text := range haystacks {
				if name := ch.namedIn(text, shared); name != "" && !passes(name) {
					points = scoreNamed
					s.add("the text names %s", name)
					naming += g.texts[j].tally[New].count
				}
			}
			s.entries = max(s.entries, naming)
		}
		switch ch.Change {
		case unchanged:
		case moved:
			s.add("moved in the load order from place %d to %d", ch.OldPlace, ch.Place)
		default:
			s.add("%s", ch.Change)
		}
		if points == 0 && ch.Change != unchanged { // to differ between the lists is no proof
			s.add("nothing in the log points at it")
		}
		s.Direct = points > 0
		if s.Score = points + changeScores[ch.Change]; s.Score > 0 {
			out = append(out, s)
		}
	}
	for j, b := range named {
		if blamed[j] {
			continue
		}
		s := modSuspect{Name: b.Mod, PackageID: b.PackageID, Direct: true, Score: b.Score, entries: g.accusing(&b)}
		s.addBlame(&b)
		if !known[blame.Key(b.Mod)] {
			s.Score += scoreFirst
			s.add("not blamed for anything in the old logs")
		}
		out = append(out, s)
	}
	order := map[bool]int{true: 0, false: 1} // of Direct
	slices.SortStableFunc(out, func(a, b modSuspect) int {
		return cmp.Or(cmp.Compare(order[a.Direct], order[b.Direct]), cmp.Compare(b.Score, a.Score),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.PackageID, b.PackageID))
	})
	return out
}

// accusing counts the entries on the new side whose signatures point at the mod, or all entries if only signatures of
// the old side point at it.
func (g *group) accusing(b *blame.Suspect) (n uint64) {
	for _, t := range g.texts {
		accuses := func(o blame.Suspect) bool { return o.Mod == b.Mod && o.PackageID == b.PackageID }
		if tally := &t.tally[New]; slices.ContainsFunc(tally.suspects, accuses) {
			n += tally.count
		}
	}
	return cmp.Or(n, g.tally[New].count)
}

// addBlame adds the evidence by which b points at the mod.
func (s *modSuspect) addBlame(b *blame.Suspect) {
	for _, e := range b.Evidence {
		s.add("%s", e.Kind.Describe())
	}
}

// add adds a piece of evidence, once.
func (s *modSuspect) add(format string, args ...any) {
	e := fmt.Sprintf(format, args...)
	if !slices.Contains(s.Evidence, e) {
		s.Evidence = append(s.Evidence, e)
	}
}

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

// increasing marks a longest increasing subsequence.
func increasing(values []int) []bool {
	length, previous, longest := make([]int, len(values)), make([]int, len(values)), -1
	for i, v := range values {
		length[i], previous[i] = 1, -1
		for j := range i {
			if values[j] < v && length[j] >= length[i] {
				length[i], previous[i] = length[j]+1, j
			}
		}
		if longest < 0 || length[i] > length[longest] {
			longest = i
		}
	}
	marked := make([]bool, len(values))
	for i := longest; i >= 0; i = previous[i] {
		marked[i] = true
	}
	return marked
}

// is reports whether a name that blame gave is a name of the mod.
func (m *ModChange) is(name string) bool {
	key := blame.Key(name)
	own := append([]string{m.Name, m.PackageID, lastPart(m.PackageID)}, m.assemblies...)
	return key != "" && slices.ContainsFunc(own, func(own string) bool { return blame.Key(own) == key })
}

// lastPart returns the part of a package id that is most like the name of its mod.
func lastPart(id string) string { return id[strings.LastIndexByte(id, '.')+1:] }

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
