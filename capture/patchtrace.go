package capture

import "bytes"

// The game reports a failed XML patch as a bracketed trace of operations:
//
//	[Some Mod - Start of stack trace]
//	Verse.PatchOperationAdd(xpath="…"): Failed to find a node with the given xpath
//	Verse.PatchOperationSequence: Error in the operation at position=1
//	[End of stack trace]
//	The top operation is the one that failed, the ones below it are the parents
//	Source file: C:\…\Patches\Some.xml
const (
	patchTraceStart = "Start of stack trace]"
	patchTraceEnd   = "[End of stack trace]"
)

func isPatchTraceStart(b []byte) bool {
	return b[0] == '[' && bytes.HasSuffix(trimRight(b), []byte(patchTraceStart))
}

func isPatchTraceEnd(b []byte) bool { return hasPrefix(b, patchTraceEnd) }

// leavesPatchTrace reports whether b, below the first line of a trace, shows that
// the trace has lost its end: something else is being reported.
func leavesPatchTrace(b []byte) bool {
	if isPatchTraceEnd(b) {
		return false
	}
	n, _ := exceptionType(b)
	return n > 0 || startsRecord(b)
}
