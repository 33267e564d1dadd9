// Package classify turns entries into decisions: it finds the signature of an entry, evaluates a rule set, and
// remembers the outcome, so that the next entry of the same shape costs one pass over its text and two look-ups. Here a
// rule blocks on "Save failed":
//
//	"Loaded 12 maps"        new signature: rules evaluated, ignore
//	"Loaded 7 maps"         the same signature: the remembered decision
//	"Save failed: slot 3"   new signature: blocking, by the rule
//	"Save failed: slot 3"   the same text: found by its bytes
//	phase "play" begins     decisions depend on the phase: evaluated once more in it
//	"Save failed: slot 9"   the same signature: evaluated in phase play, remembered
//
//	c, err := classify.New(classify.Config{Rules: set})
//	result := c.Classify(&entry)
//
// A [Classifier] also holds the state by which rules act from entry to entry: the phase of the game, and whether its
// evidence is complete. An entry is decided in the phase before it, and changes the phase afterwards.
//
// # Tables
//
// Two tables each evict their least recently used entry. The first maps the process-local key of a text to its
// [signature.Signature] and canonical template. The second maps everything that a decision may depend on outside of the
// entry itself (signature, level, source, kind, status, phase, and whether an operation was cancelled by its caller) to
// a [rules.Plan]. Rules that read the message, the stack or the operation are part of a plan and run each time.
//
// A text cache in front of the first table has the texts that came more than once lately, compared byte for byte: a
// line that repeats costs no key. It changes no decision and no count.
//
// A remembered decision equals the outcome of another evaluation. If an equal one cannot be had cheaply, the classifier
// takes the slow path and decides without its tables: for a text whose key has the hash of another one (a collision,
// seen by an independent check), for sources beyond the number it knows, and for templates too large to keep. Each is
// counted.
//
// # Limits
//
// It does not count entries, fold repeats or keep them; it reads no clock. It never fails on an entry: a condition that
// cannot be evaluated counts as no match, and is counted.
//
// # Bounds, concurrency, cost
//
// Everything held is bounded by [Config]: signatures by number and by the bytes of their templates, decisions by number
// and by the size of their plans, sources and phases by number. Evictions are counted in [Stats]. Tables grow to their
// bounds and are then reused; with defaults they take some 16 MiB when full.
//
// A Classifier is not safe for concurrent use. On a known signature whose decision does not depend on the entry itself,
// [Classifier.Classify] allocates nothing.
package classify
