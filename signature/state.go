package signature

import (
	"errors"
	"fmt"
	"slices"
)

// GrouperState is the state of a [Grouper] in a form that JSON keeps.
type GrouperState struct {
	Signatures     int    // GrouperConfig.Signatures
	Columns        int    // GrouperConfig.Columns
	ColumnsEvicted uint64 // GrouperStats.ColumnsEvicted
	Unlearned      uint64 // GrouperStats.Unlearned
	Tick           uint32
	Merges         []GroupMerge `json:",omitempty"`
	Known          []groupNode  `json:",omitempty"`
	Groups         []uint32     `json:",omitempty"` // the first node of the group of each node
	Watched        []column     `json:",omitempty"`
	Outlines       []outline    `json:",omitempty"` // the oldest first
}

// State copies the state, which is valid until the next call. The same knowledge gives the same state.
func (g *Grouper) State() *GrouperState {
	s, o := &g.copied, &g.outlines
	*s = GrouperState{
		Signatures: cap(g.nodes), Columns: len(g.cols), ColumnsEvicted: g.stats.ColumnsEvicted, Unlearned: g.stats.Unlearned,
		Tick: g.tick, Merges: append(s.Merges[:0], g.merges...), Known: g.nodes, Groups: append(s.Groups[:0], g.groups...),
		Watched: s.Watched[:0], Outlines: append(append(s.Outlines[:0], o.kept[o.next:]...), o.kept[:o.next]...),
	}
	for i, n := range s.Groups {
		s.Groups[i] = s.Groups[n]
	}
	for i := range g.cols {
		if g.cols[i].Key != 0 {
			s.Watched = append(s.Watched, g.cols[i])
		}
	}
	return s
}

// errDamaged is the error of a state in which no Grouper can be.
var errDamaged = errors.New("signature: state: it is not possible: the snapshot is damaged")

// RestoreGrouper returns a Grouper with the bounds of cfg that has learned the content of s. It copies s.
// It is an error if s was made with larger bounds, or cannot be the state of any Grouper.
func RestoreGrouper(cfg GrouperConfig, s *GrouperState) (*Grouper, error) {
	g, err := NewGrouper(cfg)
	if err != nil {
		return nil, err
	}
	if s.Signatures > cap(g.nodes) || s.Columns > len(g.cols) {
		return nil, fmt.Errorf("signature: state: it was made with GrouperConfig.Signatures %d and "+
			"GrouperConfig.Columns %d: want %d and %d at most", s.Signatures, s.Columns, cap(g.nodes), len(g.cols))
	}
	if !s.isPossible(cap(g.nodes)) {
		return nil, errDamaged
	}
	g.stats.ColumnsEvicted, g.stats.Unlearned, g.tick = s.ColumnsEvicted, s.Unlearned, s.Tick
	g.merges = append(g.merges, s.Merges...)
	for i := range s.Known {
		n := &s.Known[i]
		if _, known := g.find(n.sig()); known {
			return nil, errDamaged
		}
		g.insert(n.sig(), n.Said)
		g.nodes[i] = *n
		if g.groups[i] = s.Groups[i]; g.groups[i] != uint32(i) {
			g.unions++
		}
	}
	for i := range s.Watched {
		c := &s.Watched[i]
		set := g.set(c.Key)
		free := slices.Index(g.keys[set:][:columnWays], 0)
		if free < 0 || g.lookup(c.Key) != nil {
			return nil, errDamaged
		}
		g.cols[set+free], g.keys[set+free] = *c, c.Key
	}
	for _, o := range s.Outlines {
		g.outlines.keep(&o, g.leaveNames(&o))
	}
	return g, nil
}

// isPossible reports whether a Grouper that knows so many signatures can be in state s. Entries that are there twice
// are not looked for.
func (s *GrouperState) isPossible(signatures int) bool {
	known := uint32(len(s.Known))
	for i, n := range s.Groups {
		if i >= len(s.Known) || n > uint32(i) || s.Groups[n] != n || s.Known[i].Next > uint32(i) {
			return false
		}
	}
	return len(s.Known) <= signatures && len(s.Groups) == len(s.Known) && len(s.Merges) <= signatures &&
		len(s.Outlines) <= min(signatures, outlinesKept) &&
		!slices.ContainsFunc(s.Outlines, func(o outline) bool { return o.Node-1 >= known || o.N > outlineWords }) &&
		!slices.ContainsFunc(s.Watched, func(c column) bool { return !c.isPossible(known) })
}

func (c *column) isPossible(known uint32) bool {
	shown := c.Nodes[:min(c.N, groupValues)]
	if c.Forms > 0 {
		shown = c.Nodes[:max(len(shown), 1)]
	}
	return c.Key&1 == 1 && c.N <= groupValues && c.Score <= enough && c.Value <= known && c.Forms <= floodForms &&
		(!c.Open || c.N > 0 || c.Forms == floodForms) &&
		!slices.Contains(shown, 0) && slices.Max(c.Nodes[:]) <= known
}
