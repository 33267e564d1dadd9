//go:build unix

package live

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/internal/text"
)

// TestKilledWhileReading kills heed at many moments while a log grows, is renamed and begins again. The last one has
// counted each line once.
func TestKilledWhileReading(t *testing.T) {
	t.Parallel()
	dir, log, rules, state := folder(t)
	run := func() (*exec.Cmd, *testkit.Buffer) {
		return spawn(t, dir, "follow", "--no-config", "--no-default-rules", "--rules", rules, "--state", state,
			"--record", filepath.Join(dir, "recorded"), log)
	}
	lines, faults := 0, 0
	more := func(n int) {
		var b strings.Builder
		for range n {
			if lines++; lines%3 > 0 {
				fmt.Fprintf(&b, "all is well %d\n", lines)
				continue
			}
			faults++
			fmt.Fprintf(&b, "FAULT in %s\n  at %s.Run () [0x00000] in <1>:0 \n", word(faults), word(faults))
		}
		file := testkit.Must(os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))
		for all := b.String(); all != ""; { // a line may come in parts
			n := min(len(all), 37)
			testkit.Must(file.WriteString(all[:n]))
			all = all[n:]
			time.Sleep(time.Millisecond / 4)
		}
		require.NoError(t, file.Close())
	}
	kills := 8
	if testkit.IsFull() {
		kills = 100
	}
	for n := range kills {
		cmd, _ := run()
		time.Sleep(20 * time.Millisecond)
		more(5 + n)
		time.Sleep(time.Duration(n*7%90) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		more(2)
	}
	_ = os.Remove(filepath.Join(dir, "recorded"))
	cmd, errs := run()
	await(t, func() bool { _, err := os.Stat(filepath.Join(dir, "recorded")); return err == nil })
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait())
	require.Contains(t, errs.String(), fmt.Sprintf("; %s entries, %s in items", text.Number(uint64(lines)),
		text.Number(uint64(faults))), "of %d kills", kills)
}

// word is a word for a number, which is not masked.
func word(n int) (s string) {
	for ; n > 0; n /= 16 {
		s += string(rune('g' + n%16))
	}
	return "Part" + s
}

// TestEndsInTime asks heed to end in the middle of a large log: it ends after --grace, and reports the rest as missing;
// with a state, the next heed reads it. The second request ends wrap at once. Most of the log is written while heed is
// stopped, and the request waits for it there; then the log grows as long as heed reads, so that no load lets heed read all
// of it before.
func TestEndsInTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, recorded := filepath.Join(dir, "Player.log"), filepath.Join(dir, "recorded")
	const errors = `(?m)^heed: [\d,]+ bytes of the log were not read before the end$`
	const lines, early = 5000, 1000
	var b strings.Builder
	begun, long := 0, strings.Repeat(", as before", 6) // more than is read at once
	for n := range lines {
		if n == early {
			begun = b.Len()
		}
		fmt.Fprintf(&b, "all is well with %s %d%s\n", word(n), n, long)
	}
	recordedSize := func() int64 {
		info, err := os.Stat(recorded)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	run := func(args ...string) (*exec.Cmd, *testkit.Buffer) {
		_ = os.Remove(recorded)
		args = slices.Insert(args, 1, "--no-config", "--no-default-rules", "--record", recorded)
		cmd, errs := spawn(t, dir, args...)
		await(t, func() bool { return recordedSize() > 10_000 })
		return cmd, errs
	}
	end := func(cmd *exec.Cmd, log string, requests ...os.Signal) (written int) {
		require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
		write(t, log, b.String()[begun:])
		for _, s := range append(requests, syscall.SIGCONT) {
			require.NoError(t, cmd.Process.Signal(s))
		}
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait() // its status is the one of the signal
			close(ended)
		}()
		written = lines
		for seen := int64(0); ; {
			select {
			case <-ended:
				return written
			case <-time.After(time.Millisecond):
			}
			if size := recordedSize(); size > seen {
				seen = size
				write(t, log, b.String()[:begun])
				written += early
			}
		}
	}
	written := 0
	for _, args := range [][]string{
		{"serve", "--state", "serve", "--log-file", "own", "--grace", "1ms", log},
		{"mcp", "--state", "mcp", "--log", log, "--grace", "1ms", "--", "sleep", "60"},
		{"follow", "--state", "follow", "-q", "--grace", "1ms", log},
	} {
		_ = os.Remove(log)
		write(t, log, b.String()[:begun])
		cmd, errs := run(args...)
		written = end(cmd, log, syscall.SIGTERM)
		require.Regexp(t, errors, errs.String(), args[0])
		data := testkit.Must(os.ReadFile(recorded))
		require.Contains(t, string(data), `"status":"hole"`)
		require.Less(t, strings.Count(string(data), "all is well"), written)
	}
	cmd, errs := run("follow", "--state", "follow", "--grace", "1h", log)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
	require.Contains(t, errs.String(), fmt.Sprintf("; %s entries", text.Number(uint64(written+1))), "with the notice")

	game := filepath.Join(dir, "Game.log")
	write(t, filepath.Join(dir, "early"), b.String()[:begun])
	cmd, errs = run("wrap", "--state", "wrap", "--log", game, "--grace", "1h", "--", "sh", "-c",
		`trap "" TERM; cat early > Game.log; while :; do sleep 1; done`)
	end(cmd, game, syscall.SIGTERM, syscall.SIGINT)
	require.Regexp(t, errors, errs.String())
}
