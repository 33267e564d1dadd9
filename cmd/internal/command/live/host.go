package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/brief"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/command"
	"github.com/heedlog/heed/cmd/internal/history/historysource"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/cmd/internal/settings"
	"github.com/heedlog/heed/cmd/internal/statefile"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/report/replay"
	"github.com/heedlog/heed/report/summary"
)

// hostFlags are those of the commands that run an engine.
type hostFlags struct {
	rules       []string
	mods        []string
	noDefaults  bool
	settle      time.Duration
	allow       []string
	observeOnly bool
	failOpen    bool
	noAttention bool
	journal     int
	record      string
	state       string
	metrics     string
	web         string
	remote      bool
	logLevel    string
	logFile     string

	remember command.RememberFlags

	next func(class string, a *heed.Item) []string // what briefs say is done next; nil: brief.SessionNext
}

func (f *hostFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.rules, "rules", nil, "read rules from `FILE`, or from the *.yaml and *.yml of a folder; they are tried before the default rules, in order, and read again when they change (repeatable)")
	flags.StringArrayVar(&f.mods, "mods", nil, command.ModsUsage)
	flags.BoolVar(&f.noDefaults, "no-default-rules", false, "leave out the default rules for Unity and RimWorld")
	flags.IntVar(&f.journal, "journal", defaultJournal, "keep the last `N` entries for later requests, with 128 bytes of text for each on average")
	flags.StringVar(&f.record, "record", "", "record the engine's input to `FILE`, for heed replay")
	flags.StringVar(&f.state, "state", "", "keep heed's state, with its items, in `DIR`, across restarts of heed (default: items are not kept; "+
		"other files are in the user's state folder, such as ~/.local/state/heed)")
	flags.StringVar(&f.metrics, "metrics", "", "serve Prometheus metrics on `ADDR`, such as 127.0.0.1:9464")
	f.remember.RegisterLive(cmd)
	flags.BoolVar(&f.remote, "metrics-remote", false, "let --metrics listen to other machines, too")
	flags.StringVar(&f.logLevel, "log-level", "info", "log heed's own messages from `LEVEL` up: debug, info, warn or error; error with --quiet, debug with --verbose")
}

// registerGate adds the flags of the commands that serve bridges.
func (f *hostFlags) registerGate(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&f.settle, "settle", 0, "let a call's result wait up to `DURATION` for faults that are logged after it")
	flags.StringArrayVar(&f.allow, "allow", nil, "never hold back the tool `NAME`; stars stand for segments: \"saves/*\", \"debug/**\" (repeatable)")
	flags.BoolVar(&f.observeOnly, "observe-only", false, "show attention, but hold no call back")
	flags.BoolVar(&f.failOpen, "fail-open", false, "let calls through while the log cannot be read")
	flags.BoolVar(&f.noAttention, "no-attention", false, "leave attention to the mod; keep diagnostics and operations")
	flags.StringVar(&f.web, "web", "", "serve a live page for a person on `ADDR`, or on a free port of this machine; \"heed status\" shows its address")
	flags.Lookup("web").NoOptDefVal = "127.0.0.1:0"
	cli.Exclusive(cmd, "observe-only", "no-attention")
}

// The default of --journal, its bounds, and the bytes of text for each entry on average. The default is the journal's.
const (
	defaultJournal = 24576
	minJournal     = 1000
	maxJournal     = 4_000_000
	textPerEntry   = 128
)

// host runs one session, its proxy and its metrics.
type host struct {
	flags   *hostFlags
	state   stateDir
	name    string // of its files in the state folder
	log     *slog.Logger
	session *session.Session
	briefs  *brief.Service
	dedup   *bridge.Dedup

	playing atomic.Bool // a game that this process started runs

	follower *follow.Follower       // nil: there is no log
	spooled  atomic.Pointer[stream] // of the game, which the log is a copy of
	metrics  net.Listener           // nil: none are served
	pages    net.Listener           // nil: no page is served
	web      *web
	stream   io.ReadWriteCloser // nil: bridges come to the listener alone; its end is that of the host
	keeper   *keeper            // nil: nothing is remembered
	closers  []func() error

	p         *program
	unwritten atomic.Bool // data of the user was lost
}

// lost reports at once that data of the user cannot be written. The exit status follows in close.
func (h *host) lost(err error) {
	h.unwritten.Store(true)
	h.p.Message("%v", err)
}

// recording is the file of --record. A Recorder stops at the first error.
type recording struct {
	*os.File
	h *host
}

// Write implements [io.Writer].
func (r recording) Write(b []byte) (int, error) {
	n, err := r.File.Write(b)
	if err != nil {
		r.h.lost(fmt.Errorf("the recording stops here, heed continues: %w", err))
	}
	return n, err
}

// newHost makes a session that follows a log, or none where its path is ""; from is how it was found.
func (p *program) newHost(f *hostFlags, log follow.Config, from, name string) (_ *host, err error) {
	h := &host{flags: f, p: p}
	defer func() {
		if err != nil {
			h.close(exitUsage)
		}
	}()
	if h.state, err = stateIn(f.state, p.Getenv); err != nil {
		return nil, cli.Failed(exitUsage, err)
	}
	if err := h.state.open(); err != nil {
		return nil, cli.Failed(exitUsage, err)
	}
	var shared error
	if f.state != "" || f.logFile == "" { // there are files that another heed would overwrite
		if name, shared, err = h.claim(name); err != nil {
			return nil, cli.Failed(exitUsage, err)
		}
	}
	if err := h.openLog(p, name); err != nil {
		return nil, err
	}
	h.name = name
	if shared != nil {
		h.log.Warn("another heed uses the same state folder: name another with --state",
			"name", name, "error", shared)
	}
	cfg := session.Config{
		NoDefaults: f.noDefaults, Settle: f.settle, SyncTimeout: answerWithin, AnswerWithin: answerWithin, LogFrom: from,
		Now: p.Now, Logger: h.log,
	}
	switch {
	case f.noAttention:
		cfg.Attention = session.LeftToMod
	case f.observeOnly:
		cfg.Attention = session.OnlyShown
	}
	cfg.Engine.Journal.Entries, cfg.Engine.Journal.Bytes = f.journal, f.journal*textPerEntry
	if cfg.RuleFiles, err = files.RuleFiles(f.rules); err != nil {
		return nil, cli.Failed(exitUsage, err)
	}
	var notes []error
	cfg.Installed, notes = files.Mods(f.mods)
	command.NoteMods(p.Note, notes)
	if f.state != "" {
		cfg.Snapshot = h.state.path(name + ".snapshot")
	}
	if f.record != "" {
		file, err := os.OpenFile(f.record, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return nil, cli.Failed(exitUsage, fmt.Errorf("record: %w", err))
		}
		h.closers = append(h.closers, file.Close)
		cfg.Recorder = follow.NewRecorder(recording{file, h})
	}
	h.dedup = bridge.NewDedup()
	if log.Path != "" {
		if err := follow.Check(log.Path); err != nil { // before a game is started that would be killed again
			return nil, cli.Failed(exitUsage, err)
		}
		h.follower, err = follow.New(log)
		if err != nil {
			return nil, cli.Failed(exitUsage, err)
		}
		cfg.Log = piped{bridge.Feed(h.follower, h.dedup), &h.spooled}
	}
	if f.next == nil {
		f.next = brief.SessionNext
	}
	switch h.keeper, err = p.newKeeper(&f.remember, h.log); {
	case err != nil:
		h.lost(err)
	case h.keeper != nil:
		cfg.Observed = h.keeper.observe
	}
	if h.session, err = session.New(cfg); err != nil {
		return nil, cli.Failed(exitUsage, err)
	}
	if h.keeper != nil {
		h.keeper.attach(h.session, h.follower, log.NewRun)
		h.closers = append(h.closers, h.keeper.close)
	}
	briefs := brief.Config{
		Config: heedsource.Config{
			Engine: h.session.Engine(), Rules: h.session.Rules, Mods: h.session.Mods,
			Environment: h.session.Environment, Tools: h.session.Tools, Next: f.next,
		},
		Now: p.Now,
	}
	if h.keeper != nil {
		briefs.Ledgers = map[string]briefing.Ledger{heedsource.TierEarlier: &historysource.Ledger{
			History: h.keeper.history, Session: func() *summary.Session {
				s := &summary.Session{Facts: h.session.Environment(), Mods: h.session.Mods()}
				replay.Identify(s, h.session.Rules())
				return s
			},
		}}
	}
	h.briefs, err = brief.New(briefs)
	if err != nil {
		return nil, err
	}
	h.closers = append(h.closers, h.briefs.Close)
	if f.metrics != "" { // before a game is started, too
		if h.metrics, err = net.Listen("tcp", f.metrics); err != nil {
			return nil, cli.Failed(exitUsage, fmt.Errorf("--metrics: %w", err))
		}
		h.closers = append(h.closers, h.metrics.Close)
	}
	if f.web != "" {
		if h.pages, err = listenWeb(f.web); err != nil {
			return nil, cli.Failed(exitUsage, err)
		}
		h.closers = append(h.closers, h.pages.Close)
	}
	return h, nil
}

// answerWithin bounds how long an answer waits for evidence: 0, the default, except in tests, where a machine that
// pauses must not make the game blind.
var answerWithin time.Duration

// maxClaims bounds the processes that keep files by one name in one folder.
const maxClaims = 64

// claim returns the name for the files of this process in the state folder: name where no running heed has it,
// otherwise name with a number. Shared is nil, or has who holds name, or why that is not known. The kernel releases the
// claim when the process ends.
func (h *host) claim(name string) (claimed string, shared, err error) {
	for n := 1; n <= maxClaims; n++ {
		claimed = name
		if n > 1 {
			claimed += "-" + strconv.Itoa(n)
		}
		lock, err := statefile.Lock(h.state.path(claimed + ".lock"))
		switch {
		case err == nil:
			h.closers = append(h.closers, lock.Close)
			return claimed, shared, nil
		case !errors.Is(err, statefile.ErrLocked): // a file system without locks is no reason to keep a game from starting
			return claimed, err, nil
		case n == 1:
			shared = fmt.Errorf("another heed uses the name %s: %s", name, h.state.holder(name))
		}
	}
	return "", nil, fmt.Errorf("state: %d running heeds use %s; %w: end one, or name another folder with "+
		"--state", maxClaims, h.state, shared)
}

// openLog opens heed's own log.
func (h *host) openLog(p *program, name string) error {
	text := h.flags.logLevel
	if p.Settings.Value("log-level").Origin == settings.Default {
		switch {
		case p.Quiet:
			text = "error"
		case p.Verbose:
			text = "debug"
		}
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(text)); err != nil {
		panic("BUG: log level " + text)
	}
	out := p.Stderr
	if h.flags.logFile != "-" {
		path := h.flags.logFile
		if path == "" {
			path = h.state.path(name + ".log")
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return cli.Failed(exitUsage, fmt.Errorf("--log-file: %w", err))
		}
		h.closers = append(h.closers, file.Close)
		out = file
	}
	h.log = slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
	return nil
}

// close closes all that the host has opened. If data of the user was lost and nothing else failed, the status is lost.
func (h *host) close(lost int) {
	for _, c := range slices.Backward(h.closers) {
		if err := c(); err != nil && !errors.Is(err, net.ErrClosed) { // a server closes its listener
			h.lost(err)
		}
	}
	if h.unwritten.Load() && h.p.Status == exitOK { // not in place of the game's
		h.p.Raise(lost)
	}
}

// newProxy makes the proxy.
func (h *host) newProxy(p *program, handed bridge.Handed, modWait time.Duration, most int) (*bridge.Proxy, error) {
	f := h.flags
	px, err := bridge.New(bridge.Config{
		Session: h.session, Handed: handed, Dedup: h.dedup,
		Brief: h.briefs.AssembleBy, Allow: f.allow, FailOpen: f.failOpen, ModWait: modWait, MaxMessage: most,
		AnswerWithin: answerWithin, Version: cli.ModuleVersion(), Observer: clientName, Now: p.Now, Logger: h.log,
	})
	if err != nil {
		return nil, cli.Failed(exitUsage, err)
	}
	if h.pages != nil {
		h.web = newWeb(px, h.pages)
	}
	return px, nil
}

// serve runs the session, the listener's server and the metrics until ctx is done or one of them fails.
func (h *host) serve(ctx context.Context, px *bridge.Proxy, l net.Listener) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	part := func(name string, f func(context.Context) error) {
		wg.Go(func() {
			if err := f(ctx); err != nil {
				cancel(fmt.Errorf("%s: %w", name, err))
			}
		})
	}
	part("session", h.session.Run)
	if h.keeper != nil {
		part("history", h.keeper.keep)
	}
	if px != nil {
		part("bridges", func(ctx context.Context) error { return px.Serve(ctx, l) })
	}
	if h.stream != nil {
		part("standard input", func(ctx context.Context) error {
			err := px.ServeConn(ctx, h.stream)
			if err != nil && !errors.Is(err, syscall.EPIPE) { // which is a reader that has gone
				return err
			}
			cancel(nil)
			return nil
		})
	}
	if h.metrics != nil {
		part("metrics", func(ctx context.Context) error { return h.serveMetrics(ctx, px) })
	}
	if h.web != nil {
		h.log.Info("a live page is served; heed status shows its address", "port", h.pages.Addr().(*net.TCPAddr).Port)
		part("page", h.web.serve)
	}
	<-ctx.Done()
	wg.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// announce writes the run file of this process, by which commands find it.
func (h *host) announce(p *program, command string, b gabp.Bridge, log string) (remove func(), err error) {
	page := ""
	if h.web != nil {
		page = h.web.address()
	}
	remove, err = h.state.write(runFile{
		PID: os.Getpid(), Command: command, Game: b.GameID, Address: b.Address, Token: b.Token, Log: log, Name: h.name,
		Web:     page,
		Started: p.Now().UTC(),
	})
	if err != nil {
		return nil, cli.Failed(exitUsage, err)
	}
	return remove, nil
}

// validate returns an error for flags that would be refused later, before anything starts.
// maxSettle bounds --settle, which a project's file may set: clients give up on a call after about a minute.
const maxSettle = time.Minute

func (f *hostFlags) validate(cmd *cobra.Command) error {
	probe := gate.Config{Source: struct{ gate.Source }{}, Allow: f.allow}
	if err := probe.Validate(); err != nil {
		return cli.Usage(cmd, "--allow: %w", err)
	}
	if f.settle < 0 || f.settle > maxSettle {
		return cli.Usage(cmd, "--settle %v: use 0s to %v", f.settle, maxSettle)
	}
	if f.journal < minJournal || f.journal > maxJournal {
		return cli.Usage(cmd, "--journal %d: use %d to %d", f.journal, minJournal, maxJournal)
	}
	if f.observeOnly && f.noAttention { // not of flags alone, which exclude each other
		return cli.Usage(cmd, `observe-only and no-attention: choose one; "heed config show" shows where they are set`)
	}
	if err := cli.OneOf(cmd, "log-level", f.logLevel, "debug", "info", "warn", "error"); err != nil {
		return err
	}
	if f.metrics != "" && !f.remote {
		host, _, err := net.SplitHostPort(f.metrics)
		if err != nil {
			return cli.Usage(cmd, "--metrics: %w", err)
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return cli.Usage(cmd, "--metrics %s is open to other machines: use 127.0.0.1, or --metrics-remote", f.metrics)
		}
	}
	return nil
}

// fileName returns text as part of a file's name.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, s)
}
