package capture

import "bytes"

// symbolsStart opens the list of modules that Unity on Windows prints when it
// walks a native stack for the first time: in a crash report, but also in a run
// that goes on.
const symbolsStart = "SymInit: Symbol-SearchPath: "

// isSymbolsLine reports whether b belongs to that list: the system's version,
// or a module with the source of its symbols.
func isSymbolsLine(b []byte) bool {
	return hasPrefix(b, "OS-Version: ") || bytes.Contains(b, []byte(", SymType: '"))
}
