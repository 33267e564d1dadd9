package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/clitest"
	"github.com/heedlog/heed/cmd/internal/settings"
	"github.com/heedlog/heed/internal/testkit"
)

func testRoot() *cobra.Command {
	return newProgram(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}).rootCommand()
}

func TestHelp(t *testing.T) { clitest.Help(t, testRoot()) }

func TestManPages(t *testing.T) { clitest.Man(t, testRoot(), settings.Live) }

// TestScripts runs the program as a person would: see testdata/script. There "run status classify-replay ARGS" ends with
// 0, and prints the exit status of the program last.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of runs, each with an engine of its own: long under the race detector")
	}
	captures := testkit.Must(filepath.Abs(ownCaptures))
	clitest.Scripts(t, map[string]string{"CAPTURES": captures}, map[string]clitest.Program{
		settings.Offline: run,
		"status": func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
			_, _ = fmt.Fprintf(stdout, "status %d\n", run(ctx, args[1:], stdin, stdout, stderr))
			return exitOK
		},
	})
}

func TestScriptsUseAllFlags(t *testing.T) { clitest.Used(t, testRoot(), "") }

func TestSettingsAreFlags(t *testing.T) { clitest.Settings(t, testRoot()) }

// TestInterruptEveryCommand: each command that reads a log ends with 130 when it
// is told to, and what it prints until then is whole.
func TestInterruptEveryCommand(t *testing.T) {
	rules, empty := write(t, "rules.yaml", testRules), write(t, "empty.log", "")
	known := filepath.Join(t.TempDir(), "known.yaml")
	require.Equal(t, exitOK, runArgs(t, "baseline", "write", "-o", known, "--date", "2026-01-31",
		write(t, "good.log", plainLog)).status)
	for _, args := range [][]string{
		{"--rules", rules, "--no-default-rules", "-"},
		{"--rules", rules, "--no-default-rules", "--format", "json", "-"},
		{"--rules", rules, "--no-default-rules", "--format", "jsonl", "-"},
		{"records", "-"},
		{"records", "--format", "jsonl", "-"},
		{"--rules", rules, "--no-default-rules", "--format", "markdown", "-"},
		{"--rules", rules, "--no-default-rules", "--format", "sarif", "-"},
		{"report", "-"},
		{"diff", empty, "-"},
		{"baseline", "check", "--baseline", known, "-"},
		{"suspects", empty, "-"},
		{"signatures"},
		{"signatures", "--group"},
		{"explain", "--", "-:99"},
		{"rules", "diff", "default", rules, "-"},
		{"rules", "diff", "--format", "json", "default", rules, "-"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			in := &stuck{text: strings.NewReader(plainLog), release: make(chan struct{}), reached: cancel}
			defer close(in.release)
			var stdout, stderr bytes.Buffer
			status := run(ctx, args, in, &stdout, &stderr)
			require.Equal(t, exitInterrupted, status, stderr.String())
			switch args[0] {
			case "diff", "suspects", "baseline", "rules": // what was not read would seem gone
				require.Equal(t, "classify-replay: interrupted: the output covers only what was read before\n", stderr.String())
			default:
				require.Empty(t, stderr.String())
			}
			if args[0] != "explain" { // whose record has not come yet
				require.NotEmpty(t, stdout.String())
				require.True(t, strings.HasSuffix(stdout.String(), "\n"), "the last line is whole")
			}
			switch {
			case slices.Contains(args, formatJSON):
				require.True(t, json.Valid(stdout.Bytes()))
			case args[0] == "--rules" && slices.Contains(args, formatJSONL):
				require.Contains(t, lastLine(stdout.String()), `"interrupted":true`)
			case args[0] == "--rules" && len(args) == 4:
				require.Contains(t, stdout.String(), "interrupted after line")
			}
		})
	}
}

// TestInterruptBeforeTheStart: what reads no standard input ends, too.
func TestInterruptBeforeTheStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	log := write(t, "a.log", plainLog)
	for _, args := range [][]string{
		{log},
		{"records", log},
		{"signatures", log},
		{"report", log},
		{"diff", log, log},
		{"suspects", log, log},
		{"explain", log + ":1"},
		{"rules", "diff", "default", "default", log},
		{"rules", "propose", log + ":2"},
	} {
		r := runWith(ctx, "", args...)
		require.Equal(t, exitInterrupted, r.status, "%v: %s", args, r.stderr)
		if r.stdout == "" || args[0] != "rules" {
			require.Empty(t, r.stderr, "%v", args)
		}
	}
}
