// Package rules compiles YAML rule files into a [Set] that says what an entry
// asks of whoever acts on the game: ignore it, know of it, or look before the
// next step. It also says what an entry changes: the phase of the game, whether
// the evidence is complete, and which trouble is over.
//
//	set, err := rules.Compile(append(own, rules.Defaults()...)...)
//	ev := set.NewEvaluator()
//	out := ev.Evaluate(&rules.Input{Template: "Out of memory", Level: event.LevelError})
//
// Compilation is complete: matching sees no file format. It is also strict: a
// set compiles whole or not at all, and [Errors] tells everything that is wrong
// with it at once, with file, line, column, rule, field, and what would be
// right.
//
// # Files
//
// A file is one YAML document in UTF-8. Unknown and repeated fields are errors;
// YAML's aliases and tags are not part of the language. All fields but version
// are optional.
//
//	version: 1
//	protect: [Autosave]        # words that masking leaves as they are
//	logger_frames: [Acme.Log.] # frames that begin so belong to the logger, not to the fault
//	game_code: [Engine.]       # namespaces, assemblies, tags and ids that are no mod; see [Set.GameCode]
//	lists:                     # constants
//	  quiet: [Analyzer, Profiler]
//	macros:                    # named parts of conditions
//	  in_game: 'phase == "load" or phase == "play"'
//	defaults:                  # where no rule matches
//	  log: {error: advisory, fatal: {disposition: blocking, severity: fatal}}
//	rules:                     # tried in order; the first that matches decides
//	  - id: save.reference_missing
//	    when: 'template startsWith "Could not load reference to" and in_game'
//	    disposition: blocking
//	    tests:
//	      - match: "Could not load reference to a pawn"
//	        phase: load
//	      - no_match: "Could not load reference to a pawn"
//	        phase: menu
//
// The earlier a file is given, the more it has to say: its rules match before
// those of later ones, its defaults win, and it may override what later ones
// define. So a user's files come before [Defaults]. Lists, macros, protected
// words, logger frames, game code and the ids of rules are shared by all files of a set: a
// list or macro can be used in any of them, before or after it is defined.
//
// # Overriding
//
// Two rules with one id, or two lists or macros with one name, are an error in
// one file; and across files, unless the earlier file says that it means it:
//
//	lists:
//	  quiet: {append: true, items: [Doctor]}         # or override: true
//	macros:
//	  in_game: {override: true, when: 'phase == "play"'}
//	rules:
//	  - {id: save.reference_missing, override: true, disposition: advisory}
//
// A rule that overrides another gives the fields that change and takes over all
// others, but for the tests where it gives another condition or other
// exceptions: those would say nothing about it. It also takes over the place of the other in the order, since a
// change of one rule should not let it win over rules that nobody looked at,
// nor lose to them. A list or macro is replaced as a whole, in all conditions
// that use it; an item that is appended and there already is no error. Where
// there is nothing to override or to append to, that is one.
//
// # Rules
//
//   - id (required): lower-case letters, digits, '.', '_' and '-'. Unique over
//     all files. The first word is the subject, as in "save.reference_missing";
//     "default." is taken by the defaults.
//   - when (required): the condition, see below.
//   - exceptions: conditions, or mappings of name and when, any of which keeps
//     the rule from matching. One that fails when it is evaluated does not.
//   - disposition (required without continue): ignore, advisory or blocking.
//   - severity: info, warning, error or fatal. Without it, the severity is that
//     of the entry's level where that is warning, error or fatal; otherwise it
//     is error for blocking, warning for advisory, info for ignore.
//   - invalidates: true when what the agent believes about the game may no
//     longer hold.
//   - escalate: when repetition makes it more urgent: "to" that disposition, once
//     "after" so many entries that the rule decided lie "within" a window, with
//     at least a "severity". A window is a duration, as in 30s, or a mapping of
//     duration and entries, the first for where the time is known and the second
//     for where it is not; one follows from the other at 50 entries per second.
//     A set only carries this, in [Rule.Escalate]; the engine counts.
//   - summary: heed's own words for what happened, one line; never text of the
//     log.
//   - why: the reason for the rule, for people.
//   - sets_phase: the phase of the game from the next entry on. The entry
//     itself, like every entry, is decided in the phase that was before it.
//   - blinds: true when evidence is incomplete from here on, until a rule
//     matches that resolves this one.
//   - resolves: ids of rules whose trouble is over when this one matches; an id
//     that ends in '*' stands for all that begin so, but for the rule itself.
//     Each must name at least one rule.
//   - tags: words for those who read decisions.
//   - continue: true for a rule that only adds its tags to whatever decides
//     afterwards. It has no other effect.
//   - enabled: false takes a rule out of the set. It must be valid all the same.
//   - override: true for a rule that changes the one with its id in a later file.
//   - tests: see below.
//
// # Conditions
//
// A condition is an expression of the language of github.com/expr-lang/expr
// that is true or false. Its variables are texts:
//
//   - template: the first line of the entry's canonical template, that is, its
//     text with "<*>" where a number, name, path or the like stood; see package
//     [github.com/heedlog/heed/signature]
//   - frames: the other lines of the template: "at " and a method per line
//   - level: unknown, debug, info, warning, error or fatal; unknown for all but
//     log records
//   - kind: log, operation, state or notice
//   - status: of an operation started, completed, failed, cancelled or
//     timed_out; of a state phase, stall, recovered, disconnected, connected,
//     exited, long_event or long_event_end; of a notice hole, run_cut, truncated
//     or restarted; none for a log record
//   - source: the logger or channel of a log record, the method of an operation
//   - method: the method of an operation, empty for all else
//   - phase: as last set by a rule or the host; empty when unknown
//   - message, stack and operation: the text, the stack and the id of the
//     operation of this very entry. A rule that reads one of these is evaluated
//     for each entry; any other only once for all entries with the same
//     signature, level, kind, status, source and phase.
//
// Operators: and or not (also && || !), == != < <= > >=, in, contains,
// startsWith, endsWith, matches (with a constant regular expression of Go's
// package regexp), the last five also after not, + - * / % on numbers,
// c ? a : b, item[i], text[i:j].
//
// Functions: contains_any(text, list), starts_with_any(text, list) and
// ends_with_any(text, list) compare a text with every item of a list. Of expr's
// own: all, any, none, one and count over a list, as in any(quiet, # == source),
// but not one inside of another; len, lower, upper, trim, trimPrefix,
// trimSuffix, hasPrefix, hasSuffix, indexOf, lastIndexOf, split, first and last.
//
// Everything else of expr is left out, so that no condition has an effect,
// reads a clock or the environment, or takes memory or time out of proportion
// to its input. A condition that fails when it is evaluated, as split(template,
// " ")[7] does on a short line, counts as false; [Evaluator.Failures] counts it.
//
// Comparing level, kind or status with a word that is none of their values is
// an error. So is a rule that can never match: because its condition is
// constant, asks for a combination of kind, level and status that no entry has,
// or is covered by earlier rules of the same file (one that asks for a part of
// what it asks for, joined by and, word by word; or ones that by kind, level and
// status always match what it could) or by its own exceptions. More is not
// proven. Rules covered by an earlier file are what user files are for, and only
// noted, in [Rule.ShadowedBy].
//
// Refused as well is what would hold always, never or by chance: a comparison of
// level, kind, status or phase by order, the search for an empty text, a text
// with capitals compared with lower(…).
//
// # Defaults
//
// Where no rule matches, the kind and the level or status decide. The value is a
// disposition, or a mapping of disposition, severity and invalidates. Without
// anything in a file:
//
//	log:       {unknown: ignore, debug: ignore, info: ignore,
//	            warning: advisory, error: advisory, fatal: blocking}
//	operation: {started: ignore, completed: ignore, failed: advisory,
//	            timed_out: {disposition: blocking, invalidates: true},
//	            cancelled: {disposition: blocking, invalidates: true},
//	            cancelled_by_caller: ignore}
//	state:     {stall: blocking, disconnected: blocking,
//	            exited: {disposition: blocking, severity: fatal}}  # others: ignore
//	notice:    {hole: advisory, run_cut: advisory, truncated: advisory,
//	            restarted: ignore}
//
// A decision by default names "default.log.error" and the like as its rule.
//
// # Tests
//
// A test is a text that the rule must decide (match) or must not (no_match),
// with the other properties of the entry where they matter: level, phase, stack,
// source, kind, status, method, operation. The kind follows from the status; a
// test with neither is about a log record or, if it gives a method, about a
// failed operation. [Set.Test] runs every text through masking
// and the whole set, so a test also shows that no earlier rule takes what it
// should get. For a rule with continue, match means that it added its tags.
//
// # Lint and schema
//
// [Lint] finds what is valid and yet unlikely to be meant. [Schema] is a JSON
// Schema of rule files, for editors. The page docs/rules.md is a reference of
// all this in tables.
//
// # Plans
//
// [Evaluator.Plan] computes what is known about all entries that share a
// signature and the like, [Evaluator.Decide] the rest; that is how package
// classify evaluates most rules once per signature. Together they equal
// [Evaluator.Evaluate], which tries the rules in order.
//
// Not all are tried. What a rule needs of template, frames or source, such as a
// beginning or any of several words, is filed in an index of the set, and one
// pass over these texts finds the rules of which something is there. Most
// conditions are Go functions: all that compare texts with texts, lists and
// patterns, joined by and, or, not and ?:. Those that count, loop or cut texts
// run in the virtual machine of expr, at some 100 ns and 16 bytes for each text
// that is read first; [Rule.Interpreted] tells them, [Evaluator.MachineRuns]
// counts. None of this changes what a rule means.
//
// # Bounds, concurrency, cost
//
// [MaxFileBytes], [maxRules] and the other Max constants bound a set. A Set is
// immutable and safe for concurrent use; an Evaluator is not, but costs only a
// few hundred bytes and a bit per rule. A Set keeps the text of its files, to
// tell places in them, and an index of at most 65,535 of the texts in its
// conditions, some 100 bytes each; rules beyond that are tried every time.
//
// Compiling takes some 75 µs per rule. A plan or a decision in order takes some
// 100 ns, 1.5 ns for each byte of template and frames (where rules look for
// something in them), and some 10 ns for each rule of which a needed text is
// there: less than half a microsecond for most records, by the default rules or
// by thousands. The package does no I/O, starts no goroutine and reads no
// clock.
package rules
