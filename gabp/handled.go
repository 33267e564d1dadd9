package gabp

import "context"

// Handled waits until the events that came before the call have been handled, so
// that what a server told before it answered is known. The error is that of ctx.
func (c *Client) Handled(ctx context.Context) error { return c.events.wait(ctx) }

// wait waits until the events that are in the queue now, and the one that is being
// handled, are done with.
func (q *eventQueue) wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.filled.Broadcast()
	})
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting++
	defer func() { q.waiting-- }()
	for upTo := q.pushed; q.handled < upTo && !q.closed; q.filled.Wait() {
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return ctx.Err()
}
