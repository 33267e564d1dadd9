package rimworld

import (
	"strings"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/begins"
)

// An upload by HugsLib puts a header before the log: when it was made, the mods with their assemblies, the Harmony
// patches, the machine. These are the beginnings of its lines; the header ends with the line UploadEnd.
const (
	UploadStart   = "Log uploaded on "
	UploadMods    = "Loaded mods:"
	UploadPatches = "Active Harmony patches:"
	UploadHarmony = "Harmony versions present:"
	UploadEnd     = "Log file contents:"
	UploadTrimmed = "(log trimmed to " // below the lines of a log that was too long, without a line end

	NoAssemblies = "(no assemblies)" // in the list of mods, for a mod without any
)

// IsPatched reports whether line is a line of the header's list of Harmony patches. The methods may be called anything,
// after exceptions too:
//
//	Pawn.Kill: PRE: SomeMod.Kill_Patch.Prefix post: [800]Other.Guard.RethrowException
func IsPatched(line string) bool {
	method, patches, ok := strings.Cut(line, ": ")
	return ok && !strings.Contains(method, " ") &&
		begins.Any(patches, "PRE: ", "post: ", "TRANS: ", "FINAL: ", "(no patches)")
}

// Machine reads the part of the header about the machine, line by line, before its text is cut:
//
//	Platform information:
//	CPU: Some CPU 3700
//	OS: Windows 10  (10.0.0) 64bit
//	Memory: 16384 MB
type Machine struct {
	within bool
	found  format.Facts // since Take was called last
}

// Line looks at a line of a header that is not blank.
func (m *Machine) Line(line string) {
	if !m.within {
		m.within = strings.HasPrefix(line, "Platform information:")
		return
	}
	name, value, _ := strings.Cut(line, ": ")
	facts := map[string]*string{"CPU": &m.found.CPU, "OS": &m.found.System, "Memory": &m.found.Memory}
	if m.within = facts[name] != nil; m.within {
		format.Learn(facts[name], value)
	}
}

// Text looks at the text of a header that was not read line by line.
func (m *Machine) Text(text string) {
	*m = Machine{}
	for line := range strings.SplitSeq(text, "\n") {
		m.Line(line)
	}
}

// Take returns the facts since it was called last; nil for none.
func (m *Machine) Take() *format.Facts {
	if m.found == (format.Facts{}) {
		return nil
	}
	found := m.found
	m.found = format.Facts{}
	return &found
}
