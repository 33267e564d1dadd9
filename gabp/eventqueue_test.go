package gabp

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHandledWaits(t *testing.T) {
	var q eventQueue
	q.init(&Limits{EventQueue: 2, MessageSize: 1024})
	require.NoError(t, q.wait(t.Context()), "nothing to wait for")
	for range 3 { // the first is dropped
		q.push(Event{Channel: "a"})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, q.wait(ended), context.Canceled)

	waited := make(chan error, 1)
	go func() { waited <- q.wait(t.Context()) }()
	for range 2 {
		_, ok := q.pop()
		require.True(t, ok)
	}
	select {
	case err := <-waited:
		require.Fail(t, "the last event is still being handled", err)
	default:
	}
	go q.pop() // done with it, and waits for the next
	require.NoError(t, <-waited)
	q.close()
}
