package follow

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writers stands in for what the system knows: files by who has them open.
type writers struct {
	t     *testing.T
	mu    sync.Mutex
	files map[string][]fs.FileInfo // "own", "other"
	link  string                   // opens the program's file
	asked int
}

// open notes that somebody opens the file at a path, and close that somebody closes it.
func (w *writers) open(who, path string) fs.FileInfo {
	w.t.Helper()
	info, err := os.Stat(path)
	require.NoError(w.t, err)
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

func (w *writers) of(file fs.FileInfo) (own, other bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	has := func(who string) bool {
		for _, f := range w.files[who] {
			if os.SameFile(f, file) {
				return true
			}
		}
		return false
	}
	return has("own"), has("other")
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

// step lets the follower look, as before a call, and returns what came and why there is no log.
func (r *run) step() (got []string, absent string) {
	got, _ = r.synced()
	st := r.Status()
	require.Equal(r.following.t, st.Absent == "", st.Present)
	return got, st.Absent
}

// newRun starts a follower where old is what an earlier run left, "" for nothing.
func newRun(t *testing.T, dir, old string, known bool) *run {
	t.Helper()
	w := &writers{t: t, files: map[string][]fs.FileInfo{}}
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
		"appends": {"old\n", func(r *run) { r.write("new\n") }, earlier, grownEvidence, []string{"new"}},
		"creates": {"", func(r *run) { r.write("new\n") }, none, createdEvidence, []string{"new"}},
		"renames": {"old\n", func(r *run) { r.rotate("new\n") }, earlier, createdEvidence, []string{"new"}},
		"has open": {"old\n", func(r *run) {
			r.open("own", r.path)
			after(defaultIdle)
		}, earlier, openEvidence, nil},
		"empties": {"old\n", func(r *run) {
			require.NoError(t, os.WriteFile(r.path, []byte("n\n"), 0o600))
		}, earlier, emptiedEvidence, []string{"n"}},
		"empties, and longer": {"old\n", func(r *run) {
			require.NoError(t, os.WriteFile(r.path, []byte("new\nnewer\n"), 0o600))
		}, earlier, emptiedEvidence, []string{"new", "newer"}},
		"empties only": {"old\n", func(r *run) { require.NoError(t, os.Truncate(r.path, 0)) }, earlier, emptiedEvidence, nil},
		"an empty file": {"\n", func(r *run) {
			require.NoError(t, os.Remove(r.path))
			r.write("new\n")
		}, earlier, createdEvidence, []string{"new"}},
		"beside another that writes the file": {"old\n", func(r *run) {
			r.open("other", r.path)
			r.write("of another\n")
			got, absent := r.step()
			require.Empty(t, got)
			require.Contains(t, absent, another)
			r.rotate("new\n")
			r.open("own", r.path)
			appendTo(t, r.prev(), "of another, too\n")
		}, earlier, openEvidence, []string{"new"}},
		"beside another that created it": {"", func(r *run) {
			r.write("of another\n")
			r.open("other", r.path)
			got, absent := r.step()
			require.Empty(t, got)
			require.Contains(t, absent, another)
			r.rotate("new\n")
			r.open("own", r.path)
		}, none, openEvidence, []string{"new"}},
		"beside another that ended": {"", func(r *run) {
			r.write("of another\n")
			r.open("other", r.path)
			_, absent := r.step()
			require.Contains(t, absent, another)
			r.close("other")
			after(time.Minute)
			_, absent = r.step()
			require.Contains(t, absent, another, "its log is not ours for that")
			r.rotate("new\n")
		}, none, createdEvidence, []string{"new"}},
	} {
		for _, quiet := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T, dir string) {
					r := newRun(t, dir, c.old, true)
					after(time.Minute)
					got, absent := r.step()
					require.Empty(t, got)
					require.Contains(t, absent, c.absent)
					c.begin(r)
					if quiet { // without a call
						after(2 * askEvery)
						require.True(t, r.Status().Present)
					}
					got, absent = r.step()
					require.Equal(t, c.want, got)
					require.Empty(t, absent)
					require.Equal(t, c.evidence, r.Status().Evidence)
					r.write("more\n")
					got, _ = r.step()
					require.Equal(t, []string{"more"}, got)
					require.NoError(t, r.stop())
				})
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
			_, absent := r.step()
			require.Empty(r.following.t, absent)
			r.write("new\n")
		}, openEvidence, []string{"new"}},
		"empties": {func(r *run) {
			require.NoError(r.following.t, os.WriteFile(r.path, []byte("n\n"), 0o600))
		}, emptiedEvidence, []string{"n"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				appendTo(t, filepath.Join(dir, "Player.log"), "old\n")
				r := newRun(t, dir, "", true)
				for range 100 {
					r.write("of whom?\n")
					r.poke()
					after(defaultIdle)
				}
				got, absent := r.step()
				require.Empty(t, got)
				require.Contains(t, absent, "shortly before the start")
				require.Less(t, r.asked, 10)
				after(defaultIdle)
				c.begin(r)
				got, absent = r.step()
				require.Equal(t, c.want, got)
				require.Empty(t, absent)
				require.Equal(t, c.evidence, r.Status().Evidence)
				require.NoError(t, r.stop())
			})
		})
	}
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
			got, absent := r.step()
			require.Empty(t, got)
			require.Empty(t, absent, "silent, but open")
			require.True(t, r.Status().Renamed)
			old(r, "two\n")
			r.write("of another\n")
			got, _ = r.step()
			require.Equal(t, []string{"two"}, got)

			r.close("own") // and ours ends its log, as far as can be seen
			after(askEvery)
			_, absent = r.step()
			require.Contains(t, absent, "another program writes")
			require.Zero(t, r.Status().Rotations)
		},
		"another's, and the system does not tell": func(t *testing.T, r *run) {
			if closedFirst {
				t.Skip("ours has closed it")
			}
			r.cfg.Writers = nil
			r.rotate("of another\n")
			got, absent := r.step()
			require.Empty(t, got)
			require.Contains(t, absent, doubt)
			old(r, "two\n")
			got, absent = r.step()
			require.Equal(t, []string{"two"}, got)
			require.Empty(t, absent)
			now := time.Now()
			require.NoError(t, os.Chtimes(r.prev(), now, now.Add(-doubtAfter)))
			require.NoError(t, os.Chtimes(r.path, now, now.Add(time.Millisecond)))
			_, absent = r.step()
			require.Contains(t, absent, doubt, "silent for longer than the other")
			old(r, "three\n")
			got, absent = r.step()
			require.Equal(t, []string{"three"}, got)
			require.Empty(t, absent)
		},
		"ours rotates": func(t *testing.T, r *run) {
			r.open("own", r.path)
			old := r.path
			r.rotate("two\n")
			r.close("own")
			r.open("own", old)
			got, absent := r.step()
			require.Equal(t, []string{"restarted 0", "two"}, got)
			require.Empty(t, absent)
			require.False(t, r.Status().Renamed)
			require.EqualValues(t, 1, r.Status().Rotations)
		},
		"ours rotates by and by": func(t *testing.T, r *run) {
			r.open("own", r.path)
			require.NoError(t, os.Rename(r.path, r.prev()))
			old(r, "last\n")
			got, absent := r.step()
			require.Equal(t, []string{"last"}, got)
			require.Empty(t, absent)
			r.write("two\n")
			old(r, "very last\n")
			got, _ = r.step()
			require.Equal(t, []string{"very last"}, got)
			r.close("own")
			r.open("own", r.path)
			after(2 * askEvery)
			require.Equal(t, []string{"restarted 0", "two"}, r.taken())
		},
		"ours rotates, and what it started has the old one open": func(t *testing.T, r *run) {
			r.open("own", r.path)
			r.rotate("two\n")
			r.open("own", r.path)
			got, absent := r.step()
			require.Equal(t, []string{"restarted 0", "two"}, got)
			require.Empty(t, absent)
		},
		"another writes the same file": func(t *testing.T, r *run) {
			r.open("own", r.path)
			require.NoError(t, os.WriteFile(r.path, []byte("a\n"), 0o600))
			_, absent := r.step()
			require.Empty(t, absent, "ours began again")
			r.open("other", r.path)
			require.NoError(t, os.WriteFile(r.path, []byte("b\n"), 0o600))
			_, absent = r.step()
			require.Contains(t, absent, "another program writes")
			r.write("of whom?\n")
			_, absent = r.step()
			require.Contains(t, absent, "another program writes")
			r.close("other")
			after(askEvery)
			r.write("two\n")
			got, absent := r.step()
			require.Equal(t, []string{"two"}, got)
			require.Empty(t, absent)
		},
		"moved away and back": func(t *testing.T, r *run) {
			for range 10 {
				require.NoError(t, os.Rename(r.path, r.prev()))
				_, absent := r.step()
				require.Contains(t, absent, "moved away or removed")
				require.NoError(t, os.Rename(r.prev(), r.path))
				r.write("two\n")
				got, absent := r.step()
				require.Equal(t, []string{"two"}, got)
				require.Empty(t, absent)
			}
			require.Zero(t, r.Status().Rotations)
		},
		"removed while open": func(t *testing.T, r *run) {
			r.open("own", r.path)
			require.NoError(t, os.Remove(r.path))
			_, absent := r.step()
			require.Empty(t, absent, "what is written is read")
		},
		"another's, as is known late": func(t *testing.T, r *run) {
			r.open("other", r.path)
			after(2 * askEvery)
			_, absent := r.step()
			require.Contains(t, absent, "another program writes")
			r.rotate("two\n")
			r.open("own", r.path)
			got, absent := r.step()
			require.Equal(t, []string{"restarted 0", "two"}, got)
			require.Empty(t, absent)
		},
		"not sure yet": func(t *testing.T, r *run) { // somebody appended to what was there
			r.rotate("of ours\n")
			got, absent := r.step()
			require.Equal(t, []string{"restarted 0", "of ours"}, got)
			require.Empty(t, absent)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				before := ""
				if name == "not sure yet" {
					before = "old\n"
				}
				r := newRun(t, dir, before, true)
				r.write("one\n")
				got, _ := r.step()
				require.Equal(t, []string{"one"}, got)
				c(t, r)
				require.NoError(t, r.stop())
			})
		})
	}
}

// TestRestartedWhileOpen: a log that is followed by name is that of the file that is still written.
func TestRestartedWhileOpen(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		w := &writers{t: t, files: map[string][]fs.FileInfo{}}
		r := &run{start(t, dir, func(c *Config) { c.Writers = w.of }), w}
		r.write("one\n")
		r.open("own", r.path)
		got, _ := r.step()
		require.Equal(t, []string{"one"}, got)
		r.rotate("of another\n")
		after(time.Minute)
		appendTo(t, r.prev(), "two\n")
		got, _ = r.step()
		require.Equal(t, []string{"two"}, got)
		require.True(t, r.Status().Renamed)
		r.close("own")
		after(2 * askEvery)
		require.Equal(t, []string{"restarted 0", "of another"}, r.taken())
		require.False(t, r.Status().Renamed)
		require.NoError(t, r.stop())
	})
}

// program is one that logs as Unity does: it renames the log at its path and creates its own.
type program struct {
	*run
	who string
	log *os.File
	all []string // the lines of its log

	seen bool // the follower has looked since it began
}

func (p *program) begin() {
	p.end()
	_ = os.Rename(p.path, p.prev()) // there may be none
	var err error
	p.log, err = os.Create(p.path)
	require.NoError(p.following.t, err)
	p.open(p.who, p.path)
	p.all, p.seen = nil, false
	if p.who == "own" {
		p.writers.mu.Lock()
		p.link = fmt.Sprint("/proc/self/fd/", p.log.Fd())
		p.writers.mu.Unlock()
	}
}

func (p *program) end() {
	if p.log == nil {
		return
	}
	require.NoError(p.following.t, p.log.Close())
	p.log = nil
	if p.close(p.who); p.who == "own" {
		p.writers.mu.Lock()
		p.link = ""
		p.writers.mu.Unlock()
	}
}

// TestPrograms lets a program and another one with the same path begin, write and end in any order, and looks now and
// then. No line of the other is ever taken, and all of the program's are, whatever becomes of its name.
func TestPrograms(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("a file that is open has no name here")
	}
	seeds := 40
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		bubble(t, func(t *testing.T, dir string) {
			random := rand.New(rand.NewPCG(uint64(seed), 0))
			old := ""
			if seed%2 == 0 {
				old = "old\n"
			}
			r := newRun(t, dir, old, true)
			own, other := &program{run: r, who: "own"}, &program{run: r, who: "other"}
			did, all := []string{}, []string(nil)
			for n := range 60 {
				p := own
				if random.IntN(2) == 0 {
					p = other
				}
				op := random.IntN(8)
				switch {
				case op == 0:
					if p.begin(); p == own {
						all = nil
					}
				case op == 1 && (p == own || p.seen): // whose a file was that nobody has open cannot be known
					p.end()
				case op == 2 && random.IntN(4) == 0:
					require.NoError(t, os.RemoveAll(r.path))
					op = 9
				case op > 2 && p.log != nil:
					line := fmt.Sprint("line ", n, " of ", p.who)
					_, err := p.log.WriteString(line + "\n")
					require.NoError(t, err)
					p.all = append(p.all, line)
				}
				did = append(did, fmt.Sprint(p.who, op))
				if random.IntN(3) == 0 {
					continue // it does not look
				}
				after(time.Duration(1+random.IntN(3)) * 50 * time.Millisecond) // without a call, too
				got, absent := r.step()
				other.seen = true
				for _, line := range got {
					if line == "restarted 0" {
						all = nil
						continue
					}
					require.Contains(t, line, " of own", "seed %d: %v", seed, did)
					all = append(all, line)
				}
				if own.log != nil {
					require.Empty(t, absent, "seed %d: %v", seed, did)
					require.Equal(t, own.all, all, "seed %d: %v", seed, did)
				}
			}
			own.end()
			other.end()
			require.NoError(t, r.stop())
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
		require.NoError(t, r.stop())
	})
}
