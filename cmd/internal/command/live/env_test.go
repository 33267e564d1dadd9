package live

import (
	"encoding/json"
	"flag"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/clitest"
	"github.com/heedlog/heed/cmd/internal/command"
	"github.com/heedlog/heed/cmd/internal/settings"
)

// helperEnv makes this test binary a process of a test: heed, or a
// game with a mod.
const helperEnv = "HEED_TEST_HELPER"

// fakeGames is what such a game does; nil where there is none for the system.
var fakeGames func(args []string) int

func TestMain(m *testing.M) {
	helper := os.Getenv(helperEnv) != ""
	if helper && len(os.Args) > 2 && os.Args[1] == "fake-game" {
		os.Exit(fakeGames(os.Args[2:]))
	}
	if helper {
		Main()
	}
	// What started the tests may ignore these; the games of tests must not.
	for _, sig := range []os.Signal{syscall.SIGHUP, os.Interrupt} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	// Tests wait for processes and for time, and not for the processor.
	_ = flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0)))
	command.CompileRules = clitest.CompiledOnce
	clitest.Main(m, map[string]func(){
		settings.Live: Main, pageName: Main, settings.Offline: command.Main, "fill-history": fillHistoryMain,
	})
}

// runCommand runs a command of heed's in this process.
func runCommand(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), args, strings.NewReader(""), &out, &errs)
	t.Log(errs.String())
	return out.String(), code
}

// done runs a command of heed's that must end with a status, and returns its standard output.
func done(t *testing.T, status int, args ...string) string {
	t.Helper()
	out, code := runCommand(t, args...)
	require.Equal(t, status, code, out)
	return out
}

// decoded reads JSON.
func decoded[T any, Text ~string | ~[]byte](t testing.TB, text Text) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &v), string(text))
	return v
}
