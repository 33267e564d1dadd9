package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/internal/settings"
)

// common is what every command has: the flags about messages and color, and what
// is configured.
type common struct {
	getenv   func(string) string
	settings *settings.Settings
	screen   *cli.Screen // of standard error; nil where no progress is shown
	color    bool        // on standard output

	colorMode      string
	quiet, verbose bool
	noConfig       bool
}

// commonFlags adds the flags to the root command, and sees that they, and what is
// configured, have their effect before any command runs.
func (p *program) commonFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&p.colorMode, "color", cli.ColorAuto, "use colors `WHEN`: auto (on a terminal, as NO_COLOR and CLICOLOR_FORCE have it), always or never")
	flags.BoolVarP(&p.quiet, "quiet", "q", false, "no messages but errors, and no progress")
	flags.BoolVarP(&p.verbose, "verbose", "v", false, "say what is read, from where, and how long it took")
	flags.BoolVar(&p.noConfig, "no-config", false, "read no .heed.yaml, no file of the user and no HEED_ variable")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return p.configure(cmd) }
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	for _, key := range settings.Keys() {
		if len(key.Values) > 0 {
			completesAll(root, key.Name, key.Values)
		}
	}
}

// configure takes in what is configured for the flags that a command has and was
// not given.
func (p *program) configure(cmd *cobra.Command) error {
	src := settings.Sources{Getenv: p.getenv}
	if p.noConfig {
		src.Getenv = func(string) string { return "" }
	} else {
		// Without a directory of either kind there is no file in it.
		src.Dir, _ = os.Getwd()
		src.UserDir, _ = os.UserConfigDir()
	}
	s, err := settings.Load(src)
	if err != nil {
		return err
	}
	p.settings = s
	if err := s.Apply(cmd.Flags()); err != nil {
		return err
	}
	// A path that is on the command line is looked for when it is used.
	if v := s.Value("rules"); v.Origin > settings.Default && v.Origin < settings.Flag && cmd.Flags().Lookup(v.Key.Name) != nil {
		for _, path := range v.Items {
			if _, err := os.Stat(path); err != nil {
				return settings.Errors{{Place: v.Where, Text: fmt.Sprintf("rules names %s, which cannot be read: name a rule file, or a folder of them", path)}}
			}
		}
	}
	if err := oneOf(cmd, "color", p.colorMode, cli.Colors()...); err != nil {
		return err
	}
	if quiet, verbose := s.Value("quiet"), s.Value("verbose"); p.quiet && p.verbose {
		if quiet.Origin == verbose.Origin {
			return usage(cmd, "--quiet and --verbose: choose one")
		}
		p.quiet = quiet.Origin > verbose.Origin
		p.verbose = !p.quiet
	}
	p.color = cli.Color(p.colorMode, p.getenv, p.stdout)
	if !p.quiet {
		p.screen = cli.NewScreen(p.stderr, p.getenv)
		p.stdout, p.stderr = p.screen.Over(p.stdout), p.screen.Over(p.stderr)
	}
	for _, f := range s.Files {
		if f.Found {
			p.detail("settings of the %s %s", f.Origin, f.Path)
		}
	}
	return nil
}

// note prints a message that --quiet silences.
func (p *program) note(format string, args ...any) {
	if !p.quiet {
		p.message(format, args...)
	}
}

// detail prints a message that --verbose asks for.
func (p *program) detail(format string, args ...any) {
	if p.verbose {
		p.message(format, args...)
	}
}

// flagError says what is wrong with a flag, and what would be right.
func flagError(cmd *cobra.Command, err error) error {
	return usage(cmd, "%w", cli.FlagError(cmd, err))
}

// version says what was built.
func version() string {
	info, _ := debug.ReadBuildInfo()
	return cli.Version(info)
}
