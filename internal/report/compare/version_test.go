package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

// oldBaseline returns the file of a baseline of version 1 of signatures: each entry has its templates, rest after the
// last tab.
func oldBaseline(entries ...string) []byte {
	var b strings.Builder
	b.WriteString("version: 1\nsignatures: 1\nmasking: \"0000000000000001\"\nrules: \"0000000000000002\"\n" +
		"written: 2026-01-31\nentries:\n")
	for _, e := range entries {
		parts := strings.Split(e, "\t")
		templates, rest := parts[:len(parts)-1], parts[len(parts)-1]
		fmt.Fprintf(&b, "  - id: \"%s\"\n    template: %q\n    %s\n", signature.Of([]byte(templates[0])).ID, templates[0],
			strings.ReplaceAll(rest, "; ", "\n    "))
		for i, form := range templates[1:] {
			if i == 0 {
				b.WriteString("    forms:\n")
			}
			fmt.Fprintf(&b, "      - %q\n", form)
		}
	}
	return []byte(b.String())
}

// TestOtherVersion reads a baseline of another version of signatures: its templates are masked again, and groups that
// are one now are joined.
func TestOtherVersion(t *testing.T) {
	const advisory = "rule: a.one; disposition: advisory; first: 2026-01-05; expires: 2026-06-01; seen: "
	old, err := ParseBaseline("old.yaml", oldBaseline(
		"plain text\t"+advisory+"{count: 3, records: 100, runs: 1}; note: kept",
		"took 12 of <*>\ttook a while\t"+advisory+"{count: 3, records: 100, runs: 1}; note: one",
		"took <*> of 12\ttook long\trule: a.two; disposition: blocking; first: 2026-01-03; expires: 2026-05-01; "+
			"seen: {count: 4, records: 100, runs: 1}; note: two",
		"took <*> of <*>\t"+advisory+"{count: 10, records: 1000, runs: 5}",
		" \t"+advisory+"{count: 1, records: 100, runs: 1}",
	))
	require.NoError(t, err)
	c := Collect(Config{})
	again, err := ParseBaseline("new.yaml", c.Write(WriteOptions{
		Today: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), Previous: old,
	}).Baseline.Append(nil))
	require.NoError(t, err, "what is written can be read")
	require.Equal(t, signature.Version, again.Signatures)
	require.Equal(t, c.normalizer.Version(), again.Masking)
	require.Len(t, again.Entries, 3)
	k := again.Entries[slices.IndexFunc(again.Entries, func(k Known) bool { return len(k.Templates) > 1 })]
	require.ElementsMatch(t, []string{"took 12 of <*>", "took a while", "took <*> of 12", "took long", "took <*> of <*>"}, k.Templates)
	require.Equal(t, "a.two blocking 2026-01-03 2026-05-01", fmt.Sprintf("%s %s %s %s", k.Rule, k.Disposition, k.First,
		k.Expires))
	require.ElementsMatch(t, []string{"one", "two"}, strings.Split(k.Note, "; "))
	require.InDelta(t, 8.0/100, float64(k.Count)/float64(k.Records), 1e-9, "of other logs, the rate counts")
}

// TestOtherVersionBySample writes a baseline, of which another version of signatures masked all that varies and more,
// and holds that the samples find the groups again.
func TestOtherVersionBySample(t *testing.T) {
	today := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	collect := func(texts ...string) *Collector {
		c := Collect(Config{Scrub: Replaced{Texts: strings.NewReplacer("Maria", "somebody", "disk", "place").Replace}})
		engine := &StandIn{}
		r := c.Run(New, "log", engine)
		for i, text := range texts {
			engine.Text = c.masked(text, "")
			o := heed.Outcome{Signature: signature.Of([]byte(c.masked(text, "")))}
			o.Decision.Disposition, o.Decision.Rule = event.Advisory, "a.rule"
			message, stack, _ := strings.Cut(text, "\n")
			r.Observe(&capture.Record{StartLine: i + 1, Entry: event.Entry{Message: message, Stack: stack}}, &o)
		}
		r.End(nil, &capture.Environment{})
		return c
	}
	texts := []string{
		"ended with exit code 12", `msg="no room" for C:\Users\Maria\a.txt`, "the disk is full",
		"Exception: it broke\n  at A.B.C ()\n  at D.E.F ()", "said " + strings.Repeat("a very long thing ", 300),
	}
	b := collect(texts...).Write(WriteOptions{Today: today}).Baseline
	b = testkit.Must(ParseBaseline("b.yaml", b.Append(nil)))
	samples := map[string]bool{}
	for i := range b.Entries {
		k := &b.Entries[i]
		samples[k.Sample] = true
		require.LessOrEqual(t, len(k.Sample), maxText)
		if k.Sample != "" { // of another masker, whose templates mean nothing today
			k.Templates = []string{"entry <*> of another masker " + strings.Repeat("x", i)}
			k.Signature = signature.Of([]byte(k.Templates[0]))
		}
	}
	require.Equal(t, map[string]bool{
		texts[0]: true, `msg="no room" for C:\Users\somebody\a.txt`: true, texts[3]: true, "": true,
	}, samples, "none is private, too long or of another text")
	b.Signatures = signature.Version + 1
	c := collect(texts...)
	check := c.Check(b, today)
	require.Empty(t, check.Added)
	require.Equal(t, len(texts), check.Known)
}
