package rules

import (
	"maps"
	"slices"
	"strings"
)

// Bounds of game_code, as those of logger_frames: far above what people write.
const (
	maxGameCode     = 1000 // names in all files of a set
	maxGameCodeName = 128  // bytes of one
)

// GameCode returns the names that belong to no mod, as the files of the set give
// them under game_code: namespaces, assemblies, tags and package ids of the game,
// its engine, its runtime and of libraries that mods share. They are sorted; the
// slice is the caller's.
func (s *Set) GameCode() []string { return slices.Clone(s.gameCode) }

// gameCode gathers the game_code of all files.
func (l *linker) gameCode() {
	names := map[string]bool{}
	for _, d := range l.docs {
		for _, w := range d.gameCode {
			switch {
			case strings.Trim(w.text, ". ") == "" || strings.ContainsAny(w.text, "\t\r\n"):
				l.errs.addf(w.at, `write the beginning of a namespace, such as "Engine."`, "%s names no code", quote(w.text))
			case len(w.text) > maxGameCodeName:
				l.errs.addf(w.at, "name a namespace, not what is in it", "the name has %d bytes, more than the %d allowed", len(w.text), maxGameCodeName)
			case len(names) == maxGameCode:
				l.errs.addf(w.at, "name fewer, shorter namespaces", "more than %d names", maxGameCode)
				return
			default:
				names[w.text] = true
			}
		}
	}
	l.set.gameCode = slices.Sorted(maps.Keys(names))
}
