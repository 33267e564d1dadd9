package coalesce

import "strings"

// maxViewerName bounds the name of a viewer, in bytes.
const maxViewerName = 64

// viewer is somebody who looks at attention and acknowledges it. What it was
// shown is kept with each item, at its index.
type viewer struct {
	name     string
	attached bool
	used     uint64 // when it was heard of last, in calls
}

// viewers are those that are known. The first has no name, and stays: it is the
// host itself, which drains the updates, or the only one there is.
type viewers struct {
	list      []viewer
	calls     uint64
	displaced uint64
}

func newViewers(n int) viewers { return viewers{list: make([]viewer, 1, n)} }

// viewer returns the index of the viewer called name, made where it is not
// known.
func (c *Coalescer) viewer(name string) int {
	if len(name) > maxViewerName {
		name = strings.ToValidUTF8(name[:maxViewerName], "")
	}
	v := &c.viewers
	v.calls++
	for i := range v.list {
		if v.list[i].name == name {
			v.list[i].used = v.calls
			return i
		}
	}
	i := len(v.list)
	if i < cap(v.list) {
		v.list = v.list[:i+1]
	} else {
		if i == 1 {
			return 0 // there is room for nobody else
		}
		i = v.victim()
		v.displaced++
		for k := range c.items {
			it := &c.items[k]
			it.shown[i] = 0
			if it.viewer == i {
				it.covers = it.covers[:0]
			}
		}
	}
	v.list[i] = viewer{name: strings.Clone(name), used: v.calls}
	return i
}

// victim returns the index of the viewer to be displaced.
func (v *viewers) victim() int {
	victim := 1
	for i := 2; i < len(v.list); i++ {
		a, b := &v.list[i], &v.list[victim]
		if a.attached != b.attached && b.attached || a.attached == b.attached && a.used < b.used {
			victim = i
		}
	}
	return victim
}

// Shown notes that a viewer was shown the item called id up to a sequence
// number, by other means than View: an update that was delivered to it. It
// returns false where the item is not known.
func (c *Coalescer) Shown(viewer, id string, upTo uint64) bool {
	it := c.lookup(id)
	if it == nil {
		return false
	}
	v := c.viewer(viewer)
	it.shown[v] = max(it.shown[v], min(upTo, it.latest.seq))
	return true
}

// Detach notes that a viewer has left. What it was shown stays known.
func (c *Coalescer) Detach(viewer string) { c.viewers.list[c.viewer(viewer)].attached = false }
