package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestComparisonMarkdownIsHarmless: what logs and the names of files say stands in code.
func TestComparisonMarkdownIsHarmless(t *testing.T) {
	old := write(t, "old [a](b) `x` <b> @somebody.log", "starting\n")
	for _, f := range hostileForms {
		t.Run(f.name, func(t *testing.T) {
			line := strings.ReplaceAll("cannot save the game "+hostileWord+" "+f.line, "\n", " ")
			fresh := write(t, "new *a* #12.log", strings.Repeat("starting, and all is well\n", 60)+line+"\n")
			for _, command := range []string{"diff", "suspects"} {
				r := runArgs(t, append([]string{command, "--no-scrub", "--format", "markdown"}, testArgs(t, old, fresh)...)...)
				require.Equal(t, exitOK, r.status, r.stderr)
				require.Contains(t, r.stdout, hostileWord)
				requireHarmlessMarkdown(t, r.stdout)
			}
		})
	}
}
