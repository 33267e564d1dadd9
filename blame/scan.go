package blame

import (
	"strings"
	"unicode/utf8"
)

// The weights of evidence, as the package documentation lists them.
const (
	weightThrown   = 60
	weightNear     = 45
	weightSecond   = 25
	weightFar      = 10
	weightTitle    = 55
	weightPath     = 50
	weightNamed    = 40
	weightType     = 35
	weightTag      = 30
	weightPatch    = 20
	weightFarPatch = 8
	weightAssembly = 15
	weightMissing  = 25
	weightPhrase   = 15
)

// headLines is how many lines of a message may say whom they speak of: what
// comes later is data.
const headLines = 8

// pathLines is how many may name a file that matters: lists of what is loaded
// come far below.
const pathLines = 24

// maxPaths is how many mods' files a record may name. One with more shows what
// is installed, as a report of a crash does.
const maxPaths = 4

// scan gathers the findings of one record.
type scan struct {
	finder   *Finder
	findings []finding
	files    []finding // paths, until all are known
	line     int
	head     int // lines of the message that are no frames
	frames   int // frames with a name
	game     bool
	code     []owner // mods whose code is in the trace, the nearest to the throw first
	listing  bool    // the lines of a list of mods follow
}

// text reads the message, or the stack.
func (s *scan) text(text string, stack bool) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text[:min(len(text), MaxText)], "\n") {
		s.line++
		line = strings.TrimRight(line, " \t\r")
		switch {
		case line == "":
		case s.frame(line, stack), s.patch(line):
		case !stack:
			s.prose(line)
		}
	}
}

// found takes in a finding, unless there are enough.
func (s *scan) found(kind Kind, weight int, o owner) {
	weight = o.doubted(weight)
	if len(s.findings) < maxFindings {
		s.findings = append(s.findings, finding{Evidence: Evidence{kind, s.line}, weight: weight, owner: o})
	}
}

// frame reads a line of a stack trace, and returns false for any other.
func (s *scan) frame(line string, stack bool) bool {
	path, ok := framePath(line, stack)
	if !ok {
		return false
	}
	s.arguments(path)
	path, archive := javaPath(path, line)
	path = methodPath(path)
	root := rootOf(path)
	if root == "" {
		return true
	}
	s.frames++
	if s.finder.nobody(path) || keyword(root, path) {
		s.game = true
		return true
	}
	if !readable(root) {
		if root = s.finder.modules[moduleOf(line)]; root == "" {
			return true
		}
		path = root
	}
	var o owner
	if readable(archive) {
		o, ok = s.finder.owner(rankFolder, archive, root)
	} else {
		o, ok = s.codeOwner(path, root)
	}
	if !ok {
		s.game = true
		return true
	}
	rank := 0
	for rank < len(s.code) && !s.code[rank].same(&o) {
		rank++
	}
	if rank < len(s.code) {
		return true // what is nearer to the throw has been taken in
	}
	s.code = append(s.code, o)
	switch {
	case rank == 0 && !s.game:
		s.found(Frame, weightThrown, o)
	case rank == 0 && !s.reports(&o):
		s.found(Frame, weightNear, o)
	case rank <= 1:
		s.found(Frame, weightSecond, o)
	default:
		s.found(Frame, weightFar, o)
	}
	return true
}

// reports reports whether the record carries the tag of o.
func (s *scan) reports(o *owner) bool {
	for i := range s.findings {
		if f := &s.findings[i]; f.Kind == Tag && f.owner.same(o) {
			return true
		}
	}
	return false
}

// codeOwner returns whose code has the path, such as Some.Mod.Type.Method: the
// mod that was learned with the longest part of it, or else its root.
func (s *scan) codeOwner(path, root string) (owner, bool) {
	for part := path; len(part) > len(root); {
		i := strings.LastIndexAny(part, ".:+/")
		if i < len(root) {
			break
		}
		part = part[:i]
		if s.finder.known(part) != 0 {
			return s.finder.owner(rankCode, part, root)
		}
	}
	return s.finder.owner(rankCode, root)
}

// arguments reads the arguments of a generic type in a frame, such as
// [[Some.Type, SomeAssembly, Version=1.0.0.0, …]].
func (s *scan) arguments(path string) {
	const marker = ", Version="
	for range 4 {
		i := strings.Index(path, marker)
		if i < 0 {
			return
		}
		before := path[:i]
		path = path[i+len(marker):]
		comma := strings.LastIndex(before, ", ")
		if comma < 0 {
			continue
		}
		assembly := before[comma+2:]
		typ := before[strings.LastIndexByte(before[:comma], '[')+1 : comma]
		root := identifier(typ)
		if s.finder.nobody(typ) || !readable(root) {
			continue
		}
		if o, ok := s.finder.owner(rankCode, root, assembly); ok {
			s.found(Assembly, weightAssembly, o)
		}
	}
}

// patch reads what Harmony writes below a frame, and returns false for any other
// line:
//
//   - PREFIX author.some.mod: Boolean SomeMod.Patches:Prefix(Thing thing)
func (s *scan) patch(line string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), "- ")
	if !ok {
		return false
	}
	what, rest, _ := strings.Cut(rest, " ")
	switch what {
	case "PREFIX", "POSTFIX", "TRANSPILER", "FINALIZER":
	default:
		return false
	}
	id, signature, ok := strings.Cut(rest, ": ")
	if !ok {
		return true
	}
	weight := weightPatch
	if s.frames > 1 {
		weight = weightFarPatch
	}
	// The patch itself is code of the mod, with a name that reads better than an
	// id: Boolean SomeMod.Patches:Prefix(…).
	root := ""
	if _, path, ok := strings.Cut(signature, " "); ok && !s.finder.nobody(path) {
		if root = identifier(path); !readable(root) {
			root = ""
		}
	}
	if root == "" {
		if o, ok := s.finder.owner(rankOwner, id); ok {
			s.found(Patch, weight, o)
		}
		return true
	}
	if o, ok := s.finder.owner(rankCode, root, id); ok {
		s.found(Patch, weight, o)
	}
	return true
}

// framePath returns the path of the method that a line of a stack trace names.
// In a message only those count that cannot be prose.
func framePath(line string, stack bool) (string, bool) {
	t, native := cutAddress(strings.TrimLeft(line, " \t"))
	t, at := strings.CutPrefix(t, "at ")
	wrapper := false
	if strings.HasPrefix(t, "(wrapper ") {
		_, t, wrapper = strings.Cut(t, ") ")
	}
	end := strings.IndexByte(t, '(')
	if i := strings.Index(t, " <0x"); at && i > 0 && (end < 0 || i < end) {
		end = i // without arguments, as the managed trace of a crash has it
	}
	if end < 1 {
		return "", false
	}
	path := strings.TrimSuffix(t[:end], " ")
	switch {
	case at && !strings.Contains(path, "[") && strings.Contains(path, " "):
		return "", false
	case !strings.ContainsAny(path, ".:"):
		return "", false
	case native:
		return path, managed(path)
	case at || wrapper:
		return path, true
	}
	// Without "at", as Unity and Harmony write frames: no space but among the
	// arguments of a generic type, and in a message a dot before a colon.
	plain, _, _ := strings.Cut(path, "[")
	if strings.ContainsAny(plain, " /\\'\"=;,!?") {
		return "", false
	}
	colon := strings.IndexByte(plain, ':')
	return path, stack || colon > 0 && strings.IndexByte(plain[:colon], '.') > 0
}

// cutAddress takes off a line of a crash report what stands before the method,
// and reports whether there was something:
//
//	0x000001D2A0C413E0 (Mono JIT Code) [Press.cs:12] Some.Press:Turn (int)
//	#3  0x007f39f1a0c2e3 in Some.Press:Turn (int)
func cutAddress(line string) (string, bool) {
	if strings.HasPrefix(line, "0x") {
		_, rest, ok := strings.Cut(line, " (Mono JIT Code) ")
		if ok && strings.HasPrefix(rest, "[") {
			if _, after, cut := strings.Cut(rest, "] "); cut {
				rest = after
			}
		}
		if ok {
			return rest, true
		}
		return line, false
	}
	if !strings.HasPrefix(line, "#") {
		return line, false
	}
	address, rest, ok := strings.Cut(line, " in ")
	if address = strings.TrimLeft(address[1:], "0123456789"); ok && strings.HasPrefix(strings.TrimLeft(address, " "), "0x") {
		return rest, true
	}
	return line, false
}

// managed reports whether the path of a frame with an address is that of managed
// code, which Mono writes as Some.Type:Method. Native code has other shapes.
func managed(path string) bool {
	plain := path
	if i := strings.IndexAny(plain, "[<`"); i >= 0 {
		plain = plain[:i]
	}
	return strings.IndexByte(path, ':') > 0 && !strings.Contains(plain, "::") && !strings.Contains(plain, " ")
}

// keyword reports whether the root of a path is how Mono writes a type of the
// runtime's own, as of the methods it generates to call others:
// object:runtime_invoke_void__this__.
func keyword(root, path string) bool {
	if len(root) == len(path) || path[len(root)] != ':' && path[len(root)] != '.' {
		return false
	}
	switch root {
	case "object", "string", "void", "bool", "char", "byte", "sbyte", "short", "ushort", "int", "uint", "long", "ulong",
		"single", "float", "double", "decimal", "intptr", "uintptr", "nint", "nuint":
		return true
	}
	return false
}

// methodPath returns a path without what Harmony and Mono put before a method
// that they generated, and without what follows the names of namespaces and
// types that are not generic.
func methodPath(path string) string {
	for {
		rest, ok := strings.CutPrefix(path, "DMD<")
		for _, sep := range [...]string{".", ":"} {
			if !ok {
				rest, ok = strings.CutPrefix(path, "MonoMod.Utils.DynamicMethodDefinition"+sep)
			}
		}
		if !ok {
			break
		}
		path = rest
	}
	if i := strings.IndexAny(path, "[<`("); i >= 0 {
		path = path[:i]
	}
	return path
}

// prose reads a line of the message that is no frame.
func (s *scan) prose(line string) {
	s.head++
	if s.head <= pathLines {
		s.path(line)
	}
	if s.head > headLines {
		return
	}
	line = plain(line)
	if s.head == 1 {
		line = s.tags(line)
	}
	if s.listing {
		s.listed(line)
	}
	s.announced(line)
	if strings.HasSuffix(line, ":") && hasWord(line, "mods") {
		s.listing = true
	}
}

// plain returns a line without tags of rich text, such as <color=#fff>.
func plain(line string) string {
	if strings.IndexByte(line, '<') < 0 {
		return line
	}
	var b strings.Builder
	for {
		open := strings.IndexByte(line, '<')
		if open < 0 {
			break
		}
		end := strings.IndexByte(line[open:], '>')
		if end < 0 {
			break
		}
		name := strings.TrimPrefix(line[open+1:open+end], "/")
		name, _, _ = strings.Cut(name, "=")
		switch name {
		case "color", "b", "i", "size", "material":
			b.WriteString(line[:open])
		default:
			b.WriteString(line[:open+end+1])
		}
		line = line[open+end+1:]
	}
	b.WriteString(line)
	return strings.TrimSpace(b.String())
}

// titled is what stands in the tag of a trace behind the name of the mod whose
// files it is about.
const titled = " - Start of stack trace"

// tags reads the tags that a message begins with, the first of which that may
// name a mod does, and returns the rest.
func (s *scan) tags(line string) string {
	found := false
	for range 4 {
		line = strings.TrimLeft(line, " ")
		tag, rest, ok := cutTag(line)
		if !ok {
			break
		}
		line = rest
		if found || strings.HasPrefix(tag, "Ref ") && rest == "" {
			continue
		}
		if name, ok := strings.CutSuffix(tag, titled); ok {
			if o, ok := s.finder.owner(rankTag, name); ok {
				s.found(Title, weightTitle, o)
			}
			return ""
		}
		o, ok := s.tagOwner(tag)
		if ok {
			s.found(Tag, weightTag, o)
		}
		found = ok
	}
	if !found {
		s.speaker(line)
	}
	return line
}

// cutTag takes a tag in brackets off the beginning of a line. Brackets may be
// nested once, since names of mods begin with those of series: [[XY] Some Mod].
func cutTag(line string) (tag, rest string, ok bool) {
	if line == "" || line[0] != '[' {
		return "", line, false
	}
	depth := 0
	for i := range min(len(line), 2*MaxName) {
		switch line[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return line[1:i], line[i+1:], true
			}
		}
	}
	return "", line, false
}

// tagOwner returns the mod that a tag names. Levels, times, numbers, references
// and lists name none.
func (s *scan) tagOwner(tag string) (owner, bool) {
	if s.finder.known(tag) == 0 {
		tag = tagName(tag)
	}
	if tag == "" {
		return owner{}, false
	}
	return s.finder.owner(rankTag, tag)
}

// tagName returns the part of a tag that may be the name of a mod, without the
// part of the mod that speaks, and without a version.
func tagName(tag string) string {
	tag = behindLevel(strings.TrimSpace(tag))
	if strings.ContainsAny(tag, ",=/\\{}<>\"|%$;") || len(tag) > MaxName {
		return ""
	}
	// [Some Mod:Loader] is a part of the mod, [Some Series: Some Mod] its name.
	if i := strings.IndexByte(tag, ':'); i >= 0 && i+1 < len(tag) && tag[i+1] != ' ' {
		if digit(tag[i+1]) {
			return ""
		}
		tag = tag[:i]
	}
	if tag == "" {
		return ""
	}
	if i := strings.LastIndexByte(tag, ' '); i > 0 && version(tag[i+1:]) {
		tag = tag[:i]
	}
	key := fold(tag)
	n := letters(key)
	switch {
	case n == 0, n == 1 && utf8.RuneCountInString(key) < 3, digit(tag[0]) && n < 3:
		return ""
	case isLevel(key), isReference(tag), version(tag):
		return ""
	}
	return tag
}

// behindLevel returns what stands in a tag behind its level, as loaders of mods write
// it: [Error  :  Some Mod], [10:00:00 ERROR Some Mod]. A tag of another form stays.
func behindLevel(tag string) string {
	if before, after, ok := strings.Cut(tag, ":"); ok && isLevel(fold(before)) {
		return strings.TrimLeft(after, " ")
	}
	if tag == "" || !digit(tag[0]) {
		return tag
	}
	if time, rest, ok := strings.Cut(tag, " "); ok && version(strings.ReplaceAll(time, ":", "")) {
		if level, name, ok := strings.Cut(strings.TrimLeft(rest, " "), " "); ok && isLevel(fold(level)) {
			return strings.TrimLeft(name, " ")
		}
	}
	return tag
}

// isLevel reports whether a folded tag is that of a logger, of any mod.
func isLevel(key string) bool {
	switch key {
	case "err", "error", "errors", "wrn", "warn", "warning", "warnings", "inf", "info", "information", "dbg", "debug",
		"trace", "trc", "verbose", "log", "logger", "logging", "message", "msg", "notice", "fatal", "ftl", "crit", "critical",
		"severe", "exception", "assert", "fail", "failed", "failure", "ok", "success", "test", "null", "none", "todo",
		"mod", "mods", "main", "utc", "gmt", "pm", "am", "thread", "mainthread", "ref", "end of stack trace", "endofstacktrace":
		return true
	}
	return false
}

// isReference reports whether a tag stands for something that was printed
// elsewhere, such as "Ref 1A2B".
func isReference(tag string) bool {
	number, ok := strings.CutPrefix(tag, "Ref ")
	return ok && strings.Trim(number, "0123456789abcdefABCDEF") == ""
}

// version reports whether a word is a version, such as v1.2.
func version(word string) bool {
	word = strings.TrimLeft(word, "vV(")
	return word != "" && digit(word[0]) && strings.Trim(word, "0123456789.-+abcdefr)") == ""
}

func digit(c byte) bool { return c-'0' < 10 }

// speaker reads "Some Mod: what it says". Any line may begin so, so that only
// the name of a mod that was learned counts.
func (s *scan) speaker(line string) {
	name, _, ok := strings.Cut(line, ":")
	if !ok || len(name) > MaxName || len(name) < 3 {
		return
	}
	if m := s.finder.known(name); m != 0 {
		if o, ok := s.finder.owner(rankTag, name); ok {
			s.found(Tag, weightTag, o)
		}
	}
}
