package main

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// asProgram makes the test binary be the program, for tests that need a process.
const asProgram = "CLASSIFY_REPLAY_TEST_MAIN"

// TestMain keeps what the person who runs the tests has configured out of them.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case name == "HEED_DATA": // where reference captures are
		case strings.HasPrefix(name, "HEED_"), name == "NO_COLOR", name == "CLICOLOR_FORCE":
			if err := os.Unsetenv(name); err != nil {
				panic(err)
			}
		}
	}
	home, err := os.MkdirTemp("", "heed-home")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "AppData"} {
		if err := os.Setenv(name, home); err != nil {
			panic(err)
		}
	}
	testscript.Main(cleanup{m, home}, map[string]func(){"classify-replay": main})
}

// cleanup runs the tests and removes a directory.
type cleanup struct {
	*testing.M
	dir string
}

func (c cleanup) Run() int {
	defer func() { _ = os.RemoveAll(c.dir) }()
	return c.M.Run()
}
