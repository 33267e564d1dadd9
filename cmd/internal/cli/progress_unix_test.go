//go:build unix

package cli

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestProgressOnATerminal: the bar comes, gives way to what is written, and is
// gone at the end.
func TestProgressOnATerminal(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer func() { _ = master.Close() }()
	defer func() { _ = tty.Close() }()
	require.NoError(t, pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}))
	t.Setenv("TERM", "xterm")
	require.True(t, Color(ColorAuto, func(string) string { return "" }, tty))
	require.False(t, Color(ColorAuto, func(n string) string { return map[string]string{"TERM": "dumb"}[n] }, tty))
	require.Nil(t, NewScreen(tty, func(string) string { return "dumb" }))

	s := NewScreen(tty, os.Getenv)
	require.NotNil(t, s)
	w := s.Over(tty)
	require.True(t, IsTerminal(w))
	columns, rows := Size(w)
	require.Equal(t, []int{80, 24}, []int{columns, rows})

	seen := func(what string) string {
		var got strings.Builder
		b := make([]byte, 4096)
		for !strings.Contains(got.String(), what) { // or the test's own time is up
			n := testkit.Must(master.Read(b))
			got.Write(b[:n])
		}
		return got.String()
	}
	p := s.Progress("some/where/Player\x1b.log", 1<<20, func() int64 { return 1 << 18 })
	got := seen("%")
	require.Contains(t, got, `Player\x1b.log`)
	require.Contains(t, got, "256.0 KiB / 1.0 MiB")
	require.Contains(t, got, "25%")
	require.Regexp(t, ` \S+ KiB/s  \d+s left`, got+seen("left"))

	testkit.Must(io.WriteString(w, "a message\n"))
	require.Contains(t, seen("a message"), "\r\x1b[Ka message")
	seen("25%") // it is back
	p.End()
	testkit.Must(io.WriteString(w, "the end\n"))
	require.Contains(t, seen("the end"), "\r\x1b[Kthe end")

	unknown := s.Progress("standard input", 0, func() int64 { return 9 })
	require.Contains(t, seen("read"), "9 B read")
	unknown.End()
}

// TestProgressFits: a bar takes the width that there is, whatever was read.
func TestProgressFits(t *testing.T) {
	p := &Progress{name: "Player.log", size: 1 << 20}
	require.Equal(t, "Player.log  512.0 KiB / 1.0 MiB [===>   ]  50%  256.0 KiB/s  2s left", p.line(1<<19, 2*time.Second, 68))
	require.Contains(t, p.line(2<<20, time.Second, 80), "=======] 100%  2.0 MiB/s")
	require.Contains(t, p.line(0, 0, 80), "0 B / 1.0 MiB [>")
	for columns := 1; columns < 100; columns++ {
		for _, n := range []int64{0, 9, 1 << 19, 1 << 20, 2 << 20} {
			line := p.line(n, time.Hour, columns)
			require.LessOrEqual(t, len([]rune(line)), columns, line)
		}
	}
	p.size = 0
	require.Equal(t, "Player.log  9 B read  9 B/s", p.line(9, time.Second, 80))
}

// TestProgressWithoutASize: a terminal that does not say how wide it is gets a bar, too.
func TestProgressWithoutASize(t *testing.T) {
	master, tty, err := pty.Open() // of no columns
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer func() { _ = master.Close() }()
	defer func() { _ = tty.Close() }()
	require.NoError(t, pty.Setsize(tty, &pty.Winsize{}))
	t.Setenv("TERM", "xterm")
	s := NewScreen(tty, os.Getenv)
	columns, _ := Size(tty)
	require.Zero(t, columns)
	p := s.Progress("Player.log", 100, func() int64 { return 0 })
	var seen strings.Builder
	b := make([]byte, 4096)
	for !strings.Contains(seen.String(), "%") { // or the test's own time is up
		n := testkit.Must(master.Read(b))
		seen.Write(b[:n])
	}
	require.Contains(t, seen.String(), "Player.log  0 B / 100 B [")
	p.End()
}
