package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/bench/workload"
)

// benchmark is one operation that is measured.
type benchmark struct {
	name string

	// prepare makes the data of the next run of n operations. It is not measured, and may be nil.
	prepare func(n int)

	// run does n operations.
	run func(n int)

	// check returns an error unless the operations gave the right answers.
	check func() error

	n int // operations in one measurement
}

// minRun is how long one measurement takes at least.
const minRun = 10 * time.Millisecond

// cost measures n operations: their time, and their allocations.
func (b *benchmark) cost(n int) (spent time.Duration, mallocs uint64) {
	if b.prepare != nil {
		b.prepare(n)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := workload.Now()
	b.run(n)
	spent = workload.Now() - start
	runtime.ReadMemStats(&after)
	return spent, after.Mallocs - before.Mallocs
}

// most operations of one measurement.
const most = 1 << 24

// size finds the number of operations of one measurement, and warms up. A long time must come twice: if the machine
// stalls, a single operation would seem to be enough, and the runtime's own allocations would count as its own.
func (b *benchmark) size() {
	for b.n = 1; b.n < most; b.n *= 2 {
		spent, _ := b.cost(b.n)
		if spent >= minRun {
			spent, _ = b.cost(b.n)
		}
		if spent >= minRun {
			return
		}
	}
}

// nsPerOp is the least of three measurements of a benchmark that was sized.
func (b *benchmark) nsPerOp() float64 {
	ns := math.Inf(1)
	for range 3 {
		spent, _ := b.cost(b.n)
		ns = min(ns, float64(spent.Nanoseconds())/float64(b.n))
	}
	return ns
}

// printHeader prints where the figures come from, as "go test -bench" does.
func printHeader(w io.Writer) error {
	_, err := fmt.Fprintf(w, "goos: %s\ngoarch: %s\ncpu: %s\nclock: %s\n"+
		"Unit cal/op better=lower\nUnit growth better=lower\n",
		runtime.GOOS, runtime.GOARCH, cmp.Or(workload.CPU(), "unknown"), workload.Clock)
	return err
}

// benchmarks runs every benchmark, and returns the least allocations per operation of each: the runtime's own
// allocations only add to them.
func benchmarks(w io.Writer, rounds int) (map[string]float64, error) {
	list, err := cases()
	if err != nil {
		return nil, err
	}
	cal := calibration()
	cal.size()
	for _, b := range list {
		b.size()
	}
	allocs := map[string]float64{}
	for range rounds {
		for _, b := range list {
			calSpent, _ := cal.cost(cal.n)
			spent, mallocs := b.cost(b.n)
			ns := float64(spent.Nanoseconds()) / float64(b.n)
			// Rounded down, as in package testing: a buffer that grows once
			// is no allocation of each operation.
			perOp := float64(mallocs / uint64(b.n))
			if old, ok := allocs[b.name]; !ok || perOp < old {
				allocs[b.name] = perOp
			}
			if _, err := fmt.Fprintf(w, "Benchmark%s %d %.1f ns/op %.3f cal/op %.0f allocs/op\n", b.name, b.n,
				ns, ns/(float64(calSpent.Nanoseconds())/float64(cal.n)), perOp); err != nil {
				return nil, err
			}
		}
	}
	for _, b := range append(list, cal) {
		if err := b.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", b.name, err)
		}
	}
	return allocs, nil
}

// calibration is constant work: FNV-1a over 256 bytes. (Random reads of a table were tried; other programs disturbed
// them more than the measured code.)
func calibration() *benchmark {
	text := []byte(strings.Repeat("The quick brown fox jumps over 13 lazy dogs. ", 6)[:256])
	var sum uint64
	return &benchmark{
		name: "Calibration",
		run: func(n int) {
			for range n {
				h := 14695981039346656037 ^ sum
				for _, c := range text {
					h = (h ^ uint64(c)) * 1099511628211
				}
				sum += h
			}
		},
		check: func() error {
			if sum == 0 {
				return errors.New("nothing was computed")
			}
			return nil
		},
	}
}

// median returns the median of one value or more.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// compareAllocs returns the benchmarks with more allocations than the baseline.
func compareAllocs(base, now map[string]float64) []error {
	var more []error
	for _, name := range slices.Sorted(maps.Keys(now)) {
		old, ok := base[name]
		if ok && now[name] > old+math.Floor(old/20) {
			more = append(more, fmt.Errorf("%s: %.0f allocs/op, the baseline has %.0f", name, now[name], old))
		}
	}
	return more
}
