package capture

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/heedlog/heed/capture/internal/crash"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/frame"
	"github.com/heedlog/heed/internal/logline"
)

// joinsPlain is joins for text of no known program.
func (a *assembly) joinsPlain(ln *line) verdict {
	b := ln.text
	if a.export {
		return a.joinsExport(b)
	}
	if a.blanks <= maxInnerBlanks {
		if v := a.joinsNested(ln); v.to != partOpen {
			return v
		}
	}
	switch {
	case a.blanks <= maxInnerBlanks && a.thrown && a.blanks > 0 && isTraceTitle(b):
		a.traceback = true
		return verdict{partStack, evidenceFrame}
	case ln.is(ofFrame):
		return verdict{partStack, evidenceFrame}
	case a.joinsDump(ln):
		return verdict{partStack, evidenceFrame}
	case a.blanks <= 2*maxInnerBlanks && a.joinsChained(b):
		return verdict{partMessage, evidenceForm}
	case a.blanks == 1 && a.spaces(ln):
		return a.joinsPlainly(ln)
	case a.blanks == 1 && nodeEnd.Match(b):
		return verdict{partStack, evidenceForm}
	case a.blanks <= maxInnerBlanks && isElapsed(a.message) && (isElapsed(b) || a.reportsFault()):
		if !isElapsed(b) {
			return verdict{partMessage, evidenceForm}
		}
	case a.blanks == 0:
		return a.joinsPlainly(ln)
	}
	return apart
}

// joinsPlainly is joinsPlain for a line directly below the last one, which is no frame by itself.
func (a *assembly) joinsPlainly(ln *line) verdict {
	b := ln.text
	switch {
	case b[0] == '#' && numberedFrame.Match(b) && a.reportsFault(), b[0] == 'a' && isBareAtFrame(b),
		bytes.IndexByte(b, '@') >= 0 && isBareAtFrame(b) && a.reportsFault():
		return verdict{partStack, evidenceFrame}
	case a.joinsTitledTrace(b):
		return verdict{partStack, evidenceFrame}
	case b[0] == ' ' || b[0] == '\t':
		switch {
		case hasPrefix(trimLeft(b), "+ Exception Group "+traceback) && !a.reportsFault():
			return apart
		case isElapsed(b), a.isColumn(b):
		case !isOmission(b):
			a.opens(trimLeft(b))
			return a.joinIndented(b)
		case len(a.stack) > 0:
			return verdict{partStack, evidenceFrame}
		}
	case a.lines == 1 && a.isCaller() && logline.Parse(text(b)).Leveled:
		return verdict{partHead, evidenceForm}
	case a.lines == 1 && hasSuffix(a.message, ":") && frame.Fault(text(b)) && a.reportsFault():
		return verdict{partHead, evidenceForm}
	case ln.is(ofDetail), a.joinsTitled(b), a.joinsThrown(ln):
		return verdict{partMessage, evidenceForm}
	}
	return apart
}

// joinsThrown reports whether ln, a line at the margin, is the exception below a
// line that reports a fault, its cause below its trace, the heading of
// a trace, or the end of a trace of Python's.
func (a *assembly) joinsThrown(ln *line) bool {
	b := ln.text
	if isTraceTitle(b) {
		return a.lines == 1 || a.reportsFault() || panicked(a.head())
	}
	switch b[0] {
	case 'C', 'W', 'E':
		if headsCause(b) && (len(a.stack) > 0 || a.lines > 2) {
			return true
		}
	case 'n':
		if hasPrefix(b, "note: ") {
			return panicked(a.head())
		}
	case '}':
		return a.split == evidenceIndent || a.split == evidenceFrame // as Node prints errors and values
	}
	first := a.isLine()
	if first && hasPrefix(b, traceback) && a.reportsFault() {
		a.traceback = true
		return true
	}
	if a.traceback {
		if isMarked(b) {
			return true
		}
		a.traceback = false
		a.thrown = a.lines > 1 && ln.is(ofType)
		return a.thrown
	}
	if a.lines == 1 && hasSuffix(a.message, ":") && panicked(a.head()) {
		return true // the message
	}
	// The logger of a debug line got the exception below it from code that caught it. Below a line of information a
	// program may have printed it, and an error is seldom caught.
	return first && ln.is(ofErrorType) && (a.reportsFault() || a.logger().Level == event.LevelDebug && namesException(b))
}

// isLine reports whether the message is one line, which may have been written on two, and there is no stack.
func (a *assembly) isLine() bool {
	return a.lines == 1 || a.lines == 2 && len(a.stack) == 0 && len(a.head()) == len(a.message)
}

// opens takes note of a trace of Python's that t, a line that was set in, opens. rich draws a box around one.
func (a *assembly) opens(t []byte) {
	a.traceback = a.traceback || hasSuffix(a.message, ":") && hasPrefix(t, `File "`)
	a.boxed = a.boxed || hasPrefix(t, "╭") && bytes.Contains(t, []byte(traceback))
}

// spaces reports whether ln, below a blank line, is a line of a trace of Python's that is open.
func (a *assembly) spaces(ln *line) bool {
	return (a.boxed || a.traceback) && isIndented(ln.text) || a.traceback && (isMarked(ln.text) || ln.is(ofType))
}

// isMarked reports whether b is the frame of Python's that caught the exception, as loguru marks it.
func isMarked(b []byte) bool { return hasPrefix(b, `> File "`) }

// isColumn reports whether b, a line that is set in, has a level in the column in which the first line of the record
// has its: loggers leave out a time that has not changed.
func (a *assembly) isColumn(b []byte) bool {
	head, n := a.head(), len(b)-len(trimLeft(b))
	return n < len(head) && head[n-1] == ' ' && head[n]-'A' < 26 && b[n]-'A' < 26 &&
		logline.Parse(text(b[n:])).Leveled && logline.Parse(text(head[n:])).Leveled
}

// isCaller reports whether the first line of the record is a time, a class and a method, as java.util.logging writes
// them above the level and the text.
func (a *assembly) isCaller() bool {
	h := a.logger()
	if !h.Sure || h.Leveled {
		return false
	}
	class, method, ok := bytes.Cut(a.head()[h.Len:], []byte(" "))
	dot := bytes.LastIndexByte(class, '.')
	return ok && dot > 0 && dot+1 < len(class) && class[dot+1]-'A' < 26 && bytes.IndexByte(method, ' ') < 0
}

// nodeEnd matches the version of Node, its last line below an error that no code caught.
var nodeEnd = regexp.MustCompile(`^Node\.js v[.\d]+[ \t]*$`)

// joinsChained reports whether b, maybe below a blank line, continues a trace of Python's that has ended: says how
// the next one came about, or heads it.
func (a *assembly) joinsChained(b []byte) bool {
	if b[0] != 'D' && b[0] != 'T' || !a.thrown {
		return false
	}
	switch {
	case hasPrefix(b, "During handling of the above exception, "), hasPrefix(b, "The above exception was the direct cause "):
		a.chained = true
		return true
	case a.chained && hasPrefix(b, traceback):
		a.chained, a.thrown, a.traceback = false, false, true
		return true
	}
	return false
}

// joinsDump reports whether ln belongs to what Go prints when it panics: the signal, and the stacks of goroutines, each
// below a blank line. Within one, lines have no shape of their own. A stack that a program prints and survives has
// frames alone.
func (a *assembly) joinsDump(ln *line) bool {
	b := ln.text
	switch {
	case a.dump && a.blanks > 0:
		return a.blanks <= maxInnerBlanks && isGoroutine(b)
	case a.dump && hasPrefix(b, "exit status "):
		a.sealed = true
		return true
	case a.dump:
		return !ln.logger().Sure
	case a.calls && a.blanks == 0 && (b[0] == '\t' || ln.is(ofGoCall)):
		return true
	case a.blanks > maxInnerBlanks || !ln.is(ofDump):
		return false
	}
	head := a.message[journalLen(a.message):]
	if opensDump(head) {
		a.dump = isGoroutine(b) || hasPrefix(b, "runtime stack:")
		return a.dump || a.blanks == 0 && (hasPrefix(head, overflow) || hasPrefix(b, "[signal "))
	}
	a.calls = isGoroutine(b) && (a.calls || a.blanks == 0 && (!a.logger().Leveled || a.reportsFault()))
	return a.calls
}

const overflow = "runtime: goroutine stack exceeds "

// opensDump reports whether b is the first line of what Go prints when it panics.
func opensDump(b []byte) bool {
	return hasPrefix(b, overflow) || hasPrefix(b, "panic: ") || hasPrefix(b, "fatal error: ")
}

// isGoCall reports whether b may be the function of a frame of Go's, whose place is on the next line.
func isGoCall(b []byte) bool {
	b = trimRight(b)
	if hasSuffix(b, ")") {
		b = b[:bytes.LastIndexByte(b, '(')+1]
	}
	return len(b) > 0 && isLetter(b[0]) && bytes.IndexByte(b, ' ') < 0 &&
		(bytes.IndexByte(b, '.') > 0 || string(b) == "panic(")
}

// isGoPlace reports whether b is the place of a frame of Go's: "\t/src/press.go:12 +0x1d".
func isGoPlace(b []byte) bool {
	place, _, _ := bytes.Cut(b, []byte(" "))
	return b[0] == '\t' && frame.File(text(place)) != ""
}

// isGoroutine reports whether b heads the stack of a goroutine: "goroutine 1 [running]:".
func isGoroutine(b []byte) bool { return hasPrefix(b, "goroutine ") && hasSuffix(trimRight(b), "]:") }

// panicked reports whether b is the line in which Rust reports a panic.
func panicked(b []byte) bool { return bytes.Contains(b, []byte("panicked at ")) }

// traceback heads a trace of Python's, whose innermost frame is the last, and the
// exception below that.
const traceback = "Traceback (most recent call last)"

// isTraceTitle reports whether b is a line that announces a trace: a few words, of which the last means one, with a
// colon or in brackets: "Stack trace:", "LUA ERROR stack traceback:", "[stacktrace]".
func isTraceTitle(b []byte) bool {
	b = trimRight(b)
	title, ok := bytes.CutSuffix(b, []byte(":"))
	if !ok && hasPrefix(b, "[") {
		title, ok = bytes.CutSuffix(b[1:], []byte("]"))
	}
	if !ok || len(title) == 0 || len(title) > maxHeading || !isLetter(title[0]) {
		return false
	}
	title = bytes.ToLower(title)
	return slices.ContainsFunc(traceWords, func(word string) bool { return hasSuffix(title, word) }) &&
		bytes.IndexByte(title, ':') < 0
}

var traceWords = []string{"stack", "trace", "traceback"}

// joinsTitledTrace reports whether b is a line of the trace that the last line of the message announced, in any form
// that is set in or begins with a place.
func (a *assembly) joinsTitledTrace(b []byte) bool {
	if a.lines < 2 || !isTraceTitle(a.message[bytes.LastIndexByte(a.message, '\n')+1:]) {
		return false
	}
	place, _, _ := bytes.Cut(b, []byte(" "))
	return isIndented(b) || frame.File(text(place)) != ""
}

// reportsFault reports whether the first line of the record reports that something went
// wrong, by its level or else by its words. Below a warning a colon announces what follows.
func (a *assembly) reportsFault() bool {
	switch h := a.logger(); {
	case !h.Leveled:
		return a.is(ofFault) || speaksOfTrouble(a.head())
	case h.Level >= event.LevelWarning:
		return true
	default:
		return hasSuffix(a.head(), ":") || speaksOfTrouble([]byte(logline.Text(text(a.head()), h.Level)))
	}
}

// isElapsed reports whether b, an indented line, begins with the seconds since the
// start, which some programs write flush right, and so is a line of its own.
func isElapsed(b []byte) bool {
	t := trimLeft(b)
	_, rest := crash.Number(text(t))
	return len(rest) < len(t) && len(rest) > 4 && rest[0] == '.' && isDigit(rest[1]) && isDigit(rest[2]) &&
		isDigit(rest[3]) && rest[4] == ' '
}

// numberedFrame matches a frame that PHP numbers: "#0 /srv/a.php(30): save()", "#1 {main}".
var numberedFrame = regexp.MustCompile(`^#\d+ .`)

// isOmission reports whether b, an indented line, replaces the rest of a trace of
// Java's: "... 5 more".
func isOmission(b []byte) bool {
	t := trimRight(trimLeft(b))
	return hasPrefix(t, "... ") && hasSuffix(t, " more")
}
