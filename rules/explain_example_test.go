package rules_test

import (
	"fmt"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

// Why is a rule passed over, and what would decide without the one that did?
func ExampleExplainer() {
	x, err := rules.NewExplainer(rules.File{Name: "mine.yaml", Data: []byte(`version: 1
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
	why := x.Explain(&rules.Input{Template: "Could not save <*>", Level: event.LevelError, Phase: "play"})
	for _, t := range why.Trials {
		fmt.Println(t.Rule.ID, t.Matched)
		for _, c := range t.Condition.Decisive() {
			fmt.Printf("  %s:%d:%d: %s is %t\n", c.File, c.Line, c.Column, c.Text, c.Value)
		}
	}
	fmt.Println("without it:", why.Next.Decision.Rule)
	// Output:
	// save.draft false
	//   mine.yaml:6:53: not in_play is false
	// save.failed true
	//   mine.yaml:9:12: template startsWith "Could not save" is true
	// without it: default.log.error
}
