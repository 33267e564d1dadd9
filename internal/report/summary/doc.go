// Package summary has the summary of one session of a game: history keeps it, and reports about many players are merged
// from it. It is made of a replay or of a running session (package report), and is plain data without private text. Its
// size is bounded for a log of any size.
//
// Version is the version of the shape. A field may be added within a version; a removed field, or a new meaning, is a
// new version. Groups of two sessions are the same where they have a signature in common and were made by the same
// version of signatures.
package summary
