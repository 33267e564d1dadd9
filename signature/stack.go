package signature

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	stackframe "github.com/heedlog/heed/internal/frame"
)

// splitHead cuts message into its head and the lines after it.
//
// The head is the first line that is not blank. If a blank line precedes it
// and it is a stack frame, the head is empty: so the template of an entry that
// is nothing but a stack has only frames. If the line after it names an
// exception, that line is part of the head.
func splitHead(message string) (head, rest string) {
	if strings.IndexByte(message, '\n') < 0 {
		return message, ""
	}
	line, rest, _ := strings.Cut(message, "\n")
	skipped := false
	for rest != "" && blank(line) {
		message, skipped = rest, true
		line, rest, _ = strings.Cut(message, "\n")
	}
	if skipped {
		var fr frame
		if _, ok := fr.parse(line, hasher{}); ok {
			return "", message
		}
	}
	second, after, _ := strings.Cut(rest, "\n")
	if isException(trim(second)) {
		return message[:len(line)+1+len(second)], after
	}
	return line, rest
}

// isException reports whether line begins with the name of an exception type,
// such as System.NullReferenceException, and nothing or a message after it.
func isException(line string) bool {
	i := 0
	for i < len(line) && (classes[line[i]]&narrow != 0 || line[i] == '.' || line[i] == '+') {
		i++
	}
	name := line[:i]
	if !strings.HasSuffix(name, "Exception") && !strings.HasSuffix(name, "Error") || classes[name[0]]&letter == 0 {
		return false
	}
	return i == len(line) || line[i] == ':' || line[i] == '`' || line[i] == '[' ||
		classes[line[i]]&space != 0 && strings.HasPrefix(trim(line[i:]), "(")
}

// frames finds the frames that count, in order: first in the lines of the
// message after the head, then in the stack.
type frames struct {
	n           *Normalizer
	text, stack string
	left        int
	frame       frame
	hash        hasher // has taken the frames that next found
}

func (n *Normalizer) frames(rest, stack string) frames {
	return frames{n: n, text: fault(rest), stack: fault(stack), left: n.maxFrames}
}

// fault returns the lines of a stack from the fault on. In Go it is below the last call of panic and the functions of
// the runtime that made the call; above are deferred functions.
func fault(stack string) string {
	if strings.Contains(stack, goPanic) { // the first is sooner found than the last
		below := stack[strings.LastIndex(stack, goPanic)+1:]
		return cmp.Or(below[len(goRuntime.FindString(below)):], stack) // a cut stack has deferred functions alone
	}
	return stack
}

// goPanic begins the line of a call of panic. goRuntime matches that line and the lines of the runtime, with their
// places.
const goPanic = "\npanic("

var goRuntime = regexp.MustCompile(`^(?:(?:panic\(|\t|runtime\.|internal/runtime/).*\n?)*`)

// next finds the next frame that counts, ready to have its parts taken.
func (f *frames) next() bool {
	for f.left > 0 {
		if f.text == "" {
			if f.stack == "" {
				break
			}
			f.text, f.stack, f.frame.within = f.stack, "", true
		}
		var line string
		line, f.text, _ = strings.Cut(f.text, "\n")
		if h, ok := f.frame.parse(line, f.hash); ok && !f.ofLogger() {
			f.hash = h
			f.left--
			return true
		}
	}
	return false
}

// ofLogger reports whether the frame belongs to the logger.
func (f *frames) ofLogger() bool {
	first := cmp.Or(f.frame.module, f.frame.line)[0]
	return slices.ContainsFunc(f.n.loggers[first], f.frame.begins)
}

// parse sets fr to the frame that line shows, and returns h after its canonical name, and whether line shows a frame
// with a name. Shapes of frames are, with what is not taken into account in them:
//
//	at Name.Space.Type.Method (Args) [0x00012] in <id>:0
//	at (wrapper dynamic-method) Name.Space.Type.Name.Space.Type.Method_Patch0(Args)
//	Name.Space.Type:Method (Args)
//	Name.Space.Type:Method():0
//	Name.Space.Type.Method () (at <id>:0)
//	0x00000123456789AB (Mono JIT Code) Name.Space.Type:Method (Args)
//	at async new method (file.js:1:2)
//	at LAYER/mod@version/name.space.Type.method(Type.java:12)
//	package/path.(*Type).Method(0x1, 0x2)
//	File "dir/module.py", line 12, in method
//	dir/module.lua:12: in function 'method'
//	1. method - dir/module.lua:12
//	method@dir/module.js:12:3
//	#3  0x0000123456789abc in method (args)
//
// Exactly: the line, without space at its ends, has four bytes or more. What
// [stackframe.Head.Cut] takes off is taken off; a word of another language than "at"
// counts in a stack only. The name of a script's file counts if it is a letter
// and then word bytes and '-' without '$'. Then is taken off, for the wrapper kind
// dynamic-method, what [patched] takes off, and
// "MonoMod.Utils.DynamicMethodDefinition:" as often as it comes without a second
// colon. The rest begins with the name, as far as [parts] reads, and continues as
// [frame.complete] demands.
func (fr *frame) parse(line string, h hasher) (hasher, bool) {
	var f stackframe.Head
	if !f.Cut(line) || f.Word != "" && f.Word != "at" && !fr.within {
		return h, false
	}
	f.Name = trim(f.Name)
	fr.module = ""
	if f.Script {
		if !isPlainName(f.Module) {
			return h, false
		}
		fr.module = f.Module[:trimPart(f.Module, 0, len(f.Module))]
	} else {
		if f.Dynamic {
			f.Name = patched(f.Name)
		}
		// The type that some versions of MonoMod put all patched methods in.
		// Canonical names have no single colon, so they keep it.
		for strings.HasPrefix(f.Name, definition) && !strings.HasPrefix(f.Name[len(definition):], ":") {
			f.Led, f.Name = true, f.Name[len(definition):]
		}
		if !f.Led && strings.IndexByte(f.Name, ')') < 0 {
			return h, false
		}
		f.Layer()
	}
	fr.line, fr.led = f.Name, f.Led
	return fr.complete(h)
}

const definition = "MonoMod.Utils.DynamicMethodDefinition:"

// isPlainName reports whether s can be the first part of a frame's name as it
// is.
func isPlainName(s string) bool {
	for i := range len(s) {
		if classes[s[i]]&wordlike == 0 && s[i] != '-' || s[i] == '$' {
			return false
		}
	}
	return s != "" && isLetter(s[0])
}

// patched returns the name of the method that a generated method replaces. It
// comes with its type written twice, as in A.B.A.B.Method_Patch1(A.B), or with
// the type of the generator in front. Taken off is
// "MonoMod.Utils.DynamicMethodDefinition.", and then the shortest beginning, of
// less than half the text and at most 511 bytes, that is followed by '.' or ':',
// itself again, and '.'.
func patched(name string) string {
	name = strings.TrimPrefix(name, "MonoMod.Utils.DynamicMethodDefinition.")
	limit := min(len(name)/2, 512)
	for k := range limit {
		if (name[k] == '.' || name[k] == ':') && 2*k+1 < len(name) && name[2*k+1] == '.' && name[:k] == name[k+1:2*k+1] {
			return name[k+1:]
		}
	}
	return name
}
