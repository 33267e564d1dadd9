package gate_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/internal/testkit"
)

// patience bounds what tests with a server wait for; nothing takes that long.
const patience = 2 * time.Minute

var token = strings.Repeat("0f", 16)

// connect returns a client of a server with these methods, and what ends both.
func connect(t *testing.T, mux *gabp.Mux) (c *gabp.Client, stop func()) {
	t.Helper()
	server := testkit.Must(gabp.NewServer(gabp.ServerConfig{
		Token: token, AgentID: "heed", App: gabp.App{Name: "game", Version: "1"}, Mux: mux,
		Limits: gabp.Limits{HelloTimeout: patience},
	}))
	here, there := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.ServeConn(ctx, there)
	}()
	c = testkit.Must(gabp.NewClient(t.Context(), here, gabp.ClientConfig{
		Token:  token,
		Limits: gabp.Limits{HelloTimeout: patience},
	}))
	stop = func() {
		cancel()
		<-done
		_ = c.Close()
	}
	t.Cleanup(stop)
	return c, stop
}

// TestOverGABP asks a server that has the attention of an engine, through a client.
func TestOverGABP(t *testing.T) {
	e := newEngine(t)
	mux := new(gabp.Mux)
	(&gabp.Attention{Engine: e}).Register(mux)
	c, stop := connect(t, mux)
	g := newGate(t, gate.Config{Source: gate.Remote(c, c.Welcome().Capabilities.Methods), Timeout: patience})
	call := gate.Call{ID: "1", Tool: "colony/build"}
	ctx := t.Context()

	d := g.Check(ctx, call)
	require.True(t, d.Allowed, d.Err)
	e.Log(broken("1"))
	res := g.Done(ctx, d, event.StatusCompleted, "")
	require.True(t, res.Executed)
	require.Equal(t, "e1-1", res.Related.ID)
	d = g.Check(ctx, call)
	require.False(t, d.Allowed)
	require.Equal(t, "e1-1", d.Attention.ID)
	require.False(t, g.Done(ctx, d, event.StatusCompleted, "").Executed)

	acked := testkit.Must(g.Ack(ctx, "", "e1-7", 0))
	require.False(t, acked.Acknowledged)
	require.Equal(t, "e1-1", acked.Current.ID)
	acked = testkit.Must(g.Ack(ctx, "", "1", 0))
	require.True(t, acked.Acknowledged)
	require.Equal(t, "e1-1", acked.ID, "a peer takes the number, and answers the whole id")
	require.False(t, acked.Open)
	require.True(t, g.Check(ctx, call).Allowed)

	stop()
	d = g.Check(ctx, call)
	require.False(t, d.Allowed, "the server is gone")
	require.Error(t, d.Err)
}

// TestNoAttentionOverGABP asks a server that does not offer it.
func TestNoAttentionOverGABP(t *testing.T) {
	c, _ := connect(t, new(gabp.Mux))
	g := newGate(t, gate.Config{Source: gate.Remote(c, c.Welcome().Capabilities.Methods)})
	d := g.Check(t.Context(), gate.Call{ID: "1", Tool: "colony/build"})
	require.True(t, d.Allowed)
	require.Equal(t, "no attention capability", d.Exempt)

	// What says that it has it, and has not, cannot be relied on.
	g = newGate(t, gate.Config{Source: gate.Remote(c, both)})
	require.False(t, g.Check(t.Context(), gate.Call{ID: "1", Tool: "colony/build"}).Allowed)
}
