package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
)

func (p *program) rulesTestCommand() *cobra.Command {
	var flags ruleFlags
	cmd := &cobra.Command{
		Use:   "test EXPECTATIONS...",
		Short: "Compare the decisions in captures with expected ones",
		Long: `test reads files of expected decisions, replays the captures that they name, and reports
each line with another decision. It exits with 1 if there is one.

A file has one line for each expectation, with fields separated by tabs: capture, line,
disposition, and optionally the id of the rule. The path of the capture is relative to
the folder of the file. Blank lines, and lines that begin with #, are skipped:

  Player.log	87	blocking	jobs.lord_exception
  Player.log	97	advisory

The tests inside rule files are run by "rules check".`,
		Example: `  heed rules test expected.tsv
  heed rules test --rules mine.yaml expected.tsv`,
		Args: cli.Args(1, math.MaxInt, "name a file of expected decisions"),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := flags.compile()
			if err != nil {
				return err
			}
			out := &output{w: p.Stdout}
			for _, name := range args {
				expected, err := readExpectations(name)
				if err != nil {
					return err
				}
				failed, err := p.meet(cmd.Context(), set, expected)
				if err != nil {
					out.flush() // the results of the files before
					return err
				}
				out.buf = fmt.Appendf(out.buf, "%s: %s: ", safe(name, 0), text.Count(len(expected), "expectation"))
				if failed > 0 {
					out.buf = fmt.Appendf(out.buf, "%d met, %d FAILED\n", len(expected)-failed, failed)
					p.Raise(exitFinding)
				} else {
					out.buf = append(out.buf, "all met\n"...)
				}
			}
			return out.done("the report")
		},
	}
	flags.register(p, cmd)
	return cmd
}

// expectation is the decision that a file expects for one line of a capture.
type expectation struct {
	source      place // of the expectation
	at          place // of the record
	disposition event.Disposition
	rule        string // empty: any
}

// maxExpectations bounds, in bytes, a file of expectations.
const maxExpectations = 16 << 20

// readExpectations reads a file. Errors name the line and the field.
func readExpectations(name string) ([]expectation, error) {
	data, err := files.Read(name, maxExpectations)
	if err != nil {
		return nil, fmt.Errorf("expectations: %w", err)
	}
	var out []expectation
	number := 0
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimRight(string(line), "\r\n")
		if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") {
			continue
		}
		e := expectation{source: place{name, number}}
		fields := strings.Split(text, "\t")
		fail := func(format string, args ...any) error {
			return fmt.Errorf("expectations: %s: %s", e.source, fmt.Sprintf(format, args...))
		}
		if len(fields) < 3 || len(fields) > 4 {
			return nil, fail("want 3 or 4 fields separated by tabs (capture, line, disposition, rule), not %d", len(fields))
		}
		if e.at.file = fields[0]; e.at.file == "" {
			return nil, fail("field 1, the capture, is empty")
		}
		if !filepath.IsAbs(e.at.file) {
			e.at.file = filepath.Join(filepath.Dir(name), filepath.FromSlash(e.at.file))
		}
		if e.at.line, err = strconv.Atoi(fields[1]); err != nil || e.at.line < 1 {
			return nil, fail("field 2, the line, is %.40q: write a number from 1 on", fields[1])
		}
		var ok bool
		if e.disposition, ok = event.Parse[event.Disposition](fields[2]); !ok {
			return nil, fail("field 3, the disposition, is %.40q: use one of ignore, advisory, blocking", fields[2])
		}
		if len(fields) == 4 {
			e.rule = fields[3]
		}
		out = append(out, e)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("expectations: %s has none: write a line for each, with fields separated by tabs (capture, "+
			"line, disposition, rule)", name)
	}
	return out, nil
}

// meet replays each capture once and reports unmet expectations in the order of the file.
func (p *program) meet(ctx context.Context, set *rules.Set, expected []expectation) (failed int, err error) {
	byFile := map[string][]int{}
	for i := range expected {
		byFile[expected[i].at.file] = append(byFile[expected[i].at.file], i)
	}
	messages := make([]string, len(expected))
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		wanted := byFile[name]
		slices.SortStableFunc(wanted, func(a, b int) int { return cmp.Compare(expected[a].at.line, expected[b].at.line) })
		for _, i := range wanted {
			messages[i] = "the line is in no record: it is blank, or after the end"
		}
		err := p.observe(ctx, set, name, func(src *source, o *heed.Outcome) bool {
			rec := src.Record
			for len(wanted) > 0 && rec.StartLine > 0 && expected[wanted[0]].at.line <= rec.EndLine {
				if e := &expected[wanted[0]]; e.at.line >= rec.StartLine {
					messages[wanted[0]] = e.check(set, &o.Decision)
				}
				wanted = wanted[1:]
			}
			return len(wanted) > 0
		})
		if err != nil {
			return 0, err
		}
	}
	for i, m := range messages {
		if m != "" {
			failed++
			p.Message("%s: %s: %s", expected[i].source, expected[i].at, m)
		}
	}
	return failed, nil
}

// check returns a message about an unexpected decision, or "".
func (e *expectation) check(set *rules.Set, d *event.Decision) string {
	if d.Disposition == e.disposition && (e.rule == "" || d.Rule == e.rule) {
		return ""
	}
	want := e.disposition.String()
	if e.rule != "" {
		want += " by " + e.rule
		if set.Rule(e.rule) == nil && !strings.HasPrefix(e.rule, "default.") {
			want += " (no rule has that id)"
		}
	}
	return fmt.Sprintf("want %s, got %s by %s", want, d.Disposition, d.Rule)
}
