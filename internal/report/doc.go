// Package report renders the replay of a captured log, and comparisons of logs: as one screen of text that
// answers what deserved attention, why, how often and where; as JSON; as Markdown for an issue; as JUnit and
// SARIF for continuous integration; as a page of HTML; and line by line as JSON.
//
//	record, outcome  → Replay.Observe ─┐
//	update           → Replay.Update  ─┼─ Replay.Document → Text, Markdown, HTML, JSON, SARIF, JUnit
//	end of the log   → Replay.End     ─┘
//
// A [Replay] gathers one file. Its caller calls [Replay.Observe] for each record and [Replay.Update] for each update of
// the engine, then [Replay.End]. [Replay.Document] returns the report as plain data, scrubbed and escaped once; the
// forms are pure functions of it. [AppendUpdate] and [AppendRecord] need no gathering: lines stream. A [Comparison] has
// the result of package compare, and the same renderers. [Forms] has the JSON Schema of each JSON form, made of the
// types.
//
// [HTML] makes a page of one document or several whose replays were made with [Config.Details]: with samples and stacks
// in which the lines that point at a mod are marked, the lines around and a timeline. It is one file that
// loads nothing, readable without scripts; its policy lets nothing run but its own script.
//
// A verdict has the state of the game, since which line, the problems, the mods that they point at with the evidence,
// the advice, and whether the log is complete. Each form has its words. It names at most three problems: the worst, the
// most frequent and the first. A problem is the entries of one rule in one run of the game, in any number of items;
// single trifles make no game broken. A mod that other entries name is listed after the answer, however often they do.
// A mod that less than half of a problem's entries name is a "perhaps"; a mod that merely changed the running code is
// listed and not named as the cause. If most of a log is missing, the rest makes no game healthy. A game that did not
// come up is not healthy either, nor is text that no game wrote.
//
// Text fits any width from 20 columns on, by the columns that a terminal gives each character. Colors are the caller's
// choice, and only repeat the words.
//
// The package reads no file, compiles no rule and decides nothing: it shows the decisions of the engine.
//
// # Bounds
//
// Memory does not grow with the log. The table of signatures keeps 21,845 rows of each disposition and then evicts the
// row seen longest ago; causes of attention are summed up by rule. Rows that are left out are counted, and the number
// is shown. Counts by disposition, of items and of updates are always exact; the count and the first line of a row that
// was evicted and came back are lower bounds, and each form shows when that can be.
//
// The details for a page are bounded as well: shares in 256 stretches that grow by doubling;
// 14 MiB of samples; 640 kB of lines around, half of them for the first entries of rules. A page is
// at most 5 MB long, unless it shows hundreds of logs, and lists 1,000 mods; Markdown lists them where that
// fits into an issue.
//
// # Untrusted text
//
// Log text goes through internal/text on its way into every form: no control character, line separator or bidi
// mark of a log reaches the output, and no log line can start a line of the report. Each form adds what its
// readers need: in Markdown log text is in code, in SARIF it makes no link, in XML no markup, and in a page
// it goes through html/template. A [Scrubber] removes private text as it enters a replay.
//
// # Concurrency and cost
//
// A Replay is for one goroutine; a Document does not change. Observe costs one map access and allocates for
// signatures only that the table does not hold. The same replay gives the same bytes.
package report
