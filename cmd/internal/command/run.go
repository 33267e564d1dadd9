package command

import (
	"context"
	_ "embed"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/settings"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/rules"
)

// The exit statuses, in the order in which they prevail.
const (
	exitOK          = cli.ExitOK
	exitFinding     = cli.ExitFinding
	exitUsage       = cli.ExitUsage
	exitIO          = 3
	exitInterrupted = cli.ExitInterrupted
)

// program carries out the commands of one run of a program.
type program struct {
	*settings.Program
	flags

	host    Host                // the program that mounts the commands
	fetched map[string]*fetched // logs at addresses, by the names of named
	mods    []heed.Mod          // of the folders of --mods; nil before they were read
	formats []string            // of the output, the format of standard output first
	texts   map[string]string   // of the reader's language, since the first document; nil for English
}

// Host has the functions and forms of the program that mounts the commands. The zero Host is the small program, which
// uses no network and starts no program.
type Host struct {
	Forms []schema.Form // of output beyond theirs

	// Fetch reads the log that is shared at an address.
	Fetch func(ctx context.Context, address string) ([]byte, error)

	// Open shows a page in the browser. file is absolute.
	Open func(file string) error

	// History opens the history in a file, which it makes where there is none, and notes what became of it and of
	// sessions without an end.
	History func(ctx context.Context, path string) (History, error)

	// Brief makes the command "brief" also ask a running program, where its argument names no log: it adds flags to the
	// command, and returns a function that asks about an item, "" for all open items.
	Brief func(cmd *cobra.Command) func(cmd *cobra.Command, item string, b *Brief) error
}

// Main runs classify-replay as a process.
func Main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run executes a command line of classify-replay and returns the exit status. It is [Main]
// without the process, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := newProgram(stdin, stdout, stderr)
	return p.Run(ctx, p.rootCommand(), args)
}

// newProgram returns a run of classify-replay that has not begun.
func newProgram(stdin io.Reader, stdout, stderr io.Writer) *program {
	return &program{Program: settings.NewProgram(settings.Offline, exitIO, stdin, stdout, stderr)}
}

// rootCommand makes the command line of classify-replay: a replay, and the other commands
// below it.
func (p *program) rootCommand() *cobra.Command {
	all := p.commands()
	root, rest := all[0], all[1:]
	root.Use = settings.Offline + " FILE..."
	root.AddCommand(rest...)
	root.AddCommand(p.ConfigCommand(), p.VersionCommand())
	renamed(root, rest)
	p.Flags(root, verbose)
	return root
}

// help has the help of all commands.
//
//go:embed help.txt
var help string

// verbose is the help of --verbose.
const verbose = "print what is read, from where, and how long it took"

// Commands makes the commands that read captured logs, the first of them replay, for a program
// that mounts them below its root.
func Commands(p *settings.Program, host Host) []*cobra.Command {
	own := &program{Program: p, host: host}
	return own.commands(own.briefCommand(), own.fleetCommand())
}

// commands makes the commands of both programs, replay first, and completes them and others.
func (p *program) commands(others ...*cobra.Command) []*cobra.Command {
	all := append([]*cobra.Command{
		p.replayCommand(), p.explainCommand(), p.recordsCommand(), p.signaturesCommand(), p.reportCommand(),
		p.logDiffCommand(), p.baselineCommand(), p.suspectsCommand(), p.rulesCommand(), p.schemaCommand(),
	}, others...)
	for _, cmd := range all {
		cli.Describe(cmd, help, &p.host)
		cmd.SetFlagErrorFunc(flagError)
		p.finish(cmd)
	}
	return all
}

// flagError is [cli.FlagError] that knows places in standard input, such as -:3.
func flagError(cmd *cobra.Command, err error) error {
	if strings.Contains(err.Error(), "':' in -:") {
		return cli.Usage(cmd, `a word that begins with a dash is a flag: write a place in standard input after "--", such as %s -- -:3`, cmd.CommandPath())
	}
	return cli.Usage(cmd, "%w", cli.FlagError(cmd, err))
}

// finish completes cmd and all commands below it. At an interrupt they print the results so far; a second interrupt
// ends the process at once. Their help names the exit statuses.
func (p *program) finish(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		p.finish(c)
	}
	if cmd.HasSubCommands() {
		return
	}
	if !strings.Contains(strings.ToLower(cmd.Long), "exit status") && !strings.Contains(cmd.Long, "exits with") {
		cmd.Long += `

Exit status as of heed replay: 0 done, 2 wrong usage, 3 a file that could not be
read or written to its end, 130 interrupted.`
	}
	p.output = standardInput
	if cmd.Flags().Lookup(outputFlag) == nil && cmd.Flags().Lookup("format") != nil {
		cmd.Flags().StringVarP(&p.output, outputFlag, "o", standardInput, "write the output to `FILE`, - for standard output")
	}
	do := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
		defer stop()
		context.AfterFunc(ctx, stop)
		cmd.SetContext(ctx)
		p.formats = formatsOf(cmd)
		return p.toFile(cmd, args, do)
	}
}

// renamed makes the help of all commands below root, which is written for heed, name the root's
// own program, whose root is the replay.
func renamed(root *cobra.Command, commands []*cobra.Command) {
	pairs := []string{"heed replay", root.Name()}
	for _, c := range commands {
		pairs = append(pairs, "heed "+c.Name(), root.Name()+" "+c.Name())
	}
	names := strings.NewReplacer(pairs...)
	var rename func(*cobra.Command)
	rename = func(cmd *cobra.Command) {
		cmd.Long, cmd.Example = names.Replace(cmd.Long), names.Replace(cmd.Example)
		for _, c := range cmd.Commands() {
			rename(c)
		}
	}
	rename(root)
}

// ioError makes an error of an input that cannot be read, or an output that cannot be
// written, to its end.
func ioError(err error) error { return cli.Failed(exitIO, err) }

// incomplete notes after an interrupt that the output lacks the unread rest. Replays, pages and lists note that
// themselves, or end early.
func (p *program) incomplete() {
	if p.Status == exitInterrupted {
		p.Message("interrupted: the output covers only what was read before")
	}
}

// BriefForm is the JSON form of a brief.
var BriefForm = schema.Object("brief", "brief", BriefDocument{})

// forms are the JSON forms of the commands of this package, in addition to the forms of package report.
var forms = []schema.Form{
	schema.Object("explain", "explain", explanation{}),
	schema.Object("rules-diff", "rules diff", diffReport{}),
	settings.Form,
}

// templateSchema is the name of the schema of a briefing's template: of input.
const templateSchema = "template"

// allForms returns the JSON forms of all commands.
func (p *program) allForms() []schema.Form { return slices.Concat(report.Forms, forms, p.host.Forms) }

func (p *program) schemaCommand() *cobra.Command {
	var names []string
	for _, f := range p.allForms() {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	names = append(names, templateSchema)
	return &cobra.Command{
		Use:       "schema [NAME]",
		ValidArgs: names,
		Args:      cli.Args(0, 1, "name one schema"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "replay"
			if len(args) > 0 {
				name = args[0]
			}
			if name == templateSchema {
				return p.Print("the schema", briefing.Schema())
			}
			f := schema.Find(p.allForms(), name)
			if f == nil {
				return cli.Usage(cmd, "there is no schema %q%s", name, cli.Meant(name, names))
			}
			return p.Print("the schema", f.JSON())
		},
	}
}

func (p *program) rulesSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:  "schema",
		Args: cli.NoArgs("rules schema"),
		RunE: func(*cobra.Command, []string) error {
			return p.Print("the schema", rules.Schema())
		},
	}
}
