package follow

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

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
	p.started(p.who)
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
					testkit.Must(p.log.WriteString(line + "\n"))
					now := time.Now()
					require.NoError(t, os.Chtimes(fmt.Sprint("/proc/self/fd/", p.log.Fd()), now, now))
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
		})
	}
}

// TestContinued is the table of what continues a log that another file takes the place of, or that is emptied.
func TestContinued(t *testing.T) {
	rename := func(r *run) { r.rotate("two\n") }
	empty := func(r *run) {
		require.NoError(r.following.t, os.Truncate(r.path, 0))
		r.write("two\n")
	}
	link := func(r *run) { // which names the log of a day
		require.NoError(r.following.t, os.WriteFile(r.prev()+"2", []byte("two\n"), 0o600))
		_ = os.Remove(r.path)
		require.NoError(r.following.t, os.Symlink(r.prev()+"2", r.path))
	}
	again := []string{"restarted 0", "two"}
	for name, c := range map[string]struct {
		begin  func(r *run) // the program that has the log open, or had
		rotate func(r *run)
		want   []string
	}{
		"renamed":                     {nil, rename, []string{"two"}},
		"renamed, by another process": {func(r *run) { r.started("own") }, rename, again},
		"emptied":                     {nil, empty, []string{"two"}},
		"emptied, by another process": {func(r *run) { r.started("own") }, empty, again},
		"linked":                      {nil, link, []string{"two"}},
		"linked, by another process":  {func(r *run) { r.started("own") }, link, again},
	} {
		for _, newRunToo := range []bool{false, true} {
			for _, quiet := range []bool{false, true} {
				runInBubble(t, name, func(t *testing.T, dir string) {
					r := newRun(t, dir, "", true, func(c *Config) { c.NewRun = newRunToo })
					r.write("one\n")
					r.open("own", r.path)
					r.gets("one")
					after(time.Minute)
					r.close("own")
					if c.begin != nil {
						c.begin(r)
					}
					c.rotate(r)
					r.open("own", r.path)
					if quiet {
						after(2 * askEvery)
						require.Equal(t, c.want, r.taken())
					} else {
						r.gets(c.want...)
					}
					require.Empty(t, r.Status().Absent)
					require.EqualValues(t, 1, r.Status().Rotations+r.Status().Truncations)
				})
			}
		}
	}
}

// TestCutBack: a line that a program takes back and writes again is a line; no line before it is read twice.
func TestCutBack(t *testing.T) {
	long := strings.Repeat("x", lastSize)
	for name, c := range map[string]struct {
		who  string // the program that was started last
		want []string
	}{
		"same process":    {"other", []string{"2 of 3", "two"}},
		"another process": {"own", []string{"restarted 0", long, "one", "2 of 3", "two"}},
	} {
		runInBubble(t, name, func(t *testing.T, dir string) {
			r := newRun(t, dir, "", true, func(c *Config) { c.NewRun = false })
			r.write(long + "\none\n")
			size := int64(len(long + "\none\n"))
			r.open("own", r.path)
			r.write("1 of 3\n")
			r.gets(long, "one", "1 of 3")
			after(time.Second)
			r.started(c.who)
			require.NoError(t, os.Truncate(r.path, size))
			r.write("2 of 3\ntwo\n")
			r.gets(c.want...)
			require.Zero(t, r.Status().LostBytes)
		})
	}
}

// TestContinuedClosed: a program that opens its log for each line is not seen. Another file continues a log that has
// just grown, and begins another run if the log was there before the start or was quiet.
func TestContinuedClosed(t *testing.T) {
	for name, c := range map[string]struct {
		old   string
		quiet time.Duration
		want  []string
	}{
		"in the middle of its lines": {"", 0, []string{"two"}},
		"quiet":                      {"", recently, []string{"restarted 0", "two"}},
		"there before the start":     {"one\n", 0, []string{"restarted 0", "two"}},
	} {
		runInBubble(t, name, func(t *testing.T, dir string) {
			if !knowsWriters && c.quiet == 0 {
				t.Skip("a program that has its log open is not seen either")
			}
			r := newRun(t, dir, c.old, true, func(c *Config) { c.NewRun = false })
			if c.old == "" {
				r.write("one\n")
			}
			r.step()
			time.Sleep(c.quiet)
			r.rotate("two\n")
			r.gets(c.want...)
		})
	}
}

// TestContinuedUnknown: where it is not known who writes the log, another file begins another run, unless heed follows
// one run of one program; then the banner of another run still does.
func TestContinuedUnknown(t *testing.T) {
	const banner = "Initialize engine version: 2019.4.30f1 (e8c891080a1f)"
	for name, c := range map[string]struct {
		change func(c *Config)
		want   []string
	}{
		"a log that is attached to": {func(c *Config) { c.NewRun = false }, []string{"restarted 0", banner, "two"}},
		"one run":                   {func(c *Config) { c.Named = true }, []string{"restarted 0", banner, "two"}},
	} {
		runInBubble(t, name, func(t *testing.T, dir string) {
			r := newRun(t, dir, "", false, c.change)
			r.write(banner + "\none\n")
			r.gets(banner, "one")
			r.rotate(banner + "\ntwo\n")
			r.gets(c.want...)
		})
	}
}

// TestStartedLate: a game that was started before heed and begins its log after heed has looked ends the run that the
// file had until then.
func TestStartedLate(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "Player.log")
		appendTo(t, path, "one\n")
		now := time.Now()
		require.NoError(t, os.Chtimes(path, now, now.Add(-time.Hour)))
		r := newRun(t, dir, "", true, func(c *Config) { c.NewRun = false })
		r.gets("old one")
		r.rotateOpen("two\n")
		r.gets("restarted 0", "two")
	})
}
