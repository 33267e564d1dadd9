// Package briefing assembles the facts that an agent or a person needs for a piece of work, by a pipeline that a
// template describes, within a budget of tokens, queries and time, each part traceable to its source. It sends nothing
// and writes nothing.
//
// A [Service] has the templates and the sources: ledgers (events), registries (facts), searchers, files, and attention
// (open items). [Service.Assemble] chooses the template for a [Request], merges the requirements of the request's
// contract into its pipeline, runs the stages in order, and returns a [Context]: the text, its fragments, a trace of
// the stages, the cost, and warnings. The same request on the same state gives the same text.
//
// [Parse] reads a template from YAML; docs/briefing.md describes each key.
//
// # Text
//
// A fragment begins with a line in the words of its source: [SOURCE ID] and a title. Each line that a game, a file or
// another peer wrote begins with [DataPrefix], and is escaped and bounded: data, never instructions.
//
// # Bounds and cost
//
// The text is never over the budget by the estimate of its template. A stage gets the rest of the budget, and chooses
// its fragments. The cache is bounded. A Service is safe for concurrent use if its sources are; its only clock is
// Config.Now.
package briefing
