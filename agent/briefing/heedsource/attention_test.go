package heedsource

import (
	"fmt"
	"slices"
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

// faulty returns an engine in which faults blocked: each a message, in the order given.
func faulty(t *testing.T, epoch string, messages ...string) (*heed.Engine, *rules.Set) {
	t.Helper()
	set, err := rules.Compile(rules.File{Name: "test.yaml", Data: []byte(`version: 1
rules:
  - id: log.stopped
    when: 'message startsWith "no more logging"'
    disposition: blocking
    blinds: true
    summary: the log stopped
  - id: fault
    when: 'message startsWith "fault"'
    disposition: blocking
    invalidates: true
    summary: a fault (of some kind) came; it may be serious
    why: Faults are faults.
    advice: Load the last save.
  - {id: odd, when: 'message startsWith "odd"', disposition: advisory}
`)})
	require.NoError(t, err)
	e := testkit.Must(heed.New(heed.Config{Rules: set, Epoch: epoch}))
	e.LearnMods([]heed.Mod{{Name: "Press", PackageID: "some.press", Assemblies: []string{"Press"}}})
	now := start
	for i, m := range messages {
		now = now.Add(time.Second)
		log := event.Log{Time: now, Level: event.LevelError, Message: m, Pos: uint64(100 + i)}
		phase, isPhase := strings.CutPrefix(m, "phase ")
		operation, isStart := strings.CutPrefix(m, "start ")
		switch {
		case isPhase:
			e.Observe(event.State{Time: now, Status: event.StatusPhase, Phase: phase}.Entry())
			continue
		case isStart:
			e.Observe(event.Operation{Time: now, ID: operation, Method: "colony/build", Status: event.StatusStarted}.Entry())
			continue
		}
		if _, id, ok := strings.Cut(m, " op="); ok {
			log.OperationID = id
		}
		if strings.Contains(m, "Press") {
			log.Stack = "  at System.Update () [0x00001] in <0123>:0\n  at System.A ()\n  at System.B ()\n  at System.C ()\n" +
				"  at Press.Roller.Turn () [0x00001] in <0123>:0"
		}
		e.Log(log)
	}
	return e, set
}

// itemsOf asks for open items within a number of tokens, of four characters each.
func itemsOf(
	t *testing.T, e *heed.Engine, set *rules.Set, work string, tokens int, q briefing.AttentionQuery,
) briefing.Found {
	t.Helper()
	s := source{
		Config{Engine: e, Rules: func() *rules.Set { return set }},
	}
	found, err := s.Items(t.Context(), &briefing.Input{
		Request: &briefing.Request{WorkOrderID: work}, Tokens: tokens,
		Estimate: func(l briefing.Line) int { return len(l.Text)/4 + 1 },
	}, &q)
	require.NoError(t, err)
	return found
}

// texts returns the lines of a fragment with its title.
func texts(f *briefing.Fragment) []string {
	out := []string{f.SourceID + " " + f.Title}
	for _, l := range f.Lines {
		if l.Data {
			out = append(out, briefing.DataPrefix+l.Text)
		} else {
			out = append(out, l.Text)
		}
	}
	return out
}

func TestHead(t *testing.T) {
	e, set := faulty(t, "e", "phase play", "start op-1", "odd before it", "fault in Press of op=op-1", "fault 2 after op=op-1")
	found := itemsOf(t, e, set, "", 0, briefing.AttentionQuery{MaxItems: 5, Neighbors: 2})
	require.Equal(t, [][]string{
		{
			"e-1@5 blocking error: a fault (of some kind) came; it may be serious",
			"> fault in Press of op=op-1",
			"> at System.Update ()",
			"> at System.A ()",
			"> at System.B ()",
			"Since: entry 4 (line 103), 03:04:09, after 1 less serious entry; 3 entries in 3 groups, " +
				"mostly this (2 times), the latest entry 5 (line 104)",
			"Culprit: Press (its code is in the stack trace)",
			"Operation: colony/build (op-1), which the cause names; Phase: play",
			"State: what is known of the game may not hold any more; read it again.",
			"Next: Load the last save.",
			"- read entry 4 (line 103) and what follows it",
		},
		{
			"e-1@5#operation Operation colony/build (op-1), started",
			"Verdict: blocking. It caused a fault, as far as the log shows; see item e-1.",
		},
		{
			"e-1@5#samples What else it holds",
			"- error, rule fault, 1 time, the latest entry 5 (line 104):",
			"> fault 2 after op=op-1",
			"- error, rule odd, 1 time, the latest entry 3 (line 102):",
			"> odd before it",
		},
		{"e-1@5#cause The text goes on", "> at System.C ()", "> at Press.Roller.Turn ()"},
		{
			"e-1@5#before Before its cause, from entry 2",
			"operation colony/build (op-1) started",
			"> odd before it",
		},
		{"e-1@5#after After its cause, from entry 5 (line 104)", "> fault 2 after op=op-1"},
		{"e-1@5#advice Rule fault", "Why: Faults are faults."},
	}, allTexts(found.Fragments[:7]))
	head := found.Fragments[0]
	require.True(t, head.Required)
	require.Equal(t, "op-1", head.Refs["operation"])
	require.Equal(t, "colony/build", head.Refs["method"])
	require.Equal(t, "Press", head.Refs["blame"])
	require.Equal(t, "fault", head.Refs["rule"])
	require.Equal(t, "fault in Press of op=op-1", head.Refs["text"])
	for _, f := range found.Fragments[1:7] {
		require.Equal(t, head.SourceID, f.Parent)
		require.False(t, f.Required)
	}
	var short []string
	for _, l := range head.Short {
		short = append(short, l.Text)
	}
	require.Equal(t, []string{
		"fault in Press of op=op-1", "Culprit: Press (its code is in the stack trace)",
		"Operation: colony/build (op-1), which the cause names; Phase: play", "Next: Load the last save.",
	}, short)
	require.Len(t, found.Fragments, 7)
	require.Empty(t, found.Warnings)
	require.Equal(t, []string{"no item or operation is called call-9: this is about all that is open"},
		itemsOf(t, e, set, "call-9", 0, briefing.AttentionQuery{MaxItems: 5}).Warnings)
}

func allTexts(fs []briefing.Fragment) (out [][]string) {
	for i := range fs {
		out = append(out, texts(&fs[i]))
	}
	return out
}

// TestOrderOfItems: what is worked on comes first, then what blocks; others are named.
func TestOrderOfItems(t *testing.T) {
	e, set := faulty(t, "e", "odd", "start op-1", "fault of op=op-1", "start op-2", "fault by op=op-2")
	heads := func(work string, q briefing.AttentionQuery) (ids []string) {
		for _, f := range itemsOf(t, e, set, work, 0, q).Fragments {
			if f.Parent == "" {
				ids = append(ids, f.SourceID)
			}
		}
		return ids
	}
	open := heads("", briefing.AttentionQuery{})
	require.Len(t, open, 3)
	require.Equal(t, "e-1@1", open[2], "it does not block")
	for work, want := range map[string]string{"e-1": "e-1@1", "1": "e-1@1", "e-3": "e-3@5", "2": "e-2@3"} {
		require.Equal(t, want, heads(work, briefing.AttentionQuery{})[0], work)
	}
	require.Equal(t, []string{"operation/op-2", "e-3@5"}, heads("op-2", briefing.AttentionQuery{})[:2])
	require.Len(t, heads("", briefing.AttentionQuery{Least: "blocking"}), 2)
	require.Equal(t, []string{"e-1@1", "others@3"}, heads("1", briefing.AttentionQuery{MaxItems: 1}))

	require.Contains(t, texts(&itemsOf(t, e, set, "3", 0, briefing.AttentionQuery{}).Fragments[0])[2], "Since: entry 5 ")
	e.Ack("", "e-3", 0)
	require.Len(t, heads("", briefing.AttentionQuery{}), 2)
	require.Equal(t, "e-3@5", heads("3", briefing.AttentionQuery{})[0], "it is cleared, and asked for")
	require.Equal(t, "e-3@5", heads("", briefing.AttentionQuery{ClearedSince: time.Minute})[2])
	require.True(t, itemsOf(t, e, set, "3", 0, briefing.AttentionQuery{}).Fragments[0].Required, "it is asked for")
}

func TestAttentionRefuses(t *testing.T) {
	e, _ := faulty(t, "e", "fault")
	for _, q := range []briefing.AttentionQuery{{Least: "urgent"}, {Parts: []string{"everything"}}} {
		s := &source{Config{Engine: e}}
		_, err := s.Items(t.Context(), &briefing.Input{Request: &briefing.Request{}}, &q)
		require.ErrorContains(t, err, "known: ")
	}
}

// TestIncompleteEvidence: that the log is not complete stands first, and no budget cuts it.
func TestIncompleteEvidence(t *testing.T) {
	e, set := faulty(t, "e", "fault", "no more logging")
	found := itemsOf(t, e, set, "", 0, briefing.AttentionQuery{})
	f := found.Fragments[0]
	require.True(t, f.Required)
	require.Equal(t, []string{
		"evidence@2 The log is not complete: more may have happened",
		"Reason: the log stopped", "Since: entry 2 (line 101), item e-2",
	}, texts(&f))
	require.Len(t, found.Warnings, 1)

	e, set = faulty(t, "e", "fault")
	e.Observe(event.Notice{Time: start, Status: event.StatusHole, Count: 4096}.Entry())
	found = itemsOf(t, e, set, "", 0, briefing.AttentionQuery{})
	require.Equal(t, []string{
		"evidence@2 Parts of the log are missing", "- e/2: 4096 bytes of the log are missing: advisory",
	}, texts(&found.Fragments[0]))
	require.Equal(t, []string{"parts of the log are missing"}, found.Warnings)
}

// TestManyFaults: as many items as can be open, all of which block, are named within the least budgets in use.
func TestManyFaults(t *testing.T) {
	e, set := faulty(t, "20261123T074300Z-4711")
	for i := range 40 {
		e.Raise(heed.Report{
			Time: start, Key: fmt.Sprintf("report %d", i), Disposition: event.Blocking, Severity: event.SeverityError,
			Summary: "a fault of a kind that takes some words to say", Message: strings.Repeat("what was reported ", 20),
		})
	}
	open := e.Open(nil)
	require.Greater(t, len(open), 30)
	c := Sources(Config{Engine: e, Rules: func() *rules.Set { return set }})
	c.Now = time.Now
	service := testkit.Must(briefing.New(c))
	for _, tokens := range []int{600, 1500, 4000} {
		for _, class := range []string{TemplateAgent, TemplatePerson, TemplateModAuthor} {
			got, err := service.Assemble(t.Context(), briefing.Request{
				AgentClass: class, MaxContextTokens: tokens, WorkOrderID: "7",
			})
			require.NoError(t, err, "%s, %d", class, tokens)
			require.LessOrEqual(t, got.Used.Tokens, tokens)
			for i := range open {
				number := strings.TrimPrefix(open[i].ID, "20261123T074300Z-4711-")
				require.Regexp(t, "[- ]"+number+`\b`, got.Text, "%s, %d", class, tokens)
			}
			require.Contains(t, got.Trace[len(got.Trace)-1].Detail, "satisfied")
			require.NotContains(t, got.Trace[len(got.Trace)-1].Detail, "not satisfied")
		}
	}
}

// TestBlockersAreNeverCut: whatever happened, each open item that blocks is in a brief of any size in use.
func TestBlockersAreNeverCut(t *testing.T) {
	set := testkit.Must(rules.Compile(testRules))
	blocked := 0
	for seed := range uint64(12) {
		e := small(t, set)
		for _, s := range play(seed, 300) {
			s(e)
		}
		service := testkit.Must(briefing.New(all(e, set)))
		for _, tokens := range []int{400, 600, 1500} {
			for _, class := range []string{TemplateAgent, TemplatePerson, TemplateModAuthor} {
				got, err := service.Assemble(t.Context(), briefing.Request{AgentClass: class, MaxContextTokens: tokens})
				require.NoError(t, err, "seed %d", seed)
				require.LessOrEqual(t, got.Used.Tokens, tokens)
				for _, a := range e.Open(nil) {
					if a.Blocking {
						blocked++
						number := a.ID[strings.LastIndexByte(a.ID, '-')+1:] // many are named by it
						require.Regexp(t, "[- ]"+number+`\b`, got.Text, "seed %d, %s, %d tokens", seed, class, tokens)
					}
				}
				require.NotContains(t, got.Trace[len(got.Trace)-1].Detail, "which blocks")
			}
		}
	}
	require.Positive(t, blocked)
}

// TestUnseenOperation: an operation that entries name, without its begin, has no status.
func TestUnseenOperation(t *testing.T) {
	e, set := faulty(t, "e", "fault of op=op-1")
	found := itemsOf(t, e, set, "", 0, briefing.AttentionQuery{Parts: []string{partOperation}}).Fragments
	require.Equal(t, "Operation op-1", found[1].Title)
}

// TestRestored: an engine that was restored has the same to say about an item as the one before, and is not changed.
func TestRestored(t *testing.T) {
	e, set := faulty(t, "e", "fault in it", "fault 2 after it")
	restored := testkit.Must(heed.Restore(heed.Config{Rules: set, Epoch: "e"}, e.Snapshot(nil)))
	before := restored.Snapshot(nil)
	q := briefing.AttentionQuery{Parts: []string{partSamples, partAdvice}} // entries are not in a snapshot
	for _, work := range []string{"", "1", "e-1"} {
		was, is := itemsOf(t, e, set, work, 0, q).Fragments, itemsOf(t, restored, set, work, 0, q).Fragments
		require.Equal(t, len(was), len(is), work)
		for i := range is {
			require.Equal(t, was[i].SourceID, is[i].SourceID, work)
			require.Equal(t, was[i].Required, is[i].Required, work)
		}
	}
	require.Equal(t, before, restored.Snapshot(nil))

	const missing = "heed holds this text alone of the entry: it is too old, or heed was restarted."
	for engine, lost := range map[*heed.Engine]bool{e: false, restored: true} {
		var own []string
		for _, line := range itemsOf(t, engine, set, "e-1", 0, briefing.AttentionQuery{}).Fragments[0].Lines {
			if !line.Data {
				own = append(own, line.Text)
			}
		}
		require.Equal(t, lost, slices.Contains(own, missing))
		require.Equal(t, !lost, slices.Contains(own, "- read entry 1 (line 100) and what follows it"), own)
	}
}
