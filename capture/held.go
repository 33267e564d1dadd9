package capture

import (
	"github.com/heedlog/heed/internal/frame"
)

// The message of an exception may have several lines of any shape, and its trace
// comes below the last. The game seldom prints an exception without a trace, or,
// where there are footers, without one. So where a record holds an exception and
// neither, the lines below it are held back until one shows whether they belong to it:
//
//	Could not start Gadgets: System.Exception: the panel is broken
//	Details: two screws are missing                         held
//	  at Gadget.Panel.Draw () [0x0001f] in <0123…>:0        so it belonged to the record
//
// A blank line, a line that opens a record of its own, another exception or too
// many lines show that it did not; then each is read as if it came only now.
const (
	maxHeld      = 8       // an exception's message seldom has more lines
	maxHeldBytes = 4 << 10 // of all lines held
)

// heldLines are the lines held back below the open record, or being looked at
// again.
type heldLines struct {
	lines []line // with the text in a buffer of their own
	text  []byte
	next  int // the one to be looked at again, if again is set
	again bool
	tail  int  // blank lines below the last
	heads bool // the lines held head a trace: nothing but a frame shows that they belong to the record
}

// hold keeps ln back, which has no claim to the open record but may yet turn out
// to belong to it. It reports whether it did.
func (h *heldLines) hold(ln *line, blanks int) bool {
	if len(h.lines) == maxHeld || len(h.text)+len(ln.text) > maxHeldBytes {
		return false
	}
	if h.text == nil {
		h.text = make([]byte, 0, maxHeldBytes)
	}
	from := len(h.text)
	h.text = append(h.text, ln.text...)
	h.lines = append(h.lines, line{
		no: ln.no, text: h.text[from:], ended: true, blanks: blanks,
		ready: true, look: ln.look,
	})
	return true
}

func (h *heldLines) empty() bool { return len(h.lines) == 0 }

// reset forgets all lines and keeps the memory.
func (h *heldLines) reset() { *h = heldLines{lines: h.lines[:0], text: h.text[:0]} }

// awaitsTrace reports whether the record seems to end in the middle: it holds an
// exception, or its last line is a further exception, and it has no trace.
func (a *assembly) awaitsTrace() bool {
	return a.inner || a.mayThrow() && a.lines == 1 && a.is(ofFault) || a.lacksTrace()
}

// lacksTrace reports whether the record holds an exception and no trace of it.
func (a *assembly) lacksTrace() bool { return a.mayThrow() && a.isException() }

// mayThrow reports whether the record may have a trace, and has none.
func (a *assembly) mayThrow() bool {
	return a.block == blockNone && !a.sealed && !a.engine && a.frames == 0 && a.refState == ""
}

// mayGoOn reports whether the line may be a further one of an exception's message.
func (ln *line) mayGoOn() bool {
	return !ln.is(ofThrown|ownRecord|ofBanner) && !isRule(ln.text) && !ln.is(ofNaming) &&
		(!isDigit(ln.text[0]) || !ln.logger().Sure)
}

// endsHeld reports whether ln shows that the lines held belong to the record.
func (r *Reader) endsHeld(ln *line) bool {
	b := ln.text
	if r.held.empty() || !r.held.heads {
		return !r.held.empty() && ln.is(ofRef|ofFrame|ofFooter)
	}
	var f frame.Head
	return ln.is(ofFrame) && !isLogging(b) || isGoPlace(b) || hasPrefix(b, "    at ") || f.Cut(text(b)) && f.Python ||
		r.asm.repeats(b)
}

// holds decides about ln, which comes after a record that awaits a trace and
// does not join it by itself. It reports whether ln was dealt with; otherwise ln
// is to be looked at, after the lines held before it if there are any.
func (r *Reader) holds(ln *line) bool {
	a, h := &r.asm, &r.held
	if r.endsHeld(ln) && (a.blanks == 0 || ln.is(ofFooter) && a.blanks <= maxInnerBlanks) {
		a.calls = a.calls || h.heads && isGoPlace(ln.text)
		a.addHeld(h, true)
		return r.take(ln)
	}
	// Where every record ends with frames a blank line may lie within one.
	within := a.blanks == 0 || a.blanks == 1 && a.pureLines
	heads := r.heads(ln)
	// Of a record that only speaks of a fault, one line may be the exception.
	within = within && ln.mayGoOn() && !h.heads && (h.empty() || a.inner || a.lacksTrace()) && !r.reportsItself(ln)
	if (within || heads) && ln.hole == 0 && ln.cut == 0 && h.hold(ln, a.blanks) {
		a.blanks, h.heads = 0, h.heads || heads
		return true
	}
	if h.empty() {
		return false
	}
	r.release()
	return h.empty() && r.take(ln)
}

// keepHeld joins the lines held to the record if they continue it in any case.
func (r *Reader) keepHeld() bool {
	h := &r.held
	for i := range h.lines {
		if h.lines[i].blanks > 0 || !r.continues(&h.lines[i]) {
			return false
		}
	}
	r.asm.addHeld(h, false)
	return true
}

// reportsItself reports whether ln, in plain text below a record without an exception, is a report of another fault.
func (r *Reader) reportsItself(ln *line) bool {
	return r.layout == LayoutPlain && ln.is(ofFault) && !r.asm.isException() && !announcesList(r.asm.message)
}

// heads reports whether ln heads a trace: below a report of a fault also "Error: ", a function of Go's or a field.
func (r *Reader) heads(ln *line) bool {
	a, more := &r.asm, r.held.heads
	return a.headsTrace(ln, more) ||
		r.layout == LayoutPlain && !more && a.blanks == 0 && a.frames == 0 &&
			(ln.is(ofGoCall) || hasPrefix(ln.text, "Error: ") || a.isField(ln.text)) && a.reportsFault()
}

// addHeld joins the lines held to the record: above a frame, where a single one is the text of the exception that the
// record is known by, or else as further lines of its message.
func (a *assembly) addHeld(h *heldLines, aboveFrame bool) {
	blanks, to := a.blanks, partMessage
	switch {
	case !aboveFrame:
	case len(h.lines) == 1 && !h.heads && !a.inner && !a.isException():
		to, a.exception = partHead, true
	case a.calls:
		to = partStack
	}
	for i := range h.lines {
		l := &h.lines[i]
		a.blanks = l.blanks
		a.exception = a.exception || l.is(ofReport)
		a.add(l, to, evidenceForm)
	}
	h.reset()
	a.blanks = blanks
}

// release ends the open record above the lines held below it, which are to be
// looked at again, unless they continue it in any case.
func (r *Reader) release() {
	h := &r.held
	if r.keepHeld() {
		return
	}
	h.tail = r.asm.blanks
	r.asm.blanks = h.lines[0].blanks
	h.again, h.next = true, 0
}
