// Package follow follows a log file while it grows, and delivers its records as they
// come; it also records what an engine was given (see [Recorder]).
//
// # What is followed
//
// A path, not a file: it may not exist yet, be renamed away and created again, be
// replaced by rename, or be truncated and written again, also to the same or a greater
// length, since the bytes before the offset are compared at each read. Each of these is
// reported by a notice [event.StatusRestarted], unless [Config].Continues is set. Bytes
// that are known to have been removed before they were read are reported by a notice
// [event.StatusHole], and counted. NULs at the end are read again for
// [Config].PartialIdle, since they may be pages that are about to be written. On Windows
// the file is opened so that the game may rename and delete it.
//
// With [Config].Writers a file that its program still has open remains the log when another
// takes its place. A file that the same process writes continues the log, as does the log once
// that process has emptied it or cut it back: there is no notice, and lines are counted on. With
// [Config].NewRun the log is that of one run of one program, which is about to start: a file
// that an earlier run left is not present, a file that another program writes is not read, and
// if another file takes the place of the log and its program is not known, the log is not
// present until it grows again; [Config].Open may find it under another name. [Status].Absent
// has why there is none. Lines of a file whose program is not known are passed over; once it is
// known, the latest 16 MiB of them are read, and the rest is a hole.
//
// With [Config].Resume a Follower continues for an earlier one: each [Record] has the [Position] to resume from. The
// file is known by device and inode and by the 4 KiB before the position, under its name or another in the folder.
//
// The operating system notifies of changes to the folder; the file is polled as well:
// slowly, and fast without notifications or once a change came without one.
//
// # Records
//
// A record is delivered when the next begins, or when the file has been quiet for
// [Config].Idle; while the file grows all the time, half as long again after its first
// line. A line without its end waits for PartialIdle. Lines that come later and belong to
// a record continue it, as [capture.Stream] documents: nothing is lost. A record that
// comes again as a whole is the same occurrence, which the engine knows by [event.Part].
// [Follower.Sync] does not wait.
//
// # Bounds, cost, concurrency
//
// A Follower holds a chunk of 256 KiB and a [capture.Stream], whatever the length of the
// file; nothing is dropped: a slow [Handler] slows the reading. Run has one goroutine
// beside its caller's, for the notifications of the operating system, and none when it
// has returned. docs/performance.md has figures.
package follow
