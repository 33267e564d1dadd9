package command

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// possible leaves out of the name of a file what the system has in none.
func possible(name string) string {
	if runtime.GOOS == "windows" {
		return strings.NewReplacer("<", "", ">", "", "*", "").Replace(name)
	}
	return name
}

// TestComparisonMarkdownIsHarmless: what logs and the names of files say stands in code.
func TestComparisonMarkdownIsHarmless(t *testing.T) {
	old := write(t, possible("old [a](b) `x` <b> @somebody.log"), "starting\n")
	for _, f := range hostileForms {
		t.Run(f.name, func(t *testing.T) {
			line := strings.ReplaceAll("cannot save the game "+hostileWord+" "+f.line, "\n", " ")
			fresh := write(t, possible("new *a* #12.log"), strings.Repeat("starting, and all is well\n", 60)+line+"\n")
			for _, command := range []string{"diff", "suspects"} {
				out := ok(t, testArgs(t, command, "--no-scrub", "--format", "markdown", old, fresh)...)
				require.Contains(t, out, hostileWord)
				requireHarmlessMarkdown(t, out)
			}
		})
	}
}
