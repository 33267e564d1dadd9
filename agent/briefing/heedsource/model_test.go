package heedsource

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
)

// held returns what the journal holds.
func held(e *heed.Engine, f heed.Filter) (all []journal.Record) {
	for after, more := (heed.Cursor{}), true; more; {
		p := e.Read(after, 0, f)
		all, after, more = append(all, p.Records...), p.Next, p.More
	}
	return all
}

// naive answers a query by looking at all that the journal holds, the latest first.
func naive(e *heed.Engine, q *briefing.LedgerQuery) (seqs, counts []uint64, more bool) {
	var latest time.Time
	for _, r := range held(e, heed.Filter{}) {
		if !r.Time.IsZero() {
			latest = r.Time
		}
	}
	held := held(e, heed.Filter{Operation: q.Filters["operation"]})
	index := map[string]int{}
	for i := range slices.Backward(held) {
		r := &held[i]
		if q.Recency > 0 && !latest.IsZero() && r.Time.Before(latest.Add(-q.Recency)) {
			continue
		}
		if q.EventType != "" && r.Kind.String() != q.EventType && r.Status.String() != q.EventType {
			continue
		}
		if want, ok := event.Parse[event.Disposition](q.Filters["disposition"]); ok && r.Disposition < want {
			continue
		}
		if rule := q.Filters["rule"]; rule != "" && r.Rule != rule {
			continue
		}
		if id := q.Filters["signature"]; id != "" && e.Group(r.Signature).ID.String() != id {
			continue
		}
		what := r.Source
		if r.Kind == event.KindLog {
			what = fmt.Sprint(e.Group(r.Signature))
		} else {
			what += fmt.Sprint(r.Signature)
		}
		key := fmt.Sprint(r.Kind, r.Status, what, r.Rule, r.Disposition)
		at, known := index[key]
		switch {
		case known:
			counts[at]++
		case len(seqs) == q.MaxEntries && q.MaxEntries > 0:
			return seqs, counts, true
		default:
			index[key] = len(seqs)
			seqs, counts = append(seqs, r.Seq), append(counts, 1)
		}
	}
	return seqs, counts, false
}

// group returns the signature of the group of one of the entries that the journal holds, "" for one without text.
func group(e *heed.Engine, n int) string {
	all := held(e, heed.Filter{})
	if len(all) == 0 || all[n%len(all)].Kind != event.KindLog {
		return ""
	}
	return e.Group(all[n%len(all)].Signature).ID.String()
}

// TestLedgerAgainstModel compares answers with those of a search through the whole journal.
func TestLedgerAgainstModel(t *testing.T) {
	set := testkit.Must(rules.Compile(testRules))
	for seed := range uint64(4) {
		e, rng := small(t, set), rand.New(rand.NewPCG(seed, 1))
		ledger := &source{Config{Engine: e}}
		pick := func(words ...string) string { return words[rng.IntN(len(words))] }
		for i, s := range play(seed+100, 1200) {
			s(e)
			if i%40 != 0 {
				continue
			}
			q := briefing.LedgerQuery{
				MaxEntries: rng.IntN(8), EventType: pick("", "", "log", "operation", "failed", "phase"),
				Filters: map[string]string{},
			}
			if rng.IntN(3) == 0 {
				q.Recency = time.Duration(1+rng.IntN(600)) * time.Second
			}
			for _, f := range []struct{ name, value string }{
				{"operation", fmt.Sprintf("op-%d", rng.IntN(i/10+1))},
				{"disposition", pick("advisory", "blocking", "ignore")},
				{"rule", pick("save.broken", "noise")},
				{"signature", group(e, rng.IntN(i+1))},
			} {
				if rng.IntN(4) == 0 && f.value != "" {
					q.Filters[f.name] = f.value
				}
			}
			found := testkit.Must(ledger.Entries(t.Context(), &briefing.Input{}, &q))
			seqs, counts, more := naive(e, &q)
			slices.Reverse(seqs)
			slices.Reverse(counts)
			var got []uint64
			for j, f := range found.Fragments {
				got = append(got, f.Seq)
				if counts[min(j, len(counts)-1)] > 1 {
					require.Contains(t, f.Title, fmt.Sprintf("%d times since", counts[j]), "%+v", q)
				}
			}
			require.Equal(t, seqs, got, "%+v", q)
			require.Equal(t, more, found.More, "%+v", q)
		}
	}
}
