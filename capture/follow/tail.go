package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
)

const (
	chunkSize = 256 << 10 // read at a time
	lastSize  = 256       // bytes before the offset that are compared at each read
	slower    = 10        // how much slower the file is polled where changes are told

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
	given  bool  // a record of the file has been handed over

	// buf holds the bytes before the offset and then those read. The former are read
	// again and compared each time: a file that was cut and written anew, even to the
	// same size, has others there.
	buf  []byte
	last int

	nulAt    int64 // where a run of NULs at the end began, and when it was seen
	nulSince time.Time

	history int64     // up to here the first file was there at the start
	grown   time.Time // when bytes were last read
	stamp   time.Time // the same, as records carry it
	more    bool      // there is more to be read at once

	replaced bool // the path is that of another file
	rec      Record

	poked    chan struct{}
	lost     chan struct{} // the watch has ended
	unwatch  func()        // nil: nobody tells of changes
	told     bool          // of something since the last poll
	untold   int           // polls in a row that found what had not been told
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
	if err != nil {
		return t, nil // it may come, or come to be readable
	}
	if err := regular(f.cfg.Path, info); err != nil {
		return nil, err
	}
	t.history = info.Size()
	if f.cfg.FromEnd {
		t.history = -1
	}
	return t, nil
}

// Check returns an error where what is at path now cannot be followed at all, which
// [Follower.Run] would end with: a directory, a pipe or a device.
func Check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // it may come, or come to be readable
	}
	return regular(path, info)
}

// regular returns an error that says what to do about a path that is no file.
func regular(path string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("follow: %s is a directory: name the log in it, such as %s", path, "Player.log")
	case !info.Mode().IsRegular():
		return fmt.Errorf("follow: %s is a pipe or a device: name a file, or read it with package capture", path)
	}
	return nil
}

func (t *tail) close() {
	if t.unwatch != nil {
		t.unwatch()
	}
	if t.file != nil {
		_ = t.file.Close() // only read from
	}
}

// run is the loop: look, hand over what is complete, wait.
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
			t.told, t.untold = true, 0
		case <-t.lost:
			t.unlisten()
		case s := <-t.syncs:
			t.begin(s)
		case <-timer.C:
		}
	}
}

// wait returns how long there is nothing to do unless somebody says so.
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

// pace is how often to look without being told.
func (t *tail) pace() time.Duration {
	switch {
	case t.failures > 0:
		return min(t.cfg.Poll<<min(t.failures, 10), max(maxBackoff, t.cfg.Poll))
	case t.unwatch != nil && t.untold < 2:
		return slower * t.cfg.Poll
	}
	return t.cfg.Poll
}

// look takes in what there is, at most one chunk of it, and finds out what became
// of the file.
func (t *tail) look() {
	now := time.Now()
	poll := now.Sub(t.polled) >= t.pace()
	t.listen(poll)
	before := t.offset + int64(t.number)
	err := t.read(now)
	if poll {
		t.polled = now
		if t.offset+int64(t.number) != before && !t.told && t.unwatch != nil {
			if t.untold++; t.untold > 1 {
				t.now.Untold++
			}
		}
		t.told = false
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

// listen sees to it that changes are told, as far as they can be.
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

// unlisten ends a watch that has ended by itself. It may say so more than once, as of a folder
// that is renamed and then removed; what it said is not of the next watch.
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
		t.restart("the log was cut and begun anew")
		t.more = true
		return nil
	}
	if info, err := t.file.Stat(); err == nil {
		t.size = max(t.offset, info.Size())
	}
	fresh := t.trimNULs(t.buf[t.last:n], now)
	if len(fresh) > 0 {
		t.stamp = now.UTC().Round(0)
		t.offset += int64(len(fresh))
		t.stream.Feed(fresh)
		t.drain()
		t.grown = time.Now() // however long that took: what came meanwhile is read before anything counts as complete
		end := t.last + len(fresh)
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

// drain hands over what the stream has.
func (t *tail) drain() {
	for t.stream.Next(&t.rec.Record) {
		t.give()
	}
}

// give hands over t.rec.
func (t *tail) give() {
	r := &t.rec
	r.History = t.offset <= t.history
	r.Arrived = t.stamp
	if r.History {
		r.Arrived = time.Time{}
	}
	if r.Time.IsZero() && r.Kind != event.KindHost {
		r.Time = r.Arrived
	}
	if r.Continues {
		t.now.Continued++
	}
	t.now.Records++
	t.given = true
	t.handle(r)
}

// notice hands over a notice of our own.
func (t *tail) notice(status event.Status, count uint64, detail string) {
	t.rec = Record{Record: capture.Record{
		Entry:  event.Notice{Status: status, Count: count, Detail: detail, Pos: uint64(t.stream.Lines())}.Entry(),
		Layout: t.stream.Layout(),
	}}
	t.give()
}

// open opens the path, and goes on where it left off if it is the file that was
// read before. It reports whether there is a file.
func (t *tail) open() (bool, error) {
	path := t.cfg.Path
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return false, prefixed(err)
	}
	file, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, prefixed(err)
	}
	info, err = file.Stat()
	if err == nil {
		err = regular(path, info)
	}
	if err != nil {
		_ = file.Close() // only read from
		return false, prefixed(err)
	}
	first := t.info == nil
	if !first && !os.SameFile(info, t.info) {
		t.now.Rotations++
		if t.cfg.Continues {
			t.goOn()
		} else {
			t.end("another log took its place")
		}
	}
	if first || !t.cfg.Continues && !os.SameFile(info, t.info) {
		t.renew(t.cfg.Capture)
	}
	t.file, t.info = file, info
	if first && t.history != 0 && t.cfg.FromEnd {
		if err := t.skip(); err != nil {
			t.info = nil // as if it had not been opened: it would else be read from its beginning
			return false, err
		}
	}
	return true, nil
}

func prefixed(err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("follow: %w", err)
	}
	return err
}

// renew begins with a file that has not been read.
func (t *tail) renew(opt capture.Options) {
	if t.stream != nil {
		t.now.Lines += uint64(t.stream.Lines())
	}
	stream, err := capture.NewStream(opt)
	if err != nil {
		panic("BUG: follow: " + err.Error()) // New has seen to the options
	}
	t.stream = stream
	t.offset, t.size, t.last, t.nulAt, t.given = 0, 0, 0, -1, false
	t.number++
	if t.number > 1 {
		t.history = -1
	}
}

// skip goes to the end of a file that is of a run before. How it is laid out is
// told by its beginning.
func (t *tail) skip() error {
	head := make([]byte, 64<<10)
	n, err := t.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		t.drop()
		return fmt.Errorf("follow: %w", err)
	}
	opt := t.cfg.Capture
	if opt.Layout == capture.LayoutAuto && n > 0 {
		r, err := capture.NewReader(bytes.NewReader(head[:n]), opt)
		if err == nil { // else it is recognized by what comes
			opt.Layout = r.Layout()
		}
	}
	t.number--
	t.renew(opt)
	t.offset = t.info.Size()
	if n >= 2 && head[0]^head[1] == 0xff^0xfe && head[0] >= 0xfe { // UTF-16, which only the mark tells
		t.offset -= t.offset % 2
		t.stream.Feed(head[:2])
		t.drain()
	}
	t.size = t.offset
	before := min(t.offset, lastSize)
	t.last, err = t.file.ReadAt(t.buf[:before], t.offset-before)
	if err != nil && !errors.Is(err, io.EOF) {
		t.last = 0 // the next read tells
	}
	return nil
}

// drop closes a file that cannot be read any more. It is opened again.
func (t *tail) drop() {
	_ = t.file.Close() // only read from
	t.file = nil
}

// end hands over what is left of the file, and says what is known to be missing.
func (t *tail) end(why string) {
	t.stream.End()
	t.drain()
	t.history, t.stamp = -1, time.Now().UTC().Round(0)
	t.hole(why)
	if t.given {
		t.notice(event.StatusRestarted, 0, why)
	}
}

// hole says what is known to be missing of the file.
func (t *tail) hole(why string) {
	if lost := t.size - t.offset; lost > 0 {
		t.now.LostBytes += uint64(lost)
		t.notice(event.StatusHole, uint64(lost), why+" before all of it had been read")
	}
}

// goOn begins with a file that continues the one before. Its number stays that of the
// one before, since it is one stream for who waits.
func (t *tail) goOn() {
	t.hole("another file went on with the log")
	t.offset, t.size, t.last, t.nulAt, t.history = 0, 0, 0, -1, -1
}

// restart goes on with the same file as if it were another.
func (t *tail) restart(why string) {
	t.end(why)
	t.renew(t.cfg.Capture)
}

// identify finds out whether the path is that of another file by now. The old one
// is read until it is quiet: a program may write a last line to a file that was
// renamed.
func (t *tail) identify(now time.Time) error {
	info, err := os.Stat(t.cfg.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.now.Present = false
		return nil
	case err != nil:
		return prefixed(err)
	}
	t.now.Present = true
	t.replaced = !os.SameFile(info, t.info)
	if !t.replaced || len(t.waiting) == 0 && now.Sub(t.grown) < t.cfg.Idle {
		return nil
	}
	if err := regular(t.cfg.Path, info); err != nil {
		return err
	}
	t.drop()
	t.more, t.replaced = true, false
	return nil
}

// publish shows how it goes.
func (t *tail) publish() {
	s := t.now
	s.Offset, s.Size, s.LastGrowth, s.Notified = t.offset, t.size, t.stamp, t.unwatch != nil
	s.Present = t.file != nil && t.now.Present
	if t.stream != nil {
		s.Lines += uint64(t.stream.Lines())
	}
	t.mu.Lock()
	t.status = s
	t.mu.Unlock()
}

// finish hands over what is there when the following ends.
func (t *tail) finish() error {
	s := &syncing{done: make(chan error, 1)}
	t.begin(s)
	for len(t.waiting) > 0 {
		t.look()
		if t.more && t.waiting[0].line == 0 {
			t.reach()
			continue
		}
		if t.stream != nil {
			t.stream.Flush(true)
			t.drain()
		}
		for _, s := range t.waiting {
			s.done <- t.now.LastError
		}
		t.waiting = t.waiting[:0]
	}
	t.publish()
	return nil
}
