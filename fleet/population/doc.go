// Package population merges what is known of the logs of many players into one [Report].
//
// A [Log] is made of a summary and holds what is counted of it. From there everything is an accumulator with a Merge
// that is commutative and associative, so that the report is the same in any order and sharding: [Log] itself (of the
// copies of a log one is chosen), [Links] (which [Names] are one), [Player], [Group], [Totals], [Set], and
// [Top] of the last two. An engine for distributed work needs to know their Merge only; [Sum] does the same in one
// process, and is the model that pipelines are held to.
//
// Delivered twice, a Log changes nothing: copies of a log are one. What comes after that stage counts, and needs an
// engine that delivers what a stage has written once.
//
// Everything is bounded. A table that is full keeps the keys with the least hashes, which are the same in any order;
// their counts are exact, and what was left out is counted.
package population
