package sim

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

var (
	seeds  = flag.Int("sim.seeds", 0, "how many seeds TestLong plays")
	steps  = flag.Int("sim.steps", 10_000, "of how many steps each")
	first  = flag.Int("sim.first", 1, "the first of them")
	shrink = flag.Bool("sim.shrink", true, "whether a script that fails is made short")
)

// playSeeds plays scripts of seeds from..from+n-1. Of the first that fails it
// prints a short form.
func playSeeds(t *testing.T, from, n, steps int) (played, entries, items uint64) {
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && !t.Failed(); i = next.Add(1) - 1 {
				seed := uint64(from) + uint64(i)
				script := Generate(seed, steps)
				p, err := Play(script)
				mu.Lock()
				played += uint64(p.Steps)
				entries += p.Entries
				items += p.Items
				mu.Unlock()
				if err != nil {
					t.Errorf("seed %d: %v\n%s", seed, err, shortened(script, err))
				}
			}
		})
	}
	wg.Wait()
	return played, entries, items
}

// shortened returns the golden replay of a short script that fails as a long one
// does.
func shortened(s *Script, err error) string {
	var v *Violation
	if !*shrink || !errors.As(err, &v) {
		return ""
	}
	long := &Script{Setup: s.Setup, Steps: s.Steps[:min(v.Step+1, len(s.Steps))]}
	short := Shrink(long, 1500, func(c *Script) bool {
		var same *Violation
		_, err := Play(c)
		return errors.As(err, &same) && same.Law == v.Law
	})
	text, err := Replay(short.String())
	return fmt.Sprintf("%s# %v\n", text, err)
}

// TestShort plays the scripts in testdata and a few seeds: what every change must pass.
func TestShort(t *testing.T) {
	files := testkit.Must(filepath.Glob("testdata/*.txt"))
	for _, file := range files {
		raw := testkit.Must(os.ReadFile(file))
		script := testkit.Must(Parse(string(raw)))
		_, err := Play(script)
		require.NoError(t, err, file)
	}
	n := 30
	if testkit.IsFull() {
		n = 120
	}
	playSeeds(t, 1, n, 400)
}

// TestLong plays as many seeds as -sim.seeds says.
func TestLong(t *testing.T) {
	if *seeds == 0 {
		t.Skip("give -sim.seeds, as in: go test ./internal/sim -run Long -timeout 2h -sim.seeds 1000 -sim.steps 10000")
	}
	played, entries, items := playSeeds(t, *first, *seeds, *steps)
	t.Logf("%d seeds, %d steps, %d entries, %d items", *seeds, played, entries, items)
}

// TestReplays plays the scripts in testdata, compares what the engine answers with what stands there, and holds it to
// the laws.
func TestReplays(t *testing.T) {
	files := testkit.Must(filepath.Glob("testdata/*.txt"))
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw := testkit.Must(os.ReadFile(file))
			got, err := Replay(string(raw))
			require.NoError(t, err, got)
			testkit.Golden(t, file, got)
			testkit.Must(Play(testkit.Must(Parse(string(raw)))))
		})
	}
}

// TestTextForm holds parsing and printing to each other, and generation to its
// seed.
func TestTextForm(t *testing.T) {
	for seed := range uint64(50) {
		s := Generate(seed, 200)
		parsed := testkit.Must(Parse(s.String()))
		require.Equal(t, s, parsed)
		require.Equal(t, s, Generate(seed, 200))
	}
	for text, want := range map[string]string{
		"":                      "no script",
		"log text=x":            "want new",
		"new clock=sun":         "line 1: clock",
		"new windows=slow":      "windows",
		"new doors=3":           "unknown setting",
		"new open=many":         "invalid syntax",
		"new\n\nleap":           `line 3: sim: unknown verb "leap"`,
		"new\nlog text":         "want key=value",
		"new\nlog text=\"x":     "invalid syntax",
		"new\nlog mood=low":     "unknown field",
		"new\nlog level=loud":   "unknown level",
		"new\nack through=far":  "invalid syntax",
		"new\npass for=a-while": "invalid duration",
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, want, text)
	}
}

// TestShrink shrinks a script that fails by a rule of the test's own.
func TestShrink(t *testing.T) {
	s := Generate(1, 300)
	s.Steps = append(s.Steps, Step{Verb: Storm, Text: "abc", N: 100}, Step{Verb: Drain}, Step{Verb: Ack, Item: "^0"})
	fails := func(c *Script) bool {
		storm := false
		for _, s := range c.Steps {
			storm = storm || s.Verb == Storm && s.N >= 20
			if storm && s.Verb == Ack {
				return true
			}
		}
		return false
	}
	short := Shrink(s, 5000, fails)
	require.True(t, fails(short))
	require.Len(t, short.Steps, 2)
	require.LessOrEqual(t, short.Steps[0].N, 39)
}

// Shrink returns a short script that fails, made of one that does: by leaving
// out steps, half of them at first and single ones at last, and by making storms
// smaller. It tries until nothing more can go, or for so many plays.
func Shrink(s *Script, plays int, fails func(*Script) bool) *Script {
	best := *s
	try := func(c *Script) bool {
		if plays == 0 {
			return false
		}
		plays--
		if !fails(c) {
			return false
		}
		best = *c
		return true
	}
	for size := (len(best.Steps) + 1) / 2; size > 0; {
		again := false
		for at := 0; at < len(best.Steps); {
			end := min(at+size, len(best.Steps))
			c := Script{Setup: best.Setup, Steps: append(append([]Step{}, best.Steps[:at]...), best.Steps[end:]...)}
			if try(&c) {
				again = true
			} else {
				at = end
			}
		}
		if size > 1 {
			size /= 2
		} else if !again {
			break
		}
	}
	for i := range best.Steps {
		for best.Steps[i].N > 1 {
			c := Script{Setup: best.Setup, Steps: append([]Step{}, best.Steps...)}
			c.Steps[i].N /= 2
			if !try(&c) {
				break
			}
		}
	}
	for _, n := range best.Setup.numbers() {
		c := best
		for _, other := range c.Setup.numbers() {
			if other.name == n.name {
				*other.v = 0
			}
		}
		if *n.v != 0 {
			try(&c)
		}
	}
	return &best
}
