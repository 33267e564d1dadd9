package gabp_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/gabp/gate"
)

// A host has tools of its own, and holds back those that act on the game while an item blocks.
// What only reads says so by a tag.
func ExampleTools() {
	type buildArgs struct {
		Wall struct {
			X int `json:"x" minimum:"0"`
			Y int `json:"y" minimum:"0"`
		} `json:"wall" jsonschema:"Where the wall is built."`
		Material string `json:"material,omitempty" enum:"wood,stone"`
	}
	type built struct {
		Walls int `json:"walls"`
	}
	ctx := context.Background()
	engine, err := heed.New(heed.Config{Epoch: "monday"})
	if err != nil {
		panic(err)
	}
	hold, err := gate.New(gate.Config{Source: gate.Engine(engine, time.Now)})
	if err != nil {
		panic(err)
	}
	attention := &gabp.Attention{Engine: engine}
	walls := 0
	tools := &gabp.Tools{Around: func(ctx context.Context, c *gabp.Call, run func() (any, error)) (any, error) {
		d := hold.Check(ctx, gate.Call{ID: c.ID, Tool: c.Tool.Name, Tags: c.Tool.Tags, Consumer: c.Session.Consumer})
		if !d.Allowed {
			return nil, gabp.Errorf(gabp.CodeToolUnavailable, "%s", d.Refusal)
		}
		result, err := run()
		status, text := event.StatusCompleted, ""
		if err != nil {
			status, text = event.StatusFailed, err.Error()
		}
		hold.Done(ctx, d, status, text)
		return result, err
	}}
	err = errors.Join(
		gabp.AddTool(tools, gabp.Tool{Name: "colony/build", Description: "Builds a wall."},
			func(context.Context, *gabp.Call, buildArgs) (built, error) {
				walls++
				return built{walls}, nil
			}),
		gabp.AddTool(tools, gabp.Tool{Name: "colony/walls", Description: "Counts the walls.", Tags: []string{"read-only"}},
			func(context.Context, *gabp.Call, struct{}) (built, error) { return built{walls}, nil }),
	)
	if err != nil {
		panic(err)
	}
	mux := new(gabp.Mux)
	attention.Register(mux)
	tools.Register(mux)
	token := gabp.NewToken()
	server, err := gabp.NewServer(gabp.ServerConfig{
		Token: token, AgentID: "colony-mod", App: gabp.App{Name: "Colony", Version: "1.2"}, Mux: mux,
	})
	if err != nil {
		panic(err)
	}
	near, far := net.Pipe() // or server.Serve(ctx, listener)
	go func() { _ = server.ServeConn(ctx, near) }()
	bridge, err := gabp.NewClient(ctx, far, gabp.ClientConfig{Token: token})
	if err != nil {
		panic(err)
	}
	defer func() { _ = bridge.Close() }()

	call := func(tool, arguments string) {
		params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)
		result, err := bridge.CallRaw(ctx, gabp.MethodToolsCall, []byte(params))
		if e, ok := errors.AsType[*gabp.Error](err); ok {
			first, _, _ := strings.Cut(e.Message, ";")
			fmt.Println(e.Code, first)
			return
		}
		fmt.Println(string(result))
	}
	call("colony/build", `{"wall":{"x":1,"y":2},"material":"stone"}`)
	call("colony/build", `{"wall":{"x":1,"y":"two"}}`)
	call("colony/build", `{"wall":{"x":1,"y":2},"material":"glass"}`)

	engine.Raise(heed.Report{
		Disposition: event.Blocking, Severity: event.SeverityError, Summary: "The save could not be written",
	})
	call("colony/build", `{"wall":{"x":1,"y":2}}`)
	call("colony/walls", `{}`)
	// Output:
	// {"walls":1}
	// -32602 params.arguments.wall.y: want an integer of at least 0, got "two"
	// -32602 params.arguments.material: want one of "wood", "stone", got "glass"
	// -32401 not executed: The save could not be written (1 entry in 1 group)
	// {"walls":1}
}
