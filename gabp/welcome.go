package gabp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// greet answers messages before the session is open. An error ends it.
func (s *ServerSession) greet(ctx context.Context, m *message) error {
	if m.Method != methodHello {
		s.refuse(m, Errorf(codeAuthRequired, "send session/hello first"))
		return nil
	}
	h, err := parseHello(m.Params)
	if token := sha256.Sum256([]byte(h.Token)); h.Token != "" &&
		subtle.ConstantTimeCompare(token[:], s.server.token[:]) != 1 {
		err = Errorf(CodeAuthFailed, "authentication failed")
	}
	if err != nil {
		if e := asError(err); e.Code == CodeAuthFailed || e.Code == codeAuthRequired {
			s.server.count(func(c *ServerStats) { c.AuthFailures++ })
		}
		s.refuse(m, err)
		return err
	}
	if h.ClientInfo != nil {
		s.Client = h.ClientInfo.Name
	}
	s.Consumer = safeName(cmp.Or(s.Client, "bridge"), 40) + "#" + safeName(h.LaunchID, 16)
	w, err := s.welcome(ctx)
	if err != nil {
		s.refuse(m, err)
		return fmt.Errorf("gabp: welcome: %w", err)
	}
	s.channels = w.Capabilities.Events
	s.greeted.Store(true)
	s.server.count(func(c *ServerStats) { c.Sessions++ })
	s.conn.readBy = time.Time{}
	s.conn.maxRead.Store(int64(s.server.limits.MessageSize))
	s.server.log.Debug("gabp: session", "session", s.id, "consumer", s.Consumer)
	s.answer(m.ID, w, nil, nil)
	return nil
}

func (s *ServerSession) welcome(ctx context.Context) (Welcome, error) {
	cfg := &s.server.cfg
	w := Welcome{
		AgentID: cfg.AgentID, App: cfg.App, SchemaVersion: schemaVersion, ServerInfo: cfg.ServerInfo,
		Capabilities: s.server.capabilities(),
	}
	if cfg.Welcome != nil {
		if err := cfg.Welcome(s.conn.whileOpen(ctx), s, &w); err != nil {
			return w, err
		}
	}
	w.Capabilities.normalize(s.server.cfg.Lax)
	return w, nil
}

// capabilities returns the capabilities of the host and the server.
func (s *Server) capabilities() Capabilities {
	var c Capabilities
	if s.cfg.Capabilities != nil {
		c = s.cfg.Capabilities()
	}
	methods := []string{methodHello, methodPing, methodGoodbye, methodEventsSubscribe, methodEventsUnsub, methodEventsList}
	c.Methods = slices.Concat(methods, s.cfg.Mux.methods(), c.Methods)
	c.Events = slices.Concat(c.Events, s.cfg.Mux.channels)
	if t := s.cfg.Mux.resources; t != nil {
		c.Resources = slices.Clip(c.Resources)
		for _, r := range t.list.all() {
			c.Resources = append(c.Resources, r.URI)
		}
	}
	c.Limits = &WireLimits{
		MaxMessageSize:        s.limits.MessageSize,
		MaxConcurrentRequests: s.limits.ConcurrentRequests,
		RequestTimeout:        int(max(1, s.limits.RequestTimeout/time.Second)),
	}
	return c
}

// normalize makes c follow the schema: lists without repetition, and names that the
// protocol allows. The host's lists are not changed.
func (c *Capabilities) normalize(lax bool) {
	c.Methods = distinct(c.Methods, func(m string) bool { return lax || ValidName(m) })
	c.Events = distinct(c.Events, func(e string) bool { return e != "" && len(e) <= maxNameBytes })
	c.Resources = distinct(c.Resources, func(r string) bool { return r != "" })
}

func distinct(list []string, keep func(string) bool) []string {
	seen := make(map[string]bool, len(list))
	out := make([]string, 0, len(list))
	for _, s := range list {
		if !seen[s] && keep(s) {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// unsafeInName is what no name of a consumer has.
var unsafeInName = regexp.MustCompile(`[^a-zA-Z0-9._-]`)

// safeName returns at most limit bytes of s, with '_' for all but letters, digits, '.', '_' and '-' of ASCII.
func safeName(s string, limit int) string {
	return unsafeInName.ReplaceAllString(s[:min(len(s), limit)], "_")
}
