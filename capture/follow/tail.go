package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// tail is the state of the goroutine in Run.
type tail struct {
	*Follower
	handle func(*Record)

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

	mid                  bool      // the text read so far ends within a line
	head                 []byte    // the first bytes of the file
	wide                 bool      // the text is UTF-16 in little endian
	unwritten            int64     // NULs at the end
	gapAt                int64     // where NULs were seen that have text after them ...
	gapSince             time.Time // ... and since when they were waited for
	gaps                 []gap
	cutAt, cutIn, cutMod time.Time // when the file was seen to differ, when to change, and when it was written
	cutOn                bool      // its program continues the log

	older, queue   []generation // the files that were replaced, and those that are next
	strangers      []generation // files of the folder that are not of the log
	folder         time.Time    // when files in it were last renamed, as far as it was seen
	onward, unseen bool         // the files that are next continue the log; there were more of them
	since          time.Time    // when the latest file was written, as it was last seen in its place

	identity
	at    Position // of the latest record
	apart bool     // the lines that come are not at the offset

	copied bool // Config.Resume continues in a copy of its file

	history int64     // up to here the first file was there at the start
	grown   time.Time // when bytes were last read
	stamp   time.Time // the same, as records carry it
	more    bool      // there is more to be read at once

	oldest   int       // the first line that was not delivered in full, 0 for none ...
	oldestAt time.Time // ... and when it was read

	ending bool // nothing is waited for

	wake time.Time // when there is something to do again
	rec  Record

	changes  <-chan struct{} // of the watch; closed once that has ended
	unwatch  func()          // nil: no notifications
	notified bool            // since the last poll
	missed   int             // polls in a row that found a change without a notification
	polled   time.Time
	failures int

	waiting []*syncing
	now     Status
}

// newTail looks at the path for the first time.
func newTail(f *Follower, h func(*Record)) *tail {
	t := &tail{
		Follower: f, handle: h, buf: make([]byte, lastSize+chunkSize), gapAt: -1,
	}
	t.stream, _ = capture.NewStream(f.cfg.Capture) // New validates the options
	info, err := os.Stat(f.cfg.Path)
	if !t.resumes() { // else files in the folder may be next
		t.exclude(info)
	}
	if t.remember(info, err); t.resumes() {
		t.old = false
		t.found, t.copied = t.source(&t.cfg.Resume)
	}
	if err != nil {
		t.history = -1
		if folder, err := os.Stat(filepath.Dir(f.cfg.Path)); err == nil {
			t.since = folder.ModTime()
		}
		return t // it may come, or come to be readable
	}
	t.since = info.ModTime()
	t.history = info.Size()
	if t.old {
		t.history = -1
	}
	return t
}

func (t *tail) close() {
	if t.unwatch != nil {
		t.unwatch()
	}
	if t.file != nil {
		_ = t.file.Close() // only read from
	}
	closeAll(t.older)
	closeAll(t.queue)
}

// run is the loop: look, deliver complete records, wait.
func (t *tail) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		t.look()
		t.settle()
		t.publish()
		timer.Reset(t.wait())
		select {
		case <-ctx.Done():
		case _, ok := <-t.changes:
			if ok {
				t.notified, t.missed = true, 0
				break
			}
			t.unwatch()
			t.changes, t.unwatch = nil, nil
		case s := <-t.syncs:
			t.waiting = append(t.waiting, s)
		case <-timer.C:
		}
	}
	return t.finish()
}

// wait returns how long there is nothing to do without a notification.
func (t *tail) wait() time.Duration {
	if t.more {
		return 0
	}
	at := t.polled.Add(t.pace())
	if d, ok := t.due(); ok && d.Before(at) {
		at = d
	}
	if !t.wake.IsZero() {
		at = earlier(at, t.wake)
	}
	return max(time.Until(at), 0)
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

// look reads at most one chunk, and notices changes of the file.
func (t *tail) look() {
	now := time.Now()
	poll := now.Sub(t.polled) >= t.pace()
	if t.unwatch == nil && !t.cfg.NoNotify && poll {
		t.changes, t.unwatch, _ = t.watch(t.cfg.Path) // without one the file is polled
	}
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

// read reads a chunk. At the end of the file it checks whether another file is at the path.
func (t *tail) read(now time.Time) error {
	t.more, t.wake = false, time.Time{}
	if t.file == nil {
		if ok, err := t.open(now); !ok {
			return err
		}
	}
	t.more = t.late(now, false)
	t.fill(now, false)
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
		t.cut(kept[:t.last], t.buf[:n], now)
		return nil
	}
	t.cutAt = time.Time{}
	written := now
	if info, err := t.file.Stat(); err == nil {
		if t.isWrittenAgain(info) {
			t.emptied()
			t.another(false, startedAgain)
			return nil
		}
		t.size, written = max(t.offset, info.Size()), earlier(now, info.ModTime())
	}
	fresh := t.written(t.buf[t.last:n], now)
	if len(fresh) > 0 {
		if t.offset == 0 {
			if err := t.check(fresh); err != nil {
				return err
			}
			t.noteHead(fresh)
		}
		at := t.offset
		if t.passed < 0 {
			t.passed = at
		}
		isOurs := t.judge(t.growth(), t.cfg.Named)
		if isOurs { // else it is passed over
			if t.passed >= 0 && t.passed < at {
				t.goBack()
				return nil
			}
			t.passed = -1
			if t.began.IsZero() || at == t.history { // the rest may be of an earlier run
				t.began = written.Round(0)
			}
			t.at.Began = t.began
		}
		t.take(fresh, isOurs, now)
	}
	t.more = t.more || len(fresh) > 0 && n == limit
	t.size = max(t.size, t.offset)
	if t.more {
		return nil
	}
	return t.identify(now)
}

// take continues to the end of text, which was read into the buffer at the offset, and delivers it if it is of the log.
func (t *tail) take(text []byte, isOurs bool, now time.Time) {
	end := t.last + len(text)
	before := t.buf[max(0, end-lastSize):end]
	if t.offset += int64(len(text)); isOurs {
		t.at.Offset, t.at.Hash = t.offset, xxhash.Sum64(before)
		t.feed(text, now)
	}
	t.grown = time.Now() // bytes that came during that are read before anything counts as complete
	t.last = copy(t.buf, before)
}

// same reports whether b has the bytes of an earlier read. A page of NULs may have been written since.
func same(before, b []byte) bool {
	for i, c := range before {
		if c != 0 && c != b[i] {
			return false
		}
	}
	return true
}

// sameLines returns the length of the lines that a and b both begin with, 0 if they hold NULs, as UTF-16 does, or if
// they begin within a line and have no whole line in common.
func sameLines(a, b []byte, within bool) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	end := bytes.LastIndexByte(a[:n], '\n') + 1
	if bytes.IndexByte(a[:n], 0) >= 0 || within && bytes.Count(a[:end], []byte("\n")) < 2 {
		return 0
	}
	return end
}

// flush delivers the open record, with a line that has no end if partly is set.
func (t *tail) flush(partly bool) {
	t.stream.Flush(partly)
	t.drain()
}

// drain delivers the records of the stream.
func (t *tail) drain() {
	for t.stream.Next(&t.rec.Record) {
		if t.rec.Known = t.stream.Resuming(); !t.rec.Known && !t.apart {
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
	s.Unwritten = t.unwritten
	s.Path, s.Offset, s.Size, s.LastGrowth, s.Notified = t.cfg.Path, t.offset, t.size, t.stamp, t.unwatch != nil
	s.Present = t.file != nil && s.Absent == ""
	if t.passed >= 0 {
		s.Offset = t.passed
	}
	s.Lines += uint64(t.stream.At().Lines)
	t.mu.Lock()
	t.status = s
	t.mu.Unlock()
}

// finish delivers the remaining text when the following ends.
func (t *tail) finish() error {
	t.ending = true
	t.waiting = append(t.waiting, &syncing{done: make(chan error, 1)})
	whole := false
	for !whole && !t.hurried() {
		t.look()
		if whole = !t.more || t.waiting[0].line > 0; !whole {
			t.reach()
		}
	}
	if whole {
		for !t.hurried() && t.late(time.Now(), true) {
		}
		if t.file != nil {
			t.fill(time.Now(), true)
		}
		t.flush(true)
	} else {
		t.flush(false)
		t.leave()
	}
	for _, s := range t.waiting {
		s.done <- t.now.LastError
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
