// Package follow follows a log file while it grows, and hands its records over as
// they come; it also records what an engine was given (see [Recorder]).
//
// # What is followed
//
// A path, not a file: it may not exist yet, be renamed away and created anew, be
// replaced by rename, or be cut and written anew, also to the same or a greater length, since
// the bytes before the offset are compared at each read. Each of these is told by a notice
// [event.StatusRestarted], unless [Config].Continues has it otherwise. What is known to have gone before it was read is a
// notice [event.StatusHole] with the bytes, and counted. NULs at the end are looked at
// again for [Config].PartialIdle, since they may be pages that are about to be
// written. On Windows the file is opened so that the game may rename and delete it.
//
// The operating system tells of changes to the folder; the file is polled as
// well, slowly, and fast where nobody tells or a change went untold.
//
// # Records
//
// A record is handed over when the next begins, or when the file has been quiet
// for [Config].Idle; a last line without its end waits for PartialIdle. What
// comes later and belongs to it continues it, as [capture.Stream] says: nothing is lost, and nothing
// counts as a new error that was none. [Follower.Sync] does not wait that long.
//
// # Bounds, cost, concurrency
//
// A Follower holds a chunk of 256 KiB and a [capture.Stream], whatever the length
// of the file; nothing is dropped: a slow [Handler] slows the reading. Run has one
// goroutine beside its caller's, which passes on what the operating system tells, and none when it has
// returned. A line is handed over some 25 ms after it was written, Idle by default; a Sync
// of a quiet file takes some 20 µs; a million lines in ten seconds keep up.
package follow
