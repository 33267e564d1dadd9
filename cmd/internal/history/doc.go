// Package history remembers the sessions of games on one machine, in a database: when a fault was seen first, what
// changed just before, and in how many sessions with and without a mod things break.
//
// It keeps summaries of package summary, which have no private text. A log is one session, however often it is read; a
// longer copy of it takes the place of the shorter. Groups of sessions of one game that have a signature in common are
// one, and stay one while any session has it. What a session does not show is not counted: one whose log lists no mods
// is neither with a mod nor without, and one with groups that are not listed is not without any.
//
// The database is bounded, and the oldest sessions are forgotten first. docs/history.md describes its views for plain
// SQL. Several processes may use it at once, and a kill loses what was not committed alone.
package history
