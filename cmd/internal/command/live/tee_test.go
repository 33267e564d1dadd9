package live

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/internal/testkit"
)

// patience bounds every wait of these tests. It is met by far unless something is
// wrong.
const patience = 2 * time.Minute

// needs skips a test where a file is missing.
func needs(t testing.TB, path, why string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skip(why, ": ", err)
	}
}

// await waits until a condition holds.
func await(t testing.TB, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, patience, 5*time.Millisecond)
}

// TestSpool: a copy of a game's output is read whole and as one log, and does not grow with it.
func TestSpool(t *testing.T) {
	path := filepath.Join(t.TempDir(), "standard")
	f := testkit.Must(follow.New(follow.Config{Path: path, FromEnd: true, Continues: true}))
	const most = 8 << 10
	s := &spool{
		path: path, most: most, limit: 1 << 20, follower: f.Status,
		lost: func(uint64) { t.Error("nothing is left out") },
	}
	require.NoError(t, s.open(os.O_TRUNC))
	var texts []string
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- f.Run(ctx, func(r *follow.Record) {
			if !r.IsLog() {
				texts = append(texts, "NOTICE "+r.Message)
				return
			}
			texts = append(texts, strings.Clone(r.Message)) // the record is used again
		})
	}()
	require.NoError(t, f.Sync(t.Context()))
	var want []string
	deadline := time.Now().Add(time.Minute)
	for s.files < 5 {
		require.True(t, time.Now().Before(deadline), "no other file takes its place")
		line := fmt.Sprintf("line %d of the game", len(want))
		want = append(want, line)
		half := len(line) / 2 // a file may end within a line
		require.NoError(t, s.write([]byte(line[:half])))
		require.NoError(t, s.write([]byte(line[half:]+"\n")))
		if len(want)%100 == 0 {
			require.NoError(t, f.Sync(t.Context()))
			require.Less(t, s.size, int64(2*most), "who keeps up bounds it")
		}
	}
	require.NoError(t, f.Sync(t.Context()))
	stop()
	require.NoError(t, <-done)
	require.Equal(t, want, texts)
	require.EqualValues(t, 5, f.Status().Rotations)
	require.Zero(t, f.Status().LostBytes)
	s.close()
	left := testkit.Must(os.ReadDir(filepath.Dir(path)))
	require.Len(t, left, 1, "the host removes it")
}

// TestPiped: a line that the game has written to its output is known, although it goes through heed.
func TestPiped(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes have no deadlines")
	}
	path := filepath.Join(t.TempDir(), "standard")
	h := &host{log: slog.New(slog.DiscardHandler)}
	// A line beyond the buffer of 32 KiB comes in two parts, and on a busy machine the second may come long after the first.
	h.follower = testkit.Must(follow.New(follow.Config{Path: path, Continues: true, PartialIdle: patience}))
	h.spool = testkit.Must(newStream("log"))
	h.session = testkit.Must(session.New(session.Config{Log: piped{h.follower, h.spool}, SyncTimeout: patience}))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.session.Run(ctx) }()
	o := &output{}
	game := testkit.Must(o.tee(h, "stdout", io.Discard, true))
	require.NoError(t, h.session.Sync(t.Context()), "before there is a game")
	for n := range uint64(300) {
		testkit.Must(game.WriteString("a line\n" + strings.Repeat("another", 1+1000*int(n%7)) + "\n"))
		var wg sync.WaitGroup
		for range n % 3 { // several ask
			wg.Go(func() { assert.NoError(t, h.session.Sync(t.Context())) })
		}
		require.NoError(t, h.session.Sync(t.Context()))
		require.Equal(t, 2*(n+1), h.session.Engine().Stats().Received)
		wg.Wait()
	}
	require.NoError(t, game.Close())
	o.wait(t.Context(), patience)
	require.NoError(t, h.session.Sync(t.Context()), "after it")
	stop()
	require.NoError(t, <-done)
}

// TestPipedFull: who asks for evidence is answered after a notice of the text that the full disk did not take.
func TestPipedFull(t *testing.T) {
	const full = "/dev/full"
	needs(t, full, "this system has no full device")
	path := filepath.Join(t.TempDir(), "standard")
	h := &host{program: &program{}, losses: map[string]error{"log": syscall.ENOSPC}}
	h.follower = testkit.Must(follow.New(follow.Config{Path: path, Continues: true}))
	require.NoError(t, os.Symlink(full, path))
	h.spool = testkit.Must(newStream("log"))
	h.session = testkit.Must(session.New(session.Config{}))
	o := &output{}
	game := testkit.Must(o.tee(h, "stdout", io.Discard, true))
	for n := range uint64(3) {
		testkit.Must(game.WriteString("a line\n"))
		require.NoError(t, h.spool.drain(t.Context()))
		require.Equal(t, n+1, h.session.Engine().Stats().Received)
	}
	require.NoError(t, game.Close())
	o.wait(t.Context(), patience)
}

// TestSpoolLimit: where the follower does not come, the copy ends at its limit, and what is
// left out is told.
func TestSpoolLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "standard")
	var st follow.Status
	var lost uint64
	s := &spool{
		path: path, most: 4, limit: 8, follower: func() follow.Status { return st },
		lost: func(n uint64) { lost += n },
	}
	for range 5 {
		require.NoError(t, s.write([]byte("abc")))
	}
	require.EqualValues(t, 9, testkit.Must(os.Stat(path)).Size())
	require.EqualValues(t, 3, lost, "that some is left out is reported at once")
	st.Present = true
	require.NoError(t, s.write([]byte("def\n")))
	require.EqualValues(t, 6, lost)
	text := testkit.Must(os.ReadFile(path))
	require.Equal(t, "\ndef\n", string(text), "another file, and another line")
	s.close()
	require.EqualValues(t, 6, lost)
}

// TestSpoolFull: what cannot be written is reported as missing, at once and with its end.
func TestSpoolFull(t *testing.T) {
	const full = "/dev/full"
	needs(t, full, "this system has no full device")
	var lost []uint64
	s := &spool{path: full, most: 100, limit: 100, lost: func(n uint64) { lost = append(lost, n) }}
	for range 3 {
		require.ErrorIs(t, s.write([]byte("abc")), syscall.ENOSPC)
	}
	require.Equal(t, []uint64{3}, lost)
	require.NoError(t, s.file.Close())
	s.path, s.file = filepath.Join(t.TempDir(), "standard"), nil
	require.NoError(t, s.write([]byte("def\n")))
	require.Equal(t, []uint64{3, 6}, lost)
	s.close()
}

// TestWaitOfASlowMachine: what a game wrote before its end is passed on however late heed comes to it, while another
// process holds the pipe open.
func TestWaitOfASlowMachine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes have no deadlines")
	}
	var passed testkit.Buffer
	o := &output{}
	game := testkit.Must(o.tee(&host{program: &program{}}, "stdout", &passed, false))
	testkit.Must(game.WriteString("last words\n"))
	o.wait(t.Context(), 0)
	require.Equal(t, "last words\n", passed.String())
	require.Len(t, o.tail(), 1)
	require.NoError(t, game.Close())
}
