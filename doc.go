// Package heed finds, in a flood of log lines and operation events, the few that deserve the attention of an agent that
// acts on a running game. Here its game throws an exception in a call of build:
//
//	operation 1 starts: build      ignored
//	"Loaded 12 maps"               ignored, in the journal
//	"Exception ticking Human7"     blocking: item 1 opens, after build
//	"Exception ticking Human9"     the same group: counted in item 1
//	operation 1 completes          Verdict("1") is blocking, by item 1
//	Current("agent")               item 1: its summary, samples, mods; it stops calls
//	Ack("agent", item 1)           item 1 is cleared
//	operation 2 starts: build      a new call; its verdict is clean so far
//
// An [Engine] ingests log records, operation events, state events and notices, each an [event.Entry]. It reduces each
// to a signature (package signature), decides by rules whether it is blocking, advisory or ignored (packages rules and
// classify), keeps it in a ring-buffer journal (package journal) and folds urgent entries into attention items (package
// coalesce), which a bridge drains with [Engine.Updates] or reads with [Engine.Current].
//
//	engine, err := heed.New(heed.Config{Epoch: "2026-01-31T10.00"})
//	…
//	engine.Log(event.Log{Level: event.LevelError, Message: text})
//	for _, u := range engine.Updates(nil) {
//		send(u)
//	}
//
// The engine has no clock, starts no goroutine, reads and writes nothing and uses no randomness: time comes with the
// entries and with [Engine.Advance], and the same sequence of calls gives the same updates, byte for byte. It is safe
// for concurrent use; one lock orders all calls. Its memory is bounded by [Config], and evictions are counted in
// [Stats].
//
// A Go program sends its own logs with package hostlog, or with [NewHandler], a [log/slog.Handler].
package heed
