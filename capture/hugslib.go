package capture

import (
	"bytes"
	"strings"

	"github.com/heedlog/heed/capture/format"
)

// An upload by HugsLib puts a header before the log: when it was made, the
// mods with their assemblies, the Harmony patches, the machine. The header ends with
// the line contextEnd.
const (
	contextStart   = "Log uploaded on "
	contextMods    = "Loaded mods:"
	contextPatches = "Active Harmony patches:"
	contextHarmony = "Harmony versions present:"
	contextMachine = "Platform information:"
	contextEnd     = "Log file contents:"

	noAssemblies = "(no assemblies)" // what the list says of a mod without any
)

// isContextStart reports whether b, the first line of the input that is not
// blank, may open the header of an upload.
func isContextStart(b []byte) bool { return hasPrefix(b, contextStart) || hasPrefix(b, contextMods) }

func isContextEnd(b []byte) bool { return hasPrefix(b, contextEnd) }

// opensContext reports whether b, below contextStart, shows that a header has
// begun. A log may say anything, that it was uploaded too: the one line is no
// evidence that what follows is not the log itself.
func opensContext(b []byte) bool { return hasPrefix(b, contextMods) || isContextEnd(b) }

// leavesContext reports whether b, within a header, shows that the log itself has
// begun, with a banner or without, as in a copy of which contextEnd was lost. What
// a header holds is not looked at, so in doubt it is a log; only a mod
// may be called anything.
func leavesContext(b []byte) bool {
	if isBanner(b) {
		return true
	}
	_, _, ref := parseRef(b)
	logged := ref || isFooter(b) || isFrame(b) || namesException(b) || startsRecord(b)
	if b[0] == '[' && hasSuffix(trimRight(b), ")") {
		logged = ref // the name of a mod may begin like a tag, in lists of any age
	}
	if n, _ := exceptionType(b); n == 0 && !logged {
		return false
	}
	return !isListed(b) && !isPatched(b) && !hasPrefix(b, contextHarmony)
}

// isListed reports whether b is a line of the header's list of mods. The name of
// an assembly has no colon, as what follows an exception's type may.
func isListed(b []byte) bool {
	var m ListedMod
	ok := m.parse(text(b))
	for _, a := range m.Assemblies {
		ok = ok && strings.IndexByte(a, ':') < 0
	}
	return ok && (len(m.Assemblies) > 0 || hasSuffix(trimRight(b), noAssemblies))
}

// isPatched reports whether b is a line of the header's list of Harmony patches. The
// methods may be called anything, after exceptions too:
//
//	Pawn.Kill: PRE: SomeMod.Kill_Patch.Prefix post: [800]Other.Guard.RethrowException
func isPatched(b []byte) bool {
	method, patches, ok := bytes.Cut(b, []byte(": "))
	if !ok || bytes.IndexByte(method, ' ') >= 0 {
		return false
	}
	return hasAnyPrefix(patches, []string{"PRE: ", "post: ", "TRANS: ", "FINAL: ", "(no patches)"})
}

// machineLines reads what the header of an upload has about the machine, line by
// line and at its end, whatever is kept of its text:
//
//	Platform information:
//	CPU: Some CPU 3700
//	OS: Windows 10  (10.0.0) 64bit
//	Memory: 16384 MB
type machineLines struct {
	within bool
	found  Facts // since take was called last
}

// line looks at a line of a header that is not blank.
func (m *machineLines) line(line string) {
	if !m.within {
		m.within = strings.HasPrefix(line, contextMachine)
		return
	}
	name, value, _ := strings.Cut(line, ": ")
	switch name {
	case "CPU":
		format.Learn(&m.found.CPU, value)
	case "OS":
		format.Learn(&m.found.System, value)
	case "Memory":
		format.Learn(&m.found.Memory, value)
	default:
		m.within = false
	}
}

// message looks at the text of a header that was not read line by line.
func (m *machineLines) message(message string) {
	*m = machineLines{}
	for line := range strings.SplitSeq(message, "\n") {
		m.line(line)
	}
}

// take gives rec what was read since it was called last.
func (m *machineLines) take(rec *Record) {
	if found := m.found; found != (Facts{}) {
		rec.machine, m.found = &found, Facts{}
	}
}
