package capture

import (
	"strings"

	"github.com/heedlog/heed/capture/internal/rimworld"
)

// isContextStart reports whether b, the first line of the input that is not
// blank, may open the header of an upload.
func isContextStart(b []byte) bool {
	return hasPrefix(b, rimworld.UploadStart) || hasPrefix(b, rimworld.UploadMods)
}

func isContextEnd(b []byte) bool { return hasPrefix(b, rimworld.UploadEnd) }

// opensContext reports whether b, below rimworld.UploadStart, shows that a header has
// begun. A log may say anything, that it was uploaded too: the one line is no
// evidence that the lines below are not the log itself.
func opensContext(b []byte) bool { return hasPrefix(b, rimworld.UploadMods) || isContextEnd(b) }

// leavesContext reports whether ln, within a header, shows that the log itself has
// begun, with a banner or without, as in a copy that lost rimworld.UploadEnd. The
// contents of a header are not looked at, so in doubt it is a log; only a mod
// may be called anything.
func leavesContext(ln *line) bool {
	b := ln.text
	switch {
	case rimworld.IsPatched(text(b)): // as most lines of a header
		return false
	case ln.is(ofBanner):
		return true
	}
	logged := ln.is(ofRef | ofFooter | ofFrame | ofNaming | ownRecord)
	if b[0] == '[' && hasSuffix(trimRight(b), ")") {
		logged = ln.is(ofRef) // the name of a mod may begin like a tag, in lists of any age
	}
	return (logged || ln.is(ofThrown)) && !isListed(b) && !hasPrefix(b, rimworld.UploadHarmony)
}

// isListed reports whether b is a line of the header's list of mods. The name of
// an assembly has no colon, unlike the text after an exception's type.
func isListed(b []byte) bool {
	var m ListedMod
	ok := m.parse(text(b))
	for _, a := range m.Assemblies {
		ok = ok && strings.IndexByte(a, ':') < 0
	}
	return ok && (len(m.Assemblies) > 0 || hasSuffix(trimRight(b), rimworld.NoAssemblies))
}
