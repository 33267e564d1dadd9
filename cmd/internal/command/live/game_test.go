//go:build unix

package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heedlog/heed/gabp"
)

func init() { fakeGames = fakeGame }

// game is a game with a mod that speaks GABP. What it does is said by calls of its
// tools.
type game struct {
	dir    string
	log    *os.File
	exit   chan int
	server *gabp.Server

	mu       sync.Mutex
	executed []string
	stop     context.CancelFunc // of the server
}

// fakeGame is the game's process: DIR [no-mod|slow|stubborn|no-log|signals|plain|launcher|parent|dies CODE|
// crashes]. It notes its process id and what it was handed in DIR, and ends with 7 after two minutes, for a test that
// failed.
func fakeGame(args []string) int {
	g := &game{dir: args[0], exit: make(chan int, 1)}
	if len(args) < 2 || args[1] != "no-log" {
		if g.openLog(os.O_APPEND) != nil {
			return 9
		}
		g.line("The game starts")
	}
	fmt.Println("the game speaks")
	fmt.Fprintln(os.Stderr, "the game complains")
	term := make(chan os.Signal, 1)
	if len(args) < 2 || args[1] != "stubborn" { // it dies by it
		signal.Notify(term, syscall.SIGTERM)
	}
	if len(args) > 1 && args[1] == "signals" { // that come are noted, and do not end it
		all := make(chan os.Signal, 64)
		signal.Notify(all, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH,
			syscall.SIGTSTP, syscall.SIGCONT)
		go func() {
			var names []string
			for sig := range all {
				names = append(names, unix.SignalName(sig.(syscall.Signal)))
				g.note("signals", names)
			}
		}()
	}
	if len(args) > 1 && (args[1] == "launcher" || args[1] == "parent") { // of a game in a session of its own
		cmd := exec.Command(os.Args[0], "fake-game", g.dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		signal.Reset()
		if cmd.Start() != nil || args[1] == "parent" && cmd.Wait() != nil {
			return 9
		}
		return 0
	}
	g.note("pid", os.Getpid())
	switch {
	case len(args) > 1 && args[1] == "plain": // a program that no signal is special to
		_ = syscall.Exec("/bin/sleep", []string{"sleep", "60"}, os.Environ())
	case len(args) > 1 && args[1] == "no-mod":
	case len(args) > 1 && args[1] == "slow":
		go func() {
			g.load()
			g.serve()
		}()
	case len(args) > 1 && (args[1] == "dies" || args[1] == "crashes"): // before its mod listens
		g.load()
		g.line("Loading the last thing\x1b[2J")
		fmt.Fprintln(os.Stderr, "libfoo.so: cannot open \x1b[2J shared object")
		if args[1] == "crashes" {
			g.crash()
		}
		code, _ := strconv.Atoi(args[2])
		return code
	default:
		go g.serve()
	}
	select {
	case code := <-g.exit:
		return code
	case <-term:
		g.note("saved", true)
		return 0
	case <-time.After(2 * time.Minute):
		return 7
	}
}

// load takes until the test says that the game is loaded.
func (g *game) load() {
	for {
		if _, err := os.Stat(filepath.Join(g.dir, "loaded")); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// crash ends the process by a real SIGSEGV, for which Go's runtime has a handler.
func (g *game) crash() {
	_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "ulimit -c 0; kill -SEGV $$"}, os.Environ())
}

// crashReport is what Mono writes to a log when it crashes.
const crashReport = `
=================================================================
	Native Crash Reporting
=================================================================
Got a SIGSEGV while executing native code. This usually indicates
a fatal error in the mono runtime or one of the native libraries
used by your application.
=================================================================
`

// openLog opens the game's log, and creates it.
func (g *game) openLog(flag int) (err error) {
	g.log, err = os.OpenFile(filepath.Join(g.dir, "Player.log"), os.O_CREATE|os.O_WRONLY|flag, 0o600)
	return err
}

// note leaves word for the test.
func (g *game) note(name string, v any) {
	data, _ := json.Marshal(v)
	tmp := filepath.Join(g.dir, "."+name)
	_ = os.WriteFile(tmp, data, 0o600)
	_ = os.Rename(tmp, filepath.Join(g.dir, name))
}

// line writes a line to the game's log.
func (g *game) line(text string) { _, _ = fmt.Fprintln(g.log, text) }

func (g *game) serve() {
	b, ok, err := gabp.BridgeFromEnv(os.Getenv)
	if err != nil || !ok {
		g.exit <- 8
		return
	}
	wd, _ := os.Getwd()
	observed, _ := json.Marshal(map[string]any{
		"argv": os.Args, "cwd": wd, "envAbsent": []string{"NOT_THERE"},
		"envValues": map[string]string{
			gabp.EnvPort: os.Getenv(gabp.EnvPort), gabp.EnvToken: os.Getenv(gabp.EnvToken),
			gabp.EnvBridge: os.Getenv(gabp.EnvBridge), gabp.EnvGame: os.Getenv(gabp.EnvGame), "CONTEXT": os.Getenv("CONTEXT"),
		},
	})
	for {
		g.server, err = gabp.NewServer(gabp.ServerConfig{
			Token: b.Token, AgentID: "colony-mod", App: gabp.App{Name: "Colony", Version: "3.1"},
			Capabilities: func() gabp.Capabilities {
				return gabp.Capabilities{
					Methods: []string{"tools/list", "tools/call", "colony/build"},
					Events:  []string{"colony.log", "colony/ticks", gabp.ChannelOpened, gabp.ChannelUpdated, gabp.ChannelCleared},
				}
			},
			Welcome: func(_ context.Context, _ *gabp.ServerSession, w *gabp.Welcome) error {
				w.Observed = observed
				return nil
			},
			Mux: serving(g.handle), Lax: true,
		})
		if err != nil {
			g.exit <- 8
			return
		}
		ctx, stop := context.WithCancel(context.Background())
		g.mu.Lock()
		g.stop = stop
		g.mu.Unlock()
		var l net.Listener
		for l == nil { // the port of the server before may still be closing
			l, _ = net.Listen("tcp", b.Address)
			time.Sleep(time.Millisecond)
		}
		_ = g.server.Serve(ctx, l)
		stop()
	}
}

func (g *game) handle(_ context.Context, r *gabp.Request) (any, error) {
	switch r.Method {
	case gabp.MethodToolsList:
		return json.RawMessage(`{"tools":[` +
			`{"name":"colony/build","description":"builds","parameters":[{"name":"what","type":"String","required":true}],"odd":1.50},` +
			`{"name":"colony/look","description":"looks","tags":["observation"]}]}`), nil
	case gabp.MethodToolsCall:
		call, err := gabp.ParseToolCall(r.Params)
		if err != nil {
			return nil, err
		}
		return g.call(call)
	case "colony/anything":
		return json.RawMessage(`{"asked":` + string(r.Params) + `, "n": 1.0}`), nil
	}
	return nil, gabp.Errorf(gabp.CodeMethodNotFound, "no %s", r.Method)
}

// fault returns the line of a fault that is like no other: types of faults are never
// taken for each other.
func fault(n int) string {
	var name []byte
	for ; n > 0; n /= 26 {
		name = append(name, byte('a'+n%26))
	}
	return fmt.Sprintf("Q%sException: FAULT", name)
}

func (g *game) call(call gabp.ToolCall) (any, error) {
	var a struct {
		What string `json:"what"`
		Code int    `json:"code"`
		Path string `json:"path"`
	}
	_ = json.Unmarshal(call.Arguments, &a)
	if a.What == "quick" { // nothing of it goes to a disk
		return json.RawMessage(`{"done":true}`), nil
	}
	g.mu.Lock()
	g.executed = append(g.executed, call.Name+" "+a.What)
	n := len(g.executed)
	g.note("executed", g.executed)
	stop := g.stop
	g.mu.Unlock()
	if late, ok := strings.CutPrefix(a.What, "fault after "); ok {
		after, _ := time.ParseDuration(late)
		time.AfterFunc(after, func() {
			g.line(fault(n))
			g.note("late", map[string]int{"done": n})
		})
	}
	switch a.What {
	case "fault in between":
		g.line("FAULT in between")
	case "fault after":
		time.AfterFunc(20*time.Millisecond, func() { g.line("FAULT after the reply") })
	case "event":
		_ = g.server.Publish("colony.log", "", map[string]any{"type": "log", "logEntry": map[string]any{
			"Level": "error", "Message": "FAULT by an event", "EntryId": "e1", "RepeatCount": 1,
		}}, nil)
		time.AfterFunc(100*time.Millisecond, func() { g.line("FAULT by an event") })
	case "stamped file":
		at := time.Now()
		g.line(fault(n))
		return map[string]any{"at": at.UnixNano()}, nil
	case "ticks":
		for i := range 3 {
			_ = g.server.Publish("colony/ticks", "", json.RawMessage(fmt.Sprintf(`{"tick":%d.50}`, i)), nil)
		}
	case "begin": // as Unity begins a log
		_ = os.Rename(a.Path, filepath.Join(filepath.Dir(a.Path), "Player-prev.log"))
		g.log, _ = os.Create(a.Path)
		g.line("The game begins a log")
	case "append": // to a log that is not open before, nor after
		g.log = nil
		if g.openLog(os.O_APPEND) == nil {
			g.line(fault(n))
			_ = g.log.Close()
		}
	case "rotate closed":
		_ = os.Rename(filepath.Join(g.dir, "Player.log"), filepath.Join(g.dir, "Player-prev.log"))
	case "rotate": // the same, with one that it has
		_ = os.Rename(g.log.Name(), filepath.Join(g.dir, "Player-prev.log"))
		_, _ = g.log.Close(), g.openLog(0)
		g.line("The game goes on")
	case "in band":
		return map[string]any{"success": false, "message": "no room"}, nil
	case "error":
		return nil, gabp.Errorf(gabp.CodeToolFailed, "it broke")
	case "executed":
		return map[string]any{"executed": "mine"}, nil
	case "a number":
		return 12.5, nil
	case "no answer":
		select {}
	case "restart":
		time.AfterFunc(5*time.Millisecond, stop)
	case "crash":
		g.crash()
	case "crash in the log":
		g.line(crashReport)
		g.crash()
	case "abort":
		fmt.Fprintln(os.Stderr, "free(): invalid pointer")
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "ulimit -c 0; kill -ABRT $$"}, os.Environ())
	case "exit":
		g.exit <- a.Code
		select {} // no answer
	}
	return json.RawMessage(fmt.Sprintf(`{"done":%d, "exact": 1.50}`, n)), nil
}

// listTools returns the tools that a server lists for a client.
func listTools(ctx context.Context, c *gabp.Client) ([]gabp.Tool, error) {
	var result struct {
		Tools []gabp.Tool `json:"tools"`
	}
	err := c.Call(ctx, gabp.MethodToolsList, nil, &result)
	return result.Tools, err
}
