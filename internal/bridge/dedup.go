package bridge

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/internal/session"
)

// What the same text within this time counts as told twice, and how many texts
// are kept apart. Mods tell within milliseconds, the file within tens of them; a busy
// machine is given time.
const (
	dedupWindow = 5 * time.Second
	dedupTexts  = 4096
	dedupBytes  = 160 // of the first line: mods cut what they tell
)

// Dedup recognizes a record that comes by two ways, through the followed log and as
// an event of the mod, so that it counts once. Each way's records of a text are
// counted against the other's: whatever comes first is taken in, and its twin is
// dropped. A text is known by the first 160 bytes of its first line.
//
// The event says more: the level, and the operation. So one that comes second is
// taken in all the same where it is the first of its text to tell a level or an
// operation: better a record too many than one that says nothing.
//
// What comes later than 5 s after the latest of its text is another record. Texts
// beyond 4,096 push out the one seen longest ago, whose twins then count twice. It is
// safe for concurrent use.
type Dedup struct {
	mu    sync.Mutex
	texts *simplelru.LRU[string, *sighting]
}

// sighting is what was seen of a text.
type sighting struct {
	balance int // events ahead of the log's records; negative: behind
	told    bool
	at      time.Time
}

// NewDedup returns a Dedup that has seen nothing.
func NewDedup() *Dedup {
	texts, err := simplelru.NewLRU[string, *sighting](dedupTexts, nil)
	if err != nil {
		panic("BUG: bridge: " + err.Error()) // the size is positive
	}
	return &Dedup{texts: texts}
}

// FromLog notes a record of the followed log, and reports whether it is to be taken in.
func (d *Dedup) FromLog(message string, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.see(message, now)
	s.balance--
	return s.balance < 0
}

// FromMod notes a record that the mod told of, and reports whether it is to be taken in.
// More says that it tells a level or an operation.
func (d *Dedup) FromMod(message string, more bool, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.see(message, now)
	s.balance++
	news := more && !s.told
	s.told = s.told || more
	return s.balance > 0 || news
}

func (d *Dedup) see(message string, now time.Time) *sighting {
	line, _, _ := strings.Cut(strings.TrimLeft(message, "\r\n"), "\n")
	line = strings.TrimRight(line, " \t\r")
	key := line[:min(len(line), dedupBytes)]
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
		if rec.IsLog() && !rec.History && !f.dedup.FromLog(rec.Message, rec.Arrived) {
			return
		}
		h(rec)
	})
}
