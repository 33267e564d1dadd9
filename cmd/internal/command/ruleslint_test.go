package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/rules"
)

func TestRulesLint(t *testing.T) {
	mine := write(t, "mine.yaml", `version: 1
rules:
  - id: test.masked
    when: 'template == "Human12 died"'
    disposition: blocking
`)
	sound := write(t, "sound.yaml", "version: 1\n")
	broken := write(t, "broken.yaml", "version: 1\nrule: []\n")
	for _, c := range []struct {
		name   string
		args   []string
		status int
		lines  int
		stdout string
		stderr string
	}{
		{"defaults", nil, exitOK, 1, fmt.Sprintf("%d files: nothing found\n", len(rules.Defaults())), ""},
		{"a sound file", []string{sound}, exitOK, 1, "1 file and the default rules: nothing found\n", ""},
		{"findings", []string{mine}, exitFinding, 2, `no template contains "Human12 died"`, ""},
		{"findings alone", []string{"--no-default-rules", mine}, exitFinding, 2, "has no tests", ""},
		{"errors", []string{mine, broken}, exitUsage, 1, `unknown field "rule" (did you mean "rules"?) [compile]`, ""},
		{"nothing", []string{"--no-default-rules"}, exitUsage, 0, "", "nothing to check"},
		{"missing", []string{mine + ".absent"}, exitUsage, 0, "", "mine.yaml.absent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ends(t, c.status, append([]string{"rules", "lint"}, c.args...)...)
			require.Equal(t, c.lines, strings.Count(r.stdout, "\n"), r.stdout)
			require.Contains(t, r.stdout, c.stdout)
			require.Contains(t, r.stderr, c.stderr)
			require.Equal(t, c.stderr == "", r.stderr == "")
		})
	}
}

func TestRulesLintIsInert(t *testing.T) {
	hostile := write(t, "h.yaml",
		"version: 1\nrules: [{id: x, disposition: ignore, when: \"template == '\\u202e\\e[2J12\\u2028'\"}]\n")
	r := ends(t, exitFinding, "rules", "lint", "--no-default-rules", hostile)
	requireInert(t, r.stdout)
}
