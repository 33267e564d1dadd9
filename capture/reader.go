package capture

import (
	"bufio"
	"bytes"
	"cmp"
	"hash/maphash"
	"io"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
	"github.com/heedlog/heed/event"
)

// Reader reads the records of one capture, in order. It is not safe for
// concurrent use. Its memory does not depend on the length of the input, of a
// record or of a line.
type Reader struct {
	opt    Options
	src    *bufio.Reader // nil: a Stream feeds the lines
	op     string        // of src
	lines  *lineReader
	header bool           // the input begins with the header of an upload
	layout Layout         // of the log now; refined by its own lines
	format *format.Format // of its family, as far as that is known

	cur  line
	have bool // cur is to be looked at

	asm    assembly
	held   heldLines
	banner bannerState
	first  int // line of the first record; 0 before it

	ended   bool // a line of the log now contains Options.LastLine
	unended bool // see Position
	footers int  // of managed code
	upload  bool // the log is below the header of an upload, and no banner is between
	old     bool // the input is a recording of oldRecording
	json    jsonLine
	looks   *looks
	mods    modLists
	machine *Facts // in the header of an upload, whose text may be cut above them

	uncolored []byte // the current line, where it had colors
	origin    []byte // the prefix that was taken off the line before, empty if none was
	unwrapped []byte // the current line, where it was one of a container
	wrapped   bool   // lines of a container came

	headed, bare int // records of plain text that began with and without the head of a logger

	run     uint64 // adjacent records with the message in asm.previous
	runLine int    // last line of the run

	out     []Record // several end at once, some with notices
	outHead int      // the next of them
	starved bool     // there is no more for now, in the middle of a record or before the next
	failed  error    // of src
	err     error    // what Next returns once out is empty

	live live // of a Stream
}

// NewReader returns a Reader of r, which may be compressed with gzip or zstd.
// Unless opt names a layout, it reads up to 64 KiB to recognize it, and whether
// lines end in \r as they did on old Macs: without a \n among that. The error
// is about opt, or says that not even a beginning could be read.
func NewReader(r io.Reader, opt Options) (*Reader, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	src, op, err := decompressed(r)
	if err != nil {
		return nil, readError(0, op, err)
	}
	if opt.Tee != nil {
		src = bufio.NewReaderSize(io.TeeReader(src, opt.Tee), inputSize)
	}
	rd := newReader(opt)
	rd.src, rd.op = src, op
	for !rd.ready() && !rd.lines.ended {
		rd.more()
	}
	rd.detectLayout()
	return rd, nil
}

// newReader returns a Reader whose lines are to be fed until it is ready.
func newReader(opt Options) *Reader {
	return &Reader{
		opt: opt, lines: newLineReader(), op: "read", layout: opt.Layout, out: make([]Record, 0, 8),
		looks: &looks{seed: maphash.MakeSeed()},
		asm:   assembly{limit: cmp.Or(opt.maxRecordText, defaultMaxRecordText), refs: newRefTable(maxRefs, maxRefBytes)},
	}
}

// ready reports whether there is enough of the input to recognize its layout.
func (r *Reader) ready() bool {
	return r.lines.begun && (r.opt.Layout != LayoutAuto || len(r.lines.head(detectSize)) == detectSize)
}

// detectLayout recognizes the layout by the text that is there.
func (r *Reader) detectLayout() {
	l := r.lines
	if hasPrefix(l.head(len(byteOrderMark)), byteOrderMark) {
		l.r += len(byteOrderMark)
	}
	d := detection{layout: r.layout, header: r.layout == layoutHugsLib, pure: r.layout == layoutConsole}
	r.format = formatOf(layoutFamilies[r.layout])
	if r.opt.Layout == LayoutAuto {
		whole := r.ready() || l.ended // else a \n may be about to come
		if head := l.head(detectSize); whole && bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0 {
			l.endAtCR()
		}
		window := l.head(detectSize)
		d = detect(window)
		r.format = detectFormat(window, d)
	}
	if d.layout == layoutHugsLib {
		d.layout = layoutUnity2022_3
	}
	r.layout, r.footers = d.layout, d.footers
	r.asm.pureLines, r.header, r.upload = d.pure, d.header, d.header
}

// more reads more of the input, which may have to wait.
func (r *Reader) more() {
	if r.failed == nil { // else more of the text waits for room
		_, r.failed = r.src.Peek(1)
	}
	if r.failed != nil {
		r.lines.end()
		return
	}
	b, _ := r.src.Peek(r.src.Buffered())
	_, _ = r.src.Discard(r.lines.feed(b))
}

const byteOrderMark = "\xef\xbb\xbf"

// Position is how far an input was read, and its layout as far as it is known there.
type Position struct {
	// Lines counts the lines that were read, also without an end.
	Lines int

	// Bytes counts the bytes of these lines, with their ends and the bytes that are missing among them, in the text of
	// the input: decompressed and in UTF-8. A [Stream] does not count them.
	Bytes uint64

	// Through is the last line whose record a Stream has returned, or that belongs to no record. Partly counts the
	// bytes that it has returned of the line after it, which had no end.
	Through, Partly int

	// Layout is "hugslib" for an upload with a header, else the layout of the log.
	Layout Layout

	// Unended reports, at the end of the input, that the last line has no end, unlike others, so that it may be cut.
	Unended bool
}

// At returns how far the input was read.
func (r *Reader) At() Position {
	at := Position{
		Lines: r.lines.no, Bytes: r.lines.came - uint64(r.lines.w-r.lines.r), Layout: r.layout, Unended: r.unended,
	}
	if r.header {
		at.Layout = layoutHugsLib
	}
	return at
}

// through returns the last line whose record was returned, or that belongs to none.
func (r *Reader) through() int {
	if r.outHead < len(r.out) && r.out[r.outHead].StartLine > 0 {
		return r.out[r.outHead].StartLine - 1
	}
	if h := &r.held; h.next < len(h.lines) {
		return h.lines[h.next].no - 1
	}
	if r.have {
		return r.cur.no - 1
	}
	return r.lines.no
}

// Family returns the name of the family of the log, as far as that is known: at first by the beginning of the input.
// See [Record].Family.
func (r *Reader) Family() string { return r.format.Name }

// Head returns up to n bytes with which the text of the input begins, decompressed
// and in UTF-8, for a look at whether it is one. n may be up to 64 KiB. Once Next
// has been called it returns nothing. The bytes are valid until then.
func (r *Reader) Head(n int) []byte {
	if r.lines.no > 0 {
		return nil
	}
	return r.lines.head(min(n, detectSize))
}

// Next fills rec with the next record. Strings in it are valid until the next
// call. At the end of the input it returns io.EOF, and where the input ends
// badly an error that names the line; both are returned again by every further call.
//
// A record is complete when its footer or JSON line has been read, else when
// the line after it has been; a record that ends in an exception without a trace may
// wait for up to eight lines more.
func (r *Reader) Next(rec *Record) error {
	for !r.step(rec) {
		if r.err != nil {
			return r.err
		}
		r.more()
	}
	return nil
}

// step fills rec with the next record. It returns false if the input has no more for now, or has ended: then err is
// set.
func (r *Reader) step(rec *Record) bool {
	for again := true; again && r.outHead == len(r.out) && r.err == nil; again = !r.starved {
		r.out, r.outHead = r.out[:0], 0
		r.read()
	}
	if r.outHead == len(r.out) {
		return false
	}
	*rec = r.out[r.outHead]
	r.outHead++
	return true
}

// deliver returns the zero record that is to be filled next.
func (r *Reader) deliver() *Record {
	r.out = append(r.out, Record{})
	return &r.out[len(r.out)-1]
}

// read reads up to the end of one record and puts it and the notices around it
// into out.
func (r *Reader) read() {
	if !r.starved {
		r.asm.reset()
	}
	r.starved = false
	for !r.asm.sealed {
		ln := &r.cur
		if r.held.again {
			ln = r.heldOrNext()
		}
		if ln == &r.cur && !r.have {
			if r.have = r.lines.next(ln); !r.have {
				r.pause()
				return
			}
		}
		if ln.hole > 0 && (ln.holeFirst || blank(ln.text)) {
			if !r.held.empty() {
				r.release()
				break
			}
			// It separates the record above from the text of this line.
			r.asm.split = evidenceHole
			r.flush()
			r.hole(ln)
			r.have = !blank(ln.text)
			return
		}
		if !ln.ready {
			r.prepare(ln)
		}
		r.unhead(ln)
		if blank(ln.text) {
			r.have = false
			r.asm.blanks++
			continue
		}
		if !r.take(ln) {
			break
		}
		if ln.cut > 0 && ln.hole == 0 && !ln.holeFirst { // else a notice about the hole counts it
			r.notice(event.StatusHole, ln.cut, ln.no, cutLine).Cut = ln.cut
		}
		if r.asm.lines > 1 {
			r.looks.keep(&ln.look)
		}
		if r.held.again {
			r.held.next++
		} else {
			r.have = false
		}
		if ln.hole > 0 {
			if !r.asm.sealed {
				r.asm.split = evidenceHole
			}
			r.flush()
			r.hole(ln)
			return
		}
	}
	r.flush()
}

// pause leaves the open record where there is no line for now, delivers it if a Flush asks for it, and ends it at the
// end of the input.
func (r *Reader) pause() {
	ended := r.lines.ended && !r.lines.stopped()
	switch r.starved = !ended; {
	case !ended && !r.live.flush:
	case !r.held.empty():
		r.starved = false
		r.release()
		r.flush()
	case !ended:
		r.handOver()
	default:
		r.flush()
		r.finish()
	}
}

// prepare takes off ln all that does not belong to its text.
func (r *Reader) prepare(ln *line) {
	ln.ready = true
	if hasPrefix(ln.text, byteOrderMark) && !blank(ln.text[len(byteOrderMark):]) {
		ln.text = ln.text[len(byteOrderMark):] // files joined into one keep their marks
	}
	if ln.odd && bytes.IndexByte(ln.text, escape) >= 0 {
		r.uncolored = appendUncolored(r.uncolored[:0], ln.text)
		ln.text = r.uncolored
	}
	if r.wrapped || !r.layout.unity() { // a layout of Unity is known by lines without a wrapping
		whole := len(ln.text)
		r.unwrap(ln)
		r.wrapped = r.wrapped || len(ln.text) < whole
	}
	if len(ln.text) > 0 && ln.text[0] > ' ' && r.asm.block == blockNone && ln.hole == 0 && len(r.unwrapped) == 0 {
		r.looks.recall(ln) // else a record's answers may be about the first of several lines
	}
	r.ended = r.ended || r.opt.LastLine != "" && bytes.Contains(ln.text, []byte(r.opt.LastLine))
}

// cutLine is the notice about a line that is longer than the window.
const cutLine = "a line was cut: heed read the first 256 KiB of it"

// heldOrNext returns the next line that was held back and is to be looked at
// again, and after the last of them the current line of the input.
func (r *Reader) heldOrNext() *line {
	h := &r.held
	if h.next < len(h.lines) {
		ln := &h.lines[h.next]
		r.asm.blanks = ln.blanks
		return ln
	}
	r.asm.blanks = h.tail
	h.reset()
	return &r.cur
}

// take makes ln part of the open record, or the first line of one if none is
// open, or holds it back. It reports whether it did; otherwise the record is
// complete.
func (r *Reader) take(ln *line) bool {
	if r.asm.empty() {
		r.begin(ln)
		return true
	}
	switch {
	case !r.held.again && !r.held.empty():
		return r.holds(ln)
	case r.join(ln):
		return true
	case !r.held.again && !r.asm.pureLines && r.heads(ln):
		return r.holds(ln)
	case !r.held.again && r.layout == LayoutPlain && r.asm.blanks == 0 && r.asm.repeats(ln.text):
		r.asm.add(ln, partMessage, evidenceForm)
		return true
	case r.held.again, !r.layout.unity() && r.layout != LayoutPlain, ln.is(ownRecord):
		return false
	case r.layout == LayoutPlain && (ln.logger().Sure || ln.head.Leveled):
		return false
	case (r.asm.blanks == 0 || r.asm.pureLines) && r.asm.awaitsTrace() && r.holds(ln):
		return true
	case r.asm.blanks == 0 && r.continues(ln):
		r.asm.add(ln, partMessage, evidenceForm)
		r.listLine(ln)
		return true
	}
	return false
}

// hole puts the notice about the hole in ln into out, and takes it off ln.
func (r *Reader) hole(ln *line) {
	r.endRun(0) // missing lines may be of the run or not
	r.notice(event.StatusHole, ln.hole+ln.cut, ln.no, "the log holds a run of NUL bytes where text should be")
	ln.hole = 0
}

// begin makes ln the first line of a record.
func (r *Reader) begin(ln *line) {
	a := &r.asm
	r.first = cmp.Or(r.first, ln.no)
	a.blanks = 0
	joined := r.layout == layoutCrash && ln.is(ofBanner) // with the log of the game
	if joined || r.layout == LayoutPlain && r.opt.Layout == LayoutAuto && showsUnity(ln) {
		r.layout = layoutUnity2022_3 // a banner or a footer decides later
	}
	if r.first == ln.no && r.header && isContextStart(ln.text) ||
		r.layout.unity() && hasPrefix(ln.text, rimworld.UploadStart) {
		a.open(ln)
		a.sealed = isContextEnd(ln.text)
		a.block, a.split = blockContext, evidenceBlock
		r.mods.begin(text(ln.text), true)
		r.machine = nil
		return
	}
	if r.isJSON(ln) {
		a.cover(ln)
		a.split, a.sealed = evidenceJSON, true
		return
	}
	if r.layout == LayoutPlain && hasPrefix(ln.text, exportStart) {
		a.open(ln)
		a.split, a.export = evidenceForm, true
		return
	}
	if r.layout.unity() && ln.is(ofBanner) {
		r.noteBanner(ln)
	}
	r.observeFormat(ln.text)
	if detect := r.format.Detect; detect != nil && !r.layout.unity() && r.banner.again(ln.text, detect) {
		r.restart(ln)
	}
	switch {
	case r.layout != LayoutPlain:
	case ln.logger().Sure:
		r.headed++
	default:
		r.bare++
	}
	a.begin(ln, r.layout)
	r.mods.silent = r.format.Silent
	if head := text(ln.text); r.mods.mayBegin(head, r.banner.records+1) {
		r.mods.begin(head, false)
	}
	r.noteConsole(ln.text)
}

// isJSON reports whether ln is a JSON object that is a record: any one among JSON lines, and elsewhere one with a level
// and a message.
func (r *Reader) isJSON(ln *line) bool {
	return ln.text[0] == '{' && ln.cut == 0 && r.json.parse(ln.text) &&
		(r.layout == LayoutJSON || r.json.hasLevel && len(r.json.texts[roleMessage]) > 0)
}

// noteBanner refines the layout by ln, a line of the engine's banner. Below a copy of the
// console it begins another log; one above the frames of a console has them itself.
func (r *Reader) noteBanner(ln *line) {
	restarted := r.banner.restarted(ln.text)
	if r.layout == layoutConsole && (restarted || r.asm.pureLines) {
		r.layout = layoutUnity2022_3
	}
	r.upload, r.asm.pureLines = false, false
	if l, ok := versionLayout(ln.text); ok && r.layout != layoutConsole {
		r.layout = l
	}
	if restarted {
		r.restart(ln)
	}
}

// restart begins another run of the game at ln.
func (r *Reader) restart(ln *line) {
	r.notice(event.StatusRestarted, 0, ln.no, "the log starts again")
	r.mods.restart(r.banner.records)
}

// noteHeader takes note of the header of an upload. Below another log, its own
// log may have another layout.
func (r *Reader) noteHeader() {
	r.upload = true
	if r.layout == layoutConsole && r.asm.start > r.first {
		r.layout, r.asm.pureLines = layoutUnity2022_3, false
	}
}

// join adds ln to the open record, if it belongs there.
func (r *Reader) join(ln *line) bool {
	a := &r.asm
	if ln.text[0] == '{' && (r.layout == LayoutJSON || r.isJSON(ln)) {
		return false
	}
	v := a.joins(ln, r.layout)
	if v.to <= partApart {
		return false
	}
	if v.to == partNone {
		if ln.is(ofRef) {
			a.add(ln, partNone, v.by)
			a.reference(ln.text)
			if a.refState == refUnresolved {
				a.put(partMessage, trimRight(ln.text))
			}
			return true
		}
	}
	if v.by == evidenceFooter {
		r.noteFooter(ln.text)
		before := a.lastText()
		*before = bytes.TrimSuffix(*before, []byte(" ")) // with which Unity 2019.4 separates a text from its footer
		a.refFrom = min(a.refFrom, len(a.stack))
		a.footer = true
	}
	if a.refFrom >= 0 && isLogging(ln.text) {
		a.closeRef() // a console's frames differ from one use of the reference to the next
	}
	a.add(ln, v.to, v.by)
	r.listLine(ln)
	if a.block == blockContext {
		r.machine = rimworld.Machine(r.machine, text(ln.text))
	}
	if v.to == partStack && v.by == evidenceFrame {
		a.frame(ln.text)
		r.noteConsole(ln.text)
	}
	return true
}

// listLine reads a line of the record, which may be of a list of mods.
func (r *Reader) listLine(ln *line) {
	if r.mods.form != formNone || hasSuffix(ln.text, "List:") {
		r.mods.line(text(ln.text))
	}
}

// noteFooter refines the layout by a footer that is about to be joined.
func (r *Reader) noteFooter(b []byte) {
	if unity.IsManaged(text(b)) {
		r.footers++
	}
	switch {
	case r.layout == layoutConsole:
	case r.asm.blanks == 0:
		r.layout = layoutUnity2019_4
	case r.layout == layoutUnity2022_3:
		r.layout = layoutUnity2019_2
	}
}

// noteConsole refines the layout by a frame that only a console copy has. Below
// a header, which hid it from detect, the copy is as pure as at the beginning of
// the input.
func (r *Reader) noteConsole(b []byte) {
	if r.layout != layoutConsole && b[0] == 'U' && hasPrefix(b, unity.ConsoleMark) {
		r.layout = layoutConsole
		r.asm.pureLines = r.upload
	}
}
