package replay_test

import (
	"fmt"
	"strings"

	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/rules"
)

func Example() {
	log := "[INFO] the map is loaded\n[ERROR] cannot save to slot 1\n[INFO] the day is over\n"
	set, err := rules.Compile(rules.File{Name: "mine.yaml", Data: []byte(`
version: 1
rules:
  - id: save.failed
    when: 'template startsWith "cannot save"'
    disposition: blocking
`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := replay.Open(set, strings.NewReader(log))
	if err != nil {
		fmt.Println(err)
		return
	}
	for r.Next() == nil { // io.EOF at the end
		if r.Outcome.Decision.Disposition.Urgent() {
			fmt.Printf("line %d: %s: %s\n", r.Record.StartLine, r.Outcome.Decision.Disposition, r.Record.Message)
		}
	}
	fmt.Println(r.End(nil).Lines, "lines")
	// Output:
	// line 2: blocking: [ERROR] cannot save to slot 1
	// 3 lines
}
