package brief

import (
	"context"
	"time"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/brief"
	"github.com/heedlog/heed/rules"
)

// brief assembles a brief for an agent about an item, or about all open items for "".
func (g *game) brief(item string, tokens int) (*briefing.Context, error) {
	if g.service == nil {
		var err error
		g.service, err = briefing.New(heedsource.Sources(heedsource.Config{
			Engine:      g.Engine,
			Rules:       func() *rules.Set { return g.set },
			Mods:        func() []capture.ListedMod { return g.Mods.Mods },
			Environment: g.Began.Facts,
			Next:        brief.SessionNext,
			Now:         g.now,
		}))
		if err != nil {
			return nil, err
		}
	}
	return g.service.Assemble(context.Background(), briefing.Request{
		AgentClass: heedsource.TemplateAgent, WorkOrderID: item, MaxContextTokens: tokens,
	})
}

// close closes the service of the first brief.
func (g *game) close() error {
	if g.service == nil {
		return nil
	}
	return g.service.Close()
}

// still is a clock that never moves: no budget of time changes a text.
func still() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }
