package capture

import (
	"bytes"

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
	blanks    int    // blank lines above it; of a line held back

	time    int64 // that a container wrote in front of it, in nanoseconds since 1970; 0 without one
	partial bool  // the next line continues it

	ready  bool         // colors and the wrapping by a container were taken off
	frame  answer       // of isFrame
	kinds  kinds        // of is; 0: not looked up
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

// lineReader splits the bytes that it is fed into lines as lineEnd does, unless endAtCR sets
// otherwise. Its memory is two
// buffers of fixed size: the rest of a longer line is
// counted and dropped.
//
// The lines of an input depend on the bytes alone, never on how they are fed: a line takes the slow path if and only if
// it is longer than the buffer.
type lineReader struct {
	decoder
	buf   []byte
	r, w  int
	ended bool   // no more bytes come
	came  uint64 // bytes of the text
	nul   int    // place of the first NUL in buf[r:w], w without one
	no    int
	long  []byte // holds the kept part of a line longer than buf

	cr      bool // a \r ends a line
	afterCR bool // the last byte read was one

	within  bool       // long and filter hold the beginning of a line
	filter  holeFilter // of that line
	partial bool       // a line may lack its end
	stop    int        // the line after which there is no more until it is 0
}

// stopped reports whether the last line was the one to stop after.
func (l *lineReader) stopped() bool { return l.stop > 0 && l.no >= l.stop }

func newLineReader() *lineReader { return &lineReader{buf: make([]byte, windowSize)} }

// feed takes the next bytes of the input, as many as there is room for, and returns their number.
func (l *lineReader) feed(p []byte) int {
	if l.w == len(l.buf) {
		l.w = copy(l.buf, l.buf[l.r:])
		l.nul -= l.r
		l.r = 0
	}
	from := l.w
	n, used := l.decode(l.buf[from:], p)
	l.came += uint64(n)
	if l.cr {
		n = l.convert(l.buf[from : from+n])
	}
	l.w += n
	if l.nul == from {
		l.findNUL(from)
	}
	return used
}

// end ends the input. It is called until ended is set: there may be no room for the last bytes yet.
func (l *lineReader) end() {
	l.finish()
	l.feed(nil)
	l.ended = l.empty()
}

// head returns up to n bytes of the text that is there.
func (l *lineReader) head(n int) []byte { return l.buf[l.r:min(l.w, l.r+n)] }

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

// findNUL sets nul, where there is none before from.
func (l *lineReader) findNUL(from int) {
	l.nul = l.w
	if i := bytes.IndexByte(l.buf[from:l.w], 0); i >= 0 {
		l.nul = from + i
	}
}

// next reads the next line, and returns false without one: an unterminated last line comes once the input has ended.
func (l *lineReader) next(ln *line) bool {
	switch {
	case l.stopped():
		return false
	case l.within:
		return l.nextLong(ln)
	}
	end := lineEnd(l.buf[l.r:l.w], !l.ended)
	switch {
	case end >= 0:
		end += l.r
		l.take(ln, end, true)
		l.r = end + 1
		return true
	case l.r == l.w:
		return false
	case l.ended, l.partial:
		l.take(ln, l.w, false)
		l.r = l.w
		return true
	}
	return l.w-l.r == len(l.buf) && l.nextLong(ln)
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

// nextLong reads a line that is longer than the buffer. The part that is there is kept for the next call.
func (l *lineReader) nextLong(ln *line) bool {
	if l.long == nil {
		l.long = make([]byte, 0, len(l.buf))
	}
	h := &l.filter
	if !l.within {
		*h = holeFilter{dst: l.long[:0], limit: len(l.buf)}
	}
	chunk := l.buf[l.r:l.w]
	end := bytes.IndexByte(chunk, '\n')
	if l.within = end < 0; l.within {
		h.add(chunk)
		l.r, l.w, l.nul = 0, 0, 0
		if !l.ended {
			return false
		}
		l.within = false
	} else {
		h.add(chunk[:end])
		l.r += end + 1
		l.findNUL(l.r)
	}
	l.no++
	*ln = line{no: l.no, ended: end >= 0}
	h.finish(ln)
	ln.trimCR()
	return true
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
