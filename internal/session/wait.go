package session

import (
	"context"
	"time"

	"github.com/heedlog/heed"
)

// pageLimit is how many records a page of [Session.Wait] has by default, and
// breath how long a waiter leaves the journal alone after a look in vain, so that
// a flood of entries that it does not want costs no look for each.
const (
	pageLimit = 100
	breath    = 2 * time.Millisecond
)

// Wait returns the first page of at most limit records (0 means 100) after a
// cursor that has records, a loss to tell of, or an error about the cursor. Where
// ctx ends before, it returns an empty page, whose Next is where to go on from, and
// the context's error.
func (s *Session) Wait(ctx context.Context, after heed.Cursor, limit int, f heed.Filter) (heed.Page, error) {
	if limit <= 0 {
		limit = pageLimit
	}
	s.waits.Add(1)
	defer s.waits.Add(-1)
	for {
		rung := s.bell.arm()
		p := s.engine.Read(after, limit, f)
		if len(p.Records) > 0 || p.Lost > 0 || p.Err != nil {
			return p, nil
		}
		after = p.Next
		if p.More {
			if ctx.Err() != nil {
				return p, ctx.Err()
			}
			continue
		}
		select {
		case <-ctx.Done():
			return p, ctx.Err()
		case <-rung:
		}
		pause := time.NewTimer(breath)
		p = s.engine.Read(after, limit, f)
		if len(p.Records) > 0 || p.Lost > 0 || p.Err != nil {
			pause.Stop()
			return p, nil
		}
		after = p.Next
		select {
		case <-ctx.Done():
			pause.Stop()
			return p, ctx.Err()
		case <-pause.C:
		}
	}
}
