package capture

import (
	"bytes"
	"errors"
	"io"

	"github.com/heedlog/heed/internal/logline"
)

// minHole is the shortest run of NUL bytes that counts as a hole in the log.
// Holes in real captures are pages of a file that were never written (43 KB and
// more); a stray NUL belongs to a message.
const minHole = 64

// line is one line of the input. Text aliases the reader's buffer and is valid
// until the next line is read.
type line struct {
	no   int
	text []byte // without the line end, trailing \r's and holes

	cut       uint64 // bytes at its end that were not kept
	hole      uint64 // bytes of holes in it
	holeFirst bool   // the line begins with a hole: no text is before it
	ended     bool   // a \n followed

	time    int64 // that a container wrote in front of it, in nanoseconds since 1970; 0 without one
	partial bool  // the next line continues it

	ready  bool         // colors and the wrapping by a container were taken off
	frame  answer       // of isFrame
	head   logline.Head // of logger
	headed bool
}

// answer caches a predicate of a line.
type answer uint8

const (
	unasked answer = iota
	no
	yes
)

// isFrame is isFrame of the text.
func (ln *line) isFrame() bool {
	if ln.frame == unasked {
		ln.frame = no
		if isFrame(ln.text) {
			ln.frame = yes
		}
	}
	return ln.frame == yes
}

// logger returns the head that a logger wrote in front of the text. It is read once.
func (ln *line) logger() logline.Head {
	if !ln.headed {
		ln.head, ln.headed = logline.Parse(text(ln.text)), true
	}
	return ln.head
}

// lineReader splits its source into lines as lineEnd does, unless endAtCR sets
// otherwise. Its memory is two
// buffers of fixed size: the rest of a longer line is
// counted and dropped.
//
// The lines of an input depend on the bytes alone, never on how the source
// hands them out: a line takes the slow path if and only if it is longer than
// the buffer.
type lineReader struct {
	src  io.Reader
	buf  []byte
	r, w int
	err  error  // from src; sticky
	came uint64 // bytes from src
	nul  int    // place of the first NUL in buf[r:w], w without one
	no   int
	long []byte // holds the kept part of a line longer than buf

	cr      bool // a \r ends a line
	afterCR bool // the last byte read was one

	within  bool       // src had no more when long and filter held the beginning of a line
	filter  holeFilter // of that line
	partial bool       // where src has no more for now, a line ends
	stop    int        // the line after which there is no more until it is 0
}

// stopped reports whether the last line was the one to stop after.
func (l *lineReader) stopped() bool { return l.stop > 0 && l.no >= l.stop }

func newLineReader(src io.Reader) *lineReader {
	return &lineReader{src: src, buf: make([]byte, windowSize)}
}

// maxEmptyReads is how often in a row a source may return nothing and no error.
const maxEmptyReads = 100

// endAtCR makes each \r, or \r and \n, end a line from here on.
func (l *lineReader) endAtCR() {
	l.cr = true
	l.w = l.r + l.convert(l.buf[l.r:l.w])
	l.findNUL(l.r)
}

// convert puts a \n in place of every line end in b, and returns how many bytes
// that leaves.
func (l *lineReader) convert(b []byte) int {
	n := 0
	for _, c := range b {
		after := l.afterCR
		if l.afterCR = c == '\r'; l.afterCR {
			c = '\n'
		} else if after && c == '\n' {
			continue
		}
		b[n] = c
		n++
	}
	return n
}

// fill reads once more into free space at the end of buf; there must be some.
func (l *lineReader) fill() {
	for range maxEmptyReads {
		n, err := l.src.Read(l.buf[l.w:])
		l.came += uint64(n)
		if l.cr {
			n = l.convert(l.buf[l.w : l.w+n])
		}
		from := l.w
		l.w += n
		if l.nul == from {
			l.findNUL(from)
		}
		if err != nil {
			l.err = err
			return
		}
		if n > 0 {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// findNUL sets nul, where there is none before from.
func (l *lineReader) findNUL(from int) {
	l.nul = l.w
	if i := bytes.IndexByte(l.buf[from:l.w], 0); i >= 0 {
		l.nul = from + i
	}
}

// peek returns the next n bytes without consuming them, or fewer at the end of
// the input. n must not exceed the size of buf.
func (l *lineReader) peek(n int) []byte {
	for l.w-l.r < n && l.err == nil {
		if l.w == len(l.buf) {
			l.shift()
		}
		l.fill()
	}
	return l.buf[l.r:min(l.w, l.r+n)]
}

func (l *lineReader) shift() {
	l.w = copy(l.buf, l.buf[l.r:l.w])
	l.nul -= l.r
	l.r = 0
}

// next reads the next line. It returns the error of the source once there is
// nothing left; an unterminated last line is delivered before that.
func (l *lineReader) next(ln *line) error {
	if l.stopped() {
		return errMore
	}
	if l.within {
		return l.nextLong(ln)
	}
	seen := 0
	for {
		if i := lineEnd(l.buf[l.r+seen:l.w], l.err == nil || errors.Is(l.err, errMore)); i >= 0 {
			end := l.r + seen + i
			l.take(ln, end, true)
			l.r = end + 1
			return nil
		}
		seen = max(0, l.w-l.r-maxHead-1)
		if l.err != nil {
			if l.w == l.r || !l.partial && errors.Is(l.err, errMore) {
				return l.err
			}
			l.take(ln, l.w, false)
			l.r = l.w
			return nil
		}
		if l.w == len(l.buf) {
			if l.r == 0 {
				return l.nextLong(ln)
			}
			l.shift()
		}
		l.fill()
	}
}

// maxHead bounds the bytes of a line that show whether it begins with the head of a logger.
const maxHead = 128

// lineEnd returns the index of the byte that ends the first line of b, -1 without one: its \n, or a \r before the time
// or the level with which a logger begins the next line. Any other \r is part of a text, such as of a progress bar. If
// more may follow b, a \r waits until the line after it has an end or maxHead bytes.
func lineEnd(b []byte, more bool) int {
	end := bytes.IndexByte(b, '\n')
	if end >= 0 {
		b, more = b[:end], false
	}
	for i := bytes.IndexByte(b, '\r'); i >= 0; {
		head, _, ended := bytes.Cut(b[i+1:], []byte("\r"))
		if len(head) > 0 && (ended || !more || len(head) >= maxHead) &&
			logline.Parse(text(head[:min(len(head), maxHead)])).Sure {
			return i
		}
		if !ended {
			break
		}
		i += 1 + len(head)
	}
	return end
}

// take makes what lies before end, without the \n, the current line.
func (l *lineReader) take(ln *line, end int, ended bool) {
	l.no++
	*ln = line{no: l.no, ended: ended}
	raw := l.buf[l.r:end]
	if l.nul < end {
		l.findNUL(end)
		// In place: the kept text is never longer than the line.
		h := holeFilter{dst: raw[:0], limit: len(raw)}
		h.add(raw)
		h.finish(ln)
	} else {
		ln.text = raw
	}
	ln.trimCR()
}

// nextLong reads a line that is longer than the buffer. Where
// src has no more for now, the part that was read is kept for the next call.
func (l *lineReader) nextLong(ln *line) error {
	if l.long == nil {
		l.long = make([]byte, 0, len(l.buf))
	}
	if !l.within {
		l.filter = holeFilter{dst: l.long[:0], limit: len(l.buf)}
	}
	l.within = false
	h, ended := &l.filter, false
	for {
		chunk := l.buf[l.r:l.w]
		if i := bytes.IndexByte(chunk, '\n'); i >= 0 {
			h.add(chunk[:i])
			l.r += i + 1
			l.findNUL(l.r)
			ended = true
			break
		}
		h.add(chunk)
		l.r, l.w, l.nul = 0, 0, 0
		if l.err != nil {
			if errors.Is(l.err, errMore) {
				l.within = true
				return l.err
			}
			break
		}
		l.fill()
	}
	l.no++
	*ln = line{no: l.no, ended: ended}
	h.finish(ln)
	ln.trimCR()
	return nil
}

// trimCR strips trailing \r's, and the \n of a hole at the end.
func (ln *line) trimCR() {
	t := ln.text
	for len(t) > 0 && t[len(t)-1] == '\r' {
		t = t[:len(t)-1]
	}
	if ln.hole > 0 {
		for len(t) > 0 && (t[len(t)-1] == '\n' || t[len(t)-1] == '\r') {
			t = t[:len(t)-1]
		}
	}
	ln.text = t
}

// holeFilter copies the text of a line and leaves out its holes. Text before
// and after a hole is separated by a \n, as if they had been two lines.
type holeFilter struct {
	dst   []byte
	limit int
	run   uint64 // NULs just seen
	apart bool   // the next text follows a hole

	cut, hole uint64
	first     bool // the first hole came before any text
}

func (h *holeFilter) add(b []byte) {
	for len(b) > 0 {
		if b[0] == 0 {
			n := len(b) - len(bytes.TrimLeft(b, "\x00"))
			h.run += uint64(n)
			b = b[n:]
			continue
		}
		h.endRun()
		n := bytes.IndexByte(b, 0)
		if n < 0 {
			n = len(b)
		}
		if h.apart {
			h.apart = false
			if len(h.dst) > 0 {
				h.keep('\n')
			}
		}
		kept := min(n, h.limit-len(h.dst))
		h.dst = append(h.dst, b[:kept]...)
		h.cut += uint64(n - kept)
		b = b[n:]
	}
}

func (h *holeFilter) keep(c byte) {
	if len(h.dst) < h.limit {
		h.dst = append(h.dst, c)
	} else {
		h.cut++
	}
}

func (h *holeFilter) endRun() {
	if h.run >= minHole {
		if blank(h.dst) {
			h.dst = h.dst[:0]
			h.first = h.first || h.hole == 0
		}
		h.hole += h.run
		h.apart = true
	} else {
		for range h.run {
			h.keep(0)
		}
	}
	h.run = 0
}

func (h *holeFilter) finish(ln *line) {
	h.endRun()
	ln.text, ln.cut, ln.hole, ln.holeFirst = h.dst, h.cut, h.hole, h.first
}
