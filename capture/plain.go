package capture

import (
	"bytes"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
)

// plainLevel returns the level that b, the text of a record of no known program,
// gives itself where loggers write it. So "Error messages are on" has none.
func plainLevel(b []byte) (event.Level, bool) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	h := logline.Parse(text(b))
	return h.Level, h.Leveled
}

// joinsPlain is joins for text of no known program.
func (a *assembly) joinsPlain(ln *line) verdict {
	b := ln.text
	switch {
	case a.split == evidenceJSON:
	case ln.isFrame():
		return joined(partStack, evidenceFrame)
	case a.blanks > 0:
	case b[0] == ' ' || b[0] == '\t':
		switch {
		case isElapsed(b):
		case !isOmission(b):
			return joined(partMessage, evidenceIndent)
		case len(a.stack) > 0:
			return joined(partStack, evidenceFrame)
		}
	case isExceptionDetail(b), a.joinsThrown(ln):
		return joined(partMessage, evidenceForm)
	}
	return apart()
}

// joinsThrown reports whether ln, a line at the margin, is what was thrown, below a
// line that reports a fault; what that was caused by, below its trace; the heading of
// a trace; or what ends a trace of Python's.
func (a *assembly) joinsThrown(ln *line) bool {
	b := ln.text
	switch b[0] {
	case 'C':
		if hasPrefix(b, "Caused by: ") && len(a.stack) > 0 {
			return true
		}
	case 'S':
		if isTraceTitle(b) {
			return a.reportsFault()
		}
	case 'T':
		if hasPrefix(b, traceback) && a.lines == 1 && a.reportsFault() {
			a.traceback = true
			return true
		}
	}
	if a.traceback {
		a.traceback = false
		return a.lines > 1 && isThrown(b, 0)
	}
	return a.lines == 1 && !ln.opensPlainly() && isThrown(b, 1) && a.reportsFault()
}

// traceback heads a trace of Python's, whose innermost frame is the last, and what was
// thrown below that.
const traceback = "Traceback (most recent call last)"

// isTraceTitle reports whether b is a line that announces a trace.
func isTraceTitle(b []byte) bool {
	switch string(trimRight(b)) {
	case "Stack trace:", "Stack Trace:", "Stacktrace:", "StackTrace:":
		return true
	}
	return false
}

// reportsFault reports whether the first line of the record reports that something went
// wrong, by its level or else by its words.
func (a *assembly) reportsFault() bool {
	head := a.head()
	if l, ok := plainLevel(head); ok {
		return l >= event.LevelWarning
	}
	return speaksOfFault(head)
}

// isThrown reports whether b is the type of what was thrown, with at least so many
// dots in it, and nothing else or its message: "java.lang.Error: stuck", "KeyError: 'x'".
func isThrown(b []byte, dots int) bool {
	n := 0
	for n < len(b) && (typeBytes[b[n]] || b[n] == '$') {
		if b[n] == '.' {
			dots--
		}
		n++
	}
	if n == 0 || dots > 0 || isDigit(b[0]) || b[n-1] == '.' {
		return false
	}
	rest := b[n:]
	return blank(rest) || hasPrefix(rest, ": ") || hasPrefix(rest, " --->")
}

// isElapsed reports whether b, an indented line, begins with the seconds since the
// start, which some programs write flush right, and so is a line of its own.
func isElapsed(b []byte) bool {
	t := trimLeft(b)
	n := 0
	for n < len(t) && isDigit(t[n]) {
		n++
	}
	return n > 0 && len(t) > n+4 && t[n] == '.' && isDigit(t[n+1]) && isDigit(t[n+2]) && isDigit(t[n+3]) && t[n+4] == ' '
}

// isOmission reports whether b, an indented line, stands for the rest of a trace of
// Java's: "... 5 more".
func isOmission(b []byte) bool {
	t := trimRight(trimLeft(b))
	return hasPrefix(t, "... ") && hasSuffix(t, " more")
}
