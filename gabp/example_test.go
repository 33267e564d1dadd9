package gabp_test

import (
	"context"
	"fmt"
	"net"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

// A host puts the attention of its engine on the wire; a bridge asks for it
// and acknowledges.
func Example() {
	ctx := context.Background()
	engine, err := heed.New(heed.Config{Epoch: "monday"})
	if err != nil {
		panic(err)
	}
	mux := new(gabp.Mux)
	token := gabp.NewToken()
	server, err := gabp.NewServer(gabp.ServerConfig{
		Token: token, AgentID: "farm-mod", App: gabp.App{Name: "Farm", Version: "1.2"}, Mux: mux,
	})
	if err != nil {
		panic(err)
	}
	attention := &gabp.Attention{Engine: engine, Publish: server.Publish}
	attention.Register(mux)
	near, far := net.Pipe() // or server.Serve(ctx, listener)
	go func() { _ = server.ServeConn(ctx, near) }()

	bridge, err := gabp.NewClient(ctx, far, gabp.ClientConfig{Token: token})
	if err != nil {
		panic(err)
	}
	defer func() { _ = bridge.Close() }()
	engine.Raise(heed.Report{
		Disposition: event.Blocking, Severity: event.SeverityError,
		Summary: "The save could not be written",
	})
	attention.Pump(engine.Updates(nil)) // sends events

	var current gabp.CurrentResult
	if err := bridge.Call(ctx, gabp.MethodAttentionCurrent, nil, &current); err != nil {
		panic(err)
	}
	id := current.Attention.ID
	fmt.Println(id, current.Attention.Blocking)

	var ack gabp.AckResult
	if err := bridge.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: id}, &ack); err != nil {
		panic(err)
	}
	fmt.Println(ack.Acknowledged, ack.CurrentAttention == nil)
	// Output:
	// monday-1 true
	// true true
}
