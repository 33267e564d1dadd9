package main

import (
	"context"
	"fmt"
	"time"

	"github.com/heedlog/heed/briefing"
	"github.com/heedlog/heed/briefing/heedsource"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/rules"
)

// agent is the class of the template that is measured.
const agent = "agent"

// brief assembles what is known now of an item, or of all that is open where it is "".
func (g *game) brief(item string, tokens int) (*briefing.Context, error) {
	if g.service == nil {
		c := heedsource.Sources(heedsource.Config{
			Engine: g.engine,
			Rules:  func() *rules.Set { return g.set },
			Mods:   func() []capture.ListedMod { return g.mods },
			Place:  func(pos uint64) string { return fmt.Sprintf("line %d", pos) },
		})
		c.Now, c.CacheEntries = time.Now, -1
		var err error
		if g.service, err = briefing.New(c); err != nil {
			return nil, err
		}
	}
	return g.service.Assemble(context.Background(), briefing.Request{
		AgentClass: agent, WorkOrderID: item, MaxContextTokens: tokens,
	})
}
