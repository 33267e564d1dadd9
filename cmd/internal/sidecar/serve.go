package sidecar

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/wire"
	"github.com/heedlog/heed/rules"
)

// Config configures [Serve].
type Config struct {
	// Program is the name and the version of the program, for the welcome.
	Program string

	// Epoch distinguishes this run from all others: see [heed.Config]. Empty for a new one.
	Epoch string

	// Greeted is called with the id of the process that the client names in its hello, 0 for none. Optional.
	Greeted func(process uint64)
}

// lastWords bounds how long the writer may take once the input has ended.
const lastWords = 250 * time.Millisecond

// Serve reads frames from in and writes frames to out until in ends, which is no error. Where in cannot be read
// further, it writes an error frame and returns the error. A panic is contained, and is an error. Serve does not close
// in or out. After the end of in it returns within a moment, even while a write to out is stuck; after a panic, a read
// from in may be under way until the caller closes it.
func Serve(in io.Reader, out io.Writer, cfg Config) error {
	r := &reader{frames: frames{in: bufio.NewReaderSize(in, keptBuffer)}, cfg: cfg}
	r.w = &writer{out: out, wake: make(chan struct{}, 1), ending: make(chan struct{})}
	r.greeted = make(chan *server, 1)
	read, written := contained(r.run), contained(func() error { return r.w.run(r.greeted) })
	select {
	case err := <-written: // a panic: it runs until the input has ended
		return err
	case err := <-read:
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		if err != nil {
			r.w.problem(&problem{at: r.frames.at, fatal: true, text: err.Error()})
		}
		close(r.w.ending)
		select {
		case failed := <-written:
			return cmp.Or(err, failed)
		case <-time.After(lastWords):
			return err
		}
	}
}

// contained runs f in a goroutine, and returns what it returns or panics with.
func contained(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() {
		defer func() {
			if reason := recover(); reason != nil {
				result <- fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
			}
		}()
		result <- f()
	}()
	return result
}

// reader reads frames and has a server ingest them.
type reader struct {
	frames  frames
	cfg     Config
	w       *writer
	greeted chan *server // gets the server, once there is one
}

// run returns when nothing can be read any more.
func (r *reader) run() error {
	if err := r.frames.skipMark(); err != nil {
		return err
	}
	s, err := greet(&r.frames, r.w, r.cfg)
	if err != nil {
		return err
	}
	r.greeted <- s
	r.w.notify() // of the welcome
	for {
		r.w.waiting.Store(r.frames.in.Buffered() == 0)
		at := r.frames.at
		t, payload, err := r.frames.next()
		if err != nil {
			return err
		}
		r.w.waiting.Store(false)
		s.ingest(t, payload, at)
	}
}

// server feeds an engine with the frames of a client. Its methods are for one goroutine, but for those of its fields
// that are safe for concurrent use.
type server struct {
	engine *heed.Engine
	rules  *rules.Set
	w      *writer

	// The writer's, once it runs.
	welcome *welcome      // until it is written
	before  []heed.Update // known before the first frame after the hello

	latest atomic.Uint64 // number of the latest line
	lines  atomic.Uint64 // ingested, by sidecars before this one as well

	badFrames, unknownFrames, cutTexts, cutBytes, dropped uint64

	line    line        // reused
	entry   event.Entry // reused
	outcome heed.Outcome
	texts   [2][]byte // reused for UTF-16
}

// progress returns what was ingested so far, for any goroutine.
func (s *server) progress() progress {
	return progress{latest: s.latest.Load(), lines: s.lines.Load()}
}

// ingest does what a frame asks for. A frame that cannot be read is a notice for the engine, and is reported.
func (s *server) ingest(t frameType, payload []byte, at uint64) {
	c := coder{wire.Reader(payload)}
	switch t {
	case typeLog:
		s.log(&c)
	case typeOperation:
		take(&c, c.operation, func(e *event.Entry) {
			s.observe(e)
			if e.Status.Ended() {
				s.w.watch(e.OperationID)
				s.w.notify()
			}
		})
	case typeState:
		take(&c, func(st *state) { st.code(&c) }, s.state)
	case typeDropped:
		take(&c, func(d *dropped) { d.code(&c) }, s.drop)
	case typeMods:
		take(&c, c.mods, func(mods *[]heed.Mod) { s.engine.LearnMods(*mods) })
	case typeRaise:
		take(&c, c.report, func(r *heed.Report) {
			s.engine.Raise(*r)
			s.w.notify()
		})
	case typeQuery:
		take(&c, func(q *query) { q.code(&c) }, s.answer)
	default:
		if s.unknownFrames++; s.unknownFrames == 1 {
			s.w.problem(&problem{frame: t, at: at, text: "frames of this type are not known, and are skipped"})
		}
		return
	}
	err := c.Close()
	if err == nil {
		return
	}
	s.badFrames++
	text := fmt.Sprintf("a frame of type %d cannot be read: %v", t, err)
	s.w.problem(&problem{frame: t, at: at, text: text})
	notice := event.Notice{Time: time.Now(), Status: event.StatusHole, Count: uint64(len(payload)), Detail: text}.Entry()
	s.observe(&notice)
}

// take reads a payload, and has it ingested if it could be read.
func take[T any](c *coder, read, ingest func(*T)) {
	var t T
	if read(&t); c.Close() == nil {
		ingest(&t)
	}
}

// log ingests a log record.
func (s *server) log(c *coder) {
	l := &s.line
	if l.code(c); c.Close() != nil {
		return
	}
	e := &s.entry
	e.Time, e.Level, e.OperationID, e.Pos = l.time, l.level, borrowed(l.operation), position(l.number, l.thread)
	e.Message, e.Stack = s.text(0, l.message, l.cutMessage), s.text(1, l.stack, l.cutStack)
	s.observe(e)
	s.latest.Store(l.number)
	s.lines.Add(1)
}

// observe passes an entry on, and wakes the writer where updates are pending. What an operation's own line adds to an
// item may change its verdict, also a final one.
func (s *server) observe(e *event.Entry) {
	s.engine.ObserveInto(&s.outcome, e)
	if e.OperationID != "" && s.outcome.AttentionID != "" {
		s.w.watch(e.OperationID)
	}
	if s.outcome.Pending {
		s.w.notify()
	}
}

// state applies what the client reports of its game.
func (s *server) state(st *state) {
	switch st.kind {
	case statePhase:
		st.Status, st.Phase = event.StatusPhase, st.text
	case stateLongEvent:
		st.Status, st.Detail = event.StatusLongEvent, st.text
	case stateLongEventEnd:
		st.Status, st.Detail = event.StatusLongEventEnd, st.text
	case stateAlive:
		var by time.Time
		if st.due > 0 {
			by = st.Time.Add(time.Duration(st.due) * time.Millisecond)
		}
		s.engine.Expect(st.Time, by)
		return
	case stateRead:
		s.engine.StateRead()
		return
	}
	e := st.Entry()
	s.observe(&e)
}

// drop notes what never arrived.
func (s *server) drop(d *dropped) {
	lines, levels := d.others, ""
	for level, n := range d.byLevel {
		lines += n
		if n > 0 {
			levels += fmt.Sprintf(", %d %s", n, event.Level(level))
		}
	}
	if d.others > 0 {
		levels += fmt.Sprintf(", %d of any level", d.others)
	}
	why := "too many came at once"
	if d.why == droppedEnded {
		why = "the program of heed ended, and was started again"
	}
	s.dropped += lines
	detail := fmt.Sprintf("%d lines did not reach heed, since %s%s", lines, why, levels)
	if lines == 0 {
		detail = "lines that did not reach heed were logged up to here"
	}
	e := event.Notice{Time: d.time, Status: event.StatusHole, Count: d.bytes, Detail: detail}.Entry()
	s.observe(&e)
}
