// Package diag lets agents look into a [live.Session]: tools and resources of
// GABP that only read.
//
//	d, err := diag.New(diag.Config{Session: session})
//	…
//	d.Register(mux) // tools/list, tools/call, resources/list, resources/read
//
// A host with tools of its own, such as a proxy, asks [Diagnostics.Tools],
// [Diagnostics.Call], [Diagnostics.Resources] and [Diagnostics.Read] instead, and
// adds its own.
//
// # What holds for all tools
//
// Each is tagged with [Tags], so that a bridge and a gate let it through while
// attention is open. A call is no operation and leaves no entry. What it does leave
// is in the session's timeline: that a viewer has read an item, where it was given
// the item's samples or the entry that caused it. An item that was given in full
// counts as shown to the viewer, as if it had come with attention/current.
//
// Before it answers, a tool takes in every byte of the followed log that is there,
// where the session can do that in time; else the answer says so, in "behind".
//
// Arguments that a tool does not know or allow are refused with the code of
// invalid parameters. The error names the argument and what is allowed, in its
// message and in its data ([Refused]). So is a cursor that heed cannot have given
// out; then the data holds those to go on from.
//
// # Text of strangers
//
// What the game and its mods wrote is in members of its own, which the schemas
// call log text, on one line each, escaped and cut. No sentence of heed's holds any
// of it. Names that peers gave (of operations, tools, viewers, sources) are
// escaped and cut as well.
//
// # Bounds
//
// An answer has at most some hundred entries and 96 KiB of them, or the one
// entry that came first; what is left out is said: more, omitted, cut. Integers
// are below 2^53. A wait ends after 30 seconds, and in time before the context
// does. No call holds a lock of the engine for longer than one page takes.
//
// A [Diagnostics] is safe for concurrent use, has no goroutine and keeps nothing
// but the rules made ready to be explained.
package diag
