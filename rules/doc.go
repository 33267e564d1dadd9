// Package rules compiles YAML rule files into a [Set] that decides the meaning of an
// entry for a player or an agent.
//
//	Could not load reference to a pawn, in play   blocking: look before the next step
//	Could not load reference to a pawn, in menu   the next rule decides, or the level
//	warning: the lamp flickers                    advisory: know of it
//	info: the lamp burns                          ignore
//
// A decision also states the changes by the entry: the phase of the game, whether the
// evidence is complete, and which items are over.
//
//	set, err := rules.Compile(append(own, rules.Defaults()...)...)
//	ev := set.NewEvaluator()
//	out := ev.Evaluate(&rules.Input{Template: "Out of memory", Level: event.LevelError})
//
// docs/rules.md describes the language: files, overriding, rules, conditions,
// exceptions, escalation, defaults, tests and bounds. A file looks like this:
//
//	version: 1
//	lists:                     # constants
//	  quiet: [Analyzer, Profiler]
//	macros:                    # named parts of conditions
//	  in_game: 'phase == "load" or phase == "play"'
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
// An earlier file takes precedence: its rules match first, its defaults win, and it
// may override definitions of later files. So a user's files come before [Defaults].
// [Set.For] keeps the default files for one family of logs. A set of no files is valid:
// level and status decide.
//
// # Compiling
//
// A set compiles whole or not at all, and [Errors] reports everything that is wrong
// with it at once, with file, line, column, rule, field and the fix. Matching sees
// no file format.
//
// Conditions are a part of the language of github.com/expr-lang/expr. The other
// parts could have an effect, read a clock or the environment, or take memory or time
// out of proportion to its input. A condition that fails when it is evaluated, as
// split(template, " ")[7] does on a short line, counts as false;
// [Evaluator.Failures] counts it.
//
// A rule that can provably never match is an error within one file. Rules covered by
// an earlier file are what user files are for, and only noted, in
// [Rule.ShadowedBy]. [Set.Test] runs the tests of the files, and [Schema] is a JSON
// Schema for editors. [Lint] finds valid parts of files that are unlikely
// to be meant. Both read the files again: Compile leaves out the tests of [Defaults],
// and a set keeps no syntax trees.
//
// # Evaluating
//
// [Evaluator.Evaluate] tries the rules in order. [Evaluator.Plan] returns the decision that all entries with the same
// signature, level, source and phase share, if no rule that reads the entry itself may match. So package classify
// evaluates most rules once per signature. [Evaluator.Explain] reports why a set decides as it does.
//
// Not all rules are tried. The texts that a rule needs in template, frames or
// source are in an index of the set, and one pass over these texts finds the rules
// with a text that is there. The virtual machine of expr evaluates the conditions
// of these rules. The index does not change the meaning of a rule.
//
// # Bounds, concurrency, cost
//
// Sets are bounded; docs/rules.md lists the bounds. So is the time of a condition:
// the compiler counts its worst cost for a long entry. A Set is immutable and safe for
// concurrent use; an Evaluator is not, but costs only a few hundred bytes and a bit
// per rule. A Set keeps the text of its files, for the places in explanations, and
// an index of at most 65,535 of the texts in its conditions, some 100 bytes each;
// rules beyond that are tried every time.
//
// A plan or a decision in order takes time in proportion to the text of template
// and frames, and to the rules with a needed text that is there, however many rules
// there are; bench/README.md has the command. The package does no I/O, starts no
// goroutine and reads no clock.
package rules
