package report_test

import (
	"fmt"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/report"
	"github.com/heedlog/heed/rules"
)

func Example() {
	set, err := rules.Compile(rules.File{Name: "mine.yaml", Data: []byte(`
version: 1
rules:
  - id: save.failed
    when: 'template startsWith "cannot save"'
    disposition: blocking
    summary: "the game was not saved"
    why: "what was played since the last save would be lost"
    advice: "free some space on the disk"
`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := heed.New(heed.Config{Rules: set})
	if err != nil {
		fmt.Println(err)
		return
	}
	replay, err := report.New(report.Config{
		File:     "game.log",
		Template: engine.Template,
		Rule: func(id string) report.RuleText {
			return report.RuleText{Summary: set.Rule(id).Summary, Why: set.Rule(id).Why, Advice: set.Rule(id).Advice}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	lines := []string{"loading", "cannot save to slot 1", "cannot save to slot 2"}
	for i, line := range lines {
		record := capture.Record{Entry: event.Entry{Message: line, Pos: uint64(i + 1)}, StartLine: i + 1}
		outcome := engine.Observe(record.Entry)
		replay.Observe(&record, &outcome)
		for _, u := range engine.Updates(nil) {
			replay.Update(&u)
		}
	}
	replay.End(report.End{Layout: "plain", Lines: len(lines), Stats: engine.Stats(), Open: engine.Open(nil)})
	fmt.Printf("%s", report.Text(nil, replay.Document(0), report.TextOptions{Width: 100}))
	// Output:
	// game.log: plain, 3 lines, 3 records
	//   Something is wrong since line 2. 1 problem: 2 of these.
	//   problem   The game was not saved (twice, lines 2 to 3).
	//             > cannot save to slot 1
	//     do      Free some space on the disk.
	//   log       Complete: logging continues to the end of the log at line 3.
	//
	// BLOCKING error, first at line 2
	//   what      the game was not saved
	//   why       rule save.failed: what was played since the last save would be lost
	//   do        free some space on the disk
	//   count     2 entries; item 0-1 (its run and its number), lines 2 to 3; still open
	//   sample    line 2, 2 times: cannot save to slot 1
	//
	// TIMELINE of 2 updates
	//   LINE  UPDATES         ITEM  DISPOSITION     COUNT  GROUPS  SUMMARY
	//    2-3  opened, 1 more  0-1   blocking error      2       1  the game was not saved (2 entries in 1…
	//
	// SIGNATURES by disposition
	//   A signature is the text of an entry, with <*> where it varies.
	//   Signatures that one log statement wrote form a group; FORMS counts them.
	//
	//   blocking: 2 entries of 1 signature
	//   COUNT  FIRST  LAST  FORMS  SIGNATURE         RULE         TEMPLATE
	//       2      2     3      1  1817884233e63d5b  save.failed  cannot save to slot <*>
	//
	//   ignore: 1 entry of 1 signature
	//   COUNT  FIRST  LAST  FORMS  SIGNATURE         RULE                 TEMPLATE
	//       1      1     1      1  4563ef901c3a764f  default.log.unknown  loading
	//
	// ACCOUNTING
	//   received  3 entries, one per log record
	//   decided   1 ignored, 2 counted in items: 0 advisory, 2 blocking
	//   items     1 opened, 1 open at the end, 0 cleared, 0 acknowledged; 2 updates
}
