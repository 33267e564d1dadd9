package follow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/testkit"
)

// TestSteadyWriter holds how long what a log begins with may wait, whatever its writer does, and each line after that.
func TestSteadyWriter(t *testing.T) {
	const line = "the panel is lit\n"
	type put func(text string, gap time.Duration)
	steady := func(text string, gap time.Duration) func(put) {
		return func(put put) {
			for range 400 {
				put(text, gap)
			}
		}
	}
	for name, c := range map[string]struct {
		write  func(put)
		within time.Duration // from the end of a line to its record, after the first
	}{
		"each 1 ms":  {steady(line, time.Millisecond), time.Millisecond},
		"each 5 ms":  {steady(line, 5*time.Millisecond), 5 * time.Millisecond},
		"each 16 ms": {steady(line, 16*time.Millisecond), 16 * time.Millisecond},
		"each 40 ms": {steady(line, 40*time.Millisecond), idle},
		"below a header": {func(put put) {
			put(strings.Repeat("a line of a header\n", 20), 0)
			steady(line, 5*time.Millisecond)(put)
		}, 5 * time.Millisecond},
		"byte by byte": {func(put put) {
			for _, b := range strings.Repeat(line, 20) {
				put(string(b), time.Millisecond)
			}
		}, time.Duration(len(line)) * time.Millisecond},
		"a line without an end":        {steady("panel ", 5*time.Millisecond), 0},
		"a record without an end":      {steady("\tpanel\n", 5*time.Millisecond), maxAge},
		"an exception without a trace": {steady("Exception: panel\n", 5*time.Millisecond), maxAge},
		"one burst":                    {func(put put) { put(strings.Repeat(line, 50), time.Second) }, idle},
	} {
		runInBubble(t, name, func(t *testing.T, dir string) {
			fl := start(t, dir, nil)
			fl.write("")
			after(time.Second) // it is looked at
			begun := time.Now()
			var ends []time.Time // of lines
			var first, last time.Time
			var slowest time.Duration
			fl.seen = func(r *Record) {
				last = time.Now()
				if first.IsZero() {
					first = last
				} else if last.After(first) && r.StartLine <= len(ends) {
					slowest = max(slowest, last.Sub(ends[r.StartLine-1]))
				}
			}
			c.write(func(text string, gap time.Duration) {
				for range strings.Count(text, "\n") {
					ends = append(ends, time.Now())
				}
				fl.told(gap, text)
			})
			quiet := time.Since(last)
			require.NoError(t, fl.stop())
			require.False(t, first.IsZero())
			require.LessOrEqual(t, first.Sub(begun), 100*time.Millisecond)
			require.LessOrEqual(t, slowest, c.within)
			require.LessOrEqual(t, quiet, time.Second)
		})
	}
}

// TestLayoutTurns: text that was taken for plain, since nothing else was there yet, may turn out to be a log of Unity's.
func TestLayoutTurns(t *testing.T) {
	for _, fromEnd := range []bool{false, true} {
		bubble(t, func(t *testing.T, dir string) {
			appendTo(t, filepath.Join(dir, "Player.log"), "hello\n")
			fl := start(t, dir, func(c *Config) { c.FromEnd = fromEnd })
			for range 20 {
				fl.told(5*time.Millisecond, "the panel is lit\n")
			}
			require.NotEmpty(t, fl.recs)
			require.Equal(t, capture.LayoutPlain, fl.recs[0].Layout)
			fl.write("Initialize engine version: 2019.4.30f1 (e8c891080a1f)\nBroken\n")
			fl.synced()
			require.Equal(t, "unity-2019.4", fl.recs[len(fl.recs)-1].Layout.String())
		})
	}
}

func TestMissed(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		fl := start(t, dir, nil)
		for range 10 {
			fl.write("line\n")
			after(slower * defaultPoll)
		}
		require.Positive(t, fl.Status().Missed)
		fl.taken()
		fl.write("line\n")
		after(2*defaultPoll + idle)
		require.Len(t, fl.taken(), 1)
	})
}

// TestPace is the table of how often a file is polled: seldom with notifications, as configured without them and once
// they missed two changes, and ever more seldom while the file cannot be read.
func TestPace(t *testing.T) {
	const poll = 10 * time.Millisecond
	for _, c := range []struct {
		watched          bool
		missed, failures int
		want             time.Duration
	}{
		{false, 0, 0, poll},
		{true, 0, 0, 10 * poll},
		{true, 1, 0, 10 * poll},
		{true, 2, 0, poll},
		{true, 3, 0, poll},
		{true, 0, 1, 2 * poll},
		{false, 0, 3, 8 * poll},
		{false, 0, 7, 128 * poll},
		{false, 0, 8, 2 * time.Second},
		{false, 0, 1000, 2 * time.Second},
	} {
		tl := &tail{Follower: &Follower{cfg: Config{Poll: poll}}, missed: c.missed, failures: c.failures}
		if c.watched {
			tl.unwatch = func() {}
		}
		require.Equal(t, c.want, tl.pace(), c)
	}
	tl := &tail{Follower: &Follower{cfg: Config{Poll: time.Minute}}, failures: 5}
	require.Equal(t, time.Minute, tl.pace(), "no more often than without failures")
}

// TestWatchEnds: after a watch has ended by itself another begins.
func TestWatchEnds(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		f := testkit.Must(New(Config{Path: filepath.Join(dir, "Player.log")}))
		fl := &following{Follower: f, t: t, path: f.cfg.Path}
		var watches []chan struct{}
		f.watch = func(string) (<-chan struct{}, func(), error) {
			watches = append(watches, make(chan struct{}, 1))
			return watches[len(watches)-1], func() {}, nil
		}
		fl.run()
		synctest.Wait()
		require.Len(t, watches, 1)
		close(watches[0])
		after(time.Second)
		require.Len(t, watches, 2)
		require.True(t, fl.Status().Notified)
		fl.write("one\n")
		got, _ := fl.synced()
		require.Equal(t, []string{"one"}, got)
		require.NoError(t, fl.stop())
	})
}

// TestFromEndUnreadable: what could not be seen at the start is not read from its beginning when it can; what is known
// to be another file is.
func TestFromEndUnreadable(t *testing.T) {
	const unreadable = "/proc/self/mem" // at its beginning, which is never mapped
	for _, c := range []struct {
		name, link, err string
		want            []string
	}{
		{"not seen", "Player.log", "", []string{"new"}}, // a link to itself
		{"not readable", unreadable, "read ", []string{"of a run before", "new"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if info, err := os.Stat(unreadable); c.link == unreadable && (err != nil || !info.Mode().IsRegular()) {
				t.Skip("no regular file here opens and cannot be read")
			}
			bubble(t, func(t *testing.T, dir string) {
				path := filepath.Join(dir, "Player.log")
				require.NoError(t, os.Symlink(c.link, path))
				fl := start(t, dir, func(c *Config) { c.FromEnd = true })
				require.ErrorContains(t, fl.Sync(t.Context()), c.err)
				require.NoError(t, os.Remove(path))
				fl.write("of a run before\n")
				after(10 * time.Second)
				fl.write("new\n")
				got, _ := fl.synced()
				require.Equal(t, c.want, got)
				require.NoError(t, fl.stop())
			})
		})
	}
}
