package testkit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// CSharp compiles a C# program and returns its path. Arguments are arguments of mcs: sources, and options such as
// -target:library or -reference:FILE. The language is the language of Unity's mods, and a warning is an error. It skips
// the test if mcs or mono is missing, and names it.
func CSharp(tb testing.TB, arguments ...string) string {
	tb.Helper()
	need(tb, "mcs")
	need(tb, "mono")
	for _, a := range arguments {
		if f, err := os.Open(a); err == nil {
			_ = f.Close() // so that "go test" runs the test again when the source changes
		}
	}
	program := filepath.Join(tb.TempDir(), "test.exe")
	// 7.2 is the latest that mcs knows.
	arguments = append([]string{"-langversion:7.2", "-warnaserror+", "-debug", "-out:" + program}, arguments...)
	if out, err := exec.CommandContext(tb.Context(), "mcs", arguments...).CombinedOutput(); err != nil {
		tb.Fatalf("mcs: %v\n%s", err, out)
	}
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

func need(tb testing.TB, program string) {
	tb.Helper()
	if _, err := exec.LookPath(program); err != nil {
		tb.Skipf("%s is missing, with which C# is tried (Debian: mono-mcs, mono-runtime)", program)
	}
}

// programs is where Sidecar builds; Main removes it.
var programs string

// Main is the TestMain of packages that use Sidecar.
func Main(m *testing.M) {
	programs = Must(os.MkdirTemp("", "heed-test-"))
	defer func() { _ = os.RemoveAll(programs) }()
	m.Run()
}

// Sidecar returns the path of cmd/heed-sidecar, built once for all tests of a package. The package's TestMain is Main.
func Sidecar(tb testing.TB) string {
	tb.Helper()
	if programs == "" {
		tb.Fatal("BUG: the package's TestMain is not testkit.Main")
	}
	return Must(sidecar())
}

var sidecar = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programs, "heed-sidecar")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", path, "github.com/heedlog/heed/cmd/heed-sidecar")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})
