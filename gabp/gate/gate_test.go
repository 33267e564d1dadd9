package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/rules"
)

func decodeStrictly(text string, into any) error { return json.Unmarshal([]byte(text), into) }

// item is an open item as a peer sends it.
func item(id string, blocking bool) string {
	return fmt.Sprintf(`{"attentionId":%q,"state":"open","severity":"error","blocking":%v,"stateInvalidated":true,`+
		`"summary":"something broke","openedAtSequence":7,"latestSequence":9,"totalUrgentEntries":2}`, id, blocking)
}

func current(item string) string { return `{"attention":` + item + `}` }

// moment is a place in the life of a call at which something happens.
type moment int

const (
	before moment = iota // the check
	during               // the dispatch
	after                // the reply, before the end is told
	later                // after all of it
)

// TestTiming is the table of moments, of an engine in the same process: what was
// executed and what was not, and what is said of it.
func TestTiming(t *testing.T) {
	for _, c := range []struct {
		name     string
		at       moment
		log      event.Log
		executed bool
		related  bool // the item is in the result
		next     bool // the next call is executed
	}{
		{"nothing happens", before, event.Log{Message: "Fine"}, true, false, true},
		{"blocking, before dispatch", before, broken("1"), false, false, false},
		{"blocking, while it runs", during, broken("1"), true, true, false},
		{"blocking, right after", after, broken("1"), true, true, false},
		{"blocking, after the reply", later, broken("1"), true, false, false},
		{"advisory, before dispatch", before, event.Log{Message: "Odd thing"}, true, false, true},
		{"advisory, while it runs", during, event.Log{Message: "Odd thing"}, true, true, true},
		{"advisory, after the reply", later, event.Log{Message: "Odd thing"}, true, false, true},
		{
			"of another operation, while it runs", during,
			event.Log{Message: "Broken thing", OperationID: "other"},
			true, true,
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t)
			g := newGate(t, gate.Config{Source: gate.Engine(e, nil)})
			at := func(m moment) {
				if c.at == m {
					e.Log(c.log)
				}
			}
			dispatched := 0
			call := func(id string) (gate.Decision, gate.Result) {
				d := g.Check(t.Context(), gate.Call{ID: id, Tool: "colony/build", Consumer: "agent"})
				if d.Allowed {
					dispatched++
					at(during)
					at(after)
				}
				return d, g.Done(t.Context(), d, event.StatusCompleted, "")
			}
			at(before)
			d, res := call("1")
			at(later)
			require.Equal(t, c.executed, d.Allowed)
			require.Equal(t, c.executed, res.Executed)
			require.Equal(t, c.executed, dispatched == 1, "what is said is what happened")
			require.Equal(t, c.related, res.Related != nil)
			if !c.executed {
				require.Contains(t, d.Refusal, "not executed: ")
				require.Contains(t, d.Refusal, "acknowledge e1-1 with attention/ack")
				require.Equal(t, "e1-1", d.Attention.ID)
			} else {
				require.Empty(t, d.Refusal)
				require.Nil(t, d.Attention)
			}
			c.at = -1
			d, _ = call("2")
			require.Equal(t, c.next, d.Allowed)
			if !c.next {
				again, _ := call("3")
				require.Equal(t, d.Attention.ID, again.Attention.ID, "one id, and a retry is no acknowledgement")
				require.Equal(t, d.Refusal, again.Refusal)
				acked, err := g.Ack(t.Context(), "agent", "no-such", 0)
				require.NoError(t, err)
				require.False(t, acked.Acknowledged)
				require.Equal(t, d.Attention.ID, acked.Current.ID, "the answer says what is open")
				acked, err = g.Ack(t.Context(), "agent", d.Attention.ID, 0)
				require.NoError(t, err)
				require.True(t, acked.Acknowledged)
				d, res = call("4")
				require.True(t, d.Allowed && res.Executed)
			}
		})
	}
}

// TestRemote is the table of what a peer may answer over GABP.
func TestRemote(t *testing.T) {
	answers := func(text string) func(context.Context, string, any) (string, error) {
		return func(context.Context, string, any) (string, error) { return text, nil }
	}
	late := func(ctx context.Context, _ string, _ any) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	lateAndDeaf := func(context.Context, string, any) (string, error) {
		time.Sleep(3 * second)
		return current("null"), nil
	}
	number := func(field, value string) string {
		return current(strings.Replace(item("a-1", false), field+`":`, field+`":`+value+`,"x":`, 1))
	}
	for _, c := range []struct {
		name    string
		methods []string
		answer  func(context.Context, string, any) (string, error)
		allowed bool
		refusal string
		exempt  string
	}{
		{"nothing open", both, answers(current("null")), true, "", ""},
		{"advisory", both, answers(current(item("a-1", false))), true, "", ""},
		{"blocking", both, answers(current(item("a-1", true))), false, "acknowledge a-1", ""},
		{"no capability", []string{"tools/list"}, answers(current(item("a-1", true))), true, "", "no attention capability"},
		{
			"server gone", both, func(context.Context, string, any) (string, error) { return "", errGone }, false,
			"connection reset by peer", "",
		},
		{"answer late", both, late, false, "no answer in time", ""},
		{"answer late, and the client does not look at the time", both, lateAndDeaf, false, "no answer in time", ""},
		{
			"number with a fraction", both, answers(number("latestSequence", "9.5")), false,
			`"latestSequence" must be an integer`, "",
		},
		{"number in another form", both, answers(number("openedAtSequence", "7e0")), true, "", ""},
		{"no item at all", both, answers(`{}`), false, `"attention" is missing`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{answer: c.answer}
				for _, open := range []bool{false, true} {
					g := newGate(t, gate.Config{Source: gate.Remote(p, c.methods), FailOpen: open})
					start := time.Now()
					d := g.Check(t.Context(), gate.Call{ID: "1", Tool: "colony/build", Consumer: "agent"})
					require.LessOrEqual(t, time.Since(start), 3*second)
					failed := c.refusal != "" && c.name != "blocking"
					require.Equal(t, failed, d.Err != nil)
					if open && failed {
						require.True(t, d.Allowed)
						require.Contains(t, d.Exempt, "fail open: ")
						require.Empty(t, d.Refusal)
						require.Equal(t, gate.Result{Executed: true}, g.Done(t.Context(), d, event.StatusCompleted, ""))
						continue
					}
					require.Equal(t, c.allowed, d.Allowed)
					require.Contains(t, d.Refusal, c.refusal)
					require.Equal(t, c.refusal == "", d.Refusal == "")
					require.Equal(t, c.exempt, d.Exempt)
					require.Equal(t, c.allowed, g.Done(t.Context(), d, event.StatusCompleted, "").Executed)
				}
				if c.exempt != "" {
					require.Empty(t, p.asked, "who has no attention is never asked")
				}
			})
		})
	}
}

// TestRemoteRelated looks at what is in a result where the source keeps no account
// of calls: what was not open before.
func TestRemoteRelated(t *testing.T) {
	of := func(call string) string {
		return strings.Replace(item("a-1", false), `"summary"`, `"causalOperationId":"`+call+`","summary"`, 1)
	}
	for _, c := range []struct {
		name, id, before, after string
		related                 string
		failed                  bool
	}{
		{"nothing", "1", "null", "null", "", false},
		{"opened meanwhile", "1", "null", item("a-1", true), "a-1", false},
		{"was open before", "1", item("a-1", false), item("a-1", false), "", false},
		{"became blocking", "1", item("a-1", false), item("a-1", true), "a-1", false},
		{"another one", "1", item("a-1", false), item("a-2", true), "a-2", false},
		{"another one that does not block", "1", item("a-1", false), item("a-2", false), "a-2", false},
		{"names the call", "1", item("a-1", false), of("1"), "a-1", false},
		{"names another call", "1", item("a-1", false), of("2"), "", false},
		{"names no call, and the call has no name", "", item("a-1", false), item("a-1", false), "", false},
		{"cannot tell", "1", "null", "7", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := c.before
			p := &peer{answer: func(context.Context, string, any) (string, error) { return current(now), nil }}
			g := newGate(t, gate.Config{Source: gate.Remote(p, both)})
			d := g.Check(t.Context(), gate.Call{ID: c.id, Tool: "colony/build"})
			require.True(t, d.Allowed)
			now = c.after
			res := g.Done(t.Context(), d, event.StatusCompleted, "")
			require.True(t, res.Executed)
			require.Equal(t, c.failed, res.Err != nil)
			require.Equal(t, c.related != "", res.Related != nil)
			if res.Related != nil {
				require.Equal(t, c.related, res.Related.ID)
			}
		})
	}
}

func TestRemoteAck(t *testing.T) {
	var answer string
	p := &peer{answer: func(_ context.Context, _ string, params any) (string, error) {
		text, err := json.Marshal(params)
		require.NoError(t, err)
		require.JSONEq(t, `{"attentionId":"a-1"}`, string(text))
		return answer, nil
	}}
	g := newGate(t, gate.Config{Source: gate.Remote(p, both)})
	answer = `{"acknowledged":true,"attentionId":"a-1","currentAttention":null}`
	acked, err := g.Ack(t.Context(), "agent", "a-1", 0)
	require.NoError(t, err)
	require.Equal(t, heed.AckResult{Acknowledged: true, ID: "a-1"}, acked)
	answer = `{"acknowledged":false,"attentionId":"a-1","currentAttention":` + item("a-2", true) + `}`
	acked, err = g.Ack(t.Context(), "agent", "a-1", 0)
	require.NoError(t, err)
	require.False(t, acked.Acknowledged)
	require.True(t, acked.Open)
	require.Equal(t, "a-2", acked.Current.ID)
	for _, answer = range []string{
		`{}`, `{"acknowledged":true}`, `{"currentAttention":null}`,
		`{"acknowledged":true,"currentAttention":1}`,
	} {
		_, err = g.Ack(t.Context(), "agent", "a-1", 0)
		require.Error(t, err, answer)
	}
	_, err = newGate(t, gate.Config{Source: gate.Remote(p, nil)}).Ack(t.Context(), "agent", "a-1", 0)
	require.ErrorIs(t, err, gate.ErrNoAttention)
}

func TestExempt(t *testing.T) {
	e := newEngine(t)
	e.Log(broken("1"))
	g := newGate(t, gate.Config{Source: gate.Engine(e, nil), Allow: []string{"saves/*", "debug/**", "game/stop"}})
	for _, c := range []struct {
		tool   string
		tags   []string
		exempt string // "" is refused
	}{
		{"saves/list", nil, "owner's list: saves/*"},
		{"saves/list", []string{"read-only"}, "owner's list: saves/*"},
		{"saves", nil, ""},
		{"saves/", nil, ""},
		{"saves/a/b", nil, ""},
		{"Saves/list", nil, ""},
		{"saves/list/", nil, ""},
		{"debug/a/b", nil, "owner's list: debug/**"},
		{"debug/a", nil, "owner's list: debug/**"},
		{"debug", nil, ""},
		{"game/stop", nil, "owner's list: game/stop"},
		{"game/stop_now", nil, ""},
		{"game/stopped", nil, ""},
		{"colony/look", []string{"Read-Only"}, "tag: read-only"},
		{"colony/look", []string{"colony", "attention-bypass"}, "tag: attention-bypass"},
		{"colony/reset_status", []string{"mutating"}, ""},
		{"colony/logs", nil, ""},
		{"status", nil, ""},
		{"", nil, ""},
		{"colony/reset", []string{"read-only-but-deletes"}, ""},
		{"colony/reset", []string{"not-read-only"}, ""},
		{"colony/reset", []string{"read", "status ", ""}, ""},
	} {
		call := gate.Call{ID: c.tool, Tool: c.tool, Tags: c.tags}
		d := g.Check(t.Context(), call)
		require.Equal(t, c.exempt, d.Exempt, "%s %v", c.tool, c.tags)
		require.Equal(t, c.exempt != "", d.Allowed, "%s %v", c.tool, c.tags)
		require.False(t, call.Diagnostic() && c.exempt == "", "%s %v", c.tool, c.tags)
	}
}

// TestJournal looks at what becomes an operation, and what does not.
func TestJournal(t *testing.T) {
	e := newEngine(t)
	clock := time.Unix(1_700_000_000, 0)
	g := newGate(t, gate.Config{Source: gate.Engine(e, func() time.Time {
		clock = clock.Add(time.Second)
		return clock
	})})
	for i, c := range []gate.Call{
		{Tool: "colony/build"},
		{Tool: "colony/look", Tags: []string{"read-only"}},
		{Tool: "heed/entries", Diagnostics: true},
		{Tool: "game/stop", Tags: []string{"lifecycle"}},
	} {
		c.ID = fmt.Sprint(i)
		d := g.Check(t.Context(), c)
		require.True(t, d.Allowed)
		res := g.Done(t.Context(), d, event.StatusFailed, "no wood")
		require.Equal(t, !c.Diagnostic(), res.Verdict.Known)
	}
	p := e.Read(heed.Cursor{}, 100, heed.Filter{Kinds: []event.Kind{event.KindOperation}})
	var said []string
	for _, r := range p.Records {
		said = append(said, fmt.Sprint(r.Time.Unix()-1_700_000_000, " ", r.Source, " ", r.Status, r.Message))
	}
	require.Equal(t, []string{
		"1 colony/build started", "2 colony/build failedno wood", "3 game/stop started", "4 game/stop failedno wood",
	}, said)
	e.Log(broken("1"))
	n := e.Latest().Seq
	require.False(t, g.Check(t.Context(), gate.Call{ID: "9", Tool: "colony/build"}).Allowed)
	require.Equal(t, n, e.Latest().Seq, "what was not executed is no operation")
}

func TestValidate(t *testing.T) {
	e := newEngine(t)
	source := gate.Engine(e, nil)
	for want, c := range map[string]gate.Config{
		"Source is nil":          {},
		"Timeout is negative":    {Source: source, Timeout: -1},
		"Allow[1]":               {Source: source, Allow: []string{"a", ""}},
		"whole segment":          {Source: source, Allow: []string{"saves/l*"}},
		"means one whole":        {Source: source, Allow: []string{"**/a"}},
		"would allow every tool": {Source: source, Allow: []string{"**"}},
		"space around":           {Source: source, Allow: []string{"a/ b"}},
	} {
		_, err := gate.New(c)
		require.ErrorContains(t, err, want)
	}
}

// testRules know three kinds of trouble.
const testRules = `version: 1
rules:
  - {id: broken, when: 'template startsWith "Broken"', disposition: blocking, invalidates: true, summary: something broke}
  - {id: worse, when: 'template startsWith "Worse"', disposition: blocking, severity: fatal}
  - {id: odd, when: 'template startsWith "Odd"', disposition: advisory}
  - {id: failed, when: 'kind == "operation" and status == "failed"', disposition: advisory}
`

func newEngine(t testing.TB) *heed.Engine {
	t.Helper()
	set, err := rules.Compile(rules.File{Name: "test.yaml", Data: []byte(testRules)})
	require.NoError(t, err)
	e, err := heed.New(heed.Config{Rules: set, Epoch: "e1"})
	require.NoError(t, err)
	return e
}

// peer answers over GABP as a test says.
type peer struct {
	mu     sync.Mutex
	answer func(ctx context.Context, method string, params any) (string, error)
	asked  []string
}

func (p *peer) Call(ctx context.Context, method string, params, result any) error {
	p.mu.Lock()
	p.asked = append(p.asked, method)
	p.mu.Unlock()
	text, err := p.answer(ctx, method, params)
	if err != nil {
		return err
	}
	return decodeStrictly(text, result)
}

var both = []string{"attention/current", "attention/ack"}

var errGone = errors.New("connection reset by peer")

func newGate(t testing.TB, c gate.Config) *gate.Gate {
	t.Helper()
	g, err := gate.New(c)
	require.NoError(t, err)
	return g
}

func broken(n string) event.Log { return event.Log{Message: "Broken thing " + n} }

const second = time.Second
