package settings

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"text/template"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/text"
)

// help has the help of the commands.
//
//go:embed help.txt
var help string

// ConfigCommand makes the command that shows the settings.
func (p *Program) ConfigCommand() *cobra.Command {
	cmd := cli.Group(&cobra.Command{Use: "config"}, p.showCommand())
	cli.Describe(cmd, help, p)
	return cmd
}

func (p *Program) showCommand() *cobra.Command {
	const text, asJSON = "text", "json"
	var format string
	cmd := &cobra.Command{
		Use:  "show",
		Args: cli.NoArgs("config show"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := p.Settings.appendText(nil, p.Name)
			if format == asJSON {
				out = p.Settings.appendJSON(nil, p.Name)
			}
			return p.Print("the settings", out)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&format, "format", text, "write the `FORMAT` text or json")
	cli.Choice(cmd, "format", text, asJSON)
	for _, key := range Keys() {
		if !key.Of(p.Name) {
			continue
		}
		switch key.Name {
		case "color", "quiet", "verbose":
			continue // every command has them
		}
		key.define(cmd)
	}
	return cmd
}

// Form is the JSON form of the settings.
var Form = schema.Object("config", "config show", shown{})

type (
	shown struct {
		SchemaVersion int            `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
		Settings      []settingValue `json:"settings" jsonschema:"Each setting, by name."`
		Files         []settingsFile `json:"files" jsonschema:"The files that were looked for, the weakest first."`
	}
	settingValue struct {
		Name    string   `json:"name" jsonschema:"Its name, as of the flag and in files."`
		Value   []string `json:"value" jsonschema:"Its value: any number of items for a list, else one; none if it is not set."`
		Origin  Origin   `json:"origin" jsonschema:"Where it comes from." enum:"default,user file,project file,named file,environment,flag"`
		Where   string   `json:"where,omitempty" jsonschema:"The file with line and column, or the variable."`
		Program string   `json:"program,omitempty" jsonschema:"The only program that uses it; absent if both do." enum:"heed"`
	}
)

// shown returns the values that a program shows.
func (s *Settings) shown(program string) []Value {
	return slices.DeleteFunc(slices.Clone(s.Values), func(v Value) bool {
		return !v.Key.Of(program) && v.Origin == Default
	})
}

func (s *Settings) appendJSON(dst []byte, program string) []byte {
	rep := shown{SchemaVersion: schema.Version, Settings: []settingValue{}, Files: s.Files}
	for _, v := range s.shown(program) {
		rep.Settings = append(rep.Settings, settingValue{
			v.Key.Name, append([]string{}, v.Items...), v.Origin, v.Where, v.Key.Program,
		})
	}
	return append(text.AppendJSON(dst, text.JSON(&rep)), '\n')
}

//go:embed show.txt
var showText string

// showForm is the text of the settings. Its cells end with a tab.
var showForm = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"safe":  func(s string) string { return text.Safe(s, 0) },
		"title": func(o Origin) string { return strings.ToUpper(string(o[:1])) + string(o[1:]) },
	}).Parse(showText))
})

func (s *Settings) appendText(dst []byte, program string) []byte {
	out := bytes.NewBuffer(dst)
	rows := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = rows.Write(text.Rendered(showForm(), map[string]any{
		"Settings": s.shown(program), "Files": s.Files, "Program": program,
	}))
	_ = rows.Flush() // a Buffer has no error
	return out.Bytes()
}

// From returns where the value comes from, in words.
func (v Value) From() string {
	switch v.Origin {
	case Flag:
		return "flag --" + v.Key.Name
	case Default:
		return string(Default)
	}
	return string(v.Origin) + " " + v.Where
}

// Shown returns the value in words.
func (v Value) Shown() string {
	if value := v.String(); value != "" && (value != "0" || v.Key.Unset == "") {
		return value
	}
	return cmp.Or(v.Key.Unset, "none")
}

// Program is a program whose flags can be configured.
type Program struct {
	cli.Program

	Settings *Settings // set before a command runs
	Project  string    // the project's file and the keys that it sets for the command, in words; "" if it sets none

	noConfig bool
	config   string // the file of --config
}

// NewProgram returns a run of the program of that name that has not begun. unwritten is the exit
// status if help, a script or settings cannot be written.
func NewProgram(name string, unwritten int, stdin io.Reader, stdout, stderr io.Writer) *Program {
	return &Program{Program: cli.Program{
		Name: name, Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: os.Getenv, Now: time.Now, Unwritten: unwritten,
	}}
}

// Flags adds to the root command, which has its commands, the flags that every command has. They and the settings take
// effect before any command runs. The help of --verbose is verbose.
func (p *Program) Flags(root *cobra.Command, verbose string) {
	p.Program.Flags(root, verbose)
	root.PersistentFlags().BoolVar(&p.noConfig, "no-config", false,
		"use no .heed.yaml, no file of the user and no HEED_ variable")
	root.PersistentFlags().StringVar(&p.config, "config", "",
		"read `FILE`, whoever owns it, in place of the project's .heed.yaml (also HEED_CONFIG)")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return p.configure(cmd) }
}

// configure applies the settings to the flags of a command that were not given.
func (p *Program) configure(cmd *cobra.Command) error {
	src := Sources{Getenv: p.Getenv}
	switch {
	case p.noConfig && p.config != "":
		return cli.Usage(cmd, "--config and --no-config: choose one")
	case p.noConfig:
		src.Getenv = func(string) string { return "" }
	default:
		src.File = cmp.Or(p.config, p.Getenv("HEED_CONFIG"))
		// Without a directory of either kind there is no file in it.
		src.Dir, _ = os.Getwd()
		src.UserDir, _ = os.UserConfigDir()
		src.Home, _ = os.UserHomeDir() // without one, a path that begins with ~/ is an error
	}
	s, err := Load(src)
	if err == nil {
		err = s.Apply(cmd.Flags())
	}
	if err != nil {
		return &cli.StatusError{
			Status: cli.ExitUsage, Err: err,
			Next: "nothing was done; correct it, or add --no-config to ignore all settings",
		}
	}
	p.Settings = s
	// The stronger of two that exclude each other prevails.
	if quiet, verbose := s.Value("quiet"), s.Value("verbose"); p.Quiet && p.Verbose && quiet.Origin != verbose.Origin {
		weakestFirst := []Origin{Default, User, Project, Named, Environment, Flag}
		p.Quiet = slices.Index(weakestFirst, quiet.Origin) > slices.Index(weakestFirst, verbose.Origin)
		p.Verbose = !p.Quiet
	}
	if err := p.Appearance(cmd); err != nil {
		return err
	}
	if !p.noConfig {
		p.noteUnknown()
	}
	for _, f := range s.Files {
		if f.Found {
			p.Detail("reading the %s %s", f.Origin, f.Path)
		}
		for _, ignored := range f.Ignored {
			p.Message("%s", ignored) // with --quiet, too
		}
	}
	var set []string
	for i := range s.Values {
		if v := &s.Values[i]; v.Origin == Project && cmd.Flags().Lookup(v.Key.Name) != nil {
			set = append(set, v.Key.Name)
		}
	}
	if len(set) > 0 {
		p.Project = s.Files[len(s.Files)-1].Path + " sets " + strings.Join(set, ", ")
		p.Note("the project file %s", p.Project)
	}
	return nil
}

// Placed returns an error of a setting with the place that sets it as the next step, unless that is a flag.
func (p *Program) Placed(key string, err error) error {
	if err == nil || p.Settings.Value(key).Where == "" {
		return err
	}
	return &cli.StatusError{Status: cli.ExitUsage, Err: err, Next: key + " is set in " + p.Settings.Value(key).Where}
}

// noteUnknown notes the variables of the environment that are none of heed's and have nearly the name of one.
func (p *Program) noteUnknown() {
	known := append(names(Keys()), "config", "token", "tree") // which are no settings
	for _, variable := range os.Environ() {
		variable, value, _ := strings.Cut(variable, "=")
		name, own := strings.CutPrefix(variable, "HEED_")
		if !own || value == "" {
			continue // as nearly all variables
		}
		name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		if near := text.Nearest(name, known); near != "" && !slices.Contains(known, name) {
			p.Note("%s is no variable of heed: did you mean %s?", variable, (&Key{Name: near}).Variable())
		}
	}
}

// Apply sets the flags of a parsed command line that were not given from the settings; they do not count as changed.
// The settings take the values of given flags. Settings without a flag are left as they are.
func (s *Settings) Apply(flags *pflag.FlagSet) error {
	for i := range s.Values {
		v := &s.Values[i]
		flag := flags.Lookup(v.Key.Name)
		if flag == nil {
			continue
		}
		var err error
		switch list, several := flag.Value.(pflag.SliceValue); {
		case flag.Changed && several:
			v.Origin, v.Where, v.Items = Flag, "", list.GetSlice()
		case flag.Changed:
			v.Origin, v.Where, v.Items = Flag, "", []string{flag.Value.String()}
		case v.Origin != Default && several:
			err = list.Replace(v.Items)
		case v.Origin != Default:
			err = flag.Value.Set(v.String())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.Where, err)
		}
	}
	return nil
}

// define adds the flag of a key to a command.
func (k *Key) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	switch k.Kind {
	case Bool:
		flags.Bool(k.Name, k.Default == "true", k.Help)
	case Number:
		n, _ := strconv.Atoi(k.Default) // defaults are values that may be
		flags.Int(k.Name, n, k.Help)
	case Duration:
		d, _ := time.ParseDuration(k.Default)
		flags.Duration(k.Name, d, k.Help)
	case Words:
		flags.StringSlice(k.Name, nil, k.Help)
	case Texts, Paths:
		flags.StringArray(k.Name, nil, k.Help)
	default:
		flags.String(k.Name, k.Default, k.Help)
	}
	if k.Values != nil && k.Kind != Path {
		cli.Completes(cmd, k.Name, k.Values...)
	}
}
