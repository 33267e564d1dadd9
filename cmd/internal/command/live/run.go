package live

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/command"
	"github.com/heedlog/heed/cmd/internal/mcp"
	"github.com/heedlog/heed/cmd/internal/settings"
	"github.com/heedlog/heed/cmd/internal/sidecar"
	"github.com/heedlog/heed/internal/schema"
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

// program carries out the commands of one run of heed.
type program struct{ *settings.Program }

// Main runs heed as a process.
func Main() {
	cobra.MousetrapHelpText = "" // on Windows it would refuse a double click
	if asksPage(os.Args) {
		os.Exit(showPage(os.Args[1:]))
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes a command line and returns the exit status. It is [Main] without the
// process, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := newProgram(stdin, stdout, stderr)
	root := p.rootCommand()
	words := replayed(root, args)
	status := p.Run(ctx, root, words)
	if cmd, _, err := root.Find(words); err == nil && cmd.Name() == hookName {
		status = hookStatus(words, status)
	}
	return status
}

// newProgram returns a run that has not begun.
func newProgram(stdin io.Reader, stdout, stderr io.Writer) *program {
	return &program{settings.NewProgram(settings.Live, exitUsage, stdin, stdout, stderr)}
}

// help has the help of all commands.
//
//go:embed help.txt
var help string

func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "heed FILE...",
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usage(cmd, "%w", cli.FlagError(cmd, err))
	})
	grouped := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
		for _, cmd := range commands {
			cmd.GroupID = title
		}
		root.AddCommand(commands...)
	}
	host := command.Host{
		Forms: slices.Concat([]schema.Form{command.BriefForm}, bridge.Forms, historyForms),
		Open:  openPage, Fetch: newFetcher().fetch, Brief: p.askBrief, History: p.commandHistory,
	}
	grouped("For saved logs:", command.Commands(p.Program, host)...)
	grouped("Beside a running game:", p.wrapCommand(), p.mcpCommand(), p.hookCommand(), p.acpCommand(),
		p.followCommand(), p.serveCommand(),
		p.currentCommand(), p.ackCommand(), p.tailCommand(), p.statusCommand(), p.sidecarCommand())
	const others = "Other commands:"
	grouped(others, p.historyCommand(), p.ConfigCommand(), p.VersionCommand())
	cli.Group(root)
	root.SetHelpCommandGroupID(others)
	root.SetCompletionCommandGroupID(others)
	cli.Describe(root, help, mcp.Clients)
	p.Flags(root, "print more about what is done")
	return root
}

// replayed returns args with "replay" before them if they are empty, name a log, or have a flag of replay in the place
// of a command.
func replayed(root *cobra.Command, args []string) []string {
	if len(args) == 0 {
		return []string{"replay"}
	}
	if slices.Contains(args, "--help") || slices.Contains(args, "-h") || args[0] == "--version" {
		return args
	}
	if cmd, _, err := root.Find(args); err != nil || cmd != root || strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return args
	}
	if word := args[0]; !strings.HasPrefix(word, "-") && !strings.ContainsAny(word, `./\*?[{`) {
		if _, err := os.Stat(word); err != nil {
			return args // no such command
		}
	}
	return append([]string{"replay"}, args...)
}

// sidecarCommand is the command that a mod inside a game starts.
func (p *program) sidecarCommand() *cobra.Command {
	return &cobra.Command{
		Use:  "sidecar",
		Args: cobra.NoArgs,
		// A mod has its own settings.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(*cobra.Command, []string) error {
			err := sidecar.RunServer("heed sidecar", p.Stdin, p.Stdout)
			if errors.Is(err, sidecar.ErrTerminal) {
				return cli.Failed(exitUsage, err)
			}
			return err
		},
	}
}

// otherwise gives an error an exit status, unless it has one.
func otherwise(status int, err error) error {
	if _, decided := errors.AsType[*cli.StatusError](err); decided {
		return err
	}
	return cli.Failed(status, err)
}

// pageName is the name under which heed is the program of a double click: a link to heed in the archive for Linux.
const pageName = "heed-page"

// asksPage reports whether this process is a double click, or files that were dropped on the program: by its name, or
// on Windows by a console of its own.
func asksPage(args []string) bool {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(args[0])), ".exe")
	notFile := func(word string) bool {
		_, err := os.Stat(word)
		return err != nil
	}
	return name == pageName || ownConsole() && cli.IsTerminal(os.Stdout) && !slices.ContainsFunc(args[1:], notFile)
}

// showPage writes a page about logs, or about the newest of the game, and opens it. Whatever becomes of it can be
// read: a window waits before it closes, and without one the messages of a failure are shown as a page would be.
func showPage(logs []string) int {
	var stderr io.Writer = os.Stderr
	var said bytes.Buffer
	if !cli.IsTerminal(os.Stderr) {
		stderr = io.MultiWriter(&said, os.Stderr) // which may be closed
	}
	args := append([]string{"report", "--open", "--"}, logs...)
	status := run(context.Background(), args, os.Stdin, os.Stdout, stderr)
	switch home, err := os.UserHomeDir(); {
	case cli.IsTerminal(os.Stdin):
		fmt.Print("Press Enter to close this window. ")
		_, _ = fmt.Scanln()
	case status != exitOK && said.Len() > 0 && err == nil:
		note := filepath.Join(home, pageName+".txt")
		if os.WriteFile(note, said.Bytes(), 0o600) == nil {
			_ = openPage(note) // there is no other way to report
		}
	}
	return status
}
