// Package coalesce folds urgent entries into attention.
//
// A [Coalescer] receives every entry with the decision about it. Urgent entries
// are folded into bursts: one for each root operation, one for each ambient
// episode (entries that belong to no operation), one for blindness, one for each
// key under which the host raises entries itself. A bridge sees a burst as an
// item, an [Item]: it is opened once, updated when it becomes worse or about
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
// An incident is wider than a burst. An entry whose group an open item holds joins that
// item, whatever its burst. Advisory entries share one open item. An item that was cleared
// without an acknowledgement is opened again, under its id, when its group returns; an id
// that was acknowledged never is.
//
// The load of a game is one incident, whatever its entries name: from [Input].Fresh to the
// next phase, the exit of the process, loadPlay after the first evidence of play, or
// loadMax. A call that began in the load and completed is evidence, too: loadCalls of them
// end it, and loadCall after the first. After the first acknowledgement what is new in it
// gathers in a successor that blocks when the load is over; what is fatal blocks at once. No
// call is clean while that successor is open.
//
// No item holds entries of two runs of the game ([Input].NewRun). What only advises is cleared with its run, and so is
// what blocks where nobody acts on the game under a name; else that stays until it is acknowledged or somebody arrives.
// What was acknowledged in one run is new in the next.
//
// # Variants
//
// What one log statement wrote is one group, and what it decides may differ: a code, a state
// ([Input].Variant). All that is kept of a group under a rule is kept of each of its variants:
// counts, exposure, acknowledgement, standing. Of a group in all items maxVariants are told
// apart; those that come after them are one, others. The number of groups of an item counts
// groups. A variant that an open item had not yet is an update; one that no item had, where
// the group was acknowledged, opens a successor. So a group is news nine times at most, until
// its items are evicted.
//
// # What an acknowledgement covers
//
// An acknowledgement has a watermark: what was delivered to the consumer. It clears
// the item. What came after the watermark and is new opens a successor: a group
// that is new moves to it whole, one that became worse than all the item held moves
// from there on. Repeats of what was acknowledged are suppressed: they are counted
// in the item, and join no other, until something is new: another rule, group or variant
// (after familiarGroups, while the burst goes on: another rule), a higher severity, a much higher
// rate (rateFactor), or a return after AckMemory.
//
// A blocking fault that returns in a call which began after the acknowledgement is
// charged to that call, and opens a successor, unless it also occurs outside of calls
// about as often (chargeFactor). Occurrences are counted for each variant of a group inside and
// outside of the windows of calls, from their start to Linger after their end, with how
// long either lasted; entries that follow each other closely (runGap) are one occurrence.
// After standingAfter such stops in calls of one method, between which the state was read
// ([Coalescer.StateRead]; of those without a read between as many do not count), the
// fault is standing: it makes verdicts unknown, and stops no call, until another method
// meets it, it is rateFactor as frequent per call, a game is loaded, or it stays away for
// forgetAfter calls.
//
// # Verdicts and updates
//
// A [Verdict] is clean only if evidence was complete and nothing urgent fell into the
// window of the operation. What did and is not charged to it makes it unknown.
//
// Updates are few: over any sequence of n urgent entries in k groups with s stops,
// 6 + 3 log10 n + 3 log10 k + 3 s at most, and two for each acknowledgement of an item that
// stopped nobody; what the host raises, and arrivals, come on top. What stops nobody takes
// from one allowance; an item for which there is none is opened without an update.
//
// # What an item is named for
//
// The members of an item are the rules that decided its entries. [Member.Compare] orders them by weight: what blocks,
// the worst harm, the highest severity, the most entries, the earliest. The first is dominant: title, advice, rule,
// mods, variants, recurrence and the first sample of the item are of its entries, the latter three of its severest
// group, of these the one with most entries. Open items have the order of their dominant members. The cause stays the
// first entry at the highest disposition, for the cursor, the operation and the prelude; it is the second sample.
//
// [Input].Blame names the mods that an entry points at. They are counted for each group. At least half of the
// dominant entries point at the mods in [Item].Blame, and a quarter at those in [Item].Perhaps. Mods decide nothing.
//
// # Bounds
//
// Everything has a capacity, allocated by [New] but for texts, operations and keys.
// A default Coalescer holds 96 items of 128 groups or variants, about 4 MB, and 1,024
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
