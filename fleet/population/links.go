package population

import (
	"fmt"
	"slices"

	"github.com/heedlog/heed/signature"
)

// maxLinked bounds the signatures of groups with several.
const maxLinked = 4 << 20

// Links has which signatures are one group: each leads to the least of its group. A signature that is alone is not
// listed.
type Links map[signature.ID]signature.ID

// Root returns the signature that names the group of another in the population.
func (l Links) Root(id signature.ID) signature.ID {
	for {
		up, ok := l[id]
		if !ok || up == id {
			return id
		}
		id = up
	}
}

// Observe takes in which signatures the groups of a log have.
func (l Links) Observe(log *Log) {
	for i := range log.Groups {
		for _, id := range log.Groups[i].Signatures[1:] {
			l.join(log.Groups[i].Signatures[0], id)
		}
	}
}

func (l Links) join(a, b signature.ID) {
	a, b = l.find(a), l.find(b)
	l[max(a, b)] = min(a, b)
}

// find is Root, and shortens the way there.
func (l Links) find(id signature.ID) signature.ID {
	root := l.Root(id)
	for id != root {
		up := l[id]
		l[id] = root
		id = up
	}
	return root
}

// Merge takes in other links. Which signatures are one does not depend on the order.
func (l Links) Merge(other Links) error {
	for id, up := range other {
		l.join(id, up)
	}
	if len(l) > maxLinked {
		return fmt.Errorf("groups have more than %d signatures: split the population", maxLinked)
	}
	return nil
}

// roots returns the groups of a log in the population, in order, by their index in the log.
func (l Links) roots(log *Log) map[signature.ID][]int {
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
