// Package contention measures how long goroutines that log at once wait for each other, and for readers,
// acknowledgements and snapshots:
//
//	go run ./bench contention -goroutines 1,2,8,64 -with none,reads,acks,snapshots,all
//
// The engine's tables are full: 65,536 signatures that are known, 96 items of 128
// groups, 1,024 operations. Each call of Log on a known line is timed by itself.
//
// Below each row is its control, which separates the engine's time from the time of the machine and the runtime: as
// many goroutines take a bare sync.Mutex around a spin that is as long as a call of Log alone. The disturbing
// goroutines use another engine, so that cores and garbage collector have the same work, and half of the time take that
// mutex around spins of 20 µs. The difference between row and control is waiting for heed.
package contention

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Run runs the command with its arguments.
func Run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("contention", flag.ContinueOnError)
	flags.SetOutput(stderr)
	n := flags.Int("n", 500_000, "entries of each row")
	counts := flags.String("goroutines", "1,2,8,64", "how many log at once, in each row")
	with := flags.String("with", strings.Join(disturbances, ","), "what goes on meanwhile")
	small := flags.Bool("small", false, "leave the tables as good as empty, for a quick look")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *n < 1 {
		return fmt.Errorf("-n is %d: want at least 1", *n)
	}
	var writers []int
	for s := range strings.SplitSeq(*counts, ",") {
		g, err := strconv.Atoi(s)
		if err != nil || g < 1 {
			return fmt.Errorf("-goroutines has %q: want numbers of at least 1", s)
		}
		writers = append(writers, g)
	}
	kinds := strings.Split(*with, ",")
	for _, k := range kinds {
		if !slices.Contains(disturbances, k) {
			return fmt.Errorf("-with has %q: want some of %s", k, strings.Join(disturbances, ", "))
		}
	}
	return table(stdout, kinds, writers, *n, *small)
}

// table prints a row, and its control, for each kind of disturbance and each
// number of writers.
func table(w io.Writer, kinds []string, writers []int, n int, small bool) error {
	engine, err := fullEngine(small)
	if err != nil {
		return err
	}
	other, err := fullEngine(small)
	if err != nil {
		return err
	}
	lines := knownLines(engine)
	alone := (&load{writers: 1, n: min(n, 100_000), call: logger(engine, lines)}).run()
	spin := newSpinner(alone.percentile(0.5) - timing())
	const head = "%d cores, %s; a call of Log alone takes %v\n\n%-20s %10s %9s %9s %9s %9s %9s %7s\n"
	if _, err := fmt.Fprintf(w, head, runtime.GOMAXPROCS(0), runtime.Version(), spin.took,
		"with, goroutines", "entries/s", "p50", "p99", "p99.9", "max", "mean", "> 1 ms"); err != nil {
		return err
	}
	before := engine.Stats().Received
	logged := uint64(0)
	for _, kind := range kinds {
		for _, g := range writers {
			row := &load{writers: g, n: n, call: logger(engine, lines), disturb: disturber(kind, engine)}
			res := row.run()
			logged += uint64(len(res.waits)) + row.disturbed
			if err := res.print(w, fmt.Sprintf("%s, %d", kind, g)); err != nil {
				return err
			}
			control := &load{
				writers: g, n: n, call: func(int, int) { spin.hold(spin.rounds) }, disturb: spin.disturbance(kind, other),
			}
			if err := control.run().print(w, "  control"); err != nil {
				return err
			}
		}
	}
	stats := engine.Stats()
	if got := stats.Received - before; got != logged {
		return fmt.Errorf("%d entries received of %d", got, logged)
	}
	return stats.Check()
}

// print writes a row of the table.
func (r *result) print(w io.Writer, name string) error {
	_, err := fmt.Fprintf(w, "%-20s %10.0f %9v %9v %9v %9v %9v %7d\n", name, float64(len(r.waits))/r.took.Seconds(),
		short(r.percentile(0.5)), short(r.percentile(0.99)), short(r.percentile(0.999)),
		short(r.percentile(1)), short(r.mean()), r.over(time.Millisecond))
	return err
}

// short rounds d to three digits.
func short(d time.Duration) time.Duration {
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}
