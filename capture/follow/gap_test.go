package follow

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/internal/testkit"
)

// put writes text at a place of the log.
func (fl *following) put(text string, at int) {
	fl.t.Helper()
	f := testkit.Must(os.OpenFile(fl.path, os.O_CREATE|os.O_WRONLY, 0o600))
	testkit.Must(f.WriteAt([]byte(text), int64(at)))
	require.NoError(fl.t, f.Close())
	fl.poke()
}

// size sets how long the log is: what is new holds NULs.
func (fl *following) size(bytes int64) {
	fl.t.Helper()
	require.NoError(fl.t, os.Truncate(fl.path, bytes))
	fl.poke()
}

// TestGaps is the table of places in a file that are written late, or never.
func TestGaps(t *testing.T) {
	line := func(n int) string { return fmt.Sprintf("line %d\n", 10000+n) }
	const long = 11 // of a line
	for name, c := range map[string]struct {
		change func(fl *following)
		want   []string
	}{
		"reserved at once": {func(fl *following) {
			fl.size(64 << 20)
			for n := range 5 {
				after(2 * gapLife)
				fl.put(line(n), 4+n*long)
			}
			after(2 * gapLife)
			fl.size(4 + 5*long)
		}, numberedLines("line", 10000, 10005)},
		"reserved in steps": {func(fl *following) {
			for n := range 100 {
				if at := 4 + n*long; at%256 < long {
					fl.size(int64(at/256+1) * 256)
				}
				after(time.Second)
				fl.put(line(n), 4+n*long)
			}
			fl.size(4 + 100*long)
		}, numberedLines("line", 10000, 10100)},
		"in the other order": {func(fl *following) {
			for n := 0; n < 10; n += 2 {
				fl.put(line(n+1), 4+(n+1)*long)
				after(defaultPartialIdle / 2)
				fl.put(line(n), 4+n*long)
				after(defaultPartialIdle)
			}
		}, numberedLines("line", 10000, 10010)},
		"late": {func(fl *following) {
			fl.put(line(1), 4+long)
			after(gapLife / 2)
			fl.put(line(0), 4)
			after(time.Second)
			fl.put(line(2), 4+2*long)
		}, []string{"line 10001", "line 10000", "line 10002"}},
		"late, within a line": {func(fl *following) {
			fl.put("the line", 4)
			fl.put(strings.Repeat("x", 100)+"\n"+line(1), 4+8+200)
			after(time.Second)
			fl.put(strings.Repeat("y", 200), 4+8)
		}, []string{"the line", strings.Repeat("x", 100), "line 10001", strings.Repeat("y", 200)}},
		"never": {func(fl *following) {
			fl.put(line(0), 4+5000)
			after(gapLife - time.Second)
			fl.put(line(1), 4+5000+long)
		}, []string{"line 10000", "line 10001", "hole 5000"}},
		"never, and another file follows": {func(fl *following) {
			fl.put(line(0), 4+5000)
			after(time.Second)
			require.NoError(fl.t, os.Rename(fl.path, fl.path+".1"))
			fl.write(line(1))
			fl.poke()
		}, []string{"line 10000", "hole 5000", "line 10001"}},
		"never, and long": {func(fl *following) {
			fl.put(line(0), 4+chunkSize*4)
		}, []string{"line 10000", fmt.Sprint("hole ", chunkSize*4)}},
		"one NUL after each line": {func(fl *following) { fl.put("a\n\x00b\n", 4) }, []string{"a", "\x00b"}},
		"within a message":        {func(fl *following) { fl.put("a\x00\x00\x00b\n", 4) }, []string{"a\x00\x00\x00b"}},
	} {
		runInBubble(t, name, func(t *testing.T, dir string) {
			fl := start(t, dir, func(c *Config) { c.Continues = true })
			fl.write("one\n")
			fl.gets("one")
			c.change(fl)
			after(gapLife + time.Second)
			got := fl.taken()
			for i, line := range got {
				got[i] = strings.TrimSuffix(line, " +")
			}
			if first, second := 0, 0; name == "never, and long" { // in two parts
				testkit.Must(fmt.Sscanf(got[0]+got[2], "hole %dhole %d", &first, &second))
				got = []string{got[1], fmt.Sprint("hole ", first+second)}
			}
			require.Equal(t, c.want, got)
			st := fl.Status()
			require.Zero(t, st.Truncations)
			require.Zero(t, st.LostBytes)
			require.Zero(t, st.Unwritten)
		})
	}
}

// TestGapsReported: a file with a reserved place is read as far as it is written; the Status has how long that place is.
func TestGapsReported(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"from its beginning": nil,
		"from its end":       func(c *Config) { c.FromEnd = true },
	} {
		runInBubble(t, name, func(t *testing.T, dir string) {
			path := dir + "/Player.log"
			appendTo(t, path, "old\n")
			require.NoError(t, os.Truncate(path, 1<<20))
			fl := start(t, dir, change)
			after(2 * gapLife)
			want := []string{"old old"}
			if change != nil {
				want = nil
			}
			require.Equal(t, want, fl.taken())
			require.EqualValues(t, 4, fl.Status().Offset)
			require.EqualValues(t, 1<<20-4, fl.Status().Unwritten)
			fl.put("new\n", 4)
			fl.gets("new")
			require.False(t, fl.recs[len(fl.recs)-1].History)
		})
	}
}

// TestGapsUTF16: text in two bytes holds NULs, and may be in a reserved place, too.
func TestGapsUTF16(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		fl := start(t, dir, func(c *Config) { c.Continues = true })
		fl.put("\xff\xfe"+wide("one\n"), 0)
		fl.size(1 << 16)
		at := 10
		for n := range 8 {
			after(2 * gapLife)
			text := wide(fmt.Sprintln("line", n))
			fl.put(text, at)
			at += len(text)
		}
		fl.size(int64(at))
		after(2 * gapLife)
		require.NoError(t, os.Rename(fl.path, fl.path+".1"))
		fl.put("\xff\xfe"+wide("last\n"), 0)
		got, _ := fl.synced()
		want := append([]string{"one"}, numberedLines("line", 0, 8)...)
		require.Equal(t, append(want, "last"), got)
	})
}

// TestRewritten is the table of text that is written again.
func TestRewritten(t *testing.T) {
	head := strings.Join(numberedLines("line", 0, 1000), "\n") + "\n"
	for name, c := range map[string]struct {
		change func(fl *following)
		want   []string
		cuts   uint64
	}{
		"the last line": {func(fl *following) {
			fl.put("progress 1\n", len(head))
			after(time.Second)
			fl.size(int64(len(head)))
			fl.put("progress 2\nline\n", len(head))
		}, []string{"progress 1", "progress 2", "line"}, 1},
		"the last line, in place": {func(fl *following) {
			fl.put("progress 1\n", len(head))
			after(time.Second)
			fl.put("progress 2\n", len(head))
		}, []string{"progress 1", "progress 2"}, 1},
		"the last line, longer": {func(fl *following) {
			fl.put("</log>\n", len(head))
			after(time.Second)
			fl.put("line\n</log>\n", len(head))
		}, []string{"</log>", "line", "</log>"}, 1},
		"cut back": {func(fl *following) {
			fl.put("one\ntwo\n", len(head))
			after(time.Second)
			fl.size(int64(len(head)) + 4)
			after(time.Second)
			fl.put("three\n", len(head)+4)
		}, []string{"one", "two", "three"}, 1},
		"all of it, in place, with more": {func(fl *following) {
			for n := range 5 {
				fl.size(0)
				after(idle)
				fl.put(head[:100], 0)
				after(idle)
				fl.put(head+strings.Join(numberedLines("more", 0, n+1), "\n")+"\n", 0)
				after(time.Second)
			}
		}, numberedLines("more", 0, 5), 0},
		"emptied": {func(fl *following) {
			fl.size(0)
			after(time.Second)
			fl.put("new\n", 0)
		}, []string{"restarted 0", "new"}, 1},
		"emptied, with a reserved place": {func(fl *following) {
			fl.size(int64(len(head)) + 4096)
			after(time.Second)
			fl.size(0)
			after(time.Second)
			fl.put("new\n", 0)
		}, []string{"restarted 0", "new"}, 1},
		"emptied, and begun otherwise": {func(fl *following) { // it is not about to be the same again
			fl.size(0)
			fl.put("other\n", 0)
			after(2 * idle)
			require.Equal(fl.t, []string{"restarted 0", "other"}, fl.taken())
			fl.put("more\n", 6)
		}, []string{"more"}, 1},
		"emptied, with lines that begin alike": {func(fl *following) {
			text := strings.ReplaceAll(head, "line", "lime")
			require.Len(fl.t, text, len(head))
			fl.overwrite(text)
			fl.poke()
		}, nil, 1},
	} {
		runInBubble(t, name, func(t *testing.T, dir string) {
			fl := start(t, dir, nil)
			fl.write(head)
			got, _ := fl.synced()
			require.Len(t, got, 1000)
			c.change(fl)
			after(time.Second)
			if c.want == nil {
				require.Len(t, fl.taken(), 1001)
			} else {
				require.Equal(t, c.want, fl.taken())
			}
			require.Equal(t, c.cuts, fl.Status().Truncations)
			require.Zero(t, fl.Status().LostBytes)
		})
	}
}

// TestSameLines compares the lines that two texts begin with to a naive account.
func TestSameLines(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		part := rapid.SampledFrom([]string{"a\n", "b\n", "\n", "a", "\x00"})
		return strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "parts"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, within := text.Draw(t, "a"), text.Draw(t, "b"), rapid.Bool().Draw(t, "within")
		want, lines, common := 0, 0, 0
		for common < min(len(a), len(b)) && a[common] == b[common] {
			common++
		}
		for line := range strings.Lines(a) {
			if !strings.HasPrefix(b[min(want, len(b)):], line) || !strings.HasSuffix(line, "\n") {
				break
			}
			want, lines = want+len(line), lines+1
		}
		if strings.Contains(a[:common], "\x00") || within && lines < 2 {
			want = 0
		}
		require.Equal(t, want, sameLines([]byte(a), []byte(b), within))

		alike := len(a) <= len(b)
		for i := range min(len(a), len(b)) {
			alike = alike && (a[i] == b[i] || a[i] == 0)
		}
		if len(a) <= len(b) {
			require.Equal(t, alike, same([]byte(a), []byte(b[:len(a)])))
		}
	})
}

// TestLines: the lines that have an end are those before the last line feed, in UTF-16 of two bytes.
func TestLines(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 0, "a\n": 2, "a\nb": 2, "a\nb\n": 4, "\n": 1, "\n\n": 2, "a\n\nb": 3,
	} {
		require.Equal(t, want, (&tail{}).lines([]byte(text)), text)
		units := []byte(wide(text))
		require.Equal(t, 2*want, (&tail{wide: true}).lines(units), text)
		for _, half := range []string{"b", "\n"} {
			all := append(slices.Clip(units), half...)
			require.Equal(t, 2*want, (&tail{wide: true}).lines(all), "%s and half of a unit", text)
		}
	}
}
