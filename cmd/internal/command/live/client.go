package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/command"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/cmd/internal/statefile"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/text"
)

// tokenEnv is the environment variable with the token of a heed that runs.
const tokenEnv = "HEED_TOKEN"

// clientName is the name of the commands that talk to a running heed. They are observers, and not the agent.
const clientName = session.ClientPrefix + "cli"

// clientLaunch makes all of them one consumer. Deliveries are kept for a few consumers: a person who looks every second
// would otherwise evict the agent.
const clientLaunch = "68656564-0000-4000-8000-000000000000"

// personConfig is how a person's commands and pages connect to a running heed: all as one consumer.
func personConfig(token string) gabp.ClientConfig {
	return gabp.ClientConfig{
		Token: token, Name: clientName, LaunchID: clientLaunch, Version: cli.ModuleVersion(),
		// heed holds a welcome back until the game's mod is there.
		Limits: gabp.Limits{HelloTimeout: askTimeout, RequestTimeout: tailWait + askTimeout},
	}
}

// askTimeout bounds each question to a running heed.
const askTimeout = 10 * time.Second

// The formats of output.
const (
	formatText  = "text"
	formatJSON  = "json"
	formatJSONL = "jsonl"
)

// clientFlags select the running heed, and the form of its answer.
type clientFlags struct {
	state     string
	connect   string
	tokenFile string
	game      string
	pid       int
	format    string
	width     int
}

// register adds the flags. data is the format other than text, asData its help.
func (f *clientFlags) register(cmd *cobra.Command, data, asData string) {
	f.selects(cmd)
	cmd.Flags().StringVar(&f.format, "format", formatText, "print the `FORMAT` text or "+data+" ("+asData+")")
	cli.WidthFlag(cmd, &f.width, 0)
	cli.Choice(cmd, "format", formatText, data)
}

// selects adds the flags that select the running heed.
func (f *clientFlags) selects(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.state, "state", "", "look for a running heed in `DIR`")
	flags.StringVar(&f.connect, "connect", "", "connect to the heed at `ADDR`, with the token of --token-file, "+tokenEnv+" or "+gabp.EnvToken)
	flags.StringVar(&f.tokenFile, "token-file", "", "with --connect: read the token from `FILE`")
	flags.StringVar(&f.game, "game", "", "connect to the heed of the game with this `ID`")
	flags.IntVar(&f.pid, "pid", 0, "connect to the heed with this process `ID`")
	cli.Checked(cmd, f.validate)
}

// validate checks the flags before a connection is made.
func (f *clientFlags) validate(cmd *cobra.Command) error {
	return cmp.Or(loopbackOnly(cmd, "connect"), cli.NotNegative(cmd, "pid", f.pid))
}

// arguments returns the flags that select the same heed, in any folder.
func (f *clientFlags) arguments() (args []string) {
	add := func(flag, value string, file bool) {
		if value == "" {
			return
		}
		if abs, err := filepath.Abs(value); file && err == nil {
			value = abs
		}
		args = append(args, flag, value)
	}
	add("--state", f.state, true)
	add("--connect", f.connect, false)
	add("--token-file", f.tokenFile, true)
	add("--game", f.game, false)
	if f.pid != 0 {
		add("--pid", strconv.Itoa(f.pid), false)
	}
	return args
}

// connect connects to the selected heed, and returns its run file; an empty one with --connect.
func (p *program) connect(ctx context.Context, cmd *cobra.Command, f *clientFlags) (*gabp.Client, *runFile, error) {
	found, err := p.reach(ctx, cmd, f)
	switch {
	case err != nil:
		return nil, nil, err
	case len(found) == 1:
		return found[0].Client, &found[0].run, nil
	}
	closeAll(found)
	var whose []string
	for i := range found {
		whose = append(whose, found[i].run.String())
	}
	return nil, nil, cli.Usage(cmd, "several heeds are running: use %s", strings.Join(whose, " or "))
}

// reached is a connected heed and its run file.
type reached struct {
	*gabp.Client

	run runFile
}

// closeAll closes connections whose answers have come.
func closeAll(found []reached) {
	for _, one := range found {
		_ = one.Close()
	}
}

// reach connects to all heeds that fit the flags: one or more, or an error.
func (p *program) reach(ctx context.Context, cmd *cobra.Command, f *clientFlags) ([]reached, error) {
	dial := func(address, token string) (*gabp.Client, error) {
		return gabp.Dial(ctx, address, personConfig(token))
	}
	if f.connect != "" {
		token := cmp.Or(p.Getenv(tokenEnv), p.Getenv(gabp.EnvToken))
		if f.tokenFile != "" {
			var err error
			if token, err = readToken(f.tokenFile); err != nil {
				return nil, cli.Failed(exitUsage, err)
			}
		}
		if token == "" {
			return nil, cli.Usage(cmd, "--connect needs the token, in %s or in the file of --token-file", tokenEnv)
		}
		client, err := dial(f.connect, token)
		if err != nil {
			return nil, cli.Failed(exitNone, err)
		}
		return []reached{{Client: client}}, nil
	}
	dir, err := stateIn(f.state, p.Getenv)
	if err != nil {
		return nil, cli.Failed(exitUsage, err)
	}
	runs, err := dir.running()
	if err != nil {
		return nil, cli.Failed(exitNone, err)
	}
	var found []reached
	var others []string
	var refused error
	for _, r := range runs {
		if f.pid != 0 && r.PID != f.pid || f.game != "" && r.Game != f.game {
			others = append(others, r.String())
			continue
		}
		client, err := dial(r.Address, r.Token)
		if err != nil {
			refused = errors.Join(refused, fmt.Errorf("process %d: %w", r.PID, err))
			continue
		}
		found = append(found, reached{client, r})
	}
	switch {
	case len(found) > 0:
		return found, nil
	case refused != nil:
		return nil, cli.Failed(exitNone, refused)
	case len(others) > 0:
		return nil, cli.Failed(exitNone, fmt.Errorf("no heed matches; running: %s", strings.Join(others, " and ")))
	}
	return nil, &cli.StatusError{
		Status: exitNone, Err: fmt.Errorf("no running heed was found in %s", dir),
		Next: `start one: "heed wrap -- GAME", or "heed serve PATH" with the path of a log; if it has --state, give it here, too`,
	}
}

// clientCommand makes a command that talks to a running heed, and takes no arguments.
func (p *program) clientCommand(use string, f *clientFlags,
	ask func(ctx context.Context, c *gabp.Client, r *runFile, args []string) error,
) *cobra.Command {
	return &cobra.Command{Use: use, Args: cli.NoArgs(use), RunE: func(cmd *cobra.Command, args []string) error {
		return p.asking(cmd, f, func(ctx context.Context, c *gabp.Client, r *runFile) error { return ask(ctx, c, r, args) })
	}}
}

// asking asks the running heed that f selects.
func (p *program) asking(cmd *cobra.Command, f *clientFlags,
	ask func(ctx context.Context, c *gabp.Client, r *runFile) error,
) error {
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	client, whose, err := p.connect(ctx, cmd, f)
	if err == nil {
		p.Detail("asking the heed at %s", cmp.Or(whose.Address, f.connect))
		err = ask(ctx, client, whose)
		_ = client.Close() // all answers have come
	}
	switch e, _ := errors.AsType[*gabp.Error](err); {
	case e == nil:
	case e.Code == gabp.CodeMethodNotFound:
		err = cli.Failed(exitNone, fmt.Errorf("this heed does not support that, or leaves attention to the mod: %w", err))
	case e.Code == gabp.CodeInvalidParams: // such as a cursor of another run
		err = cli.Failed(exitUsage, err)
	}
	return asked(ctx, err)
}

// asked returns the error of a command that asked a running heed, or the history, with its exit status.
func asked(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil: // the cause of any other error
		return context.Cause(ctx)
	case err != nil:
		return otherwise(exitNone, err)
	}
	return nil
}

// gone is the error of a heed that stopped answering.
func gone(err error) error {
	return cli.Failed(exitNone, fmt.Errorf("heed no longer answers; the game may have ended: %w", err))
}

// printJSON prints an answer on a line that is safe for a terminal, with the version of its form first. The answers
// themselves, which are the protocol's, have no version.
func (p *program) printJSON(answer []byte) error {
	return p.print(append(text.AppendJSON(nil, versioned(answer)), '\n'))
}

// versioned puts the version of heed's JSON before the members of an object. Other values stay as they are: a server
// that is not heed may send them.
func versioned(answer []byte) []byte {
	members, ok := bytes.CutPrefix(bytes.TrimSpace(answer), []byte("{"))
	if !ok {
		return answer
	}
	out := fmt.Appendf(nil, `{"schemaVersion":%d`, schema.Version)
	if !bytes.HasPrefix(bytes.TrimSpace(members), []byte("}")) {
		out = append(out, ',')
	}
	return append(out, members...)
}

// stateDir is the folder of the run files of running heeds.
type stateDir string

// stateIn returns the folder that is named, or else the user's.
func stateIn(named string, getenv func(string) string) (stateDir, error) {
	if named != "" {
		return stateDir(named), nil
	}
	dir, err := files.UserFolder(getenv, "XDG_STATE_HOME", "state")
	if err != nil {
		return "", fmt.Errorf("no folder for heed's state: %w; use --state DIR", err)
	}
	return stateDir(dir), nil
}

// open makes the folder, for its owner alone.
func (d stateDir) open() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

func (d stateDir) path(name string) string { return filepath.Join(string(d), name) }

// runFile has how to connect to a running heed. It holds a token, and has mode 0600.
type runFile struct {
	PID     int       `json:"pid"`
	Command string    `json:"command"`
	Game    string    `json:"game,omitempty"`
	Address string    `json:"address"`
	Token   string    `json:"token"`
	Log     string    `json:"log,omitempty"`
	Name    string    `json:"name,omitempty"`    // of its files in the folder
	Web     string    `json:"web,omitempty"`     // address of the live page
	Project string    `json:"project,omitempty"` // its file and the keys that it sets, in words
	Started time.Time `json:"started"`
}

// String names the run by the flag that chooses it.
func (r *runFile) String() string { return fmt.Sprintf("--pid %d (%s)", r.PID, r.label()) }

// label names the run by its command and its game.
func (r *runFile) label() string {
	if r.Game == "" {
		return r.Command
	}
	return r.Command + " of " + r.Game
}

// holder returns which running heed has files by a name.
func (d stateDir) holder(name string) string {
	runs, _ := d.running() // without it the message is less precise
	for i := range runs {
		if runs[i].Name == name {
			return runs[i].String()
		}
	}
	return "one that is starting, or does not serve bridges" // such as heed follow
}

const (
	runPrefix = "run-"
	runSuffix = ".json"

	lockSuffix = ".lock" // of a file that a running heed locks
)

func (d stateDir) runPath(pid int) string { return d.path(runPrefix + strconv.Itoa(pid) + runSuffix) }

// write writes a run file.
func (d stateDir) write(r runFile) error {
	data, _ := json.MarshalIndent(r, "", "  ")                                        // plain data
	if err := statefile.WriteFile(d.runPath(r.PID), append(data, '\n')); err != nil { // with mode 0600
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

// running returns the run files of running heeds, by process id, and removes the files of ended ones. Unreadable files
// are left out.
func (d stateDir) running() ([]runFile, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("state: %w", err)
	}
	var runs []runFile
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), runPrefix) || !strings.HasSuffix(e.Name(), runSuffix) {
			continue
		}
		path := d.path(e.Name())
		if lock, err := statefile.Lock(path + lockSuffix); err == nil { // the kernel has released it: the process has ended
			_, _, _ = os.Remove(path), lock.Close(), os.Remove(path+lockSuffix)
			continue
		}
		data, err := os.ReadFile(path)
		var r runFile
		if err == nil && json.Unmarshal(data, &r) == nil && r.Address != "" {
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// askBrief adds to the command "brief" the flags that select a running heed, and returns what asks it.
func (p *program) askBrief(cmd *cobra.Command) func(cmd *cobra.Command, item string, b *command.Brief) error {
	var f clientFlags
	f.selects(cmd)
	return func(cmd *cobra.Command, item string, b *command.Brief) error {
		return p.asking(cmd, &f, func(ctx context.Context, c *gabp.Client, _ *runFile) error {
			arguments := bridge.BriefArgs{ID: bridge.Ref(item), Tokens: b.Tokens, Template: b.Template}
			if b.Own != nil {
				arguments.Template, arguments.TemplateText = "", string(b.Text)
			}
			raw, err := c.CallTool(ctx, bridge.ToolBrief, arguments)
			if err != nil {
				return err
			}
			if b.Format == formatJSON {
				return p.printJSON(raw)
			}
			var d struct {
				command.BriefDocument
				Behind string `json:"behind"`
			}
			if err := json.Unmarshal(raw, &d); err != nil {
				return err
			}
			for _, w := range append(d.Warnings, d.Behind) {
				if w != "" {
					p.Note("%s", text.Safe(w, 0))
				}
			}
			return p.print(d.Appended(b.Format))
		})
	}
}
