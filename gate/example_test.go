package gate_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gate"
)

// game stands for what a host dispatches calls to.
type game struct{ engine *heed.Engine }

func (g *game) run(tool string) error {
	if tool == "game/load" {
		g.engine.Log(event.Log{Level: event.LevelFatal, Message: "Out of memory while loading"})
	}
	return nil
}

// A host that dispatches calls asks before each one, and tells after it.
func Example() {
	engine, err := heed.New(heed.Config{})
	if err != nil {
		panic(err)
	}
	g, err := gate.New(gate.Config{Source: gate.Engine(engine, nil), Allow: []string{"saves/*"}})
	if err != nil {
		panic(err)
	}
	world := game{engine}
	calls := 0
	dispatch := func(ctx context.Context, tool string) error {
		calls++
		d := g.Check(ctx, gate.Call{ID: fmt.Sprintf("call-%d", calls), Tool: tool, Consumer: "agent"})
		if !d.Allowed {
			return errors.New(d.Refusal)
		}
		if d.Exempt != "" {
			fmt.Println(tool, "is exempt:", d.Exempt)
		}
		status, text := event.StatusCompleted, ""
		if err := world.run(tool); err != nil {
			status, text = event.StatusFailed, err.Error()
		}
		done := g.Done(ctx, d, status, text)
		fmt.Println(tool, "executed:", done.Executed)
		if done.Related != nil {
			fmt.Println("attention:", done.Related.ID)
		}
		return nil
	}
	ctx := context.Background()
	_ = dispatch(ctx, "game/load")
	fmt.Println("game/step refused:", dispatch(ctx, "game/step") != nil)
	_ = dispatch(ctx, "saves/list")
	acked, _ := g.Ack(ctx, "agent", "0-1", 0)
	fmt.Println("acknowledged:", acked.Acknowledged)
	_ = dispatch(ctx, "game/step")

	// Output:
	// game/load executed: true
	// attention: 0-1
	// game/step refused: true
	// saves/list is exempt: owner's list: saves/*
	// saves/list executed: true
	// acknowledged: true
	// game/step executed: true
}
