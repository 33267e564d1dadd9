package blame

import (
	"fmt"
	"strings"
)

// SetGameCode replaces Config.GameCode, for what is asked and learned from now on.
// Mods that were learned keep the names they were given. The error names an empty
// element; then nothing has changed.
func (f *Finder) SetGameCode(names []string) error {
	code, folded := make([]string, 0, len(names)), make(map[string]bool, len(names))
	for i, name := range names {
		name = strings.TrimSuffix(name, ".")
		if name == "" {
			return fmt.Errorf("blame: Config.GameCode[%d] is empty: name a namespace, an assembly or a tag", i)
		}
		code = append(code, name)
		folded[fold(name)] = true
	}
	f.gameCode, f.folded = code, folded
	return nil
}

// LearnGame tells how the game's program is called. Code, tags and mods of that name, case,
// spaces and punctuation aside, are the game's own, besides what Config.GameCode names. A
// name of fewer than three letters or digits is not taken in.
func (f *Finder) LearnGame(program string) {
	if key := fold(program); len(key) >= minGame {
		f.game = key
	}
}

// minGame is how long the name of a game must be: less names anything.
const minGame = 3

// isGame reports whether the first part of a name is that of the game's program.
func (f *Finder) isGame(name string) bool {
	if f.game == "" {
		return false
	}
	if i := strings.IndexAny(name, nameEnds); i >= 0 {
		name = name[:i]
	}
	return len(name) >= len(f.game) && fold(name) == f.game
}

// nameEnds end the part of a name that GameCode may name.
const nameEnds = ".+:/`"
