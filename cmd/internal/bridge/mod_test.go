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
	"pgregory.net/rapid"

	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/gabp"
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
	m := newMod(gabp.Bridge{Address: l.Addr().String(), Token: ours}, slog.New(slog.NewTextHandler(log, nil)))
	_, err = m.dial(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, <-served)
	require.Contains(t, log.String(), "the mod refused the connection of heed")
	require.Equal(t, 1, strings.Count(log.String(), "\n"))
	require.NotContains(t, log.String(), ours)
}

// TestMissed: a hole in a mod's numbers is told, a mod that counts in its own way is left to it.
func TestMissed(t *testing.T) {
	m := newMod(gabp.Bridge{}, slog.New(slog.DiscardHandler))
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
	m := newMod(gabp.Bridge{}, slog.New(slog.DiscardHandler))
	var tools []heedsource.Tool
	m.learned = func(list []heedsource.Tool) { tools = list }
	const list = `{"tools":[{"name":"look","tags":["read-only"],"description":"Looks.","inputSchema":{"type":"object"}},
		{"name":"odd","description":7}]}`
	for _, unreadable := range []string{``, `{"tools":7}`, `{"tools":[{"name":"look","tags":"none"}]}`} {
		m.learnTags(json.RawMessage(list))
		require.Equal(t, []string{"read-only"}, m.tagsOf("look"))
		require.Equal(t, []heedsource.Tool{
			{Name: "look", Description: "Looks.", Schema: []byte(`{"type":"object"}`)}, {Name: "odd"},
		}, tools)
		m.learnTags(json.RawMessage(unreadable))
		require.Empty(t, tools)
		require.Empty(t, m.tagsOf("look"), unreadable)
	}
}

// TestToolsBound: of a list of tools the first are kept that fit in bytes, and the tags of more.
func TestToolsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMod(gabp.Bridge{}, slog.New(slog.DiscardHandler))
		var learned []heedsource.Tool
		m.learned = func(list []heedsource.Tool) { learned = list }
		var list []string
		want, size := 0, 0
		n := rapid.SampledFrom([]int{3, 6, maxTools + 2}).Draw(t, "tools")
		for i := range n {
			name, schema, description := fmt.Sprintf("tool%06d", i), `{}`, `""`
			if n < maxTools {
				schema = `"` + strings.Repeat("s", rapid.IntRange(0, maxToolBytes/4).Draw(t, "schema")) + `"`
				description = `"` + strings.Repeat("d", rapid.IntRange(0, maxToolBytes/4).Draw(t, "description")) + `"`
			}
			list = append(list, `{"name":"`+name+`","tags":["`+name+`"],"description":`+description+`,"inputSchema":`+schema+`}`)
			if size += len(name) + len(schema) + len(description); size <= maxToolBytes {
				want++
			}
		}
		m.learnTags(json.RawMessage(`{"tools":[` + strings.Join(list, ",") + `]}`))
		require.Len(t, learned, want)
		for i, tool := range learned {
			require.Equal(t, fmt.Sprintf("tool%06d", i), tool.Name)
		}
		require.Len(t, m.tags, min(n, maxTools))
		last := fmt.Sprintf("tool%06d", min(n, maxTools)-1)
		require.Equal(t, []string{last}, m.tagsOf(last))
	})
}
