package gabp

import (
	"slices"
	"sync"
)

// registry holds the tools or the resources of a host by name, in the order in which they were added.
type registry[T any] struct {
	mu    sync.RWMutex
	names []string
	held  []T
}

// set adds v, or replaces the value of its name.
func (r *registry[T]) set(name string, v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.names, name); i >= 0 {
		r.held[i] = v
		return
	}
	r.names, r.held = append(r.names, name), append(r.held, v)
}

// get returns the value of a name, or the zero T.
func (r *registry[T]) get(name string) (v T) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if i := slices.Index(r.names, name); i >= 0 {
		v = r.held[i]
	}
	return v
}

// all returns a copy of the list.
func (r *registry[T]) all() []T {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.held)
}
