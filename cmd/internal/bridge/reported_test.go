package bridge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

// report reports a call, and returns the verdicts that are not clean.
func (p *play) report(c Call) []heed.Verdict {
	p.t.Helper()
	var verdicts []heed.Verdict
	require.NoError(p.t, p.bridge.Call(p.ctx, MethodCall, c, &verdicts))
	return verdicts
}

// TestReportedCalls holds which calls begin and end by reports. A line is "agent id tool status"; "-" is none.
func TestReportedCalls(t *testing.T) {
	for name, c := range map[string]struct {
		reports string
		ended   []string // the journal has of them
		open    int64
	}{
		"by id": {
			reports: "ann 1 build started; ann 2 build started; ann 2 - completed; ann 1 build failed",
			ended:   []string{"build completed", "build failed"},
		},
		"by order, of one tool": {
			reports: "ann - build started; ann - look started; ann - build started; ann - look completed; ann - build failed; ann - build completed",
			ended:   []string{"look completed", "build failed", "build completed"},
		},
		"all of an agent": {
			reports: "ann 1 build started; bob 2 dig started; ann - look started; ann - - completed",
			ended:   []string{"build completed", "look completed"}, open: 1,
		},
		"left": {
			reports: "ann 1 build started; ann - - cancelled",
			ended:   []string{"build cancelled the caller left before the call was answered"},
		},
		"a start that comes twice":  {reports: "ann 1 build started; ann 1 build started; ann 1 - completed", ended: []string{"build completed"}},
		"an end of a call of none":  {reports: "ann 1 Bash completed; ann - Edit completed; ann - - cancelled"},
		"the id of another agent":   {reports: "ann 1 build started; bob 1 build completed", open: 1},
		"an end that comes twice":   {reports: "ann 1 build started; ann 1 - completed; ann 1 - failed", ended: []string{"build completed"}},
		"the id of a call that was": {reports: "ann 1 build started; ann 1 - completed; ann 1 build started", ended: []string{"build completed"}, open: 1},
	} {
		t.Run(name, func(t *testing.T) {
			begin(t, Config{}, session.Config{}, nil, func(t *testing.T, p *play) {
				for line := range strings.SplitSeq(c.reports, "; ") {
					f := strings.Fields(strings.ReplaceAll(line, "-", `""`))
					status, ok := event.Parse[event.Status](f[3])
					require.True(t, ok)
					p.report(Call{Agent: f[0], ID: strings.Trim(f[1], `"`), Tool: strings.Trim(f[2], `"`), Status: status})
				}
				require.Equal(t, c.ended, p.operations())
				require.Equal(t, c.open, p.session.Status().InFlight)
			})
		})
	}
}

// TestReportedCallIsExempt holds that a call which is never held back is no operation by a report, since only calls that
// may be held back are evidence of play: by the owner's list, or as its host reports.
func TestReportedCallIsExempt(t *testing.T) {
	begin(t, Config{Allow: []string{"colony/read"}}, session.Config{}, nil, func(t *testing.T, p *play) {
		for _, c := range []Call{
			{Tool: "colony/read"}, {Tool: "look", Exempt: true}, {ID: "1", Tool: "colony/read"}, {Tool: "colony/build"},
		} {
			c.Agent, c.Status = "ann", event.StatusStarted
			p.report(c)
			c.Status = event.StatusCompleted
			require.Empty(t, p.report(c), "%v", c)
		}
		require.Equal(t, []string{"colony/build completed"}, p.operations())
		require.Zero(t, p.session.Status().InFlight)
	})
}

// TestReportedVerdict holds that the end of a reported call returns its verdict, and that the call is the agent's.
func TestReportedVerdict(t *testing.T) {
	begin(t, Config{}, session.Config{}, nil, func(t *testing.T, p *play) {
		c := Call{Agent: "hook-s1", ID: "u1", Tool: "build", Status: event.StatusStarted}
		require.Empty(t, p.report(c))
		p.session.Observe(event.Log{Message: "Broken thing"}.Entry())
		c.Status = event.StatusCompleted
		verdicts := p.report(c)
		require.Len(t, verdicts, 1)
		require.Equal(t, []string{"build", "blocking", "e1-1"},
			[]string{verdicts[0].Method, verdicts[0].Outcome, verdicts[0].AttentionID})
		events, _, _ := p.session.Timeline(0)
		require.True(t, slices.ContainsFunc(events, func(e session.Event) bool {
			return e.Kind == session.CallEnded && e.Consumer == "hook-s1"
		}))
	})
}

// TestReportedCallIsAbandoned holds that a call whose end never comes is given up as others are, and is no call in flight.
func TestReportedCallIsAbandoned(t *testing.T) {
	sc := session.Config{}
	sc.Engine.Coalesce.MaxOperations = 16
	begin(t, Config{}, sc, nil, func(t *testing.T, p *play) {
		for n := range 100 {
			p.report(Call{Agent: "ann", ID: fmt.Sprint(n), Tool: "build", Status: event.StatusStarted})
		}
		require.LessOrEqual(t, p.session.Status().InFlight, int64(17), "those that the engine knows")
		time.Sleep(time.Hour)
		p.report(Call{Agent: "ann", ID: "more", Tool: "build", Status: event.StatusStarted})
		require.EqualValues(t, 1, p.session.Status().InFlight)
		require.Empty(t, p.operations(), "no end is made up")
	})
}

// TestReportedCallsOfTheGate holds that a call which passes the gate is no second one by the report of the agent's host.
func TestReportedCallsOfTheGate(t *testing.T) {
	c := Call{Agent: "ann", ID: "1", Tool: "build", Status: event.StatusStarted}
	begin(t, Config{}, session.Config{}, &fakeMod{tools: buildTool, answers: done}, func(t *testing.T, p *play) {
		p.report(c)
		require.Zero(t, p.session.Status().InFlight, "a mod is there")
	})
	begin(t, Config{}, session.Config{}, nil, func(t *testing.T, p *play) {
		p.proxy.Gate()
		p.report(c)
		require.Zero(t, p.session.Status().InFlight, "another protocol is in front of the gate")
	})
}

// TestReportedCallIsRefused holds that a report without what is needed is an error.
func TestReportedCallIsRefused(t *testing.T) {
	begin(t, Config{}, session.Config{}, nil, func(t *testing.T, p *play) {
		for _, params := range []string{
			`{}`, `{"agent":"ann"}`, `{"status":"started"}`, `{"agent":"ann","status":"exited"}`, `{"agent":1,"status":"started"}`,
		} {
			_, err := p.bridge.CallRaw(p.ctx, MethodCall, []byte(params))
			require.True(t, isCode(err, gabp.CodeInvalidParams), "%s: %v", params, err)
		}
	})
}
