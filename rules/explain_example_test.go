package rules_test

import (
	"fmt"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

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
	why := set.NewEvaluator().Explain(&rules.Input{Template: "Could not save <*>", Level: event.LevelError, Phase: "play"}, true)
	for _, t := range why.Trials {
		fmt.Println(t.ID, t.Matched)
		for _, c := range t.Clauses {
			if c.Decisive {
				fmt.Printf("  %s: %s is %t\n", c.Place, c.Text, c.Holds)
			}
		}
	}
	fmt.Println("without it:", why.Without.Rule)
	// Output:
	// save.draft false
	//   mine.yaml:6:53: not in_play is false
	// save.failed true
	//   mine.yaml:9:12: template startsWith "Could not save" is true
	// without it: default.log.error
}
