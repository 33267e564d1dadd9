package follow_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/capture/follow"
)

// A log is followed while it grows: what it held before is history, and a Sync
// waits until what was written before it has been handed over.
func Example() {
	log, err := os.CreateTemp("", "Player*.log")
	if err != nil {
		panic(err)
	}
	defer func() { _ = errors.Join(log.Close(), os.Remove(log.Name())) }()
	path := log.Name()
	_, _ = log.WriteString("The harbor is open\n")

	f, err := follow.New(follow.Config{Path: path, Capture: capture.Options{Layout: capture.LayoutPlain}})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		ended <- f.Run(ctx, func(r *follow.Record) {
			fmt.Println(r.Message, "history:", r.History)
		})
	}()
	if err := f.Sync(ctx); err != nil {
		panic(err)
	}
	_, _ = log.WriteString("The ferry has landed\n")
	if err := f.Sync(ctx); err != nil {
		panic(err)
	}
	cancel()
	fmt.Println("ended:", <-ended)
	// Output:
	// The harbor is open history: true
	// The ferry has landed history: false
	// ended: <nil>
}
