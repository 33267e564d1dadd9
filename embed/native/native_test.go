package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestMain removes what the tests built.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "heed-native-")
	if err != nil {
		panic(err)
	}
	built.dir = dir
	m.Run()
	_ = os.RemoveAll(dir)
}

// built holds what was built, by its arguments.
var built struct {
	sync.Mutex
	dir  string
	done map[string]error
}

// build runs a command that writes below a directory, which it returns, once for each name.
func build(tb testing.TB, name string, command func(dir string) *exec.Cmd) string {
	tb.Helper()
	built.Lock()
	defer built.Unlock()
	dir := filepath.Join(built.dir, name)
	err, known := built.done[name]
	if !known {
		require.NoError(tb, os.MkdirAll(dir, 0o755))
		var out []byte
		if out, err = command(dir).CombinedOutput(); err != nil {
			err = fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		if built.done == nil {
			built.done = map[string]error{}
		}
		built.done[name] = err
	}
	require.NoError(tb, err)
	return dir
}

func need(tb testing.TB, programs ...string) {
	tb.Helper()
	if runtime.GOOS != "linux" {
		tb.Skip("hosts for tests are built on Linux")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			tb.Skipf("%s is missing, with which the library is tried", p)
		}
	}
}

// library returns the path of the library, built with the tags.
func library(tb testing.TB, tags string) string {
	tb.Helper()
	need(tb, "bash", "cc", "go")
	platform := runtime.GOOS + "/" + runtime.GOARCH
	dir := build(tb, "library-"+tags, func(dir string) *exec.Cmd { return buildScript(dir, platform, tags) })
	return filepath.Join(dir, strings.ReplaceAll(platform, "/", "_"), "libheed.so")
}

func buildScript(dir, platform, tags string) *exec.Cmd {
	cmd := exec.Command("bash", "build.sh", dir, platform)
	cmd.Env = append(os.Environ(), "TAGS="+tags)
	return cmd
}

// hostOf returns the path of a host in C.
func hostOf(tb testing.TB, source string, flags ...string) string {
	tb.Helper()
	need(tb, "cc")
	name := source + strings.Join(flags, "")
	dir := build(tb, name, func(dir string) *exec.Cmd {
		args := append([]string{
			"-O2", "-g", "-std=gnu11", "-Wall", "-Wextra", "-o", filepath.Join(dir, "host"),
			filepath.Join("testdata", source),
		}, flags...)
		return exec.Command("cc", append(args, "-ldl", "-pthread")...)
	})
	return filepath.Join(dir, "host")
}

// ran runs a program that must end by itself, and returns what it wrote and its state.
func ran(tb testing.TB, env []string, program string, args ...string) (string, *os.ProcessState) {
	tb.Helper()
	cmd := exec.Command(program, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	cmd.Env = append(os.Environ(), env...)
	require.NoError(tb, cmd.Start())
	limit := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	err := cmd.Wait()
	// What the program leaves behind, such as Wine's server, does not count.
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		require.NoError(tb, err)
	}
	return out.String(), cmd.ProcessState
}

func succeeds(tb testing.TB, env []string, program string, args ...string) string {
	tb.Helper()
	out, state := ran(tb, env, program, args...)
	require.True(tb, state.Success(), "%s %s: %s\n%s", program, args, state, out)
	tb.Log(out)
	return out
}

// TestRing holds the ring to what it promises, with the sanitizers of the compiler.
func TestRing(t *testing.T) {
	for _, sanitizer := range []string{"address,undefined", "thread"} {
		t.Run(sanitizer, func(t *testing.T) {
			if sanitizer == "thread" {
				testkit.Full(t, "takes 2 s")
			}
			need(t, "cc")
			probe := exec.Command("cc", "-fsanitize="+sanitizer, "-x", "c", "-", "-o", filepath.Join(t.TempDir(), "probe"))
			probe.Stdin = strings.NewReader("int main(void) { return 0; }")
			if err := probe.Run(); err != nil {
				t.Skip("the compiler has no such sanitizer")
			}
			host := hostOf(t, "ring.c", "-Wno-tsan", "-fno-sanitize-recover=all", "-fsanitize="+sanitizer)
			succeeds(t, nil, host, "5000")
		})
	}
}

// TestHost has hosts in C use, flood, leave and survive the library.
func TestHost(t *testing.T) {
	testkit.Full(t, "builds the library")
	host, lib := hostOf(t, "host.c"), library(t, "")
	t.Run("surface", func(t *testing.T) { succeeds(t, nil, host, lib, "surface") })
	t.Run("full", func(t *testing.T) { succeeds(t, nil, host, lib, "full") })
	t.Run("cycles", func(t *testing.T) { succeeds(t, nil, host, lib, "cycles", "1000") })
	t.Run("signals", func(t *testing.T) {
		succeeds(t, nil, host, lib, "signals")
		_, state := ran(t, nil, host, library(t, "heedunguarded"), "signals")
		require.False(t, state.Success(), "this test cannot fail")
	})
	for _, after := range []string{"0", "1", "20", "200"} {
		t.Run("exit after "+after+" ms", func(t *testing.T) {
			out, state := ran(t, nil, host, lib, "exit", after)
			require.Equal(t, 3, state.ExitCode(), "%s: %s", state, out)
		})
	}
	// The library changes nothing of what ends a host.
	for number, name := range map[string]string{"11": "segmentation fault", "8": "floating point", "13": "broken pipe"} {
		t.Run(name, func(t *testing.T) {
			out, state := ran(t, nil, host, lib, "crash", number)
			require.Contains(t, state.String(), "signal: "+name)
			require.Empty(t, out)
		})
	}
}

// TestPanic has the library panic in each of its goroutines.
func TestPanic(t *testing.T) {
	testkit.Full(t, "builds the library")
	host, lib := hostOf(t, "host.c"), library(t, "heedpanic")
	for _, text := range []string{
		"panic in the reader", "panic in the writer: NullReferenceException",
		"fault in the reader", "fault in the writer: NullReferenceException",
	} {
		t.Run(text, func(t *testing.T) { succeeds(t, nil, host, lib, "panic", text) })
	}
	t.Run("fault beside Mono", func(t *testing.T) { succeeds(t, nil, "mono", "--debug", monoHost(t), lib, "fault") })
}

// TestConservativeCollector runs the library in a host whose collector stops threads by signals and scans their stacks.
// Without the guard of the signals, such a host crashes or loses objects.
func TestConservativeCollector(t *testing.T) {
	testkit.Full(t, "runs a collector 1,000 times")
	need(t, "cc")
	if _, err := os.Stat("/usr/include/gc/gc.h"); err != nil {
		t.Skip("libgc-dev is missing, the collector of the host")
	}
	host := hostOf(t, "gc.c", "-lgc")
	succeeds(t, nil, host, library(t, ""), "1000")
	out, state := ran(t, nil, host, library(t, "heedunguarded"), "1000")
	require.False(t, state.Success(), "this test cannot fail any more: %s", out)
	t.Logf("without the guard: %s", state)
}

// monoHost returns a host in C# and what runs it.
func monoHost(tb testing.TB) (program string) {
	tb.Helper()
	return testkit.CSharp(tb, "-unsafe", filepath.Join("testdata", "Host.cs"))
}

// TestMono has a host in Mono survive the library.
func TestMono(t *testing.T) {
	testkit.Full(t, "builds the library")
	host, lib := monoHost(t), library(t, "")
	t.Run("null references", func(t *testing.T) {
		require.Contains(t, succeeds(t, nil, "mono", "--debug", host, lib, "null", "100000"), "100000 null references caught")
	})
	t.Run("collections", func(t *testing.T) { succeeds(t, nil, "mono", "--debug", host, lib, "collect", "1000000") })
	t.Run("small nursery", func(t *testing.T) {
		succeeds(t, []string{"MONO_GC_PARAMS=nursery-size=64k"}, "mono", "--debug", host, lib, "collect", "400000")
	})
	for _, mode := range []string{"exit", "return"} {
		for _, after := range []string{"0", "20", "200"} {
			t.Run(mode+" after "+after+" ms", func(t *testing.T) {
				out, state := ran(t, nil, "mono", "--debug", host, lib, mode, after)
				require.Equal(t, 3, state.ExitCode(), "%s: %s", state, out)
			})
		}
	}
}

// TestWine runs a host for Windows.
func TestWine(t *testing.T) {
	testkit.Full(t, "makes a Wine prefix")
	const compiler = "x86_64-w64-mingw32-gcc"
	need(t, "wine", "wineboot", compiler)
	dir := build(t, "windows", func(dir string) *exec.Cmd { return buildScript(dir, "windows/amd64", "") })
	host, prefix := filepath.Join(dir, "host.exe"), filepath.Join(dir, "prefix")
	env := []string{"WINEPREFIX=" + prefix, "WINEDEBUG=-all", "WINEARCH=win64"}
	compile := func(args ...string) { succeeds(t, nil, compiler, args...) }
	compile("-O2", "-std=gnu11", "-o", host, filepath.Join("testdata", "host.c"))
	_, state := ran(t, env, "wineboot", "-i")
	if !state.Success() {
		t.Skip("wine cannot make a prefix")
	}
	compile("-shared", "-o", filepath.Join(prefix, "drive_c", "windows", "system32", "bcryptprimitives.dll"),
		filepath.Join("testdata", "bcryptprimitives.c"), "-ladvapi32")
	lib := filepath.Join(dir, "windows_amd64", "heed.dll")
	for _, mode := range []string{"surface", "full"} {
		t.Run(mode, func(t *testing.T) { succeeds(t, env, "wine", host, lib, mode) })
	}
	t.Run("cycles", func(t *testing.T) { succeeds(t, env, "wine", host, lib, "cycles", "50") })
	t.Run("exit", func(t *testing.T) {
		out, state := ran(t, env, "wine", host, lib, "exit", "50")
		require.Equal(t, 3, state.ExitCode(), "%s: %s", state, out)
	})
}

// BenchmarkHost prints what calls cost hosts in C and in Mono.
func BenchmarkHost(b *testing.B) {
	lib := library(b, "")
	for name, command := range map[string]func(b *testing.B) []string{
		"C":    func(b *testing.B) []string { return []string{hostOf(b, "host.c"), lib, "bench"} },
		"Mono": func(b *testing.B) []string { return []string{"mono", monoHost(b), lib, "bench"} },
	} {
		b.Run(name, func(b *testing.B) {
			args := command(b)
			for range b.N {
				out, state := ran(b, nil, args[0], args[1:]...)
				require.True(b, state.Success(), out)
				_, _ = io.WriteString(os.Stdout, "\n"+out)
			}
		})
	}
}
