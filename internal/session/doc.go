// Package session runs one engine beside a running game. The engine has no clock,
// starts no goroutine and does no I/O; a [Session] is the shell that has them: it
// takes in what the game logs, tells the engine the time, hands updates over as
// they happen, wakes whoever waits for entries, makes operations of calls, keeps
// the engine's state on disk and the rules up to date.
//
//	s, err := session.New(session.Config{Log: follower, Snapshot: path})
//	…
//	s.OnUpdates(func(us []heed.Update) { publish(us) })
//	go s.Run(ctx)
//	…
//	run := s.Begin(session.Call{ID: id, Tool: "colony/build", Viewer: agent})
//	result, err := dispatch(call)
//	verdict, related, err := run.End(ctx, event.StatusCompleted, "")
//
// # Calls
//
// Each call becomes an operation, with the tool as method and an id that no other
// operation has, of this process or an earlier one; a call that only looks
// ([gate.Call.Diagnostic]) does not. [Running.End] settles: it takes in what is
// there of the log, and where the log grew since the call began it waits for what
// comes right after, for [Config].Settle at most.
//
// [Session.Source] is what a gate asks, and [Session.Gate] makes one.
//
// # What is told holds
//
// With Config.Snapshot the state is on disk before anybody is told of an item that
// an earlier snapshot does not have, and before an acknowledgement is answered. So
// a process that is killed and started again knows every id that it gave out, and
// gives none out twice. Numbers of entries that are newer than the snapshot are
// given again, so that a cursor holds over a kill only once it is older than
// Config.SnapshotEvery.
//
// # Concurrency and bounds
//
// All methods are safe for concurrent use, also before Run and after it. One
// goroutine, the pump, hands updates over in their order; sinks must be quick.
// Every wait ends with its context or a time-out of [Config], and every buffer has
// a bound there. Run ends when its context does, leaves no goroutine behind, and
// saves last.
package session
