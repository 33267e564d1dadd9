package follow

import "time"

// settle delivers the open record if it is due, and answers the calls of Sync that it can.
func (t *tail) settle() {
	line, partly := t.stream.Pending()
	if line != t.oldest {
		t.oldest, t.oldestAt = line, t.grown
	}
	if at, ok := t.due(); ok && (!t.more || len(t.waiting) > 0) && !time.Now().Before(at) {
		t.flush(partly)
	}
	t.reach()
	t.answer()
}

// maxAge is how long a line may wait for the rest of its record, while the file grows all the time.
const maxAge = idle + idle/2

// due returns when the open record is to be delivered: after quiet, and at the latest when its first undelivered line
// is too old. The first line of a file waits no longer than that for its end.
func (t *tail) due() (time.Time, bool) {
	line, partly := t.stream.Pending()
	if line == 0 {
		return time.Time{}, false
	}
	at := earlier(t.grown.Add(idle), t.oldestAt.Add(maxAge))
	if partly && t.given {
		at = t.oldestAt.Add(t.cfg.PartialIdle)
	}
	for _, s := range t.waiting {
		if s.line > 0 && line <= s.line {
			at = earlier(at, earlier(t.grown, s.since).Add(syncIdle))
		}
	}
	return at, true
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// reach finds the calls for which the file has been read as far as they ask, and delivers its lines.
func (t *tail) reach() {
	for _, s := range t.waiting {
		switch {
		case s.line > 0, !t.cutAt.IsZero():
			continue
		case !s.seen:
			s.seen = true
			t.aim(s)
			if !t.more {
				break
			}
			continue
		case t.more && (len(t.queue) > 0 || s.place != t.place()):
			t.aim(s)
			continue
		case t.more && t.offset < s.through:
			continue
		}
		s.since = time.Now()
		t.flush(false)
		s.file, s.line = t.number, max(1, t.stream.At().Lines)
	}
}

// place returns which file is read, or which text of it.
func (t *tail) place() uint64 { return t.number + t.now.Rotations + t.now.Truncations }

// aim notes how far the current file is to be read for a call.
func (t *tail) aim(s *syncing) { s.file, s.place, s.through = t.number, t.place(), t.size }

// answer answers the calls for which everything has been delivered.
func (t *tail) answer() {
	line, _ := t.stream.Pending()
	left := t.waiting[:0]
	for _, s := range t.waiting {
		switch {
		case t.now.LastError != nil:
			s.done <- t.now.LastError
		case s.line == 0 || s.file == t.number && line > 0 && line <= s.line:
			left = append(left, s)
		default:
			s.done <- nil
		}
	}
	clear(t.waiting[len(left):])
	t.waiting = left
}
