package rules_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

func compileError(t *testing.T, files ...rules.File) error {
	t.Helper()
	set, err := rules.Compile(files...)
	require.Nil(t, set)
	require.NotEmpty(t, errorsOf(t, err))
	return err
}

// errorsOf returns the errors of [rules.Compile] one by one.
func errorsOf(t require.TestingT, err error) (all []*rules.Error) {
	list, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok, "%v", err)
	for _, each := range list.Unwrap() {
		e, ok := errors.AsType[*rules.Error](each)
		require.True(t, ok, "%v", each)
		all = append(all, e)
	}
	return all
}

// rule wraps the fields of one rule, each on a line of its own, in a file. The
// first field is in line 3, column 5.
func rule(fields ...string) string {
	return "version: 1\nrules:\n  - " + strings.Join(fields, "\n    ") + "\n"
}

// TestErrors is the table of wrong files: what each says, to the letter.
func TestErrors(t *testing.T) {
	const ok = `when: 'template == "x"'`
	for _, tc := range []struct{ name, text, want string }{
		// The file.
		{"empty", "", `f.yaml: the file is empty (a rule file begins with "version: 1")`},
		{"blank", " \n\n", `f.yaml: the file is empty (a rule file begins with "version: 1")`},
		{"comments", "# nothing\n", `f.yaml: the file contains only comments (a rule file begins with "version: 1")`},
		{"not UTF-8", "version: 1\nprotect: [a\xffb]\n", `f.yaml:2:12: not valid UTF-8 (save the file as UTF-8)`},
		{"UTF-16", "\xff\xfev\x00", `f.yaml:1:1: not valid UTF-8 (save the file as UTF-8)`},
		{"control character", "version: 1\n# \x1b[31m\n", `f.yaml:2:3: control character (write it as an escape in double quotes, such as "\x1b")`},
		{"two documents", "version: 1\n---\nversion: 1\n", `f.yaml:2:1: a second YAML document (a rule file is one document: remove the "---" or split the file)`},
		{"tab", "version: 1\nrules:\n\t- id: x\n", `f.yaml:3:2: YAML: found character that cannot start any token (put texts in single quotes, and a single quote in them twice; align fields of one mapping in one column)`},
		{"colon", rule("id: x", `when: template == "a: b"`), `f.yaml:4:5: YAML: mapping values are not allowed in this context (put text that contains ": " in quotes)`},
		{"unquoted colon", "version: 1\nrules: a: b\n", `f.yaml:2:1: YAML: mapping values are not allowed in this context (put text that contains ": " in quotes)`},
		{"open quote", "version: 1\nprotect: ['a\n", `f.yaml:2:1: YAML: found unexpected end of stream`},
		{"a list", "- version: 1\n", `f.yaml:1:1: must be a mapping, not a list (fields: version, families, protect, logger_frames, game_code, lists, macros, defaults, rules)`},
		{"unknown field", "version: 1\nrule: []\n", `f.yaml:2:1: unknown field "rule" (did you mean "rules"?)`},
		{"repeated field", "version: 1\nprotect: []\nprotect: []\n", `f.yaml:3:1: "protect" is given twice, first in line 2 (keep one of the two)`},
		{"no version", "rules: []\n", `f.yaml:1:1: version: is missing (a rule file begins with "version: 1")`},
		{"version 2", "version: 2\n", `f.yaml:1:10: version: must be the number 1, not "2" (write version: 1)`},
		{"negative version", "version: -1\n", `f.yaml:1:10: version: must be the number 1, not "-1" (write version: 1)`},
		{"NaN version", "version: .nan\n", `f.yaml:1:10: version: must be the number 1, not ".nan" (write version: 1)`},
		{"text version", "version: '1'\n", `f.yaml:1:10: version: must be the number 1, not "1" (write version: 1)`},
		{"alias", "version: 1\nlists: {a: &a [x], b: *a}\n", "f.yaml:2:12: YAML anchor &a (aliases are not part of the rule language; use a list or a macro)\n" +
			"f.yaml:2:23: YAML alias *a (aliases are not part of the rule language; use a list or a macro)"},
		{"merge", "version: 1\n<<: {rules: []}\n", `f.yaml:2:1: unknown field "<<" (known: version, families, protect, logger_frames, game_code, lists, macros, defaults, rules)`},
		{"tag", "version: 1\nprotect: [!!str 1]\n", `f.yaml:2:11: YAML tag !!str (remove the tag; quote a value that must be text)`},
		{"deep", "version: 1\nrules: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n", `f.yaml:2:23: nested more than 16 levels deep`},
		{"unknown family", "version: 1\nfamilies: [rimwold]\n", `f.yaml:2:12: families[1]: unknown family "rimwold" (did you mean "rimworld"?)`},
		{"family twice", "version: 1\nfamilies: [rimworld, rimworld]\n", `f.yaml:2:22: families[2]: "rimworld" is in the list twice (remove one of the two)`},
		{"family left out twice", "version: 1\nfamilies: [-unity, unity]\n", `f.yaml:2:20: families[2]: "unity" is in the list twice (remove one of the two)`},
		{"unknown family left out", "version: 1\nfamilies:\n  - -rimwold\n", `f.yaml:3:5: families[1]: unknown family "rimwold" (did you mean "rimworld"?)`},
		{"no families", "version: 1\nfamilies: []\n", `f.yaml:2:11: families: the list is empty (remove it: a file that names no family holds for all)`},
		{"text for families", "version: 1\nfamilies: rimworld\n", `f.yaml:2:11: families: must be a list, not text (write it as [a, b])`},
		{"empty game code", "version: 1\ngame_code: [Verse., '.']\n", `f.yaml:2:21: game_code[2]: "." is not a name of code (write the beginning of a namespace, such as "Engine.")`},
		{"text for game code", "version: 1\ngame_code: Verse.\n", `f.yaml:2:12: game_code: must be a list, not text (write it as [a, b])`},
		{"game code of numbers", "version: 1\ngame_code: [7]\n", `f.yaml:2:13: game_code[1]: must be text, not a number (quote it: '7')`},

		// Words, lists, macros.
		{"protect a number", "version: 1\nprotect: [404]\n", `f.yaml:2:11: protect[1]: must be text, not a number (quote it: '404')`},
		{"empty logger frame", "version: 1\nlogger_frames: [Acme.Log, '']\n", `f.yaml:2:27: logger_frames[2]: is empty, so every frame would match it (remove it, or write the beginning of the logger's frames, such as Verse.Log)`},
		{"protect two words", "version: 1\nprotect: [a, b c]\n", `f.yaml:2:14: protect[2]: "b c" is not one word (protect each word by itself)`},
		{"list of numbers", "version: 1\nlists: {a: [x, 1]}\n", `f.yaml:2:16: lists.a[2]: must be text, not a number (quote it: '1')`},
		{"text for a list", "version: 1\nlists: {a: x}\n", `f.yaml:2:12: lists.a: must be a list, not text (write it as [a, b])`},
		{"empty list", "version: 1\nlists: {a: []}\n", `f.yaml:2:12: lists.a: the list is empty (remove it, or add items: nothing matches an empty list)`},
		{"item twice", "version: 1\nlists: {a: [x, y, x]}\n", `f.yaml:2:19: lists.a[3]: "x" is in the list twice, first as item 1 (remove one of the two)`},
		{"bad name", "version: 1\nlists: {a-b: [x]}\n", `f.yaml:2:9: lists.a-b: "a-b" is not a name: letters, digits and '_', at most 64, not beginning with a digit`},
		{"name of a variable", "version: 1\nlists: {phase: [x]}\n", `f.yaml:2:9: lists.phase: "phase" is already a variable (use another name)`},
		{"name of a function", "version: 1\nmacros: {now: 'true'}\n", `f.yaml:2:10: macros.now: "now" is already a function (use another name)`},
		{"name of an operator", "version: 1\nmacros: {matches: 'true'}\n", `f.yaml:2:10: macros.matches: "matches" is already a word of the language (use another name)`},
		{"list and macro", "version: 1\nlists: {a: [x]}\nmacros: {a: 'true'}\n", `f.yaml:3:10: macros.a: "a" is already defined at f.yaml:2 (use another name)`},
		{"circle", "version: 1\nmacros:\n  a: 'b'\n  b: 'c or a'\n  c: 'true'\n", `f.yaml:3:3: macros.a: the macro uses itself: a → b → a (a macro cannot use itself, not even through other macros)`},
		{"circle of one", "version: 1\nmacros: {a: 'not a'}\n", `f.yaml:2:10: macros.a: the macro uses itself: a → a (a macro cannot use itself, not even through other macros)`},
		{"unknown name in a macro", "version: 1\nmacros: {a: 'phas == \"x\"'}\n", `f.yaml:2:14: macros.a: unknown name "phas" (did you mean "phase"?)`},
		{"wrong type in a macro", "version: 1\nmacros: {a: 'phase + 1 == 2'}\n", `f.yaml:2:20: macros.a: invalid operation: + (mismatched types string and int) (compare texts with texts, numbers with numbers)`},
		{"nothing for a macro", "version: 1\nmacros: {a: }\n", `f.yaml:2:13: macros.a: is empty (write a text, or remove the field)`},

		// Defaults.
		{"default kind", "version: 1\ndefaults: {logs: {}}\n", `f.yaml:2:12: defaults: unknown field "logs" (did you mean "log"?)`},
		{"default key", "version: 1\ndefaults: {operation: {error: ignore}}\n", `f.yaml:2:24: defaults.operation: unknown field "error" (known: started, completed, failed, cancelled, timed_out, cancelled_by_caller)`},
		{"default value", "version: 1\ndefaults: {log: {error: block}}\n", `f.yaml:2:25: defaults.log.error: unknown value "block" (did you mean "blocking"?)`},
		{"default list", "version: 1\ndefaults: {log: {error: [ignore]}}\n", `f.yaml:2:25: defaults.log.error: must be a disposition or a mapping, not a list (fields: disposition, severity, invalidates)`},
		{"default without disposition", "version: 1\ndefaults: {log: {error: {severity: info}}}\n", `f.yaml:2:25: defaults.log.error: disposition is missing (one of ignore, advisory, blocking)`},

		// Fields of rules.
		{"text for a rule", "version: 1\nrules: [x]\n", `f.yaml:2:9: must be a mapping, not text (fields: id, when, exceptions, disposition, severity, invalidates, escalate, summary, why, advice, program, explained_by, sets_phase, blinds, resolves, tags, continue, until, enabled, override, tests)`},
		{"no id", rule(ok, "disposition: ignore"), `f.yaml:3:5: id: is missing (every rule needs an id and a when)`},
		{"no when", rule("id: x", "disposition: ignore"), `f.yaml:3:5: rule x: when: is missing (every rule needs an id and a when)`},
		{"no disposition", rule("id: x", ok), `f.yaml:3:5: rule x: disposition: is missing (one of ignore, advisory, blocking)`},
		{"upper-case id", rule("id: Save", ok, "disposition: ignore"), `f.yaml:3:9: id: "Save" is not an id: lower-case letters, digits, '.', '_' and '-', at most 128`},
		{"numeric id", rule("id: 7", ok, "disposition: ignore"), `f.yaml:3:9: rule 7: id: must be text, not a number (quote it: '7')`},
		{"default id", rule("id: default.log.error", ok, "disposition: ignore"), `f.yaml:3:9: rule default.log.error: id: ids beginning with "default." name the defaults (use another first word)`},
		{"hostile id", rule(`id: "\e[31m\n2026 forged: fine"`, ok, "disposition: ignore"), `f.yaml:3:9: id: "\x1b[31m\n2026 forged: fine" is not an id: lower-case letters, digits, '.', '_' and '-', at most 128`},
		{"duplicate id", rule("id: x", ok, "disposition: ignore", "enabled: true") + "  - {id: x, when: 'phase == \"y\"', disposition: ignore}\n", `f.yaml:7:10: rule x: id: the id is already used by the rule at f.yaml:3 (give one of them another id)`},
		{"unknown field of a rule", rule("id: x", ok, "disposition: ignore", "severty: error"), `f.yaml:6:5: rule x: unknown field "severty" (did you mean "severity"?)`},
		{"disposition", rule("id: x", ok, "disposition: blokcing"), `f.yaml:5:18: rule x: disposition: unknown value "blokcing" (did you mean "blocking"?)`},
		{"severity", rule("id: x", ok, "disposition: ignore", "severity: critical"), `f.yaml:6:15: rule x: severity: unknown value "critical" (known: info, warning, error, fatal)`},
		{"boolean", rule("id: x", ok, "disposition: ignore", "invalidates: yes"), `f.yaml:6:18: rule x: invalidates: must be true or false, not "yes" (write true or false)`},
		{"boolean number", rule("id: x", ok, "disposition: ignore", "blinds: 1"), `f.yaml:6:13: rule x: blinds: must be true or false, not "1" (write true or false)`},
		{"summary", rule("id: x", ok, "disposition: ignore", `summary: "a\nb"`), `f.yaml:6:14: rule x: summary: must be one line of 1 to 220 bytes without control characters`},
		{"phase", rule("id: x", ok, "disposition: ignore", "sets_phase: In Game"), `f.yaml:6:17: rule x: sets_phase: "In Game" is not a phase: lower-case letters, digits, '.', '_' and '-', at most 64 (such as "load" or "play")`},
		{"tag", rule("id: x", ok, "disposition: ignore", "tags: [A]"), `f.yaml:6:12: rule x: tags[1]: "A" is not a tag: lower-case letters, digits, '.', '_' and '-', at most 64`},
		{"tag twice", rule("id: x", ok, "disposition: ignore", "tags: [a, a]"), `f.yaml:6:15: rule x: tags[2]: tag "a" is given twice (remove one of the two)`},
		{"text for tags", rule("id: x", ok, "disposition: ignore", "tags: a"), `f.yaml:6:11: rule x: tags: must be a list, not text (write it as [a, b])`},
		{"continue decides", rule("id: x", ok, "continue: true", "tags: [a]", "disposition: ignore"), `f.yaml:7:5: rule x: disposition: a rule with continue only adds tags and advice, and sets the phase (remove the field, or remove continue)`},
		{"continue without tags", rule("id: x", ok, "continue: true"), `f.yaml:5:5: rule x: continue: a rule with continue must have tags, advice or sets_phase (add tags: [...])`},
		{"resolves nothing", rule("id: x", ok, "disposition: ignore", "resolves: [load.failed]"), `f.yaml:6:16: rule x: resolves[1]: no rule has the id "load.failed" (known: x)`},
		{"resolves itself", rule("id: x", ok, "disposition: ignore", "resolves: [x]"), `f.yaml:6:16: rule x: resolves[1]: a rule cannot resolve itself (name the rules whose problem is over when this one matches)`},
		{"pattern in the middle", rule("id: x", ok, "disposition: ignore", `resolves: ["*.x"]`), `f.yaml:6:16: rule x: resolves[1]: "*.x": '*' is allowed only at the end (such as "load.*")`},
		{"explains itself", rule("id: x", ok, "disposition: ignore", "explained_by: [x]"), `f.yaml:6:20: rule x: explained_by[1]: a rule cannot explain itself (name the rules whose earlier problem explains this one's)`},
		{"half a part of advice", rule("id: x", ok, "disposition: ignore", `advice: "Restart[, or load an older save."`), `f.yaml:6:13: rule x: advice: a bracket has no other one (such as "Restart the game[, or load an older save].")`},
		{"pattern without rules", rule("id: x", ok, "disposition: ignore", `resolves: ["y*"]`), `f.yaml:6:16: rule x: resolves[1]: no rule has the id "y*" (known: x)`},

		// Conditions.
		{"no condition", rule("id: x", "when: ' '", "disposition: ignore"), `f.yaml:4:11: rule x: when: the expression is empty (write a condition, such as: 'template contains "text"')`},
		{"boolean condition", rule("id: x", "when: true", "disposition: ignore"), `f.yaml:4:11: rule x: when: must be text, not a boolean (quote it: 'true')`},
		{"unknown name", rule("id: x", `when: 'templat == "x"'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: unknown name "templat" (did you mean "template"?)`},
		{"name beyond guessing", rule("id: x", `when: 'gibberish == "x"'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: unknown name "gibberish" (variables: template, frames, level, source, kind, status, phase, method, message, stack, operation)`},
		{"environment", rule("id: x", `when: '$env == "x"'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: unknown name "$env" (variables: template, frames, level, source, kind, status, phase, method, message, stack, operation)`},
		{"not closed", rule("id: x", `when: 'template == "x'`, "disposition: ignore"), `f.yaml:4:26: rule x: when: literal not terminated (end the text with the same quote that it begins with)`},
		{"assignment", rule("id: x", `when: 'level = "info"'`, "disposition: ignore"), `f.yaml:4:18: rule x: when: unexpected token Operator("=") ("is equal" is written ==)`},
		{"nothing after and", rule("id: x", `when: 'level == "info" and'`, "disposition: ignore"), `f.yaml:4:30: rule x: when: unexpected token EOF (something is missing at the end)`},
		{"bad level", rule("id: x", `when: 'level == "warn"'`, "disposition: ignore"), `f.yaml:4:21: rule x: when: there is no level "warn" (did you mean "warning"?)`},
		{"bad status", rule("id: x", `when: 'status in ["failed", "timeout"]'`, "disposition: ignore"), `f.yaml:4:33: rule x: when: there is no status "timeout" (did you mean "timed_out"?)`},
		{"bad kind", rule("id: x", `when: '"logs" == kind'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: there is no kind "logs" (did you mean "log"?)`},
		{"not boolean", rule("id: x", `when: 'template'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: must be a condition, true or false, not text (compare it with something)`},
		{"number", rule("id: x", `when: 'len(template) + 1'`, "disposition: ignore"), `f.yaml:4:26: rule x: when: must be a condition, true or false, not a number (compare it with something)`},
		{"list", rule("id: x", `when: '["a"]'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: must be a condition, true or false, not a list (compare it with something)`},
		{"types", rule("id: x", `when: 'template == 1'`, "disposition: ignore"), `f.yaml:4:21: rule x: when: invalid operation: == (mismatched types string and int) (compare texts with texts, numbers with numbers)`},
		{"argument", rule("id: x", `when: 'lower(1) == "x"'`, "disposition: ignore"), `f.yaml:4:18: rule x: when: cannot use int as argument (type string) to call lower `},
		{"clock", rule("id: x", `when: 'now().Hour() > 3'`, "disposition: ignore"), `f.yaml:4:18: rule x: when: values have no fields or methods (write template contains "text", startsWith or endsWith)`},
		{"clock alone", rule("id: x", `when: 'now() != date("x")'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: the function "now" is not part of the rule language (rules have no clock, so that a replay makes the same decisions as the live run)` + "\n" + `f.yaml:4:21: rule x: when: the function "date" is not part of the rule language (rules have no clock, so that a replay makes the same decisions as the live run)`},
		{"unknown function", rule("id: x", `when: 'contain_any(template, ["x"])'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: the function "contain_any" is not part of the rule language (did you mean "contains_any"?)`},
		{"variable called", rule("id: x", `when: 'template("x")'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: "template" is not a function (write it without parentheses)`},
		{"function not called", rule("id: x", `when: 'contains_any'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: "contains_any" is a function (call it: contains_any(…))`},
		{"one argument", rule("id: x", `when: 'contains_any(template)'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: contains_any takes a text and a list (such as: contains_any(template, ["a", "b"]))`},
		{"text for a list in a call", rule("id: x", `when: 'contains_any(template, "x")'`, "disposition: ignore"), `f.yaml:4:35: rule x: when: the second argument of contains_any must be a list of texts (the name of a list, or ["a", "b"])`},
		{"unbounded function", rule("id: x", `when: 'repeat(template, 1000) == "x"'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: the function "repeat" is not part of the rule language (functions: all, any, contains_any, count, ends_with_any, first, hasPrefix, hasSuffix, indexOf, last, lastIndexOf, len, lower, none, one, split, starts_with_any, trim, trimPrefix, trimSuffix, upper)`},
		{"range", rule("id: x", `when: 'len(template) in 1..1000000'`, "disposition: ignore"), `f.yaml:4:30: rule x: when: the operator .. is not part of the rule language`},
		{"joined texts", rule("id: x", `when: 'template + phase == "x"'`, "disposition: ignore"), `f.yaml:4:21: rule x: when: + adds numbers; texts cannot be joined (write it as one text, or use several conditions)`},
		{"loop in a loop", rule("id: x", `when: 'any(["a"], any(["b"], # == phase))'`, "disposition: ignore"), `f.yaml:4:23: rule x: when: a loop over a list inside another loop (use contains_any, starts_with_any or ends_with_any inside)`},
		{"loop in a loop by a macro", rule("id: x", `when: 'any(["a"], has_b)'`, "disposition: ignore") + "macros: {has_b: 'any([\"b\"], # == phase)'}\n", `f.yaml:4:23: rule x: when: a loop over a list inside another loop (use contains_any, starts_with_any or ends_with_any inside)`},
		{"macro that is no condition", rule("id: x", `when: '   low'`, "disposition: ignore") + "macros: {low: 'lower(upper(template))'}\n", `f.yaml:4:15: rule x: when: must be a condition, true or false, not text (compare it with something)`},
		{"computed pattern", rule("id: x", `when: 'template matches message'`, "disposition: ignore"), `f.yaml:4:29: rule x: when: the pattern after matches must be a text, not an expression (such as: template matches "^a+$")`},
		{"bad pattern", rule("id: x", `when: 'template matches "(?=x)"'`, "disposition: ignore"), "f.yaml:4:21: rule x: when: error parsing regexp: invalid or unsupported Perl syntax: `(?=` (a regular expression of Go's package regexp, without look-around)"},
		{"let", rule("id: x", `when: 'let a = template; a == "x"'`, "disposition: ignore"), `f.yaml:4:16: rule x: when: let is not part of the rule language (use a macro)`},
		{"nil", rule("id: x", `when: 'template == nil'`, "disposition: ignore"), `f.yaml:4:24: rule x: when: nil is not part of the rule language (write "" for a value that is not known)`},
		{"map", rule("id: x", `when: '{"a": 1}.a == 1'`, "disposition: ignore"), `f.yaml:4:21: rule x: when: values have no fields or methods`},
		{"sequence", rule("id: x", `when: 'template; true'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: a sequence with ';' is not part of the rule language (join conditions with: and, or)`},
		{"field", rule("id: x", `when: 'template.x == "y"'`, "disposition: ignore"), `f.yaml:4:21: rule x: when: values have no fields or methods`},

		// What can never match.
		{"false", rule("id: x", `when: 'false'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: the condition is never true, so the rule can never match (correct it, or remove the rule)`},
		{"constant", rule("id: x", `when: '"a" contains "b"'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: the condition is never true, so the rule can never match (correct it, or remove the rule)`},
		{"no such entry", rule("id: x", `when: 'kind == "operation" and level == "error"'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: the condition is never true, so the rule can never match (correct it, or remove the rule)`},
		{"two levels", rule("id: x", `when: 'level == "error" and phase != "x" and level == "fatal"'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: the condition is never true, so the rule can never match (correct it, or remove the rule)`},
		{"not what always is", rule("id: x", `when: 'not (kind == "log" or kind != "log")'`, "disposition: ignore"), `f.yaml:4:12: rule x: when: the condition is never true, so the rule can never match (correct it, or remove the rule)`},
		{"after true", rule("id: x", `when: 'true'`, "disposition: ignore") + "  - {id: y, when: 'phase == \"y\"', disposition: ignore}\n", `f.yaml:6:19: rule y: when: can never match: rule x in line 3 comes first and has the same conditions, or fewer (move it before that rule, or narrow that rule)`},
		{"after what is always true", rule("id: x", `when: '"a" in ["a", "b"]'`, "disposition: ignore") + "  - {id: y, when: 'phase == \"y\"', disposition: ignore}\n", `f.yaml:6:19: rule y: when: can never match: rule x in line 3 comes first and has the same conditions, or fewer (move it before that rule, or narrow that rule)`},
		{"after its level", rule("id: x", `when: 'level == "info"'`, "disposition: ignore") + "  - {id: y, when: 'level == \"info\" and phase == \"y\"', disposition: advisory}\n", `f.yaml:6:19: rule y: when: can never match: rule x in line 3 comes first and has the same conditions, or fewer (move it before that rule, or narrow that rule)`},
		{"same condition", rule("id: x", `when: 'phase == "x" and not in_x'`, "disposition: ignore") + "  - {id: y, when: '(phase == \"x\") && !(template contains \"x\")', disposition: advisory}\nmacros: {in_x: 'template contains \"x\"'}\n", `f.yaml:6:19: rule y: when: can never match: rule x in line 3 comes first and has the same conditions, or fewer (move it before that rule, or narrow that rule)`},

		// Exceptions.
		{"text for exceptions", rule("id: x", ok, "disposition: ignore", "exceptions: 'phase == \"y\"'"), `f.yaml:6:17: rule x: exceptions: must be a list, not text (write it as [a, b])`},
		{"exception without condition", rule("id: x", ok, "disposition: ignore", "exceptions: [{name: y}]"), `f.yaml:6:18: rule x: exceptions[1].when: is missing (an exception is a condition, such as: 'source == "Analyzer"')`},
		{"field of an exception", rule("id: x", ok, "disposition: ignore", "exceptions: [{nam: y, when: 'phase == \"y\"'}]"), `f.yaml:6:19: rule x: exceptions[1]: unknown field "nam" (did you mean "name"?)`},
		{"name of an exception", rule("id: x", ok, "disposition: ignore", "exceptions: [{name: Y, when: 'phase == \"y\"'}]"), `f.yaml:6:25: rule x: exceptions[1].name: "Y" is not a name: lower-case letters, digits, '.', '_' and '-', at most 64`},
		{"number for an exception", rule("id: x", ok, "disposition: ignore", "exceptions: [1]"), `f.yaml:6:18: rule x: exceptions[1]: must be text, not a number (quote it: '1')`},
		{"unknown name in an exception", rule("id: x", ok, "disposition: ignore", "exceptions: ['phase == \"y\"', 'phas == \"z\"']"), `f.yaml:6:35: rule x: exceptions[2]: unknown name "phas" (did you mean "phase"?)`},
		{"unknown value in an exception", rule("id: x", ok, "disposition: ignore", "exceptions:", "  - when: 'level == \"warn\"'"), `f.yaml:7:25: rule x: exceptions[1].when: there is no level "warn" (did you mean "warning"?)`},
		{"exception that never holds", rule("id: x", ok, "disposition: ignore", "exceptions: ['false']"), `f.yaml:6:19: rule x: exceptions[1]: the condition is never true, so the exception excepts nothing (correct it, or remove the exception)`},
		{"exception elsewhere", rule("id: x", `when: 'kind == "log"'`, "disposition: ignore", "exceptions: ['status == \"failed\"']"), `f.yaml:6:18: rule x: exceptions[1]: the exception can never apply where the rule matches (correct it, or remove the exception)`},
		{"exception twice", rule("id: x", ok, "disposition: ignore", "exceptions: ['phase == \"y\"', '(phase == \"y\")']"), `f.yaml:6:34: rule x: exceptions[2]: the exception is the same as exceptions[1] (remove one of the two)`},
		{"exception of everything", rule("id: x", `when: 'level in ["error", "fatal"]'`, "disposition: ignore", "exceptions: ['level == \"error\"', 'level == \"fatal\"']"), `f.yaml:6:38: rule x: exceptions[2]: the rule can never match: an exception always applies (narrow the exception, or turn the rule off with enabled: false)`},
		{"exception that is the condition", rule("id: x", ok, "disposition: ignore", "exceptions: ['(template == \"x\")']"), `f.yaml:6:18: rule x: exceptions[1]: the rule can never match: an exception always applies (narrow the exception, or turn the rule off with enabled: false)`},
		{"same condition and exceptions", rule("id: x", ok, "disposition: ignore", "exceptions: ['phase == \"a\"', 'phase == \"b\"']") +
			"  - {id: y, when: 'template == \"x\"', exceptions: ['phase == \"b\"', 'phase == \"a\"'], disposition: advisory}\n", `f.yaml:7:19: rule y: when: can never match: rule x in line 3 comes first and has the same conditions, or fewer (move it before that rule, or narrow that rule)`},

		// Escalation.
		{"text for escalate", rule("id: x", ok, "disposition: ignore", "escalate: blocking"), `f.yaml:6:15: rule x: escalate: must be a mapping, not text (fields: after, within, to, severity)`},
		{"escalate without fields", rule("id: x", ok, "disposition: ignore", "escalate: {}"), "f.yaml:6:15: rule x: escalate.after: is missing (how many occurrences, such as after: 20)\n" +
			"f.yaml:6:15: rule x: escalate.within: is missing (in what time, such as within: 30s)\n" +
			"f.yaml:6:15: rule x: escalate.to: is missing (one of advisory, blocking)"},
		{"field of escalate", rule("id: x", ok, "disposition: ignore", "escalate: {aftr: 3, within: 1s, to: blocking}"), "f.yaml:6:15: rule x: escalate.after: is missing (how many occurrences, such as after: 20)\n" +
			"f.yaml:6:16: rule x: escalate: unknown field \"aftr\" (did you mean \"after\"?)"},
		{"after one", rule("id: x", ok, "disposition: ignore", "escalate: {after: 1, within: 1s, to: blocking}"), `f.yaml:6:23: rule x: escalate.after: must be a whole number from 2 to 1000, not "1"`},
		{"after text", rule("id: x", ok, "disposition: ignore", "escalate: {after: three, within: 1s, to: blocking}"), `f.yaml:6:23: rule x: escalate.after: must be a whole number from 2 to 1000, not "three"`},
		{"after a list", rule("id: x", ok, "disposition: ignore", "escalate: {after: [3], within: 1s, to: blocking}"), `f.yaml:6:23: rule x: escalate.after: must be a whole number from 2 to 1000, not a list`},
		{"within a number", rule("id: x", ok, "disposition: ignore", "escalate: {after: 3, within: 30, to: blocking}"), `f.yaml:6:34: rule x: escalate.within: the duration has no unit (such as 30s, 5m or 1h; a number of entries is written {entries: 500})`},
		{"within no duration", rule("id: x", ok, "disposition: ignore", "escalate: {after: 3, within: soon, to: blocking}"), `f.yaml:6:34: rule x: escalate.within: "soon" is not a duration (such as 30s, 5m or 1h30m)`},
		{"within days", rule("id: x", ok, "disposition: ignore", "escalate: {after: 3, within: 48h, to: blocking}"), `f.yaml:6:34: rule x: escalate.within: must be from 1ms to 24h, not 48h`},
		{"within nothing", rule("id: x", ok, "disposition: ignore", "escalate: {after: 3, within: {}, to: blocking}"), `f.yaml:6:34: rule x: escalate.within: is empty (give a duration, such as 30s, or entries, or both)`},
		{"within few entries", rule("id: x", ok, "disposition: ignore", "escalate: {after: 30, within: {entries: 20}, to: blocking}"), `f.yaml:6:35: rule x: escalate.within: 30 occurrences do not fit into 20 entries (increase entries, or decrease after)`},
		{"within misspelled", rule("id: x", ok, "disposition: ignore", "escalate: {after: 30, within: {entry: 20}, to: blocking}"), `f.yaml:6:36: rule x: escalate.within: unknown field "entry" (known: duration, entries)`},
		{"to nowhere", rule("id: x", ok, "disposition: ignore", "escalate: {after: 3, within: 1s, to: block}"), `f.yaml:6:42: rule x: escalate.to: unknown value "block" (did you mean "blocking"?)`},
		{"to ignore", rule("id: x", ok, "disposition: ignore", "escalate: {after: 3, within: 1s, to: ignore}"), `f.yaml:6:42: rule x: escalate.to: unknown value "ignore" (known: advisory, blocking)`},
		{"to what it is", rule("id: x", ok, "disposition: advisory", "escalate: {after: 3, within: 1s, to: advisory}"), `f.yaml:6:42: rule x: escalate.to: must be higher than the disposition of the rule, which is advisory (write a higher disposition, or remove escalate)`},
		{"escalate blocking", rule("id: x", ok, "disposition: blocking", "escalate: {after: 3, within: 1s, to: blocking}"), `f.yaml:6:42: rule x: escalate.to: must be higher than the disposition of the rule, which is blocking (write a higher disposition, or remove escalate)`},
		{"escalate a severity", rule("id: x", ok, "disposition: ignore", "escalate: {after: 3, within: 1s, to: blocking, severity: critical}"), `f.yaml:6:62: rule x: escalate.severity: unknown value "critical" (known: info, warning, error, fatal)`},
		{"escalate tags", rule("id: x", ok, "continue: true", "tags: [t]", "escalate: {after: 3, within: 1s, to: blocking}"), `f.yaml:7:5: rule x: escalate: a rule with continue only adds tags and advice, and sets the phase (remove the field, or remove continue)`},

		// Overriding, in one file.
		{"duplicate id with override", rule("id: x", ok, "disposition: ignore") + "  - {id: x, override: true, when: 'phase == \"y\"', disposition: ignore}\n", `f.yaml:6:10: rule x: id: the id is already used by the rule at f.yaml:3 (give one of them another id)`},
		{"override of nothing", rule("id: x", "override: true", "disposition: ignore"), `f.yaml:4:5: rule x: override: no file after this one has a rule "x" (remove override: a file changes what files after it define, as a user's file does with the defaults)`},
		{"override text", rule("id: x", ok, "disposition: ignore", "override: on"), `f.yaml:6:15: rule x: override: must be true or false, not "on" (write true or false)`},
		{"list override of nothing", "version: 1\nlists: {a: {override: true, items: [x]}}\n", `f.yaml:2:9: lists.a: no file after this one has a list "a" (write the items alone: a file changes what files after it define, as a user's file does with the defaults)`},
		{"list append to nothing", "version: 1\nlists: {a: {append: true, items: [x]}}\n", `f.yaml:2:9: lists.a: no file after this one has a list "a" (write the items alone: a file changes what files after it define, as a user's file does with the defaults)`},
		{"list override and append", "version: 1\nlists: {a: {append: true, override: true, items: [x]}}\n", "f.yaml:2:9: lists.a: no file after this one has a list \"a\" (write the items alone: a file changes what files after it define, as a user's file does with the defaults)\n" +
			"f.yaml:2:12: lists.a: a list cannot have both override and append (remove one of the two)"},
		{"list without items", "version: 1\nlists: {a: {overide: true}}\n", "f.yaml:2:12: lists.a.items: is missing (write items: [a, b])\n" +
			"f.yaml:2:13: lists.a: unknown field \"overide\" (did you mean \"override\"?)"},
		{"macro override of nothing", "version: 1\nmacros: {a: {override: true, when: 'true'}}\n", `f.yaml:2:10: macros.a: no file after this one has a macro "a" (write the condition alone: a file changes what files after it define, as a user's file does with the defaults)`},
		{"macro without condition", "version: 1\nmacros: {a: {}}\n", `f.yaml:2:13: macros.a.when: is missing (write when: 'template contains "text"')`},
		{"macro with items", "version: 1\nmacros: {a: {when: 'true', items: [x]}}\n", `f.yaml:2:28: macros.a: unknown field "items" (known: when, override)`},

		// Tests.
		{"test without text", rule("id: x", ok, "disposition: ignore", "tests: [{level: info}]"), `f.yaml:6:13: rule x: tests[1]: a test needs either match or no_match (such as - match: "text of a log record")`},
		{"test with both", rule("id: x", ok, "disposition: ignore", "tests: [{match: a, no_match: b}]"), `f.yaml:6:13: rule x: tests[1]: a test needs either match or no_match (such as - match: "text of a log record")`},
		{"test field", rule("id: x", ok, "disposition: ignore", "tests: [{match: a, lvl: info}]"), `f.yaml:6:24: rule x: tests[1]: unknown field "lvl" (known: match, no_match, level, phase, stack, source, kind, status, method, operation)`},
		{"test level", rule("id: x", ok, "disposition: ignore", "tests: [{match: a, level: warn}]"), `f.yaml:6:31: rule x: tests[1].level: unknown value "warn" (did you mean "warning"?)`},
		{"test kind", rule("id: x", ok, "disposition: ignore", "tests: [{match: a, kind: state, status: failed}]"), `f.yaml:6:45: rule x: tests[1].status: an entry of kind state cannot have status failed (one of phase, stall, recovered, disconnected, connected, exited, long_event, long_event_end)`},
		{"test without status", rule("id: x", ok, "disposition: ignore", "tests: [{match: a, kind: notice}]"), `f.yaml:6:13: rule x: tests[1].status: is missing: an entry of kind notice has one (one of hole, run_cut, truncated, restarted, no_log, log_found)`},
		{"test level of an operation", rule("id: x", ok, "disposition: ignore", "tests: [{match: a, status: failed, level: info}]"), `f.yaml:6:47: rule x: tests[1].level: an entry of kind operation has no level (remove it)`},
		{"test method of a log", rule("id: x", ok, "disposition: ignore", "tests: [{match: a, kind: log, method: m}]"), `f.yaml:6:43: rule x: tests[1].method: an entry of kind log has no method (remove it, or give the status of an operation)`},
		{"test number", rule("id: x", ok, "disposition: ignore", "tests: [{match: 404}]"), `f.yaml:6:21: rule x: tests[1].match: must be text, not a number (quote it: '404')`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			errs := compileError(t, rules.File{Name: "f.yaml", Data: []byte(tc.text)})
			got := strings.ReplaceAll(errs.Error(), "rules: ", "")
			require.Equal(t, tc.want, got)
		})
	}
}

// TestErrorsBetweenFiles: what one file has to do with another. The first file
// is the user's.
func TestErrorsBetweenFiles(t *testing.T) {
	base := `version: 1
lists:
  words: [a, b]
macros:
  calm: 'level == "info"'
rules:
  - id: load.failed
    when: 'template == "x" and (template in words or calm)'
    disposition: advisory
    tags: [t]
`
	for _, tc := range []struct{ name, text, want string }{
		{"id", rule("id: load.failed", `when: 'template == "y"'`, "disposition: ignore"), `mine.yaml:3:9: rule load.failed: id: the rule at base.yaml:7 has the same id (add override: true to change that rule, or use another id)`},
		{"id, misspelled", rule("id: load.faild", "override: true", "disposition: ignore"), `mine.yaml:4:5: rule load.faild: override: no file after this one has a rule "load.faild" (did you mean "load.failed"?)`},
		{"id, far off", rule("id: nothing", "override: true", "disposition: ignore"), `mine.yaml:4:5: rule nothing: override: no file after this one has a rule "nothing" (remove override: a file changes what files after it define, as a user's file does with the defaults)`},
		{"continue", rule("id: load.failed", "override: true", "continue: true"), `mine.yaml:5:5: rule load.failed: continue: a rule with continue only adds tags and advice, and sets the phase; the rule that this one overrides gives a disposition at base.yaml:9 (turn that rule off with enabled: false, and write one with another id)`},
		{"inherited escalation", rule("id: load.failed", "override: true", "escalate: {after: 3, within: 1s, to: advisory}"), `mine.yaml:5:42: rule load.failed: escalate.to: must be higher than the disposition of the rule, which is advisory (write a higher disposition, or remove escalate)`},
		{"unknown name", rule("id: load.failed", "override: true", "when: 'calmer'"), `mine.yaml:5:12: rule load.failed: when: unknown name "calmer" (did you mean "calm"?)`},
		{"list", "version: 1\nlists: {words: [c]}\n", `mine.yaml:2:9: lists.words: "words" is also defined at base.yaml:3 (write {override: true, items: […]} to replace it, {append: true, items: […]} to add to it, or use another name)`},
		{"list, misspelled", "version: 1\nlists: {word: {append: true, items: [c]}}\n", `mine.yaml:2:9: lists.word: no file after this one has a list "word" (did you mean "words"?)`},
		{"macro", "version: 1\nmacros: {calm: 'true'}\n", `mine.yaml:2:10: macros.calm: "calm" is also defined at base.yaml:5 (write {override: true, when: '…'} to replace it, or use another name)`},
		{"macro, misspelled", "version: 1\nmacros: {calms: {override: true, when: 'true'}}\n", `mine.yaml:2:10: macros.calms: no file after this one has a macro "calms" (did you mean "calm"?)`},
		{"list for a macro", "version: 1\nlists: {calm: {override: true, items: [c]}}\n", `mine.yaml:2:9: lists.calm: "calm" is a macro at base.yaml:5 (use another name)`},
		{"circle", "version: 1\nmacros: {calm: {override: true, when: 'not calm'}}\n", `mine.yaml:2:10: macros.calm: the macro uses itself: calm → calm (a macro cannot use itself, not even through other macros)`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			mine := rules.File{Name: "mine.yaml", Data: []byte(tc.text)}
			errs := compileError(t, mine, rules.File{Name: "base.yaml", Data: []byte(base)})
			require.Equal(t, tc.want, strings.ReplaceAll(errs.Error(), "rules: ", ""))
		})
	}

	t.Run("from below", func(t *testing.T) {
		errs := compileError(t, rules.File{Name: "mine.yaml", Data: []byte(base)}, rules.File{Name: "late.yaml", Data: []byte(
			"version: 1\nlists: {words: {append: true, items: [c]}}\nrules: [{id: load.failed, override: true, disposition: ignore}]\n")})
		require.Equal(t, "mine.yaml:3:3: lists.words: \"words\" is also defined at late.yaml:2 (write {override: true, items: […]} to replace it, {append: true, items: […]} to add to it, or use another name)\n"+
			"mine.yaml:7:9: rule load.failed: id: the rule at late.yaml:3 has the same id (add override: true to change that rule, or use another id)\n"+
			"late.yaml:2:9: lists.words: no file after this one has a list \"words\" (the list at mine.yaml:3 comes first, so it wins)\n"+
			"late.yaml:3:27: rule load.failed: override: no file after this one has a rule \"load.failed\" (the rule at mine.yaml:7 comes first, so it wins)", strings.ReplaceAll(errs.Error(), "rules: ", ""))
	})
}

// TestAllErrorsAtOnce: nothing that is wrong hides anything else, and the
// order is that of the files and the lines in them.
func TestAllErrorsAtOnce(t *testing.T) {
	err := compileError(t,
		rules.File{Name: "b.yaml", Data: []byte(rule("id: x", "when: 'a'", "disposition: x"))},
		rules.File{Name: "broken.yaml", Data: []byte("rules: [")},
		rules.File{Name: "a.yaml", Data: []byte(rule("id: x", "when: 'template'", "severity: 5"))},
	)
	var got []string
	for _, e := range errorsOf(t, err) {
		got = append(got, fmt.Sprintf("%s:%d %s", e.File, e.Line, e.Field))
	}
	require.Equal(t, []string{
		"b.yaml:3 id", "b.yaml:4 when", "b.yaml:5 disposition", "broken.yaml:1 ", "a.yaml:3 disposition", "a.yaml:4 when", "a.yaml:5 severity",
	}, got)

	var one *rules.Error
	require.ErrorAs(t, err, &one)
	require.Same(t, errorsOf(t, err)[0], one)
}

func TestErrorsAreBounded(t *testing.T) {
	errs := errorsOf(t, compileError(t, rules.File{
		Name: "f.yaml",
		Data: []byte("version: 1\nrules:\n" + strings.Repeat("  - {}\n", 2000)),
	}))
	require.Len(t, errs, rules.MaxErrors+1)
	require.Equal(t, "rules: and 5000 more errors", errs[rules.MaxErrors].Error())
}

// TestHostileText: what a message quotes from a file is escaped and cut.
func TestHostileText(t *testing.T) {
	err := compileError(t,
		rules.File{Name: "a\x1b[31m\n.yaml", Data: []byte("version: 1\n\"\\e[2J\\u2028" + strings.Repeat("x",
			5000) + "\": 1\n")},
		rules.File{Name: "c", Data: []byte("version: 1\nlists: {\"\\e[1m\\u2028\": [x, x]}\nmacros: {\"\\u202e\": 'a'}\n")},
		rules.File{Name: "b", Data: []byte(rule("id: x", `when: "template \e == \u202e"`, "disposition: ignore"))},
	)
	for line := range strings.SplitSeq(err.Error(), "\n") {
		require.Less(t, len(line), 700)
		for _, r := range line {
			require.NotContains(t, "\x1b\u2028\u202e\r", string(r))
		}
	}
	require.Len(t, strings.Split(err.Error(), "\n"), len(errorsOf(t, err)))
}

// TestBounds: what is too much is refused, and soon.
func TestBounds(t *testing.T) {
	doubling := "version: 1\nmacros:\n  m0: 'template == \"x\"'\n"
	for i := 1; i < 40; i++ {
		doubling += fmt.Sprintf("  m%d: 'm%d or m%d'\n", i, i-1, i-1)
	}
	many := func(n int, more func(i int) string) string { // rules with one more field
		var b strings.Builder
		b.WriteString("version: 1\nrules:\n")
		for i := range n {
			fmt.Fprintf(&b, "  - {id: r%d, when: 'phase == \"%d\"', disposition: ignore, %s}\n", i, i, more(i))
		}
		return b.String()
	}
	always := func(field string) func(int) string { return func(int) string { return field } }
	var names []string
	for i := range 1001 {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	tags := func(i int) string { return "tags: [" + strings.Join(names[16*i:16*i+16], ", ") + "]" }
	when := func(s string) string { return rule("id: x", "when: '"+s+"'", "disposition: ignore") }
	for _, tc := range []struct{ name, text, want string }{
		{"file", "version: 1\n#" + strings.Repeat("x", rules.MaxFileBytes), "more than the 4194304 allowed"},
		{"rules", many(rules.MaxRules+1, always("enabled: true")), "more than 10000 rules"},
		{"name of game code", "version: 1\ngame_code: [" + strings.Repeat("x", 129) + "]\n", "the name has 129 bytes, more than the 128 allowed"},
		{"names of game code", "version: 1\ngame_code: [" + strings.Join(names, ", ") + "]\n", "more than 1000 names"},
		{"resolves", many(1100, always("resolves: ['r*']")), "too many rule ids"},
		{"tags of a rule", rule("id: x", "when: 'phase == \"x\"'", "disposition: ignore", "tags: ["+strings.Repeat("a, ", 1)+"b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]"), "a rule has at most 16 tags"},
		{"tags", many(5, tags), "more than 64 different tags"},
		{"exceptions", rule("id: x", "when: 'phase == \"x\"'", "disposition: ignore", "exceptions: ["+strings.Repeat("'template == \"a\"', ", rules.MaxExceptions)+"'false']"), "a rule has at most 64 exceptions (join conditions with or, or use a list)"},
		{"escalations", many(rules.MaxEscalations+1, always("escalate: {after: 3, within: 1s, to: blocking}")), "more than 256 rules with escalate"},
		{"macros that double", doubling, "with macros expanded, has more than 4000 parts"},
		{"long expression", when(strings.Repeat("x", rules.MaxExpression+1)), "the expression has 16385 bytes"},
		{"parentheses", when(strings.Repeat("(", rules.MaxNesting+1)), "brackets are nested more than 64 deep"},
		{"not", when(strings.Repeat("!", rules.MaxExpression-4) + "true"), "exceeds maximum allowed nodes"},
		{"brackets", when(strings.Repeat("[", rules.MaxExpression)), "brackets are nested more than 64 deep"},
		{"open brackets", when(strings.Repeat("(", rules.MaxNesting)), "unexpected token EOF"},
		{"pattern", when(`template matches "` + strings.Repeat("(a{1,1000}){1,1000}", 10) + `"`), "error parsing regexp"},
		{"YAML brackets", "version: 1\nrules: " + strings.Repeat("[", 100_000), "YAML: "},
		{"YAML braces", "version: 1\nrules: " + strings.Repeat("{a: ", 100_000), "YAML: "},
		{"YAML dashes", "version: 1\nrules:\n" + strings.Repeat("- ", 100_000), "YAML: "},
		{"YAML keys", strings.Repeat("? ", 100_000), "YAML: "},
		{"alias bomb", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c]\n", "aliases are not part"},
		{"alias of itself", "a: &a [*a]\n", "aliases are not part"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.ErrorContains(t, compileError(t, rules.File{Name: "f.yaml", Data: []byte(tc.text)}), tc.want)
		})
	}
	t.Run("files", func(t *testing.T) {
		require.ErrorContains(t, compileError(t, make([]rules.File, rules.MaxFiles+1)...), "more than 256 files")
	})
}

// TestAdvice: a part in brackets is for a game that has started, and a rule with continue replaces the advice of the rule
// that decides.
func TestAdvice(t *testing.T) {
	set := compileRules(t, `
  - {id: misfit, when: 'template contains "MisfitException"', continue: true, advice: "Update it."}
  - {id: late, when: 'message contains "really"', continue: true, advice: "Look again[, and save]."}
  - {id: step, when: 'template startsWith "Step"', disposition: blocking, advice: "[Do not save.] Restart[, or load an older save]."}
  - {id: other, when: 'template startsWith "Other"', disposition: blocking}
`)
	ev := set.NewEvaluator()
	for _, c := range []struct{ text, phase, want string }{
		{"Step failed", "play", "Do not save. Restart, or load an older save."},
		{"Step failed", "", "Do not save. Restart, or load an older save."},
		{"Step failed", "boot", "Restart."},
		{"Step failed", "start", "Restart."},
		{"Step failed: MisfitException", "boot", "Update it."},
		{"Step really failed: MisfitException", "play", "Look again, and save."},
		{"Step really failed", "boot", "Look again."},
		{"Other failed", "play", ""},
		{"Other failed: MisfitException", "play", "Update it."},
		{"Nothing: MisfitException", "play", "Update it."},
	} {
		o := ev.Evaluate(&rules.Input{Kind: event.KindLog, Template: c.text, Message: c.text, Phase: c.phase})
		require.Equal(t, c.want, o.Advice, "%s in %s", c.text, c.phase)
		require.Equal(t, c.want, ev.Explain(&rules.Input{
			Kind: event.KindLog, Template: c.text, Message: c.text, Phase: c.phase,
		}, false).Decision.Advice)
	}
	require.Equal(t, "Restart.", set.Rule("step").AdviceAtStart)
}

func TestRuleFields(t *testing.T) {
	set := compile(t, `
version: 1
protect: [Beta, Alpha]
macros: {m: 'message contains "x"'}
rules:
  - id: a.b-c_1
    when: 'm and template == "y"'
    disposition: blocking
    severity: fatal
    invalidates: true
    summary: "it broke"
    why: |
      Because
      of this.
    sets_phase: crashed
    blinds: true
    tags: [t1, t2]
`, `
version: 1
protect: [Alpha, Gamma]
logger_frames: [Acme.Log.]
rules:
  - {id: d, when: 'kind == "notice"', continue: true, tags: [x], enabled: false}
`)
	require.Equal(t, 2, len(set.Rules()))
	require.Equal(t, []string{"Alpha", "Beta", "Gamma"}, set.Masking().Protect)
	require.Equal(t, append(signature.DefaultLoggerFrames(), "Acme.Log."), set.Masking().LoggerFrames)
	r := set.Rules()[0]
	require.Same(t, r, set.Rule("a.b-c_1"))
	require.Equal(t, "f1.yaml", r.File)
	require.Equal(t, []int{6, 5}, []int{r.Line, r.Column})
	require.Equal(t, `m and template == "y"`, r.When)
	require.Equal(t, event.Blocking, r.Disposition)
	require.Equal(t, event.SeverityFatal, r.Severity)
	require.True(t, r.HasSeverity && r.Invalidates && r.Blinds && r.PerEntry)
	require.Equal(t, []string{"it broke", "Because\nof this.\n", "crashed"}, []string{r.Summary, r.Why, r.SetsPhase})
	require.Equal(t, []string{"t1", "t2"}, r.Tags)
	require.Equal(t, []string{"template", "message"}, r.Variables())
	d := set.Rule("d")
	require.True(t, d.Continue && d.Disabled && !d.PerEntry && !d.HasSeverity)
}

func TestByteOrderMarkAndCRLF(t *testing.T) {
	text := "\ufeffversion: 1\r\nrules:\r\n  - id: x\r\n    when: 'template == \"x\"'\r\n    disposition: ignore\r\n"
	require.Equal(t, 1, len(compile(t, text).Rules()))
	wrong := []byte(strings.Replace(text, "template", "templat", 1))
	err := errorsOf(t, compileError(t, rules.File{Name: "f.yaml", Data: wrong}))[0]
	require.Equal(t, []int{4, 12}, []int{err.Line, err.Column})
}

func TestHash(t *testing.T) {
	a := rules.File{Name: "a", Data: []byte("version: 1\n")}
	b := rules.File{Name: "b", Data: []byte("version: 1\nrules: []\n")}
	hash := func(files ...rules.File) uint64 {
		set := testkit.Must(rules.Compile(files...))
		return set.Hash()
	}
	require.Equal(t, hash(a, b), hash(a, b))
	seen := map[uint64]bool{}
	for _, h := range []uint64{hash(), hash(a), hash(b), hash(a, b), hash(b, a)} {
		require.False(t, seen[h])
		seen[h] = true
	}
	require.Equal(t, uint64(0xcbf29ce484222325), hash(), "the hash of nothing is that of FNV-1a")
}

// TestDefaultsPass compiles the built-in rules and runs their tests.
func TestDefaultsPass(t *testing.T) {
	set := rules.DefaultSet()
	results := set.Test()
	require.Greater(t, len(results), 3*len(set.Rules()), "though no decision needs the tests of these files")
	for _, r := range results {
		require.False(t, r.Failed, "%s", r.String())
	}
	reading := []string{"crash.report.graphics_driver", "python.uncaught", "node.uncaught", "resource.disk"} // of entries with frames in logs of programs
	for _, r := range set.Rules() {
		require.Empty(t, r.ShadowedBy, r.ID)
		require.Equal(t, slices.Contains(reading, r.ID), r.PerEntry, r.ID)
	}
	changed := rules.Defaults()[9]
	changed.Data = bytes.Replace(changed.Data, []byte("- match:"), []byte("- mtach:"), 1)
	require.ErrorContains(t, compileError(t, changed), `unknown field "mtach"`)
}

func TestInlineTests(t *testing.T) {
	set := compileRules(t, `
  - {id: user, when: 'template startsWith "mine"', disposition: ignore}
`, `
  - id: tag
    when: 'template contains "word"'
    continue: true
    tags: [w]
    tests:
      - match: a word
      - no_match: a
      - match: b
  - id: x
    when: 'template contains "x" and phase == "play" and level == "error"'
    disposition: blocking
    tests:
      - {match: an x here, phase: play, level: error}
      - {match: an x here, phase: menu, level: error}
      - {no_match: an x here, phase: play, level: error}
      - {match: mine x, phase: play, level: error}
  - id: op
    when: 'method == "game/save" and status == "timed_out" and message contains "slow" and stack == "s" and operation == "o"'
    disposition: blocking
    tests:
      - {match: too slow, status: timed_out, method: game/save, stack: s, operation: o}
      - {no_match: too slow, method: game/save, stack: s, operation: o}
  - id: off
    when: 'template == "off"'
    disposition: blocking
    enabled: false
    tests: [{match: off}]
`)
	var got []string
	for _, r := range set.Test() {
		got = append(got, fmt.Sprintf("%s:%d:%d %s %q match=%v got=%s passed=%v overridden=%v failed=%v",
			r.File, r.Line, r.Column, r.Rule.ID, r.Text, r.Match, r.Got.Rule, r.Passed, r.Overridden, r.Failed))
	}
	require.Equal(t, []string{
		`f2.yaml:9:16 tag "a word" match=true got=default.log.unknown passed=true overridden=false failed=false`,
		`f2.yaml:10:19 tag "a" match=false got=default.log.unknown passed=true overridden=false failed=false`,
		`f2.yaml:11:16 tag "b" match=true got=default.log.unknown passed=false overridden=false failed=true`,
		`f2.yaml:16:17 x "an x here" match=true got=x passed=true overridden=false failed=false`,
		`f2.yaml:17:17 x "an x here" match=true got=default.log.error passed=false overridden=false failed=true`,
		`f2.yaml:18:20 x "an x here" match=false got=x passed=false overridden=false failed=true`,
		`f2.yaml:19:17 x "mine x" match=true got=user passed=false overridden=true failed=false`,
		`f2.yaml:24:17 op "too slow" match=true got=op passed=true overridden=false failed=false`,
		`f2.yaml:25:20 op "too slow" match=false got=default.operation.failed passed=true overridden=false failed=false`,
		`f2.yaml:30:21 off "off" match=true got=default.log.unknown passed=true overridden=false failed=false`,
	}, got)
	results := set.Test()
	require.Equal(t, `f2.yaml:17:17: rule x: match "an x here": failed, decided by default.log.error (template "an x here")`, results[4].String())
	require.Equal(t, `f2.yaml:19:17: rule x: match "mine x": overridden, decided by user`, results[6].String())
}
