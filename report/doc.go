// Package report turns the replay of a captured log into something to look at:
// one screen of text that answers what deserved attention, why, how often and
// where; one JSON document; Markdown for an issue; JUnit and SARIF for continuous
// integration; a page of HTML; or a stream of JSON lines, heed's own or OTLP log
// records.
//
// A [Replay] gathers one file. Whoever replays calls [Replay.Observe] for each
// entry and [Replay.Update] for each update of the engine, then [Replay.End];
// [Replay.AppendText], [Replay.AppendDocument], [Replay.AppendMarkdown],
// [Replay.AppendJUnit], [SARIF] and [Replay.AppendSummary] render what was gathered.
// [AppendUpdate], [AppendRecord] and their OTLP twins need no gathering: lines
// stream. [Schema] returns the JSON Schema of heed's own JSON.
//
// A [Page] shows one replay or several that were made with [Config.Details]: with
// samples and stacks in which what points at a mod is marked, the lines around,
// sparklines and a timeline to zoom into. It is one file that loads nothing,
// readable without scripts; its policy lets nothing run but its own script.
//
// A [Verdict] answers what matters: is this game healthy, broken or blind, since
// when, what broke first, which mod does that point at and by what evidence, does the
// log tell everything. [Replay.Verdict] makes it, and text, Markdown, JUnit, JSON and
// the page say it in its words. A mod that other entries name is no answer, however
// often they do: it stands beside it. Where what broke first names none, what the same
// rule decided in the same item may, and is a "perhaps"; a mod that merely changed the
// code that was running is told and not accused. Where most of a log is missing, what
// is left of it makes no game healthy; nor is one that did not come up, or text that no
// game wrote.
//
// Text fits any width from [MinWidth] columns on, by what a terminal shows of each
// character. Colors are the caller's choice, and only repeat what the words say.
//
// The package reads no file, compiles no rule and judges nothing: it shows
// what the engine decided.
//
// An [Environment] is where a log was made: versions, machine, mods. Whoever replays
// passes it with [End]. Text, Markdown, JSON and the page tell it.
//
// # Bounds
//
// Memory does not grow with the log. The table of signatures keeps
// [defaultRows] rows of each disposition and then forgets the row seen longest
// ago; the timeline keeps the first and the last [defaultUpdates] updates; what
// caused attention is summed up by rule. What is left out is counted and said.
// Counts by disposition, of items and of updates are exact whatever is left
// out; the count and the first line of a row that was forgotten and came back
// are lower bounds, and both formats say when that can be.
//
// The details for a page are bounded as well: rates in 512 stretches that grow by
// doubling, 40 for each row; 14 MiB of samples; 640 kB of lines around, half of them
// for what rules decided for the first time. A page is at most [MaxPage] long, and lists
// 1,000 mods; Markdown lists them where that fits into an issue.
//
// # Text from strangers
//
// Log text goes through internal/text on its way into every format: no
// control character, line separator or bidi mark of a log reaches the output,
// and no log line can start a line of the report. Each form adds what its readers
// need: in Markdown log text stands in code, in SARIF it makes no link, in XML no
// markup, and in a page it goes through html/template. A [Scrubber] takes out what is
// private as it enters a replay.
//
// # Concurrency and cost
//
// A Replay is for one goroutine. Observe costs one map access and allocates for
// signatures only that the table does not hold. Output depends on nothing but
// what was gathered: the same replay gives the same bytes.
package report
