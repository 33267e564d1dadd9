package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/internal/safetext"
	"github.com/heedlog/heed/internal/settings"
	"github.com/heedlog/heed/rules"
)

// The exit statuses, in the order in which they prevail.
const (
	exitOK          = 0
	exitFinding     = 1
	exitUsage       = 2
	exitInput       = 3
	exitInterrupted = 130
)

// program is one run of the command line.
type program struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	now    func() time.Time // for dates, and for how long a reading took
	status int

	common
}

// run executes a command line and returns the exit status. It is main without
// the process, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr, now: time.Now}
	p.getenv = os.Getenv
	root := p.rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	help := &output{w: stdout}
	root.SetOut(help)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if !help.flush() { // the parser prints help and version, and does not look
		err = inputError(fmt.Errorf("cannot write: %w", help.err))
	}
	if err != nil {
		p.fail(err)
	}
	return p.status
}

// raise sets the exit status unless a higher one is set.
func (p *program) raise(status int) { p.status = max(p.status, status) }

// statusError is an error that decides the exit status.
type statusError struct {
	status int
	err    error
	next   string // where to read on, a message of its own
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

func inputError(err error) error { return &statusError{status: exitInput, err: err} }

// fail reports err on standard error and raises the status that it asks for.
// Errors of the command line parser ask for none: they are wrong usage.
func (p *program) fail(err error) {
	if errors.Is(err, context.Canceled) { // not an error: it was asked for
		p.raise(exitInterrupted)
		return
	}
	status, next := exitUsage, ""
	if s, ok := errors.AsType[*statusError](err); ok {
		status, next = s.status, s.next
	}
	p.raise(status)
	if list, ok := errors.AsType[rules.Errors](err); ok {
		for _, e := range list {
			p.message("%s", e)
		}
		return
	}
	if list, ok := errors.AsType[settings.Errors](err); ok {
		for _, e := range list {
			p.message("%s", e)
		}
		p.message(`nothing was done; correct it, or add --no-config to go on without`)
		return
	}
	p.message("%s", err)
	if next != "" {
		p.message("%s", next)
	}
}

// incomplete says that what is about to be shown lacks what was not read when the
// program was interrupted. Replays, pages and lists say so themselves, or end early.
func (p *program) incomplete() {
	if p.status == exitInterrupted {
		p.message("interrupted: what was not read by then is missing from this")
	}
}

// message prints one message on standard error, as one line. Names of files and
// text of rules in it may come from anywhere, and may hold a line feed.
func (p *program) message(format string, args ...any) {
	out := safetext.AppendText([]byte("classify-replay: "), fmt.Sprintf(format, args...), 0)
	out = append(out, '\n')
	// Nobody is left to be told when standard error is gone.
	_, _ = p.stderr.Write(out)
}

// usage makes an error of the command line that names the way out.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return &statusError{exitUsage, fmt.Errorf(format, args...), fmt.Sprintf("see %q", cmd.CommandPath()+" --help")}
}

// atLeastOne refuses a command line without inputs, or with standard input
// more than once.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage(cmd, "name %s", what)
		}
		seen := false
		for _, arg := range args {
			if arg == standardInput {
				if seen {
					return usage(cmd, "standard input can be read only once")
				}
				seen = true
			}
		}
		return nil
	}
}

// oneOf refuses a value of a flag that is not among those allowed.
func oneOf(cmd *cobra.Command, flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	meant := ""
	if near := cli.Nearest(value, allowed); near != "" {
		meant = fmt.Sprintf("; did you mean %q?", near)
	}
	return usage(cmd, "--%s %q: use one of %s%s", flag, value, strings.Join(allowed, ", "), meant)
}
