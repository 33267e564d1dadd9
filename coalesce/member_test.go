package coalesce

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// TestDominantMember: an item is named for its most entries of what weighs most, and not for the few that came first.
// The numbers are those of a real log: an exception of a kind that hides its type, then a saved table with wrong keys, then
// links between saved objects that are missing.
func TestDominantMember(t *testing.T) {
	c := testkit.Must(New(Config{}))
	fold := func(rule, advice, text string, n int, d event.Disposition, mod ...string) (f Folded) {
		for range n {
			seq := c.Now.seq + 1
			f = c.Fold(&Input{
				Entry: &event.Entry{Seq: seq, Pos: 10 * seq, Message: text, OperationID: "load"}, Signature: groupSignature(text),
				Summary: "summary of " + rule, Advice: advice, Blame: mod,
				Decision: event.Decision{
					Rule: rule, Disposition: d, Severity: event.SeverityError, Invalidates: rule != "exception",
				},
			})
		}
		return f
	}
	fold("exception", "update the mod", "Object reference not set", 2, event.Blocking, "First Mod")
	fold("table", "load an older save", "Null key while loading", 18, event.Blocking, "First Mod")
	fold("table", "load an older save", "Wrong key while loading", 4, event.Blocking)
	fold("link", "keep an older save", "Could not resolve a reference", 1, event.Blocking, "Other Mod")
	fold("link", "keep an older save", "Could not resolve another reference", 125, event.Blocking)
	fold("exception", "update the mod", "Object reference not set", 2, event.Blocking, "First Mod")
	f := fold("repaired", "", "The save was repaired", 2, event.Advisory)

	a, ok := c.Item(f.ID)
	require.True(t, ok)
	require.Equal(t, "summary of link", a.Title)
	require.Equal(t, "keep an older save", a.Advice)
	require.Equal(t, "link", a.Rule)
	require.Empty(t, a.Blame, "1 of 126 entries points at a mod")
	require.Empty(t, a.Perhaps)
	require.Equal(t, "Could not resolve another reference", a.Sample[0].Message)
	require.EqualValues(t, 125, a.Sample[0].RepeatCount)
	require.Contains(t, a.Summary, "summary of link (154 entries in ")
	require.Equal(t, "exception", a.Cause.Rule, "the cause stays the first entry that blocks")
	require.EqualValues(t, 0, a.DiagnosticsCursor)
	require.Equal(t, a.Cause.Signature, a.Sample[1].Signature, "the cause is among the samples")

	var members []string
	for _, m := range a.Members {
		blame, _ := m.Mods()
		members = append(members, fmt.Sprintf("%s %d %d-%d %v", m.Rule, m.Entries, m.First, m.Last, blame))
	}
	require.Equal(t, []string{
		"link 126 250-1500 []", "table 22 30-240 [First Mod]", "exception 4 10-1520 [First Mod]", "repaired 2 1530-1540 []",
	}, members)
}

// TestWeight: what does the worst to the game outweighs what is logged most, and that what came first.
func TestWeightOfMembers(t *testing.T) {
	b := func(m Member) Member {
		m.Disposition = event.Blocking
		return m
	}
	order := []Member{
		b(Member{Rule: "crash", Effects: crash, Entries: 1}),
		b(Member{Rule: "fatal", Severity: event.SeverityFatal, Entries: 1}),
		b(Member{Rule: "hang", Effects: hang, Entries: 1}),
		b(Member{Rule: "load", Effects: breaks, Entries: 1}),
		b(Member{Rule: "objects", Invalidates: true, Entries: recurring}),
		b(Member{Rule: "often", Severity: event.SeverityError, Entries: 2 * recurring}),
		b(Member{Rule: "again", Severity: event.SeverityWarning, Entries: 10 * recurring}),
		b(Member{Rule: "error", Severity: event.SeverityError, Entries: 1}),
		b(Member{Rule: "over", Effects: hang, Over: true, Severity: event.SeverityWarning, Entries: 3}),
		b(Member{Rule: "starts", Effects: breaks, Early: true, Entries: 3, First: 5}),
		b(Member{Rule: "warning", Entries: 3, First: 7}),
		b(Member{Rule: "word", Effects: levels, Severity: event.SeverityError, Entries: 1000}),
		{Rule: "advice", Disposition: event.Advisory, Severity: event.SeverityError, Entries: 1000},
	}
	for i := range order {
		for k := range order {
			got := order[i].Compare(&order[k])
			switch {
			case i < k:
				require.Negative(t, got, "%s and %s", order[i].Rule, order[k].Rule)
			case i > k:
				require.Positive(t, got, "%s and %s", order[i].Rule, order[k].Rule)
			default:
				require.Zero(t, got)
			}
		}
	}
	require.Equal(t, levels, EffectsOf(&event.Decision{Tags: []string{"words"}}))
	require.Equal(t, crash|breaks, EffectsOf(&event.Decision{Tags: []string{"breaks", "other", "crash"}}))
	require.Equal(t, levels, EffectsOf(&event.Decision{Rule: "default.log.fatal"}))
	require.Zero(t, EffectsOf(&event.Decision{Rule: "default.operation.failed"}))
}

// TestEarly holds that entries are early only if all of them are, in any order and however they are summed.
func TestEarly(t *testing.T) {
	for _, phases := range [][]string{{"start", "boot"}, {"start", "play"}, {"play", "start"}} {
		var all, sum counter
		var joined []Member
		for i, phase := range phases {
			in := &Input{Entry: &event.Entry{}, Phase: phase}
			var one counter
			one.add(in, nil, logicalTime{}, false)
			all.add(in, nil, logicalTime{}, false)
			if sum.combine(&one); i == 0 {
				sum = one
			}
			joined = append(joined, Member{Early: one.Early})
		}
		joined[0].Join(&joined[1])
		want := phases[1] == "boot"
		require.Equal(t, []bool{want, want, want}, []bool{all.Early, sum.Early, joined[0].Early}, phases)
	}
}

// TestHangs holds that a game goes on unless a member's effects say otherwise, until a rule resolves it.
func TestHangs(t *testing.T) {
	for _, c := range []struct {
		effects Effects
		over    bool
		want    bool
	}{{0, false, false}, {crash | levels, false, false}, {hang, false, true}, {hang | breaks, true, false}} {
		m := Member{Effects: c.effects, Over: c.over}
		require.Equal(t, c.want, m.Hangs())
	}
}
