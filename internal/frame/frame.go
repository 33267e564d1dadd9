// Package frame recognizes lines of stack traces by their form.
//
//	  at Acme.Press.Turn (System.Int32 x) [0x00012] in <0123…>:0    Mono
//	  at (wrapper dynamic-method) Acme.Press.Turn_Patch0(Acme.Press)
//	   в Acme.Press.Turn(Int32 x) в C:\press.cs:строка 12           .NET, in any language
//	Acme.Press:Turn (int)                                           Unity
//	Acme.Press.Turn () (at <0123…>:0)
//	0x000001D2A0C413E0 (Mono JIT Code) Acme.Press:Turn (int)        a crash
//	#3  0x007f39f1a0c2e3 in Acme.Press:Turn (int)
//	  at TRANSFORMER/press@2.3.0/com.acme.Press.turn(Press.java:57) Java
//	  File "dir/press.py", line 12, in turn                         Python
//	  dir/press.lua:12: in function 'turn'                          Lua
//	  1. turn - dir/press.lua:12
//	dir/press.lua:12 in (method) turn (Lua) <8-14>
//	[PressQuest (1E000D62)].PressQuest.turn() - "Press.psc" Line 12 Papyrus
//	*FUNCTION [turn()] /dir/press.nut line [12]                     Squirrel
//	from dir/press.rb:12:in 'turn'                                  Ruby
//	turn@dir/press.js:12:3                                          JavaScript
//
// Capture asks whether a line belongs to the record above it, signature and blame whose code ran. All three use this
// package, so that a line which is a frame for one of them is one for all. It holds no state and allocates nothing.
package frame

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Certainty is how certain it is that a line is a frame.
type Certainty uint8

// Certainties, in order.
const (
	None   Certainty = iota
	Within           // it has the form of a frame, and counts as one within a trace
	Sure             // nothing else has its form
)

// Head is a frame from the name of the method on.
type Head struct {
	Word    string // the word before the method, "at" in most; "" without one
	Module  string // the mod in the layer before the method, LAYER/mod@version/; of a script, the file without its end
	Name    string // the line from the name of the method on
	Led     bool   // a word, an address or a wrapper precedes the method
	Address bool   // an address precedes it
	Dynamic bool   // the method was generated: (wrapper dynamic-method)
	Python  bool
	Script  bool // the frame is of Python, or in one of the forms of Lua, Ruby and JavaScript
}

// Frame is a frame with the parts of its line.
type Frame struct {
	Head
	Path string // the name of the method with its type
	Rest string // the arguments and the place
}

// isSpace reports whether c is the ASCII space or a control character.
func isSpace(c byte) bool { return c <= ' ' || c == 0x7f }

func trimLeft(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

func trimRight(s string) string {
	for s != "" && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// Cut takes all before the name of a method off a line, and keeps the rest in f, which is empty. It returns
// false for a line that can have none.
// One of these is taken off, with all space after it:
//
//   - "at ", and then "async " and "new " as often as they come;
//   - in a line that is set in, another word of at most maxWord bytes, maybe with a colon;
//   - an address, to the first " (Mono JIT Code) ", and a place in brackets after it;
//   - '#', a number, space and text from "0x" on, to the first " in ";
//   - text from `File "` on, to the first ", in " after the first `", line `;
//   - all around the function in what [Head.script] reads.
//
// Other lines that begin with "0x", '#' or `File "` have none. Then, but not of a script, "(wrapper KIND) " is taken
// off.
func (f *Head) Cut(line string) (ok bool) {
	t := trimLeft(line)
	if len(t) < 4 {
		return false
	}
	if rest, ok := strings.CutPrefix(t, "| "); ok && strings.HasPrefix(trimLeft(rest), `File "`) {
		t = trimLeft(rest) // of a group of exceptions
	}
	f.Name = t
	if f.script(trimRight(t)) {
		return true
	}
	switch t[0] {
	case 'a':
		if rest, ok := strings.CutPrefix(t, "at "); ok {
			f.Word, f.Led, f.Name = t[:2], true, trimLeft(rest)
			f.modifiers()
		} else {
			f.word(len(t) < len(line))
		}
	case '#':
		i := len(t) - len(strings.TrimLeft(t[1:], "0123456789"))
		_, rest, ok := strings.Cut(t, " in ")
		address := trimLeft(t[i:])
		if !ok || i == 1 || len(address) == len(t)-i || !strings.HasPrefix(address, "0x") {
			return false
		}
		f.Led, f.Address, f.Name = true, true, trimLeft(rest)
	case '(':
	default:
		switch {
		case t[0] == 'F' && strings.HasPrefix(t, `File "`):
			return f.python(t[len(`File "`):])
		case strings.HasPrefix(t, "0x"), len(t) > 8 && strings.HasPrefix(t[8:], jitCode):
			if !f.jit() {
				return false
			}
		case t[0] == '0':
			return false
		default:
			f.word(len(t) < len(line))
		}
	}
	if rest, ok := strings.CutPrefix(f.Name, "(wrapper "); ok {
		kind, name, ok := strings.Cut(rest, ") ")
		if !ok {
			return false
		}
		f.Led, f.Dynamic, f.Name = true, kind == "dynamic-method", trimLeft(name)
	}
	return true
}

// modifiers takes off what JavaScript writes before a method.
func (f *Head) modifiers() {
	for {
		rest := strings.TrimPrefix(strings.TrimPrefix(f.Name, "async "), "new ")
		if len(rest) == len(f.Name) {
			return
		}
		f.Name = trimLeft(rest)
	}
}

// Layer takes off the class loader and the module with its version that Java writes before a class, and keeps the
// module's name. It reports whether they were there.
func (f *Head) Layer() bool {
	if !f.Led || f.Script {
		return false
	}
	slash := strings.IndexByte(f.Name, '/')
	if slash < 1 || strings.ContainsAny(f.Name[:slash], "(: ") {
		return false
	}
	module, rest, ok := strings.Cut(f.Name[slash+1:], "/")
	name, version, versioned := strings.Cut(module, "@")
	if !ok || !versioned || name == "" || version == "" || strings.ContainsAny(module, "( ") {
		return false
	}
	f.Module, f.Name = name, rest
	return true
}

// maxWord is how many bytes a word before a method may have: the words of .NET's languages have at most six characters.
const maxWord = 20

// word takes off a word of any script before the name of a method that has arguments in parentheses, in a line that is
// set in.
func (f *Head) word(indented bool) {
	if !indented {
		return
	}
	end := strings.IndexByte(f.Name[:min(len(f.Name), maxWord)], ' ')
	if end < 1 || end+1 == len(f.Name) || strings.ContainsFunc(strings.TrimSuffix(f.Name[:end], ":"), notLetter) {
		return
	}
	if name := trimLeft(f.Name[end:]); starts(name) {
		f.Word, f.Led, f.Name = f.Name[:end], true, name
	}
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// starts reports whether s begins with a dotted name and a parenthesis after it.
func starts(s string) bool {
	path, _, ok := strings.Cut(s, "(")
	_, parts, whole := Scan(strings.TrimSuffix(path, " "))
	return ok && whole && parts > 0
}

// jitCode follows the address of a frame in a crash report.
const jitCode = " (Mono JIT Code) "

// jit takes off the address of a frame in a crash report, with the place of the code where that comes next.
func (f *Head) jit() (ok bool) {
	if _, f.Name, ok = strings.Cut(f.Name, jitCode); !ok {
		return false
	}
	f.Led, f.Address, f.Name = true, true, trimLeft(f.Name)
	if _, rest, ok := strings.Cut(f.Name, "] "); ok && f.Name[0] == '[' {
		f.Name = rest
	}
	return true
}

// python reads a frame of Python, after `File "`.
func (f *Head) python(line string) bool {
	path, rest, ok := strings.Cut(line, `", line `)
	if !ok {
		return false
	}
	_, name, ok := strings.Cut(rest, ", in ")
	path = strings.TrimSuffix(strings.TrimSuffix(path[strings.LastIndexAny(path, `/\`)+1:], ".py"), ".rpy")
	f.Python, f.Script, f.Module, f.Led, f.Name = true, true, path, true, trimLeft(name)
	return ok && f.Module != "" && f.Name != ""
}

// script reads a frame of Lua, Ruby, JavaScript, Papyrus or Squirrel, which is a place and a function: "PLACE: in
// function 'turn'", "PLACE in (method) turn", "1. turn - PLACE", "PLACE:in 'turn'", "turn@PLACE:3", "[id].Press.turn()
// - PLACE", "*FUNCTION [turn()] PLACE". A place is a file, a colon and the line, or `"FILE" Line 12`, or "FILE line
// [12]". A function without a name has the name of the file. t has no space at its ends.
func (f *Head) script(t string) bool {
	name, place := "", ""
	end := t[len(t)-1]
	if end == '\'' && strings.Contains(t, ":in ") { // Ruby
		place, name, _ = strings.Cut(strings.TrimPrefix(t, "from "), ":in ")
		name = strings.TrimSuffix(name, "'")
		name = name[strings.LastIndexAny(name, " '`")+1:]
	} else if end == '\'' || end == '>' || end == '?' || end == 'k' { // "main chunk"
		place, name, _ = strings.Cut(t, " in ")
		if _, method, ok := strings.Cut(name, ") "); ok && name[0] == '(' {
			name, _, _ = strings.Cut(method, " ")
		} else {
			_, name, _ = strings.Cut(strings.TrimSuffix(name, "'"), " '")
		}
		place = strings.TrimSuffix(place, ":")
	} else if t[0] == '*' && end == ']' {
		_, rest, _ := strings.Cut(t[:len(t)-1], "FUNCTION [")
		name, place, _ = strings.Cut(rest, "()] ")
		place = strings.Replace(place, " line [", ":", 1)
	} else if end-'0' > 9 {
		return false
	} else if t[0]-'0' < 10 {
		_, rest, _ := strings.Cut(t, ". ")
		name, place, _ = strings.Cut(rest, " - ")
	} else if t[0] == '[' {
		_, rest, _ := strings.Cut(t, "].")
		name, place, _ = strings.Cut(rest, "() - \"")
		place = strings.Replace(place, `" Line `, ":", 1)
	} else {
		var ok bool
		if name, place, ok = strings.Cut(t, "@"); !ok {
			return false
		}
		place = strings.TrimSuffix(strings.TrimRight(place, "0123456789"), ":")
	}
	file := File(place)
	if file == "" || strings.IndexByte(name, ' ') >= 0 {
		return false
	}
	if name == "" || name == "?" {
		name = file
	}
	f.Script, f.Module, f.Led, f.Name = true, file, true, name
	return true
}

// File returns the name of the file in place, a path, a colon and the line, without its end; "" for no place.
func File(place string) string {
	file, line, _ := strings.Cut(place[strings.LastIndexAny(place, `/\`)+1:], ":")
	dot := strings.LastIndexByte(file, '.')
	if dot < 1 || dot+1 == len(file) || line == "" || strings.Trim(line, "0123456789") != "" {
		return ""
	}
	return file[:dot]
}

// Fault reports whether line begins as the report of a fault in a script: "dir/press.lua:12: text".
func Fault(line string) bool {
	place, text, _ := strings.Cut(line, ": ")
	return text != "" && File(place) != ""
}

// Scan reads the path of a method, as in Acme.Press+Roller`1:Turn and com.acme.Press.turn. It returns whether a single
// colon precedes the method, how many separators there are, and whether path is nothing else. Spaces and commas
// are only between the brackets of generic arguments.
func Scan(path string) (colon bool, parts int, ok bool) {
	if len(path) < 3 || !letter(path[0]) && path[0] != '<' || path[len(path)-1] == '.' {
		return false, 0, false
	}
	depth := 0
	for i := range len(path) {
		c := path[i]
		if letter(c) {
			continue
		}
		switch c {
		case ':':
			if depth == 0 && i > 0 && i+1 < len(path) && path[i-1] != ':' && path[i+1] != ':' {
				colon = true
				parts++
			}
		case '.', '+', '/':
			parts++
		case '<', '[':
			depth++
		case '>', ']':
			depth--
		case '`', '$', '|', '@', '-', '?':
		case ',', ' ', '=', '&', '*':
			if depth <= 0 {
				return false, 0, false
			}
		default:
			if c-'0' > 9 {
				return false, 0, false
			}
		}
	}
	return colon, parts, true
}

// letter reports whether a name of code may begin with c.
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf }

// Parse reads a line. It returns None for a line that is no frame. A mark between two traces is Sure, without a
// method; so is the place of a frame on a line of its own.
func Parse(line string) (f Frame, c Certainty) {
	t := trimLeft(line)
	indented := len(t) < len(line)
	switch {
	case t == "":
		return f, None
	case t[0] == '-' && strings.HasPrefix(t, "--- End of "), t[0] == 'R' && strings.HasPrefix(t, "Rethrow as "),
		t[0] == '[' && indented && strings.HasPrefix(t, "[0x") && strings.Contains(t, "] in <"):
		return f, Sure
	case t[0] == '[' && t[len(t)-1]-'0' > 9, !f.Cut(line): // a tag, or a line of another form
		return f, None
	case f.Script && !f.Python:
		return f, Within
	}
	f.Layer()
	return f, f.certainty(t[0] == '(' || strings.HasPrefix(t, "at (wrapper "), indented)
}

// certainty returns how certain it is that f, cut, is a frame, and sets Path and Rest.
func (f *Frame) certainty(wrapper, indented bool) Certainty {
	colon, parts, ok := f.split()
	rest := trimRight(f.Rest)
	if !ok {
		f.Path = ""
	}
	switch {
	case f.Word == "at" && indented && (parts > 0 || Dotted(f.Name)):
		return Sure
	case !ok || parts == 0 || f.Address && (!colon || native(f.Path)):
		return None
	case f.Word == "at" && (strings.Contains(rest, "] in <") || Offset(rest)), f.Led && f.Word == "", wrapper:
		return Sure
	case Placed(rest), f.Word == "" && colon && Closed(rest):
		return Sure
	case Closed(rest), f.Led && localPlace(rest):
		return Within
	}
	return None
}

// native reports whether the path of a method is one of C++.
func native(path string) bool {
	if i := strings.IndexAny(path, "[<`"); i >= 0 {
		path = path[:i]
	}
	return strings.Contains(path, "::")
}

// Dotted reports whether the first word of s, after "at" in a line that is set in, makes the line a frame: it has a
// separator within, or is no word at all: "<unknown>", "/srv/app.js:12:5".
func Dotted(s string) bool {
	if s == "" || s[0] == '<' || s[0]-'0' < 10 {
		return s != "" && s[0] == '<'
	}
	for i := range len(s) {
		switch s[i] {
		case '.', ':', '+':
			return i > 0 && i+1 < len(s) && s[i+1] != ' '
		case ' ', '(':
			return false
		}
	}
	return false
}

// split sets Path and Rest.
func (f *Frame) split() (colon bool, parts int, ok bool) {
	end := strings.IndexByte(f.Name, '(')
	if f.Led && strings.Contains(f.Name, "0x") {
		before := f.Name
		if end > 0 {
			before = before[:end]
		}
		for _, place := range [...]string{" <0x", " [0x"} {
			if i := strings.Index(before, place); i > 0 {
				end, before = i, before[:i] // without arguments, as in the managed trace of a crash
			}
		}
	}
	switch {
	case end > 0:
		f.Path, f.Rest = strings.TrimSuffix(f.Name[:end], " "), f.Name[end:]
	case f.Word == "at":
		f.Path = trimRight(f.Name)
	}
	return Scan(f.Path)
}

// Closed reports whether rest, after the name of a method, consists of its arguments and at most the place: "()",
// "(int)", "():0", "(int) [0x00012] in <0123…>:0".
func Closed(rest string) bool {
	rest = strings.TrimPrefix(rest, " ")
	end := strings.LastIndexByte(rest, ')')
	if end < 0 || rest[0] != '(' {
		return false
	}
	place := rest[end+1:]
	return place == "" || len(place) > 1 && place[0] == ':' && strings.Trim(place[1:], "0123456789") == "" ||
		strings.HasPrefix(place, " [0x")
}

// Placed reports whether rest, after the name of a method, ends with the place as newer forms of Unity write it:
// "() (at <0123…>:0)", "() (at Assets/Press.cs:12)".
func Placed(rest string) bool {
	_, place, ok := strings.Cut(rest, ") (at ")
	return ok && rest[len(rest)-1] == ')' && strings.IndexByte(place, ':') > 0
}

// localPlace reports whether the arguments in rest are closed, and a word and a file with a line come after them, as
// .NET writes a place.
func localPlace(rest string) bool {
	_, place, ok := strings.Cut(rest, ") ")
	_, file, spaced := strings.Cut(place, " ")
	return ok && spaced && strings.IndexByte(file, ':') > 0 && rest[0] == '('
}

// Offset reports whether rest ends as the frames of old Mono do: "() <0x0001b>".
func Offset(rest string) bool {
	i := strings.LastIndex(rest, ") <0x")
	return i >= 0 && rest[len(rest)-1] == '>' && len(rest)-i < len(") <0x0123456789abcdef + 0x01234>")
}

// TypeLen returns the length of the bytes with which s begins that the name of a type may have.
func TypeLen(s string) int {
	n := 0
	for n < len(s) && types[s[n]] {
		n++
	}
	return n
}

var types = func() (t [256]bool) {
	for c := range t {
		t[c] = letter(byte(c)) || byte(c)-'0' < 10 || strings.IndexByte(".+`$", byte(c)) >= 0
	}
	return t
}()

// Throwable returns the length of the type of an exception with which s begins, 0 if it begins with none. It ends in
// Exception; a dotted name may also end in Error or Throwable. After it comes nothing, a colon, " --->" or " (".
func Throwable(s string) (n int, qualified bool) {
	n = TypeLen(s)
	if n < len("Error") || !letter(s[0]) {
		return 0, false
	}
	name, rest := s[:n], s[n:]
	qualified = strings.IndexByte(name, '.') > 0
	switch {
	case !strings.HasSuffix(name, "Exception") &&
		(!qualified || !strings.HasSuffix(name, "Error") && !strings.HasSuffix(name, "Throwable")):
	case trimLeft(rest) == "", rest[0] == ':', strings.HasPrefix(rest, " --->"), strings.HasPrefix(rest, " ("):
		return n, qualified
	}
	return 0, false
}

// Thrown cuts a message at the heading of a trace of Python's, and returns what Python threw: the last line at the
// margin below it. Without one, it returns the whole message.
func Thrown(message string) (before, thrown string) {
	before, trace, _ := strings.Cut(message, "Traceback (most recent call last)")
	for line := range strings.SplitSeq(trace, "\n") {
		line = trimRight(strings.TrimPrefix(line, "  | ")) // of a group
		if n := TypeLen(line); n > 0 && (n == len(line) || strings.HasPrefix(line[n:], ": ")) {
			thrown = line
		}
	}
	if thrown == "" {
		return message, ""
	}
	return strings.TrimSuffix(before, "+ Exception Group "), thrown
}
