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

// Machine learns from a line of the header about the machine, which is below the first of these, and returns the facts,
// nil above it:
//
//	Platform information:
//	CPU: Some CPU 3700
//	OS: Windows 10  (10.0.0) 64bit
//	Memory: 16384 MB
func Machine(f *format.Facts, line string) *format.Facts {
	name, value, _ := strings.Cut(line, ":")
	switch {
	case name == "Platform information":
		return &format.Facts{}
	case f == nil:
	case name == "CPU":
		format.Learn(&f.CPU, value)
	case name == "OS":
		format.Learn(&f.System, value)
	case name == "Memory":
		format.Learn(&f.Memory, value)
	}
	return f
}
