package blame

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	texts "github.com/heedlog/heed/internal/text"
)

// Bounds.
const (
	// maxSuspects is how many suspects a record may have. Of more than that
	// none is likely to be the one: where they weigh the same, none is named.
	maxSuspects = 4

	// maxText is how many bytes of a message, and of a stack, are looked at.
	// Evidence is at the beginning of either.
	maxText = 32 << 10

	// maxMods is how many mods a Finder knows.
	maxMods = 4096

	maxFindings   = 48 // pieces of evidence in one record
	maxAssemblies = 64 // of one mod
)

// Finder finds the mods that records point at. The package documentation
// describes how.
type Finder struct {
	gameCode map[byte][]string // by firstOf
	folded   map[string]bool   // gameCode, folded
	game     string            // the game's program, folded; see LearnGame
	mods     []Mod             // with names as they are shown, none for code of no mod
	lessons  int               // see Lessons
	inLists  int               // how many of them are from complete lists; see LearnAll
	index    map[string]int    // folded name → index in mods plus one, or ambiguous
	hints    map[string]int    // folded end of a package id, in the same way: weaker
	authors  map[string]int    // folded beginning of a package id, in the same way
	ids      map[string]int    // folded package id → index in mods plus one
	names    map[string]int    // folded name that is shown → index in mods plus one

	// See LearnTrace.
	modules  map[string]string     // hash of a module → root of a namespace in it
	running  map[string]bool       // folded, the values of modules
	roots    map[string]*namespace // by the root of a namespace, "" for code without one
	methods  map[string]int        // path of a method that is not the game's → in how many of the traces it was
	gameRoot string                // root of the namespace that has the name of the game
	traces   int                   // how many there were
	frames   int                   // how many they had
}

// namespace is the code whose names begin with one root.
type namespace struct {
	frames int
	module string // of most of the frames, by majority vote
	votes  int
}

// ambiguous marks a name that several mods have.
const ambiguous = -1

// New returns a Finder that knows no mods yet, and the code that [Finder.SetGameCode] names.
func New(gameCode []string) *Finder {
	f := &Finder{
		index: map[string]int{}, hints: map[string]int{}, authors: map[string]int{},
		ids: map[string]int{}, names: map[string]int{}, modules: map[string]string{},
		running: map[string]bool{}, roots: map[string]*namespace{}, methods: map[string]int{},
	}
	f.SetGameCode(gameCode)
	return f
}

// Passes reports whether a name is one of GameCode, or the same but for case, spaces and punctuation.
func (f *Finder) Passes(name string) bool { return f.isGameCode(name) || f.folded[fold(name)] }

// otherName returns a substitute name for a mod whose name collides with
// GameCode: of its code, or else its package id.
func (f *Finder) otherName(m *Mod) string {
	for _, name := range append(slices.Clone(m.Assemblies), m.PackageID) {
		if name = display(name); readable(name) && !f.Passes(name) {
			return name
		}
	}
	return ""
}

// firstOf returns the first byte of a name in any case; all beyond ASCII are one.
func firstOf(s string) byte { return min((s[:min(len(s), 1)] + "\x00")[0], utf8.RuneSelf) | 0x20 }

// isGameCode reports whether GameCode has a name or the beginning of one, or the game has it.
func (f *Finder) isGameCode(name string) bool {
	has := func(g string) bool {
		return len(name) >= len(g) && strings.EqualFold(name[:len(g)], g) &&
			(len(name) == len(g) || strings.IndexByte(nameEnds, name[len(g)]) >= 0)
	}
	return slices.ContainsFunc(f.gameCode[firstOf(name)], has) || f.isGame(name)
}

// known returns the mod that goes by name, by its number, and 0 when there is
// none or more than one.
func (f *Finder) known(name string) int {
	return max(0, f.index[fold(name)])
}

// owner returns the mod that any of names means; the first is shown
// where the mod was not learned. It returns false for a name of no mod.
func (f *Finder) owner(rank int, names ...string) (owner, bool) {
	o, hint := owner{rank: rank}, 0
	for i, name := range names {
		if name == "" {
			continue
		}
		if f.isGameCode(name) {
			return o, false
		}
		last := lastPart(name)
		if len(last) < minPart || f.isGameCode(last) {
			last = ""
		}
		o.display = cmp.Or(o.display, display(name))
		o.mod, hint = cmp.Or(o.mod, f.known(name), f.known(last)), cmp.Or(hint, f.hint(name))
		if i < len(o.keys)-1 {
			o.keys[i] = fold(name)
		}
		o.keys[2] = cmp.Or(fold(last), o.keys[2])
	}
	if o.mod = cmp.Or(o.mod, hint); o.mod != 0 {
		f.listed(&o)
	} else if rank != rankCode && words(o.display) > maxWords {
		o.rank = rankPhrase
	}
	return o, letters(o.display) > 0
}

// minPart is how long the last part of a dotted name must be to mean the
// whole: "main", "core" and "mod" are the last parts of many.
const minPart = 5

// Find appends to dst the mods that a record points at, the likeliest first. A
// record that names none has none. The stack may also be part of the message.
// Neither is kept.
func (f *Finder) Find(dst []Suspect, message, stack string) []Suspect {
	s := scan{finder: f}
	s.text(message, false)
	s.text(stack, true)
	s.causes()
	s.paths()
	if s.memory {
		for i := range s.findings {
			s.findings[i].weight = min(s.findings[i].weight, weightDoubt)
		}
	}
	if len(s.findings) == 0 {
		return dst
	}
	return weigh(dst, f.mods, s.findings)
}

// SetGameCode names code of no mod for later calls: the game, its engine, the runtime, libraries that mods share.
// "Engine" and "Engine." both mean Engine and names that begin with "Engine.", without regard to case. No name is
// empty. Mods that were learned keep the names they were given.
func (f *Finder) SetGameCode(names []string) {
	f.gameCode, f.folded = map[byte][]string{}, map[string]bool{}
	for _, name := range names {
		name = strings.TrimSuffix(name, ".")
		f.gameCode[firstOf(name)] = append(f.gameCode[firstOf(name)], name)
		f.folded[fold(name)] = true
	}
}

// LearnGame sets the name of the game's program. Code, tags and mods of that name,
// case, spaces and punctuation aside, are the game's own, besides what
// [Finder.SetGameCode] names. A name of fewer than three letters or digits is ignored.
func (f *Finder) LearnGame(program string) {
	if key := fold(program); len(key) >= minGame {
		f.game = key
	}
}

// minGame is how long the name of a game must be: less names anything.
const minGame = 3

// isGame reports whether the first part of a name is the name of the game's program.
func (f *Finder) isGame(name string) bool {
	if i := strings.IndexAny(name, nameEnds); i >= 0 {
		name = name[:i]
	}
	return f.game != "" && len(name) >= len(f.game) && fold(name) == f.game
}

// nameEnds end the part of a name that GameCode may name.
const nameEnds = ".+:/`"

// The bounds of memory about traces: several times the usual number. Below minTraces, nothing is common.
const (
	maxModules = 8192
	maxMethods = 8192
	minTraces  = 10
)

// LearnTrace learns three facts from the trace of a record; one of each kind is enough. The modules of mods: frames
// name the type and, by a hash, its module. A mod with obfuscated names leaves some types readable; a trace of its
// other types then still identifies it. The first name of a module stays. The module of a namespace: code of the
// game's namespace in another module is a mod's. Common code: the namespace of most frames is the game's, and a method
// in most traces only calls the code that fails. LearnTrace costs about as much as [Finder.Find].
func (f *Finder) LearnTrace(trace string) {
	trace = trace[:min(len(trace), maxText)]
	if strings.IndexByte(trace, '(') < 0 {
		return // as most texts
	}
	seen := map[string]bool{}
	for line := range strings.SplitSeq(trace, "\n") {
		fr, ok := parse(line, true)
		if !ok {
			continue
		}
		path := methodPath(fr.Path)
		root, module := f.rootOf(path), moduleOf(fr.Rest)
		if !runtimes[root] {
			f.frames++
		}
		if !readable(root) || len(f.roots) >= maxModules {
			continue
		}
		if f.isGame(root) {
			f.gameRoot = strings.Clone(root)
		}
		space := root
		if isGlobal(fr.Path, false) {
			space = ""
		}
		f.namespace(space).count(module)
		if space == "" || f.ofGame(path, root, module) {
			continue
		}
		if module != "" && f.modules[module] == "" && len(f.modules) < maxModules {
			f.modules[strings.Clone(module)] = strings.Clone(root)
			f.running[fold(root)] = true
		}
		if !seen[path] && (f.methods[path] > 0 || len(f.methods) < maxMethods) {
			path = strings.Clone(path) // the trace is not to be kept
			seen[path] = true
			f.methods[path]++
		}
	}
	if len(seen) > 0 {
		f.traces++
	}
}

// namespace returns the namespace with a root, which may be new.
func (f *Finder) namespace(root string) *namespace {
	of := f.roots[root]
	if of == nil {
		of = &namespace{}
		f.roots[strings.Clone(root)] = of
	}
	return of
}

// count counts a frame in a module, "" if it is not known.
func (n *namespace) count(module string) {
	n.frames++
	switch {
	case module == "":
	case n.votes == 0:
		n.module, n.votes = strings.Clone(module), 1
	case n.module == module:
		n.votes++
	default:
		n.votes--
	}
}

// Knows returns a number that grows with each trace that taught something: answers at a lower one may be outdated.
func (f *Finder) Knows() int { return len(f.modules) + min(f.traces, minTraces) }

// common reports whether code with this root, which no list has, is the game's: most frames have it.
func (f *Finder) common(root string) bool {
	of := f.roots[root]
	return of != nil && f.traces >= minTraces && 2*of.frames >= f.frames && !f.goesBy(root)
}

// runtimes are the roots of code that each program on a runtime or an engine has in its traces.
var runtimes = texts.Words("System Microsoft Mono MonoMod UnityEngine Godot java javax jdk sun")

// surrounds reports whether a method is in most traces: a loop that all else runs in.
func (f *Finder) surrounds(path string) bool {
	return f.traces >= minTraces && 2*f.methods[path] > f.traces
}

// home returns the module of most frames of a namespace, "" if it is not known.
func (f *Finder) home(root string) string {
	if of := f.roots[root]; of != nil && of.votes > 0 {
		return of.module
	}
	return ""
}

// moved returns whose code a frame of the game's namespace is by its module, "" where only that is known that it is
// not the game's. It returns false for the game's own.
func (f *Finder) moved(root, module string) (owner string, ok bool) {
	home := f.home(root)
	if module == "" || home == "" || home == module {
		return "", false
	}
	if owner = f.modules[module]; owner != "" {
		return owner, true
	}
	return "", home == f.home(f.gameRoot)
}

// ofGame reports whether a method is the game's: rules name it, it is the runtime's, or it was compiled before the game
// ran, as only the game's own code is. Mods call that by names with a prefix.
func (f *Finder) ofGame(path, root, module string) bool {
	return f.isGameCode(path) || module == noModule || f.home(root) == noModule ||
		strings.HasPrefix(root, "Il2Cpp")
}

var noModule = strings.Repeat("0", 32)

// inModule matches the hash of a module in a frame: "… [0x00012] in <0123456789abcdef0123456789abcdef>:0".
var inModule = texts.Lazy(` in <[0-9a-f]{32}>`)

// moduleOf returns the hash of the module that a frame gives as its place, or "".
func moduleOf(line string) string {
	_, module, _ := strings.Cut(inModule().FindString(line), "<")
	return strings.TrimSuffix(module, ">")
}

// readable reports whether the root of a path is a name. The rest that an
// obfuscator leaves of one is none.
func readable(root string) bool { return letters(root) >= 3 && len(root) <= maxName }
