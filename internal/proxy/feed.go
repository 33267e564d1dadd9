package proxy

import (
	"context"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/internal/session"
)

// Feed returns log without the records that the mod has told of: see [Dedup].
func Feed(log session.Feed, d *Dedup) session.Feed { return feed{Feed: log, dedup: d} }

type feed struct {
	session.Feed
	dedup *Dedup
}

// Run implements [session.Feed].
func (f feed) Run(ctx context.Context, h follow.Handler) error {
	return f.Feed.Run(ctx, func(rec *follow.Record) {
		// What was there before anybody looked is of before the mod's events.
		if rec.Kind == capture.KindLog && !rec.History && !f.dedup.FromLog(rec.Log.Message, rec.Arrived) {
			return
		}
		h(rec)
	})
}
