package bridge

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/gabp"
)

// capabilities says what bridges may ask for beyond what is served here.
func (p *Proxy) capabilities() gabp.Capabilities {
	var c gabp.Capabilities
	if p.plane != nil {
		c.Events = p.plane.Channels()
	}
	for _, r := range p.cfg.Tools.Resources() {
		c.Resources = append(c.Resources, r.URI)
	}
	w, ok := p.mod.welcome()
	if !ok {
		return c
	}
	theirs := w.Capabilities
	if p.plane != nil {
		ours := func(name string) bool { return strings.HasPrefix(name, "attention/") }
		theirs.Events = slices.DeleteFunc(slices.Clone(theirs.Events), ours)
		theirs.Methods = slices.DeleteFunc(slices.Clone(theirs.Methods), ours)
	}
	c.Events = union(theirs.Events, c.Events)
	c.Resources = union(theirs.Resources, c.Resources)
	c.Methods = theirs.Methods
	c.Extensions = theirs.Extensions
	return c
}

// union returns the elements of both, in their order, each once.
func union(a, b []string) []string {
	out := make([]string, 0, len(a)+len(b))
	for _, s := range slices.Concat(a, b) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// welcome waits for the mod and then says what it said.
func (p *Proxy) welcome(ctx context.Context, session *gabp.ServerSession, w *gabp.Welcome) error {
	if !p.looksOn(session) {
		p.awaitMod(ctx)
		if ctx.Err() != nil { // it is over: nobody has arrived, and nobody is to come again
			return ctx.Err()
		}
		p.arrive(ctx, session)
	}
	theirs, ok := p.modFor(session)
	if !ok {
		return nil
	}
	if theirs.AgentID != "" {
		w.AgentID = theirs.AgentID
	}
	if theirs.App.Name != "" && theirs.App.Version != "" {
		w.App = theirs.App
	}
	w.ServerInfo = theirs.ServerInfo
	w.SchemaVersion = cmp.Or(theirs.SchemaVersion, w.SchemaVersion)
	w.Observed = p.cfg.Handed.observed(theirs.Observed)
	limits := w.Capabilities.Limits
	caps := p.capabilities()
	caps.Methods = union(caps.Methods, w.Capabilities.Methods) // the server's own
	caps.Limits = lesser(limits, theirs.Capabilities.Limits)
	w.Capabilities = caps
	return nil
}

// arrive tells the engine once that an agent has come: what was open before and does
// not hold any more is no reason to stop it. A bridge that comes again is no arrival,
// and neither is any after heed itself came again: the agent knows what was open.
func (p *Proxy) arrive(ctx context.Context, session *gabp.ServerSession) {
	p.arrival.Do(func() {
		if p.plane == nil || p.cfg.Session.Status().Restored {
			return
		}
		if err := p.sync(ctx); err != nil {
			p.log.Warn("what the log said before the agent came is not all known", "error", err)
			return
		}
		p.cfg.Session.Attach(session.Viewer())
	})
}

// looksOn reports whether a session is no agent's.
func (p *Proxy) looksOn(session *gabp.ServerSession) bool {
	client := session.Hello().ClientInfo
	return client != nil && client.Name != "" && client.Name == p.cfg.Observer
}

// modFor returns what the mod said of itself. Where it said nothing yet, it notes that
// the session is welcomed without it.
func (p *Proxy) modFor(session *gabp.ServerSession) (gabp.Welcome, bool) {
	p.earlyMu.Lock()
	defer p.earlyMu.Unlock()
	theirs, ok := p.mod.welcome()
	if !ok && p.mod.addr != "" && !p.looksOn(session) {
		p.early[session] = struct{}{}
	}
	return theirs, ok
}

// callBack disconnects the bridges that were welcomed without the mod.
func (p *Proxy) callBack() {
	p.earlyMu.Lock()
	defer p.earlyMu.Unlock()
	for session := range p.early {
		p.log.Info("a bridge is to come again, for the mod's tools", "bridge", session.Viewer())
		session.Close()
	}
	clear(p.early)
}

// ended forgets a session that is over.
func (p *Proxy) ended(session *gabp.ServerSession) {
	p.earlyMu.Lock()
	defer p.earlyMu.Unlock()
	delete(p.early, session)
}

func (p *Proxy) awaitMod(ctx context.Context) {
	if p.mod.addr == "" {
		return
	}
	timer := time.NewTimer(p.cfg.ModWait)
	defer timer.Stop()
	select {
	case <-p.mod.first:
	case <-p.gone:
	case <-timer.C:
	case <-ctx.Done():
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
