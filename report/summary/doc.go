// Package summary has the summary of one session of a game: what history keeps and what logs of many players are merged
// from. It is made of a replay or of a running session (package report), is plain data without private text, and its
// size is bounded whatever the log's is.
//
// Version is that of the shape. A field may be added within a version; one that is removed or changes its meaning is a
// new version. Groups of two sessions are the same where they have a signature in common and were made by the same
// version of signatures.
package summary
