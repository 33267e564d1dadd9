package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(2)
	}
}

// report is all that a run of the program finds.
type report struct {
	Machine  machine        `json:"machine"`
	Runs     int            `json:"runs"`
	Skipped  []string       `json:"skipped,omitempty"`
	Corpora  []*measurement `json:"corpora"`
	Accepted []*measurement `json:"linesThatDrainAccepts"`
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	runs := flags.Int("runs", 11, "how often everything is measured")
	only := flags.String("corpus", "", "corpora to measure, separated by commas (default all)")
	asJSON := flags.Bool("json", false, "print JSON")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *runs < 1 {
		return fmt.Errorf("-runs is %d: want at least 1", *runs)
	}
	rep := report{Runs: *runs, Machine: thisMachine()}
	list, err := corpora(func(name, why string) { rep.Skipped = append(rep.Skipped, name+": "+why) })
	if err != nil {
		return err
	}
	if list, err = choose(list, *only); err != nil {
		return err
	}
	kinds, err := contenders()
	if err != nil {
		return err
	}
	if err := rep.measure(list, kinds, stderr); err != nil {
		return err
	}
	rep.Machine.LoadAfter = load()
	if *asJSON {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(&rep)
	}
	return rep.print(stdout, kinds)
}

// choose returns the corpora that names lists, or all.
func choose(list []*corpus, names string) ([]*corpus, error) {
	if names == "" {
		return list, nil
	}
	var chosen []*corpus
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(list, func(c *corpus) bool { return c.Name == name })
		if i < 0 {
			var known []string
			for _, c := range list {
				known = append(known, c.Name)
			}
			return nil, fmt.Errorf("-corpus: no %q here: there is %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, list[i])
	}
	return chosen, nil
}

// measure runs everything. Each corpus is also measured without the lines that
// Drain refuses, with Drain and heed only.
func (rep *report) measure(list []*corpus, kinds []contender, progress io.Writer) error {
	var some []contender
	for _, k := range kinds {
		if k.Name == nameKey || k.Name == nameEngine || k.Name == nameDrainU {
			some = append(some, k)
		}
	}
	for _, c := range list {
		m, err := newMeasurement(c, c.Lines, kinds)
		if err != nil {
			return err
		}
		rep.Corpora = append(rep.Corpora, m)
		lines := accepted(c.Lines)
		if len(lines) == 0 {
			continue
		}
		if m, err = newMeasurement(c, lines, some); err != nil {
			return err
		}
		rep.Accepted = append(rep.Accepted, m)
	}
	all := slices.Concat(rep.Corpora, rep.Accepted)
	for n := range rep.Runs {
		if _, err := fmt.Fprintf(progress, "run %d of %d\n", n+1, rep.Runs); err != nil {
			return err
		}
		for _, m := range all {
			if err := m.run(n); err != nil {
				return err
			}
		}
	}
	for _, m := range all {
		m.summarize()
	}
	return nil
}
