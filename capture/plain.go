package capture

import (
	"bytes"

	"github.com/heedlog/heed/event"
)

// maxPrefix is within how many words at its beginning a line of a logger has its
// level: date, time, zone, process, thread, then the level.
const maxPrefix = 6

// plainLevel returns the level that b, the text of a record of no known program,
// gives itself where loggers write it:
//
//	2031-04-05T10:00:00.001Z WARN  queue is long
//	2031-04-05 10:00:00,001 CRITICAL worker: gone
//	10:00:00.001 [main] ERROR c.a.Press - stuck
//	[2031.04.05-10.00.00:001][  7]LogPress: Error: stuck
//	 131.421 Error Press.cpp:12: stuck
//	time=2031-04-05T10:00:00Z level=warn msg=stuck
//	SCRIPT ERROR: stuck
//
// A word counts in capitals, before a colon, or directly behind a time. So "Error
// messages are on" has none.
func plainLevel(b []byte) (event.Level, bool) {
	timed, named := false, false // a time, and a name behind it, have been read
	for range maxPrefix {
		b = trimLeft(b)
		if len(b) == 0 {
			break
		}
		if b[0] == '[' {
			end := bytes.IndexByte(b[:min(len(b), maxTag)], ']')
			if end < 0 {
				break
			}
			if l, ok := levelTag(b[1:end]); ok {
				return l, true
			}
			timed = timed || end > 1 && isDigit(b[1])
			b = b[end+1:]
			continue
		}
		word, equals, colon := cutWord(b)
		b = b[len(word):]
		if isDigit(word[0]) {
			timed = true
			continue
		}
		if equals > 0 {
			switch value := word[equals+1:]; string(word[:equals]) {
			case "level", "lvl", "severity":
				return ParseLevel(bytes.Trim(value, `"`))
			case "time", "ts", "timestamp", "t":
				continue
			}
			break
		}
		name := word
		if colon >= 0 {
			name = word[:colon]
		}
		if timed && !named || colon >= 0 || isCapitals(name) {
			if l, ok := levelWord(name, false); ok {
				return l, true
			}
		}
		switch {
		case colon > 0 && colon+1 == len(word) && hasPrefix(word, "Log"): // a category of Unreal's
		case string(word) == "SCRIPT", string(word) == "USER", string(word) == "SHADER": // Godot's, before ERROR
		case timed && string(word) == "-": // between the parts of a line of Python's
		case !timed, colon >= 0: // the message itself
			return event.LevelUnknown, false
		default:
			named = true
		}
	}
	return event.LevelUnknown, false
}

// cutWord returns the word that b begins with, as far as it may be part of what a logger
// writes before a message, and where its first equals sign and colon are, -1 for none.
func cutWord(b []byte) (word []byte, equals, colon int) {
	equals, colon = -1, -1
	for i, c := range b[:min(len(b), maxTag)] {
		switch c {
		case ' ', '\t':
			return b[:i], equals, colon
		case '=':
			if equals < 0 {
				equals = i
			}
		case ':':
			if colon < 0 {
				colon = i
			}
		}
	}
	return b[:min(len(b), maxTag)], equals, colon
}

func isCapitals(b []byte) bool {
	for _, c := range b {
		if c-'A' >= 26 {
			return false
		}
	}
	return len(b) > 0
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
