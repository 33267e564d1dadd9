package field

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
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
	"github.com/heedlog/heed/cmd/internal/bridge/fieldbridge"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/standin"
	"github.com/heedlog/heed/internal/testkit"
)

var calls = flag.Int("calls", 30, "the table: make `N` calls in each row")

// habit is a row of the table.
type habit struct {
	name   string
	mod    standin.ModConfig
	speed  int    // of the bridge; 0 is 1
	params string // of each call
	share  int    // one of so many calls is made; 0: each
	lines  int    // a second, in the game's log
	midway func(g *game)
}

const everything = "colony.log"

var talks = []string{everything}

// habits are those of the field.
var habits = []habit{
	{name: "none"},
	{name: "talks while it answers", mod: standin.ModConfig{Channels: talks, Unlocked: true, Storm: 200}},
	{name: "counts characters", mod: standin.ModConfig{Characters: true}, params: `{"name":"Łódź 日本 🏠"}`, speed: 10, share: 15},
	{name: "Nagle's algorithm", mod: standin.ModConfig{Nagle: true}},
	{name: "results of 16 MiB", mod: standin.ModConfig{Result: 16 << 20}, share: 10},
	{name: "listens after 8 s (a tenth)", mod: standin.ModConfig{After: 800 * time.Millisecond}, speed: 10},
	{name: "goes and comes back", midway: (*game).reload},
	{name: "frozen for one call (a tenth)", speed: 10, midway: (*game).freeze},
	{name: "1,000 lines a second in the log", lines: 1000},
}

// game is a game with its mod, and a bridge that calls its tools.
type game struct {
	t      *testing.T
	mod    *standin.Mod
	addr   string // of the mod
	bridge *fieldbridge.Bridge
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
		if err := g.mod.Serve(ctx, g.addr); err != nil {
			g.t.Errorf("the mod: %v", err)
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
	dir := t.TempDir()
	cfg := h.mod
	cfg.LogPath = filepath.Join(dir, "Player.log")
	require.NoError(t, os.WriteFile(cfg.LogPath, []byte("All is well\n"), 0o600))
	free := testkit.Must(stage.NewBridge(t.Context()))
	g := &game{t: t, mod: standin.NewMod(cfg), addr: free.Address}
	began := time.Now()
	g.serve()
	defer func() { g.stop(); <-g.ended }()
	addr := g.addr
	if through {
		var end func()
		addr, end = heed(t, g.addr, cfg.LogPath)
		defer end()
	}
	if h.lines > 0 {
		defer flood(t, cfg.LogPath, h.lines)()
	}
	g.bridge = fieldbridge.New(fieldbridge.Config{
		Token: token, Speed: h.speed,
		Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", addr)
		},
	})
	defer g.bridge.Close()
	require.NoError(t, g.bridge.Start())
	require.Eventually(t, func() bool { return slices.Contains(g.bridge.Mirrored(), "colony/build") },
		20*time.Second, time.Millisecond)
	r := &result{made: max(1, *calls/max(1, h.share)), tools: time.Since(began)}
	params := h.params
	if params == "" {
		params = `{}`
	}
	for n := range r.made {
		if n == r.made/2 && h.midway != nil {
			h.midway(g)
		}
		start := time.Now()
		_, err := g.bridge.Call("colony/build", params)
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
		g.agent(err)
	}
	return r
}

// agent does what an agent would after a failed call.
func (g *game) agent(err error) {
	switch {
	case errors.Is(err, fieldbridge.ErrHeldBack):
		require.NoError(g.t, g.bridge.Acknowledge())
	case !g.bridge.Connected():
		require.NoError(g.t, g.bridge.Connect())
	case strings.Contains(err.Error(), "no mod is connected"):
		time.Sleep(time.Second)
	}
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

// flood appends lines to a log until it is ended.
func flood(t *testing.T, path string, perSecond int) (end func()) {
	file := testkit.Must(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600))
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer file.Close() //nolint:errcheck // a test's
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			for range perSecond / 100 {
				n++
				_, _ = fmt.Fprintf(file, "All is well with thing %d\n", n)
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// TestTable prints the table.
func TestTable(t *testing.T) {
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
