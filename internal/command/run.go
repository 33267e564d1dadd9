package command

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/internal/settings"
)

// The exit statuses, in the order in which they prevail.
const (
	exitOK          = cli.ExitOK
	exitFinding     = cli.ExitFinding
	exitUsage       = cli.ExitUsage
	exitIO          = 3
	exitInterrupted = cli.ExitInterrupted
)

// program is one run of the command line.
type program struct{ settings.Program }

// newProgram returns one that has not run.
func newProgram(stdin io.Reader, stdout, stderr io.Writer) *program {
	p := &program{}
	p.Program.Program = cli.Program{
		Name: settings.Offline, Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: os.Getenv, Now: time.Now, Unwritten: exitIO,
	}
	return p
}

// gcPercent keeps the heap close to what is alive. A replay makes little
// garbage, so the collector has little to do: 100 copies of a capture take as
// long with 20 as with Go's own 100, and an eighth less memory.
const gcPercent = 20

// Main runs classify-replay as a process.
func Main() {
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	// A second interrupt ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes a command line and returns the exit status. It is [Main] without
// the process, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := newProgram(stdin, stdout, stderr)
	return p.Run(ctx, p.rootCommand(), args)
}

// ioError makes an error of an input that cannot be read, or an output that cannot be
// written, to its end.
func ioError(err error) error { return cli.Failed(exitIO, err) }

// incomplete says that what is about to be shown lacks what was not read when the
// program was interrupted. Replays, pages and lists say so themselves, or end early.
func (p *program) incomplete() {
	if p.Status == exitInterrupted {
		p.Message("interrupted: what was not read by then is missing from this")
	}
}

// checkFailOn refuses a value of --fail-on that is not among those allowed, and a flag
// without any: a variable that is not set would ask for nothing, unnoticed.
func checkFailOn(cmd *cobra.Command, given []string, allowed ...string) error {
	if flag := cmd.Flags().Lookup("fail-on"); len(given) == 0 && flag != nil && flag.Changed && flag.Value.String() == "[]" {
		given = []string{""}
	}
	for _, what := range given {
		if err := cli.OneOf(cmd, "fail-on", what, allowed...); err != nil {
			return err
		}
	}
	return nil
}

// atLeastOne refuses a command line without inputs, or with standard input
// more than once.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cli.Usage(cmd, "name %s", what)
		}
		seen := false
		for _, arg := range args {
			if arg == standardInput {
				if seen {
					return cli.Usage(cmd, "standard input can be read only once")
				}
				seen = true
			}
		}
		return nil
	}
}
