package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/internal/proc"
	"github.com/heedlog/heed/internal/safetext"
	"github.com/heedlog/heed/rules"
)

// The exit statuses; see the package documentation.
const (
	exitOK          = 0
	exitFinding     = 1
	exitUsage       = 2
	exitNone        = 3
	exitOwn         = 125
	exitCannotStart = 126
	exitNotFound    = 127
	exitInterrupted = 130
)

// program is one run of the command line.
type program struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
	now    func() time.Time
	status int
}

// run executes a command line and returns the exit status. It is main without the
// process, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv, now: time.Now}
	root := p.rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		p.fail(err)
	}
	return p.status
}

func (p *program) rootCommand() *cobra.Command {
	info, _ := debug.ReadBuildInfo()
	root := &cobra.Command{
		Use:           "heed",
		Short:         "Turns the log flood of a running game into attention for the agent that acts on it",
		Version:       cli.Version(info),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(cmd, "%w", err) })
	root.AddCommand(
		p.wrapCommand(), p.followCommand(), p.serveCommand(),
		p.currentCommand(), p.ackCommand(), p.tailCommand(), p.statusCommand(),
		p.guardCommand(),
	)
	return root
}

// guardCommand is what "heed wrap" starts beside the game.
func (p *program) guardCommand() *cobra.Command {
	return &cobra.Command{
		Use:    guardName,
		Short:  "Kills what it watches when the process that started it is gone",
		Hidden: true,
		Args:   cobra.NoArgs,
		Run:    func(*cobra.Command, []string) { proc.Guard(p.stdin) },
	}
}

const guardName = "guard"

// version is that of the module, where the build says it: what peers are told.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// statusError is an error that decides the exit status. Without err it says
// nothing.
type statusError struct {
	status int
	err    error
	next   string // where to read on, a message of its own
}

func (e *statusError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

// failed makes an error with an exit status.
func failed(status int, err error) error { return &statusError{status: status, err: err} }

// usage makes an error of the command line that names the way out.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return &statusError{exitUsage, fmt.Errorf(format, args...), fmt.Sprintf("see %q", cmd.CommandPath()+" --help")}
}

// fail reports err on standard error and sets the exit status that it asks for.
// Errors of the command line parser ask for none: they are wrong usage.
func (p *program) fail(err error) {
	p.status = exitUsage
	next := ""
	if s, ok := errors.AsType[*statusError](err); ok {
		p.status, next = s.status, s.next
		if s.err == nil {
			return
		}
	} else if errors.Is(err, context.Canceled) {
		p.status = exitInterrupted
		return
	}
	if list, ok := errors.AsType[rules.Errors](err); ok {
		for _, e := range list {
			p.message("%s", e)
		}
		return
	}
	p.message("%s", err)
	if next != "" {
		p.message("%s", next)
	}
}

// message prints one message on standard error, as one line.
func (p *program) message(format string, args ...any) {
	out := safetext.AppendText([]byte("heed: "), fmt.Sprintf(format, args...), 0)
	// Nobody is left to be told when standard error is gone.
	_, _ = p.stderr.Write(append(out, '\n'))
}
