// Package pipeline has the population report as a pipeline of Apache Beam. What it computes is in package population;
// here is how it is spread over workers.
//
//	patterns ─ match ─ read ─┬─ logs ─ one of copies ─┬─ names ───┐ (to all that follow)
//	                         │                        ├─ by player ─ by group ─ the first 1,000 ─┐
//	                         │                        └─ by set of groups ─ the first 1,000 ─────┤
//	                         └─ failures ────────────────────────────────────────────────────────┴─ report
//
// No function fails for what is in a log, so that a runner that tries again does so for what may go well then.
package pipeline
