// Package pipeline has the population report as a pipeline of Apache Beam. Package population has the computation; this
// package spreads it over workers.
//
//	patterns ─ match ─ read ─┬─ logs ─ one of copies ─┬─ names ───┐ (to all that follow)
//	                         │                        ├─ by player ─ by group ─ the first 1,000 ─┐
//	                         │                        └─ by set of groups ─ the first 1,000 ─────┤
//	                         └─ failures ────────────────────────────────────────────────────────┴─ report
//
// No function fails because of the content of a log, so that a runner retries only failures that may pass.
package pipeline
