package coalesce

import "time"

// moment is a point in the stream: the sequence number and the time of the
// entry at it. The time is zero where the source has no clock.
type moment struct {
	seq  uint64
	time time.Time
}

// passed reports whether w has gone by between since and now: by time where
// both have one, else by entries. A span is over when it is reached: a window
// of two seconds has passed at two seconds.
func (w *Window) passed(since, now moment) bool {
	if !since.time.IsZero() && !now.time.IsZero() {
		return now.time.Sub(since.time) >= w.Duration
	}
	return now.seq-since.seq >= uint64(w.Entries)
}

// alarm is the earliest moment at which something may be due. Until then a
// coalescer has nothing to look at, which keeps an ignored entry cheap.
type alarm struct {
	set  bool
	seq  uint64    // 0: none
	time time.Time // zero: none
}

// add brings the alarm forward to the end of w counted from since. Without a
// time at since the entries count; with one, the entries count as well, since
// a later entry may come without a clock: waking too early is harmless.
func (a *alarm) add(w *Window, since moment) {
	seq := since.seq + uint64(w.Entries)
	if !a.set || seq < a.seq {
		a.seq = seq
	}
	if !since.time.IsZero() {
		if t := since.time.Add(w.Duration); a.time.IsZero() || t.Before(a.time) {
			a.time = t
		}
	}
	a.set = true
}

// due reports whether the alarm has been reached.
func (a *alarm) due(now moment) bool {
	return a.set && (now.seq >= a.seq || !a.time.IsZero() && !now.time.Before(a.time))
}
