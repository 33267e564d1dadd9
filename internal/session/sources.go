package session

import (
	"slices"

	"github.com/heedlog/heed/rules"
)

// RuleSources returns the texts of the rules that decide, the embedded ones
// included, so that a [rules.Explainer] can be made of them. They are those of
// [Session.Rules] where the hash of what they compile to says so: of rules that a
// host compiled itself no text is known. They are read only.
func (s *Session) RuleSources() []rules.File {
	w := &s.rules
	w.mu.Lock()
	defer w.mu.Unlock()
	sources := slices.Clip(w.texts)
	if w.defaults {
		sources = append(sources, rules.Defaults()...)
	}
	return sources
}
