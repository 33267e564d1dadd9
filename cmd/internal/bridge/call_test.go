package bridge

import (
	"encoding/json"
	"fmt"
	"os/exec"
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

// heard is what heed adds to a result, or to the data of an error.
type heard struct {
	Executed  *bool      `json:"executed"`
	Attention *heed.Item `json:"attention"`
	Notice    string     `json:"notice"`
	Verdict   *verdict   `json:"verdict"`
}

// hears calls a tool and returns what heed adds to the answer, whatever that is.
func (p *play) hears(c *gabp.Client, tool string) (h heard) {
	p.t.Helper()
	raw, err := c.CallTool(p.ctx, tool, nil)
	if err != nil {
		var e *gabp.Error
		require.ErrorAs(p.t, err, &e)
		raw = e.Data
	}
	if len(raw) > 0 && raw[0] == '{' {
		require.NoError(p.t, json.Unmarshal(raw, &h))
	}
	return h
}

// fault opens a blocking item, of which the bridge has the refusal, and returns its id.
func (p *play) fault(message string) string {
	p.t.Helper()
	p.session.Observe(event.Log{Message: message}.Entry())
	open := p.session.Open(nil)
	require.NotEmpty(p.t, open)
	return open[0].ID
}

func (p *play) acks(c *gabp.Client, id string) {
	p.t.Helper()
	var acked gabp.AckResult
	require.NoError(p.t, c.Call(p.ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: id}, &acked))
	require.True(p.t, acked.Acknowledged)
}

// TestAckedByOthers holds that an acknowledgement by another opens the gate, and that the agent is told of it with its next
// result, once.
func TestAckedByOthers(t *testing.T) {
	m := modOf(done)
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		person, other := p.dial("heed-cli"), p.dial("helper")
		require.Empty(t, p.hears(p.bridge, "colony/build").Notice)
		require.Empty(t, p.hears(other, "colony/build").Notice)

		id := p.fault("Broken thing")
		require.Equal(t, id, p.hears(p.bridge, "colony/build").Attention.ID, "the agent has it")
		time.Sleep(time.Minute)
		p.acks(person, session.ShortID(id, "e1"))
		h := p.hears(p.bridge, "colony/look")
		require.Empty(t, h.Notice, "the result of what only looks stays as it is")
		h = p.hears(p.bridge, "colony/build")
		require.True(t, *h.Executed)
		require.Equal(t, id, h.Attention.ID)
		require.False(t, h.Attention.Blocking)
		require.EqualValues(t, "cleared", h.Attention.State)
		require.Equal(t, "clean", h.Verdict.Outcome)
		require.Equal(t, "Item "+id+` was acknowledged by a person, "heed-cli#00000000-0000-40", at 2000-01-01T00:01:00Z. `+
			"The game's state may have changed meanwhile: read it again.", h.Notice)
		h = p.hears(p.bridge, "colony/build")
		require.Empty(t, h.Notice, "once")
		require.Nil(t, h.Attention)
		require.Equal(t, id, p.hears(other, "colony/build").Attention.ID, "each agent is told")
		require.Empty(t, p.hears(other, "colony/build").Notice)

		id = p.fault("Fault of a pump")
		p.acks(other, id)
		require.Contains(t, p.hears(p.bridge, "colony/build").Notice, `by another agent, "helper#`)
		require.Empty(t, p.hears(other, "colony/build").Notice, "it acknowledged that itself")

		id = p.fault("Broken pipe 7")
		p.acks(person, id)
		_, err := p.bridge.CallTool(p.ctx, ToolItem, map[string]any{"id": id})
		require.NoError(t, err)
		require.Empty(t, p.hears(p.bridge, "colony/build").Notice, "it has read the item since")

		id = p.fault("Broken roof of glass")
		p.acks(person, id)
		p.acks(p.bridge, id)
		require.Empty(t, p.hears(p.bridge, "colony/build").Notice, "it acknowledged that, too")
	})
}

// TestAckedByOthersInEveryAnswer: an error, a refusal, a value that is no object, and a call that is in flight.
func TestAckedByOthersInEveryAnswer(t *testing.T) {
	answers := []string{
		`"result":[1]`, `"result":{"notice":"of the mod"}`, `"error":{"code":-32400,"message":"no room","data":{"left":0}}`,
	}
	var whole *play
	var meanwhile func()
	m := modOf(func(string, string) []string {
		if meanwhile != nil {
			meanwhile()
		}
		return []string{`{"v":"gabp/1","id":"$ID","type":"response",` + answers[0] + `}`}
	})
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		whole = p
		person := p.dial("heed-cli")
		p.hears(p.bridge, "colony/build")
		for i, want := range []string{
			`{"value":[1],"executed":true,"attention":`, `{"notice":"of the mod","heed":{"executed":true,"attention":`,
			`{"left":0,"executed":true,"attention":`,
		} {
			id := p.fault(fmt.Sprintf("Broken part %s", strings.Repeat("x", i+1)))
			p.acks(person, id)
			got, e := p.call("colony/build")
			if e != nil {
				got = string(e.Data)
			}
			require.True(t, strings.HasPrefix(got, want+`{"attentionId":"`+id), got)
			require.Contains(t, got, "was acknowledged by a person")
			answers = answers[min(1, len(answers)-1):]
		}
		answers[0] = `"result":{}`

		first := p.fault("Broken bridge over a river")
		p.acks(person, first)
		second := p.fault("Fault of a dam")
		h := p.hears(p.bridge, "colony/build")
		require.False(t, *h.Executed)
		require.Equal(t, second, h.Attention.ID, "it holds the call back")
		require.Contains(t, h.Notice, "Item "+first+" (something broke ", "what is not beside it")
		p.acks(p.bridge, second)

		meanwhile = func() {
			meanwhile = nil
			whole.acks(person, whole.fault("Fault of a mill"))
		}
		h = p.hears(p.bridge, "colony/build")
		require.Contains(t, h.Notice, "was acknowledged by a person")
	})
}

// TestAckedByOthersIsBounded: however many items others acknowledge, under whatever names, a notice is short and harmless.
func TestAckedByOthersIsBounded(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var items []session.AckedByOther
	for i := range 9 {
		a := heed.Item{ID: fmt.Sprintf("e1-%d", i), Summary: strings.Repeat("s", 4000)}
		items = append(items, session.AckedByOther{Item: a, By: "\x1b[2J\u202e\"" + strings.Repeat("n", 500), Time: at})
	}
	text := notice(items, 1<<40, "e1-0")
	require.Less(t, len(text), 2000)
	require.Contains(t, text, "So were 1099511627781 earlier ones; heed/timeline shows them.")
	require.False(t, slices.ContainsFunc([]rune(text), func(r rune) bool { return r < ' ' || r == '\u202e' }), text)
}

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

// TestReportedRefusal holds that a call which its host denied is a call held back, and none under way.
func TestReportedRefusal(t *testing.T) {
	begin(t, Config{}, session.Config{}, nil, func(t *testing.T, p *play) {
		id := p.fault("Broken thing")
		require.Empty(t, p.report(Call{Agent: "ann", ID: "1", Tool: "build", Held: id, Status: event.StatusStarted}))
		require.EqualValues(t, 1, p.session.Status().Held)
		require.Zero(t, p.session.Status().InFlight)
		events, _, _ := p.session.Timeline(0)
		require.True(t, slices.ContainsFunc(events, func(e session.Event) bool {
			return e.Kind == session.CallRefused && e.Tool == "build" && e.Attention == id
		}))
	})
}

// TestReportedRead holds that a call which its host never holds back counts as a read of the state, by which a fault that
// returns stops an agent as often as through the gate: three times with a read before, and three without.
func TestReportedRead(t *testing.T) {
	for reads, want := range map[bool]int{false: 4, true: 7} {
		begin(t, Config{}, session.Config{}, nil, func(t *testing.T, p *play) {
			call := func(tool string, exempt bool) (verdicts []heed.Verdict) {
				c := Call{Agent: "ann", Tool: tool, Exempt: exempt, Status: event.StatusStarted}
				p.report(c)
				if !exempt {
					p.session.Observe(event.Log{Message: "Broken thing"}.Entry())
				}
				c.Status = event.StatusCompleted
				return p.report(c)
			}
			if reads {
				call("look", true)
			}
			stops := 0
			for range 10 {
				v := call("build", false)
				require.Len(t, v, 1)
				if v[0].Outcome == "blocking" {
					stops++
					p.session.Ack(p.ctx, "ann", v[0].AttentionID, 0)
				}
				time.Sleep(time.Second)
			}
			require.Equal(t, want, stops)
		})
	}
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

// TestReportedCallWithoutStart holds that a call which ends before heed saw any start has an unknown verdict, unless it
// is exempt: it began before heed was started.
func TestReportedCallWithoutStart(t *testing.T) {
	begin(t, Config{}, session.Config{}, nil, func(t *testing.T, p *play) {
		c := Call{Agent: "ann", ID: "1", Tool: "build", Status: event.StatusCompleted}
		verdicts := p.report(c)
		require.Len(t, verdicts, 1)
		require.Equal(t, []string{"build", "unknown"}, []string{verdicts[0].Method, verdicts[0].Outcome})
		exempt := c
		exempt.Exempt = true
		require.Empty(t, p.report(exempt))
		c.Status = event.StatusStarted
		p.report(c)
		c.ID, c.Status = "2", event.StatusCompleted
		require.Empty(t, p.report(c), "a call that no host asked about")
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
	begin(t, Config{}, session.Config{}, modOf(done), func(t *testing.T, p *play) {
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

func TestInBand(t *testing.T) {
	for _, tc := range []struct {
		result    string
		failed    bool
		text      string
		operation string
	}{
		{`{"success":true}`, false, "", ""},
		{`{"success":false}`, true, "", ""},
		{`{"success":false,"message":"no room"}`, true, "no room", ""},
		{`{"success":true,"error":"of a part"}`, false, "", ""},
		{`{"ok":false,"error":{"message":"no","code":3}}`, true, "no", ""},
		{`{"isError":true,"errorMessage":"broken"}`, true, "broken", ""},
		{`{"error":"broken"}`, true, "broken", ""},
		{`{"error":{"message":"broken"}}`, true, "broken", ""},
		{`{"error":{"code":3}}`, true, "", ""},
		{`{"error":null}`, false, "", ""},
		{`{"error":""}`, false, "", ""},
		{`{"error":0}`, false, "", ""},
		{`{"success":"no"}`, false, "", ""}, // not a boolean: nothing is said
		{`{"ok":"no","success":false,"message":"no room"}`, true, "no room", ""},
		{`{"success":1,"ok":false}`, true, "", ""},
		{`{"isError":1,"error":"broken","operationId":"op_0"}`, true, "broken", "op_0"},
		{`{"success":null,"ok":true,"error":"of a part"}`, false, "", ""},
		{`{"operationId":"op_1"}`, false, "", "op_1"},
		{`{"operation":{"operationId":"op_2"}}`, false, "", "op_2"},
		{`{"meta":{"operationId":"op_3"},"success":false}`, true, "", "op_3"},
		{`[{"success":false}]`, false, "", ""},
		{`12.5`, false, "", ""},
		{`null`, false, "", ""},
		{``, false, "", ""},
	} {
		failed, text, operation := inBand(json.RawMessage(tc.result))
		require.Equal(t, tc.failed, failed, tc.result)
		require.Equal(t, tc.text, text, tc.result)
		require.Equal(t, tc.operation, operation, tc.result)
	}
	large := json.RawMessage(`{"meta":[` + strings.Repeat("1,", 1<<16) + `1]}`)
	require.Less(t, testing.AllocsPerRun(1, func() { inBand(large) }), 100.0, "what says nothing is not decoded")
}

func TestAmend(t *testing.T) {
	const said = `"executed":true,"attention":{"attentionId":"x-1","state":"open","severity":"error","blocking":true,"stateInvalidated":false,"summary":"s","openedAtSequence":1,"latestSequence":2,"diagnosticsCursor":0,"totalUrgentEntries":3}`
	a := heed.Item{
		ID: "x-1", State: "open", Severity: event.SeverityError, Blocking: true, Summary: "s",
		OpenedAtSequence: 1, LatestSequence: 2, TotalUrgentEntries: 3,
	}
	charged := &verdict{Outcome: "blocking", Reason: "charged", Text: "t", CleanThrough: 9}
	const why = `"verdict":{"outcome":"blocking","reason":"charged","text":"t","cleanThrough":9}`
	for _, tc := range []struct{ result, want string }{
		{`{"n": 1.50}`, `{"n": 1.50,` + said + `}`},
		{` { } `, ` {` + said + `}`},
		{`{}`, `{` + said + `}`},
		{`{"executed":"mine"}`, `{"executed":"mine","heed":{` + said + `}}`},
		{`{"attention":null,"a":"}"}`, `{"attention":null,"a":"}","heed":{` + said + `}}`},
		{`{"verdict":"guilty"}`, `{"verdict":"guilty","heed":{` + said + `}}`},
		{`{"notice":1}`, `{"notice":1,` + said + `}`},
		{`{"executed":1,"heed":2}`, `{"executed":1,"heed":2,"_heed":{` + said + `}}`},
		{`{"executed":1,"_heed":3,"heed":2}`, `{"executed":1,"_heed":3,"heed":2,"__heed":{` + said + `}}`},
		{`12.50`, `{"value":12.50,` + said + `}`},
		{`[1]`, `{"value":[1],` + said + `}`},
		{`null`, `{"value":null,` + said + `}`},
		{``, `{` + said + `}`},
	} {
		got := amend(json.RawMessage(tc.result), finding{Executed: true, Attention: &a})
		require.Equal(t, tc.want, string(got), tc.result)
		require.True(t, json.Valid(got))
		got = amend(json.RawMessage(tc.result), finding{Executed: true, Attention: &a, Verdict: charged})
		require.Equal(t, strings.Replace(tc.want, said, said+","+why, 1), string(got), tc.result)
	}

	// Where there is no item.
	background := &verdict{Outcome: "unknown", Reason: "background", Text: "t", CleanThrough: 9}
	const clear, vague = `"verdict":{"outcome":"clean","cleanThrough":9}`,
		`"executed":true,"verdict":{"outcome":"unknown","reason":"background","text":"t","cleanThrough":9}`
	for _, tc := range []struct{ result, clean, unknown string }{
		{`{"n": 1.50}`, `{"n": 1.50,` + clear + `}`, `{"n": 1.50,` + vague + `}`},
		{`{"verdict":1}`, `{"verdict":1,"heed":{` + clear + `}}`, `{"verdict":1,"heed":{` + vague + `}}`},
		{`{"verdict":1,"heed":2}`, `{"verdict":1,"heed":2,"_heed":{` + clear + `}}`, `{"verdict":1,"heed":2,"_heed":{` + vague + `}}`},
		{` 12.50`, ` 12.50`, `{"value": 12.50,` + vague + `}`},
		{`null`, `null`, `{"value":null,` + vague + `}`},
		{``, ``, `{` + vague + `}`},
	} {
		clean := shownVerdict(&heed.Verdict{Outcome: "clean", Reason: "quiet", Text: "t", CleanThrough: 9})
		require.Equal(t, tc.clean, string(amend(json.RawMessage(tc.result), finding{Executed: true, Verdict: clean})))
		require.Equal(t, tc.unknown, string(amend(json.RawMessage(tc.result), finding{Executed: true, Verdict: background})))
		require.Equal(t, tc.result, string(amend(json.RawMessage(tc.result), finding{Executed: true})), "no operation")
	}
	// Nobody knows whether it was executed.
	require.Equal(t, `{"outcome":"unknown",`+why+`}`,
		string(amend(json.RawMessage(`{"outcome":"unknown"}`), finding{Verdict: charged})))
}

func FuzzAmend(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":{"b":"}"}} `, `"{"`, `{"executed":{}}`, "\t{\n}\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			return
		}
		inBand(json.RawMessage(s))
		found := finding{Executed: true, Attention: &heed.Item{ID: "x"}, Verdict: &verdict{Outcome: "unknown"}}
		require.True(t, json.Valid(amend(json.RawMessage(s), found)), s)
	})
}

func TestHanded(t *testing.T) {
	h := Handed{
		Prefix: []string{"heed", "wrap", "--", "game"},
		Outer:  gabp.Bridge{Address: "127.0.0.1:1111", Token: "outer", Path: "/outer"},
		Inner:  gabp.Bridge{Address: "127.0.0.1:2222", Token: "inner", Path: "/inner"},
	}
	environ := func(from ...string) []string { return (&exec.Cmd{Env: h.Environ(from)}).Environ() }
	require.Equal(t, []string{
		"A=1", "GABS_GAME_ID=colony", "GABP_SERVER_PORT=2222", "GABP_TOKEN=inner", "GABS_BRIDGE_PATH=/inner",
	}, environ("A=1", "GABP_SERVER_PORT=1111", "GABP_TOKEN=outer", "GABS_BRIDGE_PATH=/outer", "GABS_GAME_ID=colony"))
	require.Equal(t, []string{"A=1", "GABP_SERVER_PORT=2222", "GABP_TOKEN=inner"}, environ("A=1"), "started by a person")

	one := Handed{Prefix: []string{"heed"}, Outer: gabp.Bridge{Token: "outer"}, Inner: gabp.Bridge{Token: "inner"}}
	require.JSONEq(t, `{"argv":["heed","-x"],"envValues":{"GABP_TOKEN":"outer"}}`,
		string(one.observed(json.RawMessage(`{"argv":["game","-x"],"envValues":{"GABP_TOKEN":"inner"}}`))))
	require.JSONEq(t, `{"envValues":{"OTHER":"inner"}}`, string(one.observed(json.RawMessage(`{"envValues":{"OTHER":"inner"}}`))))
	for _, tc := range []struct{ name, seen, want string }{
		{"nothing", ``, ``},
		{"null", `null`, `null`},
		{
			"as handed", `{"argv":["./game","-x"],"cwd":"/c","envValues":{"GABP_SERVER_PORT":"2222","GABP_TOKEN":"inner","GABS_BRIDGE_PATH":"/inner","B":"2"},"envAbsent":["C"]}`,
			`{"argv":["heed","wrap","--","game","-x"],"cwd":"/c","envValues":{"GABP_SERVER_PORT":"1111","GABP_TOKEN":"outer","GABS_BRIDGE_PATH":"/outer","B":"2"},"envAbsent":["C"]}`,
		},
		{
			"something got lost", `{"argv":["game"],"envValues":{"GABP_SERVER_PORT":"3333","GABP_TOKEN":""}}`,
			`{"argv":["heed","wrap","--","game"],"envValues":{"GABP_SERVER_PORT":"3333","GABP_TOKEN":""}}`,
		},
		{"what is new", `{"argv":[],"more":[1.50]}`, `{"argv":[],"more":[1.50]}`},
		{"another form", `[1]`, `[1]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := string(h.observed(json.RawMessage(tc.seen)))
			if tc.want == "" {
				require.Empty(t, got)
				return
			}
			require.JSONEq(t, tc.want, got)
		})
	}
}
