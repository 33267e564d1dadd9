package briefing_test

import (
	"errors"
	"fmt"

	"github.com/heedlog/heed/agent/briefing"
)

// A template is read whole, or not at all: all that is wrong is reported at once.
func ExampleParse() {
	_, err := briefing.Parse("mine.yaml", []byte(`
template_id: mine
pipeline:
  - type: attention
    config: {max_item: 3}
  - type: ledger_query
    config: {filters: {operation: $work_ordr}}
`))
	fmt.Println(err)

	if first, ok := errors.AsType[*briefing.Error](err); ok {
		fmt.Println(first.Line, first.Field)
	}
	// Output:
	// briefing: mine.yaml:5:14: pipeline[1].config.max_item: unknown field (did you mean "max_items"?)
	// briefing: mine.yaml:7:35: pipeline[2].config.filters.operation: unknown variable $work_ordr (did you mean "$work_order"?)
	// 5 pipeline[1].config.max_item
}
