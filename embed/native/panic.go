//go:build cgo && heedpanic

package main

import (
	"bytes"
	"io"
)

// The library of a test panics where it is handed certain texts.
func init() {
	streams = func(h handle) (io.Reader, io.Writer) { return trap{h, "in the reader"}, trap{h, "in the writer"} }
}

type trap struct {
	handle
	where string
}

var nothing *[1]byte

func (t trap) look(p []byte) {
	if bytes.Contains(p, []byte("fault "+t.where)) {
		nothing[0] = 1
	}
	if bytes.Contains(p, []byte("panic "+t.where)) {
		panic("planted " + t.where)
	}
}

func (t trap) Read(p []byte) (int, error) {
	n, err := t.handle.Read(p)
	t.look(p[:n])
	return n, err
}

func (t trap) Write(p []byte) (int, error) {
	t.look(p)
	return t.handle.Write(p)
}
