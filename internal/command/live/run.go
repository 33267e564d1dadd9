package live

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/internal/proc"
	"github.com/heedlog/heed/internal/settings"
)

// The exit statuses; see the documentation of cmd/heed.
const (
	exitOK          = cli.ExitOK
	exitFinding     = cli.ExitFinding
	exitUsage       = cli.ExitUsage
	exitNone        = 3
	exitOwn         = 125
	exitCannotStart = 126
	exitNotFound    = 127
	exitInterrupted = cli.ExitInterrupted
)

// program is one run of the command line.
type program struct{ settings.Program }

// newProgram returns one that has not run.
func newProgram(stdin io.Reader, stdout, stderr io.Writer) *program {
	p := &program{}
	p.Program.Program = cli.Program{
		Name: settings.Live, Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: os.Getenv, Now: time.Now, Unwritten: exitUsage,
	}
	return p
}

// Main runs heed as a process.
func Main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run executes a command line and returns the exit status. It is [Main] without the
// process, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := newProgram(stdin, stdout, stderr)
	return p.Run(ctx, p.rootCommand(), args)
}

func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "heed",
		Short: "Turn the log flood of a running game into attention for the agent that acts on it",
		Long: `heed stands beside a running game and turns the flood of its log into attention for
the agent that plays or tests it: a fault that the log tells of holds the agent's next
call back until the agent has looked.

"heed wrap" stands between a game and its bridge, "heed serve" lets a bridge attach,
"heed follow" only prints. The others ask a heed that runs: "heed status" is for
whoever watches. What is configured (flags, HEED_ variables, .heed.yaml) is told by
"heed config show".

Exit status of wrap: the game's; 128 and the number of the signal that ended it; or 125
where heed itself could not do its work, 126 where the game's program cannot be started,
127 where it was not found, 2 where it was not started. Of the others: 0 done; 1 a finding:
something blocking is open (current), or it was not acknowledged (ack); 2 wrong usage, or
rules or settings that do not load; 3 no running heed was found, or it does not answer;
130 interrupted.`,
		Example: `  heed wrap -- ./Colony -popupwindow
  heed serve Player.log
  heed follow Player.log
  heed status
  heed tail --follow --least advisory`,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return cli.Usage(cmd, "%w", cli.FlagError(cmd, err)) })
	cli.Group(root,
		p.wrapCommand(), p.followCommand(), p.serveCommand(),
		p.currentCommand(), p.ackCommand(), p.tailCommand(), p.statusCommand(),
		p.ConfigCommand(), p.CompletionCommand(),
		p.guardCommand(),
	)
	p.Flags(root, "say more of what is done")
	return root
}

// guardCommand is what "heed wrap" starts beside the game.
func (p *program) guardCommand() *cobra.Command {
	return &cobra.Command{
		Use:    guardName,
		Short:  "Kills what it watches when the process that started it is gone",
		Hidden: true,
		Args:   cobra.NoArgs,
		// Whatever is configured, right or wrong, the game goes with heed.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		Run:               func(*cobra.Command, []string) { proc.Guard(p.Stdin) },
	}
}

const guardName = "guard"

// decided says whether an error is one that decides the exit status itself.
func decided(err error) bool {
	_, ok := errors.AsType[*cli.StatusError](err)
	return ok
}
