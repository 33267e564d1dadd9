package command

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/heedlog/heed/internal/clitest"
	"github.com/heedlog/heed/internal/settings"
)

// asProgram makes the test binary be the program, for tests that need a process.
const asProgram = "CLASSIFY_REPLAY_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		Main()
	}
	debug.SetGCPercent(400) // each run of a command makes tables of megabytes
	clitest.Main(m, map[string]func(){settings.Offline: Main})
}
