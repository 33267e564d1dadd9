package follow

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/testkit"
)

// shift renames the log and each file before it, as a program does that counts its files by age, and keeps so many; then
// it creates the log with text.
func (r *run) shift(keep int, text string) {
	t := r.following.t
	_ = os.Remove(fmt.Sprint(r.path, ".", keep)) // there may be none
	for n := keep - 1; n > 0; n-- {
		_ = os.Rename(fmt.Sprint(r.path, ".", n), fmt.Sprint(r.path, ".", n+1)) // the same
	}
	require.NoError(t, os.Rename(r.path, r.path+".1"))
	r.write(text)
}

// linkTo makes the path of the log a link to another file.
func (r *run) linkTo(to string) {
	_ = os.Remove(r.path) // there may be none
	require.NoError(r.following.t, os.Symlink(to, r.path))
}

// generations is the table of what becomes of a log with one line, which its program has open.
var generations = map[string]struct {
	change func(t *testing.T, r *run)
	want   []string
}{
	"many, by age": {func(t *testing.T, r *run) {
		for n := range 20 {
			r.shift(30, fmt.Sprintln("line", n))
		}
	}, numberedLines("line", 0, 20)},
	"many, of one moment": {func(t *testing.T, r *run) {
		info := testkit.Must(os.Stat(r.path))
		for n := range 12 {
			r.shift(30, fmt.Sprintln("line", n))
			require.NoError(t, os.Chtimes(r.path, info.ModTime(), info.ModTime()))
		}
	}, numberedLines("line", 0, 12)},
	"many, by date": {func(t *testing.T, r *run) {
		for n := range 20 {
			require.NoError(t, os.Rename(r.path, fmt.Sprint(r.path, "-202611", 10+n)))
			r.write(fmt.Sprintln("line", n))
		}
	}, numberedLines("line", 0, 20)},
	"many, before the ending": {func(t *testing.T, r *run) {
		for n := range 12 {
			require.NoError(t, os.Rename(r.path, filepath.Join(filepath.Dir(r.path), fmt.Sprint("Player.", n, ".log"))))
			r.write(fmt.Sprintln("line", n))
		}
	}, numberedLines("line", 0, 12)},
	"a link to each": {func(t *testing.T, r *run) {
		for n := range 12 {
			file := filepath.Join(filepath.Dir(r.path), fmt.Sprint("log.", n))
			appendTo(t, file, fmt.Sprintln("line", n))
			r.linkTo(file)
			if n == 0 { // the name of the first is not like the others
				r.open("own", file)
				r.step()
			}
		}
	}, numberedLines("line", 1, 12)},
	"a hard link to each": {func(t *testing.T, r *run) {
		for n := range 12 {
			require.NoError(t, os.Link(r.path, filepath.Join(filepath.Dir(r.path), fmt.Sprint("kept.", n))))
			require.NoError(t, os.Remove(r.path))
			r.write(fmt.Sprintln("line", n))
		}
	}, numberedLines("line", 0, 12)},
	"more than remain": {func(t *testing.T, r *run) {
		for n := range 5 {
			r.shift(2, fmt.Sprintln("line", n))
		}
	}, []string{"hole 0", "line 2", "line 3", "line 4"}},
	"compressed, but for the last": {func(t *testing.T, r *run) {
		require.NoError(t, os.Remove(r.path))
		appendTo(t, r.path+".1.gz", "\x1f\x8b\x08")
		r.write("line\n")
	}, []string{"hole 0", "line"}},
	"only the first is compressed": {func(t *testing.T, r *run) {
		info := testkit.Must(os.Stat(r.path))
		require.NoError(t, os.Remove(r.path))
		appendTo(t, r.path+".1.gz", "\x1f\x8b\x08")
		require.NoError(t, os.Chtimes(r.path+".1.gz", info.ModTime(), info.ModTime()))
		r.write("line\n")
	}, []string{"line"}},
	"the folder with them": {func(t *testing.T, r *run) {
		dir := filepath.Dir(r.path)
		require.NoError(t, os.Rename(dir, dir+".1"))
		require.NoError(t, os.Mkdir(dir, 0o700))
		appendTo(t, filepath.Join(dir+".1", "Player.log"), "last\n")
		r.write("line\n")
	}, []string{"last", "line"}},
	"beside the log of another program": {func(t *testing.T, r *run) {
		appendTo(t, other(r.path), "of another\n")
		r.shift(9, "line\n")
		appendTo(t, other(r.path), "of another\n")
	}, []string{"line"}},
	"late lines": {func(t *testing.T, r *run) {
		r.shift(9, "line\n")
		r.open("own", r.path)
		r.step()
		appendTo(t, r.path+".1", "late\nlater")
		r.write("next\n")
		after(lingers / 2)
		appendTo(t, r.path+".1", " than that\n")
		r.poke()
		after(lingers / 2)
	}, []string{"late", "next", "later than that"}},
	"half a line, whose end comes late": {func(t *testing.T, r *run) {
		appendTo(t, r.path, "a line")
		r.shift(9, "next\n")
		r.open("own", r.path)
		r.poke()
		after(defaultPartialIdle / 2)
		appendTo(t, r.path+".1", " in two\n")
		after(time.Second)
	}, []string{"a line in two", "next"}},
	"an empty one, while the first grows": {func(t *testing.T, r *run) {
		r.shift(9, "")
		after(time.Minute)
		appendTo(t, r.path+".1", "late\n")
		after(time.Second)
		r.write("next\n")
		r.open("own", r.path)
		r.poke()
		after(switchAfter)
	}, []string{"late", "next"}},
	"the first stays open, and the next is not": {func(t *testing.T, r *run) {
		r.shift(9, "line\n")
		after(2 * lingers)
		r.told(switchAfter, "next\n")
	}, []string{"line", "next"}},
	"written again, with more": {func(t *testing.T, r *run) {
		text := "one\n"
		for n := range 5 {
			text += fmt.Sprintln("line", n)
			require.NoError(t, os.WriteFile(r.path+".tmp", []byte(text), 0o600))
			require.NoError(t, os.Rename(r.path+".tmp", r.path))
			if n%2 == 0 {
				r.poke()
				after(time.Second)
			}
		}
	}, numberedLines("line", 0, 5)},
	"another one for a while": {func(t *testing.T, r *run) {
		r.shift(9, "line\n")
		r.open("own", r.path)
		r.poke()
		after(time.Second)
		require.NoError(t, os.Rename(r.path, r.path+".2"))
		require.NoError(t, os.Rename(r.path+".1", r.path))
		appendTo(t, r.path, "next\n")
	}, []string{"line", "next"}},
	"a reserved place in each": {func(t *testing.T, r *run) {
		require.NoError(t, os.Truncate(r.path, 1<<20))
		r.poke()
		after(time.Second)
		r.shift(9, "line\n")
		require.NoError(t, os.Truncate(r.path, 1<<20))
	}, []string{"line"}},
}

// other returns the path of another program's log in the folder of a log.
func other(path string) string { return filepath.Join(filepath.Dir(path), "Player.77.log") }

func numberedLines(text string, from, to int) (lines []string) {
	for n := from; n < to; n++ {
		lines = append(lines, fmt.Sprint(text, " ", n))
	}
	return lines
}

func TestGenerations(t *testing.T) {
	for name, c := range generations {
		for _, quiet := range []bool{false, true} {
			runInBubble(t, name, func(t *testing.T, dir string) {
				dir = filepath.Join(dir, "logs")
				require.NoError(t, os.Mkdir(dir, 0o700))
				appendTo(t, filepath.Join(dir, "Player.77.log"), "of another\n")
				r := newRun(t, dir, "", true, func(c *Config) { c.NewRun = false })
				r.write("one\n")
				r.open("own", r.path)
				r.gets("one")
				require.NoError(t, r.Sync(t.Context()))
				c.change(t, r)
				if !strings.Contains(name, "stays open") && !strings.Contains(name, "again") {
					r.open("own", r.path)
				}
				if quiet {
					after(2 * lingers)
				} else {
					require.NoError(t, r.Sync(t.Context()))
					after(lingers)
				}
				got := r.taken()
				if name == "late lines" || name == "a link to each" {
					require.Equal(t, c.want, got[len(got)-len(c.want):])
				} else {
					require.Equal(t, c.want, got)
				}
			})
		}
	}
}

// TestGenerationsAtStart: the files that a program leaves before its log is looked at first are of its log, if there was
// none when the follower started.
func TestGenerationsAtStart(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		appendTo(t, filepath.Join(dir, "Player.log.7"), "of an earlier run\n")
		long := time.Now().Add(-time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(dir, "Player.log.7"), long, long))
		r := newRun(t, dir, "", true)
		r.write("line 0\n")
		for n := 1; n < 5; n++ {
			r.shift(9, fmt.Sprintln("line", n))
		}
		appendTo(t, r.path+".6.gz", "\x1f\x8b\x08")
		r.gets(append([]string{"hole 0"}, numberedLines("line", 0, 5)...)...)
	})
}

// TestLogrotate follows a log that another process writes while logrotate renames it.
func TestLogrotate(t *testing.T) {
	program, err := exec.LookPath("logrotate")
	if err != nil {
		t.Skip("there is no logrotate here")
	}
	for _, how := range []string{"create", "nocreate", "create\ncompress", "create\ndateext\ndateformat -%Y%m%d-%s\ncompress"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, conf := filepath.Join(dir, "Player.log"), filepath.Join(dir, "conf")
			require.NoError(t, os.Chmod(dir, 0o700)) //nolint:gosec // logrotate refuses a folder that others may write to
			require.NoError(t, os.WriteFile(conf, fmt.Appendf(nil, "%q {\nrotate 99\n%s\n}\n", path, how), 0o600))
			f := testkit.Must(New(Config{Path: path, Continues: true, Capture: capture.Options{Layout: capture.LayoutPlain}}))
			stop := follow(t, f)
			require.NoError(t, f.Sync(t.Context()))
			write, count := writer(t, path, strings.HasPrefix(how, "nocreate")), 0
			for n := range 20 {
				done := write(100)
				if n > 0 {
					_ = exec.Command(program, "-f", "-s", conf+".state", conf).Run() // a file of this second may be there
				}
				<-done
				<-write(1) // to a file that may be compressed with the next
				count += 101
				require.NoError(t, f.Sync(t.Context()))
			}
			require.Positive(t, f.Status().Rotations)
			got := stop()
			for n, want := range numberedLines("line", 0, min(count, len(got))) {
				require.Equal(t, want, got[n], "after %v", got[max(0, n-3):n])
			}
			require.Equal(t, count, len(got), "%+v", f.Status())
		})
	}
}

// writer starts a process that writes lines to a log, in the file that has its path before each line; it makes one only
// if it may. write lets it write some more, and returns when that is done.
func writer(t *testing.T, path string, creates bool) (write func(lines int) (done chan struct{})) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestWriter$") //nolint:gosec // this program
	cmd.Env = append(os.Environ(), "FOLLOW_WRITER="+path, fmt.Sprint("FOLLOW_CREATES=", creates))
	in := testkit.Must(cmd.StdinPipe())
	out := testkit.Must(cmd.StdoutPipe())
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // it ends by the end of its input
	})
	return func(lines int) chan struct{} {
		testkit.Must(fmt.Fprintln(in, lines))
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = out.Read(make([]byte, 1)) // the test fails if it has ended
		}()
		return done
	}
}

// TestWriter is the process that writer starts.
func TestWriter(t *testing.T) {
	path := os.Getenv("FOLLOW_WRITER")
	if path == "" {
		t.Skip("it is for another test")
	}
	flag := os.O_APPEND | os.O_WRONLY | os.O_CREATE
	log := testkit.Must(os.OpenFile(path, flag, 0o600))
	if os.Getenv("FOLLOW_CREATES") == "false" {
		flag &^= os.O_CREATE
	}
	n, lines := 0, 0
	for {
		if _, err := fmt.Scan(&lines); err != nil {
			os.Exit(0)
		}
		for end := n + lines; n < end; n++ {
			for {
				own := testkit.Must(log.Stat())
				if at, err := os.Stat(path); err == nil && os.SameFile(at, own) {
					break
				}
				if next, err := os.OpenFile(path, flag, 0o600); err == nil {
					require.NoError(t, log.Close())
					log = next
				}
			}
			testkit.Must(fmt.Fprintln(log, "line", n))
		}
		fmt.Print(".")
	}
}

// follow runs a follower, and returns a function that stops it and returns the lines that were delivered.
func follow(t *testing.T, f *Follower) (stop func() []string) {
	fl := &following{Follower: f, t: t, path: f.cfg.Path}
	fl.run()
	return func() []string {
		require.NoError(t, fl.stop())
		return fl.taken()
	}
}

// TestNamesOfGenerations is the table of the names under which a file remains that was the log.
func TestNamesOfGenerations(t *testing.T) {
	for _, c := range []struct {
		name, base, own string
		want            bool
	}{
		{"Player.log.1", "Player.log", "", true},
		{"Player.log.1.gz", "Player.log", "", true},
		{"Player.log-20260131.zst", "Player.log", "", true},
		{"Player-1.log", "Player.log", "", true},
		{"Player_2026-01-31.log", "Player.log", "", true},
		{"Player.1.log", "Player.log", "", true},
		{"Player.log", "Player.log", "", false},
		{"Player.log.old", "Player.log", "", false},
		{"Player2.log", "Player.log", "", false},
		{"Player-prev1.log", "Player.log", "", false},
		{"Other.log.1", "Player.log", "", false},
		{"Player-prev2.log", "Player.log", "Player-prev1.log", true},
		{"old.7", "Player.log", "old.6", true},
		{"new.7", "Player.log", "old.6", false},
		{"old", "Player.log", "old.6", false},
	} {
		require.Equal(t, c.want, rotated(c.name, c.base, c.own), "%s of %s beside %q", c.name, c.base, c.own)
	}
	names := []string{"a.log.10", "a.log.2", "a.log.1", "a.log.9", "a.log.100"}
	slices.SortFunc(names, natural)
	require.Equal(t, []string{"a.log.1", "a.log.2", "a.log.9", "a.log.10", "a.log.100"}, names)
	require.Equal(t, []string{"a", "a", "a", "a.xz"}, []string{
		uncompressed("a"), uncompressed("a.gz"), uncompressed("a.zst"), uncompressed("a.xz"),
	})
}

// TestRemember: the latest files are remembered, and those before them are closed.
func TestRemember(t *testing.T) {
	var files []generation
	var opened []*os.File
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte("before the offset"), 0o600))
	for n := range 70 {
		f := testkit.Must(os.Open(path))
		opened = append(opened, f)
		files = remember(files, generation{file: f, offset: int64(n)})
	}
	require.Len(t, files, 64)
	require.EqualValues(t, 6, files[0].offset)
	require.True(t, holds(opened[69], []byte("the"), 10))
	for last, offset := range map[string]int64{"the": 9, "thE": 10, "offset and more": 17, "set": 18} {
		require.False(t, holds(opened[69], []byte(last), offset), last)
	}
	closeAll(files)
	for n, f := range opened {
		require.ErrorIs(t, f.Close(), os.ErrClosed, n)
	}
}
