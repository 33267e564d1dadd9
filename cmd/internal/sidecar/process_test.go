package sidecar

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// The test binary is also the programs of these tests.
func init() {
	switch os.Getenv("HEED_TEST_PROGRAM") {
	case "sidecar":
		os.Exit(Run("heed-sidecar", nil))
	case "game":
		game(false)
	case "game with a child":
		game(true)
	case "child":
		time.Sleep(time.Minute)
		os.Exit(0)
	}
}

func program(name string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "HEED_TEST_PROGRAM="+name)
	return cmd
}

// game starts a sidecar, and a child that inherits the sidecar's input; it writes their ids, and lives until it is
// killed.
func game(child bool) {
	r, w, _ := os.Pipe()
	cmd := program("sidecar")
	cmd.Stdin = r
	out, _ := cmd.StdoutPipe()
	_ = cmd.Start()
	h := hello{Rules: "none", Process: uint64(os.Getpid())}
	_, _ = w.Write(sent(nil, typeHello, &h))
	_, _ = io.ReadFull(out, make([]byte, headSize)) // of the welcome
	other := 0
	if child {
		cmd := program("child")
		cmd.ExtraFiles = []*os.File{w}
		_ = cmd.Start()
		other = cmd.Process.Pid
	}
	fmt.Println(cmd.Process.Pid, other)
	time.Sleep(time.Minute)
	os.Exit(0)
}

func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("looks at processes in /proc")
	}
}

// TestGameKilled: a sidecar ends with its game, also where a child of the game holds the sidecar's input open.
func TestGameKilled(t *testing.T) {
	onLinux(t)
	for _, name := range []string{"game", "game with a child"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := program(name)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			var pid, child int
			_, err = fmt.Fscan(out, &pid, &child)
			require.NoError(t, err)
			if child != 0 {
				p, err := os.FindProcess(child)
				require.NoError(t, err)
				defer p.Kill() //nolint:errcheck // it is gone at the latest after a minute
			}
			require.NoError(t, cmd.Process.Kill())
			require.Error(t, cmd.Wait())
			testkit.Gone(t, pid, 30*time.Second) // a second, and what a busy machine adds
		})
	}
}

// TestUnreadProcess: a sidecar reads on and stays small while nobody reads what it writes.
func TestUnreadProcess(t *testing.T) {
	onLinux(t)
	lines := 6000
	if testkit.IsFull() {
		lines = 50_000
	}
	cmd := program("sidecar")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close() //nolint:errcheck // it was not read
	cmd.Stdout = w
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())

	b := bufio.NewWriter(in)
	write := func(t frameType, v any) { _, _ = b.Write(sent(nil, t, v)) }
	h := hello{Rules: "none", Phase: "play"}
	write(typeHello, &h)
	for i := range lines {
		message := "no " + letters(i) + " here"
		l := line{number: uint64(i), time: time.Unix(1, 0), level: event.LevelError, message: []byte(message)}
		write(typeLog, &l)
		q := query{Number: uint64(i), Kind: "open"}
		write(typeQuery, &q)
	}
	require.NoError(t, b.Flush())
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	require.NoError(t, err)
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(peak)[0])
	require.NoError(t, err)
	t.Logf("peak %d MiB", kib>>10)
	require.Less(t, kib, 400<<10) // of some gigabytes, with what -race adds
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
}

// letters returns another word for each of the first 65,536 numbers.
func letters(i int) string {
	const l = "bklmnrstvzpdghfy"
	return string([]byte{l[i&15], 'a', l[i>>4&15], 'o', l[i>>8&15], 'e', l[i>>12&15], 'i'})
}
