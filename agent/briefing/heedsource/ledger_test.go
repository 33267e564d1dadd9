package heedsource

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// testRules are those of a small game.
var testRules = rules.File{Name: "test.yaml", Data: []byte(`version: 1
rules:
  - id: save.broken
    when: 'template startsWith "Save"'
    disposition: blocking
    summary: A save failed.
    why: What was played since the last save is lost.
    advice: Save under another name.
  - {id: noise, when: 'template startsWith "tick"', disposition: ignore, tags: [clock]}
`)}

// played returns an engine with a few entries of each kind, a second apart.
func played(t *testing.T) *heed.Engine {
	t.Helper()
	set := testkit.Must(rules.Compile(testRules))
	e := testkit.Must(heed.New(heed.Config{Rules: set, Epoch: "run1"}))
	n := 0
	at := func() time.Time { n++; return start.Add(time.Duration(n) * time.Second) }
	log := func(level event.Level, operation, message, stack string) {
		e.Log(event.Log{
			Time: at(), Level: level, Message: message, Stack: stack, OperationID: operation, Pos: uint64(10 * (n + 1)),
		})
	}
	operation := func(o event.Operation) {
		o.Time = at()
		e.Observe(o.Entry())
	}
	e.Observe(event.State{Time: at(), Status: event.StatusPhase, Phase: "play"}.Entry()) // 1
	log(event.LevelInfo, "", "tick 1", "")
	operation(event.Operation{ID: "op-1", Method: "colony/build", Status: event.StatusStarted})
	operation(event.Operation{ID: "op-2", Parent: "op-1", Method: "colony/haul", Status: event.StatusStarted})
	log(event.LevelError, "op-2", "Save of colony failed\nmore\nand more\nand yet more", // 5
		"  at Press.Roller.Turn ()\n  at Game.Tick ()")
	log(event.LevelWarning, "op-1", "low on wood: 7", "")
	operation(event.Operation{ID: "op-1", Method: "colony/build", Status: event.StatusFailed, Error: "no wood"})
	log(event.LevelWarning, "", "low on wood: 12", "")
	e.Observe(event.Notice{Time: at(), Status: event.StatusHole, Count: 4096}.Entry()) // 9
	log(event.LevelInfo, "", "tick 2", "")
	log(event.LevelInfo, "", "tick 3", "")
	return e
}

func TestLedgerChooses(t *testing.T) {
	ledger := &source{Config{Engine: played(t)}}
	query := func(q briefing.LedgerQuery) []string {
		t.Helper()
		found := testkit.Must(ledger.Entries(t.Context(), &briefing.Input{}, &q))
		ids := []string{}
		for _, f := range found.Fragments {
			ids = append(ids, f.SourceID)
		}
		return ids
	}
	run := func(seqs ...uint64) []string {
		ids := []string{}
		for _, s := range seqs {
			ids = append(ids, sourceID("run1", s))
		}
		return ids
	}
	by := func(pairs ...string) briefing.LedgerQuery {
		q := briefing.LedgerQuery{Filters: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			q.Filters[pairs[i]] = pairs[i+1]
		}
		return q
	}
	seven := by("contains", "wood: 7")
	wood := testkit.Must(ledger.Entries(t.Context(), &briefing.Input{}, &seven))
	require.Len(t, wood.Fragments, 1)

	for name, c := range map[string]struct {
		query briefing.LedgerQuery
		want  []string
	}{
		"all, alike are one":       {briefing.LedgerQuery{}, run(1, 3, 4, 5, 7, 8, 9, 11)},
		"the latest":               {briefing.LedgerQuery{MaxEntries: 2}, run(9, 11)},
		"a kind":                   {briefing.LedgerQuery{EventType: "operation"}, run(3, 4, 7)},
		"a status":                 {briefing.LedgerQuery{EventType: "failed"}, run(7)},
		"recent":                   {briefing.LedgerQuery{Recency: 3 * time.Second}, run(8, 9, 11)},
		"recent, none older match": {briefing.LedgerQuery{Recency: 2 * time.Second, EventType: "operation"}, run()},
		"operation with its parts": {by("operation", "op-1"), run(3, 4, 5, 6, 7)},
		"part":                     {by("operation", "op-2"), run(4, 5)},
		"rule":                     {by("rule", "save.broken"), run(5)},
		"disposition":              {by("disposition", "blocking"), run(5)},
		"disposition, at least":    {by("disposition", "advisory"), run(5, 8, 9)},
		"source":                   {by("source", "colony/build"), run(3, 7)},
		"severity":                 {by("severity", "error", "operation", "op-2"), run(5)},
		"signature":                {by("signature", wood.Fragments[0].Refs["signature"]), run(8)},
		"text":                     {by("contains", "colony failed"), run(5)},
		"several filters":          {by("operation", "op-1", "rule", "save.broken"), run(5)},
		"nothing that is both":     {by("operation", "op-1", "rule", "noise"), run()},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, query(c.query)) })
	}
}

func TestLedgerEntryAsFragment(t *testing.T) {
	ledger := &source{Config{Engine: played(t)}}
	found := testkit.Must(ledger.Entries(t.Context(), &briefing.Input{}, &briefing.LedgerQuery{}))
	var b strings.Builder
	for _, f := range found.Fragments {
		fmt.Fprintf(&b, "%s %s\n", f.SourceID, f.Title)
		for _, l := range f.Lines {
			fmt.Fprintf(&b, "  %t %d %s\n", l.Data, l.Kind, l.Text)
		}
	}
	require.Equal(t, `run1/1 phase play
run1/3 operation colony/build (op-1) started
run1/4 operation colony/haul (op-2) started
run1/5 error at line 60: blocking, rule save.broken, in operation op-2
  true 0 Save of colony failed
  true 0 more
  true 0 and more
  true 1 at Press.Roller.Turn ()
  true 1 at Game.Tick ()
  false 0 and 1 more line
run1/7 operation colony/build (op-1) failed
  true 0 no wood
run1/8 warning at line 90: advisory, 2 times since entry 6
  true 0 low on wood: 12
run1/9 4096 bytes of the log are missing: advisory
run1/11 info at line 120, 3 times since entry 2
  true 0 tick 3
`, b.String())
	require.NotEmpty(t, found.Fragments[3].Refs["signature"])
}

func TestLedgerRefuses(t *testing.T) {
	ledger := &source{Config{Engine: played(t)}}
	for want, q := range map[string]briefing.LedgerQuery{
		`event_type "no such" is no kind of entry`:                 {EventType: "no such"},
		`there is no filter sginature (did you mean "signature"?)`: {Filters: map[string]string{"sginature": "1"}},
		"filter disposition: urgent is no such value":              {Filters: map[string]string{"disposition": "urgent"}},
		"filter signature: zz is no such value":                    {Filters: map[string]string{"signature": "zz"}},
	} {
		_, err := ledger.Entries(context.Background(), &briefing.Input{}, &q)
		require.ErrorContains(t, err, want)
	}
}
