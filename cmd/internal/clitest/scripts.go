package clitest

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// Main runs tests of programs, which scripts can then call by their names. It hides the configuration of the person who
// runs the tests.
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
	for name := range homes {
		must(os.Setenv(name, home))
	}
	// Each run of a command makes tables of megabytes. The variable is for programs that tests start.
	must(os.Setenv("GOGC", strconv.Itoa(gcPercent)))
	debug.SetGCPercent(gcPercent)
	return h.M.Run()
}

// homes are the variables that name the folders of a person, with the folder that a script has in its home.
var homes = map[string]string{
	"HOME": "", "USERPROFILE": "", "XDG_CONFIG_HOME": ".config", "AppData": ".config", "XDG_DATA_HOME": ".data",
	"XDG_STATE_HOME": ".state", "LOCALAPPDATA": ".state",
}

const gcPercent = 800

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// patience bounds a wait of a script. A wait takes far less unless something is wrong.
const patience = 2 * time.Minute

// A waiting script asks again after pollFirst, and then more seldom up to pollEvery, so that it does not use the
// processor that the other program needs.
const (
	pollFirst = 10 * time.Millisecond
	pollEvery = 60 * time.Millisecond
)

// Program is a program as a function, which returns the exit status.
type Program func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int

// Scripts runs programs as a person would, by the scripts in testdata/script. They
// have a home of their own and the variables in env. Beside the commands of
// testscript there are three:
//
//	run PROGRAM ARGS [<FILE]          is exec in this process, which starts at once; FILE is its standard input
//	status N PROGRAM ARGS [<FILE]     is run, and requires the exit status N
//	eventually PATTERN PROGRAM ARGS   runs the program until its standard output matches, in this process after a run
//
// Scripts with a run or a status have this process, its folder and its variables in turn, before the others.
func Scripts(t *testing.T, env map[string]string, programs map[string]Program) {
	t.Helper()
	files := testkit.Must(filepath.Glob("testdata/script/*.txtar"))
	require.NotEmpty(t, files)
	var inTurn, others, variables []string
	for _, file := range files {
		text := testkit.Must(os.ReadFile(file))
		for _, m := range setsVariable.FindAllSubmatch(text, -1) {
			variables = append(variables, string(m[1]))
		}
		if runs.Match(text) {
			inTurn = append(inTurn, file)
		} else {
			others = append(others, file)
		}
	}
	commands := func(in inProcess) map[string]func(*testscript.TestScript, bool, []string) {
		return map[string]func(*testscript.TestScript, bool, []string){
			"eventually": in.eventually, "run": in.run, "status": in.status,
		}
	}
	params := testscript.Params{
		UpdateScripts: testkit.Updating(),
		Setup: func(e *testscript.Env) error {
			for name, folder := range homes {
				e.Setenv(name, filepath.Join(e.WorkDir, "home", folder))
			}
			// For example how long programs with the race detector sleep at their end, a second by default.
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Setenv("GOGC", os.Getenv("GOGC"))
			e.Setenv("TESTS_PID", os.Getenv("TESTS_PID")) // see testkit
			for name, value := range env {
				e.Setenv(name, value)
			}
			names := slices.Clone(variables)
			for _, v := range e.Vars {
				name, _, _ := strings.Cut(v, "=")
				names = append(names, name)
			}
			e.Values[variablesKey{}] = names
			return nil
		},
		RequireUniqueNames: true,
	}
	if len(others) > 0 { // they begin when Scripts returns
		params.Files, params.Cmds = others, commands(nil)
		testscript.Run(t, params)
	}
	if len(inTurn) > 0 {
		params.Files, params.Cmds = inTurn, commands(programs)
		testscript.RunT(sequential{t}, params)
	}
}

var (
	setsVariable = regexp.MustCompile(`(?m)^env (\w+)=`)
	runs         = regexp.MustCompile(`(?m)^(?:! )?(?:run|status) `)
)

// sequential is a test whose scripts do not run in parallel.
type sequential struct{ *testing.T }

func (sequential) Parallel()     {}
func (sequential) Verbose() bool { return testing.Verbose() }

func (s sequential) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(sequential{t}) })
}

// inProcess are programs that run in this process.
type inProcess map[string]Program

// variablesKey is of the names of the variables that a script may set, among its values.
type variablesKey struct{}

func (in inProcess) run(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || in[args[0]] == nil {
		ts.Fatalf("usage: run PROGRAM ARGS [<FILE]")
	}
	if status := in.shown(ts, args); neg != (status != 0) {
		ts.Fatalf("unexpected exit status %d", status)
	}
}

func (in inProcess) status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || in[args[1]] == nil {
		ts.Fatalf("usage: status N PROGRAM ARGS [<FILE]")
	}
	if status := in.shown(ts, args[1:]); args[0] != strconv.Itoa(status) {
		ts.Fatalf("exit status %d, want %s", status, args[0])
	}
}

// shown calls a command line, and gives its output to the script.
func (in inProcess) shown(ts *testscript.TestScript, args []string) (status int) {
	stdout, stderr, status := in.call(ts, args)
	_, _ = io.WriteString(ts.Stdout(), stdout)
	_, _ = io.WriteString(ts.Stderr(), stderr)
	return status
}

// call runs a command line where a script is, with its variables: in this process if it can.
func (in inProcess) call(ts *testscript.TestScript, args []string) (stdout, stderr string, status int) {
	if in[args[0]] == nil {
		if ts.Exec(args[0], args[1:]...) != nil {
			status = 1
		}
		return ts.ReadFile("stdout"), ts.ReadFile("stderr"), status
	}
	stdin := ""
	if file, found := strings.CutPrefix(args[len(args)-1], "<"); found {
		stdin, args = ts.ReadFile(file), args[:len(args)-1]
	}
	dir, err := os.Getwd()
	ts.Check(err)
	before := os.Environ()
	defer func() {
		os.Clearenv()
		for _, v := range before {
			name, value, _ := strings.Cut(v, "=")
			must(os.Setenv(name, value))
		}
		must(os.Chdir(dir))
	}()
	for _, name := range ts.Value(variablesKey{}).([]string) {
		must(os.Setenv(name, ts.Getenv(name))) // an empty one is as unset for a program that asks with os.Getenv
	}
	must(os.Chdir(ts.MkAbs(".")))
	var out, errs testkit.Buffer // a program may write from several goroutines
	status = in[args[0]](context.Background(), args[1:], strings.NewReader(stdin), &out, &errs)
	return out.String(), errs.String(), status
}

func (in inProcess) eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually PATTERN PROGRAM ARGS")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	deadline := time.After(patience)
	for pause := pollFirst; ; pause = min(2*pause, pollEvery) {
		stdout, stderr, status := in.call(ts, args[1:])
		if want.MatchString(stdout) {
			_, _ = io.WriteString(ts.Stdout(), stdout)
			return
		}
		select {
		case <-time.After(pause):
		case <-deadline:
			ts.Fatalf("%s never printed %q: status %d; at last it printed %q, %q", strings.Join(args[1:], " "), args[0], status,
				stdout, stderr)
		}
	}
}
