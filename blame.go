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

// LearnMods tells the engine which mods are loaded, so that what it blames has
// one name: that of the list, whatever a record calls it. Mods add up over calls.
// It returns how many were taken in; beyond 4,096 there is no room. A mod
// with nothing but a package id is left out: a record that names it has the id too, and
// often a name that is better to read. It copies what it keeps.
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

// LearnGame tells the engine how the game's program is called: code and tags of that name
// are the game's own, and no mod's. See [blame.Finder.LearnGame].
func (e *Engine) LearnGame(program string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.finder.LearnGame(program)
}

// Blame returns the mods that a log record points at, the likeliest first, and
// none for one that names none and for other entries. It changes nothing, and does not matter to what the
// engine decides. It costs some microseconds and a few allocations: ask for what
// is looked at, not for each record.
func (e *Engine) Blame(in *event.Entry) []Suspect {
	if in.Kind != event.KindLog {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.finder.Find(nil, in.Message, in.Stack)
}

// Likely returns the names that deserve to be said of a record's suspects where
// there is room for few words: one or two, or none where all evidence is weak.
func Likely(suspects []Suspect) []string { return blame.Likely(suspects) }

// accuse tells the coalescer whom e.entry, the first of its group in the item
// owner, points at. The lock is held.
func (e *Engine) accuse(owner uint64) {
	if e.entry.Kind != event.KindLog {
		return
	}
	e.finder.LearnModules(e.entry.Message)
	e.finder.LearnModules(e.entry.Stack)
	e.suspects = e.finder.Find(e.suspects[:0], e.entry.Message, e.entry.Stack)
	e.coalescer.Attribute(owner, blame.Likely(e.suspects))
}
