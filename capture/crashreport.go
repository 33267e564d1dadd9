package capture

import (
	"bytes"

	"github.com/heedlog/heed/capture/internal/crash"
)

// A crash report is a file of its own, which another program writes when a game dies: Unity's crash handler on
// Windows (error.log in the crash folder), or the system on macOS (.crash, and .ips as text or as JSON). Its records
// are the text above the cause, as context; the crash, of level fatal, from its cause to the end of the trace of
// the thread that crashed; and the rest, once more as context: modules, memory, the traces of other threads.

// reportPart is where in the record of a crash a line of its report lies.
type reportPart uint8

const (
	reportText    reportPart = iota // the cause and the text about it
	reportMachine                   // registers, code, memory, and threads before the crashed thread
	reportTrace                     // of the thread that crashed
)

// isReport reports whether b, the latest line, is the cause of a crash in the report of one: among the first lines, or
// below a head that only such a report has.
func (e *evidence) isReport(b []byte) bool {
	const nearTop, deepest = 3, 400
	near, head := e.lines <= nearTop, e.reportHead
	switch {
	case e.notReport || e.lines > deepest:
	case crash.IsCause(text(b)), crash.IsJSONCause(text(b)):
		e.notReport = true
		return head || near && crash.IsCause(text(b))
	case near:
		e.reportHead = head || crash.IsHead(text(b))
	default:
		e.notReport = !head
	}
	return false
}

// joinsCrashReport decides about a line below the cause of a crash.
func (a *assembly) joinsCrashReport(b []byte) verdict {
	if crashed, ok := crash.ThreadTitle(text(b)); ok {
		switch {
		case crashed:
			a.crash = reportTrace
		case a.crash == reportTrace:
			return apart
		default:
			a.crash = reportMachine
		}
		return verdict{partNone, evidenceBlock}
	}
	switch {
	case crash.Leaves(text(b)), is(b, ofCause):
		return apart
	case crash.IsEnd(text(b)):
		a.sealed = true
	case a.crash == reportText:
		a.reason = max(a.reason, crash.TextReason(text(b)))
		return verdict{partMessage, evidenceBlock}
	case a.crash == reportTrace && isReportFrame(b):
		if a.frames++; a.frames == 1 {
			a.reason = max(a.reason, crash.FrameReason(text(b)))
		}
		return verdict{partStack, evidenceBlock}
	}
	return verdict{partNone, evidenceBlock}
}

// isReportFrame reports whether b is a frame in a crash report: one of native code, of managed code, or of macOS:
//
//	3   UnityPlayer.dylib             	0x0000000104b1c2e3 some_function + 51
func isReportFrame(b []byte) bool {
	if isDigit(b[0]) && b[0] != '0' || b[0] == '0' && len(b) > 1 && b[1] != 'x' {
		return bytes.Contains(b, []byte("0x"))
	}
	return isNativeFrame(b) || is(b, ofFrame)
}

// isCrashFrame reports whether b, in the crash of a log, is a frame of the thread that crashed. Debuggers
// print all threads; their text about the others stays in the message.
func (a *assembly) isCrashFrame(b []byte) bool {
	if crashed, ok := crash.DebuggedThread(text(b)); ok {
		a.crash = reportMachine
		if crashed {
			a.crash = reportTrace
		}
		return false
	}
	if a.crash == reportMachine || !isNativeFrame(b) && !is(b, ofFrame) {
		return false
	}
	if !a.reasoned {
		a.reason, a.reasoned = crash.NativeReason(text(b), text(a.message))
	}
	return true
}

// joinsAround decides about a line of a crash report that is not about the crash itself: everything up to a crash, to
// the end of the report, and to the log of a game.
func (a *assembly) joinsAround(b []byte, layout Layout) verdict {
	switch {
	case is(b, ofCause|ofBanner|ofLife), layout == layoutCrash && crash.IsJSONCause(text(b)):
		return apart
	case crash.IsEnd(text(b)):
		a.sealed = true
	}
	return verdict{partMessage, evidenceBlock}
}
