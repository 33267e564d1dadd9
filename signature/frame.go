package signature

import (
	"slices"
	"strings"

	stackframe "github.com/heedlog/heed/internal/frame"
)

// A frame is one line of a stack whose name has been found. Its canonical form
// is what its parts spell.
type frame struct {
	line   string // from the name on
	module string // precedes the name, with a dot, if not empty
	led    bool   // something was taken off before it
	within bool   // the line is one of a stack
}

// complete reports whether the name is a name and has a rest of the right form, and returns h after the canonical name.
//
// The first part of a name is not empty and begins with a word byte or '<'.
// If something was taken off before it, the rest is empty or begins with
// one of "(", " (", " [0x", " in ", " <0x", ":" and a digit, or ">" if a
// generator was left out. If not, it is arguments in parentheses to the end of
// the line, maybe with ":" and a line number; after a name with exactly one
// single colon also with a space before, else only if the name has generic
// arguments in brackets after an arity, or if it has a dot or slash and the
// arguments have the form of Go, without line number, or "(at " and a place with a
// colon come after them, or [stackframe.Closed] holds in a stack.
func (fr *frame) complete(h hasher) (hasher, bool) {
	p := parts{s: fr.line}
	if !p.next() || p.from == p.to || classes[p.s[p.from]]&wordlike == 0 && p.s[p.from] != '<' {
		return h, false
	}
	if fr.module != "" {
		h = h.text(fr.module, 0, len(fr.module)).add('.', 8)
	}
	// Parts that the line has as they are, up to another one, are taken at once.
	from, to, sep := p.from, p.to, p.sep
	for p.next() {
		if p.from == to+1 && len(sep) == 1 && sep[0] == fr.line[to] {
			to, sep = p.to, p.sep
			continue
		}
		h = h.text(fr.line, from, to).text(sep, 0, len(sep))
		from, to, sep = p.from, p.to, p.sep
	}
	return h.text(fr.line, from, to).end(endLine), fr.mayEnd(p.i, p.methods, p.dots > 0, p.generic, p.made)
}

// mayEnd reports whether the rest after the name, from i on, has a form that fits the
// form of the name.
func (fr *frame) mayEnd(i, methods int, dots, generic, made bool) bool {
	rest := fr.line[i:]
	if fr.led {
		return rest == "" || rest[0] == '(' || rest[0] == '>' && made || rest[0] == ':' && at(rest, 1)&digit != 0 ||
			rest[0] == ' ' && slices.ContainsFunc(afterName, func(p string) bool { return strings.HasPrefix(rest, p) })
	}
	if dots && fr.line[i-1] != '.' && (fr.within && stackframe.Closed(rest) || stackframe.Placed(rest)) {
		return true
	}
	end := skipBack(rest, 0, len(rest), digit)
	if end < len(rest) {
		if end < 2 || rest[end-1] != ':' {
			return false
		}
		end--
	}
	if end == 0 || rest[end-1] != ')' {
		return false
	}
	if rest[0] == '(' {
		return methods == 1 || generic || dots && end == len(rest) && isGoArgs(rest)
	}
	return methods == 1 && strings.HasPrefix(rest, " (")
}

// afterName may follow the name of a frame that something was taken off before.
var afterName = []string{" (", " [0x", " in ", " <0x"}

// isGoArgs reports whether args are what Go prints for the arguments of a
// function: nothing, machine words, or dots where it does not know.
func isGoArgs(args string) bool {
	return args == "()" || strings.HasPrefix(args, "(...") || strings.HasPrefix(args, "(0x") ||
		strings.HasPrefix(args, "({0x")
}

// appendName appends the canonical name to dst.
func (fr *frame) appendName(dst []byte) []byte {
	if fr.module != "" {
		dst = append(dst, fr.module...)
		dst = append(dst, '.')
	}
	p := parts{s: fr.line}
	for p.next() {
		dst = append(dst, p.s[p.from:p.to]...)
		dst = append(dst, p.sep...)
	}
	return dst
}

// begins reports whether the canonical name begins with prefix, which is not empty.
func (fr *frame) begins(prefix string) bool {
	has := func(s string) bool {
		n := min(len(s), len(prefix))
		same := s[:n] == prefix[:n]
		prefix = prefix[n:]
		return same
	}
	if fr.module != "" && (!has(fr.module) || !has(".")) {
		return false
	}
	for p := (parts{s: fr.line}); prefix != "" && p.next(); {
		if !has(p.s[p.from:p.to]) || !has(p.sep) {
			return false
		}
	}
	return prefix == ""
}

// parts splits the name of a frame and leaves out bytes that differ between
// builds. The parts spell the canonical name:
//
//	Type+Nested, Type/Nested            Type/Nested
//	Type:Method, Type.Method            Type.Method
//	List`1[T], List`1<T>                List`1
//	Method_Patch3                       Method
//	<>c__DisplayClass82_0               <>c__DisplayClass
//	<Method>b__82_1, <Method>d__7       <Method>b, <Method>d
//	<Method>g__Local|82_1               <Method>g__Local
//	DMD<>?123.Type.Method_Patch0        Type.Method
//	DMD<DMD<Method_Patch1>?-1::M>       Method
//	lambda$main$0, main.func1           lambda$main, main.func
//
// Exactly: parts end at '.', '/', '+' and ':'. One colon counts if a letter, a
// byte of 0x80 and above, '_', '$', '<' or '.' follows, and becomes '.'; more
// than one always counts, and stays. '+' becomes '/'. The name ends at space
// and any of ()]>{},;"' and at a colon that does not count. At the beginning of
// a part, what [skipGenerator] skips is left out, and "(*Type)." is "Type.".
//
// Text in [] and <>, to the bracket that closes it, is left out if one of
// ./+:[<( or space follows or nothing, and else ends the name before it. But if
// '<' begins a part, all up to the '>' that closes it belongs to the part, with
// space and parentheses alone ending the name.
//
// Off the end of a part, and of its bytes before the first '>' if it begins
// with '<', are cut "_Patch" and "$" with a number as often as they come, if
// something is left; and then a part that is a number is empty, and "func" with
// a number is "func". Off the end of the bytes after a '>' of a part that begins
// with '<', up to the next one or the end of the part, are cut "_Patch" with a
// number if something is left, and any of _|` and digits, as often as they come.
//
// No rule changes the result of a rule.
type parts struct {
	s string
	i int // end of the name, once next returns false

	from, to int    // the part: s[from:to], maybe empty
	sep      string // follows the part in the canonical name

	depth   int  // of angle brackets around a generated name
	inside  bool // the part continues after a closed angle bracket
	done    bool
	methods int  // single colons
	dots    int  // other separators
	made    bool // something of a generator was left out
	generic bool // arguments of a generic type, in brackets, after its arity
}

// next finds the next part. It returns false at the end of the name.
func (p *parts) next() bool {
	if p.done {
		return false
	}
	s := p.s
	inside := p.inside
	if !inside {
		i := skipGenerator(s, p.i)
		p.made = p.made || i > p.i
		p.i = i
		if strings.HasPrefix(s[p.i:], "(*") && p.receiver() {
			return true
		}
	}
	p.from = p.i
	if p.depth > 0 || !inside && p.i < len(s) && s[p.i] == '<' {
		p.angle()
	} else {
		p.plain()
	}
	if inside {
		p.to = trimGenerated(s, p.from, p.to)
	} else {
		p.to = trimPart(s, p.from, p.to)
	}
	return true
}

// skipGenerator returns the position after what MonoMod puts in front of the
// names of methods that it generates.
func skipGenerator(s string, i int) int {
	for strings.HasPrefix(s[i:], "DMD<") {
		i += len("DMD<")
		if strings.HasPrefix(s[i:], ">?") {
			i += 2
			if i < len(s) && s[i] == '-' {
				i++
			}
			i = skip(s, i, digit)
			if i < len(s) && s[i] == '.' {
				i++
			}
		}
	}
	return i
}

// receiver takes a receiver in the manner of Go, as in (*Type).Method.
func (p *parts) receiver() bool {
	j := skip(p.s, p.i+2, narrow)
	if j == p.i+2 || !strings.HasPrefix(p.s[j:], ").") {
		return false
	}
	p.from, p.to, p.sep = p.i+2, trimPart(p.s, p.i+2, j), "."
	p.i = j + 2
	p.dots++
	return true
}

// angle takes text up to the next closing angle bracket of a generated name.
func (p *parts) angle() {
	s, i := p.s, p.i
	for ; i < len(s) && classes[s[i]]&space == 0 && s[i] != '(' && s[i] != ')'; i++ {
		switch s[i] {
		case '<':
			p.depth++
		case '>':
			p.depth--
			p.to, p.sep, p.inside = i, ">", true
			p.i = i + 1
			return
		}
	}
	p.to, p.sep, p.done = i, "", true
	p.i = i
}

// plain takes text up to the next separator.
func (p *parts) plain() {
	s, i := p.s, p.i
	for i < len(s) && classes[s[i]]&(partEnd|space) == 0 {
		i++
	}
	p.to, p.sep, p.inside, p.done = i, "", false, true
	for i < len(s) && (s[i] == '[' || s[i] == '<') {
		j := matching(s, i)
		if j < 0 || at(s, j)&space == 0 && strings.IndexByte("./+:[<(", s[j]) < 0 {
			p.i = p.to
			return
		}
		p.generic = p.generic || s[i] == '[' && hasArity(s[p.from:i])
		i = j
	}
	p.i = i
	if i == len(s) {
		return
	}
	switch s[i] {
	case '.':
		p.sep = "."
		p.dots++
	case '/', '+':
		p.sep = "/"
		p.dots++
	case ':':
		j := i
		for j < len(s) && s[j] == ':' {
			j++
		}
		p.sep = s[i:j]
		if j == i+1 {
			// A single colon may also end the name, as in file.js:12.
			if j == len(s) || classes[s[j]]&(letter|wide) == 0 && s[j] != '<' && s[j] != '.' {
				p.sep = ""
				return
			}
			p.sep = "."
			p.methods++
		}
		i = j - 1
	default:
		return
	}
	p.i, p.done = i+1, false
}

// matching returns the position after the bracket that closes the one at i,
// or -1.
func matching(s string, i int) int {
	opening, closing := s[i], byte(']')
	if opening == '<' {
		closing = '>'
	}
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case opening:
			depth++
		case closing:
			depth--
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func hasArity(part string) bool {
	_, arity, _ := strings.Cut(part, "`")
	return at(arity, 0)&digit != 0
}

// trimPart returns the end of the part s[from:to] without the suffixes of the runtime and
// of patching libraries.
func trimPart(s string, from, to int) int {
	for end := -1; end != to; {
		i := skipBack(s, from, to, digit)
		if i == from || i == to || s[from:i] == "func" {
			return i
		}
		end = to
		to = cutNumbered(s, from, cutNumbered(s, from, to, "_Patch"), "$")
	}
	return to
}

// trimGenerated returns the end of the part s[from:to] of a name that the
// compiler made up, after its angle brackets, without ordinals and arity. It
// never cuts a '<', which would leave brackets that close others than before.
func trimGenerated(s string, from, to int) int {
	for end := from; end != to; {
		end = to
		to = cutNumbered(s, from, to, "_Patch")
		for to > from && (classes[s[to-1]]&digit != 0 || s[to-1] == '_' || s[to-1] == '|' || s[to-1] == '`') {
			to--
		}
	}
	return to
}

// cutNumbered returns the end of s[from:to] without suffix and the number
// after it, if something is left then.
func cutNumbered(s string, from, to int, suffix string) int {
	i := skipBack(s, from, to, digit)
	if i == to || !strings.HasSuffix(s[from:i], suffix) || i-len(suffix) == from {
		return to
	}
	return i - len(suffix)
}
