package rules_test

import (
	"fmt"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

const example = `
version: 1
lists:
  quiet: [Analyzer, Profiler]
macros:
  in_game: 'phase == "load" or phase == "play"'
rules:
  - id: mods.chatter
    when: 'source in quiet'
    disposition: ignore
    why: "two tools that report on themselves"
  - id: save.reference_missing
    when: 'template startsWith "Could not load reference to" and in_game'
    disposition: blocking
    invalidates: true
    summary: "a saved object refers to something that is missing"
    tests:
      - match: "Could not load reference to a pawn"
        phase: load
      - no_match: "Could not load reference to a pawn"
        phase: menu
`

func Example() {
	// A user's own files come first, so that they match before the defaults.
	set, err := rules.Compile(rules.File{Name: "mine.yaml", Data: []byte(example)})
	if err != nil {
		fmt.Println(err)
		return
	}
	ev := set.NewEvaluator()
	for _, in := range []rules.Input{
		{Template: "Could not load reference to <*>", Level: event.LevelError, Phase: "load"},
		{Template: "Could not load reference to <*>", Level: event.LevelError, Phase: "menu"},
		{Template: "Could not load reference to <*>", Level: event.LevelError, Phase: "load", Source: "Analyzer"},
	} {
		d := ev.Evaluate(&in).Decision
		fmt.Printf("%-8s %-7s %s\n", d.Disposition, d.Severity, d.Rule)
	}
	// Output:
	// blocking error   save.reference_missing
	// advisory error   default.log.error
	// ignore   error   mods.chatter
}

func ExampleCompile_errors() {
	_, err := rules.Compile(rules.File{Name: "mine.yaml", Data: []byte(`
version: 1
rules:
  - id: save.broken
    when: 'templat contains "save" and level == "warn"'
    disposition: block
`)})
	fmt.Println(err)
	// Output:
	// rules: mine.yaml:5:12: rule save.broken: when: unknown name "templat" (did you mean "template"?)
	// rules: mine.yaml:5:49: rule save.broken: when: there is no level "warn" (did you mean "warning"?)
	// rules: mine.yaml:6:18: rule save.broken: disposition: unknown value "block" (did you mean "blocking"?)
}

func ExampleSet_Test() {
	set, err := rules.Compile(rules.File{Name: "mine.yaml", Data: []byte(`
version: 1
rules:
  - id: broad
    when: 'template contains "save"'
    disposition: advisory
  - id: narrow
    when: 'template startsWith "save failed"'
    disposition: blocking
    tests:
      - match: "save failed: disk full"
`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range set.Test() {
		fmt.Println(r.String())
	}
	// Output:
	// mine.yaml:11:16: rule narrow: match "save failed: disk full": failed, decided by broad (template "save failed: disk full")
}

func ExampleEvaluator_Plan() {
	set, err := rules.Compile(rules.File{Name: "mine.yaml", Data: []byte(`
version: 1
rules:
  - {id: big, when: 'template startsWith "Loaded" and message contains "9999"', disposition: advisory}
  - {id: loaded, when: 'template startsWith "Loaded"', disposition: ignore}
`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	ev := set.NewEvaluator()
	for _, in := range []rules.Input{
		{Template: "Loaded <*> things", Message: "Loaded 9999 things"},
		{Template: "Saved <*> things", Message: "Saved 9999 things"},
	} {
		p := ev.Plan(&in) // what the template decides, for all entries that have it
		fmt.Println(p.Known() != nil, ev.Decide(&p, &in).Decision.Rule)
	}
	// Output:
	// false big
	// true default.log.unknown
}

// Why is a rule passed over, and what would decide without the one that did?
func ExampleEvaluator_Explain() {
	set, err := rules.Compile(rules.File{Name: "mine.yaml", Data: []byte(`version: 1
macros:
  in_play: 'phase == "play"'
rules:
  - id: save.draft
    when: 'template startsWith "Could not save" and not in_play'
    disposition: ignore
  - id: save.failed
    when: 'template startsWith "Could not save"'
    disposition: blocking
`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	why := set.NewEvaluator().Explain(&rules.Input{
		Template: "Could not save <*>", Level: event.LevelError,
		Phase: "play",
	}, true)
	for _, t := range why.Trials {
		fmt.Println(t.ID, t.Matched)
		for _, c := range t.Clauses {
			fmt.Printf("  %s: %s is %t\n", c.Place, c.Text, c.Holds)
		}
	}
	fmt.Println("without it:", why.Without.Rule)
	// Output:
	// save.draft false
	//   mine.yaml:6:53: not in_play is false
	//   mine.yaml:6:12: template startsWith "Could not save" is true
	// save.failed true
	//   mine.yaml:9:12: template startsWith "Could not save" is true
	// without it: default.log.error
}

// A user's file changes a default rule in one respect, and Lint looks at it.
func ExampleLint() {
	base := rules.File{Name: "base.yaml", Data: []byte(`
version: 1
rules:
  - id: pawn.lost
    when: 'template startsWith "Lost pawn <*>"'
    disposition: blocking
    tests:
      - match: "Lost pawn Human12"
      - match: "Lost pawn Human13 for good"
      - no_match: "Lost pawns are not counted"
`)}
	mine := rules.File{Name: "mine.yaml", Data: []byte(`
version: 1
rules:
  - id: pawn.lost
    override: true
    disposition: advisory
  - id: pawn.found
    when: 'template == "Found pawn Human12"'
    disposition: ignore
    tests:
      - match: "Found pawn Human12"
`)}
	for _, f := range rules.Lint(mine, base) {
		fmt.Println(f.String())
	}
	// Output:
	// mine.yaml:7:5: warning: rule pawn.found: has 1 of 2 match tests and 0 of 1 no_match tests (write two texts that it must match, and a similar one that it must not match) [tests]
	// mine.yaml:8:24: warning: rule pawn.found: no template contains "Found pawn Human12": masking replaces a part of it (write "Found pawn <*>") [masked]
}
