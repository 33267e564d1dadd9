package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/text"
)

// The exit statuses that every program of the project has, in addition to its own.
const (
	ExitOK          = 0
	ExitFinding     = 1 // a finding that the user asked about
	ExitUsage       = 2 // wrong usage, or rules or settings that do not load
	ExitInterrupted = 130
)

// Program is one run of a command line: its streams, its messages, and its exit status.
// It is for the goroutine that runs the command.
type Program struct {
	Name   string // before each message
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Now    func() time.Time

	Unwritten int // the exit status where help, a script or settings cannot be written

	// The values of the flags of every command; see [Program.Flags]. [Program.Appearance] sets Color.
	Quiet, Verbose bool
	ColorMode      string
	Color          bool // on standard output

	Status int // how the process ends: the highest that was raised

	help bytes.Buffer // of the parser, which prints help, versions and scripts, and does not look how that went
}

// StatusError is an error that decides the exit status.
type StatusError struct {
	Status int
	Err    error
	Next   string // the next step, a message of its own; "" for none
}

// Error implements error.
func (e *StatusError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *StatusError) Unwrap() error { return e.Err }

// Failed makes an error with an exit status.
func Failed(status int, err error) error { return &StatusError{Status: status, Err: err} }

// Usage makes an error of the command line that names the way out.
func Usage(cmd *cobra.Command, format string, args ...any) error {
	return &StatusError{ExitUsage, fmt.Errorf(format, args...), fmt.Sprintf("see %q", cmd.CommandPath()+" --help")}
}

// OneOf refuses a value of a flag that is not among those allowed.
func OneOf(cmd *cobra.Command, flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return Usage(cmd, "--%s %q: use one of %s%s", flag, value, strings.Join(allowed, ", "), Meant(value, allowed))
}

// Meant returns the end of a message that asks whether one of the words that are allowed was meant; "" if none is near.
func Meant(word string, allowed []string) string {
	if near := text.Nearest(word, allowed); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// Run executes a command line and returns the exit status.
func (p *Program) Run(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(append([]string{}, args...)) // nil means the arguments of the process
	root.SetIn(p.Stdin)
	root.SetErr(p.Stderr)
	err := root.ExecuteContext(ctx)
	if p.help.Len() > 0 {
		err = cmp.Or(p.Print("", p.help.Bytes()), err)
	}
	if err != nil {
		p.Fail(err)
	}
	return p.Status
}

// Raise sets the exit status unless a higher one is set.
func (p *Program) Raise(status int) { p.Status = max(p.Status, status) }

// Fail reports err on standard error and raises the status that results.
// Errors of the command line parser ask for none: they are wrong usage. An error of
// several, such as all that is wrong with a rule file, is a message for each.
func (p *Program) Fail(err error) {
	if errors.Is(err, context.Canceled) { // not an error: it was asked for
		p.Raise(ExitInterrupted)
		return
	}
	if errors.Is(err, ErrReaderGone) {
		return
	}
	status, next := ExitUsage, ""
	if s, ok := errors.AsType[*StatusError](err); ok {
		status, next = s.Status, s.Next
		if err.Error() == s.Error() { // nothing is wrapped around it
			err = s.Err
		}
	}
	p.Raise(status)
	for _, e := range each(err) {
		p.Message("%s", e)
	}
	if next != "" {
		p.Message("%s", next)
	}
}

// each returns the errors that err is a list of, such as of [errors.Join]: where its text is
// theirs, a line for each. Any other error is one.
func each(err error) []error {
	list, ok := err.(interface{ Unwrap() []error }) // no deeper list: an error around a list has more text
	if !ok {
		return []error{err}
	}
	all := list.Unwrap()
	lines := make([]string, len(all))
	for i, e := range all {
		lines[i] = e.Error()
	}
	if strings.Join(lines, "\n") != err.Error() {
		return []error{err}
	}
	return all
}

// Message prints one message on standard error, as one line. Names of files and
// text of rules in it may come from anywhere, and may hold a line feed.
func (p *Program) Message(format string, args ...any) {
	out := text.AppendSafe([]byte(p.Name+": "), fmt.Sprintf(format, args...), 0)
	// There is no way to report that standard error is gone.
	_, _ = p.Stderr.Write(append(out, '\n'))
}

// Note prints a message that --quiet silences.
func (p *Program) Note(format string, args ...any) {
	if !p.Quiet {
		p.Message(format, args...)
	}
}

// Print writes to standard output. An error calls it what, such as "the report", or "".
func (p *Program) Print(what string, data []byte) error {
	_, err := p.Stdout.Write(data)
	return CannotWrite(p.Unwritten, what, err)
}

// Detail prints a message with --verbose only.
func (p *Program) Detail(format string, args ...any) {
	if p.Verbose {
		p.Message(format, args...)
	}
}

// Flags adds to the root command the flags that every command has, with verbose as the help of --verbose, and changes
// defaults of cobra.
func (p *Program) Flags(root *cobra.Command, verbose string) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = fmt.Sprintf("%s (%s, %s/%s)", ModuleVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	columns, _ := Size(p.Stdout)
	fitHelp(root, columns)
	root.SetOut(&p.help)
	root.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault) // a file is as good as a command
	p.completionCommand(root)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = func(_ *cobra.Command, args []string) error { return knownCommand(root, args) }
	}
	flags := root.PersistentFlags()
	flags.StringVar(&p.ColorMode, "color", ColorAuto, "use colors `WHEN`: auto (on a terminal, subject to NO_COLOR and CLICOLOR_FORCE), always or never")
	Completes(root, "color", Colors()...)
	flags.BoolVarP(&p.Quiet, "quiet", "q", false, "print only errors, and no progress")
	flags.BoolVarP(&p.Verbose, "verbose", "v", false, verbose)
}

// knownCommand refuses the words after "help" that name no command: the parser would
// take them for arguments, and print the help of the root.
func knownCommand(root *cobra.Command, args []string) error {
	found, rest, err := root.Find(args)
	if err != nil || len(rest) == 0 {
		return err
	}
	return noCommand(found, rest[0])
}

// Appearance applies the flags of colors and messages, and refuses those that exclude each other.
func (p *Program) Appearance(cmd *cobra.Command) error {
	if err := OneOf(cmd, "color", p.ColorMode, Colors()...); err != nil {
		return err
	}
	if p.Quiet && p.Verbose {
		return Usage(cmd, "--quiet and --verbose: choose one")
	}
	p.Color = Color(p.ColorMode, p.Getenv, p.Stdout)
	return nil
}

// ModuleVersion is the version of the running program, which it reports to peers: of its tag, or else with its commit.
func ModuleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
