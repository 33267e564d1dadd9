package gate_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
)

// looks is a source with one answer. It notes how it was asked.
type looks struct {
	item heed.Item
	open bool
	err  error

	ctx     context.Context
	refused []gate.Decision
}

func (s *looks) Current(ctx context.Context, _ string) (heed.Item, bool, error) {
	s.ctx = ctx
	return s.item, s.open, s.err
}

func (s *looks) Ack(ctx context.Context, _, _ string, _ uint64) (heed.AckResult, error) {
	s.ctx = ctx
	return heed.AckResult{}, nil
}

func (s *looks) Begin(gate.Call) (gate.Running, error) { return nil, nil }
func (s *looks) Refused(d gate.Decision)               { s.refused = append(s.refused, d) }
func check(t *testing.T, s *looks) gate.Decision {
	return newGate(t, gate.Config{Source: s}).Check(t.Context(), build)
}

var build = gate.Call{ID: "1", Tool: "colony/build", Consumer: "agent"}

// TestRefusedIsRecorded holds that a recorder learns of each refusal, with its item, and
// of nothing else.
func TestRefusedIsRecorded(t *testing.T) {
	s := &looks{item: heed.Item{ID: "a-1", Blocking: true}, open: true}
	d := check(t, s)
	require.Equal(t, []gate.Decision{d}, s.refused)
	require.Equal(t, "a-1", s.refused[0].Attention.ID)

	s = &looks{item: heed.Item{ID: "a-1", Blocking: true}} // which is not open
	g := newGate(t, gate.Config{Source: s})
	d = g.Check(t.Context(), build)
	require.True(t, d.Allowed)
	require.Empty(t, s.refused)
	require.Equal(t, gate.Result{Executed: true}, g.Done(t.Context(), d, event.StatusCompleted, ""))
}

// TestReadsState holds which calls read the game's state: not those that look at what it reports of itself.
func TestReadsState(t *testing.T) {
	for _, c := range []struct {
		call  gate.Call
		reads bool
	}{
		{gate.Call{}, false},
		{gate.Call{Tags: []string{"Observation"}}, true},
		{gate.Call{Tags: []string{"status"}}, false},
		{gate.Call{Tags: []string{"lifecycle"}}, false},
		{gate.Call{Tags: []string{"read-only"}, Diagnostics: true}, false},
	} {
		require.Equal(t, c.reads, c.call.ReadsState(), "%+v", c.call)
	}
}

// TestLooksEnd holds that what a look waits for is released with it.
func TestLooksEnd(t *testing.T) {
	s := &looks{}
	g := newGate(t, gate.Config{Source: s})
	g.Check(t.Context(), build)
	require.ErrorIs(t, s.ctx.Err(), context.Canceled)
	_, err := g.Ack(t.Context(), "agent", "a-1", 0)
	require.NoError(t, err)
	require.ErrorIs(t, s.ctx.Err(), context.Canceled)
}

// TestWaits holds that a look takes the default timeout and no longer.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, gate.Config{Source: gate.Remote(&peer{
			answer: func(ctx context.Context, _ string, _ any) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			},
		}, both)})
		start := time.Now()
		require.False(t, g.Check(t.Context(), build).Allowed)
		require.Equal(t, 1500*time.Millisecond, time.Since(start))
	})
}

// TestReasons holds what a refusal says of a source that failed.
func TestReasons(t *testing.T) {
	long := strings.Repeat("x", 161)
	for _, c := range []struct {
		err  error
		want string
	}{
		{context.Canceled, "(the call was cancelled)"},
		{context.DeadlineExceeded, "(no answer in time)"},
		{errors.New(long[:160]), "(" + long[:160] + ")"},
		{errors.New(long), "(" + long[:159] + "…)"},
	} {
		require.Contains(t, check(t, &looks{err: c.err}).Refusal, c.want)
	}
}

// TestExemptions holds what a refusal names as exempt.
func TestExemptions(t *testing.T) {
	const own = "tools tagged diagnostic, diagnostics, health, lifecycle, observation, read-only, status, telemetry, " +
		"attention-bypass; attention/current and attention/ack"
	for _, c := range []struct {
		allow []string
		want  string
	}{
		{nil, "always allowed: " + own},
		{[]string{"a", "b/*"}, "always allowed: a, b/*; " + own},
	} {
		g := newGate(t, gate.Config{Source: &looks{err: errGone}, Allow: c.allow})
		_, exempt, _ := strings.Cut(g.Check(t.Context(), build).Refusal, "call again; ")
		require.Equal(t, c.want, exempt)
	}
}

// TestEngineLook holds what a look at an engine returns and delivers.
func TestEngineLook(t *testing.T) {
	e := newEngine(t)
	look := func() (heed.Item, bool) {
		a, open, err := gate.Engine(e, nil).Current(t.Context(), "agent")
		require.NoError(t, err)
		return a, open
	}
	a, open := look()
	require.False(t, open)
	require.Empty(t, a.ID)

	e.Log(event.Log{Message: "Odd thing"})
	a, open = look()
	require.True(t, open)
	require.Equal(t, "e1-1", a.ID)
	require.False(t, a.Blocking)

	e.Log(broken("1"))
	blocking, open := look()
	require.True(t, open && blocking.Blocking)
	e.Log(broken("and another"))
	require.Equal(t, blocking.LatestSequence, e.Ack("agent", blocking.ID, 0).Watermark, "it was delivered")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := gate.Engine(e, nil).Ack(ctx, "agent", blocking.ID, 0)
	require.ErrorIs(t, err, context.Canceled)
}

// TestEngineRelated holds which item a call on an engine returns, and that it is delivered.
func TestEngineRelated(t *testing.T) {
	for _, c := range []struct {
		name    string
		call    gate.Call
		during  func(e *heed.Engine)
		related bool
	}{
		{"nothing", build, func(*heed.Engine) {}, false},
		{"blocking", build, func(e *heed.Engine) {
			e.Log(broken("1"))
			e.Log(broken("2"))
		}, true},
		{"blocking, of the host", build, func(e *heed.Engine) {
			e.Raise(heed.Report{Key: "k", Disposition: event.Blocking, Message: "m"})
		}, true},
		{"advisory, of the host", build, func(e *heed.Engine) {
			e.Raise(heed.Report{Key: "k", Disposition: event.Advisory, Message: "m"})
		}, false},
		{"acknowledged meanwhile", build, func(e *heed.Engine) {
			e.Log(broken("1"))
			a, _ := e.Current("agent")
			e.Ack("agent", a.ID, 0)
		}, false},
		{
			"a call that only looks",
			gate.Call{ID: "1", Tool: "look", Diagnostics: true},
			func(e *heed.Engine) { e.Log(broken("1")) },
			false,
		},
		{
			"a call that only looks and breaks something",
			gate.Call{ID: "1", Tool: "look", Tags: []string{"read-only"}, Consumer: "agent"},
			func(e *heed.Engine) { e.Log(event.Log{Message: "Broken thing", OperationID: "1"}) },
			true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t)
			g := newGate(t, gate.Config{Source: gate.Engine(e, nil)})
			d := g.Check(t.Context(), c.call)
			require.NotNil(t, d.Running)
			c.during(e)
			res := g.Done(t.Context(), d, event.StatusCompleted, "")
			require.Equal(t, c.related || !c.call.Diagnostic(), res.Verdict.Known)
			require.Equal(t, c.related, res.Related != nil)
			if c.related {
				e.Log(broken("and another"))
				require.Equal(t, res.Related.LatestSequence, e.Ack("agent", res.Related.ID, 0).Watermark, "it was delivered")
			}
		})
	}
}

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
