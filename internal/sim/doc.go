// Package sim plays scripts against a whole engine and checks, after every
// step, that what ARCHITECTURE.md calls invariants holds. All of it is in tests.
//
// A Script is a list of calls: entries, operations, storms, acknowledgements,
// clocks that jump, agents that come and go. Generate makes one from a seed;
// Parse reads one, and Script.String writes it, in a text form of one line
// for each call. Play plays a script beside a naive model, which keeps every
// entry, decides about each by rules of its own, and reports where the engine
// and the model disagree. Shrink makes a failing script short, and Replay
// prints it with what the engine answered, ready to be kept as a golden file.
//
// # What the model knows
//
// The decision about every entry, with repetition; phase, blindness and the
// heartbeat; what each item holds, how bad it is, since when and its cause; what
// was delivered to each consumer; what an acknowledgement leaves behind and what it
// hands on; what the journal was given. It takes the engine's word for three things:
// the signature of a text, which burst an entry joins where several could
// claim it, and what is evicted where a capacity is reached. Of these it checks
// that they are possible: two operations that nobody linked never share an item,
// a repeat of what was acknowledged opens nothing unless it is more than that,
// and nothing is suppressed that is.
//
// Where a capacity blurs what an item holds (groups without counters, a digest,
// a consumer that was evicted), the model compares the totals and lets the split
// between items be the engine's.
//
// The engine is less exact in two things, and the model allows it. What a host
// reports under one key, now as blocking and now as advisory, is taken to be as
// bad as ever where an acknowledgement parts it. And the cause of an item that was parted
// may be an entry before the first at its disposition.
//
// # Two plays
//
// A script is played twice: once beside the model, and once alone and without its restarts. Both
// plays must answer the same, byte for byte, but for the journal, which a restart loses. So the
// engine is deterministic, a restart changes no other answer, and looking at the engine (pages,
// open items, counts) changes nothing.
//
// # Streams
//
// TestUpdatesAreFew feeds whole engines, the default rules included, with long streams that
// were made to cost updates, and counts what rules require them to cost with a second, smaller
// model.
//
// # Mutants
//
// mutants.txt lists changes that break the engine in one way each. TestMutants makes
// them in a copy of the tree, one after another, and expects the simulator to fail.
//
// # Bounds
//
// A model grows with its script, by some hundred bytes for each entry. Ten
// million steps, played twice and checked, take half an hour on two cores (go test -run Long).
// Nothing is safe for concurrent use but plays of different scripts.
package sim
