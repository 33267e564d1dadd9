package bridge

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
)

// The bounds of a [Dedup]. An event comes within milliseconds of its record, the line in the file within tens of them;
// the window leaves time for a busy machine.
const (
	dedupWindow = 5 * time.Second
	dedupTexts  = 4096
	dedupBytes  = 160 // of the first line: mods cut messages
)

// Dedup recognizes a record that comes by two ways, through the followed log and as an event of the mod, so that it
// counts once. Each way's records of a text are counted against the other's: the first is ingested, and its duplicate
// dropped. A text is identified by the first 160 bytes of its first line.
//
// The event has more data: the level, and the operation. A second record is also ingested if it is the first of its
// text with a level or an operation: a duplicate is better than a record without its level.
//
// A record that comes later than 5 s after the latest of its text is another one. Beyond 4,096 texts the least recently
// seen is evicted, and its duplicates count twice. A Dedup is safe for concurrent use.
type Dedup struct {
	mu    sync.Mutex
	texts *simplelru.LRU[string, *sighting]
}

// sighting is the state of a text.
type sighting struct {
	balance int  // events minus records of the log
	leveled bool // a level or an operation came
	at      time.Time
}

// NewDedup returns a Dedup that has seen nothing.
func NewDedup() *Dedup { return &Dedup{texts: newLRU[*sighting](dedupTexts)} }

// FromLog records a record of the followed log, and reports whether it is to be ingested.
func (d *Dedup) FromLog(message string, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.see(message, now)
	s.balance--
	return s.balance < 0
}

// FromMod records a record that the mod sent, and reports whether it is to be ingested. More means that it has a level
// or an operation.
func (d *Dedup) FromMod(message string, more bool, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.see(message, now)
	s.balance++
	news := more && !s.leveled
	s.leveled = s.leveled || more
	return s.balance > 0 || news
}

// dedupKey is what identifies a text.
func dedupKey(message string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(message, "\r\n"), "\n")
	line = strings.TrimRight(line, " \t\r")
	return line[:min(len(line), dedupBytes)]
}

func (d *Dedup) see(message string, now time.Time) *sighting {
	key := dedupKey(message)
	s, known := d.texts.Get(key)
	switch {
	case !known:
		s = &sighting{}
		d.texts.Add(strings.Clone(key), s)
	case now.Sub(s.at) > dedupWindow:
		*s = sighting{}
	}
	s.at = now
	return s
}

// Feed returns log without the records that the mod has sent: see [Dedup].
func Feed(log session.Feed, d *Dedup) session.Feed { return feed{Feed: log, dedup: d} }

type feed struct {
	session.Feed
	dedup *Dedup
}

// Run implements [session.Feed].
func (f feed) Run(ctx context.Context, h follow.Handler) error {
	var latest struct {
		key  string
		line int
		news bool
	}
	return f.Feed.Run(ctx, func(rec *follow.Record) {
		if rec.IsLog() && !rec.History { // history is from before the mod's events
			key := dedupKey(rec.Message)
			if rec.Part == event.Whole || rec.StartLine != latest.line || key != latest.key { // else it was counted
				latest.key, latest.line, latest.news = strings.Clone(key), rec.StartLine, f.dedup.FromLog(rec.Message, rec.Arrived)
			}
			if !latest.news {
				return
			}
		}
		h(rec)
	})
}
