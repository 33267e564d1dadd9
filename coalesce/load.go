package coalesce

import (
	"time"

	"github.com/heedlog/heed/event"
)

// load is the load of a game under way; the zero value is none. All urgent entries in it are one incident.
type load struct {
	Began   logicalTime // 0: none
	Playing logicalTime // the first evidence of play in the log since, or 0
	Called  logicalTime // the end of the first completed call that began since, or 0
	Calls   int         // such calls, at most loadCalls
	Acked   bool        // its item was acknowledged
}

// loadCalls is the number of completed calls, each begun after the load began, that end it.
const loadCalls = 2

// The bounds of a load whose end is not logged: since evidence of play in the log, since the first completed call that
// began in the load, and since the load began.
var (
	loadPlay = Window{time.Minute, 500}
	loadCall = Window{5 * time.Second, 50}
	loadMax  = Window{5 * time.Minute, 20_000}
)

// Loading reports whether the game is being loaded; see [Input].Playing.
func (c *Coalescer) Loading() bool { return c.Load.Began.seq != 0 }

// EndLog records that the log ends, such as in a replay. The load under way ends with it.
func (c *Coalescer) EndLog() { c.endLoad() }

// endLoad ends the load under way, if there is one. The items that it deferred block now.
func (c *Coalescer) endLoad() {
	if !c.Loading() {
		return
	}
	c.Load, c.Episode = load{}, episode{}
	c.blockDeferred()
}

// blockDeferred lets the items block that a load kept from blocking.
func (c *Coalescer) blockDeferred() {
	for i := range c.Items {
		if it := &c.Items[i]; it.State == itemDeferred {
			if it.on(onBlock); it.blocking() {
				c.announce(it, Updated, reasonLoaded, place{c.Now.seq, c.Pos})
			}
		}
	}
}

// observeLoad records the evidence in an entry about the load of a game.
func (c *Coalescer) observeLoad(in *Input) {
	if in.NewPhase {
		c.endLoad()
		c.Episode = episode{}
	}
	if in.Fresh {
		c.FreshSince = in.Entry.Seq
		c.endLoad()
		c.Load.Began = c.Now
		c.set(&loadMax, c.Now)
	}
	if !c.Loading() {
		return
	}
	if in.Entry.Kind == event.KindState && in.Entry.Status == event.StatusExited {
		c.endLoad()
	} else if in.Playing && c.Load.Playing.seq == 0 {
		c.Load.Playing = c.Now
		c.blockDeferred()
		c.set(&loadPlay, c.Now)
	}
}

// completed records that a call ends as completed. A call that began in a load is evidence of play.
func (c *Coalescer) completed(o *operation) {
	l := &c.Load
	if !c.Loading() || !o.Begun || o.Parent != "" || o.Started.seq < l.Began.seq {
		return
	}
	switch l.Calls++; l.Calls {
	case 1:
		l.Called = c.Now
		c.set(&loadCall, c.Now)
	case loadCalls:
		c.endLoad()
	}
}

// overdueLoad ends a load whose end was not logged in time.
func (c *Coalescer) overdueLoad() {
	l := &c.Load
	for _, bound := range [...]struct {
		window *Window
		since  logicalTime
	}{{&loadMax, l.Began}, {&loadPlay, l.Playing}, {&loadCall, l.Called}} {
		switch {
		case bound.since.seq == 0:
		case bound.window.passed(bound.since, c.Now):
			c.endLoad()
			return
		default:
			c.set(bound.window, bound.since)
		}
	}
}

// meetOpen marks a call that begins while an item blocks, or waits for the end of a load: its result is not clean.
func (c *Coalescer) meetOpen(o *operation) {
	for i := range c.Items {
		if it := &c.Items[i]; it.open() && it.Disposition == event.Blocking {
			o.mark(it.Number, ReasonBackground)
		}
	}
}

// stopsAtOnce reports whether an entry blocks even while a game is loaded.
func stopsAtOnce(in *Input) bool {
	return in.Decision.Disposition == event.Blocking &&
		(in.Decision.Severity >= event.SeverityFatal || in.Entry.Kind == event.KindState)
}
