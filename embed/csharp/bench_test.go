package csharp_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

var (
	benchPushes  = flag.Int("pushes", 100_000, "lines of each measurement at full speed")
	benchSeconds = flag.Int("seconds", 1, "length of each measurement at the pace of a game")
	benchStorm   = flag.Int("storm", 100_000, "lines of the storm")
)

// A figure is a row of the table: what a run calls it, what people are shown, and the budget.
type figure struct {
	name, label, unit string
	scale             float64
	budget            float64 // 0: none
}

var figures = []figure{
	{"mean ns", "a push, at full speed: mean", "ns", 1, 0},
	{"full speed p50 ns", "p50", "ns", 1, 0},
	{"full speed p99 ns", "p99", "ns", 1, 1000},
	{"full speed p99.9 ns", "p99.9", "ns", 1, 0},
	{"full speed max ns", "max", "µs", 1e-3, 0},
	{"paced p50 ns", "a push, 5 in each of 60 frames/s: p50", "ns", 1, 0},
	{"paced p99 ns", "p99", "ns", 1, 5000},
	{"paced p99.9 ns", "p99.9", "ns", 1, 0},
	{"paced max ns", "max", "µs", 1e-3, 0},
	{"allocated bytes", "bytes allocated by all pushes", "B", 1, 0},
	{"100 lines and a poll p50 ns", "100 lines and a poll, 60 frames/s: p50", "µs", 1e-3, 0},
	{"100 lines and a poll p99 ns", "p99", "µs", 1e-3, 100},
	{"first answer, cold, ms", "start to first answer: first time", "ms", 1, 100},
	{"first answer p50 ns", "p50 of 11", "ms", 1e-6, 100},
	{"line to opened p50 ns", "line to Opened, 200 faults: p50", "ms", 1e-6, 0},
	{"line to opened p99 ns", "p99", "ms", 1e-6, 5},
	{"faults that opened nothing", "faults that opened nothing", "", 1, 0},
	{"idle game without heed, % of a core", "idle: game without heed, of a core", "%", 1, 0},
	{"idle game with heed, % of a core", "game with heed", "%", 1, 0},
	{"idle sidecar, % of a core", "sidecar", "%", 1, 0.5},
	{"storm, lines a second", "a storm of lines, all received", "/s", 1, 0},
	{"sidecar peak MB", "sidecar's memory, peak", "MB", 1, 40},
	{"sidecar peak MB, with drops", "and as many again, unchecked", "MB", 1, 40},
	{"storm pushed", "pushed", "", 1, 0},
	{"storm received", "received", "", 1, 0},
	{"storm dropped", "dropped", "", 1, 0},
	{"storm lost", "lost", "", 1, 0},
}

// BenchmarkEmbedding prints what logging costs a game by each way there is. Its figures are of one run, which takes
// some ten seconds; those of bench/README.md are of -pushes 1000000 -seconds 20 -storm 10000000.
func BenchmarkEmbedding(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("measures with clock_gettime and /proc")
	}
	b.ReportMetric(0, "ns/op")
	program := testkit.CSharp(b, "Heed.cs", "HeedMore.cs", filepath.Join("bench", "Bench.cs"))
	file := filepath.Join(b.TempDir(), "lines.txt")
	type way struct{ title, name, path string }
	ways := []way{
		{"nothing", "nothing", "-"},
		{"queue", "queue", "-"},
		{"StreamWriter", "file", file},
		{"AutoFlush", "file-flush", file},
		{"heed, sidecar", "sidecar", testkit.Program(b, "heed-sidecar")},
	}

	values := make([]map[string]float64, len(ways))
	for i, w := range ways {
		out := testkit.RunMono(b, time.Hour, program, w.name, w.path,
			strconv.Itoa(*benchPushes), strconv.Itoa(*benchSeconds), strconv.Itoa(*benchStorm))
		values[i] = map[string]float64{}
		for line := range strings.Lines(out) {
			name, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
			if !ok {
				b.Logf("%s: %s", w.name, line)
				continue
			}
			v := testkit.Must(strconv.ParseFloat(text, 64))
			values[i][name] = v
		}
		if _, of := values[i]["storm pushed"]; !of {
			continue
		}
		require.Zero(b, values[i]["allocated bytes"], "%s: bytes allocated on the game's thread", w.name)
		for _, of := range []string{"storm", "full speed"} {
			require.Equal(b, values[i][of+" pushed"],
				values[i][of+" received"]+values[i][of+" dropped"]+values[i][of+" lost"], "%s: lines accounted, %s", w.name, of)
		}
	}

	fmt.Println()
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) { _, _ = fmt.Fprintln(t, strings.Join(cells, "\t")+"\t") }
	head := []string{""}
	for _, w := range ways {
		head = append(head, w.title)
	}
	row(append(head, "budget", "")...)
	for _, f := range figures {
		cells := []string{f.label}
		for i := range ways {
			text := "–"
			if v, ok := values[i][f.name]; ok {
				v *= f.scale
				text = shown(v)
				if f.budget > 0 && v > f.budget {
					text += " !"
				}
			}
			cells = append(cells, text)
		}
		budget := ""
		if f.budget > 0 {
			budget = shown(f.budget)
		}
		row(append(cells, budget, f.unit)...)
	}
	require.NoError(b, t.Flush())
	fmt.Printf("An empty pair of readings of the clock took %v ns, which is subtracted. Over the budget: !\n",
		values[0]["timer ns"])
}

func shown(v float64) string {
	switch {
	case v == float64(int64(v)):
		return strconv.FormatInt(int64(v), 10)
	case v < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}
