package coalesce

import "time"

// logicalTime is a point in the stream: the number of the latest entry, and the
// engine's time at it, counted from the first one known. Generation 0 is before any
// time was known. Within a generation time only goes forward; when the clock is set
// back, another generation begins.
type logicalTime struct {
	seq        uint64
	generation uint64
	at         time.Duration
}

// farthest bounds times, on both sides of the first one, so that differences
// do not overflow: 73 years.
const farthest time.Duration = 1 << 61

// place is the entry that something is about.
type place struct {
	Seq uint64
	Pos uint64
}

// clocked reports whether time measures how far now is from since: not where
// none was known, nor where the clock was set back between them.
func clocked(since, now logicalTime) bool {
	return since.generation == now.generation && now.generation != 0
}

// passed reports whether w has gone by between since and now: by time where
// it does, else by entries. A span is over when it is reached: a window of
// two seconds has passed at two seconds.
func (w *Window) passed(since, now logicalTime) bool {
	if clocked(since, now) {
		return now.at-since.at >= w.Duration
	}
	return now.seq-since.seq >= uint64(w.Entries)
}

// alarm is the earliest logicalTime at which something may be due. Until then there is nothing to look at, which keeps
// an ignored entry cheap.
//
// The due time of a thing may move to later without its alarm: the alarm then goes off too early, and its handler sets
// the next one. It must never be too late.
type alarm struct {
	seq        uint64        // 0: none
	at         time.Duration // if timed
	generation uint64        // 0: not timed
}

// add brings the alarm forward to the end of w counted from since. Entries
// count only where time does not: an alarm on them would otherwise go off
// at each entry of a storm.
func (a *alarm) add(w *Window, since, now logicalTime) {
	at, seq := since.at+min(w.Duration, farthest), since.seq+uint64(w.Entries)
	switch clock := clocked(since, now); {
	case clock && (a.generation != now.generation || at < a.at):
		a.at, a.generation = at, now.generation
	case !clock && (a.seq == 0 || seq < a.seq):
		a.seq = seq
	}
}

// set brings the alarm forward to the end of w counted from since.
func (c *Coalescer) set(w *Window, since logicalTime) { c.alarm.add(w, since, c.Now) }

// due reports whether the alarm has been reached. An alarm from before the clock was set back counts as reached.
func (a *alarm) due(now logicalTime) bool {
	return a.seq != 0 && now.seq >= a.seq || a.generation != 0 && (a.generation != now.generation || now.at >= a.at)
}

// tick moves the engine's time to t, the time of an entry or of the host. Time only goes forward, so that entries which
// arrive out of order do no harm. A time further back than MaxSkew means that the clock was set back: without another
// generation, every window would stop until the clock is where it was.
func (c *Coalescer) tick(t time.Time) {
	if t.IsZero() {
		return
	}
	if c.Now.generation == 0 {
		c.Base = [2]int64{t.Unix(), int64(t.Nanosecond())}
		c.Now.generation = 1
	}
	const most = int64(farthest/time.Second) + 1
	seconds := min(max(t.Unix()-c.Base[0], -most), most) // time.Time.Sub costs several times as much
	at := min(max(time.Duration(seconds)*time.Second+time.Duration(int64(t.Nanosecond())-c.Base[1]), -farthest), farthest)
	if at >= c.Now.at {
		c.Now.at = at
	} else if c.Now.at-at > c.Config.MaxSkew {
		c.Now.generation++
		c.Now.at = at
		c.alarm.seq = 1 // windows that had passed by time are counted in entries again
		c.survey()
	}
}
