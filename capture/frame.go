package capture

import (
	"bytes"
	"slices"
)

// isFrame reports whether b cannot be anything but a line of a stack trace:
//
//	  at Foo.Bar[T] (System.Int32 x) [0x00012] in <0123…>:0
//	 at Foo.Bar ()
//	  at (wrapper dynamic-method) Foo.Bar_Patch0(Foo)
//	(wrapper managed-to-native) Foo.Bar(int)
//	 [0x00006] in <fedc…>:0
//	   --- End of inner exception stack trace ---
//	Rethrow as TypeInitializationException: …
//	Foo.Bar:Baz (int)
//	Foo.Bar:Baz():0
//	Foo.Bar.Baz () (at <0123…>:0)
//	Bar at offset 0 in file:line:column <filename unknown>:0:0
func isFrame(b []byte) bool {
	frame, _ := frameOrProse(b)
	return frame
}

// frameOrProse is isFrame, and what it has found out besides: that b is prose, as
// isProse says. Neither says that it is not.
func frameOrProse(b []byte) (frame, prose bool) {
	switch b[0] {
	case ' ', '\t':
		t := trimLeft(b)
		return isAtFrame(t) || hasPrefix(t, "[0x") && bytes.Contains(t, []byte("] in <")) ||
			hasPrefix(t, "(wrapper ") || isTraceMark(t), false
	case '(':
		return hasPrefix(b, "(wrapper "), false
	case '-', 'R':
		if isTraceMark(b) {
			return true, false
		}
	case 'a': // the first frame of a trace that was trimmed
		if isAtFrame(b) && (bytes.Contains(b, []byte("] in <")) || hasPrefix(b, "at (wrapper ") || endsInOffset(b)) {
			return true, false
		}
	}
	if isProse(b) {
		return false, true
	}
	return isUnityFrame(b) || isOffsetFrame(b), false
}

// isProse reports whether b begins as no frame at the margin does, isDottedCall's
// neither, and nearly every other line: with a word without brackets, a space, and
// neither arguments nor the "at" of isOffsetFrame. (One loop for both is slower: many
// lines are one long word.)
func isProse(b []byte) bool {
	word := bytes.IndexByte(b, ' ')
	if word < 0 || word+1 == len(b) || b[word+1] == '(' || b[word+1] == 'a' {
		return false
	}
	for _, c := range b[:word] {
		if c == '(' || c == '[' || c == '<' {
			return false
		}
	}
	return true
}

// isAtFrame reports whether t, without its indentation, is "at" and a method: a
// word with a dot in it or in brackets.
func isAtFrame(t []byte) bool {
	if !hasPrefix(t, "at ") || len(t) < 4 {
		return false
	}
	t = t[len("at "):]
	if t[0] == '(' || t[0] == '<' || isDigit(t[0]) {
		return !isDigit(t[0])
	}
	for i, c := range t {
		switch c {
		case '.', ':', '+':
			return i > 0 && i+1 < len(t) && t[i+1] != ' '
		case ' ', '(':
			return false
		}
	}
	return false
}

// endsInOffset reports whether b ends as the frames of old Mono do: "Foo.Bar () <0x0001b>".
func endsInOffset(b []byte) bool {
	b = trimRight(b)
	i := bytes.LastIndex(b, []byte(") <0x"))
	return i > 0 && b[len(b)-1] == '>' && len(b)-i < len(") <0x0123456789abcdef + 0x01234>")
}

// isBareAtFrame reports whether b, a line at the margin, is "at", a method and its
// arguments, and nothing else or the place. It counts only directly below a record.
func isBareAtFrame(b []byte) bool {
	if !isAtFrame(b) {
		return false
	}
	path, args, ok := cutCall(b[len("at "):])
	if !ok {
		return false
	}
	_, ok = methodPath(path)
	args = trimRight(args)
	if i := bytes.LastIndex(args, []byte(") in ")); i >= 0 {
		args = args[:i+1]
	}
	return ok && (endsCall(args) || endsInOffset(args))
}

// isTraceMark reports whether t, without its indentation, is a line that joins
// two traces.
func isTraceMark(t []byte) bool {
	return hasPrefix(t, "--- End of ") || hasPrefix(t, "Rethrow as ")
}

// isUnityFrame reports whether b is a frame as Unity writes it, with a colon
// between type and method, or with its place behind "(at ":
//
//	UnityEngine.StackTraceUtility:ExtractStackTrace ()
//	Gadget.Panel+<>c__DisplayClass1_0:<Draw>b__0():0
//	Verse.Root_Play.Update () (at <0123…>:0)
//
// Prose does not have this shape: up to the parenthesis there is no space but
// the one before it, and nothing follows but the place.
func isUnityFrame(b []byte) bool {
	path, args, ok := cutCall(b)
	if !ok {
		return false
	}
	colon, ok := methodPath(path)
	if !ok {
		return false
	}
	tail := trimRight(args)
	if i := bytes.Index(tail, []byte(") (at ")); i > 0 && tail[len(tail)-1] == ')' {
		return true
	}
	return colon && endsCall(tail)
}

// methodPath reports whether b is the path of a method, "Foo.Bar+Baz`1:Qux" or
// "Foo.Bar.Qux", and whether a colon stands before the method.
func methodPath(b []byte) (colon, ok bool) {
	if len(b) < 3 || !isName(b[0]) && b[0] != '<' {
		return false, false
	}
	parts, depth := 0, 0
	for i, c := range b {
		switch {
		case isName(c):
		case c == ':':
			if depth == 0 && i > 0 && i+1 < len(b) && b[i-1] != ':' && b[i+1] != ':' {
				colon = true
				parts++
			}
		case c == '.' || c == '+' || c == '/':
			parts++
		case c == '<' || c == '[':
			depth++
		case c == '>' || c == ']':
			depth--
		case c == '`' || c == '$' || c == '|' || c == '@' || c == '-' || c == '?':
		case c == ',' || c == ' ' || c == '=' || c == '&' || c == '*':
			// Inside the arguments of a generic type only:
			// List`1[[Foo.Bar, Assembly, Version=1.0]].
			if depth <= 0 {
				return false, false
			}
		default:
			return false, false
		}
	}
	return colon, parts > 0
}

// endsCall reports whether b, which begins with the parenthesis of a call,
// consists of its arguments and at most the place of the frame: "()", "(int)",
// "():0", "(Int32) (at C:/x.cs:12)", "(int) [0x00012] in <0123…>:0".
func endsCall(b []byte) bool {
	end := bytes.LastIndexByte(b, ')')
	if end < 0 {
		return false
	}
	rest := b[end+1:]
	if len(rest) == 0 {
		return true
	}
	if rest[0] == ':' {
		for _, c := range rest[1:] {
			if !isDigit(c) {
				return false
			}
		}
		return len(rest) > 1
	}
	return hasPrefix(rest, " [0x")
}

// isDottedCall reports whether b is a frame without "at" and without a colon
// before the method, as Harmony prints those of generic types:
//
//	System.Collections.Generic.List`1[[Foo.Bar, Assembly, Version=1.0]]..ctor(IEnumerable`1 c)
//
// A message may look like it, so it counts only within a trace.
func isDottedCall(b []byte) bool {
	path, args, ok := cutCall(b)
	if !ok {
		return false
	}
	_, ok = methodPath(path)
	return ok && endsCall(trimRight(args))
}

// cutCall cuts b before its first parenthesis, with at most one space between,
// which goes to neither part. It returns false where nothing is before it.
func cutCall(b []byte) (path, args []byte, ok bool) {
	open := bytes.IndexByte(b, '(')
	if open < 1 {
		return nil, nil, false
	}
	return bytes.TrimSuffix(b[:open], []byte(" ")), b[open:], true
}

// isOffsetFrame reports whether b is a frame of System.Diagnostics.StackFrame:
// "Foo at offset 0 in file:line:column <filename unknown>:0:0".
func isOffsetFrame(b []byte) bool {
	i := bytes.IndexByte(b, ' ')
	return i > 0 && hasPrefix(b[i:], " at offset ") && bytes.Contains(b[i:], []byte(" in file:line:column "))
}

// isNativeFrame reports whether b is a frame of native code in a crash report:
// "0x00007FF0DECADE00 (KERNEL32) BaseThreadInitThunk", "#3  0x007f3a… in raise".
func isNativeFrame(b []byte) bool {
	b = trimLeft(b)
	if len(b) > 1 && b[0] == '#' && isDigit(b[1]) {
		return true
	}
	if !hasPrefix(b, "0x") {
		return false
	}
	n := 2
	for n < len(b) && isHex(b[n]) {
		n++
	}
	return n >= 10 && n < len(b) && (b[n] == ' ' || b[n] == ':')
}

// isEngineFrame reports whether b is a frame of native code wherever it stands,
// as the engine writes them below a message if it is set to log full traces. In
// a crash report, where nothing else is to be expected, isNativeFrame asks less.
func isEngineFrame(b []byte) bool {
	switch b[0] {
	case '#':
		i := bytes.IndexByte(b, ' ')
		if i < 2 || !isDigit(b[1]) {
			return false
		}
		t := trimLeft(b[i:])
		return hasPrefix(t, "0x") && isNativeFrame(t)
	case '0':
		i := bytes.IndexByte(b, ' ')
		return i > 0 && hasPrefix(b[i:], " (") && isNativeFrame(b)
	}
	return false
}

// isAnnotation reports whether b is what Harmony adds under a frame, or a
// similar indented item within a trace:
//
//   - PREFIX some.mod: Boolean Some.Patch:Prefix(Thing t)
func isAnnotation(b []byte) bool {
	t := trimLeft(b)
	return len(t) < len(b) && hasPrefix(t, "- ")
}

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
	path, _, ok := cutCall(b)
	if !ok {
		path = trimRight(b)
	}
	if isDigit(path[0]) {
		return false
	}
	_, ok = methodPath(path)
	return ok || isWord(path)
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
	last := b[len(b)-1]
	return last == ')' || isDigit(last) || last == '-' || last == '>' || bytes.IndexByte(b, '(') < 0
}
