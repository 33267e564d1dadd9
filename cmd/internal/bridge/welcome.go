package bridge

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/heedlog/heed/gabp"
)

// capabilities returns the capabilities beyond the methods of the server.
func (p *Proxy) capabilities() gabp.Capabilities {
	var c gabp.Capabilities
	for _, r := range Resources() {
		c.Resources = append(c.Resources, r.URI)
	}
	w, ok := p.mod.welcome()
	if !ok {
		return c
	}
	theirs := w.Capabilities
	if p.attends {
		ours := func(name string) bool { return strings.HasPrefix(name, "attention/") }
		theirs.Events = slices.DeleteFunc(slices.Clone(theirs.Events), ours)
		theirs.Methods = slices.DeleteFunc(slices.Clone(theirs.Methods), ours)
	}
	theirs.Resources, theirs.Limits = slices.Concat(theirs.Resources, c.Resources), nil
	return theirs
}

// welcome waits for the mod and amends w with the mod's welcome.
func (p *Proxy) welcome(ctx context.Context, s *gabp.ServerSession, w *gabp.Welcome) error {
	if !p.observes(s) {
		p.waiting.Add(1)
		p.log.Debug("a bridge waits for the game's mod", "bridge", s.Consumer)
		p.mod.await(ctx, p.cfg.ModWait)
		p.waiting.Add(-1)
		if ctx.Err() != nil { // no agent has arrived
			return ctx.Err()
		}
		if refused := p.mod.refusal.Load(); refused != nil {
			return refused
		}
		p.Arrive(ctx, s.Consumer)
		p.agents.Add(1)
	}
	theirs, ok := p.mod.welcome()
	if !ok {
		return nil
	}
	w.AgentID = cmp.Or(theirs.AgentID, w.AgentID)
	if theirs.App.Name != "" && theirs.App.Version != "" {
		w.App = theirs.App
	}
	w.ServerInfo = theirs.ServerInfo
	w.SchemaVersion = cmp.Or(theirs.SchemaVersion, w.SchemaVersion)
	w.Observed = p.cfg.Handed.observed(theirs.Observed)
	caps := p.capabilities()
	caps.Methods = slices.Concat(caps.Methods, w.Capabilities.Methods) // the server's own
	caps.Events = slices.Concat(caps.Events, w.Capabilities.Events)
	caps.Limits = lesser(w.Capabilities.Limits, theirs.Capabilities.Limits)
	w.Capabilities = caps
	return nil
}

// Arrive records once that an agent has arrived, so that items from before do not stop it. A bridge that connects again
// is no arrival, and neither is an agent after a restart of heed during one game: the agent knows the open items.
func (p *Proxy) Arrive(ctx context.Context, consumer string) {
	p.arrival.Do(func() {
		if !p.attends || p.session.Continues() {
			return
		}
		if err := p.session.Gather(ctx); err != nil {
			p.log.Warn("the log from before the agent connected is not fully known", "error", err)
			return
		}
		p.session.Attach(consumer)
	})
}

// observes reports whether a session is no agent's.
func (p *Proxy) observes(s *gabp.ServerSession) bool {
	return p.cfg.Observer != "" && s.Client == p.cfg.Observer
}

// left counts an agent whose session is over.
func (p *Proxy) left(s *gabp.ServerSession) {
	if !p.observes(s) {
		p.agents.Add(-1)
	}
}

// lesser returns the lesser of each limit. A zero is none.
func lesser(a, b *gabp.WireLimits) *gabp.WireLimits {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	least := *a
	for _, l := range []struct{ of, other *int }{
		{&least.MaxMessageSize, &b.MaxMessageSize},
		{&least.MaxConcurrentRequests, &b.MaxConcurrentRequests},
		{&least.RequestTimeout, &b.RequestTimeout},
	} {
		if *l.of <= 0 || *l.other > 0 && *l.other < *l.of {
			*l.of = *l.other
		}
	}
	return &least
}
