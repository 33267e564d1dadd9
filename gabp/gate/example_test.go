package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/gabp/gate"
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
	// attention: 0-1
	// acknowledged: true
	// game/step executed: true
}

// mod serves a game's mod that has attention, until ctx is done.
func mod(ctx context.Context) gabp.Bridge {
	engine, err := heed.New(heed.Config{})
	if err != nil {
		panic(err)
	}
	attention := &gabp.Attention{Engine: engine}
	mux := new(gabp.Mux)
	attention.Register(mux)
	mux.Handle(gabp.MethodToolsList, func(context.Context, *gabp.Request) (any, error) {
		return map[string]any{"tools": []gabp.Tool{{Name: "farm/sow"}, {Name: "farm/read", Tags: []string{"read-only"}}}}, nil
	})
	mux.Handle(gabp.MethodToolsCall, func(_ context.Context, r *gabp.Request) (any, error) {
		if call, err := gabp.ParseToolCall(r.Params); err != nil || call.Name == "farm/sow" {
			engine.Raise(heed.Report{
				Disposition: event.Blocking, Severity: event.SeverityError,
				Summary: "The field is flooded",
			})
		}
		return map[string]bool{"success": true}, nil
	})
	b := gabp.Bridge{Token: gabp.NewToken()}
	server, err := gabp.NewServer(gabp.ServerConfig{
		Token: b.Token, AgentID: "farm",
		App: gabp.App{Name: "Farm", Version: "1"}, Mux: mux,
	})
	if err != nil {
		panic(err)
	}
	l, err := gabp.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() { _ = server.Serve(ctx, l) }()
	b.Address = l.Addr().String()
	return b
}

// A bridge asks the game's mod before each call of a tool, and after it what came of it.
func ExampleRemote() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	game := mod(ctx) // or gabp.FindBridge, or what the bridge handed to the game

	client, err := gabp.Dial(ctx, game.Address, gabp.ClientConfig{Token: game.Token, Name: "my-bridge"})
	if err != nil {
		panic(err)
	}
	defer func() { _ = client.Close() }()
	g, err := gate.New(gate.Config{Source: gate.Remote(client, client.Welcome().Capabilities.Methods)})
	if err != nil {
		panic(err)
	}
	var list struct{ Tools []gabp.Tool }
	if err := client.Call(ctx, gabp.MethodToolsList, nil, &list); err != nil {
		panic(err)
	}
	tags := map[string][]string{}
	for _, t := range list.Tools {
		tags[t.Name] = t.Tags
	}

	call := func(tool string) (json.RawMessage, error) {
		d := g.Check(ctx, gate.Call{Tool: tool, Tags: tags[tool]})
		if !d.Allowed {
			return nil, errors.New(d.Refusal) // not executed
		}
		result, err := client.CallTool(ctx, tool, nil)
		status, text := event.StatusCompleted, ""
		if err != nil {
			status, text = event.StatusFailed, err.Error()
		}
		if done := g.Done(ctx, d, status, text); done.Related != nil {
			fmt.Println("executed, and something opened:", done.Related.ID)
		}
		return result, err
	}
	for _, tool := range []string{"farm/sow", "farm/sow", "farm/read"} {
		result, err := call(tool)
		fmt.Println(tool, string(result), err != nil)
	}
	// The agent has read the item and acknowledges it by its id.
	acked, err := g.Ack(ctx, "", "0-1", 0)
	fmt.Println(acked.Acknowledged, err)

	// Output:
	// executed, and something opened: 0-1
	// farm/sow {"success":true} false
	// farm/sow  true
	// farm/read {"success":true} false
	// true <nil>
}
