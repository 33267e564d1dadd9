package live

import (
	"bytes"
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

func TestReference(t *testing.T) { clitest.Reference(t, testRoot(), "../../../../docs/reference.md") }

func TestScriptsUseAllFlags(t *testing.T) { clitest.Used(t, testRoot(), groupLogs) }

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
