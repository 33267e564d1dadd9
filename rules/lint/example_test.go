package lint_test

import (
	"fmt"

	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/rules/lint"
)

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
	for _, f := range lint.Lint(mine, base) {
		fmt.Println(f.String())
	}
	// Output:
	// mine.yaml:7:5: warning: rule pawn.found: has 1 of 2 match tests and 0 of 1 no_match tests (write two texts that it must match, and a similar one that it must not match) [tests]
	// mine.yaml:8:24: warning: rule pawn.found: no template contains "Found pawn Human12": masking replaces a part of it (write "Found pawn <*>") [masked]
}
