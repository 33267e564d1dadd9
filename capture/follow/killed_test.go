package follow

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// killed is a log of numbered lines that grows, is renamed, copied and emptied, and a follower that is killed again and
// again: the next one continues from a record that it had delivered.
type killed struct {
	*following
	r     *rand.Rand
	lines int
	files int
	gone  map[int]bool // lines that no file has
	steps []string

	at   Position
	kept []string // delivered up to at
}

var numbered = regexp.MustCompile(`line (\d+) end`)

func numbers(text string) (all []int) {
	for _, m := range numbered.FindAllStringSubmatch(text, -1) {
		all = append(all, testkit.Must(strconv.Atoi(m[1])))
	}
	return all
}

func (k *killed) note(format string, args ...any) {
	k.steps = append(k.steps, fmt.Sprintf(format, args...))
}

func (k *killed) pause() {
	d := [...]time.Duration{0, 0, 1, 20, 300, 1500}[k.r.IntN(6)] * time.Millisecond
	k.note("pause %v", d)
	after(d)
}

// touch lets the file have a time of its own, also in a bubble.
func (k *killed) touch(name string) {
	after(time.Millisecond)
	require.NoError(k.t, os.Chtimes(name, time.Time{}, time.Now()))
}

func (k *killed) write(text string) {
	k.following.write(text)
	k.touch(k.path)
}

func (k *killed) step(copies bool) {
	op, to := k.r.IntN(8), fmt.Sprint(k.path, ".", k.files+1)
	if op < 2 {
		k.files++
	}
	data, _ := os.ReadFile(k.path)
	switch {
	case op == 0:
		k.note("rename to %d", k.files)
		require.NoError(k.t, os.Rename(k.path, to))
		k.pause()
		k.write("")
	case op == 1 && copies:
		k.note("copy to %d and empty", k.files)
		require.NoError(k.t, os.WriteFile(to, data, 0o600))
		k.touch(to)
		require.NoError(k.t, os.Truncate(k.path, 0))
		k.touch(k.path)
		after(time.Second)
		k.write(fmt.Sprintf("begin %d\n", k.files))
		after(time.Second) // a copy is known by text that was read before
	case op == 1:
		k.note("empty")
		for _, n := range numbers(string(data)) {
			k.gone[n] = true
		}
		require.NoError(k.t, os.Truncate(k.path, 0))
		k.touch(k.path)
	default:
		text := ""
		for range 1 + k.r.IntN(4) {
			k.lines++
			text += fmt.Sprintf("%c line %d end\n", 'a'+k.lines%26, k.lines)
		}
		cut := len(text)
		if k.r.IntN(3) == 0 {
			cut = k.r.IntN(len(text))
			if text[cut] == '\n' {
				cut-- // else the line is whole
			}
		}
		k.note("write up to %d, %q late", k.lines, text[cut:])
		k.write(text[:cut])
		k.pause()
		k.write(text[cut:])
	}
}

// life starts a follower, lets f happen, and kills it: some of the records that it delivered are kept, or all. A
// position at the beginning of a file has no bytes by which it is known.
func (k *killed) life(all bool, f func()) {
	k.note("start")
	k.following = start(k.t, filepath.Dir(k.path), func(c *Config) { c.Resume = k.at })
	f()
	require.NoError(k.t, k.stop())
	n := len(k.recs)
	for !all && (n == len(k.recs) || n > 0 && k.recs[n-1].Position.Offset < 4) && n >= 0 {
		n = k.r.IntN(len(k.recs)+1) - 1
	}
	n = max(n, 0)
	for i, r := range k.recs[:n] {
		if k.at = r.Position; !r.Known {
			k.kept = append(k.kept, k.got[i])
		}
	}
	k.note("kept %d of %d", n, len(k.recs))
}

// TestKilledAtAnyTime: each line that a file still has comes once, or a notice reports that lines are missing.
func TestKilledAtAnyTime(t *testing.T) {
	seeds := 100
	if testkit.IsFull() {
		seeds = 4000
	}
	for seed := range seeds {
		bubble(t, func(t *testing.T, dir string) {
			k := &killed{
				following: &following{t: t, path: filepath.Join(dir, "Player.log")},
				gone:      map[int]bool{}, r: rand.New(rand.NewPCG(uint64(seed), 1)),
			}
			k.write("line 0 end\n")
			k.life(true, func() { after(time.Second) })
			for range 1 + k.r.IntN(3) {
				if k.r.IntN(2) == 0 {
					k.step(seed%2 == 0)
				}
				k.life(false, func() {
					for range k.r.IntN(6) {
						k.step(seed%2 == 0)
					}
				})
			}
			k.life(true, func() { after(3 * time.Second) })
			text := strings.Join(k.kept, "\n")
			came := map[int]int{}
			for _, n := range numbers(text) {
				came[n]++
			}
			for n := range k.lines + 1 {
				lost := came[n] == 0 && !k.gone[n] && !strings.Contains(text, event.StatusHole.String())
				require.False(t, lost || came[n] > 1, "seed %d: line %d: %d times, after\n%s\nkept:\n%s", seed, n, came[n],
					strings.Join(k.steps, "\n"), text)
			}
		})
	}
}
