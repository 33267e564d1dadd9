package main

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// asProgram makes the test binary be the program, for tests that need a process.
const asProgram = "CLASSIFY_REPLAY_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	testscript.Main(atHome{m}, map[string]func(){"classify-replay": main})
}

// atHome keeps what the person who runs the tests has configured out of them.
type atHome struct{ *testing.M }

func (h atHome) Run() int {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case name == "HEED_DATA": // where reference captures are
		case strings.HasPrefix(name, "HEED_"), name == "NO_COLOR", name == "CLICOLOR_FORCE":
			must(os.Unsetenv(name))
		}
	}
	home, err := os.MkdirTemp("", "heed-home")
	must(err)
	defer func() { _ = os.RemoveAll(home) }()
	for _, name := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "AppData"} {
		must(os.Setenv(name, home))
	}
	return h.M.Run()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
