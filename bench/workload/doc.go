// Package workload holds the synthetic storms that measure heed, the processor clock and the resident memory of this
// process, and the benchmarks of the whole engine. Benchmarks of one package are in that package.
//
// A [Storm] is seeded: the same mode and seed give the same lines on every machine. It is for one goroutine. Its lines
// are written for the project. [Feed] replays a capture through an engine.
package workload
