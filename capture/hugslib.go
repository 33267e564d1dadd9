package capture

// An upload by HugsLib puts a header before the log: when it was made, the
// mods with their assemblies, the Harmony patches. The header ends with the
// line contextEnd.
const (
	contextStart   = "Log uploaded on "
	contextMods    = "Loaded mods:"
	contextPatches = "Active Harmony patches:"
	contextEnd     = "Log file contents:"
)

// isContextStart reports whether b, the first line of the input that is not
// blank, opens the header of an upload.
func isContextStart(b []byte) bool { return hasPrefix(b, contextStart) || hasPrefix(b, contextMods) }

func isContextEnd(b []byte) bool { return hasPrefix(b, contextEnd) }
