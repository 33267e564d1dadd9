package command

import (
	"os"
	"testing"

	"github.com/heedlog/heed/cmd/internal/clitest"
	"github.com/heedlog/heed/cmd/internal/settings"
)

// asProgram makes the test binary be the program, for tests that need a process.
const asProgram = "CLASSIFY_REPLAY_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		Main()
	}
	CompileRules = clitest.CompiledOnce
	clitest.Main(m, map[string]func(){settings.Offline: Main})
}
