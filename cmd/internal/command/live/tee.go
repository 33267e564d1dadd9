package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// teeGrace bounds the wait for the last output of the game.
const teeGrace = time.Second

// drainGrace is the further time for a slow machine, or for a program that does not read the output.
var drainGrace = 2 * time.Second

// output has the standard streams of a game, which pass through heed. A stream that is a terminal does not go through
// heed, since games behave otherwise if it is none.
type output struct {
	stdout, stderr *os.File // the game's

	streams []*stream // that pass through
}

// stream is a standard stream that passes through heed.
type stream struct {
	name string
	done chan struct{} // all writers are gone, and everything is passed on

	pipe *os.File // that it comes from
	end  *os.File // of the pipe that the game gets

	before func() // comes before each answer of drain

	moving atomic.Int64 // bytes that are being passed on

	mu    sync.Mutex
	asked []chan<- struct{} // of drain, closed once the pipe is empty
	last  []byte            // the end of the output, at most 2 tailBytes
}

// output returns the game's output. Its standard output is copied to the log that is followed, if that is its log.
func (h *host) output() (o *output, err error) {
	o = &output{stdout: file(h.Stdout), stderr: file(h.Stderr)}
	keepWriting()
	through := func(f *os.File) bool { return f != nil && !cli.IsTerminal(f) }
	switch spooled := h.spool != nil; {
	case spooled, through(o.stdout) && !through(o.stderr), through(o.stdout) && !sameFile(o.stdout, o.stderr):
		o.stdout, err = o.tee(h, "stdout", h.Stdout, spooled)
	case through(o.stdout): // in one order
		o.stdout, err = o.tee(h, "output", h.Stdout, false)
		o.stderr = o.stdout
		return o, err
	}
	if err == nil && through(o.stderr) {
		o.stderr, err = o.tee(h, "stderr", h.Stderr, false)
	}
	if err != nil {
		o.handedOver()
	}
	return o, err
}

func sameFile(a, b *os.File) bool {
	x, errX := a.Stat()
	y, errY := b.Stat()
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// handedOver closes the ends of pipes that the game has got, or will not get.
func (o *output) handedOver() {
	for _, s := range o.streams {
		_ = s.end.Close()
	}
}

// wait returns when all writers are gone and everything is passed on; after d, when everything that is written is, or
// after drainGrace more; or when ctx is done.
func (o *output) wait(ctx context.Context, d time.Duration) {
	late, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	end, cancel := context.WithTimeout(ctx, d+drainGrace)
	defer cancel()
	for _, s := range o.streams {
		select {
		case <-s.done:
		case <-late.Done():
			_ = s.drain(end)
		}
	}
}

// finish waits for the last output of the game, and reports the bytes that are not passed on or read by then.
func (o *output) finish(h *host) {
	o.wait(h.hurry, teeGrace)
	for _, s := range o.streams {
		unread, buf := 0, make([]byte, 32<<10)
		for n := 1; n > 0 && unread < 1<<20; unread += n { // which is more than a pipe holds
			n, _ = readNow(s.pipe, buf)
			n = max(0, n)
		}
		if left := s.moving.Load() + int64(unread); left > 0 {
			h.Message("%s of the game's %s were not passed on before the end", text.Many(uint64(left), "byte", "bytes"), s.name)
		}
		if s == h.spool && unread > 0 {
			h.session.Observe(event.Notice{
				Status: event.StatusHole, Count: uint64(unread), Detail: "heed had to end before it had read all of the game's output",
			}.Entry())
		}
	}
}

// tail returns the last lines that the game wrote, but for those in a file that is followed.
func (o *output) tail() (lines []bridge.Output) {
	for _, s := range o.streams {
		lines = append(lines, s.lines()...)
	}
	return lines
}

// The end of a stream that is kept.
const (
	tailLines = 10
	tailBytes = 2 << 10
	// tailGrace bounds the wait for it.
	tailGrace = 250 * time.Millisecond
)

// drain returns when everything that the game wrote before is passed on, at once if the system cannot say so.
func (s *stream) drain(ctx context.Context) error {
	empty := make(chan struct{})
	s.mu.Lock()
	if s.pipe.SetReadDeadline(time.Unix(1, 0)) == nil { // it wakes read
		s.asked = append(s.asked, empty)
	} else {
		close(empty)
	}
	s.mu.Unlock()
	select {
	case <-empty:
		return nil
	case <-s.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// read reads from the pipe, whose text before is passed on. If it is empty, it answers who waits for that.
func (s *stream) read(buf []byte) (int, error) {
	for {
		s.mu.Lock()
		_ = s.pipe.SetReadDeadline(time.Time{}) // who asks later wakes it again
		asked := len(s.asked)
		s.mu.Unlock()
		if asked > 0 {
			n, err := readNow(s.pipe, buf)
			switch {
			case n > 0:
				return n, nil
			case errors.Is(err, os.ErrDeadlineExceeded): // another asks
				continue
			}
			s.before()
			s.mu.Lock()
			for _, empty := range s.asked[:asked] {
				close(empty)
			}
			s.asked = s.asked[asked:]
			s.mu.Unlock()
		}
		n, err := s.pipe.Read(buf)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
}

// piped is a log whose lines come through a stream of the game.
type piped struct {
	session.Feed
	from *stream // nil: they do not
}

// Sync implements [session.Feed].
func (p piped) Sync(ctx context.Context) error {
	if p.from != nil {
		if err := p.from.drain(ctx); err != nil {
			return err
		}
	}
	return p.Feed.Sync(ctx)
}

func (s *stream) keep(text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = append(s.last, text[max(0, len(text)-tailBytes):]...)
	if cut := len(s.last) - tailBytes; cut > tailBytes {
		s.last = append(s.last[:0], s.last[cut:]...)
	}
}

// lines returns the last lines that are not blank, oldest first.
func (s *stream) lines() []bridge.Output {
	s.mu.Lock()
	defer s.mu.Unlock()
	return lastLines(s.name, string(s.last[max(0, len(s.last)-tailBytes):]))
}

// lastLines returns the last lines of a text that are not empty, at most tailLines.
func lastLines(from, text string) (lines []bridge.Output) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, bridge.Output{From: from, Text: line})
		}
	}
	return lines[max(0, len(lines)-tailLines):]
}

// newStream returns a stream from which nothing is read yet.
func newStream(name string) (*stream, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stream{name: name, done: make(chan struct{}), pipe: r, end: w, before: func() {}}, nil
}

// tee copies a stream of the game to a writer, and returns the end of its pipe that the game gets. The spooled stream
// is the log: it is copied to the followed file, too. Of any other stream the last lines are kept.
func (o *output) tee(h *host, name string, to io.Writer, spooled bool) (w *os.File, err error) {
	s := h.spool
	if !spooled {
		if s, err = newStream(name); err != nil {
			return nil, err
		}
	}
	var copyTo *spool
	if spooled {
		path := h.follower.Status().Path
		copyTo = &spool{path: path, most: spoolBytes, limit: spoolLimit, follower: h.follower.Status, lost: func(n uint64) {
			h.session.Observe(event.Notice{
				Status: event.StatusHole, Count: n,
				Detail: "a part of the game's output was not copied to the file that heed reads",
			}.Entry())
		}}
		if err := copyTo.open(os.O_TRUNC); err != nil {
			return nil, err
		}
		s.before = copyTo.report
	}
	o.streams = append(o.streams, s)
	go func() {
		defer close(s.done)
		defer s.pipe.Close() //nolint:errcheck // nothing is written to it
		buf := make([]byte, 32<<10)
		for {
			n, err := s.read(buf)
			// An error of a writer must not block the game.
			if copyTo == nil {
				s.keep(buf[:n])
			} else if err := copyTo.write(buf[:n]); err != nil {
				h.lost("log", fmt.Errorf("a part of the game's log is missing, since its copy cannot be written: %w", err))
			}
			s.moving.Store(int64(n))
			if _, err := to.Write(buf[:n]); n > 0 && err != nil && !errors.Is(err, syscall.EPIPE) { // of a reader that has gone
				h.lost(name, fmt.Errorf("the game's %s is not passed on: %w", name, err))
			}
			s.moving.Store(0)
			if err != nil {
				break
			}
		}
		if copyTo != nil {
			copyTo.close()
		}
	}()
	return s.end, nil
}

// A copy of a game's output is replaced by another file once it is longer than spoolBytes, and is never longer than
// spoolLimit.
const (
	spoolBytes = 64 << 20
	spoolLimit = 256 << 20
)

// spool is a file between a game and a [follow.Follower] whose Config.Continues is set. Another file replaces it when
// it is long, so that a game that runs for days does not fill the disk. That waits until the follower reads the current
// file, so that nothing is lost while it keeps up within the limit; text beyond is left out and counted. A pipe would
// block the game instead. It is used by one goroutine.
type spool struct {
	path     string
	most     int64 // bytes of a file that another follows
	limit    int64 // bytes of a file, but for the last write
	follower func() follow.Status
	lost     func(bytes uint64) // called when text is left out, and for more of it by report

	file  *os.File // nil: it cannot be opened, and is tried again
	size  int64
	files uint64 // before this one
	left  uint64 // bytes that were left out since the latest call of lost
	full  bool   // text was left out since the latest write
}

// open opens the next file.
func (s *spool) open(flag int) error {
	file, err := os.OpenFile(s.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND|flag, 0o600)
	if err != nil {
		return err
	}
	s.file, s.size = file, 0
	return nil
}

func (s *spool) write(text []byte) error {
	if s.size >= s.most {
		if st := s.follower(); st.Present && st.Rotations == s.files {
			s.renew()
		}
	}
	if s.size >= s.limit {
		s.leave(len(text))
		return nil
	}
	n, all, err := 0, len(text), error(nil)
	if s.full {
		text = append([]byte("\n"), text...) // the rest of a line is no part of the line before
	}
	if s.file == nil {
		err = s.open(0)
	}
	if err == nil {
		n, err = s.file.Write(text)
	}
	s.size += int64(n)
	if n < len(text) {
		s.leave(min(all, len(text)-n))
	} else {
		s.full = false
		s.report()
	}
	return err
}

// leave leaves out a text.
func (s *spool) leave(n int) {
	if s.left += uint64(n); !s.full {
		s.full = true
		s.report()
	}
}

// report calls lost if text was left out since the latest call.
func (s *spool) report() {
	if s.left > 0 {
		s.lost(s.left)
		s.left = 0
	}
}

// renew makes the next write begin another file. The current one is renamed, which every system allows while the
// follower has it open, and removed. If that fails, it keeps growing, and renew is due again after as much text.
func (s *spool) renew() {
	_ = s.file.Close() // the text is with the system
	s.file, s.size = nil, 0
	old := s.path + ".old"
	if os.Rename(s.path, old) == nil {
		s.files++
		_ = os.Remove(old)
	}
}

// close ends the copy. The host removes it once it was read.
func (s *spool) close() {
	s.report()
	if s.file != nil {
		_ = s.file.Close() // the text is with the system
	}
}
