package capture

import (
	"bytes"

	"github.com/heedlog/heed/event"
)

// Stream reads the records of an input that grows: bytes are fed to it, and the
// records that are complete are taken from it. Fed a capture in parts of whatever
// size, it returns the records that a [Reader] does, as long as incomplete ones are not
// asked for by Flush.
//
// Flush is for an input that has been quiet for a while. The open record is then delivered
// as far as it is known, and remembered. Lines that come later and belong to it are
// delivered once they are complete:
//
//   - The whole record, with Continues set, if they raise its level, since it was not
//     classified as the error that it is. The same goes for a record whose first line was
//     delivered in part.
//   - Else as a continuation ([Record]) with the lines that came late, and Continues set. A
//     line that had been delivered in part is among them as a whole. Its level is unknown,
//     so that it is not classified again.
//
// The layout is recognized by the first 64 KiB, or by what there is at the first
// Flush; then it may still turn out to be another while the first 64 KiB come. Plain text
// may later turn out to be a log of Unity's, as for a Reader.
//
// A Stream holds as much as a Reader, and at most 192 KiB more. Compressed input is not for it. It is for one goroutine
// and starts none.
type Stream struct {
	r       *Reader
	started bool // the layout of r is known

	data          []byte // that was fed, and that the lines of r have not taken
	ended         bool   // nothing comes after it
	flush, partly bool   // asked for and not done
	done          bool   // the end has been reached

	fed         int  // bytes in all, up to detectSize
	provisional bool // the layout rests on less than detectSize
	fresh       bool // bytes came that it has not been looked for in

	peek   *Reader // reads a line that has no end yet; see glance
	peeked int     // bytes of such a line that have been delivered ...
	line   int     // ... and which line it is

	noticed [event.StatusLogFound - event.StatusHole + 1]noticed

	before     int  // bytes of the last line that the Stream returned which this one continues; see Resume
	interrupts bool // the open record is being delivered
}

// noticed is the latest notice of a status that a Stream made itself.
type noticed struct{ pos, count uint64 }

// NewStream returns a Stream to which nothing has been fed. The error is about
// opt.
func NewStream(opt Options) (*Stream, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	return &Stream{r: newReader(opt)}, nil
}

// Feed hands p over, which must stay as it is until Next returns false. Only
// then may Feed be called again.
func (s *Stream) Feed(p []byte) {
	if len(s.data) > 0 {
		panic("BUG: capture: Stream.Feed before Next returned false")
	}
	s.data = p
	s.fed = min(s.fed+len(p), detectSize)
	s.fresh = len(p) > 0
}

// Flush asks Next for the open record, of whole lines: with a line without
// its end if partly is set.
func (s *Stream) Flush(partly bool) { s.flush, s.partly = true, partly }

// End ends the input. Next then delivers as a Reader does at
// the end of its input.
func (s *Stream) End() { s.ended = true }

// load has the lines take more of the data, or end, and returns false if there is no more for now.
func (s *Stream) load() bool {
	switch l := s.r.lines; {
	case len(s.data) > 0:
		s.data = s.data[l.feed(s.data):]
	case s.ended && !l.ended:
		l.end()
	default:
		return false
	}
	return true
}

// Next fills rec with the next record, and returns false if there is none for
// now. Strings in rec are valid until the next call of any method.
func (s *Stream) Next(rec *Record) bool {
	*rec = Record{}
next:
	for !s.done {
		r := s.peek
		if r == nil {
			if !s.start() {
				break
			}
			s.recognize()
			if s.ended && s.peeked > 0 {
				s.skipPartial()
			}
			r = s.r
			r.live.flush = s.flush && len(s.data) == 0 || s.interrupts
		}
		switch {
		case r.step(rec):
			if !s.known(rec) {
				return true
			}
		case r == s.peek:
			s.settle()
		case r.err != nil:
			s.done = true
		case s.r.lines.stopped():
			if s.interrupts = !s.interrupts; !s.interrupts {
				s.r.lines.stop = 0
				s.takeUp()
			}
		case s.load(), s.flush && s.partly && s.glance():
		default:
			break next
		}
	}
	s.flush, s.partly = false, false
	return false
}

// known reports whether rec is a notice that was delivered when its line had no
// end yet. Of a hole that has grown it leaves the new part.
func (s *Stream) known(rec *Record) bool {
	if rec.Kind != event.KindNotice || rec.StartLine > 0 {
		return false
	}
	last := &s.noticed[rec.Status-event.StatusHole]
	if rec.Pos != last.pos {
		*last = noticed{pos: rec.Pos, count: rec.Count}
		return false
	}
	count := rec.Count
	rec.Count -= min(count, last.count)
	last.count = max(count, last.count)
	return rec.Count == 0
}

// At returns how far the input was read, and counts a line that has no end yet. The layout is [LayoutAuto] before
// anything is known of it.
func (s *Stream) At() Position {
	at := s.r.At()
	at.Bytes, at.Through = 0, at.Lines
	if s.unread() > 0 {
		at.Lines++
	}
	switch {
	case s.peek != nil:
		at.Partly = s.peeked
	case s.started:
		at.Through = s.r.through()
	}
	return at
}

// Resume has s, to which nothing was fed, continue for another Stream, which began with the same input and had come to
// at when Next returned its latest record. The first line follows the line called after. Until Resuming returns false,
// Next returns the records that the other Stream has returned; after that, the rest of them.
func (s *Stream) Resume(after int, at Position) {
	s.before = at.Partly
	if s.r.lines.no, s.r.lines.stop = after, at.Through; at.Through == 0 {
		s.takeUp()
	}
}

// Resuming reports whether Next has not come to the position of Resume.
func (s *Stream) Resuming() bool { return s.r.lines.stop > 0 }

// takeUp begins after the position of Resume.
func (s *Stream) takeUp() {
	if s.before > 0 {
		s.peeked, s.line = s.before, s.r.lines.no+1
		s.r.live.cutLine = s.line
	}
}

// Pending returns the first line that has not been delivered in full, 0 if all have
// been. Partly reports that it is only a line without its end. It is
// meaningful when Next has returned false.
func (s *Stream) Pending() (line int, partly bool) {
	switch {
	case s.done, s.fed == 0:
		return 0, false
	case !s.started:
		return 1, false
	}
	if a := &s.r.asm; s.r.starved && !a.empty() {
		if h := s.r.live.handed; h.lines == 0 {
			return a.start, false
		} else if h.lines < a.lines || !s.r.held.empty() {
			return h.end + 1, false
		}
	}
	if n := s.unread(); n > 0 && !s.glanced(n) {
		return s.r.lines.no + 1, true
	}
	return 0, false
}

// unread is how many bytes there are of a line without its end.
func (s *Stream) unread() int { return len(s.r.lines.rest()) }

// glanced reports whether n bytes of the line without its end have been
// delivered.
func (s *Stream) glanced(n int) bool { return n == s.peeked && s.line == s.r.lines.no+1 }

// rest returns the beginning of a line without its end.
func (l *lineReader) rest() []byte {
	if l.within {
		return l.filter.dst
	}
	return l.buf[l.r:l.w]
}

// start recognizes the layout once enough of the input is there. It reports whether it is known.
func (s *Stream) start() bool {
	if s.started {
		return true
	}
	for !s.r.ready() && s.load() {
	}
	whole := s.flush || s.ended
	if s.fed == 0 || !s.r.ready() && !whole {
		s.done = s.ended
		return false
	}
	if !s.r.lines.begun {
		s.r.lines.begin()
		s.r.lines.feed(nil)
	}
	s.started = true
	s.r.detectLayout()
	s.provisional = s.r.opt.Layout == LayoutAuto && s.fed < detectSize
	s.fresh = false
	return true
}

// recognize looks for the layout again in later bytes, where too little was
// known of the input when it was looked for.
func (s *Stream) recognize() {
	if !s.provisional || !s.fresh || s.r.lines.within {
		return
	}
	s.fresh = false
	s.provisional = s.fed < detectSize
	r := s.r
	if r.layout != LayoutPlain && r.layout != LayoutJSON {
		return
	}
	for !s.r.ready() && len(s.data) > 0 {
		s.load()
	}
	window := s.r.lines.head(detectSize)
	d := detect(window)
	if r.format.Detect == nil && (r.layout != LayoutJSON || r.format.Name == "json") {
		r.format = detectFormat(window, d)
	}
	if d.layout.unity() || d.layout == layoutCrash || d.layout == LayoutJSON && r.layout == LayoutPlain {
		r.layout, r.footers = d.layout, d.footers
	}
}

// glance prepares to read the line that has no end yet, with a copy of the state
// of the Reader, which stays as if the line had not come: only whole it can show
// what it is. It reports whether there is something to be read.
func (s *Stream) glance() bool {
	n := s.unread()
	if n == 0 || s.glanced(n) {
		return false
	}
	s.peeked, s.line = n, s.r.lines.no+1
	p := *s.r
	for _, b := range []*[]byte{&p.asm.message, &p.asm.stack, &p.asm.previous} {
		*b = bytes.Clone(*b)
	}
	p.json, p.out, p.held = jsonLine{}, nil, heldLines{}
	p.mods, p.machine = modLists{blind: true}, nil
	p.lines = &lineReader{buf: bytes.Clone(s.r.lines.rest()), w: n, no: s.r.lines.no, odd: true, partial: true}
	p.live.flush = true
	s.peek = &p
	return true
}

// settle takes the results of glance over to the Reader.
func (s *Stream) settle() {
	p, r := s.peek, s.r
	s.peek = nil
	if h := &r.live.handed; h.lines > 0 && p.asm.start == r.asm.start {
		h.level = max(h.level, p.live.level)
		return
	}
	r.live.cutLine = s.line
}

// skipPartial skips the line without its end that the input ends with, if all of it
// has been delivered.
func (s *Stream) skipPartial() {
	if s.glanced(s.unread()) && !s.r.lines.within {
		s.r.lines.no++
		s.r.cur, s.r.have = line{no: s.r.lines.no, text: s.r.lines.rest()}, false
		s.r.lines.r = s.r.lines.w
	}
	s.peeked = 0
}

// live is the state of a Reader as part of a Stream.
type live struct {
	flush   bool // the open record is delivered as it is
	handed  handed
	cutLine int         // a line that was delivered in part, and began a record
	level   event.Level // of the last record
}

// handed is how much of the open record has been delivered.
type handed struct {
	lines, end     int // 0: nothing
	message, stack int
	level          event.Level
}

// handOver delivers the open record although the input has no more for now. It stays open.
func (r *Reader) handOver() {
	a := &r.asm
	if a.empty() || a.lines == r.live.handed.lines {
		return
	}
	before, saved := r.live.handed.level, *a
	r.flush()
	*a = saved
	r.live.handed = handed{
		lines: a.lines, end: a.end, message: len(a.message), stack: len(a.stack), level: max(before, r.live.level),
	}
}

// goOn ends a record that was delivered before, and delivers its later lines.
func (r *Reader) goOn() {
	a, h := &r.asm, r.live.handed
	r.live.handed = handed{}
	if a.lines > h.lines {
		rec := r.deliver()
		r.fill(rec)
		rec.Part = event.Again
		if rec.Level <= h.level {
			rec.StartLine = h.end + 1
			rec.Entry = event.Entry{
				Part: event.Rest, Source: event.RestSource, Pos: uint64(h.end + 1),
				Message: text(after(a.message, h.message)), Stack: text(after(a.stack, h.stack)),
			}
			rec.LevelBy = evidenceNone
		}
	}
	r.runLine = a.end
	a.lines = 0
	a.sealed = true
}

// after returns the lines of b after the first n bytes, without the text that a footer took
// off the end.
func after(b []byte, n int) []byte {
	return bytes.TrimPrefix(b[min(n, len(b)):], []byte("\n"))
}
