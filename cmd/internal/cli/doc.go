// Package cli is what the programs of the project have in common as command
// lines: messages and exit statuses ([Program]), which files an argument stands for,
// whether to use color, a progress bar on a terminal, versions, which
// word or flag was meant, completion. What can be configured is for package
// settings, which builds on this one.
//
// It knows nothing of logs beyond the names that their files have, and writes
// only to what it was given. Functions are pure but for reading the directories
// and the terminals that they are asked about. [Screen] and its writers may be
// used by several goroutines; everything else is for one.
package cli
