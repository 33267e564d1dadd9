package heed_test

import (
	"fmt"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
)

// A host ends, and its next run goes on: the item that was open is open, and its
// id still acknowledges it.
func ExampleRestore() {
	engine, err := heed.New(heed.Config{Epoch: "run1"})
	if err != nil {
		panic(err)
	}
	engine.Raise(heed.Report{Key: "disk", Disposition: event.Blocking, Summary: "the disk is full"})
	snapshot := engine.Snapshot(nil)

	engine, err = heed.Restore(heed.Config{}, snapshot)
	if err != nil {
		panic(err)
	}
	current, _ := engine.Current("")
	fmt.Println(current.ID, current.Summary)
	fmt.Println(engine.Ack("", current.ID, 0).Acknowledged)

	// A snapshot that is cut, or of another version, still has what blocked.
	engine, err = heed.Restore(heed.Config{}, snapshot[:len(snapshot)-1])
	if err != nil {
		panic(err)
	}
	current, _ = engine.Current("")
	fmt.Println(current.ID, current.Summary)
	fmt.Println(engine.CarriedOver() != nil)
	// Output:
	// run1-1 the disk is full (1 entry in 1 group); see entries after 0
	// true
	// run1-1 the disk is full (1 entry in 1 group); see entries after 1
	// true
}
