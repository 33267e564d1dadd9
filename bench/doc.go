// Package bench holds the synthetic storms that heed is measured with, and the
// benchmarks of the whole engine; those of one package stand beside its code.
//
// A [Storm] is seeded: the same mode and seed give the same lines on every
// machine. It is for one goroutine. Its lines are written for the project. [Feed] replays a
// capture through an engine.
package bench
