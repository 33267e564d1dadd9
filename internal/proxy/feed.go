package proxy

import (
	"context"
	"time"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/live"
)

// Feed returns log without the records that the mod has told of: see [Dedup].
func Feed(log live.Feed, d *Dedup) live.Feed { return feed{Feed: log, dedup: d} }

type feed struct {
	live.Feed
	dedup *Dedup
}

// Run implements [live.Feed].
func (f feed) Run(ctx context.Context, take func(rec *capture.Record, arrived time.Time)) error {
	return f.Feed.Run(ctx, func(rec *capture.Record, arrived time.Time) {
		// What was there before anybody looked is of before the mod's events.
		if rec.Kind == capture.KindLog && !arrived.IsZero() && !f.dedup.FromLog(rec.Log.Message, arrived) {
			return
		}
		take(rec, arrived)
	})
}
