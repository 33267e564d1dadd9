package main

import "io"

// bufferSize is how much output is gathered before it is written.
const bufferSize = 64 << 10

// output gathers what is written to standard output and remembers the first
// error, so that a full disk is reported once and not at every line.
type output struct {
	w   io.Writer
	buf []byte
	err error
}

// full writes what has been gathered if it is enough to be worth it. It
// reports whether writing still makes sense.
func (o *output) full() bool {
	if len(o.buf) >= bufferSize {
		return o.flush()
	}
	return o.err == nil
}

// flush writes what has been gathered and reports whether all went well so
// far.
func (o *output) flush() bool {
	if o.err == nil && len(o.buf) > 0 {
		_, o.err = o.w.Write(o.buf)
	}
	o.buf = o.buf[:0]
	return o.err == nil
}
