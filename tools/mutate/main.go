// Mutate makes mutants of a package, runs its tests on each, and prints those that no
// test notices. A mutant is a copy of the package with one small change, such as a
// condition that is negated or a statement that is left out.
//
//	go -C tools run ./mutate -sample 100 -seed 1 ./gate
//	go -C tools run ./mutate -with ./gate,./internal/bridge ./gabp
//
// Tests run with -short; packages of -with are asked where the package's own tests pass.
// The same seed takes the same sample of the same source. The tree is not changed.
//
// Not mutated are statements that only log or lock: the former are for people, the
// latter belong to the race detector.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	var r runner
	root := flag.String("root", "..", "folder of the module")
	sample := flag.Int("sample", 0, "how many mutants to try, taken at random; 0 tries all")
	seed := flag.Uint64("seed", 1, "of the sample")
	with := flag.String("with", "", "further packages whose tests count, joined by commas")
	only := flag.String("file", "", "mutate only files whose name matches this pattern")
	list := flag.Bool("list", false, "print the mutants and run nothing")
	again := flag.String("again", "", "try only the mutants that survived in this file, the output of an earlier run")
	equivalent := flag.String("equivalent", "mutate/equivalent.txt", "mutants that no test can notice, with reasons")
	flag.BoolVar(&r.verbose, "v", false, "also print killed mutants, with the test that failed")
	flag.StringVar(&r.tests, "run", "", "run only tests that match")
	flag.DurationVar(&r.timeout, "timeout", 0, "of the tests of one mutant; 0 is five times what they take, and 10 s")
	flag.Parse()
	err := func() error {
		if flag.NArg() != 1 {
			return errors.New("give one package, such as ./gate")
		}
		known, err := readEquivalent(*equivalent)
		if err != nil {
			return err
		}
		var before []byte
		if *again != "" {
			if before, err = os.ReadFile(*again); err != nil {
				return err
			}
		}
		if err := os.Chdir(*root); err != nil {
			return err
		}
		all, err := mutants(filepath.Clean(flag.Arg(0)), *only)
		if err != nil {
			return err
		}
		if *again != "" {
			all = slices.DeleteFunc(all, func(m mutant) bool { return !survivedBefore(before, &m) })
		}
		if *sample > 0 && *sample < len(all) {
			order := rand.New(rand.NewPCG(*seed, 0)).Perm(len(all))[:*sample]
			slices.Sort(order)
			for i, n := range order {
				all[i] = all[n]
			}
			all = all[:*sample]
		}
		if *list {
			for _, m := range all {
				fmt.Println(m)
			}
			return nil
		}
		r.packages = append([]string{flag.Arg(0)}, strings.FieldsFunc(*with, func(c rune) bool { return c == ',' })...)
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		return r.run(ctx, all, known)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// readEquivalent reads mutants in the form of mutant.key, one a line; lines of reasons
// begin with "#".
func readEquivalent(name string) (map[string]bool, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			known[line] = true
		}
	}
	return known, nil
}

// survivedBefore reports whether an earlier run printed m as a survivor, maybe on another line.
func survivedBefore(output []byte, m *mutant) bool {
	for line := range bytes.Lines(output) {
		rest, ok := bytes.CutPrefix(line, []byte(survived+": "+m.file+":"))
		if _, change, found := bytes.Cut(rest, []byte(": ")); ok && found && string(bytes.TrimSpace(change)) == m.change() {
			return true
		}
	}
	return false
}

// runner runs tests on mutants.
type runner struct {
	packages []string
	tests    string
	timeout  time.Duration
	verbose  bool
	overlay  string // file of -overlay
	changed  string // file with the changed source
}

// What the tests have to say of a mutant.
const (
	killed     = "killed"
	survived   = "SURVIVED"
	timedOut   = "timed out"
	noCompile  = "does not compile"
	equivalent = "equivalent"
)

func (r *runner) run(ctx context.Context, all []mutant, known map[string]bool) error {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r.overlay, r.changed = filepath.Join(dir, "overlay.json"), filepath.Join(dir, "changed.go")
	if err := os.WriteFile(r.overlay, []byte("{}"), 0o600); err != nil {
		return err
	}
	limit := r.timeout
	r.timeout = 10 * time.Minute
	var began time.Time
	for range 2 { // the first builds what the tests need
		began = time.Now()
		for _, pkg := range r.packages {
			if result, output := r.test(ctx, pkg); result != survived {
				return fmt.Errorf("the tests of %s fail without any change:\n%s", pkg, output)
			}
		}
	}
	if r.timeout = limit; limit == 0 {
		r.timeout = (5*time.Since(began) + 10*time.Second).Round(time.Second)
	}
	counts := map[string]int{}
	for _, m := range all {
		result, by := equivalent, ""
		if !known[m.key()] {
			if result, by, err = r.try(ctx, &m); err != nil {
				return err
			}
		}
		counts[result]++
		if result == survived || r.verbose {
			fmt.Printf("%s: %s%s\n", result, m, by)
		}
	}
	dead := counts[killed] + counts[timedOut]
	fmt.Printf("%s: %d mutants, %d killed (%d by the timeout), %d survived, %d equivalent, %d do not compile: %.1f %% killed\n",
		r.packages[0], len(all), dead, counts[timedOut], counts[survived], counts[equivalent], counts[noCompile],
		100*float64(dead)/float64(max(1, dead+counts[survived])))
	return nil
}

// try runs the tests on a mutant, package by package, until one fails.
func (r *runner) try(ctx context.Context, m *mutant) (result, by string, err error) {
	name, err := filepath.Abs(m.file)
	if err != nil {
		return "", "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{name: r.changed}})
	if err != nil {
		return "", "", err
	}
	if err := errors.Join(os.WriteFile(r.overlay, overlay, 0o600), os.WriteFile(r.changed, m.text(), 0o600)); err != nil {
		return "", "", err
	}
	for _, pkg := range r.packages {
		var output []byte
		if result, output = r.test(ctx, pkg); result != survived {
			if failed := failedTest.FindSubmatch(output); failed != nil {
				by = " (" + string(failed[1]) + ")"
			}
			break
		}
	}
	return result, by, ctx.Err()
}

var failedTest = regexp.MustCompile(`--- FAIL: (\S+)`)

// test runs the tests of a package with the overlay.
func (r *runner) test(ctx context.Context, pkg string) (result string, output []byte) {
	args := []string{
		"test", "-overlay", r.overlay, "-short", "-count=1", "-failfast", "-vet=off", "-ldflags=-s -w",
		"-timeout", r.timeout.String(), "-run", r.tests, pkg,
	}
	output, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	switch {
	case err == nil:
		return survived, output
	case bytes.Contains(output, []byte("[build failed]")):
		return noCompile, output
	case bytes.Contains(output, []byte("panic: test timed out")):
		return timedOut, output
	}
	return killed, output
}
