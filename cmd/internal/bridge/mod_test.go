package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// firstLine is a log that ends what it is of with its first line.
type firstLine struct {
	bytes.Buffer
	end context.CancelFunc
}

func (l *firstLine) Write(p []byte) (int, error) {
	defer l.end()
	return l.Buffer.Write(p)
}

// TestModRefuses: a mod that does not take the token is no mod that is still to come.
func TestModRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, err := gabp.NewServer(gabp.ServerConfig{
		Token: gabp.NewToken(), AgentID: "mod", App: gabp.App{Name: "Colony", Version: "1"}, Mux: new(gabp.Mux),
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	log := &firstLine{end: cancel}
	ours := gabp.NewToken()
	m := newMod(&Config{
		Handed: Handed{Inner: gabp.Bridge{Address: l.Addr().String(), Token: ours}},
		Logger: slog.New(slog.NewTextHandler(log, nil)), Session: testkit.Must(session.New(session.Config{})),
	})
	_, err = m.dial(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, <-served)
	require.Contains(t, log.String(), "the mod refused the connection of heed")
	require.Equal(t, 1, strings.Count(log.String(), "\n"))
	require.NotContains(t, log.String(), ours)
}

// TestMissed: a hole in a mod's numbers is told, a mod that counts in its own way is left to it.
func TestMissed(t *testing.T) {
	m := newMod(nil)
	m.seqs = map[string]uint64{}
	for _, c := range []struct {
		channel     string
		seq, missed uint64
	}{{"a", 7, 0}, {"a", 8, 0}, {"b", 1, 0}, {"a", 12, 3}, {"a", 12, 0}, {"a", 0, 0}, {"a", 1, 0}, {"b", 2, 0}} {
		require.Equal(t, c.missed, m.missed(&gabp.Event{Channel: c.channel, Seq: c.seq}))
	}
}

// TestTagsAreOfTheLatestList: a list that cannot be read exempts no tool, whatever one before did.
func TestTagsAreOfTheLatestList(t *testing.T) {
	m := newMod(nil)
	const list = `{"tools":[{"name":"look","tags":["read-only"],"description":7}]}`
	for _, unreadable := range []string{``, `{"tools":7}`, `{"tools":[{"name":"look","tags":"none"}]}`} {
		m.learnTags(json.RawMessage(list))
		require.Equal(t, []string{"read-only"}, m.tagsOf("look"))
		m.learnTags(json.RawMessage(unreadable))
		require.Empty(t, m.tagsOf("look"), unreadable)
	}
}

// TestToolsBound: the tags of the first tools of a list are kept.
func TestToolsBound(t *testing.T) {
	m := newMod(nil)
	var list []string
	for i := range maxTools + 2 {
		list = append(list, fmt.Sprintf(`{"name":"tool%06d","tags":["t"]}`, i))
	}
	m.learnTags(json.RawMessage(`{"tools":[` + strings.Join(list, ",") + `]}`))
	require.Len(t, m.tags, maxTools)
	require.Equal(t, []string{"t"}, m.tagsOf(fmt.Sprintf("tool%06d", maxTools-1)))
}
