package population

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed/signature"
)

// The bounds of links: more than a hundred thousand logs of one game have. Full links take some 160 MB in a worker, and
// 500 MB in the worker that resolves them.
const (
	maxEdges = 4 << 20
	maxNames = 1 << 18 // of mods
)

// Edge is that two signatures are one group in a game: the hash of the game, the least signature of the group in a log,
// and another.
type Edge [3]uint64

func (e Edge) hash() uint64 {
	var key [24]byte
	for i, v := range e {
		binary.LittleEndian.PutUint64(key[8*i:], v)
	}
	return xxhash.Sum64(key[:])
}

func (e Edge) compare(o Edge) int {
	return cmp.Or(cmp.Compare(e.hash(), o.hash()), slices.Compare(e[:], o[:]))
}

// Links has the names in logs that belong together. Full tables keep the entries with the least hashes, as [Tally]
// does, and one more by which the others are counted. See [Links.Resolve].
type Links struct {
	// Edges are in order up to sorted, and each once in that.
	Edges []Edge `json:"edges,omitempty"`
	// Mods has the package ids of mods by their games and names: some logs list names only.
	Mods map[string]Owners `json:"mods,omitempty"`
	// K is how many players must list an id with a name for the id to replace the name.
	K int `json:"k,omitempty"`
	// Shorter has the keys of logs that are the beginning of another of the same player.
	Shorter map[string]bool `json:"shorter,omitempty"`

	sorted int
}

// Owners are the ids of the mods of one name, of at most 16 those with the least hashes, and of each K of the players
// whose logs list it so, those with the least pseudonyms.
type Owners map[string]Distinct

const maxOwners = 16

// Observe adds which signatures the groups of a log have, and which ids its mods.
func (l *Links) Observe(log *Log) {
	for _, m := range log.Mods {
		if m.Name != "" {
			l.name(of(log.Game, m.Name), Owners{m.ID: Distinct{uint64(log.Player)}})
		}
	}
	game := xxhash.Sum64String(log.Game)
	for i := range log.Groups {
		ids := log.Groups[i].Signatures
		for _, id := range ids[1:] {
			l.Edges = append(l.Edges, Edge{game, uint64(ids[0]), uint64(id)})
		}
	}
	l.trim(maxEdges, maxNames)
}

func (l *Links) name(name string, owners Owners) {
	if l.Mods == nil {
		l.Mods = map[string]Owners{}
	}
	known := l.Mods[name]
	if known == nil {
		known = Owners{}
		l.Mods[name] = known
	}
	for id, players := range owners {
		all := known[id]
		all.add(players)
		known[id] = all[:min(len(all), l.K)]
	}
	if len(known) > maxOwners {
		ids := slices.SortedFunc(maps.Keys(known), compareByHash)
		for _, id := range ids[maxOwners:] {
			delete(known, id)
		}
	}
}

// Merge adds other links. The kept entries do not depend on the order.
func (l *Links) Merge(other *Links) { l.merge(other, maxEdges, maxNames) }

func (l *Links) merge(other *Links, edges, names int) {
	l.Edges = append(l.Edges, other.Edges...)
	l.K = max(l.K, other.K)
	for name, owners := range other.Mods {
		l.name(name, owners)
	}
	if l.Shorter == nil {
		l.Shorter = map[string]bool{}
	}
	maps.Copy(l.Shorter, other.Shorter)
	l.trim(edges, names)
}

// trim bounds both tables. It works once they have grown by a half, or doubled, so that each addition costs little.
func (l *Links) trim(edges, names int) {
	if len(l.Edges) > l.sorted+l.sorted/2+1024 {
		l.settleEdges(edges)
	}
	if len(l.Mods) > 2*names {
		l.settleNames(names)
	}
}

func (l *Links) settleEdges(limit int) {
	slices.SortFunc(l.Edges, Edge.compare)
	l.Edges = slices.Compact(l.Edges)
	l.Edges = l.Edges[:min(len(l.Edges), limit+1)]
	l.sorted = len(l.Edges)
}

// settleNames returns the names that are left, in the order of their hashes.
func (l *Links) settleNames(limit int) []string {
	names := slices.SortedFunc(maps.Keys(l.Mods), compareByHash)
	kept := min(len(names), limit+1)
	for _, name := range names[kept:] {
		delete(l.Mods, name)
	}
	return names[:kept]
}

// Names resolves which names are one in the whole population.
type Names struct {
	// Signatures that are of a group with several: the hash of a game and a signature of it, in order.
	Signatures [][2]uint64 `json:"signatures,omitempty"`
	// Roots are the indices of the least signatures of their groups.
	Roots   []uint32          `json:"roots,omitempty"`
	Mods    map[string]string `json:"mods,omitempty"`
	Shorter map[string]bool   `json:"shorter,omitempty"`
}

// Lost is how many links were beyond the bounds, estimated by hashes to a thousandth or so.
type Lost struct {
	Edges uint64 `json:"edges,omitempty"`
	Names uint64 `json:"names,omitempty"`
}

// Resolve returns the names from links, and the number of lost links.
func (l *Links) Resolve() (*Names, Lost) { return l.resolve(maxEdges, maxNames) }

func (l *Links) resolve(edges, names int) (*Names, Lost) {
	var lost Lost
	l.settleEdges(edges)
	if n := len(l.Edges); n > edges {
		lost.Edges = max(estimate(edges, l.Edges[edges].hash()), uint64(n)) - uint64(edges)
		l.Edges = l.Edges[:edges]
	}
	if kept := l.settleNames(names); len(kept) > names {
		last := kept[names]
		lost.Names = max(estimate(names, xxhash.Sum64String(last)), uint64(names)+1) - uint64(names)
		delete(l.Mods, last)
	}
	n := &Names{Signatures: make([][2]uint64, 0, 2*len(l.Edges)), Mods: map[string]string{}, Shorter: l.Shorter}
	for name, owners := range l.Mods {
		maps.DeleteFunc(owners, func(_ string, players Distinct) bool { return len(players) < l.K })
		for id := range owners {
			if len(owners) == 1 { // else it may be any
				n.Mods[name] = id
			}
		}
	}
	for _, e := range l.Edges {
		n.Signatures = append(n.Signatures, [2]uint64{e[0], e[1]}, [2]uint64{e[0], e[2]})
	}
	slices.SortFunc(n.Signatures, compareSignatures)
	n.Signatures = slices.Compact(n.Signatures)
	n.Roots = make([]uint32, len(n.Signatures))
	for i := range n.Roots {
		n.Roots[i] = uint32(i)
	}
	find := func(i uint32) uint32 {
		for n.Roots[i] != i {
			n.Roots[i] = n.Roots[n.Roots[i]]
			i = n.Roots[i]
		}
		return i
	}
	for _, e := range l.Edges {
		a, _ := slices.BinarySearchFunc(n.Signatures, [2]uint64{e[0], e[1]}, compareSignatures)
		b, _ := slices.BinarySearchFunc(n.Signatures, [2]uint64{e[0], e[2]}, compareSignatures)
		x, y := find(uint32(a)), find(uint32(b))
		n.Roots[max(x, y)] = min(x, y)
	}
	for i := range n.Roots {
		n.Roots[i] = find(uint32(i))
	}
	return n, lost
}

func compareSignatures(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) }

// Root returns the least signature of the group of another in a game.
func (n *Names) Root(game string, id signature.ID) signature.ID {
	i, ok := slices.BinarySearchFunc(n.Signatures, [2]uint64{xxhash.Sum64String(game), uint64(id)}, compareSignatures)
	if !ok {
		return id
	}
	return signature.ID(n.Signatures[n.Roots[i]][1])
}

// mod returns the id of a mod of a game that a log may know by its name only.
func (n *Names) mod(game, id string) string { return cmp.Or(n.Mods[of(game, id)], id) }

// roots returns the groups of a log in the population by their index in the log.
func (n *Names) roots(log *Log) map[signature.ID][]int {
	byRoot := map[signature.ID][]int{}
	for i := range log.Groups {
		root := n.Root(log.Game, log.Groups[i].Signatures[0])
		byRoot[root] = append(byRoot[root], i)
	}
	return byRoot
}

// least returns the n least of all, each once and in order.
func least[T ~uint64](n int, all []T) []T {
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(n, len(all))]
}
