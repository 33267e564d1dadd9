package main

import (
	"context"
	"io"
	"os"
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
	exitInput       = 3
	exitInterrupted = cli.ExitInterrupted
)

// program is one run of the command line.
type program struct{ settings.Program }

// newProgram returns one that has not run.
func newProgram(stdin io.Reader, stdout, stderr io.Writer) *program {
	p := &program{}
	p.Program.Program = cli.Program{
		Name: settings.Offline, Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: os.Getenv, Now: time.Now, Unwritten: exitInput,
	}
	return p
}

// run executes a command line and returns the exit status. It is main without
// the process, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := newProgram(stdin, stdout, stderr)
	return p.Run(ctx, p.rootCommand(), args)
}

func inputError(err error) error { return cli.Failed(exitInput, err) }

// incomplete says that what is about to be shown lacks what was not read when the
// program was interrupted. Replays, pages and lists say so themselves, or end early.
func (p *program) incomplete() {
	if p.Status == exitInterrupted {
		p.Message("interrupted: what was not read by then is missing from this")
	}
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
