package capture

import (
	"bytes"

	"github.com/heedlog/heed/capture/internal/crash"
	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
)

// block is a stretch of lines that belong to one record in any form, until its end.
type block uint8

const (
	blockNone block = iota
	blockContext
	blockCrash
	blockMemory
	blockSymbols
	blockPatchTrace
	blockReport // of a crash, from its cause on: see crashreport.go
	blockAround // what else is in the report of a crash
)

// listState is the state of a list that a line announced by ending in a colon.
type listState uint8

const (
	listNone     listState = iota
	listExpected           // the line above announced it
	listOpen               // items have been read; shape is the shape of the last
)

// part is where in a record the text of a line goes.
type part uint8

const (
	partOpen  part = iota // not decided
	partApart             // in no part: the line does not belong to it
	partMessage
	partStack
	partHead // the message's first line, which is all there is of it
	partNone // the line is covered, and its text kept nowhere
)

// assembly is the record being put together. Its buffers are used again and
// again, so that a record costs no allocation once they have grown; neither
// grows beyond the limit.
type assembly struct {
	limit int
	refs  *refTable

	message []byte
	stack   []byte
	// previous is the message of the record before, for telling repeats; the
	// two buffers change places with every record.
	previous []byte

	pureLines bool // see detection.pure

	openRecord
}

// openRecord is the state of the open record besides its
// texts. Without a pointer in it, to clear it costs little.
type openRecord struct {
	start, end int
	time       int64 // of its first line; see line
	partial    bool  // its last line continues in the next
	lines      int   // not blank
	blanks     int   // blank lines since the last that was not
	split      Evidence
	sealed     bool // nothing more can belong to it
	block      block
	cut        uint64

	frames    int // lines in stack that are frames
	crash     reportPart
	reason    crash.Reason
	reasoned  bool // the frame that gives the reason has been read
	traceback bool // a trace of Python's is open; see joinsThrown
	boxed     bool // it is in a box, which ends with the record
	titled    bool // the first line, of plain text, is a title; see isDrawn
	thrown    bool // the exception has been read below it; see joinsChained
	chained   bool // and that another trace follows
	dump      bool // a dump of Go's is open; see joinsDump
	export    bool // it is an entry of the journal's export
	calls     bool // or a stack that a program of Go's survived
	own       look // at the first line, which may lose a space at its end since
	threw     bool // the first frame has the place of an exception's
	exception bool // a line below the first is an exception that the first announced
	inner     bool // the last line hands on a further exception; see nests
	footer    bool
	engine    bool // the first line is one of the engine's own
	section   bool // a title within it has been read; shape is the shape of its lines
	list      listState
	anyItem   bool // the list may begin with a line of any look; see beginsList
	shape     itemShape
	console   event.Level
	byConsole bool

	ref      uint64
	refState string

	local int // where in message the line above is, set in like a frame of any language, plus one; 0: it is none
	// refFrom is where in stack the trace of ref begins; -1 if
	// none is open.
	refFrom int
}

// reset makes a empty, keeping its buffers.
func (a *assembly) reset() {
	a.message, a.previous, a.stack = a.previous[:0], a.message, a.stack[:0]
	a.openRecord = openRecord{refFrom: -1}
}

func (a *assembly) empty() bool { return a.lines == 0 }

// cover makes ln the first line of the record, without its text.
func (a *assembly) cover(ln *line) {
	a.start, a.end, a.lines = ln.no, ln.no, 1
	a.cut = ln.cut
}

// open makes ln the first line of the record.
func (a *assembly) open(ln *line) {
	a.cover(ln)
	a.put(partMessage, ln.text)
	if len(ln.text) <= a.limit {
		ln.logger()
		a.own = ln.look
	}
}

// begin opens the record with ln, and the block or list that ln begins.
func (a *assembly) begin(ln *line, layout Layout) {
	b := ln.text
	a.open(ln)
	a.time, a.partial = ln.time, ln.partial
	a.split = evidenceLine
	if layout == LayoutPlain || layout == LayoutJSON {
		a.titled, a.calls = isDrawn(b), isGoroutine(b)
		a.traceback = hasPrefix(b[journalLen(b):], traceback) || !isIndented(b) && hasSuffix(trimRight(b), traceback+":")
		return
	}
	switch {
	case ln.is(ofCause), layout == layoutCrash && crash.IsJSONCause(text(b)):
		a.block, a.split, a.reason = blockReport, evidenceBlock, crash.CauseReason(text(b))
	case layout == layoutCrash, ln.is(ofRest):
		a.block, a.split = blockAround, evidenceBlock
	case ln.is(crashStarts):
		a.block, a.split = blockCrash, evidenceBlock
	case hasPrefix(b, unity.MemoryStart), hasPrefix(b, unity.MemoryEnd):
		a.block, a.split = blockMemory, evidenceBlock
	case hasPrefix(b, unity.SymbolsStart):
		a.block = blockSymbols
	case b[0] == '[' && hasSuffix(trimRight(b), rimworld.PatchTraceStart):
		a.block = blockPatchTrace
	case ln.is(ofFooter):
		a.footer, a.sealed = true, true
	}
	if ln.is(ofRef) {
		a.reference(b)
		return
	}
	if ln.is(ofFrame) {
		a.frame(b)
		return
	}
	a.engine = ln.is(ofEngine)
	if announcesList(b) {
		a.list, a.anyItem = listExpected, a.is(ofFault|ofFaultWord|ofNaming)
	}
}

// add joins ln to the record.
func (a *assembly) add(ln *line, to part, ev Evidence) {
	a.end = ln.no
	a.lines++
	goesOn := a.partial
	a.partial = ln.partial
	a.split = ev
	a.cut += ln.cut
	a.inner = false
	if ev == evidenceForm {
		a.inner = ln.is(ofNested) || isInnerException(ln.text)
	}
	switch {
	case goesOn:
		a.own = look{} // the line may be the first
		a.append(a.lastText(), ln.text)
	case to != partNone:
		a.put(to, ln.text)
		if to == partMessage && len(a.stack) > 0 && headsCause(ln.text) {
			a.put(partStack, ln.text) // whose frames follow
		}
	}
	a.blanks = 0
}

// put appends the text of a line to one of the two texts.
func (a *assembly) put(to part, b []byte) {
	dst := &a.message
	if to == partStack {
		dst = &a.stack
	}
	switch {
	case len(*dst) == 0:
	case to == partHead && len(*dst) < a.limit:
		a.own = look{}
		*dst = append(*dst, ' ')
	default:
		if to == partMessage && a.blanks > 0 {
			a.feed(dst)
		}
		a.feed(dst)
	}
	a.append(dst, b)
}

// append appends as much of b as fits.
func (a *assembly) append(dst *[]byte, b []byte) {
	n := min(len(b), a.limit-len(*dst))
	*dst = append(*dst, b[:n]...)
	a.cut += uint64(len(b) - n)
}

// feed appends a line feed if it fits.
func (a *assembly) feed(dst *[]byte) {
	if len(*dst) < a.limit {
		*dst = append(*dst, '\n')
	}
}

// frame takes note of a frame that has been put on the stack.
func (a *assembly) frame(b []byte) {
	a.frames++
	if b[0] == ' ' || b[0] == '\t' {
		a.threw = a.threw || a.frames == 1 && bytes.Contains(b, []byte("] in <"))
		return
	}
	if !a.byConsole {
		a.console, a.byConsole = consoleLevel(b)
	}
}

// reference takes note of b, a stack reference, and fills in the trace of a
// duplicate.
func (a *assembly) reference(b []byte) {
	ref, duplicate, _ := rimworld.Ref(text(b))
	a.closeRef()
	a.ref = ref
	if !duplicate {
		a.refState = refOriginal
		a.refFrom = len(a.stack)
		return
	}
	trace, ok := a.refs.get(ref)
	if !ok {
		a.refState = refUnresolved
		return
	}
	a.refState = refResolved
	a.put(partStack, trace)
	a.frames++
}

// closeRef remembers the trace of an open reference.
func (a *assembly) closeRef() {
	if a.refFrom < 0 {
		return
	}
	a.refs.put(a.ref, after(a.stack, a.refFrom))
	a.refFrom = -1
}

// lastText returns the text that the last line of the record went to.
func (a *assembly) lastText() *[]byte {
	if a.split == evidenceFrame && len(a.stack) > 0 {
		return &a.stack
	}
	return &a.message
}

// head returns the first line of the record.
func (a *assembly) head() []byte {
	head, _, _ := bytes.Cut(a.message, []byte("\n"))
	return head
}

// is reports whether the first line is of one of the kinds.
func (a *assembly) is(k kinds) bool {
	if k&^a.own.known != 0 {
		a.find(k)
	}
	return a.own.kinds&k != 0
}

// find is a function of its own, so that the compiler puts is into its callers.
func (a *assembly) find(k kinds) { a.own.find(a.head(), k) }

// logger returns the head that a logger wrote in front of the first line.
func (a *assembly) logger() *logline.Head {
	if a.own.known&ofHead == 0 {
		a.own.logger(a.head())
	}
	return &a.own.head
}

// isException reports whether the record has the form of an exception.
func (a *assembly) isException() bool {
	return a.exception || a.footer && a.threw || a.is(ofThrown|ofNaming)
}
