package sidecar

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
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

// Serve reads frames from in and writes frames to out until in ends, which is no error. If in cannot be read
// further, it writes an error frame and returns the error. A panic is contained, and is an error. Serve does not close
// in or out. After the end of in it returns within a moment, even while a write to out is stuck; after a panic, a read
// from in may be under way until the caller closes it.
func Serve(in io.Reader, out io.Writer, cfg Config) error {
	f := &frames{in: bufio.NewReaderSize(in, keptBuffer)}
	w := &writer{out: out, wake: make(chan struct{}, 1), ending: make(chan struct{})}
	greeted := make(chan *server, 1)
	read := contained(func() error { return readFrames(f, w, cfg, greeted) })
	written := contained(func() error { return w.run(greeted) })
	select {
	case err := <-written: // a panic: it runs until the input has ended
		return err
	case err := <-read:
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		if err != nil {
			w.put(typeError, problem{At: f.at, Fatal: true, Text: err.Error()})
		}
		close(w.ending)
		select {
		case failed := <-written:
			return cmp.Or(err, failed)
		case <-time.After(lastWords):
			return err
		}
	}
}

// contained runs f in a goroutine, and returns its error or its panic as an error.
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

// readFrames has a server ingest all frames, and returns when nothing can be read any more. The writer gets the server.
func readFrames(f *frames, w *writer, cfg Config, greeted chan<- *server) error {
	if err := f.skipMark(); err != nil {
		return err
	}
	s, err := greet(f, w, cfg)
	if err != nil {
		return err
	}
	greeted <- s
	w.notify() // of the welcome
	for {
		if waits := f.in.Buffered() == 0; w.waiting.Swap(waits) != waits && waits {
			runtime.Gosched() // the writer writes on this thread: to wake another one may take milliseconds
		}
		at := f.at
		t, payload, err := f.next()
		if err != nil {
			return err
		}
		w.waiting.Store(false)
		s.ingest(t, payload, at)
	}
}

// server feeds an engine with the frames of a client. Its methods are for one goroutine. Its atomic fields and its
// engine are safe for concurrent use.
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

// progress returns the lines that were ingested so far. Any goroutine may call it.
func (s *server) progress() progress {
	return progress{Latest: s.latest.Load(), Lines: s.lines.Load()}
}

// handlers handle the frames after the hello, by their types. An error means that the payload cannot be read.
var handlers = map[frameType]func(s *server, payload []byte) error{
	typeLog:       (*server).log,
	typeOperation: decoded((*server).operation),
	typeState:     decoded((*server).state),
	typeDropped:   decoded((*server).drop),
	typeMods:      decoded((*server).learn),
	typeRaise:     decoded((*server).raise),
	typeQuery:     decoded((*server).answer),
}

// decoded returns a handler that reads the JSON of a payload.
func decoded[T any](handle func(s *server, v *T) error) func(s *server, payload []byte) error {
	return func(s *server, payload []byte) error {
		v := new(T)
		if err := json.Unmarshal(payload, v); err != nil {
			return err
		}
		return handle(s, v)
	}
}

// ingest handles a frame. A frame that cannot be read is a notice for the engine, and is reported.
func (s *server) ingest(t frameType, payload []byte, at uint64) {
	handle := handlers[t]
	if handle == nil {
		if s.unknownFrames++; s.unknownFrames == 1 {
			s.w.put(typeError, problem{Frame: t, At: at, Text: "frames of this type are not known, and are skipped"})
		}
		return
	}
	err := handle(s, payload)
	if err == nil {
		return
	}
	s.badFrames++
	text := fmt.Sprintf("a frame of type %d cannot be read: %v", t, err)
	s.w.put(typeError, problem{Frame: t, At: at, Text: text})
	notice := event.Notice{Time: time.Now(), Status: event.StatusHole, Count: uint64(len(payload)), Detail: text}.Entry()
	s.observe(&notice)
}

// log ingests a log record.
func (s *server) log(payload []byte) error {
	l := &s.line
	if err := l.read(payload); err != nil {
		return err
	}
	e := &s.entry
	e.Time, e.Level, e.OperationID, e.Pos = l.time, l.level, borrowed(l.operation), position(l.number, l.thread)
	e.Message, e.Stack = s.text(0, l.message, l.cutMessage), s.text(1, l.stack, l.cutStack)
	s.observe(e)
	s.latest.Store(l.number)
	s.lines.Add(1)
	return nil
}

// observe passes an entry on, and wakes the writer if updates are pending. A line of an operation that joins an item
// may change the operation's verdict, also a final one.
func (s *server) observe(e *event.Entry) {
	s.engine.ObserveInto(&s.outcome, e)
	if e.OperationID != "" && s.outcome.AttentionID != "" {
		s.w.watch(e.OperationID)
	}
	if s.outcome.Pending {
		s.w.notify()
	}
}

// operation ingests an event of an operation.
func (s *server) operation(o *event.Operation) error {
	if o.Status.Kind() != event.KindOperation {
		return fmt.Errorf("status %s is none of an operation", o.Status)
	}
	o.ID, o.Parent, o.Method, o.Pos = short(o.ID), short(o.Parent), short(o.Method), 0
	e := o.Entry()
	s.observe(&e)
	if e.Status.Ended() {
		s.w.watch(e.OperationID)
		s.w.notify()
	}
	return nil
}

// learn takes a list of mods.
func (s *server) learn(m *mods) error {
	if len(m.Mods) > maxMods {
		return fmt.Errorf("there are %d mods: at most %d are allowed", len(m.Mods), maxMods)
	}
	list := make([]heed.Mod, len(m.Mods))
	for i := range m.Mods {
		list[i] = m.Mods[i].Mod
		list[i].Assemblies = m.Mods[i].Assemblies
	}
	s.engine.LearnMods(list)
	return nil
}

// raise takes a report of the host.
func (s *server) raise(r *heed.Report) error {
	r.OperationID, r.Pos, r.ID = short(r.OperationID), 0, ""
	s.engine.Raise(*r)
	s.w.notify()
	return nil
}

// state applies a report of the client about its game.
func (s *server) state(st *state) error {
	st.Text, st.Due = short(st.Text), min(st.Due, 1<<31)
	switch status, _ := event.Parse[event.Status](st.What); st.What {
	case "phase", "long_event", "long_event_end":
		e := event.State{Time: st.Time, Status: status, Phase: st.Text, Detail: st.Text}.Entry()
		s.observe(&e)
	case "alive":
		var by time.Time
		if st.Due > 0 {
			by = st.Time.Add(time.Duration(st.Due) * time.Millisecond)
		}
		s.engine.Expect(st.Time, by)
	case "state_read":
		s.engine.StateRead()
	default:
		return fmt.Errorf("what is %.40q, which no state is", st.What)
	}
	return nil
}

// drop notes what never arrived.
func (s *server) drop(d *dropped) error {
	lines, levels := d.Others, ""
	for level, n := range d.ByLevel {
		lines += n
		if n > 0 {
			levels += fmt.Sprintf(", %d %s", n, event.Level(level))
		}
	}
	if d.Others > 0 {
		levels += fmt.Sprintf(", %d of any level", d.Others)
	}
	why := map[string]string{
		"full": "too many came at once", "ended": "the program of heed ended, and was started again",
	}[d.Why]
	if why == "" {
		return fmt.Errorf("why is %.40q: must be full or ended", d.Why)
	}
	s.dropped += lines
	detail := fmt.Sprintf("%d lines did not reach heed, since %s%s", lines, why, levels)
	if lines == 0 {
		detail = "lines that did not reach heed were logged up to here"
	}
	e := event.Notice{Time: d.Time, Status: event.StatusHole, Count: d.Bytes, Detail: detail}.Entry()
	s.observe(&e)
	return nil
}

// answer answers a query.
func (s *server) answer(q *query) error {
	q.Consumer, q.ID, q.Epoch = short(q.Consumer), short(q.ID), short(q.Epoch)
	a := answer{Number: q.Number, Kind: q.Kind}
	switch q.Kind {
	case "current":
		if it, open := s.engine.Current(q.Consumer); open {
			a.Result = it
		}
	case "verdict":
		a.Result = s.engine.Verdict(q.ID)
	case "read":
		p, err := s.read(q)
		if a.Result = p; err != nil {
			a.Result, a.Error = nil, err.Error()
		}
	case "ack":
		a.Result = s.engine.Ack(q.Consumer, q.ID, q.Through)
	case "attach":
		a.Result = s.engine.Attach(q.Consumer, time.Now())
	case "detach":
		s.engine.Detach(q.Consumer)
	case "delivered":
		a.Result = s.engine.Delivered(q.Consumer, q.ID, q.Through)
	case "clear":
		a.Result = s.engine.Clear(q.ID)
	case "stats":
		a.Result = s.stats()
	case "explain":
		if it, known := s.engine.Item(q.ID); known {
			a.Result = s.explain(&it)
		}
	case "open":
		a.Result = s.engine.Open([]heed.Item{})
	case "snapshot":
		s.w.saveSoon()
	case "flush":
	default:
		a.Error = fmt.Sprintf("kind is %.40q, which no query is", q.Kind)
	}
	s.w.put(typeAnswer, a)
	return nil
}

// read returns a page of the journal.
func (s *server) read(q *query) (page, error) {
	if q.Limit < 0 || q.Limit > journal.MaxLimit {
		return page{}, fmt.Errorf("limit is %d: must be from 0 to %d", q.Limit, journal.MaxLimit)
	}
	if q.Epoch == "" {
		q.Epoch = s.engine.Latest().Epoch
	}
	p := s.engine.Read(heed.Cursor{Epoch: q.Epoch, Seq: q.After}, q.Limit,
		journal.Filter{MinDisposition: q.Least, Operation: q.ID})
	return page{Epoch: p.Next.Epoch, Next: p.Next.Seq, Lost: p.Lost, More: p.More, Records: p.Records}, p.Err
}

// stats returns the accounting.
func (s *server) stats() map[string]any {
	st := s.engine.Stats()
	return map[string]any{
		"lines":         s.lines.Load(),
		"latestLine":    s.latest.Load(),
		"received":      st.Received,
		"ignored":       st.Ignored,
		"folded":        st.Folded,
		"open":          st.Coalesce.Open,
		"opened":        st.Coalesce.Opened,
		"acknowledged":  st.Coalesce.Acknowledged,
		"busy":          st.Busy,
		"blind":         st.Blind,
		"dropped":       s.dropped,
		"cutTexts":      s.cutTexts,
		"cutBytes":      s.cutBytes,
		"badFrames":     s.badFrames,
		"unknownFrames": s.unknownFrames,
		"phase":         st.Phase,
		"blindRule":     st.BlindRule,
	}
}

// explain returns why an item is there.
func (s *server) explain(a *heed.Item) map[string]string {
	texts := map[string]string{"summary": a.Summary, "rule": a.Cause.Rule}
	if r := s.rules.Rule(a.Cause.Rule); r != nil {
		texts["meaning"], texts["why"], texts["advice"] = r.Summary, r.Why, r.Advice
	}
	texts["template"], _ = s.engine.Template(a.Cause.Signature)
	texts["blame"] = strings.Join(a.Blame, ", ")
	maps.DeleteFunc(texts, func(_, text string) bool { return text == "" })
	return texts
}
