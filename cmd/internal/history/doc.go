// Package history remembers the sessions of games on one machine, in a database: the first session with a fault, the
// changes just before, and the broken sessions with and without a mod.
//
// It keeps summaries of package summary, which have no private text. A log is one session, however often it is read; a
// longer copy of it replaces a shorter copy. Groups of sessions of one game that have a signature in common are one
// group, as long as any session has it. A session counts only as far as it shows: a session whose log lists no mods
// counts neither with a mod nor without, and a session with unlisted groups does not count without any group.
//
// The database is bounded, and the oldest sessions are forgotten first. docs/history.md describes its views for plain
// SQL. Several processes may use it at once. A kill loses only uncommitted data.
package history
