// Package compare guards the hot path against slipping back. It runs its
// benchmarks ten times, in turns, and prints them in the format of
// "go test -bench", for benchstat:
//
//	go run ./bench compare -baseline bench/compare/baseline.txt > new.txt
//	go tool -modfile=tools/go.mod benchstat -ignore goos,goarch,cpu,clock \
//		-filter '.unit:(cal/op OR allocs/op)' bench/compare/baseline.txt new.txt
//
// Besides ns/op there is cal/op: the same as a multiple of a calibration loop
// that ran just before, so that figures of two machines, or of a busy and an idle
// one, can be looked at together. It still is information only: caches differ.
//
// It fails, with exit code 1, for figures that do not depend on the machine:
//
//   - more allocations per operation than the baseline has, by more than a
//     twentieth (so that none stays none);
//   - growth with size: the cost of an operation, or a byte, at the large size as
//     a multiple of the small size, beyond the limit in growth.go.
//     It is measured up to seven times, and the least counts, since everything
//     that disturbs a measurement makes it larger.
//
// A table of its own has the cost of an operation at more sizes:
//
//	go run ./bench compare -flat -entries 10000000
//
// After a change that is meant, write a new baseline and commit it:
//
//	go run ./bench compare > bench/compare/baseline.txt
package compare

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/heedlog/heed/rules"
)

// SlippedError lists the figures that are worse than the baseline or beyond their limit.
type SlippedError struct{ what error }

func (e *SlippedError) Error() string { return e.what.Error() }

// Run runs the command with its arguments. Its error is a [*SlippedError] if a figure is worse.
func Run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(stderr)
	name := flags.String("baseline", "", "file with an earlier output, for the allocations")
	rounds := flags.Int("rounds", 10, "how often each benchmark runs")
	large := flags.Int("entries", 1_000_000, "entries of the largest sizes")
	flat := flags.Bool("flat", false, "print what Log costs at many sizes of all that may grow, and no more")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *rounds < 1 || *large < 1000 {
		return errors.New("want -rounds of at least 1 and -entries of at least 1000")
	}
	if *flat {
		set, err := rules.Compile(rules.Defaults()...)
		if err != nil {
			return err
		}
		return table(stdout, set, *large)
	}
	var base map[string]float64
	if *name != "" {
		f, err := os.Open(*name)
		if err != nil {
			return err
		}
		base, err = readAllocs(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("%s: %w", *name, err)
		}
	}
	if err := printHeader(stdout); err != nil {
		return err
	}
	allocs, err := benchmarks(stdout, *rounds)
	if err != nil {
		return err
	}
	var slipped []error
	if base != nil {
		slipped = compareAllocs(base, allocs)
	}
	list, err := sizes(*large)
	if err != nil {
		return err
	}
	grown, err := growths(stdout, list)
	if err != nil {
		return err
	}
	if slipped = append(slipped, grown...); len(slipped) > 0 {
		return &SlippedError{errors.Join(slipped...)}
	}
	return nil
}
