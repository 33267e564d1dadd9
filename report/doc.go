// Package report renders the replay of a captured log, and comparisons of logs: as one screen of text that
// answers what deserved attention, why, how often and where; as JSON; as Markdown for an issue; as JUnit and
// SARIF for continuous integration; as a page of HTML; and line by line as JSON.
//
//	record, outcome  → Replay.Observe ─┐
//	update           → Replay.Update  ─┼─ Replay.Document → Text, Markdown, HTML, JSON, SARIF, JUnit
//	end of the log   → Replay.End     ─┘
//
// A [Replay] gathers one file. Whoever replays calls [Replay.Observe] for each record and [Replay.Update] for
// each update of the engine, then [Replay.End]. [Replay.Document] returns what there is to report as plain
// data, scrubbed and escaped once; the forms are pure functions of it. [AppendUpdate] and [AppendRecord]
// need no gathering: lines stream. A [Comparison] has what package compare found, and the same renderers.
// [Forms] has the JSON Schema of each JSON form, made of the types.
//
// [HTML] makes a page of one document or several whose replays were made with [Config.Details]: with samples
// and stacks in which what points at a mod is marked, the lines around, sparklines and a timeline to zoom into.
// It is one file that loads nothing, readable without scripts; its policy lets nothing run but its own script.
//
// A [Verdict] answers what matters: how did the game fare, since when, what hurts, which mod does that point at
// and by what evidence, what to do now, is the log complete. Each form has its words. It names at most three
// problems: the worst, the most frequent and the first. A problem is what one rule decided in one run of the game,
// in however many items; single trifles make no game broken. A mod that other entries name is no answer, however
// often they do: it is listed beside it. A mod that less than half of a problem's entries name is a "perhaps"; one
// that merely changed the code that was running is listed and not named as the cause. Where most of a log is
// missing, what is left of it makes no game healthy; nor is one that did not come up, or text that no game wrote.
//
// Text fits any width from 20 columns on, by what a terminal shows of each character. Colors are the caller's
// choice, and only repeat what the words say.
//
// The package reads no file, compiles no rule and decides nothing: it shows what the engine decided.
//
// # Bounds
//
// Memory does not grow with the log. The table of signatures keeps 21,845 rows of each disposition and then
// evicts the row seen longest ago; the timeline keeps the first and the last 256 updates; what caused attention
// is summed up by rule. What is left out is counted and shown. Counts by disposition, of items and of updates
// are exact whatever is left out; the count and the first line of a row that was evicted and came back are
// lower bounds, and each form shows when that can be.
//
// The details for a page are bounded as well: rates in 512 stretches that grow by doubling, 40 for each row;
// 14 MiB of samples; 640 kB of lines around, half of them for what rules decided for the first time. A page is
// at most 5 MB long, unless it shows hundreds of logs, and lists 1,000 mods; Markdown lists them where that
// fits into an issue.
//
// # Untrusted text
//
// Log text goes through internal/text on its way into every form: no control character, line separator or bidi
// mark of a log reaches the output, and no log line can start a line of the report. Each form adds what its
// readers need: in Markdown log text stands in code, in SARIF it makes no link, in XML no markup, and in a page
// it goes through html/template. A [Scrubber] takes out what is private as it enters a replay.
//
// # Concurrency and cost
//
// A Replay is for one goroutine; a Document does not change. Observe costs one map access and allocates for
// signatures only that the table does not hold. Output depends on nothing but what was gathered: the same
// replay gives the same bytes.
package report
