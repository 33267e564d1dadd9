package gate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
)

// TestDoneWithoutEnd holds that a call is over after Done, whatever its status, and that a wrong one is an error.
func TestDoneWithoutEnd(t *testing.T) {
	for _, status := range []event.Status{event.StatusNone, event.StatusStarted, event.StatusHole, 99} {
		e := newEngine(t)
		g := newGate(t, gate.Config{Source: gate.Engine(e, nil)})
		first, second := build, build
		second.ID = "2"
		d := g.Check(t.Context(), first)
		res := g.Done(t.Context(), d, status, "")
		require.True(t, res.Executed)
		require.ErrorContains(t, res.Err, "does not end a call")
		require.Equal(t, event.StatusFailed, res.Verdict.Status)

		d = g.Check(t.Context(), second)
		e.Log(broken(""))
		res = g.Done(t.Context(), d, event.StatusCompleted, "")
		require.NoError(t, res.Err)
		require.Equal(t, coalesce.Affected, res.Verdict.Outcome, "no other call could have caused it")
	}
}

// TestCallIDs holds that a call which cannot be told from others is not executed, unless the gate fails open.
func TestCallIDs(t *testing.T) {
	e := newEngine(t)
	source := gate.Engine(e, nil)
	g, open := newGate(t, gate.Config{Source: source}), newGate(t, gate.Config{Source: source, FailOpen: true})
	nameless := gate.Call{Tool: "colony/build"}
	running := g.Check(t.Context(), build)
	require.NoError(t, running.Err)
	for want, call := range map[string]gate.Call{"Call.ID is empty": nameless, `a call "1" is running`: build} {
		d := g.Check(t.Context(), call)
		require.False(t, d.Allowed)
		require.Nil(t, d.Running)
		require.ErrorContains(t, d.Err, want)
		require.Contains(t, d.Refusal, "not executed: the call cannot be recorded ("+d.Err.Error()+")")
		d = open.Check(t.Context(), call)
		require.True(t, d.Allowed)
		require.Nil(t, d.Running)
		require.ErrorContains(t, d.Err, want)
		require.Equal(t, gate.Result{Executed: true}, open.Done(t.Context(), d, event.StatusCompleted, ""))
	}
	nameless.Diagnostics = true
	require.NoError(t, g.Check(t.Context(), nameless).Err, "it is no operation")
	g.Done(t.Context(), running, event.StatusCompleted, "")
	require.NoError(t, g.Check(t.Context(), build).Err, "the id is free again")
}

// TestEngineOfNothing: a source without an engine is none.
func TestEngineOfNothing(t *testing.T) {
	_, err := gate.New(gate.Config{Source: gate.Engine(nil, nil)})
	require.ErrorContains(t, err, "Config.Source is nil; set it to")
}
