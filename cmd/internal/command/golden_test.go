package command

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

const (
	ownCaptures = "../../../testdata/captures"
	goldenDir   = "../../../testdata/golden"
)

// goldenForms are the forms in which each capture is kept as a golden replay.
var goldenForms = []struct {
	suffix string
	args   []string
}{
	{".txt", []string{"--width", "120"}},
	{".jsonl", []string{"--format", "jsonl"}},
	{".ack.jsonl", []string{"--format", "jsonl", "--ack", "auto"}},
	{".records.txt", []string{"records"}},
}

// TestGolden replays the project's captures and compares what is printed with
// the golden files. Run it with -update to write them.
func TestGolden(t *testing.T) {
	want := map[string]bool{}
	for _, path := range captures(t, ownCaptures) {
		base := filepath.Base(path)
		for _, form := range goldenForms {
			name := base + form.suffix
			want[name] = true
			t.Run(name, func(t *testing.T) {
				out := ok(t, append(append([]string{}, form.args...), path)...)
				// The path depends on the system, and says nothing here.
				got := strings.ReplaceAll(out, jsonPath(path), base)
				got = strings.ReplaceAll(got, path, base)
				testkit.Golden(t, filepath.Join(goldenDir, name), got)
			})
		}
	}
	for _, e := range testkit.Must(os.ReadDir(goldenDir)) {
		if want[e.Name()] {
			continue
		}
		if testkit.Updating() {
			require.NoError(t, os.Remove(filepath.Join(goldenDir, e.Name())))
			continue
		}
		t.Errorf("golden file %s belongs to no capture", e.Name())
	}
}

// jsonPath is a path as it stands in a JSON string.
func jsonPath(path string) string { return strings.ReplaceAll(path, `\`, `\\`) }

// scattered gives its data in pieces of random sizes.
type scattered struct {
	data bytes.Reader
	rnd  *rand.Rand
}

func (s *scattered) Read(b []byte) (int, error) {
	return s.data.Read(b[:min(len(b), 1+s.rnd.IntN(5000))])
}

// TestOverlapChangesNothing replays each capture with the reading beside the engine
// and, on one processor, in turns with it, in random pieces: what is printed is the
// same to the byte.
func TestOverlapChangesNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	referenceAndOwn(t, func(t *testing.T, path string) {
		data := testkit.Must(os.ReadFile(path))
		replay := func(procs int, seed uint64) string {
			runtime.GOMAXPROCS(procs)
			in := &scattered{rnd: rand.New(rand.NewPCG(seed, 0))}
			in.data.Reset(data)
			var stdout, stderr bytes.Buffer
			require.Equal(t, exitOK, run(t.Context(), []string{"--format", "json", "--top", "0", "-"}, in, &stdout, &stderr),
				stderr.String())
			return stdout.String()
		}
		out := replay(1, 1)
		require.True(t, out == replay(2, 2), "two replays differ")
		requireInert(t, out)
	})
}

// TestEscalated: what repetition made of a rule is told alike by all that show
// a decision.
func TestEscalated(t *testing.T) {
	const rule = "version: 1\nrules:\n  - {id: t.path, when: 'template startsWith \"No path\"', disposition: ignore"
	once := write(t, "once.yaml", rule+"}\n")
	often := write(t, "often.yaml", rule+", escalate: {after: 3, within: 30s, to: blocking}}\n")
	log := write(t, "game.log", strings.Repeat("No path to the lamp\nsomething else\n", 3))
	explained := func(line string) string {
		return ok(t, "explain", "--no-default-rules", "--rules", often, log+":"+line)
	}

	before := explained("3")
	require.Contains(t, before, ":3: ignore info, by rule t.path\n")
	require.Contains(t, before,
		"escalates to blocking if the rule decides 3 entries within 30s (without times, 1500 entries); fewer are ignore info")
	after := explained("5")
	require.Contains(t, after, ":5: BLOCKING error, by rule t.path, escalated by repetition\n")
	require.Contains(t, after,
		"escalated to blocking if the rule decides 3 entries within 30s (without times, 1500 entries); fewer are ignore info")

	r := runArgs(t, "explain", "--format", "json", "--no-default-rules", "--rules", often, log+":5")
	e := decoded[explanation](t, r.stdout)
	require.Equal(t, event.Blocking, e.Decision.Disposition)
	require.True(t, e.Decision.Escalated)
	by := e.Decision.Escalates
	require.Equal(t, []any{3, 30.0, 1500, event.Blocking, event.SeverityError},
		[]any{by.After, by.Seconds, by.Entries, by.To, by.Severity})

	r = runArgs(t, "--no-default-rules", "--rules", often, log)
	require.Contains(t, r.stdout, "rule t.path, escalated by repetition")
	r = runArgs(t, "--format", "json", "--no-default-rules", "--rules", often, log)
	require.Contains(t, r.stdout, `"escalated":true`)
	r = runArgs(t, "records", "--format", "jsonl", "--no-default-rules", "--rules", often, log)
	require.Equal(t, 1, strings.Count(r.stdout, `"escalated":true`))
	r = runArgs(t, "rules", "diff", "--no-default-rules", once, often, log)
	require.Contains(t, r.stdout, "1 of 6 records in 1 file change class")
	require.Contains(t, r.stdout, "new     BLOCKING error, by rule t.path, escalated by repetition")
}
