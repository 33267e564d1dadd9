package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
)

// TestBriefInRefusal holds that a refusal has a short brief of its item, and that it comes without one, and soon, where
// the brief fails or takes long.
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
			}, "", refusalBriefWithin,
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
				require.Equal(t, 2+2*strings.Count(c.want, "> "), len(strings.Split(e.Message, "\n")))
				if c.want != "" {
					require.Contains(t, e.Message, c.want)
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
		{0, nil, maxBriefTokens}, {maxBriefTokens + 1, nil, maxBriefTokens}, {300, nil, 0}, {0, 400, 400}, {300, 400, 400},
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
