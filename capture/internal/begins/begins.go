// Package begins reads beginnings: of lines, and of logs, where a program names itself with its version.
package begins

import (
	"slices"
	"strings"

	"github.com/heedlog/heed/capture/format"
)

// Any reports whether a line begins with one of some texts.
func Any(line string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(line, text) })
}

// Has reports whether a line contains one of some texts.
func Has(line string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(line, text) })
}

// Versions are the versions that the programs of a family write.
type Versions []Version

// Version is a version after a text, in any line.
type Version struct {
	text, name string // right before it, and of the program
	of         func(f *format.Facts) *string
}

// Game returns the version of a game.
func Game(text, name string) Version {
	return Version{text, name, func(f *format.Facts) *string { return &f.Game }}
}

// Loader returns the version of a loader of mods.
func Loader(text, name string) Version {
	return Version{text, name, func(f *format.Facts) *string { return &f.Loader }}
}

// Engine returns the version of an engine.
func Engine(text, name string) Version {
	return Version{text, name, func(f *format.Facts) *string { return &f.Engine }}
}

// Learn learns the versions in a line, unless f is nil, and reports whether it has any.
func (v Versions) Learn(f *format.Facts, line string) (found bool) {
	for i := range v {
		version := format.Word(line, v[i].text)
		if !format.IsLongVersion(version) {
			continue
		}
		found = true
		if f != nil {
			format.Learn(v[i].of(f), v[i].name+" "+version)
		}
	}
	return found
}

// Facts learns the versions in a line.
func (v Versions) Facts(f *format.Facts, line string) { v.Learn(f, line) }

// Detect returns a function by which a line with a version is a banner, and a line with one of the forms a form.
func (v Versions) Detect(forms ...string) func(line string) format.Evidence {
	return func(line string) format.Evidence {
		return Evidence(v.Learn(nil, line), Has(line, forms...))
	}
}

// Evidence returns the evidence in a line that is a banner, or has a form of the family.
func Evidence(isBanner, hasForm bool) format.Evidence {
	switch {
	case isBanner:
		return format.Banner
	case hasForm:
		return format.Form
	}
	return format.None
}
