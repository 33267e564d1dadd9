// Package briefing assembles what an agent or a person must know about a piece of work, by a pipeline that a template
// describes, within a budget of tokens, queries and time, each part traceable to its source. It sends nothing and
// writes nothing.
//
// A [Service] has the templates and the sources: ledgers (records of what happened), registries (tables of what is
// known), searchers, files, and attention (what is open now). [Service.Assemble] chooses the template for a [Request],
// merges what the request's contract requires into its pipeline, runs the stages in order, and returns a [Context]: the
// text, the fragments that it is made of, a trace of the stages, what was used, and warnings. The same request on the
// same state gives the same text.
//
// [Parse] reads a template from YAML; docs/briefing.md describes each key.
//
// # Text
//
// A fragment begins with a line in the words of its source: [SOURCE ID] and a title. Lines of what a game, a file or
// another peer wrote begin with [DataPrefix], are escaped and bounded: data, never instructions. No such line can begin
// otherwise.
//
// # Bounds and cost
//
// The text is never over the budget by the estimate of its template. A stage gets what is left of the budget, and
// chooses what to return. The cache is bounded. A Service is safe for concurrent use if its sources are; it has no
// clock but that of [Config].
package briefing
