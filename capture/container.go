package capture

import (
	"bytes"
	"time"
)

// unwrap takes off ln what a runtime of containers wrote around a line of the log: Docker an object of JSON, the others
// the time, the stream and whether the line is whole (F) or goes on with the next (P).
//
//	{"log":"\tat acme.Press.turn(Press.java:5)\n","stream":"stderr","time":"2031-04-05T10:00:00Z"}
//	2031-04-05T10:00:00.123456789Z stderr F 	at acme.Press.turn(Press.java:5)
func (r *Reader) unwrap(ln *line) {
	if b := ln.text; len(b) > len("2031-04-05T10:00:00Z stdout") && isDigit(b[0]) && b[10] == 'T' {
		at, rest, _ := bytes.Cut(b, []byte(" "))
		stream, rest, _ := bytes.Cut(rest, []byte(" "))
		if whole := hasPrefix(rest, "F "); (whole || hasPrefix(rest, "P ")) && hasPrefix(stream, "std") {
			if t, err := time.Parse(time.RFC3339Nano, text(at)); err == nil {
				ln.time, ln.partial, ln.text = t.UnixNano(), !whole, rest[2:]
			}
		}
		return
	}
	if hasPrefix(ln.text, `{"log":"`) && ln.cut == 0 && r.json.parse(ln.text) && r.json.nested && !r.json.hasLevel {
		ln.partial = r.json.partial
		if t := r.json.time; !t.IsZero() {
			ln.time = t.UnixNano()
		}
		r.unwrapped = append(r.unwrapped[:0], r.json.message...)
		ln.text = r.unwrapped
	}
}
