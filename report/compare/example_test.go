package compare_test

import (
	"fmt"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/report/compare"
	"github.com/heedlog/heed/signature"
)

// What is new in a log, by group. A program asks an engine for templates and
// decisions; here each line blocks that begins with "cannot".
func Example() {
	normalizer, err := signature.New(signature.Config{})
	if err != nil {
		panic(err)
	}
	c, err := compare.NewCollector(compare.Config{})
	if err != nil {
		panic(err)
	}
	read := func(side compare.Side, file string, lines ...string) {
		var template []byte
		run := c.Run(side, compare.RunConfig{File: file, Template: func(signature.Signature) (string, bool) {
			return string(template), true
		}})
		for i, line := range lines {
			template = normalizer.AppendTemplate(nil, line, "")
			o := heed.Outcome{Signature: signature.Of(template)}
			if line[:6] == "cannot" {
				o.Decision.Disposition = event.Blocking
			}
			run.Observe(&capture.Record{StartLine: i + 1}, &o)
		}
	}
	read(compare.Old, "good.log", "landed Ship1029 at (3, 0, 5)", "the harbor is open")
	read(compare.New, "bad.log", "the harbor is open", "landed Ship7 at (90, 0, 1)", "cannot save slot 3",
		"cannot save slot 4")

	d := c.Diff()
	for _, row := range d.Added {
		fmt.Printf("new, %s: %d times %q, first at line %d; by chance: %.2f\n",
			row.Disposition, row.New.Count, row.Template, row.New.First[0].Line, row.Chance)
	}
	fmt.Println(len(d.Gone), "gone,", len(d.More), "more,", len(d.Less), "less")
	// Output:
	// new, blocking: 2 times "cannot save slot <*>", first at line 3; by chance: 0.25
	// 0 gone, 0 more, 0 less
}
