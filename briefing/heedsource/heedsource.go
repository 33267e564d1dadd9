// Package heedsource lets package briefing read an engine of heed: its journal as the ledger "hot", its open items,
// rules and mods. All of it is read only: a brief marks nothing as delivered, moves no cursor, and leaves the engine's
// snapshot as it is, byte for byte.
package heedsource

import (
	"github.com/heedlog/heed"
	"github.com/heedlog/heed/rules"
)

// Config has what the sources read. Its functions may be called from many goroutines.
type Config struct {
	Engine *heed.Engine
	Rules  func() *rules.Set
	Tools  func() []Tool     // of the game's mod; nil: the registry "tools" has none
	Mods   func() []heed.Mod // that the game runs with; nil: the registry "mods" has none

	// Place shows a host's position, such as "line 599". Nil: positions are not shown.
	Place func(pos uint64) string

	// Next returns what to do or to look at next about an item, one line each, as the surface offers it: a tool to call,
	// a command to run. Nil: nothing beside the rule's advice.
	Next func(*heed.Attention) []string
}

// Tool is a tool of a game.
type Tool struct {
	Name        string
	Description string
	Schema      []byte // of its arguments, JSON; nil: not known
}
