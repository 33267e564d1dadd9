// Package bridge is a proxy between a bridge and the mod in a game, which both speak GABP. It adds heed's attention,
// gate and diagnostics to the mod's tools, resources and events.
//
// # Messages that pass
//
// Requests that are not named here go to the mod byte for byte, unknown methods too, and its answers to the bridge.
// Answers to calls get heed's item and verdict in addition. So do its events, on channels of the same names; they are
// numbered for each subscriber from 1, since a mod that is started again counts from 1 again. If they come faster
// than a bridge reads, the oldest are dropped in favor of heed's, which leaves a gap in the numbers. tools/list and
// resources/list are the mod's with heed's added. The welcome has the mod's agent, app, methods, channels and
// observations, and the lesser of both sides' limits.
//
// # Calls and attention
//
// attention/current, attention/ack and the attention channels are heed's. Reports of the mod are input: its attention
// items are ingested and acknowledged to it at once, so that it holds nothing back; levels and operations in them and
// in its log channels count, and rules decide. The log file has most of it too, see [Dedup].
//
// Each request that reaches the mod is an operation: tools/call, whose method is the tool, resources/read and whatever
// heed does not answer itself. The gate decides before it is forwarded; a refused call is answered here and never
// reaches the mod. A result in which the tool reports its own failure is a failed operation.
// The item that results from a call goes with its result or its error; without one, they go through as they are.
//
// A game that gives no sign of life is reported as a stall, which rules make an item, and so is its recovery.
//
// # Bridges in the field
//
// GABS dials every 0.1 to 5 s until it is accepted, for 20 s and then for 40 s more, and within its time waits for the
// welcome on the first connection; it asks for tools once per connection, and connects again only when its agent asks.
// A welcome before the mod is there would hide the mod's tools, and a bridge that is disconnected does not come back.
// So the welcome is held while the mod is not connected, as long as the bridge stays, the game may still have a mod,
// and [Config].ModWait lasts. Its hello has a new launch id for each connection; the token is the same. It cancels a
// call by ignoring its answer.
//
// Lib.GAB, with which mods are built, lists its tools' names as methods in its welcome, answers unknown methods with
// -32601, and sends events of a channel to all subscribers. RimBridgeServer's channel rimbridge.log carries
// {"type":"log","logEntry":{…}} with level, message, stackTrace, operationId, entryId and a repeatCount, sent at 2, 5,
// 10, 25, 50, 100 and each further 100; rimbridge.operation carries {"type":…,"operationEvent":{…}}. Operation ids in
// them are the mod's own; results of its tools name them.
//
// # Diagnostics
//
// [Diagnostics] lets agents look into a [session.Session]: tools and resources of GABP that only read. Each is tagged
// with [Tags], so that a bridge and a gate let it through while attention is open. A call is no operation and leaves no
// entry. The session's timeline records that a consumer has read an item, if the answer held the item's samples or
// the entry that caused it. An item that was answered in full counts as delivered to the consumer, as if it had come
// with attention/current.
//
// Before it answers, a tool ingests every byte of the followed log that is there, if the session can do that in
// time; otherwise the answer says why newer entries may be missing.
//
// Arguments that a tool does not know or allow are refused with the code of invalid parameters. The error names the
// argument and the allowed values, in its message and in its data ([Refused]). A cursor that heed has not given out is
// refused, too; the data then has the cursors to continue from.
//
// # Untrusted text
//
// Text of the game and its mods is in members of its own, which the schemas call log text, on one line each, escaped
// and cut. heed's own sentences hold no log text. Names that peers gave (of operations, tools, consumers, sources) are
// escaped and cut as well.
//
// # Bounds
//
// An answer has at most some hundred entries and 96 KiB of them, or the first entry alone; the members more, omitted
// and cut count the rest. Integers are below 2^53. A wait ends after 30 seconds, and in time before the context does.
// No call holds a lock of the engine for longer than one page takes.
//
// A [Diagnostics] is safe for concurrent use, has no goroutine and keeps nothing.
package bridge
