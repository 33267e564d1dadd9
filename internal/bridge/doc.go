// Package bridge stands between a bridge and the mod in a game that speak GABP,
// and adds heed's attention, gate and diagnostics to what the mod offers.
//
// # What passes
//
// Requests that are not named here go to the mod, and its answers to the bridge,
// byte for byte: results, errors, methods that nobody knows. So do its events,
// on channels of the same names; they are numbered anew for each subscriber, from
// 1, since a mod that is started again begins to count anew too. Where they come faster than
// a bridge reads, the oldest give way to what is heed's and leave a hole in the numbers.
// tools/list and resources/list are the mod's with heed's added. The welcome names
// the mod's agent, app, methods, channels and observations, and the lesser of both
// sides' limits.
//
// # What does not
//
// attention/current, attention/ack and the attention channels are heed's. What the
// mod says on its own is input: its attention items are taken over and acknowledged
// to it at once, so that it holds nothing against nobody; what they and its log
// channels say of levels and operations counts, and rules decide what it means.
// The log file tells most of it too, see [Dedup].
//
// Each tools/call is an operation, whose method is the tool. The gate looks before it is
// forwarded; a refused call is answered here and never reaches the mod. A result in
// which the tool itself says that it failed is a failed operation. The item that
// came of a call goes with its result or its error; where there is none, they go
// through as they are.
//
// # What bridges in the field do
//
// GABS dials once the game's process is there, every 0.1 to 2 s, and within its
// time waits for the welcome too; it asks for tools once per connection. So a
// welcome before the mod is there would hide the mod's tools: it is held back until
// the mod has answered, or [Config].ModWait has passed. A bridge that was welcomed
// without the mod is disconnected when the mod answers, and comes again. Its hello has a launch id of its own
// for each connection, the token is the same. After a lost connection it comes back
// when it is told to. It cancels a call by forgetting it.
//
// Lib.GAB, which mods are built with, lists its tools' names as methods in its
// welcome, answers methods that it does not know with -32601, and tells events of a
// channel to whoever subscribed. RimBridgeServer's channel rimbridge.log carries
// {"type":"log","logEntry":{…}} with level, message, stackTrace, operationId,
// entryId and a repeatCount that it tells of at 2, 5, 10, 25, 50, 100 and each
// further 100; rimbridge.operation carries {"type":…,"operationEvent":{…}}.
// Operation ids in them are the mod's own; results of its tools name them.
//
// # Diagnostics
//
// [Diagnostics] lets agents look into a [session.Session]: tools and resources of GABP that only read.
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
// but an evaluator of the rules that decide.
package bridge
