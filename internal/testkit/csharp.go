package testkit

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// CSharp compiles a C# program and returns its path. Arguments are arguments of mcs: sources, and options such as
// -target:library or -reference:FILE. The language is the language of Unity's mods, and a warning is an error. It skips
// the test if mcs or mono is missing, and names it.
func CSharp(tb testing.TB, arguments ...string) string {
	tb.Helper()
	mcs := need(tb, "mcs")
	need(tb, "mono")
	program := filepath.Join(tb.TempDir(), "test.exe")
	// 7.2 is the latest that mcs knows.
	options := []string{"-langversion:7.2", "-warnaserror+", "-debug", "-out:" + program}
	out, err := exec.CommandContext(tb.Context(), mcs, append(options, arguments...)...).CombinedOutput()
	require.NoError(tb, err, "mcs: %s", out)
	return program
}

// Mono returns a command that runs a program of CSharp. It ends with the test at the latest, or when timeout has
// passed; child processes that outlive the program do not delay it.
func Mono(tb testing.TB, timeout time.Duration, program string, arguments ...string) *exec.Cmd {
	tb.Helper()
	need(tb, "mono")
	ctx, cancel := context.WithTimeout(tb.Context(), timeout)
	tb.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "mono", append([]string{"--debug", program}, arguments...)...)
	cmd.WaitDelay = time.Second
	return cmd
}

// RunMono runs a program of CSharp, fails the test unless it exits with status 0, and returns its output.
func RunMono(tb testing.TB, timeout time.Duration, program string, arguments ...string) string {
	tb.Helper()
	out, err := Mono(tb, timeout, program, arguments...).CombinedOutput()
	if err != nil {
		tb.Fatalf("mono %s: %v (at most %v)\n%s", filepath.Base(program), err, timeout, out)
	}
	return string(out)
}

func need(tb testing.TB, program string) (path string) {
	tb.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		tb.Skipf("%s is missing, with which C# is tried (Debian: mono-mcs, mono-runtime)", program)
	}
	return path
}

// Program returns the path of a program of the folder cmd for a test. "go run" takes it from the build cache unless it
// has changed.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	dir := tb.TempDir()
	build := exec.CommandContext(tb.Context(), "go", "run", "-exec", "cp", "github.com/heedlog/heed/cmd/"+name, dir)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(tb, err, "%s", out)
	return filepath.Join(dir, name)
}
