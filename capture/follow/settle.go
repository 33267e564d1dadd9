package follow

import "time"

// begin queues a call of Sync.
func (t *tail) begin(s *syncing) { t.waiting = append(t.waiting, s) }

// settle delivers the open record if the file has been quiet for long enough, and answers
// the calls of Sync that it can.
func (t *tail) settle() {
	if at, ok := t.due(); ok && (!t.more || len(t.waiting) > 0) && !time.Now().Before(at) {
		_, partly := t.pending()
		t.stream.Flush(partly || len(t.waiting) > 0)
		t.drain()
	}
	t.reach()
	t.answer()
}

func (t *tail) pending() (line int, partly bool) {
	if t.stream == nil {
		return 0, false
	}
	return t.stream.Pending()
}

// due returns when the open record is to be delivered.
func (t *tail) due() (time.Time, bool) {
	line, partly := t.pending()
	if line == 0 {
		return time.Time{}, false
	}
	at := t.grown.Add(t.cfg.Idle)
	if partly {
		at = t.grown.Add(t.cfg.PartialIdle)
	}
	for _, s := range t.waiting {
		if s.line == 0 || line > s.line {
			continue
		}
		quiet, latest := t.grown.Add(t.cfg.SyncIdle), s.since.Add(t.cfg.Idle)
		if latest.Before(quiet) {
			quiet = latest
		}
		if quiet.Before(at) {
			at = quiet
		}
	}
	return at, true
}

// reach finds the calls for which the file has been read as far as they ask.
func (t *tail) reach() {
	for _, s := range t.waiting {
		switch {
		case s.line > 0:
			continue
		case !s.seen:
			s.seen, s.file, s.through = true, t.number, t.size
			if !t.more {
				break
			}
			continue
		case t.more && s.file != t.number:
			s.file, s.through = t.number, t.size
			continue
		case t.more && t.offset < s.through:
			continue
		}
		s.since = time.Now()
		s.file, s.line = t.number, 1
		if t.stream != nil {
			s.line = max(1, t.stream.Lines())
		}
	}
}

// answer answers the calls for which everything has been delivered.
func (t *tail) answer() {
	line, _ := t.pending()
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
