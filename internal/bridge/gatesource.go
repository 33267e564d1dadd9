package bridge

import (
	"context"
	"sync"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/gate"
)

// source is the session as the gate sees it.
type source struct {
	gate.Recorder
	proxy *Proxy

	mu    sync.Mutex
	begun map[string]string // call → operation, from Check until the call is taken
}

// Current implements [gate.Source]. What cannot be seen is the plane's item, so that
// the gate and attention/current agree, and there is something to acknowledge.
func (s *source) Current(ctx context.Context, viewer string) (heed.Attention, bool, error) {
	p := s.proxy
	if p.cfg.NoAttention {
		return heed.Attention{}, false, gate.ErrNoAttention
	}
	if client := p.mod.current(); client != nil {
		p.hear(ctx, client)
	}
	a, open, err := s.Recorder.Current(ctx, viewer)
	if p.cfg.ObserveOnly {
		a.Blocking = false
		return a, open, nil
	}
	if err == nil || p.cfg.FailOpen {
		return a, open, err
	}
	current := p.plane.Current(ctx, viewer).Attention
	if current == nil {
		return heed.Attention{}, false, nil // acknowledged: go on all the same
	}
	return *current, true, nil
}

// Begin implements [gate.Recorder].
func (s *source) Begin(call gate.Call) gate.Running {
	running := s.Recorder.Begin(call)
	if r, ok := running.(interface{ ID() string }); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.begun[call.ID] = r.ID()
	}
	return running
}

// operation returns the operation that a call has become, and forgets it.
func (s *source) operation(call string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.begun[call]
	delete(s.begun, call)
	return id
}
