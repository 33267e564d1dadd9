package testkit

import (
	"strings"
	"sync"
)

// Buffer is a [strings.Builder] for several goroutines.
type Buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns all that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
