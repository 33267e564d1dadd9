package settings

import (
	"bytes"
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/text"
)

// ConfigCommand makes the command that shows the settings.
func (p *Program) ConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings",
		Long: `Each setting has the same name everywhere. From the strongest to the weakest:

  flags             --color never
  environment       HEED_COLOR=never; lists: HEED_FAIL_ON=blocking,blind, and
                    HEED_RULES with files separated as in PATH
  project's file    .heed.yaml in the working directory or the nearest above it in its
                    repository; in its place the FILE of --config or HEED_CONFIG
  user's file       heed/config.yaml where the system keeps configuration

A file is YAML with one key per line, such as "top: 30" or "rules: [mine.yaml]". Its paths
are relative to its own directory. --no-config uses flags only. A file of other users is
ignored, and so is each key of a project's file that does more than change how output looks
or limit time and memory. In the FILE of --config all keys count.`,
		Example: "  " + p.Name + " config show",
	}
	return cli.Group(cmd, p.showCommand())
}

func (p *Program) showCommand() *cobra.Command {
	const text, asJSON = "text", "json"
	var format string
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show each setting, its value and where it comes from",
		Long: `show prints each setting with its value and where it comes from, and the files that
were looked for. It accepts the flags of all settings, so that you can see their effect.
classify-replay shows a setting that only heed uses if a file or variable sets it.`,
		Example: strings.ReplaceAll(`  PROGRAM config show
  HEED_COLOR=never PROGRAM config show --width 100
  PROGRAM config show --format json | jq -r '.settings[] | select(.origin != "default").name'`, "PROGRAM", p.Name),
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
