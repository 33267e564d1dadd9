package heed

import (
	"errors"
	"fmt"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
)

// Stats is the accounting of an [Engine]: the entries that it received and their outcomes, package by package. All
// counts are of entries, and exact. Its JSON form has the counts alone.
type Stats struct {
	// Received counts all entries; Ignored and Folded add up to it. Carried entries came before a carry-over: they have
	// numbers, and nothing else is known of them.
	Received uint64 `json:"received" jsonschema:"All entries; equal to ignored + folded."`
	Carried  uint64 `json:"-"`
	Late     uint64 `json:"-"` // of those received, the later lines of log records that were received before
	Ignored  uint64 `json:"ignored" jsonschema:"Not actionable."`
	Folded   uint64 `json:"folded" jsonschema:"Counted in an attention item."`

	// Host counts the engine's records of its own methods, to which rules do not apply.
	Logs       uint64 `json:"logs" jsonschema:"Log records."`
	Operations uint64 `json:"operations" jsonschema:"Events of operations."`
	States     uint64 `json:"states" jsonschema:"Events of the game."`
	Notices    uint64 `json:"notices" jsonschema:"Notices about the log."`
	Host       uint64 `json:"host" jsonschema:"Actions on items, such as acknowledgements."`

	Phase string `json:"-"`

	// Busy reports that the game may not answer for a while: a load is under way, as far as the log shows, or a long
	// event that the host reported.
	Busy bool `json:"-"`

	// Blind reports that the log is not evidence any more: part of it is missing.
	// BlindRule is the rule that decided so.
	Blind     bool   `json:"-"`
	BlindRule string `json:"-"`

	Classify classify.Stats `json:"-"`
	Coalesce coalesce.Stats `json:"-"`
	Journal  journal.Stats  `json:"-"`
}

// Stats returns the accounting so far. Its cost grows with the bounds of [Config], not with the entries received.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Release()
	s := Stats{
		Received:   e.Seq - e.Carried,
		Carried:    e.Carried,
		Late:       e.Late,
		Logs:       e.ByKind[event.KindLog],
		Operations: e.ByKind[event.KindOperation],
		States:     e.ByKind[event.KindState],
		Notices:    e.ByKind[event.KindNotice],
		Host:       e.ByKind[event.KindHost],
		Phase:      e.classifier.Phase(),
		Busy:       e.Heartbeat.Busy || e.coalescer.Loading(),
		Classify:   e.classifier.Stats(),
		Coalesce:   e.coalescer.Stats(),
		Journal:    e.journal.Stats(),
	}
	if blind := e.classifier.Blind(); len(blind) > 0 {
		s.BlindRule, s.Blind = blind[0], true
	}
	s.Ignored, s.Folded = s.Coalesce.Ignored, s.Coalesce.Folded
	return s
}

// Check returns an error for every law of conservation that s breaks. They hold at
// all times; a breach is a bug of heed.
func (s *Stats) Check() error {
	var errs []error
	equal := func(what string, a, b uint64) {
		if a != b {
			errs = append(errs, fmt.Errorf("heed: BUG: %s: %d is not %d", what, a, b))
		}
	}
	equal("received = ignored + folded", s.Received, s.Ignored+s.Folded)
	equal("received = logs + operations + states + notices + acts of the host", s.Received,
		s.Logs+s.Operations+s.States+s.Notices+s.Host)
	equal("received = classified + acts of the host", s.Received, s.Classify.Entries+s.Host)
	equal("carried + received = written to the journal, before a restore and since", s.Carried+s.Received,
		s.Journal.After+s.Journal.Written)
	equal("received = seen by the coalescer", s.Received, s.Coalesce.Received)
	equal("carried + received = latest of the coalescer", s.Carried+s.Received, s.Coalesce.Latest)
	if err := s.Coalesce.Check(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
