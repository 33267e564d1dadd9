package clitest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heedlog/heed/internal/testkit"
)

// Main runs tests of programs, which scripts can then call by their names. What
// the person who runs the tests has configured is kept out of them.
func Main(m *testing.M, programs map[string]func()) { testscript.Main(atHome{m}, programs) }

// atHome runs tests in an environment without settings.
type atHome struct{ *testing.M }

func (h atHome) Run() int {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch {
		// Where reference captures are, which tests run on which of them, and whether golden files are written.
		case name == "HEED_DATA", name == "HEED_TESTS", name == "HEED_PLAYERS", name == "HEED_UPDATE":
		case strings.HasPrefix(name, "HEED_"), strings.HasPrefix(name, "GABP_"),
			strings.HasPrefix(name, "GABS_"), name == "NO_COLOR", name == "CLICOLOR_FORCE":
			must(os.Unsetenv(name))
		}
	}
	home, err := os.MkdirTemp("", "heed-home")
	must(err)
	defer func() { _ = os.RemoveAll(home) }()
	for _, name := range homes {
		must(os.Setenv(name, home))
	}
	return h.M.Run()
}

// homes are the variables that name the folders of a person.
var homes = []string{
	"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "AppData", "LOCALAPPDATA",
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// patience bounds what a script waits for. It is met by far unless something is
// wrong.
const patience = 2 * time.Minute

// pollEvery keeps a script that waits from taking the processor from what it waits for.
const pollEvery = 20 * time.Millisecond

// Scripts runs the program as a person would, by the scripts in testdata/script. They
// have a home of their own and the variables in env. Beside the commands of
// testscript there is one for what takes time:
//
//	eventually PATTERN COMMAND ARGS   runs the command until its standard output matches
func Scripts(t *testing.T, env map[string]string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: testkit.Updating(),
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			for _, name := range []string{"HOME", "USERPROFILE"} {
				e.Setenv(name, home)
			}
			for _, name := range []string{"XDG_CONFIG_HOME", "AppData"} {
				e.Setenv(name, filepath.Join(home, ".config"))
			}
			for _, name := range []string{"XDG_STATE_HOME", "LOCALAPPDATA"} {
				e.Setenv(name, filepath.Join(home, ".state"))
			}
			e.Setenv("XDG_DATA_HOME", filepath.Join(home, ".data"))
			// How long programs with the race detector sleep at their end, a second by default, and the like.
			e.Setenv("GORACE", os.Getenv("GORACE"))
			for name, value := range env {
				e.Setenv(name, value)
			}
			return nil
		},
		Cmds:               map[string]func(*testscript.TestScript, bool, []string){"eventually": eventually},
		RequireUniqueNames: true,
	})
}

func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually PATTERN COMMAND ARGS")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	deadline := time.After(patience)   //nolint:forbidigo // another process is waited for
	again := time.NewTicker(pollEvery) //nolint:forbidigo // as above
	defer again.Stop()
	for {
		err := ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout")
		if want.MatchString(out) {
			return
		}
		select {
		case <-again.C:
		case <-deadline:
			ts.Fatalf("%s never printed %q: %v; at last it printed %q, %q", strings.Join(args[1:], " "), args[0], err, out,
				ts.ReadFile("stderr"))
		}
	}
}
