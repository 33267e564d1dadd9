package live

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/clitest"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/journal"
)

func testRoot() *cobra.Command {
	return newProgram(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}).rootCommand()
}

func TestHelp(t *testing.T) { clitest.Help(t, testRoot()) }

func TestManPages(t *testing.T) { clitest.Man(t, testRoot(), "") }

// TestReference holds the end of the reference to the help of each command.
func TestReference(t *testing.T) {
	const file, generated = "../../../../docs/reference.md", "<!-- generated from the commands -->\n"
	byHand, _, found := strings.Cut(string(testkit.Must(os.ReadFile(file))), generated)
	require.True(t, found)
	var b strings.Builder
	b.WriteString(byHand + generated)
	for _, cmd := range clitest.Commands(testRoot()) {
		cmd.InitDefaultHelpFlag()
		fmt.Fprintf(&b, "\n### %s\n\n```text\n%s\n\nUsage: %s\n\n%s\n", cmd.CommandPath(), strings.TrimSpace(cmd.Long),
			cmd.UseLine(), cmd.Example)
		if flags := cmd.LocalFlags().FlagUsagesWrapped(116); flags != "" {
			fmt.Fprintf(&b, "\n%s", flags)
		}
		b.WriteString("```\n")
	}
	testkit.Golden(t, file, b.String())
}

func TestScriptsUseAllFlags(t *testing.T) { clitest.Used(t, testRoot(), "For saved logs:") }

func TestSettingsAreFlags(t *testing.T) { clitest.Settings(t, testRoot()) }

// TestScripts runs the program as a person would: see testdata/script. A script that needs the default rules says so:
// they take longer to compile than the rest of a run.
func TestScripts(t *testing.T) {
	captures := testkit.Must(filepath.Abs("../../../../testdata/captures"))
	env := map[string]string{"CAPTURES": captures, "HEED_NO_DEFAULT_RULES": "true"}
	clitest.Scripts(t, env, map[string]clitest.Program{"heed": run})
}

// TestJournal: the defaults of the flag are the journal's own.
func TestJournal(t *testing.T) {
	tail := testkit.Must(journal.New(journal.Config{})).Stats().Tail
	require.Equal(t, tail.Capacity, defaultJournal)
	require.Equal(t, tail.MaxBytes, defaultJournal*textPerEntry)
}

// TestNotStarted is the table of what is said of a game's program that cannot be started.
func TestNotStarted(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("text", []byte("no program"), 0o600))
	require.NoError(t, os.Mkdir("folder", 0o700))
	path := func(err error) error { return &os.PathError{Op: "fork/exec", Path: "x", Err: err} }
	for _, c := range []struct {
		program string
		err     error
		status  int
		reason  string
		next    string
	}{
		{
			"game", &exec.Error{Name: "game", Err: exec.ErrNotFound}, exitNotFound, "no such program in the folders of PATH",
			"./game",
		},
		{"text", &exec.Error{Name: "text", Err: exec.ErrDot}, exitNotFound, "in this folder", "write ./text"},
		{"./game", path(os.ErrNotExist), exitNotFound, "no such program", "by its path"},
		{"./text", path(os.ErrNotExist), exitNotFound, "its interpreter does not", "after --"},
		{"./folder", path(os.ErrPermission), exitCannotStart, "is a directory", "after --"},
		{"./text", path(os.ErrPermission), exitCannotStart, "no permission to run it", "executable"},
		{"./text", path(errors.New("exec format error")), exitCannotStart, "exec format error", "this system must be able to run it"},
		{"./text", errors.New("no memory"), exitCannotStart, "no memory", "after --"},
	} {
		var said bytes.Buffer
		p := newProgram(nil, nil, &said)
		p.Fail(notStarted(c.program, c.err))
		require.Equal(t, c.status, p.Status, c.reason)
		require.Regexp(t, `^heed: cannot start `+c.program+`: .*`+c.reason+`.*\nheed: .*`+c.next, said.String())
		require.NotContains(t, said.String(), "fork/exec")
	}
}
