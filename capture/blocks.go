package capture

import (
	"bytes"

	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
)

// isCrashStart reports whether b opens the report of a native crash. Such a
// report is the last thing a run writes, so it lasts to the end of the input, to
// the banner of another run, or to a line that shows the process to be alive:
//
//	Crash!!!                                              Windows
//	A crash has been intercepted by the crash handler. …   Windows, where another process reports
//	========== OUTPUTTING STACK TRACE ==================   Windows, where a copy begins; one T before 2018
//	Got a SIGSEGV while executing native code. …          Mono, Linux and macOS; "a UNKNOWN" on Windows
//	Native stacktrace:                                    Mono before 2018
//	* Assertion at mini.c:42, condition `…' not met       Mono, which aborts
//	Caught fatal signal - signo:11 code:1 …               Unity, Linux
//	Receiving unhandled NULL exception                    Unity, macOS
func isCrashStart(b []byte) bool {
	return unity.IsSignal(text(b)) || crashStarts.begin(b)
}

var crashStarts = linesOf(func(l *unity.Lines) []string { return l.Crash })

// isCrashMark reports whether b begins with the words of the handler on Windows, which a message may have too.
func isCrashMark(b []byte) bool { return hasPrefix(b, unity.CrashMark) }

// goesOnCrash reports whether b, below a crash mark, is a line of a crash report.
func goesOnCrash(b []byte) bool {
	return hasPrefix(b, unity.SymbolsStart) || isCrashStart(b) && !isCrashMark(b) || isNativeFrame(b)
}

// isSignOfLife reports whether b is a line that a process which has crashed does
// not write. It bounds the effect of a message that reads like the beginning of a
// crash report.
func isSignOfLife(b []byte) bool { return signsOfLife.begin(b) || unity.IsUnloading(text(b)) }

var signsOfLife = linesOf(func(l *unity.Lines) []string { return l.Alive })

// isTraceHead reports whether message, all that a record holds besides frames,
// is the head under which Mono prints the managed trace before the line by which
// a crash is known. A mod's message may be the same, so alone it is no crash.
func isTraceHead(message []byte) bool { return string(trimRight(message)) == "Stacktrace:" }

// isRule reports whether b is a line drawn with one character, as frames the
// headings of Mono's crash report.
func isRule(b []byte) bool {
	b = trimRight(b)
	return len(b) >= 20 && (b[0] == '=' || b[0] == '-') && bytes.Count(b, b[:1]) == len(b)
}

// isMemoryLine reports whether b belongs to those statistics: the name of an
// allocator at the margin, figures indented under it, or what unity.MemoryEnd has above them.
func isMemoryLine(b []byte) bool { return b[0] == ' ' || b[0] == '\t' || memoryLines.begin(b) }

var memoryLines = linesOf(func(l *unity.Lines) []string { return l.Memory })

func isPatchTraceStart(b []byte) bool {
	return b[0] == '[' && bytes.HasSuffix(trimRight(b), []byte(rimworld.PatchTraceStart))
}

func isPatchTraceEnd(b []byte) bool { return hasPrefix(b, rimworld.PatchTraceEnd) }

// leavesPatchTrace reports whether b, below the first line of a trace, shows that
// the trace has lost its end: something else is being reported.
func leavesPatchTrace(b []byte) bool {
	if isPatchTraceEnd(b) {
		return false
	}
	n, _ := exceptionType(b)
	return n > 0 || startsRecord(b)
}
