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
	odd       bool   // escapes may be in it
	blanks    int    // blank lines above it; of a line held back

	time    int64 // that a container wrote in front of it, in nanoseconds since 1970; 0 without one
	partial bool  // the next line continues it

	ready bool // colors and the wrapping by a container were taken off
	look
}

// lineReader splits the bytes that it is fed into lines as lineEnd does, unless endAtCR sets
// otherwise. Its memory is two
// buffers of fixed size: the rest of a longer line is
// counted and dropped.
//
// The lines of an input depend on the bytes alone, never on how they are fed.
type lineReader struct {
	decoder
	buf   []byte
	r, w  int
	ended bool   // no more bytes come
	came  uint64 // bytes of the text
	no    int
	long  []byte // holds the kept part of a line that is longer than buf or has NULs

	odd     bool // the text that is there may have NULs or escapes
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
		l.r = 0
	}
	from := l.w
	n, used := l.decode(l.buf[from:], p)
	l.came += uint64(n)
	if l.cr {
		n = l.convert(l.buf[from : from+n])
	}
	l.w += n
	come := l.buf[l.r:l.w]
	l.odd = bytes.IndexByte(come, 0) >= 0 || bytes.IndexByte(come, escape) >= 0
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

// next reads the next line, and returns false without one: an unterminated last line comes once the input has ended.
func (l *lineReader) next(ln *line) bool {
	if l.stopped() {
		return false
	}
	var end int
	text := l.buf[l.r:l.w]
	if l.within {
		end = bytes.IndexByte(text, '\n')
	} else {
		end = lineEnd(text, !l.ended)
	}
	switch {
	case end >= 0:
		text = text[:end]
		l.r += end + 1
	case !l.within && len(text) == 0:
		return false
	case l.ended || l.partial:
		l.r = l.w
	default:
		if l.within || len(text) == len(l.buf) {
			l.keep(text)
			l.r, l.w = 0, 0
		}
		return false
	}
	l.no++
	*ln = line{no: l.no, text: text, ended: end >= 0, odd: l.odd || l.within}
	if l.within || l.odd && bytes.IndexByte(text, 0) >= 0 {
		l.keep(text)
		l.within = false
		l.filter.finish(ln)
	}
	if ln.hole > 0 {
		ln.text = bytes.TrimRight(ln.text, "\r\n")
	}
	ln.text = bytes.TrimRight(ln.text, "\r")
	return true
}

// keep keeps a part of a line in long, without its holes.
func (l *lineReader) keep(part []byte) {
	if l.long == nil {
		l.long = make([]byte, 0, len(l.buf))
	}
	if !l.within {
		l.filter = holeFilter{dst: l.long[:0], limit: len(l.buf)}
	}
	l.within = true
	l.filter.add(part)
}

// maxHead bounds the bytes of a line that show whether it begins with the head of a logger.
const maxHead = 128

// lineEnd returns the index of the byte that ends the first line of b, -1 without one: its \n, or a \r before the time
// or the level with which a logger begins the next line. Any other \r is part of a text, such as of a progress bar. If
// more may follow b, a \r waits until the line after it has an end or maxHead bytes.
func lineEnd(b []byte, more bool) int {
	end := bytes.IndexByte(b, '\n')
	if end >= 0 {
		b, more = bytes.TrimRight(b[:end], "\r"), false
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
	for {
		text := bytes.TrimLeft(b, "\x00")
		h.run += uint64(len(b) - len(text))
		if len(text) == 0 {
			return
		}
		h.endRun()
		if h.apart && len(h.dst) > 0 {
			h.put([]byte{'\n'})
		}
		h.apart = false
		n := bytes.IndexByte(text, 0)
		if n < 0 {
			n = len(text)
		}
		h.put(text[:n])
		b = text[n:]
	}
}

func (h *holeFilter) put(b []byte) {
	n := min(len(b), h.limit-len(h.dst))
	h.dst = append(h.dst, b[:n]...)
	h.cut += uint64(len(b) - n)
}

func (h *holeFilter) endRun() {
	if h.run < minHole {
		h.put(make([]byte, h.run))
	} else {
		if blank(h.dst) {
			h.dst = h.dst[:0]
			h.first = h.first || h.hole == 0
		}
		h.hole += h.run
		h.apart = true
	}
	h.run = 0
}

func (h *holeFilter) finish(ln *line) {
	h.endRun()
	ln.text, ln.cut, ln.hole, ln.holeFirst = h.dst, h.cut, h.hole, h.first
}
