package gabp

import (
	"path"
	"slices"
)

// Fits reports whether f asks for a tool. A nil filter asks for all.
func (f *ToolFilter) Fits(t *Tool) bool {
	if f == nil {
		return true
	}
	if len(f.Tags) > 0 && !slices.ContainsFunc(f.Tags, func(tag string) bool { return slices.Contains(t.Tags, tag) }) {
		return false
	}
	return FitsGlob(f.NamePattern, t.Name)
}

// FitsGlob reports whether a name fits a glob of the protocol, in which "*" stands for a part of
// a segment. Every name fits an empty one, and none one that is malformed.
func FitsGlob(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
