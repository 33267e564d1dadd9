package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
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
			func(_ context.Context, r briefing.Request, _ *briefing.Template) (*briefing.Context, error) {
				asked = r
				return &briefing.Context{Text: "[attention a] broke\n"}, nil
			}, "[attention a] broke\n", 0,
		},
		"it fails": {
			func(context.Context, briefing.Request, *briefing.Template) (*briefing.Context, error) {
				return nil, errors.New("no")
			}, "", 0,
		},
		"it takes long, and looks at no context": {
			func(context.Context, briefing.Request, *briefing.Template) (*briefing.Context, error) {
				time.Sleep(time.Minute)
				return &briefing.Context{Text: "late"}, nil
			}, "", refusalBriefWithin,
		},
		"nobody assembles any": {nil, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := &fakeMod{tools: buildTool, answers: done}
			begin(t, Config{Brief: c.brief}, session.Config{}, m, func(t *testing.T, p *play) {
				p.session.Observe(event.Log{Message: "Broken thing"}.Entry())
				began := time.Now()
				_, e := p.call("colony/build")
				require.Equal(t, c.after, time.Since(began))
				h := p.held(e)
				var data struct{ Brief string }
				require.NoError(t, json.Unmarshal(e.Data, &data))
				require.Equal(t, c.want, data.Brief)
				if c.want != "" {
					require.Equal(t, briefing.Request{
						AgentClass: "agent", TemplateOverride: "agent", WorkOrderID: h.Attention.ID, MaxContextTokens: 600,
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
		brief := func(ctx context.Context, r briefing.Request, own *briefing.Template) (*briefing.Context, error) {
			asked = r
			until, _ := ctx.Deadline()
			left = time.Until(until)
			return &briefing.Context{Text: own.TemplateID}, nil
		}
		begin(t, Config{Brief: brief}, session.Config{}, &fakeMod{}, func(t *testing.T, p *play) {
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
