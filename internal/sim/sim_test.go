package sim

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
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

var runMutants = flag.Bool("sim.mutants", false, "run TestMutants, which takes minutes")

// mutant is a change that breaks the engine in one way.
type mutant struct{ name, what, dir, old, new string }

// mutants reads mutants.txt.
func mutants(t *testing.T) (all []mutant) {
	raw := testkit.Must(os.ReadFile("mutants.txt"))
	for _, text := range strings.Split(strings.TrimSpace(string(raw)), "\n\n")[1:] {
		lines := strings.Split(text, "\n")
		m := mutant{dir: lines[1]}
		m.name, m.what, _ = strings.Cut(lines[0], ": ")
		for _, l := range lines[2:] {
			if rest, ok := strings.CutPrefix(l, "-"); ok {
				m.old += rest + "\n"
			} else {
				m.new += strings.TrimPrefix(l, "+") + "\n"
			}
		}
		all = append(all, m)
	}
	require.NotEmpty(t, all)
	return all
}

// find returns the one file of a tree that holds what m changes, with its text.
func (m *mutant) find(t *testing.T, root string) (file, text string) {
	files := testkit.Must(filepath.Glob(filepath.Join(root, m.dir, "*.go")))
	for _, f := range files {
		raw := testkit.Must(os.ReadFile(f))
		if n := strings.Count(string(raw), "\n"+m.old); n > 0 && !strings.HasSuffix(f, "_test.go") {
			require.True(t, n == 1 && file == "", "%s: what it changes is there twice", m.name)
			file, text = f, string(raw)
		}
	}
	require.NotEmpty(t, file, "%s: what it changes is not there: mutants.txt must follow the code", m.name)
	return file, text
}

// TestMutantsFit finds in the tree what each mutant changes.
func TestMutantsFit(t *testing.T) {
	for _, m := range mutants(t) {
		m.find(t, "../..")
	}
}

// TestMutants makes each change of mutants.txt in an overlay of the tree and expects the
// simulator to fail there.
//
//	go test ./internal/sim -run Mutants -v -timeout 1h -sim.mutants
func TestMutants(t *testing.T) {
	if !*runMutants {
		t.Skip("give -sim.mutants")
	}
	root := testkit.Must(filepath.Abs("../.."))
	changed, overlay := filepath.Join(t.TempDir(), "mutant.go"), filepath.Join(t.TempDir(), "overlay.json")
	run := func(command string, args ...string) (string, error) {
		cmd := exec.Command("go", append([]string{command, "-overlay", overlay}, args...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	require.NoError(t, os.WriteFile(overlay, []byte("{}"), 0o600))
	out, err := run("test", "-count=1", "-run", "Short", "./internal/sim")
	require.NoError(t, err, "the tree itself must pass: %s", out)
	for _, m := range mutants(t) {
		t.Run(m.name, func(t *testing.T) {
			file, text := m.find(t, root)
			text = strings.Replace(text, "\n"+m.old, "\n"+m.new, 1)
			require.NoError(t, os.WriteFile(changed, []byte(text), 0o600))
			replaced := testkit.Must(json.Marshal(map[string]any{"Replace": map[string]string{file: changed}}))
			require.NoError(t, os.WriteFile(overlay, replaced, 0o600))
			out, err := run("vet", "./internal/sim")
			require.NoError(t, err, out)
			out, err = run("test", "-count=1", "-run", "Short", "./internal/sim", "-args", "-sim.shrink=false")
			if err == nil { // perhaps only long streams show it
				out, err = run("test", "-count=1", "-short", "-run", "UpdatesAreFew", "./internal/sim")
			}
			require.Error(t, err, "the mutant lives: %s", m.what)
			_, failure, found := strings.Cut(out, "_test.go:")
			require.True(t, found, out)
			failure, _, _ = strings.Cut(failure, "\n")
			t.Logf("caught: %.200s", failure)
		})
	}
}
