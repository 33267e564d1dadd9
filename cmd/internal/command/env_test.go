package command

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/heedlog/heed/cmd/internal/clitest"
	"github.com/heedlog/heed/cmd/internal/settings"
	"github.com/heedlog/heed/rules"
)

// asProgram makes the test binary be the program, for tests that need a process.
const asProgram = "CLASSIFY_REPLAY_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		Main()
	}
	compileRules = compiledOnce // most runs of a command have the rules of another one
	clitest.Main(m, map[string]func(){settings.Offline: Main})
}

// compiledSets are sets of rules by the names and texts of their files.
var compiledSets sync.Map

// compiledOnce is [rules.Compile], which keeps the sets.
func compiledOnce(files ...rules.File) (*rules.Set, error) {
	var key strings.Builder
	for _, f := range files {
		fmt.Fprintf(&key, "%s %s %d\n%s", f.Name, f.Today, len(f.Data), f.Data)
	}
	if set, ok := compiledSets.Load(key.String()); ok {
		return set.(*rules.Set), nil
	}
	set, err := rules.Compile(files...)
	if err == nil {
		compiledSets.Store(key.String(), set)
	}
	return set, err
}
