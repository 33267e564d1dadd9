package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
)

// TestBriefInRefusal holds that a refusal has a short brief of its item, and that it comes without one, and soon, where
// the brief fails. If the brief takes long, the refusal has a sample.
func TestBriefInRefusal(t *testing.T) {
	var asked briefing.Request
	for name, c := range map[string]struct {
		brief Briefer
		want  string
		after time.Duration
	}{
		"there is one": {
			func(_ context.Context, r briefing.Request) (*briefing.Context, error) {
				asked = r
				content := "[attention a] blocking error: broke\n> Broken thing\nNext: call heed/item with id a\n"
				return &briefing.Context{Fragments: []briefing.Fragment{{SourceID: r.WorkOrderID + "@1", Content: content}}}, nil
			}, "\n> Broken thing\nAdvice: Update the mod added or updated last; ", 0,
		},
		"it fails": {
			func(context.Context, briefing.Request) (*briefing.Context, error) {
				return nil, errors.New("no")
			}, "", 0,
		},
		"it takes long, and looks at no context": {
			func(context.Context, briefing.Request) (*briefing.Context, error) {
				time.Sleep(time.Minute)
				return &briefing.Context{Text: "late"}, nil
			}, "\n> Broken thing\nNext: ", refusalBriefWithin,
		},
		"nobody assembles any": {nil, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := modOf(done)
			begin(t, Config{Brief: c.brief}, session.Config{}, m, func(t *testing.T, p *play) {
				p.session.Observe(event.Log{Message: "Broken thing"}.Entry())
				began := time.Now()
				_, e := p.call("colony/build")
				require.Equal(t, c.after, time.Since(began))
				h := p.held(e)
				require.Equal(t, c.want == "", h.Attention.Sample != nil, "samples in place of a brief")
				require.Contains(t, e.Message, c.want)
				if c.want != "" && c.after == 0 {
					require.Len(t, strings.Split(e.Message, "\n"), 4)
					require.Equal(t, briefing.Request{
						AgentClass: "agent", TemplateOverride: "agent", WorkOrderID: h.Attention.ID, MaxContextTokens: 200,
					}, asked)
				}
				time.Sleep(2 * time.Minute) // what goes on ends
			})
		})
	}
}

// TestBriefByOwnTemplate holds that a brief is bounded in tokens and in time, whatever a caller's template says.
func TestBriefByOwnTemplate(t *testing.T) {
	const template = `{"template_id": "own", "pipeline": [{"type": "ledger_query"}],
		"budget": {"max_context_tokens": %d}}`
	for _, c := range []struct {
		template int
		tokens   any
		want     int
	}{
		{0, nil, MaxBriefTokens}, {MaxBriefTokens + 1, nil, MaxBriefTokens}, {300, nil, 0}, {0, 400, 400}, {300, 400, 400},
	} {
		var asked briefing.Request
		var left time.Duration
		brief := func(ctx context.Context, r briefing.Request) (*briefing.Context, error) {
			asked = r
			until, _ := ctx.Deadline()
			left = time.Until(until)
			return &briefing.Context{Text: r.Template.TemplateID}, nil
		}
		begin(t, Config{Brief: brief}, session.Config{}, modOf(nil), func(t *testing.T, p *play) {
			args := map[string]any{"templateText": fmt.Sprintf(template, c.template)}
			if c.tokens != nil {
				args["tokens"] = c.tokens
			}
			answer, err := p.bridge.CallTool(p.ctx, ToolBrief, args)
			require.NoError(t, err)
			require.Contains(t, string(answer), "own")
			require.Equal(t, c.want, asked.MaxContextTokens)
			require.Equal(t, briefWithin, left)
		})
	}
}

// TestBriefRequests is the table of requests for briefs, and of the errors of those that fail.
func TestBriefRequests(t *testing.T) {
	const own = `{"template_id": "own", "pipeline": [{"type": "ledger_query"}], "budget": {"max_context_tokens": 900}}`
	var asked briefing.Request
	var template string
	var fails error
	fake := func(_ context.Context, r briefing.Request) (*briefing.Context, error) {
		asked, template = r, ""
		if r.Template != nil {
			asked.Template, template = nil, r.Template.TemplateID
		}
		if fails != nil {
			return nil, fails
		}
		return &briefing.Context{Text: "text", Fragments: []briefing.Fragment{{Refs: map[string]string{"log": "x"}}}}, nil
	}
	synctest.Test(t, func(t *testing.T) {
		s, err := session.New(session.Config{})
		require.NoError(t, err)
		id := s.Raise(heed.Report{Key: "k", Disposition: event.Blocking, Summary: "broke"})
		ask := func(arguments map[string]any) (*Brief, error) {
			raw, err := json.Marshal(arguments)
			require.NoError(t, err)
			if arguments == nil {
				raw = nil
			}
			d := NewDiagnostics(s, fake, NoLimits)
			result, _, err := d.Call(t.Context(), "me", gabp.ToolCall{Name: ToolBrief, Arguments: raw})
			if err != nil {
				return nil, err
			}
			return result.(*Brief), nil
		}
		for _, c := range []struct {
			arguments map[string]any
			want      briefing.Request
			template  string
		}{
			{nil, briefing.Request{TemplateOverride: "agent"}, ""},
			{
				map[string]any{"id": id, "tokens": 300},
				briefing.Request{TemplateOverride: "agent", WorkOrderID: id, MaxContextTokens: 300},
				"",
			},
			{map[string]any{"template": "person"}, briefing.Request{TemplateOverride: "person"}, ""},
			{map[string]any{"templateText": own}, briefing.Request{TemplateOverride: "own"}, "own"},
		} {
			out, err := ask(c.arguments)
			require.NoError(t, err)
			c.want.AgentID, c.want.AgentClass = "me", c.want.TemplateOverride
			require.Equal(t, []any{c.want, c.template}, []any{asked, template})
			require.Equal(t, "text", out.Text)
			require.Empty(t, out.Fragments[0].Refs, "texts of peers")
		}
		out, err := ask(map[string]any{"format": "markdown"})
		require.NoError(t, err)
		require.Equal(t, out.Markdown(), out.Text)
		for says, c := range map[string]struct {
			arguments map[string]any
			fails     error
		}{
			"either template or templateText":           {map[string]any{"template": "agent", "templateText": "x"}, nil},
			"a template: ":                              {map[string]any{"templateText": "x: ["}, nil},
			"what is not known; open: 1":                {map[string]any{"id": "77"}, nil},
			"tokens: want as many as what blocks takes": {nil, fmt.Errorf("900: %w", briefing.ErrRequired)},
			`no\x1b disk`:                               {nil, errors.New("no\x1b disk")},
		} {
			fails = c.fails
			_, err := ask(c.arguments)
			require.ErrorContains(t, err, says)
		}
		fake = nil
		_, err = ask(nil)
		requireCode(t, gabp.CodeToolUnavailable, err)
	})
}

func requireCode(t *testing.T, code int, err error) {
	t.Helper()
	e, ok := errors.AsType[*gabp.Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, code, e.Code, e.Message)
}

// TestBound holds how much of an explanation is shown: the trials that came closest, the beginnings of
// their texts.
func TestBound(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, n := range []int{maxTrials, maxTrials + 1, maxTrials + 2} {
		x := rules.Explanation{Omitted: 5}
		for i := range n {
			x.Trials = append(x.Trials, rules.Trial{ID: fmt.Sprint(i)})
		}
		bound(&x)
		require.Len(t, x.Trials, maxTrials)
		require.Equal(t, fmt.Sprint(n-maxTrials), x.Trials[0].ID)
		require.Equal(t, 5+n-maxTrials, x.Omitted)
	}
	shared := []string{long}
	x := rules.Explanation{
		Trials: []rules.Trial{
			{Clauses: []rules.Clause{{Text: long}}, AddsTags: []string{long}},
			{Exception: &rules.Clause{
				Text: long, Words: []string{long}, Place: long, Error: long, Reads: map[string]string{"r": long},
			}},
		},
		Decision: rules.Details{Rule: long, Summary: long, Tags: shared},
		Without:  &rules.Details{Why: long, Resolves: []string{long}},
	}
	bound(&x)
	require.Len(t, []rune(x.Trials[0].AddsTags[0]), maxSaid)
	e := x.Trials[1].Exception
	for _, text := range []string{
		x.Trials[0].Clauses[0].Text, e.Text, e.Words[0], e.Place, e.Error, e.Reads["r"], x.Decision.Rule, x.Decision.Summary,
		x.Decision.Tags[0], x.Without.Why, x.Without.Resolves[0],
	} {
		require.Len(t, []rune(text), maxSaid)
	}
	require.Equal(t, long, shared[0], "the rules have them, too")
}

// TestExplainedTemplate holds how much of a template is shown.
func TestExplainedTemplate(t *testing.T) {
	var out Explanation
	in := out.input(&event.Entry{}, nil,
		strings.Repeat("t", defaultChars+1)+"\n"+lines(maxFrames+1, strings.Repeat("f", frameChars+1)))
	require.Len(t, []rune(out.Template), defaultChars)
	require.Len(t, out.Frames, maxFrames)
	require.Len(t, []rune(out.Frames[0]), frameChars)
	require.Len(t, in.Template, defaultChars+1, "rules see all of it")
	out.input(&event.Entry{}, nil, "t")
	require.Equal(t, []string{}, out.Frames)
}

// TestAgree holds what is said of a decision that the rules would not make now.
func TestAgree(t *testing.T) {
	was := event.Decision{Rule: "a", Disposition: event.Blocking}
	host, other, ignored := was, was, was
	host.Rule, other.Rule, ignored.Disposition = "host.raised", "b", event.Ignore
	for says, c := range map[string]struct {
		record journal.Record
		now    event.Decision
	}{
		"the host decided this itself":                     {journal.Record{Decision: host}, was},
		"the host or another version of the rules decided": {journal.Record{Decision: was}, ignored},
		"the rules received text that heed did not keep":   {journal.Record{Decision: was, Truncated: true}, other},
	} {
		var out Explanation
		out.agree(&c.record, &rules.Outcome{Decision: c.now})
		require.False(t, out.Agrees)
		require.Equal(t, says, out.Differs[len(out.Differs)-1])
	}
}

// TestTexts holds how texts, numbers and times are cut to what is shown.
func TestTexts(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
		cut   bool
	}{
		{"abc", 3, "abc", false}, {"abcd", 3, "ab…", true}, {"a\nb", 9, `a\nb`, false}, {"a\nbcd", 3, `a…`, true}, {"", 3, "", false},
	} {
		got, cut := logText(c.text, c.limit)
		require.Equal(t, c.want, got)
		require.Equal(t, c.cut, cut, c.text)
	}
	for _, c := range []struct {
		text         string
		lines, chars int
		want         []string
		cut          bool
	}{
		{"a\r\nb\nc", 3, 9, []string{"a", "b", "c"}, false},
		{"a\nb\nc", 2, 9, []string{"a", "b"}, true},
		{"abc\ndef", 3, 3, []string{"abc"}, true},
		{"abc\ndef", 3, 5, []string{"abc", "d…"}, true},
		{"abcdef\ng", 3, 4, []string{"abc…"}, true},
		{"", 3, 3, nil, false},
	} {
		got, cut := logLines(c.text, c.lines, c.chars)
		require.Equal(t, c.want, got, c.text)
		require.Equal(t, c.cut, cut, c.text)
	}
	require.EqualValues(t, 1<<53-1, integer(1<<53))
	require.EqualValues(t, 1<<53-1, integer(1<<53-1))
	require.EqualValues(t, 7, integer(7))
	require.Equal(t, []string{"a", "b"}, allNamed([]string{"a", "b", "c"}, 2))
	require.Equal(t, []string{"a"}, allNamed([]string{"a"}, 2))
	for year, kept := range map[int]bool{0: false, 1: true, 9999: true, 10000: false} {
		require.Equal(t, kept, !stamp(time.Date(year, 7, 1, 0, 0, 0, 0, time.UTC)).IsZero(), year)
	}
	zone := time.FixedZone("", 3600)
	require.Equal(t, time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC), stamp(time.Date(2026, 1, 1, 10, 0, 0, 0, zone)))
}

// TestShown holds that what a timeline has is bounded.
func TestShown(t *testing.T) {
	long := strings.Repeat("x", 1000)
	e := session.Event{
		Number: 1 << 60, CleanThrough: 1 << 60, Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), Reason: long,
		Consumer: long, Tool: long, Operation: long, Request: long, Attention: long, Successor: long,
		Covered: []string{long},
	}
	fit(reflect.ValueOf(&e))
	require.EqualValues(t, maxInteger, e.Number)
	require.EqualValues(t, maxInteger, e.CleanThrough)
	require.True(t, e.Time.IsZero())
	for _, s := range append(e.Covered, e.Reason, e.Consumer, e.Tool, e.Operation, e.Request, e.Attention, e.Successor) {
		require.Len(t, []rune(s), maxSaid)
	}
}

// TestEntryStack holds how much of a stack is shown, and how long it is said to be.
func TestEntryStack(t *testing.T) {
	record := func(stack string) *journal.Record {
		return &journal.Record{Entry: event.Entry{Message: "m", Stack: stack}}
	}
	for stack, n := range map[string]int{"": 0, "\n": 0, "a": 1, "a\nb\r\n": 2} {
		e := look{Chars: 10}.entry(record(stack))
		require.Equal(t, n, e.StackLines, stack)
		require.Nil(t, e.Stack)
		require.False(t, e.Cut)
	}
	e := look{Chars: 10, Stack: true}.entry(record(strings.Repeat("a", 19) + "\nb\nc"))
	require.Equal(t, []string{strings.Repeat("a", 19), "b"}, e.Stack)
	require.True(t, e.Cut)
	e = look{Chars: 1, Stack: true}.entry(&journal.Record{Entry: event.Entry{Message: "mm", Stack: "a"}})
	require.True(t, e.Cut, "the message")
	e = look{Chars: 1000, Stack: true}.entry(record(lines(maxStackLines, "a")))
	require.Len(t, e.Stack, maxStackLines)
	require.False(t, e.Cut)
	e = look{Chars: 1000, Stack: true}.entry(record(lines(maxStackLines+1, "a")))
	require.Len(t, e.Stack, maxStackLines)
	require.True(t, e.Cut)
}

func lines(n int, text string) string { return strings.TrimSuffix(strings.Repeat(text+"\n", n), "\n") }

// TestPageSize holds that a page has as many entries as fit, and one in any case.
func TestPageSize(t *testing.T) {
	l := look{Chars: maxPageBytes}
	sized := func(n int) journal.Record {
		r := journal.Record{Entry: event.Entry{Message: "x"}}
		e := l.entry(&r)
		r.Message = strings.Repeat("x", n-len(Encode(&e))+1)
		return r
	}
	for _, c := range []struct {
		sizes []int
		want  int
	}{
		{[]int{maxPageBytes - 1000, 1000}, 2},
		{[]int{maxPageBytes - 1000, 1001}, 1},
		{[]int{maxPageBytes + 1, 1000}, 1},
		{[]int{1000, maxPageBytes, 1000}, 1},
		{nil, 0},
	} {
		var records []journal.Record
		for _, n := range c.sizes {
			records = append(records, sized(n))
		}
		require.Len(t, l.entries(records), c.want, c.sizes)
	}
}
