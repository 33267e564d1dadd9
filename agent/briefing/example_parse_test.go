package briefing_test

import (
	"errors"
	"fmt"

	"github.com/heedlog/heed/agent/briefing"
)

// A template is read whole, or not at all: all that is wrong with its form is reported at once.
func ExampleParse() {
	_, err := briefing.Parse("mine.yaml", []byte(`
template_id: mine
pipeline:
  - type: attention
    config: {max_item: 3}
  - type: ledger_query
    config: {max_entries: many}
`))
	fmt.Println(err)

	if first, ok := errors.AsType[*briefing.Error](err); ok {
		fmt.Println(first.Line, first.Field)
	}
	// Output:
	// briefing: mine.yaml:5:24: pipeline[1].config.max_item: unknown field (did you mean "max_items"?)
	// briefing: mine.yaml:7:27: pipeline[2].config.max_entries: got string, want integer (At most so many entries. 0 is the default.)
	// 5 pipeline[1].config.max_item
}
