package live

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/acp"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/db"
	"github.com/heedlog/heed/cmd/internal/deliver"
	"github.com/heedlog/heed/cmd/internal/jsonrpc"
	"github.com/heedlog/heed/cmd/internal/proc"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/gabp"
)

// acpFlags are the flags of "heed acp".
type acpFlags struct {
	clientFlags
	policy     steer.Policy
	brief      int
	tools      []string
	promptIdle bool
	grace      time.Duration
	logFile    string
}

func (f *acpFlags) register(cmd *cobra.Command) {
	f.selects(cmd)
	cli.Checked(cmd, f.validate)
	flags := cmd.Flags()
	flags.SetInterspersed(false) // the agent's flags are the agent's
	flags.StringVar((*string)(&f.policy.Mode), "mode", string(steer.ModeSteer), "what a message does to a turn: `MODE` steer, interrupt, owner-interrupt or queue")
	flags.BoolVar(&f.policy.InterruptOnInvalid, "interrupt-on-invalid", false, "let what makes the game's state invalid supersede the agent's work")
	flags.DurationVar(&f.policy.CallWait, "call-wait", steer.DefaultCallWait, "wait up to `DURATION` for a call to the game before the turn is stopped")
	flags.IntVar(&f.policy.SteersPerTurn, "steers-per-turn", steer.DefaultSteersPerTurn, "stop a turn at most `N` times, new items not counted; then messages wait")
	flags.IntVar(&f.policy.SteersPerMinute, "steers-per-minute", steer.DefaultSteersPerMinute, "stop turns at most `N` times a minute, new items not counted; then messages wait")
	flags.IntVar(&f.brief, "brief", defaultBrief, "tell of an item in at most `N` tokens; 0: in one line, without text of the log")
	cli.Completes(cmd, "mode", string(steer.ModeSteer), string(steer.ModeInterrupt), string(steer.ModeOwnerInterrupt),
		string(steer.ModeQueue))
	flags.StringArrayVar(&f.tools, "tool", nil, "calls whose title fits `PATTERN` go to the game, such as 'mcp__game__*'; without it, all but the commands, edits and other work of the agent itself (repeatable)")
	flags.BoolVar(&f.promptIdle, "prompt-idle", false, "prompt the agent when it has no turn, for editors that show such turns")
	flags.DurationVar(&f.grace, "grace", proc.DefaultGrace, "wait `DURATION` for the agent to end before it is killed")
	flags.StringVar(&f.logFile, "log-file", "", "write heed's own messages to `FILE`, - for standard error (default: none)")
}

func (f *acpFlags) validate(cmd *cobra.Command) error {
	if err := f.policy.Validate(); err != nil {
		return cli.Usage(cmd, "%w", err)
	}
	if p := f.policy; p.CallWait == 0 || p.SteersPerTurn == 0 || p.SteersPerMinute == 0 { // a default of policies
		return cli.Usage(cmd, "--call-wait, --steers-per-turn and --steers-per-minute must not be 0; --mode queue stops no turn")
	}
	return cmp.Or(checkBrief(cmd, f.brief), checkPatterns(cmd, "tool", f.tools),
		cli.NotNegative(cmd, "grace", f.grace))
}

// defaultBrief is the budget of a brief for an agent, in tokens.
const defaultBrief = 400

func checkBrief(cmd *cobra.Command, tokens int) error {
	return cli.Within(cmd, "brief", tokens, 0, bridge.MaxBriefTokens)
}

func checkPatterns(cmd *cobra.Command, flag string, patterns []string) error {
	for _, pattern := range patterns {
		_, err := path.Match(pattern, "")
		if pattern == "" { // no name fits
			err = path.ErrBadPattern
		}
		if err != nil {
			return cli.Usage(cmd, "--%s %q: %w", flag, pattern, err)
		}
	}
	return nil
}

func (p *program) acpCommand() *cobra.Command {
	var f acpFlags
	cmd := &cobra.Command{
		Use:  "acp [flags] -- AGENT [ARGS]",
		Args: cli.Args(1, math.MaxInt, "name the agent's program after --, such as heed acp -- gemini --experimental-acp"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.acp(cmd, &f, args) },
	}
	f.register(cmd)
	return cmd
}

// game reports whether a tool call goes to the game: by its title, or because its kind is no work of the agent itself,
// such as a command or an edit.
func (f *acpFlags) game(title, kind string) bool {
	return fitsAny(f.tools, title) || len(f.tools) == 0 && (kind == "" || kind == "other") && !ownTool(title)
}

// fitsAny reports whether a name fits one of the patterns, which are valid.
func fitsAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

func (p *program) acp(cmd *cobra.Command, f *acpFlags, args []string) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	signals, _, stop := passedOn()
	defer stop()
	signal.Ignore(syscall.SIGPIPE) // an editor that reads no more is an end

	log, logFile, err := p.ownLog(f.logFile, slog.LevelInfo)
	if err != nil {
		return err
	}
	defer logFile.Close() //nolint:errcheck // of heed's own
	agent, err := startTalking(args, file(p.Stderr), f.grace)
	if err != nil {
		return err
	}
	defer agent.Kill()
	heeds := &companion{log: log}
	box, err := p.openOutbox(ctx, f.state)
	if err != nil { // it is no reason to keep an agent from working
		log.Error("what is not delivered does not survive heed", "error", err)
		box = nil
	} else {
		defer box.Close() //nolint:errcheck // its states are committed
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		heeds.watch(ctx, func() (*gabp.Client, error) { c, _, err := p.connect(ctx, cmd, &f.clientFlags); return c, err })
	})
	defer watching.Wait()
	defer cancel()
	cfg := acp.Config{
		Agent: agent, Editor: stdio{p.Stdin, p.Stdout}, Left: agent.hangUp,
		Game: f.game, PromptIdle: f.promptIdle, Logger: log, Note: p.Note,
		Start: func(session string, fresh bool, ceiling steer.Ceiling, act func(steer.Action)) acp.Conversation {
			cfg := deliver.Config{
				Policy: f.policy, Ceiling: ceiling, Act: act, Heed: heeds, Caller: agentName("acp", session, ""),
				BriefTokens: f.brief, Now: p.Now, Log: log,
			}
			cfg.Way = way.Commands(cli.CommandLine, cfg.Caller, f.arguments())
			if box != nil {
				if !fresh { // an agent may count its sessions from 1 in each of its runs
					var err error
					if cfg.State, err = loadState(ctx, box, "acp/"+session); err != nil {
						log.Error("what was not delivered before is not known", "error", err)
					}
				}
				cfg.Keep = func(s steer.State) error {
					return saveState(context.WithoutCancel(ctx), box, "acp/"+session, p.Now(), s)
				}
			}
			c := deliver.New(cfg)
			heeds.add(c)
			go func() { _ = c.Look(ctx) }() // open items come with the first prompt
			return c
		},
	}
	err = agent.during(signals, log, func() error { return acp.Run(ctx, cfg) })
	p.Status = agent.Exit().Code
	if err != nil && !errors.Is(err, jsonrpc.ErrProgram) && ctx.Err() == nil {
		return cli.Failed(exitOwn, err)
	}
	return nil
}

// talker is a program that heed starts, and talks to over its standard input and output.
type talker struct {
	*proc.Process
	stdio

	grace time.Duration
}

func startTalking(args []string, stderr *os.File, grace time.Duration) (*talker, error) {
	in, toProgram, err := os.Pipe()
	if err != nil {
		return nil, own(err)
	}
	fromProgram, out, err := os.Pipe()
	if err != nil {
		return nil, own(errors.Join(err, in.Close(), toProgram.Close()))
	}
	mark := gabp.NewToken()
	program, err := proc.Start(proc.Config{
		Args: args, Env: append(os.Environ(), "HEED_TREE="+mark), Mark: mark, Grace: grace,
		Stdin: in, Stdout: out, Stderr: stderr,
	})
	_, _ = in.Close(), out.Close()
	t := &talker{program, stdio{fromProgram, toProgram}, grace}
	if err != nil {
		_ = t.Close()
		return nil, notStarted(args[0], err)
	}
	return t, nil
}

// hangUp closes the program's standard input, and kills it if it has not ended after grace.
func (t *talker) hangUp() {
	_ = t.Writer.(io.Closer).Close()
	time.AfterFunc(t.grace, t.Kill)
}

// during passes signals on while f runs, and then has the program end. It does not wait longer than grace after a
// signal that asks for the end, and not at all after the second.
func (t *talker) during(signals <-chan os.Signal, log *slog.Logger, f func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	var late <-chan time.Time
	grace := t.grace
	for {
		select {
		case <-late:
			t.Kill()
			return nil
		case sig := <-signals:
			if slices.Contains(stops, sig) {
				late, grace = time.After(grace), 0
			}
			if err := t.Pass(sig); err != nil {
				log.Warn("a signal cannot be passed on", "signal", sig.String(), "error", err)
			}
		case err := <-ended:
			_ = t.Close() // the program may have closed its output and read on
			select {
			case <-t.Done():
			case <-time.After(t.grace):
				t.Kill()
			}
			return err
		}
	}
}

// agentName returns the name of an agent at heed, by the adapter, the session and its subagent, if any.
func agentName(adapter, session, subagent string) string {
	name := fileName(strings.TrimPrefix(subagent+"-"+session, "-"))
	return adapter + "-" + name[:min(len(name), 40)]
}

// companion is the running heed, if there is one, and the conversations that it informs.
type companion struct {
	log    *slog.Logger
	client atomic.Pointer[gabp.Client] // nil while no heed runs

	mu    sync.Mutex
	talks []*deliver.Conversation
}

// errNoHeed is the error of a question while no heed runs.
var errNoHeed = errors.New("no heed is running")

// Call implements [deliver.Heed].
func (b *companion) Call(ctx context.Context, method string, params, result any) error {
	client := b.client.Load()
	if client == nil {
		return errNoHeed
	}
	return client.Call(ctx, method, params, result)
}

func (b *companion) add(c *deliver.Conversation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.talks = append(b.talks, c)
}

// all returns the conversations.
func (b *companion) all() []*deliver.Conversation {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.talks)
}

// look lets all conversations look.
func (b *companion) look(ctx context.Context) error {
	for _, c := range b.all() {
		if err := c.Look(ctx); err != nil {
			return err
		}
	}
	return nil
}

// seekEvery is how often a running heed is looked for.
const seekEvery = 2 * time.Second

// watch lets the conversations look at each change, until ctx is done; it connects again if a heed ends, of which they
// have a message.
func (b *companion) watch(ctx context.Context, connect func() (*gabp.Client, error)) {
	said := ""
	for ctx.Err() == nil {
		client, err := connect()
		if err == nil {
			b.client.Store(client)
			watched := false
			err = deliver.Watch(ctx, client, func(ctx context.Context) error {
				if !watched {
					watched = true
					b.log.Info("a heed was found")
				}
				return b.look(ctx)
			})
			b.client.Store(nil)
			_ = client.Close()
			if watched && ctx.Err() == nil {
				for _, c := range b.all() {
					c.Lost("heed", false)
				}
			}
		}
		if why := strings.TrimSpace(fmt.Sprint(err)); why != said && ctx.Err() == nil {
			said = why
			b.log.Warn("nothing is told for now", "because", why)
		}
		select {
		case <-ctx.Done():
		case <-time.After(seekEvery):
		}
	}
}

// outboxName is the database of undelivered messages, in the state folder.
const outboxName = "outbox.db"

// outbox keeps the state of conversations of package steer in a database, so that messages survive a kill: they are
// delivered at least once, and a revision of a topic once in a turn. Many goroutines and processes may use it.
type outbox struct{ *db.DB }

// The bounds of the database: conversations, the time since their last use, and the bytes of a state.
const (
	maxConversations = 1000
	maxAge           = 30 * 24 * time.Hour
	maxState         = 4 << 20
)

// outboxApplication is "heed" in ASCII.
const outboxApplication = 0x68656564

var outboxMigrations = []string{`
CREATE TABLE conversation (
	id      TEXT PRIMARY KEY,
	touched INTEGER NOT NULL, -- in seconds since 1970
	waits   INTEGER NOT NULL, -- messages that are not delivered
	state   TEXT NOT NULL,    -- steer.State as JSON
	bad     TEXT              -- an earlier state that could not be read
) STRICT`}

// openOutbox opens the outbox in a folder, "" for the usual one.
func (p *program) openOutbox(ctx context.Context, state string) (*outbox, error) {
	dir, err := stateIn(state, p.Getenv)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, keepWait) // a process that is stuck has it open
	defer cancel()
	box, err := openStates(ctx, dir.path(outboxName), p.Now())
	if err == nil && box.SetAside != "" {
		p.Note("what was not delivered before is lost: its file was corrupt, and is kept as %s", box.SetAside)
	}
	return box, err
}

// openStates opens the outbox in a file. Conversations that were not used for 30 days are dropped, and beyond 1,000
// those that wait for nothing first.
func openStates(ctx context.Context, path string, now time.Time) (*outbox, error) {
	d, err := db.Open(ctx, db.Config{Path: path, Application: outboxApplication, Migrations: outboxMigrations})
	if err != nil {
		return nil, err
	}
	_, err = d.ExecContext(ctx, `DELETE FROM conversation WHERE id NOT IN (SELECT id FROM conversation
		WHERE touched >= ? ORDER BY waits > 0 DESC, touched DESC LIMIT ?)`, now.Add(-maxAge).Unix(), maxConversations)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("outbox %s: %w", path, err), d.Close())
	}
	return &outbox{d}, nil
}

// update keeps the state that f returns for the state of a conversation. No other process changes it in between. If f
// returns an error, nothing is kept. An unreadable state counts as none.
func (o *outbox) update(
	ctx context.Context, conversation string, now time.Time, f func(s steer.State) (steer.State, error),
) error {
	return o.Tx(ctx, func(tx *sql.Tx) error {
		s, err := loadState(ctx, tx, conversation)
		if err != nil && !errors.Is(err, errState) {
			return err
		}
		if s, err = f(s); err != nil {
			return err
		}
		return saveState(ctx, tx, conversation, now, s)
	})
}

// errState is the error for a state that is not of this version of heed, or too large.
var errState = errors.New("the state cannot be kept or read")

// querier is an outbox or a transaction of it.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// loadState returns the state of a conversation, the zero State for an unknown one. An unreadable state is an error,
// and kept aside when the next one is saved.
func loadState(ctx context.Context, q querier, conversation string) (steer.State, error) {
	var raw string
	err := q.QueryRowContext(ctx, `SELECT state FROM conversation WHERE id = ?`, conversation).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return steer.State{}, nil
	}
	if err != nil {
		return steer.State{}, fmt.Errorf("outbox: conversation %q: %w", conversation, err)
	}
	var s steer.State
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		_, moved := q.ExecContext(ctx, `UPDATE conversation SET bad = state WHERE id = ?`, conversation)
		return steer.State{}, errors.Join(fmt.Errorf("outbox: conversation %q: %w: %w", conversation, errState, err), moved)
	}
	return s, nil
}

// saveState keeps the state of a conversation.
func saveState(ctx context.Context, q querier, conversation string, now time.Time, s steer.State) error {
	raw, err := json.Marshal(s)
	if err == nil && len(raw) > maxState {
		err = fmt.Errorf("%w: %d bytes, of at most %d", errState, len(raw), maxState)
	}
	if err == nil {
		waits := len(s.Pending)
		for i := range s.Sent {
			waits += len(s.Sent[i].Messages)
		}
		_, err = q.ExecContext(ctx, `INSERT INTO conversation (id, touched, waits, state) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET touched = excluded.touched, waits = excluded.waits, state = excluded.state`,
			conversation, now.Unix(), waits, string(raw))
	}
	if err != nil {
		return fmt.Errorf("outbox: conversation %q: %w", conversation, err)
	}
	return nil
}
