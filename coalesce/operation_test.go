package coalesce

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// seen returns a Coalescer that has ingested events of operations, which are numbered from 1.
func seen(t *testing.T, events ...event.Entry) *Coalescer {
	c := testkit.Must(New(Config{}))
	for i := range events {
		e := &events[i]
		e.Kind, e.Seq = event.KindOperation, uint64(i)+1
		c.Fold(&Input{Entry: e})
	}
	return c
}

// TestTwoRootsAndAPart: with two root operations running, an entry that names none belongs to
// neither, whether the one that began last has a part or not.
func TestTwoRootsAndAPart(t *testing.T) {
	c := seen(t,
		event.Entry{OperationID: "a", Status: event.StatusStarted},
		event.Entry{OperationID: "b", Status: event.StatusStarted},
		event.Entry{OperationID: "c", Status: event.StatusStarted, Parent: "b"},
	)
	f := c.Fold(&Input{Entry: &event.Entry{Seq: 4}, Signature: groupSignature("x"), Decision: event.Decision{
		Rule: "r", Disposition: event.Blocking,
	}})
	a, _ := c.Item(f.ID)
	require.Empty(t, a.AfterOperation)
}

// TestDepth: an operation that is nested too deep is no part of the whole.
func TestDepth(t *testing.T) {
	chain := make([]event.Entry, maxDepth+2)
	for i := range chain {
		chain[i] = event.Entry{OperationID: fmt.Sprint(i), Status: event.StatusStarted, Parent: fmt.Sprint(i - 1)}
	}
	chain[0].Parent = ""
	for i, want := range []string{Affected, Unknown} {
		n, c := maxDepth+i, seen(t, chain...)
		c.Fold(&Input{
			Entry: &event.Entry{Seq: 99, OperationID: fmt.Sprint(n)}, Signature: groupSignature("x"),
			Decision: event.Decision{Rule: "r", Disposition: event.Blocking},
		})
		require.Equal(t, want, c.Verdict("0").Outcome, n)
	}
}

// TestVerdictOfAbandonedPart: an operation whose part has no end is not clean, although it
// ended itself.
func TestVerdictOfAbandonedPart(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	c := seen(t,
		event.Entry{OperationID: "a", Status: event.StatusStarted, Time: start},
		event.Entry{OperationID: "b", Status: event.StatusStarted, Parent: "a"},
		event.Entry{OperationID: "a", Status: event.StatusCompleted},
	)
	c.Advance(start.Add(10 * time.Minute))
	require.True(t, c.Verdict("b").Abandoned)
	require.Equal(t, Unknown, c.Verdict("a").Outcome)
}

// TestVerdictOfStall: a game that does not answer may work on the call, which is charged with nothing.
func TestVerdictOfStall(t *testing.T) {
	for status, want := range map[event.Status]VerdictReason{
		event.StatusStall: ReasonBackground, event.StatusExited: ReasonCharged,
	} {
		c := seen(t, event.Entry{OperationID: "a", Status: event.StatusStarted})
		f := c.Fold(&Input{
			Entry:     &event.Entry{Seq: 2, Kind: event.KindState, Status: status},
			Signature: groupSignature("x"), Decision: event.Decision{Rule: "r", Disposition: event.Blocking},
		})
		v := c.Verdict("a")
		require.Equal(t, want, v.Reason)
		require.Equal(t, f.ID, v.AttentionID)
	}
}

// TestEscalationOfAnotherThreshold: a rule with another threshold than before counts the latest that it knows.
func TestEscalationOfAnotherThreshold(t *testing.T) {
	c := seen(t)
	seq := uint64(0)
	raised := func(after int) bool {
		seq++
		d := event.Decision{Rule: "r"}
		return c.Escalate(&event.Entry{Seq: seq}, &event.Escalation{
			After: after, Entries: 100, Within: time.Hour, To: event.Blocking,
		}, &d)
	}
	for range 2 {
		require.False(t, raised(3))
	}
	require.True(t, raised(2))
	require.True(t, raised(2))
	require.True(t, raised(3))
	require.False(t, raised(5), "it knows three")
}

// TestEscalationWindow: the oldest of as many occurrences as the threshold is within the window, and the decision
// becomes no milder.
func TestEscalationWindow(t *testing.T) {
	c := seen(t)
	by := event.Escalation{After: 3, Entries: 10, To: event.Blocking, Severity: event.SeverityError}
	for _, x := range []struct {
		seq          uint64
		before, want event.Severity
		raised       bool
	}{
		{1, 0, 0, false},
		{8, 0, 0, false},
		{11, 0, 0, false}, // ten entries after the first
		{12, event.SeverityWarning, event.SeverityError, true},
		{13, event.SeverityFatal, event.SeverityFatal, true},
	} {
		d := event.Decision{Rule: "r", Severity: x.before}
		require.Equal(t, x.raised, c.Escalate(&event.Entry{Seq: x.seq}, &by, &d), x.seq)
		require.Equal(t, x.want, d.Severity, x.seq)
	}
}
