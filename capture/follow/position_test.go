package follow

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// news returns the records that are not known, as taken returns them.
func (fl *following) news() (got []string) {
	lines := fl.taken()
	for i, r := range fl.recs {
		if !r.Known {
			got = append(got, lines[i])
		}
	}
	return got
}

// getsNews fails unless these are the news after a Sync.
func (fl *following) getsNews(want ...string) {
	fl.t.Helper()
	require.NoError(fl.t, fl.Sync(fl.t.Context()))
	require.Equal(fl.t, want, fl.news())
}

// writeSync writes text that is handed over when it returns.
func (fl *following) writeSync(text string) {
	fl.t.Helper()
	fl.write(text)
	require.NoError(fl.t, fl.Sync(fl.t.Context()))
}

// again follows the log of dir from a position.
func again(t *testing.T, dir string, at Position) *following {
	return start(t, dir, func(c *Config) { c.Resume = at })
}

// TestResume: a Follower that continues after any record of another delivers the rest, in whatever way the file grew.
func TestResume(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		first := start(t, dir, nil)
		parts := []string{
			"one\ntwo\n", "System.Exception: three\n", "  at A.B () [0x0] in <1>:0 \n  at A.C () [0x0] in <1>:0 \nfo",
			"ur\nfive\n\n", "six\nsev",
		}
		for _, part := range parts {
			first.writeSync(part)
			after(defaultPartialIdle)
		}
		require.NoError(t, first.stop())
		all := append(first.taken(), "seven +")
		appendTo(t, first.path, "en\n")
		for i, r := range first.recs {
			second := again(t, dir, r.Position)
			after(defaultPartialIdle)
			got := second.news()
			require.Contains(t, last(got), "seven", "%d %+v", i, r.Position)
			require.LessOrEqual(t, len(got), len(all)-i-1, "%d %+v: %q", i, r.Position, got)
			lines := map[int]bool{}
			for _, r := range second.recs {
				for n := r.StartLine; n <= r.EndLine && !r.Known; n++ {
					require.False(t, lines[n], "%d: line %d twice", i, n)
					lines[n] = true
				}
			}
			for n := r.Position.Through + 1; n <= 9; n++ {
				require.True(t, lines[n] || n == 8, "%d: line %d", i, n) // which is blank
			}
			require.NoError(t, second.stop())
		}
	})
}

func last(all []string) string { return all[len(all)-1] }

// TestResumeRenamed: a file that was renamed while no Follower ran is read to its end, and then the one at the path.
func TestResumeRenamed(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		first := start(t, dir, nil)
		first.writeSync("one\ntwo\n")
		at := first.recs[1].Position
		require.NoError(t, first.stop())
		appendTo(t, first.path, "three\n")
		require.NoError(t, os.Rename(first.path, filepath.Join(dir, "Player-prev.log")))
		appendTo(t, first.path, "four\n")
		second := again(t, dir, at)
		second.getsNews("old three", "restarted 0", "four")
		require.NoError(t, second.stop())

		third := again(t, dir, second.recs[len(second.recs)-2].Position) // killed after the notice
		third.getsNews("old four")
	})
}

// TestResumeOther: a file with other bytes, or another file, is read from its beginning.
func TestResumeOther(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"rewritten": func(path string) error { return os.WriteFile(path, []byte("One\ntwo\nthree\n"), 0o600) },
		"emptied":   func(path string) error { return os.WriteFile(path, []byte("One\n"), 0o600) },
		"created again": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o600)
		},
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte("one\ntwo\nthree\n"), 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	} {
		runInBubble(t, name, func(t *testing.T, dir string) {
			first := start(t, dir, nil)
			first.writeSync("one\ntwo\n")
			require.NoError(t, first.stop())
			require.NoError(t, change(first.path))
			second := again(t, dir, first.recs[1].Position)
			require.NoError(t, second.Sync(t.Context()))
			got := second.news()
			require.Equal(t, "restarted 0", got[0])
			data := testkit.Must(os.ReadFile(first.path))
			require.Len(t, got[1:], bytes.Count(data, []byte("\n")), "%q", got)
		})
	}
}

// TestResumeFromEnd: FromEnd is of the first Follower of a log alone, and a position of another log is of no use.
func TestResumeFromEnd(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "Player.log")
		appendTo(t, path, "one\ntwo\n")
		fromEnd := func(at Position) *following {
			return start(t, dir, func(c *Config) { c.Resume, c.FromEnd = at, true })
		}
		first := fromEnd(Position{})
		first.writeSync("three\n")
		require.NoError(t, first.stop())
		appendTo(t, path, "four\n")
		at := first.recs[0].Position
		second := fromEnd(at)
		second.getsNews("old four")
		require.NoError(t, second.stop())
		at.Path = "/another/log"
		third := fromEnd(at)
		require.NoError(t, third.Sync(t.Context()))
		require.Empty(t, third.taken())
	})
}

// TestHurry: what is left when there is no time to read it is a hole.
func TestHurry(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		hurry := make(chan struct{})
		fl := start(t, dir, func(c *Config) { c.Hurry = hurry })
		fl.writeSync("one\n")
		gate := make(chan struct{})
		fl.gate.Store(&gate)
		fl.write("two\n")
		done := make(chan error)
		fl.poke()
		after(idle)
		fl.write(strings.Repeat("line\n", chunkSize/4*3))
		go func() { done <- fl.stop() }()
		after(0)
		close(hurry)
		close(gate)
		require.NoError(t, <-done)
		got := fl.taken()
		require.Equal(t, []string{"one", "two", "hole 983040"}, got)
		require.Equal(t, event.StatusHole, fl.recs[2].Status)
		require.EqualValues(t, 983040, fl.Status().LostBytes)
	})
}

// TestResumeContinued: in a file that continues a log, the lines are counted on, before and after the restart.
func TestResumeContinued(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		on := func(at Position) *following {
			return start(t, dir, func(c *Config) { c.Resume, c.Continues = at, true })
		}
		first := on(Position{})
		first.writeSync("one\ntwo\n")
		require.NoError(t, os.Rename(first.path, filepath.Join(dir, "old")))
		first.writeSync("three\nfour\n")
		require.NoError(t, first.stop())
		appendTo(t, first.path, "five\n")
		for i, want := range [][]string{
			{"old two", "three", "four", "five"}, {"three", "four", "five"}, {"old four", "old five"}, {"old five"},
		} {
			second := on(first.recs[i].Position)
			second.getsNews(want...)
			require.Equal(t, 5, second.recs[len(second.recs)-1].EndLine)
			require.NoError(t, second.stop())
		}
	})
}

// TestResumeUTF16: a position counts lines, and so is of any encoding.
func TestResumeUTF16(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "Player.log")
		appendTo(t, path, "\xff\xfe"+wide("one\ntwo\n"))
		first := start(t, dir, func(c *Config) { c.FromEnd = true })
		first.writeSync(wide("three\nfour\n"))
		first.writeSync(wide("five\n"))
		require.NoError(t, first.stop())
		require.Equal(t, []string{"three", "four", "five"}, first.taken())
		for i, want := range [][]string{{"old four", "old five"}, {"old five"}} {
			second := again(t, dir, first.recs[i].Position)
			second.getsNews(want...)
			require.NoError(t, second.stop())
		}
	})
}

// TestNoCopy: a rotated file that begins as the emptied log did, and was not copied from it, is not read for it.
func TestNoCopy(t *testing.T) {
	const banner = "banner\n"
	ways := map[string]func(f *following) *following{
		"while it is followed": func(f *following) *following {
			require.NoError(f.t, os.Truncate(f.path, 0))
			f.write("next\n")
			return f
		},
		"after a restart": func(f *following) *following {
			require.NoError(f.t, f.stop())
			require.NoError(f.t, os.Truncate(f.path, 0))
			f.write("next\n")
			return again(f.t, filepath.Dir(f.path), f.recs[len(f.recs)-1].Position)
		},
		"from its end": func(f *following) *following {
			require.NoError(f.t, f.stop())
			next := start(f.t, filepath.Dir(f.path), func(c *Config) { c.FromEnd = true })
			require.NoError(f.t, os.Truncate(f.path, 0))
			f.write("next\n")
			return next
		},
		"after another file": func(f *following) *following {
			f.writeSync("first\n")
			require.NoError(f.t, os.Rename(f.path, f.path+".2"))
			f.writeSync(banner)
			after(3 * time.Second)
			require.NoError(f.t, os.Truncate(f.path, 0))
			f.write("next\n")
			return f
		},
	}
	for name, empty := range ways {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				old := filepath.Join(dir, "Player.1.log")
				appendTo(t, old, banner+"earlier run\n")
				require.NoError(t, os.Chtimes(old, time.Time{}, time.Now().Add(-time.Hour)))
				f := start(t, dir, nil)
				f.writeSync(banner)
				last := empty(f)
				after(3 * time.Second)
				got := strings.Join(append(f.taken(), last.taken()...), ";")
				require.NotContains(t, got, "earlier run")
				require.LessOrEqual(t, strings.Count(got, "first"), 1, got)
				require.Contains(t, got, "next")
			})
		})
	}
}
