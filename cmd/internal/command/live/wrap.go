package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/proc"
	"github.com/heedlog/heed/cmd/internal/statefile"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/files"
)

// wrapFlags are the flags of "heed wrap".
type wrapFlags struct {
	hostFlags
	log     string
	game    string
	modWait time.Duration
	most    int // MiB of a result
	linger  time.Duration
}

// defaultLinger is how long heed answers after the game has failed, so that a bridge can read why.
const defaultLinger = 3 * time.Second

// maxMessage bounds --max-message, in MiB.
const maxMessage = 1024

func (p *program) wrapCommand() *cobra.Command {
	var f wrapFlags
	cmd := &cobra.Command{
		Use:  "wrap [flags] -- GAME [ARGS]",
		Args: cli.Args(1, math.MaxInt, "name the game's program after --, such as heed wrap -- ./Game"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.wrap(cmd, &f, args) },
	}
	f.register(cmd)
	f.registerGate(cmd)
	cli.Checked(cmd, f.validate)
	flags := cmd.Flags()
	flags.SetInterspersed(false) // the game's flags are the game's, with or without --
	flags.StringVar(&f.log, "log", "", "follow the game's log at `PATH`, - for its standard output, \"none\" for no log (default: heed looks for it)")
	flags.StringVar(&f.game, "game", "", "the `ID` of the game, if the environment has none")
	flags.DurationVar(&f.modWait, "mod-wait", bridge.DefaultModWait, "let a bridge wait up to `DURATION` for the game's mod; 0 if the game has no mod and its log does not show that")
	flags.IntVar(&f.most, "max-message", bridge.DefaultMaxMessage>>20, "pass results of the game of up to `MIB` MiB; a larger one is an error of its call")
	flags.DurationVar(&f.linger, "linger", defaultLinger, "keep answering for `DURATION` after the game has failed")
	flags.StringVar(&f.logFile, "log-file", "", "write heed's own messages to `FILE`, - for standard error (default: in the state folder)")
	return cmd
}

func (f *wrapFlags) validate(cmd *cobra.Command) error {
	return cmp.Or(
		cli.Within(cmd, "max-message", f.most, 1, maxMessage),
		cli.NotNegative(cmd, "mod-wait", f.modWait),
		cli.NotNegative(cmd, "linger", f.linger),
	)
}

// own returns an error of heed's own work before the game has started, with its exit status.
func own(err error) error { return otherwise(exitOwn, err) }

func (p *program) wrap(cmd *cobra.Command, f *wrapFlags, args []string) error {
	ctx := cmd.Context()
	signals, asks, stop := passedOn() // to the game, which decides whether it ends
	defer stop()

	outer, l, err := p.outer(ctx, f)
	if err != nil {
		return own(err)
	}
	log := p.findLog(f, args)
	h := &host{
		flags: &f.hostFlags, name: "wrap-" + fileName(cmp.Or(outer.GameID, filepath.Base(args[0]))), source: log,
		command: "wrap", bridges: f.bridges(outer), listener: l, between: true,
	}
	h.bridges.Handed.Prefix, h.bridges.ModWait, h.bridges.MaxMessage = prefix(os.Args, args), f.modWait, f.most<<20
	if err := p.newHost(h); err != nil {
		return own(err)
	}
	defer h.close(exitOwn)
	go h.ends(asks)
	h.session.BeginRun()
	h.log.Info("the log of the game", "path", log.Path, "because", log.How)
	out, err := h.output()
	if err != nil {
		return own(err)
	}
	// The log, the server and the mod's connection start before the game and end after it.
	return h.serveDuring(ctx, func(failed <-chan error) error {
		if h.session.Engine().Stats().Phase != "" { // of the game before, in a state that was kept
			h.session.Observe(event.State{Status: event.StatusPhase, Phase: "start"}.Entry())
		}
		e := &ending{h: h, signals: signals, output: out, before: h.session.Engine().Latest().Seq}
		defer out.finish(h)
		if e.game, err = h.startGame(f, args, out); err != nil {
			return err
		}
		defer e.game.Kill()
		if err := e.watch(ctx, failed); err != nil {
			return cli.Failed(exitOwn, err)
		}
		h.playing.Store(false)
		if !e.wanted() && (e.game.Exit().Code != 0 || e.told) {
			e.linger(ctx, f.linger)
		}
		exit := e.game.Exit()
		h.log.Info("the game has ended", "exit", exit.String())
		p.Status = exit.Code // in place of any that was raised
		return nil
	})
}

// passedOn returns the signals that are passed on to the program that heed starts, until stop is called, and once more
// those that ask heed to end.
func passedOn() (signals, asks chan os.Signal, stop func()) {
	signals, asks = make(chan os.Signal, 32), make(chan os.Signal, 32)
	signal.Notify(signals, forwarded()...)
	for _, sig := range stops {
		if !signal.Ignored(sig) {
			signal.Notify(asks, sig)
		}
	}
	return signals, asks, func() { signal.Stop(signals); signal.Stop(asks); close(asks) }
}

// outer returns the address and token from the bridge, and listens there at once, so that a bridge that dials is
// answered. Without a bridge it chooses both.
func (p *program) outer(ctx context.Context, f *wrapFlags) (gabp.Bridge, net.Listener, error) {
	b, ok, err := gabp.BridgeFromEnv(p.Getenv)
	switch {
	case err != nil:
		return b, nil, err
	case !ok && (f.game != "" || p.Getenv(gabp.EnvBridge) != ""):
		// A missing file is no error: a person started heed. A file that the environment names is not passed to the
		// game, whose mod would use the bridge's port for itself.
		if found, err := gabp.FindBridge(p.Getenv, f.game); err == nil {
			b, ok = found, true
			b.Path = ""
		}
	}
	if !ok {
		b = gabp.Bridge{Address: "127.0.0.1:0", Token: gabp.NewToken(), GameID: p.Getenv(gabp.EnvGame)}
	}
	b.GameID = cmp.Or(b.GameID, f.game)
	l, err := gabp.Listen(ctx, b.Address)
	if err != nil {
		return b, nil, fmt.Errorf("%w; another heed or the game itself may be running", err)
	}
	if b.Port() == 0 {
		b.Address = l.Addr().String()
	}
	return b, l, nil
}

// inner returns a port and a token for the game, in a bridge file of their own if the bridge named one: some mods
// read the file and not the environment.
func (h *host) inner() (b gabp.Bridge, err error) {
	port, err := freePort()
	if err != nil {
		return b, err
	}
	b = gabp.Bridge{Address: port, Token: gabp.NewToken(), GameID: h.bridges.Handed.Outer.GameID}
	if h.bridges.Handed.Outer.Path == "" {
		return b, nil
	}
	b.Path = h.state.path("bridge-" + strconv.Itoa(os.Getpid()) + ".json")
	if err := statefile.WriteFile(b.Path, b.File(h.Now())); err != nil {
		return b, fmt.Errorf("bridge file: %w", err)
	}
	h.closers = append(h.closers, func() error { _ = os.Remove(b.Path); return nil })
	return b, nil
}

// freePort returns a loopback address that is not in use. Another process may use it before the mod does, but does not
// have the token.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("a port for the game: %w", err)
	}
	defer l.Close() //nolint:errcheck // nothing came of it
	return l.Addr().String(), nil
}

// prefix returns the arguments of this process up to and with the game's program.
func prefix(argv, game []string) []string {
	n := len(argv) - len(game) + 1
	if n < 1 || !slices.Equal(argv[n:], game[1:]) {
		return nil // not started by the command line, as in a test
	}
	return argv[:n]
}

// startGame starts the game with its output.
func (h *host) startGame(f *wrapFlags, args []string, out *output) (*proc.Process, error) {
	handed := &h.bridges.Handed
	game, err := proc.Start(proc.Config{
		Args: args, Env: handed.Environ(os.Environ()), Mark: handed.Inner.Token, Grace: f.grace,
		Stdin: file(h.Stdin), Stdout: out.stdout, Stderr: out.stderr,
	})
	out.handedOver()
	if err != nil {
		return nil, notStarted(args[0], err)
	}
	h.playing.Store(true)
	h.log.Info("the game was started", "program", args[0], "pid", game.PID())
	return game, nil
}

// notStarted returns the error for a program that could not be started, with its cause and what to do.
func notStarted(program string, err error) error {
	status, next := exitCannotStart, "name the program after --; this system must be able to run it"
	reason := err.Error()
	switch info, statErr := os.Stat(program); {
	case statErr == nil && info.IsDir():
		reason = "is a directory"
	case errors.Is(err, exec.ErrNotFound) && filepath.Base(program) == program:
		status, reason, next = exitNotFound, "no such program in the folders of PATH",
			"if it is in another folder, write its path, such as ./"+program
	case errors.Is(err, exec.ErrDot): // if PATH has the working directory, as Windows always has it
		status, reason, next = exitNotFound,
			"it is in this folder, which is not searched by name", "write ./"+program
	case errors.Is(err, os.ErrNotExist) && statErr == nil:
		status, reason = exitNotFound, "it exists, but its interpreter does not" // of a script, or of an ELF file
	case errors.Is(err, os.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		status, reason, next = exitNotFound, "no such program"+files.Missing(program),
			"name the program after --, by its path"
	case errors.Is(err, os.ErrPermission):
		reason, next = "no permission to run it", "check that it is a program, and executable"
	default:
		if inner, ok := errors.AsType[*os.PathError](err); ok {
			reason = inner.Err.Error()
		}
	}
	return &cli.StatusError{Status: status, Err: fmt.Errorf("cannot start %s: %s", program, reason), Next: next}
}

// file returns the file of a standard stream, nil if it is none.
func file(stream any) *os.File {
	f, _ := stream.(*os.File)
	return f
}

// findLog returns the log to follow of a game with its arguments. A log that was found and cannot be followed, such as
// /dev/null, does not keep the game from starting.
func (p *program) findLog(f *wrapFlags, args []string) source {
	l := source{follow: follow.Config{NewRun: true, Writers: proc.Writers, Open: proc.Written}}
	switch f.log {
	case "none":
	case "":
		l.Found, _ = files.FindLog(files.Game{Args: args, Getenv: p.Getenv})
		if l.Path != "" && l.Path != files.Standard {
			if _, err := follow.New(follow.Config{Path: l.Path}); err != nil {
				l.Found = files.Found{How: "the game's log cannot be followed: " + err.Error()}
			}
		}
		l.How += "; --log names another"
	default:
		l.Found, l.follow.Named = files.Found{Path: f.log, How: "named by --log"}, true
	}
	return l
}

// ending is how a game that heed started comes to its end: asked for by a signal to heed, or not. It is used by one
// goroutine.
type ending struct {
	h       *host
	game    *proc.Process
	output  *output
	signals <-chan os.Signal
	before  uint64 // number of the latest entry when the game was started

	asked  bool        // a signal asked heed to end the game
	passed []os.Signal // others that were passed on
	told   bool        // a waiting bridge learned that no mod comes
	known  bool        // the end was reported
}

// watch waits for the end of the game and all that it started, or of the server, and reports it as soon as it is known.
// Signals are passed to the game; it is killed when it does not end in time.
func (e *ending) watch(ctx context.Context, served <-chan error) error {
	defer e.report()
	for exited := e.game.Exited(); ; {
		select {
		case <-exited:
			exited = nil
			e.drain(ctx) // a signal to the whole tree ends the game before heed has received its own
			if !e.wanted() {
				e.report()
			}
		case <-e.game.Done():
			e.drain(ctx)
			return nil
		case err := <-served:
			e.game.Kill()
			<-e.game.Done()
			return cmp.Or(err, errors.New("heed's server ended"))
		case <-ctx.Done():
			e.asked = true
			e.game.Kill()
			<-e.game.Done()
			return nil
		case sig := <-e.signals:
			e.signal(ctx, sig)
		}
	}
}

// drain handles the signals that have come so far.
func (e *ending) drain(ctx context.Context) {
	for {
		select {
		case sig := <-e.signals:
			e.signal(ctx, sig)
		default:
			return
		}
	}
}

// signal passes a signal on. The second that asks the game to end kills it.
func (e *ending) signal(ctx context.Context, sig os.Signal) {
	e.h.log.Info("passing on a signal", "signal", sig.String())
	switch {
	case !slices.Contains(stops, sig):
		if !slices.Contains(e.passed, sig) {
			e.passed = append(e.passed, sig)
		}
		if err := pass(e.game, sig); err != nil {
			e.h.log.Debug("the signal was not passed on", "error", err)
		}
	case e.asked: // no more patience
		e.game.Kill()
	default:
		e.asked = true
		go e.game.Stop(ctx, sig)
	}
}

// wanted reports whether the game's end came by a signal through heed. An end by another way, such as a task manager,
// cannot be distinguished from a kill for lack of memory, and is a crash.
func (e *ending) wanted() bool {
	return e.asked || slices.Contains(e.passed, e.game.Exit().Signal)
}

// report records the end of the game once, after its output, and answers the bridges that wait for its mod.
func (e *ending) report() {
	if e.known {
		return
	}
	e.known = true
	exit := e.game.Exit()
	e.output.wait(e.h.hurry, tailGrace)
	if err := e.h.session.Sync(e.h.hurry); err != nil {
		e.h.log.Warn("the end of the game's log could not be read", "error", err)
	}
	said := "the game " + exit.String()
	written := e.output.tail()
	if !e.wanted() && exit.Code != 0 {
		e.h.session.Observe(event.State{Status: event.StatusExited, Detail: detail(said, written)}.Entry())
	}
	e.told = e.h.proxy.Ended(bridge.Ending{Text: said, Code: exit.Code, Output: append(e.logged(), written...)})
}

// detail returns the recorded text for the end of a game, with its last lines.
func detail(said string, written []bridge.Output) string {
	if len(written) == 0 {
		return said
	}
	var b strings.Builder
	b.WriteString(said + "; it wrote last:")
	for _, o := range written {
		b.WriteString("\n" + o.From + ": " + o.Text)
	}
	return b.String()
}

// lookBack is how many entries are looked at for the last lines of the log.
const lookBack = 200

// logged returns the last lines that the game logged.
func (e *ending) logged() []bridge.Output {
	engine := e.h.session.Engine()
	latest := engine.Latest().Seq
	from := max(e.before, latest-min(latest, lookBack))
	page := engine.Read(heed.Cursor{Seq: from}, lookBack, heed.Filter{Kinds: []event.Kind{event.KindLog}})
	var text strings.Builder
	for i := range page.Records {
		text.WriteString(page.Records[i].Message + "\n")
	}
	return lastLines("log", text.String())
}

// linger keeps serving for d, so that bridges can read why the game is gone. A signal that would have ended the game
// ends the wait.
func (e *ending) linger(ctx context.Context, d time.Duration) {
	late := time.After(d)
	for {
		select {
		case <-late:
			return
		case sig := <-e.signals:
			if slices.Contains(stops, sig) || slices.Contains(hangups, sig) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
