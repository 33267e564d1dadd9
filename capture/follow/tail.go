package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
)

const (
	chunkSize = 256 << 10 // read at a time
	lastSize  = 4 << 10   // bytes before the offset that are compared at each read
	slower    = 10        // how much slower the file is polled with notifications

	maxBackoff = 2 * time.Second
)

// tail is what the goroutine in Run works with.
type tail struct {
	*Follower
	handle Handler

	file   *os.File    // nil: none
	info   os.FileInfo // of the file that stream reads; nil before the first
	number uint64      // which file it is
	stream *capture.Stream
	offset int64
	size   int64 // as last seen, and not less than offset
	given  bool  // a record of the file has been delivered

	// buf holds the bytes before the offset and then those read. The former are read
	// again and compared each time: a file that was truncated and written again, even to
	// the same size, has others there.
	buf  []byte
	last int

	nulAt    int64 // where a run of NULs at the end began, and when it was seen
	nulSince time.Time

	identity
	at Position // of the latest record

	history int64     // up to here the first file was there at the start
	grown   time.Time // when bytes were last read
	stamp   time.Time // the same, as records carry it
	more    bool      // there is more to be read at once

	oldest   int       // the first line that was not delivered in full, 0 for none ...
	oldestAt time.Time // ... and when it was read

	replaced bool // the path is that of another file
	rec      Record

	poked    chan struct{}
	lost     chan struct{} // the watch has ended
	unwatch  func()        // nil: no notifications
	notified bool          // since the last poll
	missed   int           // polls in a row that found a change without a notification
	polled   time.Time
	failures int

	waiting []*syncing
	now     Status
}

// newTail looks at the path for the first time.
func newTail(f *Follower, h Handler) (*tail, error) {
	t := &tail{
		Follower: f, handle: h, buf: make([]byte, lastSize+chunkSize), nulAt: -1,
		poked: make(chan struct{}, 1), lost: make(chan struct{}, 1),
	}
	info, err := os.Stat(f.cfg.Path)
	t.remember(info, err)
	if t.resumes() {
		t.old, t.found = false, t.renamed()
	}
	if err != nil {
		return t, nil // it may come, or come to be readable
	}
	if err := regular(f.cfg.Path, info); err != nil {
		return nil, err
	}
	t.history = info.Size()
	if t.old {
		t.history = -1
	}
	return t, nil
}

func (t *tail) close() {
	if t.unwatch != nil {
		t.unwatch()
	}
	if t.file != nil {
		_ = t.file.Close() // only read from
	}
}

// run is the loop: look, deliver what is complete, wait.
func (t *tail) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		t.look()
		t.settle()
		t.publish()
		wait := t.wait()
		timer.Reset(wait)
		if t.more {
			select {
			case <-ctx.Done():
				return t.finish()
			case s := <-t.syncs:
				t.begin(s)
			default:
			}
			continue
		}
		select {
		case <-ctx.Done():
			return t.finish()
		case <-t.poked:
			t.notified, t.missed = true, 0
		case <-t.lost:
			t.unlisten()
		case s := <-t.syncs:
			t.begin(s)
		case <-timer.C:
		}
	}
}

// wait returns how long there is nothing to do without a notification.
func (t *tail) wait() time.Duration {
	now := time.Now()
	at := t.polled.Add(t.pace())
	if d, ok := t.due(); ok && d.Before(at) {
		at = d
	}
	if d := t.grown.Add(t.cfg.Idle); t.replaced && d.Before(at) {
		at = d
	}
	return max(at.Sub(now), 0)
}

// pace is the interval of polling.
func (t *tail) pace() time.Duration {
	switch {
	case t.failures > 0:
		return min(t.cfg.Poll<<min(t.failures, 10), max(maxBackoff, t.cfg.Poll))
	case t.unwatch != nil && t.missed < 2:
		return slower * t.cfg.Poll
	}
	return t.cfg.Poll
}

// look reads at most one chunk of what there is, and notices what became of the file.
func (t *tail) look() {
	now := time.Now()
	poll := now.Sub(t.polled) >= t.pace()
	t.listen(poll)
	before := t.offset + int64(t.number)
	err := t.read(now)
	if poll {
		t.polled = now
		if t.offset+int64(t.number) != before && !t.notified && t.unwatch != nil {
			if t.missed++; t.missed > 1 {
				t.now.Missed++
			}
		}
		t.notified = false
	}
	t.now.LastError = err
	if err == nil {
		t.failures = 0
		return
	}
	t.more = false
	if poll {
		t.failures++
	}
}

// listen begins to watch the path, if it can be watched.
func (t *tail) listen(poll bool) {
	if t.unwatch != nil || t.cfg.NoNotify || !poll {
		return
	}
	signal := func(c chan struct{}) func() {
		return func() {
			select {
			case c <- struct{}{}:
			default: // one is enough
			}
		}
	}
	stop, err := t.watch(t.cfg.Path, signal(t.poked), signal(t.lost))
	if err == nil { // else the file is polled
		t.unwatch = stop
	}
}

// unlisten closes a watch that has ended by itself. It may report that more than once, as
// for a folder that is renamed and then removed; such reports must not reach the next watch.
func (t *tail) unlisten() {
	t.unwatch()
	t.unwatch = nil
	select {
	case <-t.lost:
	default:
	}
}

// read reads a chunk. At the end of the file it looks whether the path is that of
// another by now.
func (t *tail) read(now time.Time) error {
	t.more = false
	if t.file == nil {
		if ok, err := t.open(); !ok {
			return err
		}
	}
	limit := len(t.buf)
	if left := t.history - t.offset; left > 0 {
		limit = int(min(int64(limit), int64(t.last)+left))
	}
	var kept [lastSize]byte
	copy(kept[:], t.buf[:t.last])
	n, err := t.file.ReadAt(t.buf[:limit], t.offset-int64(t.last))
	if err != nil && !errors.Is(err, io.EOF) {
		t.drop()
		return fmt.Errorf("follow: %w", err)
	}
	if n < t.last || !same(kept[:t.last], t.buf[:t.last]) {
		t.now.Truncations++
		t.asked[0] = answer{}
		continues := t.continues(t.info, true)
		t.begun(emptiedEvidence, true)
		t.share()
		back := sameLines(kept[:t.last], t.buf[:n])
		if t.more = true; continues && back > 0 && t.passed < 0 && t.offset > int64(t.last) {
			t.stream.Flush(true)
			t.drain()
			t.seek(t.offset - int64(t.last-back))
			t.size, t.nulAt = t.offset, -1
			return nil
		}
		t.another(continues, "the log was emptied and started again")
		return nil
	}
	written := now
	if info, err := t.file.Stat(); err == nil {
		t.size, written = max(t.offset, info.Size()), earlier(now, info.ModTime())
	}
	fresh := t.trimNULs(t.buf[t.last:n], now)
	if len(fresh) > 0 {
		at, end := t.offset, t.last+len(fresh)
		if t.passed < 0 {
			t.passed = at
		}
		t.offset += int64(len(fresh))
		if t.begun(grownEvidence, t.cfg.Named) { // else it is passed over
			if t.passed >= 0 && t.passed < at {
				t.goBack()
				return nil
			}
			t.passed, t.stamp = -1, now.UTC().Round(0)
			if t.began.IsZero() || at == t.history { // the rest may be of an earlier run
				t.began = written.Round(0)
			}
			t.at.Began = t.began
			t.at.Offset, t.at.Hash = t.offset, xxhash.Sum64(t.buf[max(0, end-lastSize):end])
			t.stream.Feed(fresh)
			t.drain()
		}
		t.grown = time.Now() // also what came while that ran is read before anything counts as complete
		t.last = copy(t.buf, t.buf[max(0, end-lastSize):end])
	}
	t.more = len(fresh) > 0 && n == limit
	t.size = max(t.size, t.offset)
	if t.more {
		return nil
	}
	return t.identify(now)
}

// same reports whether b is what was read before. Where that was NUL, a page may
// have been written since.
func same(before, b []byte) bool {
	if bytes.Equal(before, b) {
		return true
	}
	for i, c := range before {
		if c != 0 && c != b[i] {
			return false
		}
	}
	return true
}

// sameLines returns the length of the lines that a and b both begin with, 0 if they hold NULs, as UTF-16 does.
func sameLines(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	if bytes.IndexByte(a[:n], 0) >= 0 {
		return 0
	}
	return bytes.LastIndexByte(a[:n], '\n') + 1
}

// trimNULs returns b without the NULs at its end for as long as they may be pages
// that are about to be written.
func (t *tail) trimNULs(b []byte, now time.Time) []byte {
	text := bytes.TrimRight(b, "\x00")
	if len(text) == len(b) || len(b)-len(text) > chunkSize/2 {
		return b
	}
	if at := t.offset + int64(len(text)); at != t.nulAt {
		t.nulAt, t.nulSince = at, now
	} else if now.Sub(t.nulSince) >= t.cfg.PartialIdle {
		return b
	}
	return text
}

// drain delivers what the stream has.
func (t *tail) drain() {
	for t.stream.Next(&t.rec.Record) {
		if t.rec.Known = t.stream.Resuming(); !t.rec.Known {
			at := t.stream.At()
			t.at.Through, t.at.Partly = at.Through, at.Partly
		}
		t.give()
	}
}

// give delivers t.rec.
func (t *tail) give() {
	r := &t.rec
	r.History = t.offset <= t.history
	r.Arrived, r.Position = t.stamp, t.at
	if r.History {
		r.Arrived = time.Time{}
	}
	if r.Time.IsZero() && r.Kind != event.KindHost {
		r.Time = r.Arrived
	}
	if r.Part != event.Whole {
		t.now.Continued++
	}
	t.now.Records++
	t.given = true
	t.handle(r)
}

// notice delivers a notice of the follower itself.
func (t *tail) notice(status event.Status, count uint64, detail string) {
	t.rec = Record{Record: capture.Record{
		Entry:  event.Notice{Status: status, Count: count, Detail: detail, Pos: uint64(t.stream.At().Lines)}.Entry(),
		Layout: t.stream.At().Layout,
	}}
	t.give()
}

// publish updates the Status.
func (t *tail) publish() {
	s := t.now
	s.Path, s.Offset, s.Size, s.LastGrowth, s.Notified = t.cfg.Path, t.offset, t.size, t.stamp, t.unwatch != nil
	s.Present = t.file != nil && s.Absent == ""
	if t.passed >= 0 {
		s.Offset = t.passed
	}
	if t.stream != nil {
		s.Lines += uint64(t.stream.At().Lines)
	}
	t.mu.Lock()
	t.status = s
	t.mu.Unlock()
}

// finish delivers what is there when the following ends.
func (t *tail) finish() error {
	s := &syncing{done: make(chan error, 1)}
	t.begin(s)
	for len(t.waiting) > 0 {
		hurried := t.hurried()
		if !hurried {
			t.look()
		}
		if !hurried && t.more && t.waiting[0].line == 0 {
			t.reach()
			continue
		}
		if t.stream != nil {
			t.stream.Flush(!hurried)
			t.drain()
		}
		if hurried {
			t.leave()
		}
		for _, s := range t.waiting {
			s.done <- t.now.LastError
		}
		t.waiting = t.waiting[:0]
	}
	t.publish()
	return nil
}

// hurried reports whether the remaining bytes are not to be read.
func (t *tail) hurried() bool {
	select {
	case <-t.cfg.Hurry:
		return true
	default:
		return false
	}
}

// leave reports the bytes that were not read as a hole.
func (t *tail) leave() {
	if t.file == nil {
		return
	}
	if info, err := t.file.Stat(); err == nil {
		t.size = max(t.offset, info.Size())
	}
	if at, err := os.Stat(t.cfg.Path); err == nil && !os.SameFile(at, t.info) && !t.cfg.NewRun {
		t.size += at.Size()
	}
	t.offset -= int64(t.last - 1 - bytes.LastIndexByte(t.buf[:t.last], '\n')) // of a line that was cut by the end
	if t.stream.Resuming() {
		t.offset = max(t.offset, t.cfg.Resume.Offset)
	}
	t.hole("heed had to end")
}
