package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	for i := range s.Values {
		v := &s.Values[i]
		flag := cmd.Flags().Lookup(v.Key.Name)
		switch {
		case flag == nil:
		case flag.Changed:
			v.Origin, v.Where, v.Items = settings.Flag, "", flagItems(flag)
		case v.Origin > settings.Default:
			if err := setFlag(flag, v); err != nil {
				return fmt.Errorf("%s: %w", v.Where, err)
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

// flagItems returns what a flag was given: one value, or those of a list.
func flagItems(flag *pflag.Flag) []string {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{flag.Value.String()}
}

// setFlag gives a flag what is configured. It does not count as given.
func setFlag(flag *pflag.Flag, v *settings.Value) error {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return list.Replace(v.Items)
	}
	return flag.Value.Set(v.String())
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
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		want := "a value of another form"
		switch kind := e.GetFlag().Value.Type(); kind {
		case "int":
			want = "a whole number"
			if errors.Is(err, strconv.ErrRange) {
				want = "a smaller number"
			}
		case "bool":
			want = "true or false, or nothing"
		case "stringSlice":
			want = "words with commas between them"
		}
		return usage(cmd, "--%s %q: give it %s", e.GetFlag().Name, e.GetValue(), want)
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usage(cmd, "--%s needs a value: %s", e.GetFlag().Name, firstOfUsage(e.GetFlag()))
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := e.GetSpecifiedName()
		if e.GetSpecifiedShortnames() != "" {
			return usage(cmd, "unknown flag: -%s%s", name, hintFlag(cmd, e.GetSpecifiedShortnames()))
		}
		return usage(cmd, "unknown flag: --%s%s", name, hintFlag(cmd, name))
	}
	return usage(cmd, "%w", err)
}

// firstOfUsage returns what the help says of a flag.
func firstOfUsage(flag *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(flag)
	return text
}

// hintFlag says which flag was likely meant, or which command has it.
func hintFlag(cmd *cobra.Command, name string) string {
	var names []string
	collect := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	cmd.Flags().VisitAll(collect)
	cmd.InheritedFlags().VisitAll(collect)
	if near := cli.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean --%s?", near)
	}
	var having []string
	for _, c := range allCommands(cmd.Root()) {
		if c.LocalFlags().Lookup(name) != nil && !c.Hidden {
			having = append(having, strconv.Quote(c.CommandPath()))
		}
	}
	if len(having) > 0 {
		return ": " + strings.Join(having, " and ") + " has one"
	}
	return ""
}

// allCommands returns a command and all below it, each after the one that it
// belongs to.
func allCommands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		all = append(all, allCommands(c)...)
	}
	return all
}

// version says what was built.
func version() string {
	info, _ := debug.ReadBuildInfo()
	return cli.Version(info)
}
