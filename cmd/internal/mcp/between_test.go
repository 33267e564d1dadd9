package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/mcp"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// defaults are the default rules, which take long to compile.
var defaults = sync.OnceValue(func() *rules.Set { return testkit.Must(rules.Compile(rules.Defaults()...)) })

// between is a proxy with a session in process. What the server is asked comes to asked, and the test answers.
type between struct {
	t       testing.TB
	config  session.Config
	all     bool // of heed's tools are listed
	session *session.Session
	proxy   *mcp.Proxy
	gather  atomic.Pointer[func(context.Context)] // called before a call is checked
	left    atomic.Bool                           // the client has left
	ended   chan error                            // what Run returned
	stop    func()

	toProxy  io.Writer      // of the client
	client   chan string    // what the client gets
	toClient io.WriteCloser // of the server
	server   chan string    // what the server gets
}

// begin runs a proxy between a client and a server that the test plays.
func begin(t testing.TB) *between { return beginWith(t, false) }

// beginWith is begin, with all of heed's tools in its list or those of each session.
func beginWith(t testing.TB, all bool) *between {
	b := &between{t: t, all: all, client: make(chan string, 64), server: make(chan string, 64)}
	fromClient, toProxy := io.Pipe()
	fromServer, toClient := io.Pipe()
	b.toProxy, b.toClient = toProxy, toClient
	b.run(fromClient, fromServer, pipeTo(b.client), pipeTo(b.server))
	return b
}

// patience is for a busy machine, with the race detector.
const patience = 4 * time.Minute

// pipeTo returns a writer whose lines come to a channel, which is closed after patience: no test waits longer.
func pipeTo(c chan<- string) io.Writer {
	r, w := io.Pipe()
	time.AfterFunc(patience, func() { _ = w.Close() })
	go func() {
		defer close(c)
		lines := bufio.NewScanner(r)
		for lines.Buffer(nil, 1<<20); lines.Scan(); {
			c <- lines.Text()
		}
	}()
	return w
}

func (b *between) run(fromClient, fromServer io.Reader, toClient, toServer io.Writer) {
	t, cfg := b.t, b.config
	if cfg.Engine.Epoch = "e1"; !cfg.NoDefaults {
		cfg.Engine.Rules = defaults()
	}
	s := testkit.Must(session.New(cfg))
	b.session = s
	s.DrainFirst(func(ctx context.Context) {
		if f := b.gather.Load(); f != nil {
			(*f)(ctx)
		}
	})
	briefs := testkit.Must(briefing.New(heedsource.Sources(heedsource.Config{
		Engine: s.Engine(), Rules: s.Rules, Next: mcp.SessionNext, Now: time.Now,
	})))
	px := testkit.Must(bridge.New(bridge.Config{
		Session: s, Handed: bridge.Handed{Outer: gabp.Bridge{Token: gabp.NewToken()}}, Brief: briefs.Assemble,
		Logger: slog.New(slog.DiscardHandler), AnswerWithin: patience, // a busy machine is no log that cannot be read
	}))
	proxy := mcp.New(mcp.Config{
		Session: s, Bridge: px, BriefTokens: 300, AllTools: b.all, Left: func() { b.left.Store(true) },
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Client: struct {
			io.Reader
			io.Writer
		}{fromClient, toClient},
		Server: struct {
			io.Reader
			io.Writer
		}{fromServer, toServer},
	})
	b.proxy = proxy
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan struct{})
	go func() { _ = s.Run(ctx); close(ran) }()
	b.ended, b.stop = make(chan error, 1), stop
	go func() { b.ended <- proxy.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-ran
		_ = briefs.Close()
	})
}

func (b *between) log(message string) {
	b.session.Observe(event.Log{Level: event.LevelError, Message: message}.Entry())
}

// take returns the next line that the client or the server gets.
func (b *between) take(lines <-chan string) string {
	b.t.Helper()
	select {
	case line := <-lines:
		return line
	case <-time.After(patience):
		require.FailNow(b.t, "no line comes")
		return ""
	}
}

// ask sends a line of the client.
func (b *between) ask(line string) {
	testkit.Must(io.WriteString(b.toProxy, line+"\n"))
}

// gets sends a line of the client, and returns the next line that it gets.
func (b *between) gets(line string) string {
	b.t.Helper()
	b.ask(line)
	return b.take(b.client)
}

// passes sends a line of the client, which the server gets byte for byte.
func (b *between) passes(line string) {
	b.t.Helper()
	b.ask(line)
	require.Equal(b.t, line, b.take(b.server), "byte for byte")
}

// serve sends a line of the server.
func (b *between) serve(line string) {
	testkit.Must(io.WriteString(b.toClient, line+"\n"))
}

// asks sends a request, and answers it as the server.
func (b *between) asks(line, result string) string {
	b.t.Helper()
	b.passes(line)
	var msg struct {
		ID json.RawMessage `json:"id"`
	}
	require.NoError(b.t, json.Unmarshal([]byte(line), &msg))
	b.serve(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, msg.ID, result))
	return b.take(b.client)
}

const (
	fault  = "Exception ticking Crane7: System.NullReferenceException: Object reference"
	build  = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"build","arguments":{"x":1.0}}}`
	built  = `"result":{"content":[{"type":"text","text":"built"}]}`
	hello  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`
	inited = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// toolCall is a call of a tool, by the client.
func toolCall(id int, name, arguments string) string {
	const form = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`
	return fmt.Sprintf(form, id, name, arguments)
}

// texts returns the texts of a result.
func texts(t testing.TB, line string) (list []string, isError bool) {
	t.Helper()
	var msg struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	require.NoError(t, json.Unmarshal([]byte(line), &msg), line)
	for _, c := range msg.Result.Content {
		list = append(list, c.Text)
	}
	return list, msg.Result.IsError
}
