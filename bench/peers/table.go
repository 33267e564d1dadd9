package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"text/tabwriter"

	"github.com/heedlog/heed/bench/workload"
)

// print writes the report for people.
func (rep *report) print(w io.Writer, kinds []contender) error {
	text := printer{w: w}
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	out := printer{w: columns}
	m := &rep.Machine
	text.printf("%s, %d cores, %s, %s; %s, medians of %d runs; load %s before, %s after\n",
		cmp.Or(m.CPU, "CPU unknown"), m.Cores, m.OS, m.Go, workload.Clock, rep.Runs,
		cmp.Or(m.LoadBefore, "unknown"), cmp.Or(m.LoadAfter, "unknown"))
	var versions []string
	for _, p := range compared {
		short := p
		if strings.HasPrefix(path.Base(p), "v") {
			short = path.Dir(p)
		}
		versions = append(versions, path.Base(short)+" "+cmp.Or(m.Modules[p], "of unknown version"))
	}
	text.printf("%s\n", strings.Join(versions, ", "))
	for _, s := range rep.Skipped {
		text.printf("skipped: %s\n", s)
	}
	for _, c := range rep.Corpora {
		text.printf("\n%s: %d lines, %.1f MB; %s\n", c.Corpus, c.Lines, float64(c.Bytes)/1e6, c.About)
		out.printf("\tnew ns/line\tknown ns/line\t±\tMB/s\tallocs/line\t" +
			"groups\tcounted\tpassed on\tskipped\t÷ Engine.Log\t\n")
		for _, r := range c.Results {
			groups := "–"
			if r.Tally.Groups >= 0 {
				groups = fmt.Sprint(r.Tally.Groups)
			}
			out.printf("%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.2f\t%s\t%s\t%s\t%s\t%.2f\t\n",
				r.Contender, r.New.Median, r.Known.Median, (r.Known.High-r.Known.Low)/2, rate(c, r), r.Allocs,
				groups, share(r.Tally.Counted, c.Lines), share(r.Tally.Passed, c.Lines),
				share(r.Tally.Refused, c.Lines), r.Ratio.Median)
		}
		if err := columns.Flush(); err != nil {
			return err
		}
	}
	text.printf("\nThe lines that Drain accepts, known, ns/line, %s; ratios are those of the runs\n", nameDrainU)
	out.printf("\tlines\tDrain\tsignature.Key\tEngine.Log\tDrain ÷ Key\tDrain ÷ Log\t\n")
	for _, c := range rep.Accepted {
		drain, key, engine := c.find(nameDrainU), c.find(nameKey), c.find(nameEngine)
		out.printf("%s\t%s\t%.0f\t%.0f\t%.0f\t%.1f\t%.1f\t\n", c.Corpus, share(c.Lines, c.Of),
			drain.Known.Median, key.Known.Median, engine.Known.Median, between(drain, key), between(drain, engine))
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	text.printf("\nWhat is kept\n")
	left := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	kept := printer{w: left}
	for _, k := range kinds {
		kept.printf("  %s\t%s\n", k.Name, k.Keeps)
	}
	return errors.Join(text.err, out.err, kept.err, left.Flush())
}

// printer prints until something goes wrong.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// rate is in MB/s of known lines.
func rate(c *measurement, r *result) float64 {
	if r.Known.Median == 0 {
		return 0
	}
	return float64(c.Bytes) / float64(c.Lines) / r.Known.Median * 1e3
}

// share is a part of the lines in percent.
func share(n, of int) string {
	switch n {
	case 0:
		return "–"
	case of:
		return "100%"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(of))
}

// between is the median of how many times longer a took than b in one run.
func between(a, b *result) float64 {
	var ratios []float64
	for i := range a.runs {
		ratios = append(ratios, a.runs[i].known/b.runs[i].known)
	}
	return summarize(ratios).Median
}
