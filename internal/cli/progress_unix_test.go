//go:build unix

package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
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
			n, err := master.Read(b)
			require.NoError(t, err)
			got.Write(b[:n])
		}
		return got.String()
	}
	p := s.Progress("some/where/Player\x1b.log", 1<<20, func() int64 { return 1 << 18 })
	got := seen("%")
	require.Contains(t, got, `Player\x1b.log`)
	require.Contains(t, got, "256.00 KiB / 1.00 MiB")
	require.Contains(t, got, "25%")
	require.Regexp(t, ` \S+ KiB/s  \d+s left`, got+seen("left"))

	_, err = io.WriteString(w, "a message\n")
	require.NoError(t, err)
	require.Contains(t, seen("a message"), "\r\x1b[Ka message")
	seen("25%") // it is back
	p.End()
	_, err = io.WriteString(w, "the end\n")
	require.NoError(t, err)
	require.Contains(t, seen("the end"), "\r\x1b[Kthe end")

	unknown := s.Progress("standard input", 0, func() int64 { return 9 })
	require.Contains(t, seen("read"), "9 B read")
	unknown.End()
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
		n, err := master.Read(b)
		require.NoError(t, err)
		seen.Write(b[:n])
	}
	require.Contains(t, seen.String(), "Player.log  0 B / 100 B [")
	p.End()
}
