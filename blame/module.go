package blame

import "strings"

// maxModules bounds the modules of which a Finder knows whose they are: several
// for each mod that anybody runs.
const maxModules = 8192

// LearnModules remembers in which modules the code of mods is: the frames of a
// trace name the type and, by a hash, the module that it came from. A mod that
// hides its names behind an obfuscator leaves some types readable, and of the
// others a trace then still tells whose they are. The first name of a module
// stays. It costs about as much as [Finder.Find].
func (f *Finder) LearnModules(trace string) {
	trace = trace[:min(len(trace), MaxText)]
	for line := range strings.SplitSeq(trace, "\n") {
		module := moduleOf(line)
		if module == "" || f.modules[module] != "" || len(f.modules) >= maxModules {
			continue
		}
		path, ok := framePath(line, true)
		if !ok {
			continue
		}
		path = methodPath(path)
		if root := rootOf(path); readable(root) && !f.nobody(path) && !keyword(root, path) {
			f.modules[strings.Clone(module)] = strings.Clone(root)
		}
	}
}

// moduleOf returns the hash of the module that a frame gives as its place,
// "… [0x00012] in <0123456789abcdef0123456789abcdef>:0", or "".
func moduleOf(line string) string {
	const open, digits = " in <", 32
	i := strings.LastIndex(line, open)
	if i < 0 {
		return ""
	}
	hash, _, ok := strings.Cut(line[i+len(open):], ">")
	if !ok || len(hash) != digits || strings.Trim(hash, "0123456789abcdef") != "" {
		return ""
	}
	return hash
}

// readable reports whether the root of a path names somebody. What an
// obfuscator leaves of a name does not.
func readable(root string) bool { return letters(root) >= 3 && len(root) <= MaxName }
