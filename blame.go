package heed

import (
	"github.com/heedlog/heed/blame"
	"github.com/heedlog/heed/event"
)

// Types of package blame that callers of the engine meet.
type (
	// Mod is what a host knows about one mod.
	Mod = blame.Mod
	// Suspect is a mod that a record points at.
	Suspect = blame.Suspect
)

// LearnMods adds to the loaded mods, so that each is blamed by one name: that of the
// list, whatever a record calls it. It returns how many were added, at most 4,096 over
// all calls. A mod with only a package id is left out: a record that names it has the id
// too, and often a more readable name. It copies what it keeps.
func (e *Engine) LearnMods(mods []Mod) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for i := range mods {
		m := &mods[i]
		if (m.Name != "" || len(m.Assemblies) > 0) && e.finder.Learn(*m) {
			n++
		}
	}
	return n
}

// LearnGame sets the name of the game's program: code and tags of that name are the
// game's own, not a mod's. See [blame.Finder.LearnGame].
func (e *Engine) LearnGame(program string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.finder.LearnGame(program)
}

// Blame returns the mods that a log record points at, the likeliest first, and
// none for one that names none and for other entries. It changes nothing, and decisions
// do not depend on it. It allocates: call it for records that are displayed, not for each
// one.
func (e *Engine) Blame(in *event.Entry) []Suspect {
	if in.Kind != event.KindLog {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.finder.Find(nil, in.Message, in.Stack)
}

// attribute passes the mods that e.entry, the first of its group in the item owner, points
// at to the coalescer. The lock is held.
func (e *Engine) attribute(owner uint64) {
	if e.entry.Kind != event.KindLog {
		return
	}
	e.finder.LearnModules(e.entry.Message)
	e.finder.LearnModules(e.entry.Stack)
	e.suspects = e.finder.Find(e.suspects[:0], e.entry.Message, e.entry.Stack)
	e.coalescer.Attribute(owner, blame.Likely(e.suspects))
}
