// Package heed decides what in a flood of log lines and operation events
// deserves the attention of an agent that acts on a running game.
//
// An [Engine] ingests log records, operation events, state events and notices,
// each an [event.Entry]. It reduces each to a signature (package signature),
// decides by rules whether it is blocking, advisory or ignored (packages rules and
// classify), keeps it in a ring-buffer journal (package journal) and folds what is
// urgent into attention items (package coalesce), which a bridge drains with
// [Engine.Updates] or reads with [Engine.Current].
//
//	engine, err := heed.New(heed.Config{Epoch: "2026-01-31T10.00"})
//	…
//	engine.Log(event.Log{Level: event.LevelError, Message: text})
//	for _, u := range engine.Updates(nil) {
//		send(u)
//	}
//
// The engine has no clock, starts no goroutine, reads and writes nothing and
// uses no randomness: time comes with the entries and with [Engine.Advance], and
// the same sequence of calls gives the same updates, byte for byte. It is safe
// for concurrent use; one lock orders all calls. Its memory is bounded by
// [Config], and what is evicted is counted in [Stats].
//
// A Go program sends its own logs with package hostlog, or with [NewHandler], a
// [log/slog.Handler].
package heed
