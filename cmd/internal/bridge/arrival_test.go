package bridge

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

// TestDeadBridgeDoesNotArrive: a bridge that is gone before its welcome is no arrival, so that
// what was open before the next one does not stop its agent.
func TestDeadBridgeDoesNotArrive(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(rules, []byte(`
version: 1
rules:
  - id: test.trouble
    when: 'template contains "TROUBLE"'
    disposition: blocking
`), 0o600))
	s, err := session.New(session.Config{RuleFiles: []string{rules}})
	require.NoError(t, err)
	token := gabp.NewToken()
	p, err := New(Config{
		Session: s, Logger: slog.New(slog.DiscardHandler),
		Handed: Handed{Outer: gabp.Bridge{Token: token}, Inner: gabp.Bridge{Address: "127.0.0.1:1"}},
	})
	require.NoError(t, err)
	p.mod.end()
	s.Observe(event.Log{Message: "TROUBLE before anybody came"}.Entry())
	require.True(t, s.Open(nil)[0].Blocking)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.bridges.welcome(gone, &gabp.ServerSession{}, &gabp.Welcome{}), context.Canceled)
	require.True(t, s.Open(nil)[0].Blocking)

	ours, theirs := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- p.server.ServeConn(t.Context(), theirs) }()
	client, err := gabp.NewClient(t.Context(), ours, gabp.ClientConfig{Token: token})
	require.NoError(t, err)
	require.False(t, s.Open(nil)[0].Blocking, "from before the agent came")
	require.NoError(t, client.Close())
	require.NoError(t, <-served)
}
