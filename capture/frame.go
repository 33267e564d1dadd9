package capture

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/heedlog/heed/internal/frame"
)

// frameKinds returns ofFrame for a line that cannot be anything but a line of a stack trace; see package frame. The
// frames of a crash, with addresses, and the frames of Python belong to reports of their own.
//
// It returns ofCall for a frame without "at", also without a colon before the method, as Harmony prints methods of
// generic types. A message may look like it, so it counts only within a trace:
//
//	System.Collections.Generic.List`1[[Foo.Bar, Assembly, Version=1.0]]..ctor(IEnumerable`1 c)
//
// n is how many bytes the first word has that a type may have; 0 if b is set in.
func frameKinds(b []byte, n int) kinds {
	t := trimLeft(b)
	indented := len(t) < len(b)
	switch {
	case indented && hasPrefix(t, "at ") && frame.Dotted(text(t[len("at "):])):
		return ofFrame // as most frames are
	case len(t) == 0, t[0] <= ' ', t[0] == 0x7f, t[0] == '-', t[0] == '[' && indented,
		hasPrefix(t, "at "), hasPrefix(t, "File "), hasPrefix(t, "Rethrow "):
	case n > 0 && n+1 < len(b) && b[n] == ' ' && b[n+1] != '(', bytes.IndexByte(t, '(') < 0:
		return ofFrame.when(isOffsetFrame(b, n)) // as most lines: no name with arguments is the first word
	}
	f, c := frame.Parse(text(b))
	return ofFrame.when(c == frame.Sure && !f.Address && !f.Python || isOffsetFrame(b, n)) |
		ofCall.when(c > frame.None && !f.Led && f.Path != "")
}

// isBareAtFrame reports whether b, a line at the margin, is "at", a method and its
// arguments, and nothing else or the place, or a frame of a script. It counts only directly below a record.
func isBareAtFrame(b []byte) bool {
	f, c := frame.Parse(text(b))
	return c > frame.None && (f.Word == "at" || f.Script)
}

// isLocalFrame returns the word before the method of a line that is set in, and whether the line has the form of a
// frame with a word of any language or without one. It counts where two such lines come in sequence.
func isLocalFrame(b []byte) (word string, ok bool) {
	f, c := frame.Parse(text(b))
	return f.Word, c == frame.Within && !f.Address
}

// joinsLocal reports whether b, a line that is set in, is a frame with a word of any language, or without one, below
// another one. The first of them is taken to the stack then.
func (a *assembly) joinsLocal(b []byte) bool {
	word, ok := isLocalFrame(b)
	from := a.local - 1
	a.local = 0
	if !ok || a.blanks > 0 || a.frames > 0 {
		return ok && a.blanks == 0
	}
	if from >= 0 {
		first := trimRight(bytes.TrimLeft(a.message[from:], "\n"))
		before, ok := isLocalFrame(first)
		if ok && before == word && a.split == evidenceIndent && bytes.IndexByte(first, '\n') < 0 {
			a.put(partStack, first)
			a.frame(first)
			a.message, a.own = a.message[:from], look{} // the line may be the first
			return true
		}
	}
	a.local = len(a.message) + 1
	return false
}

// isOffsetFrame reports whether b is a frame of System.Diagnostics.StackFrame:
// "Foo at offset 0 in file:line:column <filename unknown>:0:0". Its first n bytes have no space.
func isOffsetFrame(b []byte, n int) bool {
	if n == len(b) || b[n] != ' ' {
		n = bytes.IndexByte(b, ' ')
	}
	return n > 0 && hasPrefix(b[n:], " at offset ") && bytes.Contains(b[n:], []byte(" in file:line:column "))
}

// isNativeFrame reports whether b is a frame of native code in a crash report:
// "0x00007FF0DECADE00 (KERNEL32) BaseThreadInitThunk", "#3  0x007f3a… in raise", of a program of 32 bits
// "0ECADE00 (Mono JIT Code) Some.Press:Turn (int)".
func isNativeFrame(b []byte) bool {
	return nativeFrame.Match(b)
}

var nativeFrame = regexp.MustCompile(`^(?:[ \t]*(?:#\d|0x[[:xdigit:]]{8,}[ :])|[[:xdigit:]]{8} \()`)

// isCutFrame reports whether b may be the beginning of a frame whose rest is
// missing. Any word may be, so it counts only below a trace, at the end of the input.
func isCutFrame(b []byte) bool {
	const at, wrapper = "at ", "(wrapper "
	if t := trimLeft(b); len(t) < len(b) {
		return hasPrefix(t, at) || hasPrefix([]byte(at), string(t))
	}
	if b[0] == '(' {
		return hasPrefix(b, wrapper) || hasPrefix([]byte(wrapper), string(b))
	}
	path, _, _ := bytes.Cut(trimRight(b), []byte("("))
	path = bytes.TrimRight(path, ". \t")
	if len(path) == 0 || isDigit(path[0]) {
		return false
	}
	_, parts, ok := frame.Scan(text(path))
	return ok && parts > 0 || isWord(path)
}

// isWord reports whether b is a name and nothing else.
func isWord(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return !isName(c) }) }

// isWholeFrame reports whether b, a frame that is the last line of the input
// and has no line end, has all its parts: the arguments are closed, and a place
// that was begun is complete.
func isWholeFrame(b []byte) bool {
	b = trimRight(b)
	if i := bytes.LastIndex(b, []byte(" [0x")); i >= 0 {
		rest := b[i:]
		j := bytes.LastIndexByte(rest, ':')
		return bytes.Contains(rest, []byte("] in ")) && j > 0 && j+1 < len(rest) && isDigit(rest[j+1])
	}
	open, closed := bytes.Count(b, []byte("(")), bytes.Count(b, []byte(")"))
	return open == 0 || open <= closed && bytes.IndexByte([]byte(")>-0123456789"), b[len(b)-1]) >= 0
}
