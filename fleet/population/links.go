package population

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/heedlog/heed/signature"
)

// maxLinked bounds the signatures of groups with several, and the names of mods.
const maxLinked = 4 << 20

// Links has what names the same in different logs.
type Links struct {
	// Groups has which signatures are one group: each leads to the least of its group. A signature that is alone is not
	// listed.
	Groups map[signature.ID]signature.ID `json:"groups,omitempty"`
	// Mods has the package ids of mods by their names, "" for names that several have: some logs list names only.
	Mods map[string]string `json:"mods,omitempty"`
	// Shorter has the keys of logs that are the beginning of another of the same player.
	Shorter map[string]bool `json:"shorter,omitempty"`
}

// Root returns the signature that names the group of another in the population.
func (l *Links) Root(id signature.ID) signature.ID {
	for {
		up, ok := l.Groups[id]
		if !ok || up == id {
			return id
		}
		id = up
	}
}

// mod returns the id of a mod that a log may know by its name only.
func (l *Links) mod(id string) string { return cmp.Or(l.Mods[id], id) }

// Observe takes in which signatures the groups of a log have, and which ids its mods.
func (l *Links) Observe(log *Log) {
	for _, m := range log.Mods {
		if m.Name != "" {
			l.name(m.Name, m.ID)
		}
	}
	for i := range log.Groups {
		for _, id := range log.Groups[i].Signatures[1:] {
			l.join(log.Groups[i].Signatures[0], id)
		}
	}
}

func (l *Links) name(name, id string) {
	if known, ok := l.Mods[name]; ok && known != id {
		id = ""
	}
	if l.Mods == nil {
		l.Mods = map[string]string{}
	}
	l.Mods[name] = id
}

func (l *Links) join(a, b signature.ID) {
	if l.Groups == nil {
		l.Groups = map[signature.ID]signature.ID{}
	}
	a, b = l.find(a), l.find(b)
	l.Groups[max(a, b)] = min(a, b)
}

// find is Root, and shortens the way there.
func (l *Links) find(id signature.ID) signature.ID {
	root := l.Root(id)
	for id != root {
		up := l.Groups[id]
		l.Groups[id] = root
		id = up
	}
	return root
}

// Merge takes in other links. What is one does not depend on the order.
func (l *Links) Merge(other *Links) error {
	for id, up := range other.Groups {
		l.join(id, up)
	}
	for name, id := range other.Mods {
		l.name(name, id)
	}
	if l.Shorter == nil {
		l.Shorter = map[string]bool{}
	}
	maps.Copy(l.Shorter, other.Shorter)
	if len(l.Groups) > maxLinked || len(l.Mods) > maxLinked {
		return fmt.Errorf("groups have more than %d signatures, or mods as many names: split the population", maxLinked)
	}
	return nil
}

// roots returns the groups of a log in the population, in order, by their index in the log.
func (l *Links) roots(log *Log) map[signature.ID][]int {
	byRoot := map[signature.ID][]int{}
	for i := range log.Groups {
		root := l.Root(log.Groups[i].Signatures[0])
		byRoot[root] = append(byRoot[root], i)
	}
	return byRoot
}

// least returns the n least of all ids, each once and in order.
func least(n int, ids []signature.ID) []signature.ID {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids[:min(n, len(ids))]
}
