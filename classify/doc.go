// Package classify turns entries into decisions: it finds the signature of an
// entry, asks a rule set what to make of it, and remembers the answer, so that
// the next entry of the same shape costs one pass over its text and two
// look-ups.
//
//	c, err := classify.New(classify.Config{Rules: set})
//	result, _ := c.Classify(&entry)
//
// A [Classifier] also holds what rules act on from entry to entry: the phase
// that the game is in, and whether its evidence is complete. An entry is
// decided in the phase that was before it, and changes it afterwards.
//
// # What is remembered
//
// Two tables, each evicting what was used least recently. The first maps the
// process-local key of a text to its [signature.Signature] and canonical
// template. The second maps all that a decision may depend on besides the entry
// itself (signature, level, source, kind, status, phase, and whether an
// operation was cancelled by its caller) to a [rules.Plan]. Rules that read the
// message, the stack or the operation are part of a plan and run each time.
//
// A text cache in front of the first one has the texts that came more than once
// lately, compared byte for byte: a line that repeats costs no key, and where nothing
// came in between it has the last result. Neither changes a decision or a count.
//
// A remembered decision equals the one that the rules would give again. Where
// that cannot be had cheaply, the classifier takes the slow path and decides
// without its tables: for a text whose key has the hash of another one (a
// collision, seen by an independent check), for sources beyond the number it
// knows, and for templates too large to keep. Each is counted.
//
// # What it does not do
//
// It does not count entries, fold repeats or keep them; it reads no clock. It
// never fails on an entry: a condition that cannot be evaluated counts as no
// match, and is counted.
//
// # Bounds, concurrency, cost
//
// Everything held is bounded by [Config]: signatures by number and by the bytes
// of their templates, decisions by number and by the size of their plans,
// sources and phases by number. What is evicted is counted in [Stats]. Tables
// grow to their bounds and are then reused; with defaults they take some 16 MiB
// when full.
//
// A Classifier is not safe for concurrent use. On a known signature whose
// decision does not depend on the entry itself, [Classifier.Classify] allocates
// nothing.
package classify
