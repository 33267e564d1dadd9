// Package coalesce folds urgent entries into attention.
//
// A [Coalescer] receives every entry with the decision about it. Urgent entries
// are folded into bursts: one for each root operation, one for each ambient
// episode (entries that belong to no operation), one for blindness, one for each
// key under which the host raises entries itself. A bridge sees a burst as an
// item, an [Attention]: it is opened once, updated when it becomes worse or about
// ten times larger, and cleared by an acknowledgement, by a rule that resolves it,
// or, if advisory, by time.
//
// # Where an entry belongs
//
// An entry that names an operation belongs to the burst of its root. One that
// names none belongs to the only root that is running, or, with none running, to
// the only one that ended within Linger; that is an inference, and never reported
// as a cause. In all other cases, and where it repeats a group of the ambient
// episode, it is ambient. A phase change or AmbientQuiet ends an episode; its item
// stays.
//
// # What an acknowledgement covers
//
// An acknowledgement has a watermark: what was delivered to the consumer. It clears
// the item. What came after the watermark and is new opens a successor: a group
// that is new moves to it whole, one that became worse than all the item held moves
// from there on. Repeats of what was acknowledged are suppressed: they are counted
// in the item, and neither open anything nor make another item worse, until
// something is new: another rule or group (after familiarGroups: another rule), a
// higher severity, a much higher rate (rateFactor), another operation that is named,
// or a return after AckMemory. An entry whose operation is only inferred is never "another
// operation": a fault that goes on would otherwise block each next call again.
//
// # Blame
//
// [Coalescer.Attribute] records which mods the first entry of a group points at. A
// sample lists the names of its group, an item those of its cause. They decide
// nothing.
//
// # Bounds
//
// Everything has a capacity, allocated by [New] but for texts, operations and keys.
// A default Coalescer holds 96 items of 128 groups, about 4 MB, and 1,024
// operations. A group beyond these has a key, of 12 to 24 bytes and with all items at most
// 262,144. What is evicted is counted in
// [Stats], which proves at any time that every entry received is ignored, or counted in
// exactly one item. Only what waits for [Coalescer.Retention] has no bound of its own.
//
// # Clocks and cost
//
// There is no clock: time comes with the entries and with [Coalescer.Advance].
// The engine's time is the latest it has seen, and windows run on it: an entry
// that comes late, or has no time, counts from when it came. A time that is further
// back than MaxSkew sets the engine's time back; windows that were running then go
// on in entries. The same calls give the same updates, byte for byte.
//
// An ignored entry costs a few comparisons; a repeat of an urgent one, one table
// look-up and no allocation (go test -bench Fold). The first urgent entry after an
// event of an operation costs a pass over the known operations, a cleared item
// likewise. Text is rendered only by [Coalescer.NextUpdate], [Coalescer.Current] and
// [Coalescer.Item].
//
// A Coalescer is not safe for concurrent use; the engine at the module's root
// holds the lock. It never fails on an entry.
package coalesce
