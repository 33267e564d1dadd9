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
