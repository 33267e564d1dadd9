package population

import (
	"cmp"
	"maps"
	"slices"

	"github.com/heedlog/heed/signature"
)

// maxSetGroups bounds the groups that a log is compared by.
const maxSetGroups = 256

// Set counts the logs of a game that have the same urgent groups.
type Set struct {
	Game    string         `json:"game,omitempty"`
	Groups  []signature.ID `json:"groups,omitempty"` // in order
	Logs    uint64         `json:"logs"`
	Players Distinct       `json:"players"`
	States  Tally          `json:"states"`
}

// NewSet returns the set of one log.
func NewSet(log *Log, names *Names) *Set {
	s := &Set{Game: log.Game, Logs: 1, Players: Distinct{uint64(log.Player)}, States: Tally{log.State: 1}}
	s.Groups = slices.SortedFunc(maps.Keys(names.roots(log)), func(a, b signature.ID) int {
		return compareByHash(a.String(), b.String())
	})
	s.Groups = s.Groups[:min(len(s.Groups), maxSetGroups)]
	slices.Sort(s.Groups)
	return s
}

// Key is the same for the logs of a set.
func (s *Set) Key() string {
	key := []byte(of(s.Game, ""))
	for _, id := range s.Groups {
		key = append(append(key, id.String()...), ' ')
	}
	return string(key)
}

// Merge adds another of the same game and groups.
func (s *Set) Merge(o *Set) {
	s.Game, s.Groups = o.Game, o.Groups
	s.Logs += o.Logs
	s.Players.add(o.Players)
	s.States.add(o.States, maxRules)
}

// Compare orders sets: the set of most logs first.
func (s *Set) Compare(o *Set) int {
	return cmp.Or(cmp.Compare(o.Logs, s.Logs), cmp.Compare(len(o.Groups), len(s.Groups)),
		slices.Compare(s.Groups, o.Groups), cmp.Compare(s.Game, o.Game))
}

// cluster are sets of a game that are like the first of them.
type cluster struct {
	Set
	first []signature.ID
	of    map[signature.ID]uint64 // logs, by group
}

// clusters adds each set, the set of most logs first, to the first cluster whose first set is similar. So half of the
// logs of a cluster have some group: each has half of the groups of the first set.
func clusters(sets []*Set) []*cluster {
	var all []*cluster
	for _, s := range sets {
		i := slices.IndexFunc(all, func(c *cluster) bool { return c.Game == s.Game && alike(c.first, s.Groups) })
		if i < 0 {
			i = len(all)
			all = append(all, &cluster{first: s.Groups, of: map[signature.ID]uint64{}})
		}
		c := all[i]
		for _, id := range s.Groups {
			c.of[id] += s.Logs
		}
		groups := append(slices.Clone(c.Groups), s.Groups...)
		c.Merge(s)
		c.Groups = least(len(groups), groups)
	}
	slices.SortFunc(all, func(a, b *cluster) int { return a.Compare(&b.Set) })
	return all
}

// alike reports whether the Jaccard index of two sorted sets is at least a half.
func alike(a, b []signature.ID) bool {
	common := 0
	for _, id := range a {
		if _, both := slices.BinarySearch(b, id); both {
			common++
		}
	}
	return 2*common >= len(a)+len(b)-common
}
