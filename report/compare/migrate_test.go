package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/signature"
)

// oldBaseline returns the file of a baseline of version 1: each entry has its templates, rest after the last tab.
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

func TestMigrate(t *testing.T) {
	const advisory = "rule: a.one; disposition: advisory; first: 2026-01-05; expires: 2026-06-01; seen: "
	old, err := ParseBaseline("old.yaml", oldBaseline(
		"plain text\t"+advisory+"{count: 3, records: 100, runs: 1}; note: kept",
		"took 12 of <*>\ttook a while\t"+advisory+"{count: 3, records: 100, runs: 1}; note: one",
		"took <*> of 12\ttook long\trule: a.two; disposition: blocking; first: 2026-01-03; expires: 2026-05-01; "+
			"seen: {count: 4, records: 100, runs: 1}; note: two",
		"took <*> of <*>\t"+advisory+"{count: 10, records: 1000, runs: 5}",
		" \t"+advisory+"{count: 1, records: 100, runs: 1}",
		"ended with exit code <*>\t"+advisory+"{count: 1, records: 100, runs: 1}",
		"ended with exit code <*>, again\tended\t"+advisory+"{count: 1, records: 100, runs: 1}",
	))
	require.NoError(t, err)
	c, err := NewCollector(Config{})
	require.NoError(t, err)
	m := c.Migrate(old)
	require.Equal(t, []int{2, 1}, []int{m.Joined, m.Dropped})
	require.Len(t, m.Unsure, 1)
	require.Equal(t, []string{"ended with exit code <*>"}, m.Unsure[0].Templates)

	again, err := ParseBaseline("new.yaml", m.Baseline.Append(nil))
	require.NoError(t, err, "what is written can be read")
	require.Equal(t, signature.Version, again.Signatures)
	require.Equal(t, c.normalizer.Version(), again.Masking)
	require.EqualValues(t, 2, again.Rules, "those that it was written with")
	byTemplate := map[string]Known{}
	for _, k := range again.Entries {
		require.Equal(t, signature.Of([]byte(k.Templates[0])), k.Signature)
		byTemplate[k.Templates[0]] = k
	}
	require.Len(t, byTemplate, 4)
	require.Equal(t, "kept", byTemplate["plain text"].Note)
	k := byTemplate["took <*> of <*>"]
	require.Equal(t, []string{"took <*> of <*>", "took a while", "took long"}, k.Templates)
	require.Equal(t, "a.two blocking 2026-01-03 2026-05-01 one; two", fmt.Sprintf("%s %s %s %s %s", k.Rule, k.Disposition,
		k.First, k.Expires, k.Note))
	require.EqualValues(t, 3+4+1, k.Count, "of other logs, the rate counts")
	require.EqualValues(t, 100, k.Records)
	require.Equal(t, 1, old.Signatures, "it did not change")

	full := c.Migrate(m.Baseline)
	require.Equal(t, m.Baseline.Entries, full.Baseline.Entries, "a second time changes nothing")
}
