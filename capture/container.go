package capture

import (
	"bytes"
	"regexp"
	"time"

	"github.com/heedlog/heed/capture/internal/begins"
	"github.com/heedlog/heed/internal/frame"
)

// unwrap takes the wrapping by a runtime of containers off ln: Docker an object of JSON, the others
// the time, the stream and whether the line is whole (F) or continues in the next (P).
//
//	{"log":"\tat acme.Press.turn(Press.java:5)\n","stream":"stderr","time":"2031-04-05T10:00:00Z"}
//	2031-04-05T10:00:00.123456789Z stderr F 	at acme.Press.turn(Press.java:5)
//	press-1  | 	at acme.Press.turn(Press.java:5)
//	Apr 05 10:00:00 lamp press[12]: 	at acme.Press.turn(Press.java:5)
//
// The prefix of the journal is the head of a record, so that it stays where the line may begin one.
func (r *Reader) unwrap(ln *line) {
	before := r.origin
	r.origin, r.unwrapped = r.origin[:0], r.unwrapped[:0]
	switch b := ln.text; {
	case len(b) == 0:
	case isName(b[0]) && mayWrap(b):
		if bytes.IndexByte(b, '|') >= 0 {
			ln.text = b[len(composed.Find(b)):]
		}
		n := journalLen(ln.text)
		if rest := ln.text[n:]; n > 0 && (blank(rest) || isIndented(rest) || bytes.Equal(ln.text[:n], before)) {
			r.origin, ln.text = append(r.origin, ln.text[:n]...), rest
		}
		if b = ln.text; len(b) > len("2031-04-05T10:00:00Z stdout") && isDigit(b[0]) && b[10] == 'T' {
			at, rest, _ := bytes.Cut(b, []byte(" "))
			stream, rest, _ := bytes.Cut(rest, []byte(" "))
			if whole := hasPrefix(rest, "F "); hasPrefix(stream, "std") && (whole || hasPrefix(rest, "P ")) {
				if t, err := time.Parse(time.RFC3339Nano, text(at)); err == nil {
					ln.time, ln.partial, ln.text = t.UnixNano(), !whole, rest[2:]
				}
			}
		}
	case hasPrefix(b, `{"log":"`) && r.json.parse(b) && r.json.nested && !r.json.hasLevel:
		ln.partial = r.json.partial
		if t := r.json.time; !t.IsZero() {
			ln.time = t.UnixNano()
		}
		r.unwrapped = append(r.unwrapped, r.json.texts[roleMessage]...)
		ln.text = r.unwrapped
	}
}

// unhead takes the head of a logger off ln where it is a further line of a trace, below a record that reports a fault.
func (r *Reader) unhead(ln *line) {
	a, b := &r.asm, ln.text
	if a.empty() || a.export || a.blanks > 0 || r.layout != LayoutPlain || !ln.logger().Sure {
		return
	}
	n := ln.head.Len
	head := b[:n]
	if hasPrefix(b[n:], "in ") {
		head = head[:bytes.LastIndexAny(bytes.TrimRight(head, " "), " \t")+1] // without the place of a frame
	}
	rest := b[len(bytes.TrimRight(head, " \t")):]
	t := trimLeft(rest)
	switch {
	case len(t) == 0:
		return
	case isTraceTitle(t), hasPrefix(t, traceback):
	case !isIndented(rest):
		if !a.traceback || !is(t, ofType) {
			return
		}
	default:
		if f, c := frame.Parse(text(rest)); c == frame.None && !f.Python && !a.traceback {
			return
		}
		t = rest
	}
	traces := a.traceback || begins.Has(text(b), "raceback", "tack trace:", `File "`, ": in ", "\tat ", "  at ")
	if traces && a.reportsFault() {
		ln.text, ln.look = t, look{}
	}
}

// mayWrap reports whether b may begin with a time or the month of one, or with the name of a container and a bar, as
// "press-1  | " is. Most lines begin with a word of letters, and another.
func mayWrap(b []byte) bool {
	space := bytes.IndexByte(b, ' ')
	if space < 0 || isDigit(b[0]) {
		return true
	}
	next := trimLeft(b[space:])
	return len(next) > 0 && (isDigit(next[0]) || next[0] == '|')
}

// journalLen returns the length of the time, the host and the process in front of b, as the journal prints them with
// months in any language, 0 without them.
func journalLen(b []byte) int {
	colon := bytes.IndexByte(b[:min(len(b), 32)], ':')
	if colon < 5 || len(b) < colon+6 || b[colon+3] != ':' || isDigit(b[0]) {
		return 0 // as most lines
	}
	return len(journaled.Find(b))
}

var (
	composed  = regexp.MustCompile(`^[\pL\pN_.-]+[-_]\d+[ \t]+\|(?: |$)`)
	journaled = regexp.MustCompile(`^[^\s\d]\S*\s+\d\S?\s+\d\d:\d\d:\d\d\s+\S+\s+[^\s\[]+\[\d*\]: ?`)
)
