// Package session runs one engine during a game. The engine has no clock, starts no goroutine and does no I/O;
// a [Session] is the shell that has them: it ingests the game's log, advances the engine's time, delivers updates as
// they happen, wakes waiters, records calls as operations, and keeps the engine's state on disk and its rules current.
//
//	s, err := session.New(session.Config{Log: follower, Snapshot: path})
//	…
//	s.OnUpdates(func(us []heed.Update) { publish(us) })
//	go s.Run(ctx)
//	…
//	run := s.Begin(session.Call{ID: id, Tool: "colony/build", Consumer: agent})
//	result, err := dispatch(call)
//	verdict, related, err := run.End(ctx, event.StatusCompleted, "")
//
// # Calls
//
// Each call becomes an operation, with the tool as method and an id that no other operation has, of this process or an
// earlier one; a call that only reads ([gate.Call.Diagnostic]) does not. [Running.End] ingests the log as far as it is
// written. Later lines hold the next call, unless [Config].Settle lets the result wait for them.
//
// [Session.Source] is the source of a gate, which [gate.New] makes.
//
// # Durability
//
// With Config.Snapshot the state is on disk before an item that an earlier snapshot lacks is reported, and before an
// acknowledgement is answered. A call that began or ended since is in a file of notes, which the next snapshot
// replaces. A process that is killed and started again knows every id that it gave out, and gives none out twice.
// Sequence numbers newer than the snapshot are given again, so that a cursor survives a kill only once it is older
// than [SnapshotEvery]. The file also has the position in the log, which is copied in one order with the state: with
// [Position] as Resume of the follower, each line is in the state once, whenever the process was killed.
//
// # Concurrency and bounds
//
// All methods are safe for concurrent use, also before Run and after it. One goroutine, the pump, delivers updates in
// order; sinks must be quick. Every wait ends with its context or a time-out of [Config], and every buffer has a bound
// there. Run ends when its context does, ends all its goroutines, and saves last.
package session
