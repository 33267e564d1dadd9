// Package follow follows a log file while it grows, and delivers its records as they come. [Recorder] records the input
// of an engine.
//
// # The log and its files
//
// A path, not a file: it may not exist yet, be renamed away and created again, be a link that is switched, be replaced
// by rename, or be emptied and written again. A log is a sequence of files. When another file has the path, the old one
// is read to its end; it stays open until it was silent for a second and the new one has text, and its late lines are
// delivered between two lines of the new one. Files that had the path between two looks are found in the folder: they
// were written since then, and have the new name of the old file but for numbers, or the name of the log with a number.
// If some of them may have been removed or compressed, a notice [event.StatusHole] with the count 0 says so. Files with
// such names that were there before the Follower are not of the log.
//
// A file that does not continue the log begins with a notice [event.StatusRestarted]. Bytes that are known to have been
// removed before they were read are reported by a notice [event.StatusHole], and counted. A new file that begins with
// all that was read is the same log. A file that is shorter than before, or has other bytes before the offset, was cut
// back if the remaining lines are unchanged: then reading continues after them. Else it was emptied. If it has only the
// beginning of the text that was read, it may be about to be written again, and there is time for that. If a copy in
// the folder has text that was not read before the file was emptied, that is read first.
//
// Not known is whether a file was emptied that has the same bytes again before the offset: it is the same log. With
// [Config].NewRun [Status].Evidence says then that earlier text was not read. Text is lost unseen if it is written, and
// removed or copied away as a whole, between two looks at an unread file.
//
// NULs at the end of a file are reserved space, however long: the text is read once it is written, and
// [Status].Unwritten has the length. NULs before text may be written late, too: the text is delivered after
// [Config].PartialIdle, and the NULs are checked for five seconds. Late text is delivered between two lines; NULs that
// remain are a hole. On Windows a file is opened so that the game may rename and delete it.
//
// With [Config].Writers a file that its program still has open remains the log when another file replaces it, unless
// the same program has that file open, too, or only that file grows. A file that the same process writes continues the
// log, as does the log once that process has emptied it: there is no notice, and line numbers continue. With
// [Config].NewRun the log belongs to one run of one program, which is about to start. A file of an earlier run is not
// present, and a file that another program writes is not read. If another file replaces the log and its program is not
// known, the log is not present until it grows again; [Config].Open may find it under another name. [Status].Absent has
// the reason for a missing log. Lines of a file whose program is not known are passed over; once the program is known,
// the latest 16 MiB of them are read, and the rest is a hole.
//
// With [Config].Resume a Follower continues for an earlier one: each [Record] has the [Position] to resume from. The
// file is known by device, inode and time of creation and by the 4 KiB before the position, under its name or another
// in the folder. If it was emptied, a copy with a number in its name that has these 4 KiB is read first.
//
// The operating system notifies of changes to the folder; the file is polled as well:
// slowly, and fast without notifications or once a change came without one.
//
// # Records
//
// A record is delivered when the next begins, or when the file has been quiet for
// 15 ms; while the file grows all the time, half as long again after its first
// line. A line without its end waits for PartialIdle. Lines that come later and belong to
// a record continue it, as [capture.Stream] documents: nothing is lost. A record that
// comes again as a whole is the same occurrence, which the engine knows by [event.Part].
// [Follower.Sync] does not wait.
//
// # Bounds, cost, concurrency
//
// A Follower holds a chunk of 260 KiB, a [capture.Stream], and the end of each of the latest 64 files, for files of any
// length. A folder with more than 10,000 files is not searched. Nothing is dropped: a slow [Handler] slows
// the reading. Run starts one goroutine, for the notifications of the operating system, and ends it before it returns.
// bench/README.md has the command.
package follow
