package bridge

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/cmd/internal/brief"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
)

// TestRefusalInTokens holds that a bridge's agent reads, in place of a result, one line, the head of the brief once,
// and one way to continue: with the data of the error, in half of the 350 tokens that it took before.
func TestRefusalInTokens(t *testing.T) {
	var assemble Briefer
	lend := func(ctx context.Context, r briefing.Request) (*briefing.Context, error) { return assemble(ctx, r) }
	m := &fakeMod{tools: buildTool, answers: done}
	var cfg session.Config
	cfg.Engine.Epoch = "20261122T151144.661cf85f" // as long as each is
	begin(t, Config{Brief: lend}, cfg, m, func(t *testing.T, p *play) {
		briefs, err := briefing.New(heedsource.Sources(heedsource.Config{
			Engine: p.session.Engine(), Rules: p.session.Rules, Next: brief.SessionNext, Now: time.Now,
		}))
		require.NoError(t, err)
		defer briefs.Close() //nolint:errcheck // the test has ended
		assemble = briefs.Assemble
		p.session.Observe(event.Log{Message: "Starting"}.Entry())
		p.session.Observe(event.Log{
			Level: event.LevelError, Message: "Broken crane: System.NullReferenceException: Object reference not set",
			Stack: "  at Harbor.Crane.Tick () [0x00000] in <1>:0\n  at Verse.TickList.Tick () [0x00000] in <2>:0",
		}.Entry())
		_, e := p.call("colony/build")
		tokens := 0
		for line := range strings.Lines(e.Message + "\n" + string(e.Data)) {
			tokens += briefing.Tokens{}.Estimate(briefing.Line{Text: line})
		}
		require.LessOrEqual(t, tokens, 175)
		lines := strings.Split(e.Message, "\n")
		require.Equal(t, "Not executed: something broke (1 entry in 1 group).", lines[0])
		require.Contains(t, lines, "> Broken crane: System.NullReferenceException: Object reference not set")
		require.Equal(t, `Next: call heed/ack with id "1", then read the game's state again, then call colony/build again if it `+
			"is still wanted.", lines[len(lines)-1])
		require.Equal(t, 1, strings.Count(e.Message+string(e.Data), "/ack"))
	})
}
