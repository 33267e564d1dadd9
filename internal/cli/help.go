package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// fitHelp makes the help of root and of all commands below it fit a terminal of so many
// columns; 0 for none.
func fitHelp(root *cobra.Command, columns int) {
	root.SetUsageTemplate(wrapped(root.UsageTemplate(), columns))
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Long = filled(cmd.Long, columns)
		help(cmd, args)
	})
}

// unwrapped is how wide help is where its reader has no terminal.
const unwrapped = 100

// wrapped makes a template of usage wrap what it says of flags at the columns of a
// terminal, 0 for none.
func wrapped(template string, columns int) string {
	if columns == 0 {
		columns = unwrapped
	}
	return strings.ReplaceAll(template, ".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", columns))
}

// filled breaks the paragraphs of a text anew of which a line is too long for so many
// columns, 0 for any number. One with a line that is indented, such as a table, stays.
func filled(text string, columns int) string {
	if columns == 0 {
		return text
	}
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if longest(p) <= columns || strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			continue
		}
		var b strings.Builder
		at := 0
		for word := range strings.FieldsSeq(p) {
			switch {
			case at == 0:
			case at+1+len(word) > columns:
				b.WriteByte('\n')
				at = 0
			default:
				b.WriteByte(' ')
				at++
			}
			b.WriteString(word)
			at += len(word)
		}
		paragraphs[i] = b.String()
	}
	return strings.Join(paragraphs, "\n\n")
}

// longest returns the length of the longest line, in bytes, as help is ASCII.
func longest(text string) int {
	most := 0
	for line := range strings.SplitSeq(text, "\n") {
		most = max(most, len(line))
	}
	return most
}
