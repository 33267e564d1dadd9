package bridge

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
)

// bridges welcomes bridges with the mod's welcome.
type bridges struct {
	session   *session.Session
	mod       *mod
	handed    Handed
	modWait   time.Duration
	observer  string // name of clients that are no agents, "" for none
	attention bool   // is heed's, not the mod's
	log       *slog.Logger

	arrival sync.Once    // of the first agent
	waiting atomic.Int64 // agents that wait for the mod
	agents  atomic.Int64 // that are connected
}

// capabilities returns the capabilities beyond the methods of the server.
func (b *bridges) capabilities() gabp.Capabilities {
	var c gabp.Capabilities
	for _, r := range Resources() {
		c.Resources = append(c.Resources, r.URI)
	}
	w, ok := b.mod.welcome()
	if !ok {
		return c
	}
	theirs := w.Capabilities
	if b.attention {
		ours := func(name string) bool { return strings.HasPrefix(name, "attention/") }
		theirs.Events = slices.DeleteFunc(slices.Clone(theirs.Events), ours)
		theirs.Methods = slices.DeleteFunc(slices.Clone(theirs.Methods), ours)
	}
	theirs.Resources, theirs.Limits = slices.Concat(theirs.Resources, c.Resources), nil
	return theirs
}

// welcome waits for the mod and amends w with the mod's welcome.
func (b *bridges) welcome(ctx context.Context, s *gabp.ServerSession, w *gabp.Welcome) error {
	if !b.observes(s) {
		b.waiting.Add(1)
		b.log.Debug("a bridge waits for the game's mod", "bridge", s.Consumer)
		b.mod.await(ctx, b.modWait)
		b.waiting.Add(-1)
		if ctx.Err() != nil { // no agent has arrived
			return ctx.Err()
		}
		if refused := b.mod.refusal.Load(); refused != nil {
			return refused
		}
		b.arrive(ctx, s.Consumer)
		b.agents.Add(1)
	}
	theirs, ok := b.mod.welcome()
	if !ok {
		return nil
	}
	w.AgentID = cmp.Or(theirs.AgentID, w.AgentID)
	if theirs.App.Name != "" && theirs.App.Version != "" {
		w.App = theirs.App
	}
	w.ServerInfo = theirs.ServerInfo
	w.SchemaVersion = cmp.Or(theirs.SchemaVersion, w.SchemaVersion)
	w.Observed = b.handed.observed(theirs.Observed)
	caps := b.capabilities()
	caps.Methods = slices.Concat(caps.Methods, w.Capabilities.Methods) // the server's own
	caps.Events = slices.Concat(caps.Events, w.Capabilities.Events)
	caps.Limits = lesser(w.Capabilities.Limits, theirs.Capabilities.Limits)
	w.Capabilities = caps
	return nil
}

// arrive records once that an agent has arrived, so that items from before do not stop it. A bridge that connects again
// is no arrival, and neither is an agent after a restart of heed during one game: the agent knows the open items.
func (b *bridges) arrive(ctx context.Context, consumer string) {
	b.arrival.Do(func() {
		if !b.attention || b.session.Continues() {
			return
		}
		if err := b.session.Gather(ctx); err != nil {
			b.log.Warn("the log from before the agent connected is not fully known", "error", err)
			return
		}
		b.session.Attach(consumer)
	})
}

// observes reports whether a session is no agent's.
func (b *bridges) observes(s *gabp.ServerSession) bool {
	return b.observer != "" && s.Client == b.observer
}

// ended counts an agent whose session is over.
func (b *bridges) ended(s *gabp.ServerSession) {
	if !b.observes(s) {
		b.agents.Add(-1)
	}
}

// lesser returns the lesser of each limit. A zero is none.
func lesser(a, b *gabp.WireLimits) *gabp.WireLimits {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	least := func(x, y int) int {
		if x <= 0 || y <= 0 {
			return max(x, y)
		}
		return min(x, y)
	}
	return &gabp.WireLimits{
		MaxMessageSize:        least(a.MaxMessageSize, b.MaxMessageSize),
		MaxConcurrentRequests: least(a.MaxConcurrentRequests, b.MaxConcurrentRequests),
		RequestTimeout:        least(a.RequestTimeout, b.RequestTimeout),
	}
}
