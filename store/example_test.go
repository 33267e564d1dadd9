package store_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/store"
)

// A host drains its engine now and then. After its end, whatever it was, the
// next run reads what happened, and learns what is missing.
func Example() {
	dir, err := os.MkdirTemp("", "heed")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	engine, err := heed.New(heed.Config{Epoch: "run-7", Journal: journal.Config{Entries: 3}})
	if err != nil {
		fmt.Println(err)
		return
	}
	j, err := store.OpenJournal(store.JournalConfig{Dir: filepath.Join(dir, "journal"), Epoch: "run-7"})
	if err != nil {
		fmt.Println(err)
		return
	}
	engine.Log(event.Log{Level: event.LevelInfo, Message: "loading the map"})
	fmt.Println(j.Drain(engine))
	for i := range 10 {
		engine.Log(event.Log{Level: event.LevelInfo, Message: fmt.Sprintf("tick %d", i)})
	}
	fmt.Println(j.Drain(engine))
	fmt.Println(j.Close())

	j, err = store.OpenJournal(store.JournalConfig{Dir: filepath.Join(dir, "journal"), Epoch: "run-8"})
	if err != nil {
		fmt.Println(err)
		return
	}
	page := j.Read(heed.Cursor{Epoch: "run-7"}, 0, heed.Filter{})
	for _, r := range page.Records {
		fmt.Println(r.Seq, r.Message)
	}
	for _, g := range page.Gaps {
		fmt.Printf("%d to %d: %v\n", g.After+1, g.To, g.Cause)
	}
	fmt.Println(j.Close())
	// Output:
	// {1 0} <nil>
	// {3 7} <nil>
	// <nil>
	// 1 loading the map
	// 9 tick 7
	// 10 tick 8
	// 11 tick 9
	// 2 to 8: missed
	// <nil>
}
