// Package coalesce folds what is urgent into attention.
//
// A [Coalescer] takes in every entry with the decision about it. Urgent entries
// are folded into bursts: one for each root operation, one for each ambient
// episode (what belongs to no operation), one for blindness, one for each key under
// which the host raises something itself. What a bridge sees
// of a burst is an item, an [Attention]: opened once, updated when it grows
// worse or ten times larger or so, and cleared by an acknowledgement, by a rule
// that resolves it, or, if advisory, by time.
//
// # Where an entry belongs
//
// An entry that names an operation belongs to the burst of its root. One that
// names none belongs to the only root that runs, or, with none running, to the
// only one that ended within Linger; that is an inference, and never reported
// as a cause. In all other cases, and where it repeats what the ambient episode
// already holds, it is ambient. A phase change or AmbientQuiet ends an episode;
// its item stays.
//
// # What an acknowledgement means
//
// An item is cleared up to what the acknowledger was shown. What came later and
// is new opens a successor: a group that is new moves to it whole, one that
// became worse than all the item held moves from there on, and the item is left
// as it was shown. After that the item is a memory: repeats are counted in it,
// and are visible, and neither open anything nor make another item worse, until
// something is new: another rule or group (after eight groups: another rule), a
// higher severity, ten times the rate, another operation that is named, or a
// return after AckMemory. An entry whose operation is only inferred is never
// "another operation": a fault that goes on would otherwise block each next call
// anew.
//
// # Blame
//
// Whoever folds may say, of the first entry of a group, which mods it points at:
// [Coalescer.Attribute]. A sample shows the names of its group, an item those of
// its cause. They decide nothing.
//
// # Bounds
//
// Everything has a capacity, allocated by [New] but for texts and operations.
// A default Coalescer holds 96 items of 128 groups, about 4 MB, and 1,024
// operations. What is displaced is counted in [Stats], which at any time
// proves that every entry received is ignored, or counted in exactly one item.
// Only what waits for [Coalescer.Evidence] has no bound of its own.
//
// # Clocks and cost
//
// There is no clock: time comes with the entries and with [Coalescer.Advance].
// The engine's time is the latest it has seen, and windows run on it: an entry
// that comes late, or has no time, counts from when it came. What is further
// back than MaxSkew sets the time back; windows that were running then go on in
// entries. The same calls give the same updates, byte for byte.
//
// An ignored entry costs a few comparisons; a repeat of an urgent one, one table
// look-up and no allocation: 8 ns and 32 ns, and 15 ns more where entries have a
// time (go test -bench Fold, Go 1.26, one core of an Intel Xeon). The first
// urgent entry after an event of an operation costs a pass over the operations
// known, a cleared item one as well. Text is rendered only in
// [Coalescer.Updates], [Coalescer.Current] and their like.
//
// A Coalescer is not safe for concurrent use; the engine at the module's root
// holds the lock. It never fails on an entry.
package coalesce
