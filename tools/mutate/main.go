// Mutate makes mutants of a package, runs its tests on each, and prints those that no
// test notices. A mutant is a copy of the package with one small change, such as a
// condition that is negated or a statement that is left out.
//
//	go -C tools run ./mutate -sample 100 -seed 1 ./gabp/gate
//	go -C tools run ./mutate -with ./gabp/gate,./cmd/internal/bridge ./gabp
//	go -C tools run ./mutate -diff main -sample 100
//
// With -diff, mutants are of functions that differ from a commit, of all tested packages if none is given.
//
// Tests run with -short; packages of -with are asked where the package's own tests pass, or where it has none.
// The same seed takes the same sample of the same source. The tree is not changed: all
// mutants are built at once, each as a copy of its function that an environment variable
// chooses.
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
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
	diff := flag.String("diff", "", "mutate only functions changed since this commit, or since the branch left it")
	list := flag.Bool("list", false, "print the mutants and run nothing")
	again := flag.String("again", "", "try only the mutants that survived in this file, the output of an earlier run")
	equivalent := flag.String("equivalent", "mutate/equivalent.txt", "mutants that no test can notice, with reasons")
	flag.BoolVar(&r.verbose, "v", false, "also print killed mutants, with the test that failed")
	flag.StringVar(&r.tests, "run", "", "run only tests that match")
	flag.DurationVar(&r.timeout, "timeout", 0, "of the tests of one mutant; 0 is five times what they take, and 10 s")
	flag.Parse()
	err := func() error {
		if flag.NArg() > 1 || flag.NArg() == 0 && *diff == "" {
			return errors.New("give one package, such as ./gabp/gate, or -diff and a commit")
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
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		all, err := candidates(ctx, flag.Args(), *diff, *only)
		if err != nil {
			return err
		}
		if *again != "" {
			all = slices.DeleteFunc(all, func(m mutant) bool { return !survivedBefore(before, &m) })
		}
		if len(all) == 0 {
			fmt.Println("no mutants")
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
		for len(all) > 0 {
			dir, n := path.Dir(all[0].file), 1
			for n < len(all) && path.Dir(all[n].file) == dir {
				n++
			}
			one := r // since a run sets the timeout by its own package
			one.packages = strings.FieldsFunc(*with, func(c rune) bool { return c == ',' })
			if tests, err := filepath.Glob(filepath.Join(dir, "*_test.go")); err == nil && len(tests) > 0 {
				one.packages = slices.Insert(one.packages, 0, "./"+dir)
			}
			if len(one.packages) == 0 {
				return fmt.Errorf("%s has no tests: name the packages that test it, with -with", dir)
			}
			if err := one.run(ctx, all[:n], known); err != nil {
				return err
			}
			all = all[n:]
		}
		return nil
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
	dir      string // for built files
}

// The results of the tests of a mutant.
const (
	killed     = "killed"
	survived   = "SURVIVED"
	timedOut   = "timed out"
	noCompile  = "does not compile"
	equivalent = "equivalent"
)

func (r *runner) run(ctx context.Context, all []mutant, known map[string]bool) (err error) {
	if r.dir, err = os.MkdirTemp("", "mutate"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(r.dir) }()
	results := map[int]string{}
	together := map[int]*mutant{}
	for i := range all {
		if known[all[i].key()] {
			results[i] = equivalent
		} else if all[i].body != nil {
			together[i] = &all[i]
		}
	}
	for { // until those that compile are left
		output, err := r.build(ctx, batch(together))
		if err == nil {
			break
		}
		failed := inMutant.FindAllSubmatch(output, -1)
		if failed == nil {
			return fmt.Errorf("the mutants cannot be built:\n%s", output)
		}
		for _, number := range failed {
			i, _ := strconv.Atoi(string(number[1]))
			results[i] = noCompile
			delete(together, i)
		}
	}
	limit, began := r.timeout, time.Now()
	r.timeout = 10 * time.Minute
	if result, output := r.test(ctx, ""); result != survived {
		return fmt.Errorf("the tests fail without any change:\n%s", output)
	}
	if r.timeout = limit; limit == 0 {
		r.timeout = (5*time.Since(began) + 10*time.Second).Round(time.Second)
	}
	counts := map[string]int{}
	report := func(i int, by string) {
		counts[results[i]]++
		if results[i] == survived || r.verbose {
			fmt.Printf("%s: %s%s\n", results[i], all[i], by)
		}
	}
	for i := range all {
		by := ""
		if together[i] != nil {
			results[i], by = r.test(ctx, strconv.Itoa(i))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if results[i] != "" {
			report(i, by)
		}
	}
	for i := range all { // those outside of functions need a build each
		if results[i] != "" {
			continue
		}
		by := ""
		if _, err := r.build(ctx, map[string][]byte{all[i].file: all[i].text()}); err != nil {
			results[i] = noCompile
		} else {
			results[i], by = r.test(ctx, "")
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		report(i, by)
	}
	dead := counts[killed] + counts[timedOut]
	fmt.Printf("%s: %d mutants, %d killed (%d by the timeout), %d survived, %d equivalent, %d do not compile: %.1f %% killed\n",
		"./"+path.Dir(all[0].file), len(all), dead, counts[timedOut], counts[survived], counts[equivalent], counts[noCompile],
		100*float64(dead)/float64(max(1, dead+counts[survived])))
	return nil
}

// inMutant is the place of an error in one of a batch.
var inMutant = regexp.MustCompile(`mutant/(\d+)\.go:`)

// build builds the tests of each package, with files changed or added.
func (r *runner) build(ctx context.Context, changed map[string][]byte) (output []byte, err error) {
	replace := map[string]string{}
	for name, text := range changed {
		full, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		replace[full] = filepath.Join(r.dir, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(replace[full], text, 0o600); err != nil {
			return nil, err
		}
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	overlay := filepath.Join(r.dir, "overlay.json")
	if err := os.WriteFile(overlay, raw, 0o600); err != nil {
		return nil, err
	}
	for i, pkg := range r.packages {
		args := []string{"test", "-c", "-overlay", overlay, "-gcflags=-e", "-ldflags=-s -w", "-o", r.binary(i), pkg}
		if output, err = exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
			return output, err
		}
	}
	return nil, nil
}

func (r *runner) binary(i int) string { return filepath.Join(r.dir, strconv.Itoa(i)+".test") }

// test runs the tests that were built with one of the batch, or none, package by package, until one fails.
func (r *runner) test(ctx context.Context, number string) (result, by string) {
	for i, pkg := range r.packages {
		cmd := exec.CommandContext(ctx, r.binary(i), "-test.short", "-test.failfast", "-test.timeout", r.timeout.String(),
			"-test.run", r.tests)
		cmd.Dir, cmd.Env = pkg, append(os.Environ(), "MUTANT="+number)
		output, err := cmd.CombinedOutput()
		if failed := failedTest.FindSubmatch(output); failed != nil {
			by = " (" + string(failed[1]) + ")"
		}
		switch {
		case err == nil:
			continue
		case bytes.Contains(output, []byte("panic: test timed out")):
			return timedOut, by
		}
		return killed, by
	}
	return survived, ""
}

var failedTest = regexp.MustCompile(`--- FAIL: (\S+)`)
