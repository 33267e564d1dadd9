package session

import "github.com/heedlog/heed/gabp/gate"

// Clear ends an open item; see [heed.Engine.Clear].
func (s *Session) Clear(id string) bool {
	s.enter()
	defer s.leave()
	return s.engine.Clear(id)
}

// Gate returns a gate for this session's calls: c with Source set.
func (s *Session) Gate(c gate.Config) (*gate.Gate, error) {
	c.Source = s.Source(c.FailOpen)
	return gate.New(c)
}
