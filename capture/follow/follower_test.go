package follow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// following is a Follower that runs, with what it handed over.
type following struct {
	*Follower
	t    *testing.T
	path string
	poke func()

	mu   sync.Mutex
	got  []string
	recs []Record
	stop func() error
	gate atomic.Pointer[chan struct{}] // where the handler waits
	seen func(*Record)                 // is called with each record
}

// start follows the file Player.log in dir in a goroutine. Nobody tells of
// changes but the test.
func start(t *testing.T, dir string, change func(*Config)) *following {
	t.Helper()
	cfg := Config{Path: filepath.Join(dir, "Player.log")}
	if change != nil {
		change(&cfg)
	}
	f := testkit.Must(New(cfg))
	fl := &following{Follower: f, t: t, path: cfg.Path}
	f.watch = func(string) (<-chan struct{}, func(), error) {
		changes := make(chan struct{}, 1)
		fl.poke = func() {
			select {
			case changes <- struct{}{}:
			default:
			}
		}
		return changes, func() {}, nil
	}
	fl.run()
	t.Cleanup(func() { require.NoError(t, fl.stop()) })
	synctest.Wait() // it has looked at what there is
	return fl
}

func (fl *following) run() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- fl.Run(ctx, fl.take) }()
	fl.stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
}

func (fl *following) take(r *Record) {
	if gate := fl.gate.Load(); gate != nil {
		<-*gate
	}
	line := ""
	switch r.Kind {
	case event.KindNotice:
		line = fmt.Sprintf("%s %d", r.Status, r.Count)
	default:
		line = strings.ReplaceAll(r.Message, "\n", "|")
		if r.Stack != "" {
			line += " @" + strings.ReplaceAll(strings.TrimSpace(r.Stack), "\n", "|")
		}
		if !r.IsLog() {
			line = r.KindName() + ": " + line
		}
	}
	if r.Part != event.Whole {
		line += " +"
	}
	if r.History {
		line = "old " + line
	}
	if fl.seen != nil {
		fl.seen(r)
	}
	fl.mu.Lock()
	defer fl.mu.Unlock()
	fl.got = append(fl.got, strings.Clone(line))
	fl.recs = append(fl.recs, *r)
}

// taken returns what was handed over since it was called last.
func (fl *following) taken() []string {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	got := fl.got
	fl.got = nil
	return got
}

func (fl *following) write(text string) { appendTo(fl.t, fl.path, text) }

// told writes text, tells of it, and lets d pass.
func (fl *following) told(d time.Duration, text string) {
	fl.t.Helper()
	fl.write(text)
	fl.poke()
	after(d)
}

// overwrite makes text all that the log holds.
func (fl *following) overwrite(text string) {
	fl.t.Helper()
	require.NoError(fl.t, os.WriteFile(fl.path, []byte(text), 0o600))
}

// wide returns text in UTF-16.
func wide(text string) (s string) {
	for _, b := range []byte(text) {
		s += string([]byte{b, 0})
	}
	return s
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f := testkit.Must(os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))
	testkit.Must(f.WriteString(text))
	require.NoError(t, f.Close())
}

// synced returns what was handed over by the time that Sync returned, and how long
// it took.
func (fl *following) synced() ([]string, time.Duration) {
	fl.t.Helper()
	begun := time.Now()
	require.NoError(fl.t, fl.Sync(context.Background()))
	return fl.taken(), time.Since(begun)
}

// gets fails unless a Sync hands over these lines.
func (fl *following) gets(want ...string) {
	fl.t.Helper()
	got, _ := fl.synced()
	require.Equal(fl.t, want, got)
}

// bubble runs f in time of its own.
func bubble(t *testing.T, f func(t *testing.T, dir string)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { f(t, dir) })
}

// runInBubble runs f as a test of its own, in time of its own.
func runInBubble(t *testing.T, name string, f func(t *testing.T, dir string)) {
	t.Run(name, func(t *testing.T) { bubble(t, f) })
}

// after lets d pass, and everything that happens in it.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestGrowth(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		fl := start(t, dir, nil)
		after(time.Second)
		require.Empty(t, fl.taken())
		require.False(t, fl.Status().Present)
		fl.told(idle-1, "one\n")
		require.Empty(t, fl.taken())
		after(1)
		require.Equal(t, []string{"one"}, fl.taken())
		require.Equal(t, time.Now().Add(-idle).UTC(), fl.recs[0].Arrived)
		require.Equal(t, fl.recs[0].Arrived, fl.recs[0].Time)

		fl.told(0, "two\r\n\tmore\r\nthree\r\nfo")
		require.Equal(t, []string{"two|\tmore"}, fl.taken())
		after(idle)
		require.Equal(t, []string{"three"}, fl.taken())
		after(defaultPartialIdle)
		require.Equal(t, []string{"fo"}, fl.taken())
		fl.write("ur\n") // not told of
		after(slower*defaultPoll + idle)
		require.Equal(t, []string{"four +"}, fl.taken())

		s := fl.Status()
		require.True(t, s.Present)
		require.EqualValues(t, 5, s.Lines)
		require.EqualValues(t, 5, s.Records)
		require.EqualValues(t, 1, s.Continued)
		require.Equal(t, s.Size, s.Offset)
		require.NoError(t, fl.stop())
		require.ErrorIs(t, fl.Sync(context.Background()), errStopped)
		require.Error(t, fl.Run(context.Background(), fl.take))
	})
}

func TestSync(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		fl := start(t, dir, nil)
		_, took := fl.synced()
		require.Zero(t, took)
		fl.write("one\ntwo")
		got, took := fl.synced()
		require.Equal(t, []string{"one", "two"}, got)
		require.Equal(t, syncIdle, took)
		got, took = fl.synced()
		require.Empty(t, got)
		require.Zero(t, took)
		fl.write("\nthree\nSystem.Exception: four\n")
		got, took = fl.synced()
		require.Equal(t, []string{"two +", "three", "System.Exception: four"}, got)
		require.Zero(t, took, "whole lines, whatever may follow")

		// A file that grows all the time delays it no longer than idle.
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
					fl.write("\tindented\n")
					fl.poke()
				}
			}
		})
		after(10 * time.Millisecond)
		got, took = fl.synced()
		close(stop)
		wg.Wait()
		require.NotEmpty(t, got)
		require.LessOrEqual(t, took, idle+time.Millisecond)
	})
}

func TestStopHandsOver(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		fl := start(t, dir, nil)
		after(0)
		fl.write("one\ntwo")
		require.NoError(t, fl.stop())
		require.Equal(t, []string{"one", "two"}, fl.taken())
	})
}

func TestFrom(t *testing.T) {
	const old = "Initialize engine version: 2019.4.30f1 (e8c891080a1f)\nold\n"
	bubble(t, func(t *testing.T, dir string) {
		appendTo(t, filepath.Join(dir, "Player.log"), old)
		fl := start(t, dir, nil)
		after(time.Second)
		require.Equal(t, []string{"old Initialize engine version: 2019.4.30f1 (e8c891080a1f)", "old old"}, fl.taken())
		require.Zero(t, fl.recs[0].Arrived)
		require.Zero(t, fl.recs[0].Time)
		fl.write("new\n")
		fl.gets("new")
		require.NotZero(t, fl.recs[2].Arrived)
	})
	bubble(t, func(t *testing.T, dir string) {
		appendTo(t, filepath.Join(dir, "Player.log"), old)
		fl := start(t, dir, func(c *Config) { c.FromEnd = true })
		after(time.Second)
		fl.write("new\n")
		fl.gets("new")
		require.Equal(t, "unity-2019.4", fl.recs[0].Layout.String())
		require.NoError(t, os.Rename(fl.path, fl.path+"-prev"))
		fl.write(old)
		got, _ := fl.synced()
		require.Len(t, got, 3)
		require.Equal(t, "restarted 0", got[0])
	})
	bubble(t, func(t *testing.T, dir string) { // UTF-16
		appendTo(t, filepath.Join(dir, "Player.log"), "\xff\xfea\x00\n\x00")
		fl := start(t, dir, func(c *Config) { c.FromEnd = true })
		after(0)
		fl.write("b\x00\n\x00")
		fl.gets("b")
	})
}

// TestRestarts holds what is said of the ways in which a log begins anew.
func TestRestarts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(fl *following)
		want   []string
		truncs uint64
	}{
		"renamed and created": {func(fl *following) {
			require.NoError(fl.t, os.Rename(fl.path, fl.path+"-prev"))
			fl.write("three\n")
		}, []string{"restarted 0", "three"}, 0},
		"replaced by rename": {func(fl *following) {
			appendTo(fl.t, fl.path+".new", "three\n")
			require.NoError(fl.t, os.Rename(fl.path+".new", fl.path))
		}, []string{"restarted 0", "three"}, 0},
		"written to before it is renamed": {func(fl *following) {
			fl.write("last\n")
			require.NoError(fl.t, os.Rename(fl.path, fl.path+"-prev"))
			fl.write("three\n")
		}, []string{"last", "restarted 0", "three"}, 0},
		"deleted and created": {func(fl *following) {
			require.NoError(fl.t, os.Remove(fl.path))
			fl.write("three\n")
		}, []string{"restarted 0", "three"}, 0},
		"cut": {func(fl *following) { fl.overwrite("three\n") }, []string{"restarted 0", "three"}, 1},
		"cut, and as long as before": {func(fl *following) {
			fl.overwrite("thr\nfour\n")
		}, []string{"restarted 0", "thr", "four"}, 1},
		"cut, and longer than before": {func(fl *following) {
			fl.overwrite("three\nfour\nfive\n")
		}, []string{"restarted 0", "three", "four", "five"}, 1},
		"cut to nothing": {func(fl *following) {
			require.NoError(fl.t, os.Truncate(fl.path, 0))
		}, []string{"restarted 0"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				fl := start(t, dir, nil)
				fl.write("one\ntwo-2\n")
				fl.gets("one", "two-2")
				c.change(fl)
				fl.gets(c.want...)
				require.Equal(t, c.truncs, fl.Status().Truncations)
				require.Equal(t, 1-c.truncs, fl.Status().Rotations)
			})
			bubble(t, func(t *testing.T, dir string) { // without a Sync
				fl := start(t, dir, nil)
				fl.write("one\ntwo-2\n")
				after(time.Second)
				fl.taken()
				c.change(fl)
				after(time.Second)
				require.Equal(t, c.want, fl.taken())
			})
		})
	}
}

// TestLost cuts a file of which a part has not been read, since the handler is
// slow.
func TestLost(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		appendTo(t, filepath.Join(dir, "Player.log"), "")
		fl := start(t, dir, nil)
		after(0)
		line := strings.Repeat("x", 99) + "\n"
		whole := strings.Repeat(line, 10_000)
		gate := make(chan struct{})
		fl.gate.Store(&gate)
		fl.told(time.Second, whole)
		fl.write("more\n")
		fl.overwrite("again\n")
		close(gate)
		after(time.Second)
		got := fl.taken()
		require.Equal(t, []string{"restarted 0", "again"}, got[len(got)-2:])
		var hole uint64
		testkit.Must(fmt.Sscanf(got[len(got)-3], "hole %d", &hole))
		require.Equal(t, hole, fl.Status().LostBytes)
		require.Positive(t, hole)
		require.LessOrEqual(t, hole, uint64(len(whole)-chunkSize+lastSize))
	})
}

// TestPresent: the file is there before its first record, however long it is.
func TestPresent(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "Player.log")
		appendTo(t, path, strings.Repeat("one"+strings.Repeat(" ", 60)+"\n", chunkSize/32))
		f := testkit.Must(New(Config{Path: path, NoNotify: true}))
		require.Equal(t, Status{Path: path}, f.Status())
		absent := 0
		fl := &following{Follower: f, t: t, seen: func(*Record) {
			if !f.Status().Present {
				absent++
			}
		}}
		fl.run()
		require.NoError(t, f.Sync(t.Context()))
		require.True(t, f.Status().Present)
		require.NoError(t, fl.stop())
		require.Zero(t, absent)
		require.Equal(t, path, f.Status().Path)
	})
}

func TestUnfit(t *testing.T) {
	_, err := New(Config{})
	require.ErrorContains(t, err, "Config.Path")
	_, err = New(Config{Path: "x", Poll: -1})
	require.ErrorContains(t, err, "Config.Poll")
	_, err = New(Config{Path: "x", Capture: capture.Options{Layout: 99}})
	require.ErrorContains(t, err, "Options.Layout")

	_, err = New(Config{Path: t.TempDir()})
	require.ErrorContains(t, err, "is a folder: name the log file in it")
	_, err = New(Config{Path: os.DevNull})
	require.ErrorContains(t, err, "is a pipe or a device")
	_, err = New(Config{Path: "nowhere.log"})
	require.NoError(t, err, "it may come")

	bubble(t, func(t *testing.T, dir string) { // comes to be one, and heals
		fl := start(t, dir, nil)
		require.NoError(t, os.Mkdir(fl.path, 0o700))
		after(10 * time.Second)
		require.ErrorContains(t, fl.Status().LastError, "is a folder")
		require.ErrorContains(t, fl.Sync(context.Background()), "is a folder")
		require.NoError(t, os.Remove(fl.path))
		fl.write("one\n")
		after(10 * time.Second)
		require.Equal(t, []string{"one"}, fl.taken())
		require.NoError(t, fl.Status().LastError)
	})
}

// TestNoText: of a file that is no text nothing is read, wherever the following begins, until it is one.
func TestNoText(t *testing.T) {
	binary := strings.Repeat("\x7fELF\x02\x01\x01\x00", 64)
	bubble(t, func(t *testing.T, dir string) {
		fl := start(t, dir, nil)
		fl.write("one\n")
		after(time.Second)
		fl.write(strings.Repeat("two\n", 10))
		after(time.Second)
		require.Len(t, fl.taken(), 11)
		require.NoError(t, os.Rename(fl.path, fl.path+".1"))
		fl.write(binary)
		after(10 * time.Second)
		require.ErrorContains(t, fl.Status().LastError, "Player.log is not a text file")
		require.ErrorContains(t, fl.Sync(context.Background()), "is not a text file")
		require.False(t, fl.Status().Present)
		fl.write(strings.Repeat(binary, 1000))
		after(10 * time.Second)
		require.Equal(t, []string{"restarted 0"}, fl.taken())
		require.NoError(t, os.Remove(fl.path))
		fl.write("\xfe\xff\x00t\x00h\x00r\x00e\x00e\x00\n")
		after(10 * time.Second)
		require.Equal(t, []string{"three"}, fl.taken(), "UTF-16 with its mark")
		require.NoError(t, fl.Status().LastError)
	})
	bubble(t, func(t *testing.T, dir string) {
		appendTo(t, filepath.Join(dir, "Player.log"), strings.Repeat(binary, 1000))
		fl := start(t, dir, func(c *Config) { c.FromEnd = true })
		fl.write("one\n")
		after(10 * time.Second)
		require.ErrorContains(t, fl.Status().LastError, "is not a text file")
		require.NoError(t, fl.stop())
		require.Empty(t, fl.taken())
	})
}

// TestNotified follows a real file as the operating system tells of it.
func TestNotified(t *testing.T) {
	dir := t.TempDir()
	f := testkit.Must(New(Config{Path: filepath.Join(dir, "Player.log"), Poll: time.Hour}))
	got := make(chan string, 10)
	fl := &following{Follower: f, t: t, path: f.cfg.Path, seen: func(r *Record) {
		got <- fmt.Sprint(r.Status, " ", r.Message)
	}}
	fl.run()
	require.Eventually(t, func() bool { return f.Status().Notified }, 10*time.Second, time.Millisecond)
	fl.write("one\n")
	require.Equal(t, "none one", <-got)
	fl.write("two\n")
	require.Equal(t, "none two", <-got)
	require.NoError(t, os.Rename(fl.path, fl.path+"-prev"))
	fl.write("three\n")
	require.Equal(t, "restarted another log replaced it", <-got)
	require.Equal(t, "none three", <-got)
	require.NoError(t, fl.stop())
}
