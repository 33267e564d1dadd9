package blame

import (
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/frame"
	texts "github.com/heedlog/heed/internal/text"
)

// frame reads a frame of a stack trace.
func (s *scan) frame(f *frame.Frame) {
	if _, by, ok := strings.Cut(f.Path, patchedBy); ok {
		id, rest, _ := strings.Cut(by, ">")
		s.owned(Patch, weightPatch, rankOwner, id)
		f.Path = strings.TrimLeft(rest, ".:")
	}
	if len(s.files) == 0 && len(s.code) == 0 {
		s.path(f.Rest)
		if len(s.files) > 0 && s.files[0].owner.rank != rankNumber {
			s.thrownBy(s.files[0].owner) // its file is in the folder of a mod
			return
		}
	}
	if strings.Contains(f.Rest, "(node:") || strings.HasPrefix(f.Path, "node:") {
		s.game = true // the loader of Node's modules
		return
	}
	if m := mixedIn().FindStringSubmatch(f.Path); m != nil {
		f.Path = m[1] + "." + f.Path
	}
	s.called(f)
}

// called reads the method of a frame.
func (s *scan) called(f *frame.Frame) {
	archive, rank := archiveOf(f)
	java, module := isJava(f.Rest), moduleOf(f.Rest)
	whole := f.Path
	if java {
		whole = whole[strings.LastIndexByte(whole, '/')+1:] // after a class loader
	}
	path := methodPath(whole)
	root := s.finder.rootOf(path)
	if root == "" {
		return
	}
	s.frames++
	switch {
	case s.finder.ofGame(path, root, module) || archive == "" && s.finder.common(root):
		owner, moved := s.finder.moved(root, module)
		if owner == "" {
			s.game = s.game || !moved
			s.stranger = s.stranger || moved && len(s.code) == 0
			return
		}
		path, root = owner, owner
	case archive == "" && (!readable(root) || mayBeBare(f, java) && isGlobal(whole, f.Dynamic) && !s.finder.goesBy(root)):
		// A class without a namespace is the game's, in most games, unless its module is known to be a mod's.
		owner := s.finder.modules[module]
		if owner == "" {
			s.game = s.game || readable(root)
			return
		}
		path, root = owner, owner
	}
	o, ok := s.codeOwner(path, root)
	if archive != "" {
		o, ok = s.finder.owner(rank, archive, root)
		ok = ok && (o.mod != 0 || f.Module != "" || !s.listed()) // else a library of that mod
	}
	switch {
	case !ok:
		s.game = true
	case s.passesOn(path, root, &o):
		s.game = true
		if !s.has(Frame, &o) {
			s.found(Frame, weightDoubt, o)
		}
	default:
		s.thrownBy(o)
	}
}

// listed reports whether code of a mod that was learned is in the trace.
func (s *scan) listed() bool {
	return slices.ContainsFunc(s.findings, func(f finding) bool { return f.Kind == Frame && f.owner.mod != 0 })
}

// thrownBy counts code of a mod in the trace, unless a frame nearer to the throw was counted.
func (s *scan) thrownBy(o owner) {
	if slices.ContainsFunc(s.code, func(nearer owner) bool { return nearer.same(&o) }) {
		return
	}
	nearer := len(s.code)
	s.code = append(s.code, o)
	weight := weightFar
	switch {
	case s.stranger:
		weight = weightDoubt
	case nearer == 0 && !s.game:
		weight = weightThrown
	case nearer == 0 && !s.has(Tag, &o):
		weight = weightNear
	case nearer <= 1:
		weight = weightSecond
	}
	s.found(Frame, weight, o)
}

// patchedBy precedes the id of the mod by which a method in a trace is patched: PatchedBy<author.mod>.
const patchedBy = "PatchedBy<"

// mixedIn matches a method that Mixin has put into a class of the game for a mod: Press.handler$zza000$some_mod$turn.
var mixedIn = texts.Lazy(`\$[a-z]{3}\d{3}\$([\w-]+)\$`)

// passesOn reports whether the code of a frame, which is o's, only runs code of others: it
// reports faults, or reads data that the record is about and that is not its own.
func (s *scan) passesOn(path, root string, o *owner) bool {
	return messenger(root) || o.mod != 0 && messenger(o.display) ||
		s.game && (s.finder.surrounds(path) || len(s.code) == 0 && nodes().MatchString(s.first))
}

// has reports whether there is evidence of a kind for o.
func (s *scan) has(kind Kind, o *owner) bool {
	return slices.ContainsFunc(s.findings, func(f finding) bool { return f.Kind == kind && f.owner.same(o) })
}

// codeOwner returns whose code has the path, such as Some.Mod.Type.Method: the
// mod that was learned with the longest part of it, or else its root.
func (s *scan) codeOwner(path, root string) (owner, bool) {
	const joints = ".:+/"
	for i := strings.LastIndexAny(path, joints); i >= len(root); i = strings.LastIndexAny(path[:i], joints) {
		if s.finder.known(path[:i]) != 0 {
			return s.finder.owner(rankCode, path[:i], root)
		}
	}
	if root == path || !strings.HasPrefix(path, root) || s.finder.goesBy(root) {
		return s.finder.owner(rankCode, root)
	}
	switch n := s.finder.authors[fold(root)]; {
	case n > 0:
		o, ok := s.finder.owner(rankCode, root)
		o.mod = n
		s.finder.listed(&o)
		return o, ok
	case n < 0:
		// The author of several mods: the next part is the mod's.
		second := identifier(path[len(root)+1:])
		rest := path[len(root)+1+len(second):]
		if strings.Count(rest, ".")+strings.Count(rest, ":") < 2 && !s.finder.goesBy(second) {
			return owner{}, false // nothing but a class: whose it is of that author's is not known
		}
		return s.finder.owner(rankCode, second)
	}
	return s.finder.owner(rankCode, root)
}

// patch reads what Harmony writes below a frame, and returns false for any other
// line:
//
//   - PREFIX author.some.mod: Boolean SomeMod.Patches:Prefix(Thing thing)
func (s *scan) patch(line string) bool {
	if !strings.HasPrefix(strings.TrimLeft(line, " \t"), "- ") {
		return false // as most
	}
	m := patchForm().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	weight := weightPatch
	if s.frames > 1 {
		weight = weightFarPatch
	}
	// The patch itself is code of the mod, with a name that reads better than an id: Boolean SomeMod.Patches:Prefix(…).
	if id, path := m[1], m[2]; readable(identifier(path)) && !s.finder.isGameCode(path) {
		s.owned(Patch, weight, rankCode, identifier(path), id)
	} else {
		s.owned(Patch, weight, rankOwner, id)
	}
	return true
}

var patchForm = texts.Lazy(`^[ \t]*- (?:PREFIX|POSTFIX|TRANSPILER|FINALIZER) (?:(.*?): \S* ?(.*))?`)

// parse reads a line of a trace. In a message only lines count that cannot be prose.
func parse(line string, stack bool) (frame.Frame, bool) {
	f, c := frame.Parse(line)
	return f, (c == frame.Sure || stack && c == frame.Within) && f.Path != ""
}

// methodPath returns a path without the prefix that Harmony and Mono give a method
// that they generated, and only up to the first generic type.
func methodPath(path string) string {
	path = unwrapped(path)
	if i := strings.IndexAny(path, "[<`("); i >= 0 {
		path = path[:i]
	}
	return path
}

// isGlobal reports whether a path names a method in a class without a namespace; dynamic, that it was
// generated, such as a patched method.
func isGlobal(path string, dynamic bool) bool {
	typ := unwrapped(path)
	if strings.ContainsAny(typ, "<[") { // as few do
		typ = arguments().ReplaceAllString(typ, "")
	}
	if i := strings.IndexAny(typ, "<[("); i >= 0 {
		typ = typ[:i]
	}
	i := strings.LastIndexAny(typ, ".:")
	if i < 0 {
		return false
	}
	typ = strings.TrimRight(typ[:i], ".:")
	if before, again, ok := strings.Cut(typ, "."); ok && dynamic && before == again {
		typ = before // the wrapper of a patched method repeats the type
	}
	return !strings.ContainsAny(typ, ".:")
}

// arguments are the arguments of a generic type, or the name of a method that a compiler wrote in them.
var arguments = texts.Lazy(`[<[][^<>[\]]*[>\]]`)

// unwrapped returns a path without what Harmony and Mono put before a method that they generated.
func unwrapped(path string) string {
	return path[len(wrapper().FindString(path)):]
}

// wrapper is also "MonoMod.Utils.DynamicMethodDefinition.Trampoline<", before Some.Type::Method.
var wrapper = texts.Lazy(`^(?:DMD<|MonoMod\.Utils\.DynamicMethodDefinition[.:](?:[\pL_][\pL\d_-]*<)?)*`)

// archiveOf returns the mod that a frame of Java names as the place of its code, "" where it names none, and how
// readable that is: the module in its layer, or else the archive.
//
//	at com.acme.press.Roller.turn(Roller.java:57) ~[press-2.3.0.jar:?]
//	at press-2.3.0.jar//com.acme.press.Roller.turn(Roller.java:57)
//	at TRANSFORMER/press@2.3.0/com.acme.press.Roller.turn(Roller.java:57) ~[press-2.3.0.jar%23201!/:2.3.0]
func archiveOf(f *frame.Frame) (mod string, rank int) {
	if f.Module != "" && !f.Script {
		return f.Module, rankFolder
	}
	f.Module = ""
	file, _, ok := strings.Cut(f.Path, ".jar//")
	if i := strings.LastIndexByte(f.Rest, '['); i >= 0 && !ok {
		file, _, ok = strings.Cut(f.Rest[i+1:], ".jar")
	}
	if !ok || strings.IndexByte(file, ']') >= 0 {
		return "", rankCode
	}
	if name := archive().FindStringSubmatch(file); name != nil && readable(name[1]) {
		return name[1], rankCode
	}
	return "", rankCode
}

// mayBeBare reports whether a class of the game may have no namespace: in Java, where names were shortened.
func mayBeBare(f *frame.Frame, java bool) bool {
	return !java || strings.Contains(f.Rest, obfuscated)
}

// obfuscated is the place of code whose names were shortened.
const obfuscated = "(SourceFile:"

// isJava reports whether a frame gives its place as Java does.
func isJava(line string) bool {
	places := []string{".java:", ".kt:", ".scala:", "(Native Method)", "(Unknown Source)", obfuscated, ".jar"}
	return slices.ContainsFunc(places, func(place string) bool { return strings.Contains(line, place) })
}

// archive matches the name of an archive with its version and its loader: "press-2.3.0", "press-fabric-1.20.1-2.3.0".
var archive = texts.Lazy(`^(.*?)(?:-(?:fabric|forge|neoforge|quilt|common))*(?:[-_+](?:\d|mc1\.).*)?$`)

// rootOf returns the part of the path of a method that names whose code it is: the
// first, or of those that are written small after the top-level domain with which packages of Java begin a part that
// is the name of a mod that was learned, or else the last of at most two, "press" of com.acme.press.Roller.turn.
// It returns "" where there is none.
func (f *Finder) rootOf(path string) string {
	root := identifier(path)
	if !domains[root] && !generic[root] && (len(root) != 2 || root != strings.ToLower(root)) { // or of a country
		return root
	}
	owner := ""
	rest := path[len(root):]
	for n := 0; ; n++ {
		rest = strings.TrimPrefix(rest, ".")
		part := identifier(rest)
		if part == "" || len(part) == len(rest) || rest[len(part)] != '.' || part[0]-'a' >= 26 {
			return owner
		}
		rest = rest[len(part):]
		switch {
		case f.known(part) != 0:
			return part
		case generic[part]:
			n--
		case n < 2:
			owner = part
		}
	}
}

// generic parts of packages mean code of any mod.
var generic = texts.Words("data scripts mods plugins hullmods shipsystems campaign missions weapons")

// domains begin packages. They do not identify a mod.
var domains = texts.Words("com org net io dev me de fr ru uk eu it jp cn us ca nl pl se tv xyz gg moe")
