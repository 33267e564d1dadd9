package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heedlog/heed/internal/text"
)

// FlagError turns an error of the flags of a command into an error with the next step: the form of a value, the likely
// flag, the command with that flag.
func FlagError(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		kind := e.GetFlag().Value.Type()
		want := cmp.Or(forms[kind], "a value of another form")
		if kind == "int" && errors.Is(err, strconv.ErrRange) {
			want = "a smaller number"
		}
		return fmt.Errorf("--%s %q: give it %s", e.GetFlag().Name, e.GetValue(), want)
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		_, usage := pflag.UnquoteUsage(e.GetFlag())
		return fmt.Errorf("--%s needs a value: %s", e.GetFlag().Name, usage)
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := e.GetSpecifiedName()
		given := "--" + name
		if letters := e.GetSpecifiedShortnames(); letters != "" {
			given, name = "-"+letters, letters
			err = fmt.Errorf("unknown flag: -%s", e.GetSpecifiedName())
		} else {
			err = fmt.Errorf("unknown flag: %s", given)
		}
		if _, missing := os.Stat(given); missing == nil {
			return fmt.Errorf("%w; a word that begins with a dash is a flag: write ./%s for the file", err, given)
		}
		return fmt.Errorf("%w%s", err, hintFlag(cmd, name))
	}
	return err
}

// forms are the forms of the values of flags, by the names that pflag has for their types.
var forms = map[string]string{
	"int":         "a whole number",
	"float64":     "a number, such as 2 or 0.5",
	"duration":    "a duration, such as 500ms, 20s or 1m30s",
	"bool":        "true or false, or nothing",
	"stringSlice": "words with commas between them",
}

// Exclusive makes flags of cmd exclude each other: a command line that has several of them is refused, and a shell that
// completes one offers no other.
func Exclusive(cmd *cobra.Command, flags ...string) {
	cmd.MarkFlagsMutuallyExclusive(flags...)
	Checked(cmd, func(cmd *cobra.Command) error { // comes before cobra's own check
		var given []string
		for _, name := range flags {
			if cmd.Flags().Changed(name) {
				given = append(given, "--"+name)
			}
		}
		if len(given) > 1 {
			return Usage(cmd, "%s: choose one", strings.Join(given, " and "))
		}
		return nil
	})
}

// hintFlag returns which command has a flag, or which one was likely meant.
func hintFlag(cmd *cobra.Command, name string) string {
	var having []string
	for _, c := range commands(cmd.Root()) {
		if c.LocalFlags().Lookup(name) != nil && !c.Hidden {
			having = append(having, strconv.Quote(c.CommandPath()))
		}
	}
	if len(having) > 0 && len(having) <= MostNamed {
		return "; it is a flag of " + strings.Join(having, ", ")
	}
	var names []string
	collect := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	cmd.Flags().VisitAll(collect)
	cmd.InheritedFlags().VisitAll(collect)
	if near := text.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean --%s?", near)
	}
	return ""
}

// commands returns a command and all commands below it, each after its parent.
func commands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		all = append(all, commands(c)...)
	}
	return all
}

// Args refuses fewer words than least and more than most, with a message that names the way out.
func Args(least, most int, message string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return Usage(cmd, "%s", message)
		}
		return nil
	}
}

// NoArgs refuses words after a command, which the message calls name.
func NoArgs(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return Usage(cmd, "%s takes no argument: unexpected %q", name, args[0])
		}
		return nil
	}
}

// Checked adds a check of the flags of cmd, which comes before cmd runs and after the earlier checks.
func Checked(cmd *cobra.Command, check func(cmd *cobra.Command) error) {
	earlier := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if earlier != nil {
			if err := earlier(cmd, args); err != nil {
				return err
			}
		}
		return check(cmd)
	}
}

// Choice names the words that a flag takes: shells complete them, and another is refused.
func Choice(cmd *cobra.Command, flag string, words ...string) {
	Completes(cmd, flag, words...)
	Checked(cmd, func(cmd *cobra.Command) error { return OneOf(cmd, flag, cmd.Flag(flag).Value.String(), words...) })
}

// Within refuses a value of a flag that is below least or above most.
func Within[T int | time.Duration](cmd *cobra.Command, flag string, value, least, most T) error {
	if value < least || value > most {
		return Usage(cmd, "--%s %v: use %v to %v", flag, value, least, most)
	}
	return nil
}

// NotNegative refuses a negative value of a flag.
func NotNegative[T int | time.Duration](cmd *cobra.Command, flag string, value T) error {
	if value < 0 {
		return Usage(cmd, "--%s %v: must not be negative", flag, value)
	}
	return nil
}

// WidthFlag adds the flag of the width of text. A width is refused if it is negative, or less than the least in which
// text can be read.
func WidthFlag(cmd *cobra.Command, columns *int, least int) {
	cmd.Flags().IntVar(columns, "width", 0, "wrap and cut text at `N` columns (default: the width of the terminal, else none)")
	Checked(cmd, func(cmd *cobra.Command) error {
		if *columns > 0 && *columns < least {
			return Usage(cmd, "--width %d: must be %d or more; 0 fills the terminal", *columns, least)
		}
		return NotNegative(cmd, "width", *columns)
	})
}

// TopFlag adds the flag of the number of rows that are shown, first at the most, unless the user wants others.
func TopFlag(cmd *cobra.Command, rows *int, first int, usage string) {
	cmd.Flags().IntVar(rows, "top", first, usage)
	Checked(cmd, func(cmd *cobra.Command) error { return NotNegative(cmd, "top", *rows) })
}
