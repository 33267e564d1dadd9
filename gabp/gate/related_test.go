package gate_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
)

// TestRelatedCleared: a fault that was acknowledged, and that occurs outside of calls too, is in the result of a call
// during which it returned, and holds nothing back.
func TestRelatedCleared(t *testing.T) {
	e := newEngine(t)
	now := time.Unix(1_700_000_000, 0)
	g := newGate(t, gate.Config{Source: gate.Engine(e, func() time.Time { return now })})
	fault := func(name string) { e.Log(event.Log{Time: now, Message: name}) }
	fault("Broken thing")
	first, _ := e.Current("agent")
	e.Ack("agent", first.ID, 0)
	for range 5 {
		now = now.Add(10 * time.Second)
		fault("Broken thing")
	}
	now = now.Add(10 * time.Second)
	call := gate.Call{ID: "1", Tool: "colony/build", Consumer: "agent"}
	d := g.Check(t.Context(), call)
	require.True(t, d.Allowed)
	now = now.Add(time.Second)
	fault("Broken thing")
	res := g.Done(t.Context(), d, event.StatusCompleted, "")
	require.Equal(t, coalesce.Unknown, res.Verdict.Outcome)
	require.Equal(t, coalesce.ReasonBackground, res.Verdict.Reason)
	require.Equal(t, first.ID, res.Related.ID)
	require.Equal(t, "cleared", res.Related.State)
	require.False(t, res.Related.Blocking)

	// What stops the next call goes first.
	now = now.Add(10 * time.Second)
	call.ID = "2"
	d = g.Check(t.Context(), call)
	require.True(t, d.Allowed)
	now = now.Add(time.Second)
	fault("Broken thing")
	raised := e.Raise(heed.Report{Time: now, Key: "disk", Disposition: event.Blocking, Message: "full"})
	res = g.Done(t.Context(), d, event.StatusCompleted, "")
	require.Equal(t, raised, res.Related.ID)
}

// TestReadsCount: a fault that returns in each call stands after some returns, between which the state was read. A read
// that failed, or of what heed reports, is none; without any it takes three more.
func TestReadsCount(t *testing.T) {
	for _, c := range []struct {
		name   string
		read   gate.Call
		status event.Status
		stands int // the call from which on
	}{
		{"state", gate.Call{Tool: "colony/look", Tags: []string{"read-only"}}, event.StatusCompleted, 4},
		{"failed", gate.Call{Tool: "colony/look", Tags: []string{"read-only"}}, event.StatusFailed, 7},
		{"diagnostics", gate.Call{Tool: "heed/entries", Diagnostics: true}, event.StatusCompleted, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t)
			e.StateRead() // by a host that reports reads
			now := time.Unix(1_700_000_000, 0)
			g := newGate(t, gate.Config{Source: gate.Engine(e, func() time.Time { return now })})
			for i := range 9 {
				now = now.Add(time.Minute)
				d := g.Check(t.Context(), gate.Call{ID: strconv.Itoa(i), Tool: "colony/build", Consumer: "agent"})
				require.True(t, d.Allowed, i)
				now = now.Add(time.Second)
				e.Log(event.Log{Time: now, Message: "Broken thing"})
				res := g.Done(t.Context(), d, event.StatusCompleted, "")
				require.NotNil(t, res.Related)
				if res.Related.Blocking {
					_, err := g.Ack(t.Context(), "agent", res.Related.ID, 0)
					require.NoError(t, err)
				}
				stands := res.Verdict.Reason == coalesce.ReasonStanding
				require.Equal(t, i >= c.stands, stands, i)
				require.NotEqual(t, stands, res.Related.Blocking, i)
				d = g.Check(t.Context(), c.read)
				require.True(t, d.Allowed)
				g.Done(t.Context(), d, c.status, "")
			}
		})
	}
}
