// Package sim plays scripts against a whole engine and checks, after every step, the invariants of ARCHITECTURE.md. All
// of it is in tests.
//
// A Script is a list of calls: entries, operations, storms, acknowledgements, clocks that jump, agents that come and
// go. Generate makes one from a seed; Parse reads one, and Script.String writes it, in a text form of one line for each
// call. Play plays a script together with a naive model, which keeps every entry, decides about each by rules of its
// own, and reports a disagreement of engine and model. Shrink makes a failing script short, and Replay prints it with
// the answers of the engine, ready to be kept as a golden file.
//
// # The model
//
// The model knows the decision about every entry, with repetition; phase, blindness and the heartbeat; the entries,
// severity, beginning and cause of each item; the deliveries to each consumer; the effect and the successor of an
// acknowledgement; the entries of the journal. It takes three things from the engine: the signature of a text, the
// burst of an entry if several could claim it, and the evictions at a capacity. It checks that they are possible: two
// operations without a link never share an item, a repeat of an acknowledged fault opens nothing unless it is more, and
// no such repeat is suppressed that is more.
//
// If a capacity blurs the contents of an item (groups without counters, a digest, an evicted consumer), the model
// compares the totals and leaves the split between items to the engine.
//
// The engine is less exact in two things, and the model allows it. If a host reports under one key now as blocking and
// now as advisory, both parts of a split are as bad as the whole. And the cause of a split item may be an entry before
// the first at its disposition.
//
// # Two plays
//
// A script is played twice: once with the model, and once alone and without its restarts. Both plays must answer the
// same, byte for byte, except for the journal, which a restart loses. So the engine is deterministic, a restart changes
// no other answer, and looking at the engine (pages, open items, counts) changes nothing.
//
// # Streams
//
// TestUpdatesAreFew feeds whole engines, the default rules included, with long streams that were made to cost updates.
// It holds the cost to the law of updates, and to a golden file.
//
// # Mutants
//
// mutants.txt lists changes that break the engine in one way each. TestMutants makes them in a copy of the tree, one
// after another, and expects the simulator to fail.
//
// # Bounds
//
// A model grows with its script, by some hundred bytes for each entry. Ten million steps, played twice and checked,
// take half an hour on two cores (go test -run Long). Only plays of different scripts are safe for concurrent use.
package sim
