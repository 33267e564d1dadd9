package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/command"
	"github.com/heedlog/heed/cmd/internal/history/historysource"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/cmd/internal/settings"
	"github.com/heedlog/heed/cmd/internal/statefile"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
)

// source is the followed log: none if its path is "", the game's output if its path is [files.Standard].
type source struct {
	files.Found
	follow follow.Config // of a file
}

// host is an engine with all that serves it. [program.newHost] makes its parts in their order: each needs those before.
type host struct {
	*program

	// A command sets these.

	flags *hostFlags
	name  string // of its files in the state folder
	source
	next func(class string, a *heed.Item) []string // the next steps in briefs; nil: way.SessionNext

	// Without a listener no bridges are served.
	command  string // in the run file
	listener net.Listener
	bridges  bridge.Config
	stream   io.ReadWriteCloser // of one more bridge, with which heed ends; nil: there is none
	between  bool               // the mod of the game connects to heed in place of the bridge

	// newHost makes these.

	state    stateDir
	log      *slog.Logger
	spool    *stream          // of the game, whose copy is followed; nil: another file is
	follower *follow.Follower // nil: there is no log
	dedup    *bridge.Dedup
	session  *session.Session
	keeper   *keeper       // nil: nothing is remembered
	metrics  net.Listener  // nil: none are served
	proxy    *bridge.Proxy // nil: no bridges are served
	web      *web          // nil: no page is served

	asks  atomic.Int32    // how often heed was asked to end
	hurry context.Context // done when it must end
	must  func()          // ends hurry

	playing atomic.Bool // a game that this process started runs
	closers []func() error

	lossMu sync.Mutex
	losses map[string]error // of the user's data, by the part that loses it
}

// newHost makes all parts of a host, in which nothing runs yet. An error without a status of its own gets exitUsage.
func (p *program) newHost(h *host) error {
	h.program, h.losses = p, map[string]error{}
	h.hurry, h.must = context.WithCancel(context.Background())
	for _, part := range []func() error{
		h.openState, h.openLog, h.openFollower, h.openSession, h.openHistory, h.openListeners, h.openProxy, h.announce,
	} {
		if err := part(); err != nil {
			h.close(exitUsage)
			return otherwise(exitUsage, err)
		}
	}
	return nil
}

// closes adds a resource that is closed with the host, before all that were opened earlier.
func (h *host) closes(c io.Closer) { h.closers = append(h.closers, c.Close) }

// openState opens the state folder, and claims the name of the files in it.
func (h *host) openState() (err error) {
	if h.listener != nil {
		h.closes(h.listener) // the server closes it, unless nothing came of it
	}
	if h.state, err = stateIn(h.flags.state, h.Getenv); err != nil {
		return err
	}
	return h.state.open()
}

// openSession makes the session, with its log, its state and its recording.
func (h *host) openSession() (err error) {
	f := h.flags
	cfg := session.Config{
		NoDefaults: f.noDefaults, Settle: f.settle, SyncTimeout: answerWithin, AnswerWithin: answerWithin,
		LogFrom: h.How, Limits: h.limits, Now: h.Now, Logger: h.log,
	}
	switch {
	case f.noAttention:
		cfg.Attention = session.LeftToMod
	case f.observeOnly:
		cfg.Attention = session.OnlyShown
	}
	cfg.Engine.Journal.Entries, cfg.Engine.Journal.Bytes = f.journal, f.journal*textPerEntry
	if cfg.RuleFiles, err = files.RuleFiles(f.rules); err != nil {
		return h.Placed("rules", err)
	}
	var notes []error
	cfg.Installed, notes = files.Mods(f.mods)
	command.NoteMods(h.Note, notes)
	if f.state != "" {
		cfg.Snapshot = h.snapshot()
	}
	if h.follower != nil {
		cfg.Log = piped{bridge.Feed(h.follower, h.dedup), h.spool}
	}
	if f.record != "" {
		file, err := os.OpenFile(f.record, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("record: %w", err)
		}
		h.closes(file)
		cfg.Recorder = follow.NewRecorder(lossy{file, func(err error) {
			h.lost("recording.ended", fmt.Errorf("the recording stops here, heed continues: %w", err))
		}})
	}
	h.session, err = session.New(cfg)
	if _, ok := errors.AsType[*rules.Error](err); ok {
		return h.Placed("rules", err)
	}
	return err
}

// snapshot is the file that keeps the engine's state, if that is asked for.
func (h *host) snapshot() string { return h.state.path(h.name + ".snapshot") }

// lossy is a file whose writers do not report errors.
type lossy struct {
	*os.File
	lost func(error)
}

// Write implements [io.Writer].
func (l lossy) Write(b []byte) (int, error) {
	n, err := l.File.Write(b)
	if err != nil {
		l.lost(err)
	}
	return n, err
}

// openListeners opens the port for metrics, before a game is started.
func (h *host) openListeners() (err error) {
	if h.flags.metrics == "" {
		return nil
	}
	if h.metrics, err = net.Listen("tcp", h.flags.metrics); err != nil {
		return fmt.Errorf("--metrics: %w", err)
	}
	h.closes(h.metrics)
	return nil
}

// openProxy makes the proxy between bridges and the game's mod, with briefs and the live page.
func (h *host) openProxy() (err error) {
	if h.listener == nil {
		return nil
	}
	cfg := &h.bridges
	if h.between {
		if cfg.Handed.Inner, err = h.inner(); err != nil {
			return cli.Failed(exitOwn, err)
		}
	}
	briefs, err := h.briefs()
	if err != nil {
		return err
	}
	h.closes(briefs)
	cfg.Session, cfg.Dedup, cfg.Brief, cfg.AnswerWithin = h.session, h.dedup, briefs.Assemble, answerWithin
	cfg.Version, cfg.Now, cfg.Logger = cli.ModuleVersion(), h.Now, h.log
	h.proxy, err = bridge.New(*cfg)
	if err != nil || h.flags.web == "" {
		return err
	}
	if h.web, err = openWeb(h.proxy, h.flags.web); err != nil {
		return err
	}
	h.closes(h.web.listener)
	return nil
}

// briefs makes the service that assembles briefs about the session.
func (h *host) briefs() (*briefing.Service, error) {
	s := h.session
	cfg := heedsource.Config{
		Engine: s.Engine(), Rules: s.Engine().Rules, Mods: s.Mods, Environment: s.Environment, Next: h.next, Now: h.Now,
	}
	if cfg.Next == nil {
		cfg.Next = way.SessionNext
	}
	if h.keeper != nil && h.keeper.history != nil {
		cfg.Ledgers = map[string]briefing.Ledger{heedsource.TierEarlier: &historysource.Ledger{
			History: h.keeper.history, Session: func() *summary.Session {
				now := &summary.Session{Facts: s.Environment(), Mods: s.Mods()}
				replay.Identify(now, s.Rules())
				return now
			},
		}}
	}
	return briefing.New(heedsource.Sources(cfg))
}

// announce writes the run file of this process, by which commands find it.
func (h *host) announce() error {
	if h.proxy == nil {
		return nil
	}
	b := &h.bridges.Handed.Outer
	run := runFile{
		PID: os.Getpid(), Command: h.command, Game: b.GameID, Address: b.Address, Token: b.Token, Log: h.Path,
		Name: h.name, Project: h.Project, Started: h.Now().UTC(),
	}
	if h.web != nil {
		run.Web = h.web.address()
	}
	_, _ = h.state.running() // it removes files of ended processes
	path := h.state.runPath(run.PID)
	if lock, err := statefile.Lock(path + lockSuffix); err == nil { // else the file system has none
		h.closes(lock)
	}
	h.closers = append(h.closers, func() error { _, _ = os.Remove(path), os.Remove(path+lockSuffix); return nil })
	return h.state.write(run)
}

// end notes that heed was asked to end: it must after --grace, and at once when it is asked again.
func (h *host) end() {
	switch h.asks.Add(1) {
	case 1:
		time.AfterFunc(h.flags.grace, h.end)
	case 2:
		h.must()
	}
}

// ends calls end for each signal that asks heed to end.
func (h *host) ends(asks <-chan os.Signal) {
	for range asks {
		h.end()
	}
}

// endWait bounds the wait for the parts of a host that must end.
const endWait = 5 * time.Second

// lost reports at once, and in the status of the session, that a part cannot keep data of the user. Without an error,
// it can again. The exit status follows in close.
func (h *host) lost(part string, err error) {
	h.lossMu.Lock()
	defer h.lossMu.Unlock()
	if err == nil {
		delete(h.losses, part)
		return
	}
	if h.losses[part] == nil {
		h.Message("%v", err)
	}
	h.losses[part] = err
}

// limits returns the present losses.
func (h *host) limits() (all []session.Limit) {
	h.lossMu.Lock()
	defer h.lossMu.Unlock()
	for _, part := range slices.Sorted(maps.Keys(h.losses)) {
		all = append(all, session.Limit{Name: part, Count: 1, Means: h.losses[part].Error()})
	}
	return all
}

// close closes all that the host has opened, and reports the bytes that it had no time to read. If data of the user was
// lost and nothing else failed, the status is lost.
func (h *host) close(lost int) {
	if h.follower != nil && h.hurry.Err() != nil {
		if n := h.follower.Status().LostBytes; n > 0 {
			h.Message("%s of the log were not read before the end", text.Many(n, "byte", "bytes"))
		}
	}
	for _, c := range slices.Backward(h.closers) {
		if err := c(); err != nil && !errors.Is(err, net.ErrClosed) { // a server closes its listener
			h.lost("closing", err)
		}
	}
	if h.session != nil {
		h.lost("state", h.session.Unsaved())
	}
	if len(h.limits()) > 0 && h.Status == exitOK { // not in place of the game's
		h.Raise(lost)
	}
}

// serve runs all parts until ctx is done or one of them fails.
func (h *host) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h.session.EndLeft()
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
	if h.proxy != nil {
		part("bridges", func(ctx context.Context) error { return h.proxy.Serve(ctx, h.listener) })
	}
	if h.stream != nil {
		part("standard input", func(ctx context.Context) error {
			err := h.proxy.ServeConn(ctx, h.stream)
			if err != nil && !errors.Is(err, syscall.EPIPE) { // which is a reader that has gone
				return err
			}
			cancel(nil)
			return nil
		})
	}
	if h.metrics != nil {
		part("metrics", h.serveMetrics)
	}
	if h.web != nil {
		h.log.Info("a live page is served; heed status shows its address", "port", h.web.listener.Addr().(*net.TCPAddr).Port)
		part("page", h.web.serve)
	}
	<-ctx.Done()
	ended := make(chan struct{})
	go func() { defer close(ended); wg.Wait() }()
	select {
	case <-ended:
	case <-h.hurry.Done():
		select {
		case <-ended:
		case <-time.After(endWait): // such as a part that writes to a reader which does not read
			h.log.Error("a part of heed did not end")
		}
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// serveDuring serves while work runs, which begins when the log from before is ingested. Failed has an error if a part
// fails, and is closed when nothing is served any more. The end of ctx ends work alone.
func (h *host) serveDuring(ctx context.Context, work func(failed <-chan error) error) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	failed := make(chan error, 1)
	go func() {
		defer close(failed)
		failed <- h.serve(serving)
	}()
	defer func() {
		stop()
		if err := <-failed; err != nil {
			h.log.Error("heed served no more", "error", err)
		}
	}()
	_ = h.session.Sync(h.hurry)
	return work(failed)
}

// answerWithin bounds how long an answer waits for evidence: 0, the default, except in tests, where a machine that
// pauses must not make the game blind.
var answerWithin time.Duration

// maxClaims bounds the processes that keep files by one name in one folder.
const maxClaims = 64

// claim returns the name for the files of this process in the state folder: name if no running heed has it,
// otherwise name with a number. Shared is nil, or has who holds name, or why that is not known. The kernel releases the
// claim when the process ends.
func (h *host) claim(name string) (claimed string, shared, err error) {
	for n := 1; n <= maxClaims; n++ {
		claimed = name
		if n > 1 {
			claimed += "-" + strconv.Itoa(n)
		}
		lock, err := statefile.Lock(h.state.path(claimed + lockSuffix))
		switch {
		case err == nil:
			h.closes(lock)
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
func (h *host) openLog() error {
	var shared error
	if h.flags.state != "" || h.flags.logFile == "" { // there are files that another heed would overwrite
		var err error
		if h.name, shared, err = h.claim(h.name); err != nil {
			return err
		}
	}
	text := h.flags.logLevel
	if h.Settings.Value("log-level").Origin == settings.Default {
		switch {
		case h.Quiet:
			text = "error"
		case h.Verbose:
			text = "debug"
		}
	}
	var level slog.Level
	_ = level.UnmarshalText([]byte(text)) // it is one
	log, file, err := h.ownLog(cmp.Or(h.flags.logFile, h.state.path(h.name+".log")), level)
	if err != nil {
		return err
	}
	h.closes(file)
	h.log = log
	if h.Project != "" {
		h.log.Info("a project file changes settings", "settings", h.Project)
	}
	if shared != nil {
		h.log.Warn("another heed uses the same state folder: name another with --state", "name", h.name, "error", shared)
	}
	return nil
}

// ownLog returns heed's own log in a file, on standard error for - and nowhere for "". The file is to be closed.
func (p *program) ownLog(name string, level slog.Level) (log *slog.Logger, file io.Closer, err error) {
	out := p.Stderr
	file = io.NopCloser(nil)
	switch name {
	case "":
		return slog.New(slog.DiscardHandler), file, nil
	case "-":
	default:
		f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return nil, nil, cli.Failed(exitUsage, fmt.Errorf("--log-file: %w", err))
		}
		var once sync.Once
		out, file = lossy{f, func(err error) {
			once.Do(func() { p.Message("heed's own messages cannot be written: %v", err) })
		}}, f
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})), file, nil
}

// openFollower opens the log that is followed: before a game is started that would be killed again.
func (h *host) openFollower() (err error) {
	h.dedup = bridge.NewDedup()
	cfg := h.source.follow
	switch cfg.Path = h.Path; cfg.Path {
	case "":
		return nil
	case files.Standard:
		if h.spool, err = newStream("log"); err != nil {
			return err
		}
		path := h.state.path(h.name + "-" + strconv.Itoa(os.Getpid()) + ".stdout")
		h.closers = append(h.closers, func() error { _ = os.Remove(path); return nil }) // without a game there is none
		cfg = follow.Config{Path: path, FromEnd: true, Continues: true}
	}
	cfg.Hurry = h.hurry.Done()
	if h.flags.state != "" {
		cfg.Resume = session.Position(h.snapshot())
	}
	h.follower, err = follow.New(cfg)
	return err
}

// notInNames are the characters that the names of files do not have.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// fileName returns text as part of a file's name.
func fileName(s string) string { return notInNames.ReplaceAllLiteralString(s, "_") }
