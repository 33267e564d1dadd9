package follow

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// writers stands in for what the system knows: files by who has them open.
type writers struct {
	t     *testing.T
	mu    sync.Mutex
	files map[string][]fs.FileInfo // "own", "other"
	since map[string]time.Time     // when each was started
	link  string                   // opens the program's file
	asked int
}

// open notes that somebody opens the file at a path, and close that somebody closes it.
func (w *writers) open(who, path string) fs.FileInfo {
	w.t.Helper()
	info := testkit.Must(os.Stat(path))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[who] = append(w.files[who], info)
	return info
}

func (w *writers) close(who string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.files, who)
}

func (w *writers) of(file fs.FileInfo) (own, other time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	since := func(who string) time.Time {
		for _, f := range w.files[who] {
			if os.SameFile(f, file) {
				return w.since[who]
			}
		}
		return time.Time{}
	}
	return since("own"), since("other")
}

// started notes that somebody is another process from now on.
func (w *writers) started(who string) {
	time.Sleep(time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since[who] = time.Now()
}

func newWriters(t *testing.T) *writers {
	return &writers{
		t: t, files: map[string][]fs.FileInfo{}, since: map[string]time.Time{"own": time.Now(), "other": time.Now()},
	}
}

// run is a follower of the log of a program that is about to start.
type run struct {
	*following
	*writers
}

func (r *run) prev() string { return r.path + "-prev" }

// rotate renames the log, as a program does that begins a log, and creates another.
func (r *run) rotate(text string) {
	require.NoError(r.following.t, os.Rename(r.path, r.prev()))
	appendTo(r.following.t, r.path, text)
}

// rotateOpen rotates the log, and the program has the new one open.
func (r *run) rotateOpen(text string) {
	r.rotate(text)
	r.open("own", r.path)
}

// step lets the follower look, as before a call, and returns what came and why there is no log.
func (r *run) step() (got []string, absent string) {
	got, _ = r.synced()
	st := r.Status()
	require.Equal(r.following.t, st.Absent == "", st.Present)
	require.True(r.following.t, st.Present || !st.Renamed)
	return got, st.Absent
}

// gets fails unless a step hands over these lines, and there is a log.
func (r *run) gets(want ...string) {
	r.following.t.Helper()
	got, absent := r.step()
	require.Equal(r.following.t, want, got)
	require.Empty(r.following.t, absent)
}

// lacks fails unless a step hands over nothing, since there is no log for this reason.
func (r *run) lacks(why string) {
	r.following.t.Helper()
	got, absent := r.step()
	require.Empty(r.following.t, got)
	require.Contains(r.following.t, absent, why)
}

// newRun starts a follower where old is what an earlier run left, "" for nothing.
func newRun(t *testing.T, dir, old string, known bool, change ...func(*Config)) *run {
	t.Helper()
	w := newWriters(t)
	if old != "" {
		path := filepath.Join(dir, "Player.log")
		appendTo(t, path, old)
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-recently)))
	}
	fl := start(t, dir, func(c *Config) {
		if c.NewRun = true; known {
			c.Writers = w.of
			c.Open = func(string) string {
				w.mu.Lock()
				defer w.mu.Unlock()
				return w.link
			}
		}
		for _, change := range change {
			change(c)
		}
	})
	return &run{fl, w}
}

// TestNewRun is the table of what counts as the log of a program that starts after the follower.
func TestNewRun(t *testing.T) {
	const (
		earlier = "is of an earlier run"
		another = "another program writes"
		none    = "there is no file"
	)
	for name, c := range map[string]struct {
		old      string
		begin    func(r *run)
		absent   string // before
		evidence string
		want     []string
	}{
		"appends": {"old\n", func(r *run) { r.write("new\n") }, earlier, grownEvidence + sameAgain, []string{"new"}},
		"creates": {"", func(r *run) { r.write("new\n") }, none, createdEvidence, []string{"new"}},
		"renames": {"old\n", func(r *run) { r.rotate("new\n") }, earlier, createdEvidence, []string{"new"}},
		"has open": {"old\n", func(r *run) {
			r.open("own", r.path)
			after(idle)
		}, earlier, openEvidence, nil},
		"empties": {"old\n", func(r *run) { r.overwrite("n\n") }, earlier, emptiedEvidence, []string{"n"}},
		"empties, and longer": {"old\n", func(r *run) {
			r.overwrite("new\nnewer\n")
		}, earlier, emptiedEvidence, []string{"new", "newer"}},
		"writes the same text again": {"old\n", func(r *run) {
			r.overwrite("old\n")
		}, earlier, emptiedEvidence, []string{"old"}},
		"writes the same text again, and has it open": {"old\n", func(r *run) {
			r.overwrite("old\n")
			r.open("own", r.path)
		}, earlier, openEvidence, []string{"old"}},
		"empties only": {"old\n", func(r *run) { require.NoError(t, os.Truncate(r.path, 0)) }, earlier, emptiedEvidence, nil},
		"an empty file": {"\n", func(r *run) {
			require.NoError(t, os.Remove(r.path))
			r.write("new\n")
		}, earlier, createdEvidence, []string{"new"}},
		"beside another that writes the file": {"old\n", func(r *run) {
			r.open("other", r.path)
			r.write("of another\n")
			r.lacks(another)
			r.rotateOpen("new\n")
			appendTo(t, r.prev(), "of another, too\n")
		}, earlier, openEvidence, []string{"new"}},
		"beside another that created it": {"", func(r *run) {
			r.write("of another\n")
			r.open("other", r.path)
			r.lacks(another)
			r.rotateOpen("new\n")
		}, none, openEvidence, []string{"new"}},
		"beside another that ended": {"", func(r *run) {
			r.write("of another\n")
			r.open("other", r.path)
			r.lacks(another)
			r.close("other")
			after(time.Minute)
			r.lacks(another)
			r.rotate("new\n")
		}, none, createdEvidence, []string{"new"}},
	} {
		for _, quiet := range []bool{false, true} {
			runInBubble(t, name, func(t *testing.T, dir string) {
				r := newRun(t, dir, c.old, true)
				after(time.Minute)
				r.lacks(c.absent)
				c.begin(r)
				if quiet { // without a call
					after(2 * askEvery)
					require.True(t, r.Status().Present)
				}
				r.gets(c.want...)
				require.Equal(t, c.evidence, r.Status().Evidence)
				r.write("more\n")
				r.gets("more")
			})
		}
	}
}

// TestNewRunBusy: that a file grows which was written until the start is no sign of a new run; another sign is one.
func TestNewRunBusy(t *testing.T) {
	for name, c := range map[string]struct {
		begin    func(r *run)
		evidence string
		want     []string
	}{
		"creates": {func(r *run) { r.rotate("new\n") }, createdEvidence, []string{"new"}},
		"has open": {func(r *run) {
			r.open("own", r.path)
			got, absent := r.step()
			require.Empty(r.following.t, absent)
			require.Len(r.following.t, got, 100, "passed over before")
			r.write("new\n")
		}, openEvidence, []string{"new"}},
		"empties": {func(r *run) { r.overwrite("n\n") }, emptiedEvidence, []string{"n"}},
	} {
		runInBubble(t, name, func(t *testing.T, dir string) {
			appendTo(t, filepath.Join(dir, "Player.log"), "old\n")
			r := newRun(t, dir, "", true)
			for range 100 {
				r.told(idle, "of whom?\n")
			}
			r.lacks("shortly before the start")
			require.Less(t, r.asked, 10)
			after(idle)
			c.begin(r)
			r.gets(c.want...)
			require.Equal(t, c.evidence, r.Status().Evidence)
		})
	}
}

// TestPassedOver: what was passed over before it was known whose it is is read once that is known.
func TestPassedOver(t *testing.T) {
	for name, c := range map[string]struct {
		old  string // written long before the start; "": shortly before
		pass func(r *run)
		want []string
	}{
		"by whom was not known": {"", func(r *run) {
			r.told(idle, "a\nb")
			r.write("\nc\n")
		}, []string{"a", "b", "c"}},
		"from the first byte": {"", func(r *run) { r.told(idle, "a\n") }, []string{"a"}},
		"lines of another are not": {"old\n", func(r *run) {
			r.open("other", r.path)
			r.write("of another\n")
			r.lacks("another program writes")
			r.write("a\n") // before it is asked again
			r.poke()
			after(idle)
		}, []string{"a"}},
		"after some that were read": {"old\n", func(r *run) {
			r.write("read\n")
			r.gets("read")
			r.open("other", r.path)
			after(idle)
			r.write("of another\n")
			r.lacks("another program writes")
			r.told(idle, "a\n")
		}, []string{"a"}},
	} {
		for _, quiet := range []bool{false, true} {
			runInBubble(t, name, func(t *testing.T, dir string) {
				if path := filepath.Join(dir, "Player.log"); name == "from the first byte" {
					appendTo(t, path, "")
				} else if c.old == "" {
					appendTo(t, path, "old\n")
				}
				r := newRun(t, dir, c.old, true)
				c.pass(r)
				require.False(t, r.Status().Present)
				require.Less(t, r.Status().Offset, r.Status().Size)
				require.Empty(t, r.taken())
				r.open("own", r.path)
				if quiet { // without a call
					after(2 * askEvery)
					require.True(t, r.Status().Present)
				}
				r.gets(c.want...)
				require.Equal(t, openEvidence, r.Status().Evidence)
				r.write("more\n")
				r.gets("more")
				require.Zero(t, r.Status().LostBytes)
			})
		}
	}
}

// TestPassedOverBound: of more than is read again the first bytes are a hole.
func TestPassedOverBound(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		appendTo(t, filepath.Join(dir, "Player.log"), "old\n")
		r := newRun(t, dir, "", true)
		line := strings.Repeat("of whom is this? ", 100) + "\n"
		n := maxPassed/len(line) + 3
		r.write(strings.Repeat(line, n))
		r.lacks("shortly before the start")
		after(idle)
		r.open("own", r.path)
		got, absent := r.step()
		require.Empty(t, absent)
		lost := uint64(n*len(line) - maxPassed)
		require.Equal(t, fmt.Sprintf("hole %d", lost), got[0])
		require.Equal(t, strings.TrimSpace(line), strings.TrimSpace(got[len(got)-1]))
		require.InDelta(t, maxPassed/len(line), len(got)-1, 1)
		require.Equal(t, lost, r.Status().LostBytes)
	})
}

// TestNamed: a file that a person named is the log as soon as it grows, whoever else may have written it.
func TestNamed(t *testing.T) {
	named := func(t *testing.T, dir string) *run {
		appendTo(t, filepath.Join(dir, "Player.log"), "old\n") // shortly before the start
		return newRun(t, dir, "", true, func(c *Config) { c.Named = true })
	}
	bubble(t, func(t *testing.T, dir string) {
		r := named(t, dir)
		r.lacks("is of an earlier run")
		for _, line := range []string{"one", "two"} { // it is not open when it is seen
			r.write(line + "\n")
			r.gets(line)
		}
		require.Equal(t, grownEvidence+sameAgain, r.Status().Evidence)
		r.rotate("three\n")
		got, absent := r.step()
		if knowsWriters || closedFirst {
			require.Equal(t, []string{"three"}, got, "of the same run")
			require.Empty(t, absent)
		} else {
			require.Contains(t, absent, "cannot be told whose it is")
		}
	})
	bubble(t, func(t *testing.T, dir string) {
		r := named(t, dir)
		r.open("other", r.path)
		r.write("of another\n")
		r.lacks("another program writes")
	})
}

// TestRenamed is the table of a log that another file takes the place of.
func TestRenamed(t *testing.T) {
	const doubt = "cannot be told whose it is"
	// old appends to the file that was there first.
	old := func(r *run, text string) { appendTo(r.following.t, r.prev(), text) }
	for name, c := range map[string]func(t *testing.T, r *run){
		"another's, and ours is open": func(t *testing.T, r *run) {
			r.open("own", r.path)
			r.rotate("of another\n")
			r.open("other", r.path)
			r.gets()
			require.True(t, r.Status().Renamed)
			old(r, "two\n")
			r.write("of another\n")
			r.gets("two")

			r.close("own") // and ours ends its log, as far as can be seen
			after(askEvery)
			r.lacks("another program writes")
			require.Zero(t, r.Status().Rotations)
		},
		"another's, and the system does not tell": func(t *testing.T, r *run) {
			if closedFirst {
				t.Skip("ours has closed it")
			}
			r.cfg.Writers = nil
			r.rotate("of another\n")
			r.lacks(doubt)
			old(r, "two\n")
			r.gets("two")
			now := time.Now()
			require.NoError(t, os.Chtimes(r.prev(), now, now.Add(-doubtAfter)))
			require.NoError(t, os.Chtimes(r.path, now, now.Add(time.Millisecond)))
			r.lacks(doubt)
			old(r, "three\n")
			r.gets("three")
		},
		"ours rotates": func(t *testing.T, r *run) {
			r.open("own", r.path)
			old := r.path
			r.rotate("two\n")
			r.close("own")
			r.open("own", old)
			r.gets("two")
			require.False(t, r.Status().Renamed)
			require.EqualValues(t, 1, r.Status().Rotations)
		},
		"ours rotates by and by": func(t *testing.T, r *run) {
			r.open("own", r.path)
			require.NoError(t, os.Rename(r.path, r.prev()))
			old(r, "last\n")
			r.gets("last")
			r.write("two\n")
			old(r, "very last\n")
			r.gets("very last")
			r.close("own")
			r.open("own", r.path)
			after(2 * askEvery)
			require.Equal(t, []string{"two"}, r.taken())
		},
		"ours rotates, and what it started has the old one open": func(t *testing.T, r *run) {
			r.open("own", r.path)
			r.rotateOpen("two\n")
			r.gets("two")
		},
		"another writes the same file": func(t *testing.T, r *run) {
			r.open("own", r.path)
			r.overwrite("a\n")
			r.gets("a") // ours began again
			r.open("other", r.path)
			r.overwrite("b\n")
			_, absent := r.step()
			require.Contains(t, absent, "another program writes")
			r.write("of whom?\n")
			_, absent = r.step()
			require.Contains(t, absent, "another program writes")
			r.close("other")
			after(askEvery)
			r.write("two\n")
			r.gets("two")
		},
		"moved away and back": func(t *testing.T, r *run) {
			for range 10 {
				require.NoError(t, os.Rename(r.path, r.prev()))
				r.lacks("moved away or removed")
				require.NoError(t, os.Rename(r.prev(), r.path))
				r.write("two\n")
				r.gets("two")
			}
			require.Zero(t, r.Status().Rotations)
		},
		"removed while open": func(t *testing.T, r *run) {
			r.open("own", r.path)
			require.NoError(t, os.Remove(r.path))
			r.gets()
		},
		"another's, as is known late": func(t *testing.T, r *run) {
			r.open("other", r.path)
			after(2 * askEvery)
			r.lacks("another program writes")
			r.rotateOpen("two\n")
			r.gets("restarted 0", "two")
		},
		"not sure yet": func(t *testing.T, r *run) { // a program that is not seen appended to the file of an earlier run
			want := []string{"two"}
			if !knowsWriters {
				want = []string{"restarted 0", "two"}
			}
			r.rotate("two\n")
			r.gets(want...)
		},
	} {
		runInBubble(t, name, func(t *testing.T, dir string) {
			before := ""
			if name == "not sure yet" {
				before = "old\n"
			}
			r := newRun(t, dir, before, true)
			r.write("one\n")
			r.gets("one")
			c(t, r)
		})
	}
}

// TestAskedSeldom: the question who writes a file costs a look at all processes.
func TestAskedSeldom(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		r := newRun(t, dir, "old\n", true)
		after(time.Minute)
		require.LessOrEqual(t, r.asked, 61)
		r.write("new\n")
		r.open("own", r.path)
		after(2 * time.Second)
		before := r.asked
		for range 100 {
			r.write("more\n")
			_, absent := r.step()
			require.Empty(t, absent)
		}
		require.Equal(t, before, r.asked, "it is known")
	})
}
