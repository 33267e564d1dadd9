package session_test

import (
	"context"
	"fmt"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
)

// A host runs a session beside the game, and dispatches calls through its gate.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	session, err := session.New(session.Config{Engine: heed.Config{Epoch: "run1"}})
	if err != nil {
		panic(err)
	}
	ended := make(chan error)
	go func() { ended <- session.Run(ctx) }()

	g, err := session.Gate(gate.Config{})
	if err != nil {
		panic(err)
	}
	call := func(tool string, run func()) {
		d := g.Check(ctx, gate.Call{ID: "request", Tool: tool, Consumer: "agent"})
		if !d.Allowed {
			fmt.Println(tool, "not executed, because of", d.Attention.ID)
			return
		}
		run()
		done := g.Done(ctx, d, event.StatusCompleted, "")
		fmt.Println(tool, "executed, verdict", done.Verdict.Outcome)
		if done.Related != nil {
			fmt.Println("to be looked at:", done.Related.ID)
		}
	}
	call("game/step", func() {})
	call("game/load", func() {
		session.Observe(event.Log{Level: event.LevelFatal, Message: "Out of memory while loading"}.Entry())
	})
	call("game/step", func() {})
	session.MarkRead("agent", "run1-1")
	fmt.Println("acknowledged:", session.Ack(ctx, "agent", "run1-1", 0).Acknowledged)
	call("game/step", func() {})

	cancel()
	fmt.Println("ended:", <-ended)

	// Output:
	// game/step executed, verdict clean
	// game/load executed, verdict blocking
	// to be looked at: run1-1
	// game/step not executed, because of run1-1
	// acknowledged: true
	// game/step executed, verdict clean
	// ended: <nil>
}
