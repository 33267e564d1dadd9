// Package population merges the summaries of many players' logs into one [Report].
//
// A [Log] is made of a summary and has its counts. From there on every type is an accumulator with a Merge that is
// commutative and associative, so that the report is the same in any order and sharding: [Log] itself (of the copies of
// a log one is chosen), [Links] (which [Names] are one), [Player], [Group], [Totals], [Set], and [Top] of the last two.
// An engine for distributed work only needs their Merge; [Sum] does the same in one process, and tests compare
// pipelines with it.
//
// Delivered twice, a Log changes nothing: copies of a log are one. Later stages count, and need an engine that delivers
// each output of a stage once.
//
// Everything is bounded. A full table keeps the keys with the least hashes, which are the same in any order. Their
// counts are exact, and the others are counted.
package population
