package heed

import (
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/logline"
	"github.com/heedlog/heed/signature"
)

// Types of package blame that callers of the engine meet.
type (
	// Mod is the knowledge of a host about one mod.
	Mod = blame.Mod
	// Suspect is a mod that a record points at.
	Suspect = blame.Suspect
)

// LearnMods adds to the mods that the game runs with, so that each is blamed by one name: the name in the list,
// whatever name a record has. Once the list has three mods, a tag that names none of them blames no mod. It returns how
// many were added, at most 4,096 over all calls. It copies the parts that it keeps.
func (e *Engine) LearnMods(mods []Mod) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.learnMods(mods)
	e.finder.LearnAll(n)
	return n
}

// LearnInstalled adds mods that are installed, whether the game runs with them or not: names, ids and
// assemblies for those that records name. It returns how many were added, and shares the bound of LearnMods.
func (e *Engine) LearnInstalled(mods []Mod) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.learnMods(mods)
}

func (e *Engine) learnMods(mods []Mod) int {
	n, before := 0, e.finder.Lessons()
	for i := range mods {
		if e.finder.Learn(mods[i]) {
			n++
		}
	}
	if e.finder.Lessons() > before {
		clear(e.accused)
		e.coalescer.Rename(e.finder.Called)
	}
	return n
}

// Mod returns the name, package id and number in the Steam Workshop of the mod that blame calls name. It returns false
// if only the name is known.
func (e *Engine) Mod(name string) (Mod, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.finder.Mod(name)
}

// LearnGame sets the name of the game's program: code and tags of that name are the
// game's own, not a mod's. See [blame.Finder.LearnGame].
func (e *Engine) LearnGame(program string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.finder.LearnGame(program)
	clear(e.accused)
}

// Blame returns the mods that a log record points at, the likeliest first; other entries point at none. It changes
// nothing, and decisions do not depend on it. It allocates: call it for records that are displayed, not for each one.
func (e *Engine) Blame(in *event.Entry) []Suspect {
	if in.Kind != event.KindLog {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.finder.Find(nil, e.cut(blame.Spoken(in.Message, logline.Of(in))), e.cut(in.Stack))
}

// accused are the mods that the first entries of a signature point at, in 56 bytes: there are many.
type accused struct {
	names []string
	texts uint64 // a bit of the hash of each that was asked
	frame uint64 // see [coalesce.Input].Frame
	check uint32 // of the signature
	knew  int32  // [blame.Finder.Knows] when they were asked first
	asked uint8
	mixed bool // they differ
}

// The bounds of the memory of accused mods: the signatures, and of each the entries that are searched, one of each
// while there are more than fewAccused, so that a flood of signatures costs one search each.
const (
	maxAccused = 1 << 16
	fewAccused = 1024
	maxAsked   = 16
)

// accuse returns the mods that e.entry points at. A signature leaves out names and numbers, so that entries of one may
// well name one mod each: the first are searched, and if they agree, the others have the same mods. frame belongs to
// the signature, see [coalesce.Input].Frame. The lock is held.
func (e *Engine) accuse(sig signature.Signature) (names []string, frame uint64) {
	if e.entry.Kind != event.KindLog {
		return nil, 0
	}
	known := e.accused[sig.ID]
	if known.check != sig.Check || known.asked == 0 {
		e.finder.LearnTrace(e.entry.Message)
		e.finder.LearnTrace(e.entry.Stack)
		known = accused{check: sig.Check, frame: e.normalizer.Origin(e.entry.Message, e.entry.Stack)}
	}
	if knows := int32(e.finder.Knows()); known.knew != knows {
		known = accused{check: known.check, knew: knows, frame: known.frame} // the mod may be known by now
	}
	text, answered := uint64(0), known.asked == maxAsked || known.asked > 0 && len(e.accused) > fewAccused
	if !answered && !known.mixed { // the same text points at the same mods
		text = 1 << (e.classifier.TextSum(&e.entry) % 64)
		answered = known.texts&text != 0
	}
	if answered {
		return known.names, known.frame
	}
	e.suspects = e.finder.Find(e.suspects[:0], blame.Spoken(e.entry.Message, logline.Of(&e.entry)), e.entry.Stack)
	e.finder.LearnNames(e.suspects)
	names = blame.Likely(e.suspects)
	if known.asked > 0 && slices.Equal(names, known.names) {
		names = known.names
	} else {
		for i := range names {
			names[i] = strings.Clone(names[i]) // it may be part of the entry
		}
		known.mixed = known.mixed || known.asked > 0
	}
	if known.names = names; known.mixed {
		known.names = nil // several answers are none
	}
	known.asked++
	known.texts |= text
	if len(e.accused) >= maxAccused {
		clear(e.accused)
	}
	e.accused[sig.ID] = known
	return names, known.frame
}
