package bridge

import (
	"path"
	"slices"

	"github.com/heedlog/heed/gabp"
)

// toolFilter chooses tools: those that have one of Tags, and whose name fits
// the glob NamePattern.
type toolFilter struct {
	Tags        []string `json:"tags"`
	NamePattern string   `json:"namePattern"`
}

// fits reports whether f chooses a tool. A nil filter chooses all.
func (f *toolFilter) fits(t *gabp.Tool) bool {
	if f == nil {
		return true
	}
	if len(f.Tags) > 0 && !slices.ContainsFunc(f.Tags, func(tag string) bool { return slices.Contains(t.Tags, tag) }) {
		return false
	}
	return fitsGlob(f.NamePattern, t.Name)
}

// fitsGlob reports whether a name fits a glob of the protocol, in which "*" stands for a part of
// a segment. Every name fits an empty one, and none one that is malformed.
func fitsGlob(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
