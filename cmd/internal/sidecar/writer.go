package sidecar

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed"
)

// How often the writer does what nothing wakes it for.
const (
	activeTick    = 100 * time.Millisecond
	idleTick      = 500 * time.Millisecond
	progressEvery = 250 * time.Millisecond
	snapshotEvery = time.Second
)

// maxWaiting bounds the answers that wait to be written, in bytes; one more may wait than fit.
const maxWaiting = 4 << 20

// maxWatched bounds the operations whose verdicts are watched.
const maxWatched = 1024

// writer writes frames for the client. It has a goroutine of its own, [writer.run].
type writer struct {
	out    io.Writer
	wake   chan struct{}
	ending chan struct{} // closed when the input has ended

	waiting atomic.Bool // the reader waits for input: all that came is ingested

	mu    sync.Mutex
	queue queue

	// Of the writer's goroutine alone.

	s        *server // nil if there was no hello
	buf      []byte
	broken   error // why out cannot be written to
	updates  []heed.Update
	watched  []watched
	progress progress
	ticked   time.Time // when the engine's time was set
	reported time.Time // when progress was
	saved    time.Time // when a snapshot was written
	changed  bool      // attention, since then
}

// queue is what waits for the writer.
type queue struct {
	frames     []byte   // answers and errors
	lost       uint64   // answers that were not queued
	operations []string // to be watched
	snapshot   bool     // one is asked for
}

// watched is an operation with its last verdict.
type watched struct {
	id      string
	verdict heed.Verdict
}

// notify wakes the writer.
func (w *writer) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// put queues a frame, if there is room.
func (w *writer) put(t frameType, v any) {
	w.mu.Lock()
	if q := &w.queue; len(q.frames) < maxWaiting {
		q.frames = appendFrame(q.frames, t, v)
	} else {
		q.lost++
	}
	w.mu.Unlock()
	w.notify()
}

// watch has the verdict of an operation written, soon and when it changes. It copies the id.
func (w *writer) watch(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := &w.queue
	if !slices.Contains(q.operations, id) {
		q.operations = append(q.operations, strings.Clone(id))
		q.operations = q.operations[max(0, len(q.operations)-maxWatched):]
	}
}

// saveSoon has a snapshot written before the answers that are queued later.
func (w *writer) saveSoon() {
	w.mu.Lock()
	w.queue.snapshot = true
	w.mu.Unlock()
}

// run writes until the input has ended, and then the waiting frames. If out fails, and the system does not end the
// process for it, run discards the frames, so that the reader does not wait, and returns the error at the end. The
// server comes from greeted, before any frame about it.
func (w *writer) run(greeted <-chan *server) error {
	w.ticked = time.Now()
	timer := time.NewTimer(0)
	for last := false; !last; {
		select {
		case <-w.ending:
			last = true
		case <-w.wake:
		case <-timer.C:
		}
		if w.s == nil && len(greeted) > 0 {
			w.s = <-greeted
		}
		w.gather(time.Now(), last)
		if len(w.buf) > 0 && w.broken == nil {
			_, w.broken = w.out.Write(w.buf)
		}
		timer.Reset(w.pause())
	}
	return w.broken
}

// pause returns how long nothing needs to be done, unless the writer is woken.
func (w *writer) pause() time.Duration {
	if s := w.s; s != nil && (len(w.watched) > 0 || w.changed || w.progress.Lines != s.lines.Load()) {
		return activeTick
	}
	return idleTick
}

// gather makes buf the frames to be written now, or at last.
func (w *writer) gather(now time.Time, last bool) {
	w.mu.Lock()
	q := w.queue
	w.queue = queue{}
	w.mu.Unlock()
	if cap(w.buf) > keptBuffer {
		w.buf = nil
	}
	w.buf = w.buf[:0]
	if s := w.s; s != nil {
		if s.welcome != nil {
			w.add(typeWelcome, s.welcome)
			s.welcome = nil
		}
		ticked := w.tick(now)
		reached := s.progress()
		w.addUpdates()
		if ticked || len(q.operations) > 0 || len(w.updates) > 0 {
			w.addVerdicts(q.operations)
		}
		if reached != w.progress && (last || len(q.frames) > 0 || now.Sub(w.reported) >= progressEvery) {
			w.progress, w.reported = reached, now
			w.add(typeProgress, reached)
		}
		if q.snapshot || w.changed && now.Sub(w.saved) >= snapshotEvery {
			w.addSnapshot(now)
		}
	}
	w.buf = append(w.buf, q.frames...)
	if q.lost > 0 {
		w.add(typeError, problem{Text: fmt.Sprintf("%d answers were dropped, since nobody reads them", q.lost)})
	}
}

// add adds a frame to buf.
func (w *writer) add(t frameType, v any, rest ...byte) { w.buf = appendFrame(w.buf, t, v, rest...) }

// tick sets the engine's time, unless something waits to be ingested: that has earlier times, and may be a sign of
// life. After a while in which this process did not run, it waits for one more tick.
func (w *writer) tick(now time.Time) bool {
	passed := now.Sub(w.ticked)
	if passed < activeTick {
		return false
	}
	w.ticked = now
	if passed < 4*idleTick && w.waiting.Load() {
		w.s.engine.Advance(now)
	}
	return true
}

// addUpdates adds the changes of attention.
func (w *writer) addUpdates() {
	w.updates = append(w.updates[:0], w.s.before...)
	w.s.before = nil
	w.updates = w.s.engine.Updates(w.updates)
	if len(w.updates) == 0 {
		return
	}
	w.changed = true
	current := ""
	if open := w.s.engine.Open(nil); len(open) > 0 {
		current = open[0].ID
	}
	for _, u := range w.updates {
		w.add(typeUpdate, update{u, current})
	}
}

// addVerdicts adds those that changed, of operations that are watched until nothing but what names them can change
// them.
func (w *writer) addVerdicts(operations []string) {
	for _, id := range operations {
		if !slices.ContainsFunc(w.watched, func(o watched) bool { return o.id == id }) {
			w.watched = append(w.watched, watched{id: id})
		}
	}
	first := max(0, len(w.watched)-maxWatched)
	kept := w.watched[:0]
	for _, o := range w.watched[first:] {
		v := w.s.engine.Verdict(o.id)
		last := &o.verdict
		if v.Outcome != last.Outcome || v.Reason != last.Reason || v.AttentionID != last.AttentionID ||
			v.Final != last.Final {
			o.verdict = v
			w.add(typeVerdict, v)
		}
		if v.Known && !v.Final {
			kept = append(kept, o)
		}
	}
	w.watched = kept
}

// addSnapshot adds a snapshot, with how far it goes at least.
func (w *writer) addSnapshot(now time.Time) {
	reached := w.s.progress() // before the snapshot
	w.add(typeSnapshot, reached, w.s.engine.Snapshot(nil)...)
	w.saved, w.changed = now, false
}
