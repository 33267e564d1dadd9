package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/safetext"
	"github.com/heedlog/heed/internal/settings"
)

func (p *program) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show what is configured",
		Long: `What can be configured has one name everywhere. From the strongest to the weakest:

  flags             --top 30
  environment       HEED_TOP=30; lists: HEED_FAIL_ON=blocking,blind, and HEED_RULES
                    with files separated as in PATH
  project's file    .heed.yaml in the working directory or the nearest above it
  user's file       heed/config.yaml where the system keeps configuration
                    (~/.config, ~/Library/Application Support, %AppData%)
  defaults

A file is YAML with a key in a line, such as "top: 30" or "rules: [mine.yaml]"; its
paths are taken from its own directory. What is wrong in one is an error with its
place, and nothing is done. --no-config leaves all but flags out.`,
		Example: `  classify-replay config show`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(cmd, "config has no command %q", args[0])
			}
			return usage(cmd, "name a command: show")
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(p.configShowCommand())
	return cmd
}

func (p *program) configShowCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show each setting, its value and where that comes from",
		Long: `show prints each setting with its value and where that comes from, and the files
that were looked for. It takes the flags that can be configured, so that their
effect can be seen, too.`,
		Example: `  classify-replay config show
  HEED_COLOR=never classify-replay config show --top 30
  classify-replay config show --format json | jq -r '.settings[] | select(.origin != "default").name'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(cmd, "config show takes no argument, and was given %q", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf(cmd, "format", format, formatText, formatJSON); err != nil {
				return err
			}
			out := &output{w: p.stdout}
			if format == formatJSON {
				out.buf = appendJSON(out.buf, shownSettings(p.settings))
			} else {
				out.buf = appendSettings(out.buf, p.settings)
			}
			if !out.flush() {
				return inputError(fmt.Errorf("cannot write the settings: %w", out.err))
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&format, "format", formatText, "write the `FORMAT` text or json")
	completes(cmd, "format", formatText, formatJSON)
	for _, key := range settings.Keys() {
		switch key.Name {
		case "color", "quiet", "verbose":
			continue // every command has them
		}
		switch key.Kind {
		case settings.Bool:
			flags.Bool(key.Name, key.Default == "true", key.Help)
		case settings.Number:
			n, err := strconv.Atoi(key.Default)
			if err != nil {
				panic("BUG: the default of " + key.Name + " is no number")
			}
			flags.Int(key.Name, n, key.Help)
		case settings.Word:
			flags.String(key.Name, key.Default, key.Help)
		case settings.Words:
			flags.StringSlice(key.Name, nil, key.Help)
		case settings.Paths:
			flags.StringArray(key.Name, nil, key.Help)
		}
	}
	return cmd
}

// The JSON form of what is configured.
type (
	configReport struct {
		Settings []configValue `json:"settings"`
		Files    []configFile  `json:"files"`
	}
	configValue struct {
		Name   string   `json:"name"`
		Value  []string `json:"value"`
		Origin string   `json:"origin"`
		Where  string   `json:"where,omitempty"`
	}
	configFile struct {
		Path   string `json:"path"`
		Origin string `json:"origin"`
		Found  bool   `json:"found"`
	}
)

func shownSettings(s *settings.Settings) *configReport {
	rep := &configReport{Settings: []configValue{}, Files: []configFile{}}
	for i := range s.Values {
		v := &s.Values[i]
		rep.Settings = append(rep.Settings, configValue{v.Key.Name, append([]string{}, v.Items...), v.Origin.String(), v.Where})
	}
	for _, f := range s.Files {
		rep.Files = append(rep.Files, configFile{f.Path, f.Origin.String(), f.Found})
	}
	return rep
}

// appendSettings appends the text form.
func appendSettings(dst []byte, s *settings.Settings) []byte {
	rows := [][3]string{{"SETTING", "VALUE", "FROM"}}
	for i := range s.Values {
		v := &s.Values[i]
		from := v.Origin.String()
		switch v.Origin {
		case settings.Flag:
			from += " --" + v.Key.Name
		case settings.Default:
		default:
			from += " " + v.Where
		}
		value := v.String()
		if value == "" {
			value = "none"
		}
		rows = append(rows, [3]string{v.Key.Name, safetext.Text(value, 0), safetext.Text(from, 0)})
	}
	var width [2]int
	for _, r := range rows {
		for i := range width {
			width[i] = max(width[i], min(len(r[i]), 40))
		}
	}
	for _, r := range rows {
		dst = fmt.Appendf(dst, "%-*s  %-*s  %s\n", width[0], r[0], width[1], r[1], r[2])
	}
	dst = append(dst, '\n')
	for _, f := range s.Files {
		state := "not there"
		if f.Found {
			state = "read"
		}
		dst = fmt.Appendf(dst, "%s: %s, %s\n", strings.ToUpper(f.Origin.String()[:1])+f.Origin.String()[1:], safetext.Text(f.Path, 0), state)
	}
	return dst
}
