package heed_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

// A tool call returns, and a moment later the game logs an exception. The
// engine opens an item; the agent looks at what it is about, reads the journal
// from the cause on, and acknowledges.
func Example() {
	engine, err := heed.New(heed.Config{Epoch: "run1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	call := event.Operation{Time: now, ID: "op-7", Method: "rimworld/select_pawn"}
	call.Status = event.StatusStarted
	engine.Observe(call.Entry())
	call.Status, call.Time = event.StatusCompleted, now.Add(40*time.Millisecond)
	engine.Observe(call.Entry())

	engine.Log(event.Log{
		Time:    now.Add(55 * time.Millisecond),
		Level:   event.LevelError,
		Message: "Exception ticking Muffalo49213 (at (166, 0, 143)): System.NullReferenceException: Object reference not set to an instance of an object",
		Stack:   "  at Verse.Pawn.Tick () [0x00012] in <24d25868955f4df08b02c73b55f389fe>:0",
	})

	for _, u := range engine.Updates(nil) {
		fmt.Println(u.Kind, u.Item.ID, u.Item.Disposition, u.Item.Severity)
	}
	item, _ := engine.Current("")
	fmt.Println("stale:", item.StateInvalidated, "after:", item.AfterMethod)

	page := engine.Read(heed.Cursor{Seq: item.DiagnosticsCursor}, 1, heed.Filter{})
	fmt.Println(page.Records[0].Seq, page.Records[0].Message[:23])

	fmt.Println("acknowledged:", engine.Ack("", item.ID, item.LatestSequence).Acknowledged)
	_, open := engine.Current("")
	fmt.Println("open:", open)
	// Output:
	// opened run1-1 blocking error
	// stale: true after: rimworld/select_pawn
	// 3 Exception ticking Muffa
	// acknowledged: true
	// open: false
}

// A Go host sends its own logs with one line, and brings rules of its own.
func ExampleNewHandler() {
	set, err := rules.Compile(rules.File{Name: "host.yaml", Data: []byte(`
version: 1
rules:
  - id: host.save_failed
    when: template startsWith "save failed"
    disposition: blocking
    invalidates: true
    summary: the world could not be saved
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
	logger := slog.New(heed.NewHandler(engine, nil))

	logger.Info("autosave", "slot", 3)
	logger.ErrorContext(context.Background(), "save failed", "slot", 3, "operation", "op-9")

	item, _ := engine.Current("")
	fmt.Println(item.Summary)
	fmt.Println(item.CausalOperationID, item.Sample[0].Message)
	// Output:
	// the world could not be saved (1 entry in 1 group); during op-9; the game's state may have changed: read it again; see entries after 1
	// op-9 save failed slot=3
}
