package agent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/accept/stage"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/framing"
	"github.com/heedlog/heed/internal/standin"
	"github.com/heedlog/heed/internal/testkit"
)

var calls = flag.Int("field.calls", 30, "the table of the field: make `N` calls in each row")

// habit is a row of the table.
type habit struct {
	name   string
	mod    standin.ModConfig
	after  time.Duration // the mod listens only then
	nagle  bool          // the mod leaves out TCP_NODELAY
	events int           // of the mod, a second
	result int           // least bytes of a result
	speed  int           // of the bridge, whose patience it divides; 0 is 1
	params string        // of each call
	share  int           // one of so many calls is made; 0: each
	lines  int           // a second, in the game's log
	midway func(g *game)
}

const everything = "colony.log"

var talks = []string{everything}

// habits are those of the field.
var habits = []habit{
	{name: "none"},
	{name: "talks while it answers", mod: standin.ModConfig{Channels: talks, Unlocked: true}, events: 200},
	{name: "counts characters", mod: standin.ModConfig{Characters: true}, params: `{"name":"Łódź 日本 🏠"}`, speed: 10, share: 15},
	{name: "Nagle's algorithm", mod: standin.ModConfig{Parts: true}, nagle: true},
	{name: "results of 16 MiB", result: 16 << 20, share: 10},
	{name: "listens after 8 s (a tenth)", after: 800 * time.Millisecond, speed: 10},
	{name: "goes and comes back", midway: (*game).reload},
	{name: "frozen for one call (a tenth)", speed: 10, midway: (*game).freeze},
	{name: "1,000 lines a second in the log", lines: 1000},
}

// game is a game with its mod, and a bridge that calls its tools.
type game struct {
	*habit
	t      *testing.T
	mod    *standin.Mod
	addr   string // of the mod
	at     string // where the bridge connects
	bridge *gabp.Client
	frozen bool
	stop   context.CancelFunc // of the mod
	ended  chan struct{}
}

// serve lets the mod listen.
func (g *game) serve() {
	ctx, stop := context.WithCancel(context.Background())
	g.stop, g.ended = stop, make(chan struct{})
	go func() {
		defer close(g.ended)
		time.Sleep(g.after)
		l, err := net.Listen("tcp", g.addr)
		if err != nil {
			g.t.Errorf("the mod: %v", err)
			return
		}
		context.AfterFunc(ctx, func() {
			_ = l.Close()
			g.mod.Disconnect()
		})
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			_ = conn.(*net.TCPConn).SetNoDelay(!g.nagle)
			go g.mod.ServeConn(conn)
		}
	}()
}

// reload takes the mod away for a moment.
func (g *game) reload() {
	g.stop()
	<-g.ended
	time.Sleep(500 * time.Millisecond)
	g.serve()
}

// freeze freezes the mod until the next call has failed.
func (g *game) freeze() {
	g.frozen = true
	g.mod.Freeze(true)
}

// result is how one row went.
type result struct {
	failed, made int
	took         []time.Duration // of the calls that did not fail
	tools        time.Duration
}

func (r *result) String() string {
	slices.Sort(r.took)
	at := func(q float64) string {
		if len(r.took) == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f", 1e3*r.took[int(q*float64(len(r.took)-1))].Seconds())
	}
	return fmt.Sprintf("%d/%d\t%s\t%s\t%.2f", r.failed, r.made, at(.5), at(.99), r.tools.Seconds())
}

// play plays a game under a habit, with or without heed.
func play(t *testing.T, h *habit, through bool) *result {
	path := filepath.Join(t.TempDir(), "Player.log")
	require.NoError(t, os.WriteFile(path, []byte("All is well\n"), 0o600))
	log := testkit.Must(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600))
	defer log.Close() //nolint:errcheck // a test's
	answer := standin.Result(`{"done":true,"text":"` + strings.Repeat("x", h.result) + `"}`)
	cfg := h.mod
	cfg.Answers = func(string, string) []string {
		_, _ = log.WriteString("colony/build begins\ncolony/build ends\n")
		return answer
	}
	free := testkit.Must(stage.NewBridge(t.Context()))
	g := &game{habit: h, t: t, mod: standin.NewMod(cfg), addr: free.Address, at: free.Address}
	began := time.Now()
	g.serve()
	defer func() { g.stop(); <-g.ended }()
	if through {
		var end func()
		g.at, end = heed(t, g.addr, path)
		defer end()
	}
	if h.lines > 0 {
		n := 0
		defer often(h.lines, func() {
			n++
			_, _ = fmt.Fprintf(log, "All is well with thing %d\n", n)
		})()
	}
	if h.events > 0 {
		defer often(h.events, func() { g.mod.Publish(everything, `{"level":"info","message":"All is well"}`) })()
	}
	g.connect()
	defer func() { _ = g.bridge.Close() }()
	r := &result{made: max(1, *calls/max(1, h.share)), tools: time.Since(began)}
	for n := range r.made {
		if n == r.made/2 && h.midway != nil {
			h.midway(g)
		}
		start := time.Now()
		err := g.call()
		if err == nil {
			r.took = append(r.took, time.Since(start))
			continue
		}
		t.Logf("%s, through heed %v: call %d: %v", h.name, through, n, err)
		r.failed++
		if g.frozen {
			g.frozen = false
			g.mod.Freeze(false)
		}
		switch { // as an agent would
		case g.bridge.Err() != nil:
			g.connect()
		case strings.Contains(err.Error(), "no mod is connected"):
			time.Sleep(time.Second)
		}
	}
	return r
}

// connect dials as the bridge in the field does, until it has the tool of the mod.
func (g *game) connect() {
	require.Eventually(g.t, func() (connected bool) {
		c, err := gabp.Dial(g.t.Context(), g.at, gabp.ClientConfig{Token: token, Limits: gabp.Limits{
			HelloTimeout: time.Minute, MessageSize: framing.MaxMessage, StringBytes: framing.MaxMessage,
		}})
		g.bridge = c
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	require.Eventually(g.t, func() bool {
		var list struct{ Tools []gabp.Tool }
		err := g.bridge.Call(g.t.Context(), gabp.MethodToolsList, struct{}{}, &list)
		return err == nil && slices.ContainsFunc(list.Tools, func(t gabp.Tool) bool { return t.Name == "colony/build" })
	}, 20*time.Second, time.Millisecond)
}

// call calls the tool of the mod. Where the peer has attention, the bridge asks for it first, and acknowledges what
// blocks; without an answer the call is let through.
func (g *game) call() error {
	within := func(d time.Duration) (context.Context, context.CancelFunc) {
		return context.WithTimeout(g.t.Context(), d/time.Duration(max(1, g.speed)))
	}
	if slices.Contains(g.bridge.Welcome().Capabilities.Methods, gabp.MethodAttentionCurrent) {
		ctx, cancel := within(2 * time.Second)
		defer cancel()
		var now gabp.CurrentResult
		_ = g.bridge.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &now)
		if now.Attention != nil && now.Attention.Blocking {
			require.NoError(g.t, g.bridge.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: now.Attention.ID}, nil))
			return errors.New("not executed: the bridge asks for an acknowledgement")
		}
	}
	ctx, cancel := within(30 * time.Second)
	defer cancel()
	_, err := g.bridge.CallTool(ctx, "colony/build", json.RawMessage(cmp.Or(g.params, `{}`)))
	return err
}

var token = gabp.NewToken()

// heed runs heed before a mod, and returns where it listens.
func heed(t *testing.T, mod, log string) (addr string, end func()) {
	quiet := slog.New(slog.DiscardHandler)
	follower := testkit.Must(follow.New(follow.Config{Path: log, FromEnd: true}))
	dedup := bridge.NewDedup()
	s := testkit.Must(session.New(session.Config{Log: bridge.Feed(follower, dedup), Logger: quiet}))
	px, err := bridge.New(bridge.Config{
		Session: s, Dedup: dedup, ModWait: bridge.DefaultModWait, Logger: quiet,
		Handed: bridge.Handed{
			Outer: gabp.Bridge{Token: token}, Inner: gabp.Bridge{Address: mod, Token: gabp.NewToken()},
		},
	})
	require.NoError(t, err)
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { _ = s.Run(ctx) })
	all.Go(func() { _ = px.Serve(ctx, l) })
	return l.Addr().String(), func() { stop(); all.Wait() }
}

// often calls f so many times a second until it is ended.
func often(perSecond int, f func()) (end func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			for range perSecond / 100 {
				f()
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// TestField prints a table of a bridge and a mod with the habits of those in the field, as package standin has them, over
// real sockets: the bridge dials the mod, or heed before the mod. Failed are calls without a result. The times are of a
// call as the bridge makes it, which asks heed for its attention first; the time to the tools is from the start of the
// game, whose mod listens at once but in one row. Times are printed, failed calls are held to those without heed.
func TestField(t *testing.T) {
	testkit.Full(t, "calls beside a mod that is away, slow or frozen")
	rows := []byte("habit of the mod\tfailed\tp50 ms\tp99 ms\ttools s\theed: failed\tp50 ms\tp99 ms\ttools s\t\n")
	for i := range habits {
		h := &habits[i]
		direct, through := play(t, h, false), play(t, h, true)
		t.Logf("%s: %v; %v", h.name, direct, through)
		rows = fmt.Appendf(rows, "%s\t%v\t%v\t\n", h.name, direct, through)
		if h.midway == nil {
			require.Zero(t, through.failed, h.name)
		}
		require.LessOrEqual(t, through.failed, direct.failed+1, h.name) // that the mod was away is said once more
	}
	var out strings.Builder
	require.NoError(t, stage.Table(&out, rows))
	t.Logf("%d calls a row:\n%s", *calls, &out)
}
