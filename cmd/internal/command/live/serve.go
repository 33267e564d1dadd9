package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/proc"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/text"
)

// serveFlags are the flags of "heed serve".
type serveFlags struct {
	hostFlags
	addr      string
	tokenFile string
	game      string
	fromEnd   bool
	stdio     bool
}

// errNoToken is the error of --stdio without a token that the bridge could know.
var errNoToken = errors.New("--stdio: no token: set " + gabp.EnvToken + " or --token-file to what the bridge says in its hello")

func (p *program) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:  "serve PATH",
		Args: cli.Args(1, 1, "name the log to follow, and nothing else"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.serve(cmd, &f, args[0]) },
	}
	f.register(cmd)
	f.registerGate(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", "", "listen on `ADDR` of the loopback interface, or on unix:/PATH")
	flags.StringVar(&f.tokenFile, "token-file", "", "read the token from `FILE`")
	flags.StringVar(&f.game, "game", "", "serve as the bridge that was set up for the game with this `ID`; with --addr it is a name alone")
	flags.BoolVar(&f.fromEnd, "from-end", false, "skip what is in the log now")
	flags.BoolVar(&f.stdio, "stdio", false, "serve one bridge on standard input and output, and end with it")
	flags.StringVar(&f.logFile, "log-file", "-", "write heed's own messages to `FILE`, - for standard error")
	return cmd
}

// untilInterrupted returns a context that is done when the process is asked to end. A second signal ends the process.
func untilInterrupted(ctx context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

func (p *program) serve(cmd *cobra.Command, f *serveFlags, path string) error {
	b, err := p.serveBridge(f)
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	l, err := gabp.Listen(ctx, b.Address)
	if err != nil {
		return cli.Failed(exitUsage, err)
	}
	if !strings.HasPrefix(b.Address, "unix:") {
		b.Address = l.Addr().String()
	}
	h := &host{
		flags: &f.hostFlags, name: "serve-" + fileName(cmp.Or(f.game, "log")), source: running(path, "", f.fromEnd),
		command: "serve", bridges: f.bridges(b), listener: l,
	}
	if f.stdio {
		signal.Ignore(syscall.SIGPIPE) // a parent that reads no more is an end, not a reason to be killed
		h.stream = stdio{p.Stdin, p.Stdout}
	}
	if err := p.newHost(h); err != nil {
		return err
	}
	defer h.close(exitNone)
	defer context.AfterFunc(ctx, h.end)()
	h.log.Info("serving bridges", "addr", b.Address, "log", path)
	return h.serve(ctx)
}

// running returns the log of a game that heed has not started: as long as any program has it open for writing, another
// file at its path is another game's, unless the same program writes that, too.
func running(path, how string, fromEnd bool) source {
	return source{files.Found{Path: path, How: how}, follow.Config{
		FromEnd: fromEnd, Writers: func(file fs.FileInfo) (own, other time.Time) {
			if own, other = proc.Writers(file); own.IsZero() {
				own = other
			}
			return own, time.Time{}
		},
	}}
}

// serveBridge returns the address to listen on, and the token.
func (p *program) serveBridge(f *serveFlags) (gabp.Bridge, error) {
	b := gabp.Bridge{Address: cmp.Or(f.addr, "127.0.0.1:0"), GameID: f.game}
	if f.tokenFile != "" {
		token, err := readToken(f.tokenFile)
		if err != nil {
			return b, cli.Failed(exitUsage, err)
		}
		b.Token = token
		return b, nil
	}
	env, ok, err := gabp.BridgeFromEnv(p.Getenv)
	switch {
	case err != nil:
		return b, cli.Failed(exitUsage, err)
	case ok:
		env.Address = cmp.Or(f.addr, env.Address)
		env.GameID = cmp.Or(f.game, env.GameID)
		return env, nil
	case f.game != "" && f.addr == "":
		if b, err = gabp.FindBridge(p.Getenv, f.game); err != nil {
			err = cli.Failed(exitUsage, fmt.Errorf("--game %s: %w; or use --addr", f.game, err))
		}
		return b, err
	}
	b.Token = p.Getenv(gabp.EnvToken)
	if b.Token == "" && f.stdio {
		return b, cli.Failed(exitUsage, errNoToken)
	}
	b.Token = cmp.Or(b.Token, gabp.NewToken())
	return b, nil
}

// stdio is the stream of a parent process.
type stdio struct {
	io.Reader
	io.Writer
}

// Close closes both ways, so that the parent sees the end.
func (s stdio) Close() error {
	var errs []error
	for _, way := range []any{s.Reader, s.Writer} {
		if c, ok := way.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// maxToken bounds, in bytes, a file that holds a token in its first line.
const maxToken = 64 << 10

// readToken reads the first line of a file.
func readToken(path string) (string, error) {
	data, err := files.Read(path, maxToken)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "", fmt.Errorf("--token-file %s: its first line is empty", path)
	}
	return line, nil
}

// followFlags are the flags of "heed follow".
type followFlags struct {
	hostFlags
	format  string
	fromEnd bool
	width   int
}

func (p *program) followCommand() *cobra.Command {
	var f followFlags
	cmd := &cobra.Command{
		Use:  "follow PATH",
		Args: cli.Args(1, 1, "name the log to follow, and nothing else"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.follow(cmd, &f, args[0]) },
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", formatText, "print the `FORMAT` text or jsonl (one update per line)")
	flags.BoolVar(&f.fromEnd, "from-end", false, "skip what is in the log now")
	flags.StringVar(&f.logFile, "log-file", "-", "write heed's own messages to `FILE`, - for standard error")
	cli.WidthFlag(cmd, &f.width, 0)
	cli.Choice(cmd, "format", formatText, formatJSONL)
	return cmd
}

func (p *program) follow(cmd *cobra.Command, f *followFlags, path string) error {
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h := &host{flags: &f.hostFlags, name: "follow", source: running(path, "", f.fromEnd)}
	if err := p.newHost(h); err != nil {
		return err
	}
	defer h.close(exitNone)
	defer context.AfterFunc(ctx, h.end)()
	var unwritten error // also of the last updates, when all else has ended
	h.session.OnUpdates(func(updates []heed.Update) {
		if unwritten == nil {
			if unwritten = p.showUpdates(updates, path, f); unwritten != nil {
				cancel(unwritten)
			}
		}
	})
	err := h.serve(ctx)
	if unwritten != nil {
		return unwritten
	}
	if err == nil {
		st := h.session.Engine().Stats()
		p.Note("%s open; %s, %s in items", text.Many(uint64(max(0, st.Coalesce.Open)), "item is", "items are"),
			text.Many(st.Received-st.Late, "entry", "entries"), text.Number(st.Folded))
	}
	return err
}

// showUpdates shows changes of attention.
func (p *program) showUpdates(updates []heed.Update, path string, f *followFlags) error {
	if f.format == formatText {
		return p.printForm(f.width, "updates", updates)
	}
	var out []byte
	for i := range updates {
		out = report.AppendUpdate(out, path, &updates[i])
	}
	return p.print(out)
}
