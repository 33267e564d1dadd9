package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/heedlog/heed/bench/workload"
)

// TestRun runs the storms once and holds the report to what is known of them.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"-runs", "1", "-corpus", "ids,same", "-json"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var rep report
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil {
		t.Fatal(err)
	}
	groups := map[string]map[string]int{
		"ids": {
			nameKey: workload.Templates, nameEngine: workload.Templates, nameDrain: workload.Templates,
			"OpenTelemetry logdedup": stormLines, "zap sampler": -1,
		},
		"same": {nameKey: 1, nameEngine: 1, nameDrain: 1, "OpenTelemetry logdedup": 1, "zap sampler": -1},
	}
	if len(rep.Corpora) != len(groups) || len(rep.Accepted) != len(groups) {
		t.Fatalf("%d and %d corpora", len(rep.Corpora), len(rep.Accepted))
	}
	for _, m := range rep.Corpora {
		if m.Lines != stormLines {
			t.Errorf("%s: %d lines", m.Corpus, m.Lines)
		}
		for name, want := range groups[m.Corpus] {
			if got := m.find(name).Tally.Groups; got != want {
				t.Errorf("%s: %s found %d groups, want %d", m.Corpus, name, got, want)
			}
		}
		if got := m.find(nameEngine).Tally.Counted; got != m.Lines {
			t.Errorf("%s: the engine counted %d of %d lines", m.Corpus, got, m.Lines)
		}
		for _, r := range m.Results {
			if r.Known.Median <= 0 || r.New.Median <= 0 || r.Ratio.Median <= 0 {
				t.Errorf("%s: %s: %+v", m.Corpus, r.Contender, r)
			}
			sampler := r.Tally.Groups < 0
			if traced := r.Tally.Counted + r.Tally.Passed + r.Tally.Refused; sampler && traced != m.Lines {
				t.Errorf("%s: %s passed or dropped %d of %d lines", m.Corpus, r.Contender, traced, m.Lines)
			}
		}
	}
}

func TestChooseUnknown(t *testing.T) {
	_, err := choose([]*corpus{{Name: "ids"}}, "ids,nosuch")
	if err == nil || !strings.Contains(err.Error(), `"nosuch"`) {
		t.Fatalf("got %v", err)
	}
}

func TestSummarize(t *testing.T) {
	if got, want := summarize([]float64{5, 1, 3, 2, 4}), (summary{Low: 2, Median: 3, High: 4}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := summarize([]float64{2, 1}), (summary{Low: 1.25, Median: 1.5, High: 1.75}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
