package settings

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"

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

// shows reports whether a value is shown by a program: if it goes by it, or if
// a file for both sets it.
func (v *Value) shows(program string) bool { return v.Key.Of(program) || v.Origin != Default }

func (s *Settings) appendJSON(dst []byte, program string) []byte {
	rep := shown{SchemaVersion: schema.Version, Settings: []settingValue{}, Files: s.Files}
	for i := range s.Values {
		if v := &s.Values[i]; v.shows(program) {
			rep.Settings = append(rep.Settings, settingValue{
				v.Key.Name, append([]string{}, v.Items...), v.Origin, v.Where, v.Key.Program,
			})
		}
	}
	return append(text.AppendJSON(dst, text.JSON(&rep)), '\n')
}

func (s *Settings) appendText(dst []byte, program string) []byte {
	var table bytes.Buffer
	rows := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	put := func(name, value, from string) { _, _ = fmt.Fprintf(rows, "%s\t%s\t%s\n", name, value, from) }
	put("SETTING", "VALUE", "FROM")
	for i := range s.Values {
		v := &s.Values[i]
		if !v.shows(program) {
			continue
		}
		from := string(v.Origin)
		switch v.Origin {
		case Flag:
			from += " --" + v.Key.Name
		case Default:
		default:
			from += " " + v.Where
		}
		if !v.Key.Of(program) {
			from += ", for " + v.Key.Program
		}
		value := v.String()
		switch {
		case v.Key.Unset != "" && (value == "" || value == "0"):
			value = v.Key.Unset
		case value == "":
			value = "none"
		}
		put(v.Key.Name, text.Safe(value, 0), text.Safe(from, 0))
	}
	_ = rows.Flush() // a Buffer has no error
	dst = append(dst, table.Bytes()...)
	if len(s.Files) > 0 {
		dst = append(dst, '\n')
	}
	for _, f := range s.Files {
		state := "not found"
		switch {
		case f.Found:
			state = "read"
		case f.Ignored != nil:
			state = "ignored"
		}
		title := strings.ToUpper(string(f.Origin[:1])) + string(f.Origin[1:])
		dst = fmt.Appendf(dst, "%s: %s, %s\n", title, text.Safe(f.Path, 0), state)
		for _, e := range f.Ignored {
			dst = append(text.AppendSafe(append(dst, "  "...), e.Error(), 0), '\n')
		}
	}
	return dst
}
