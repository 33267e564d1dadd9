package acp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// The bounds of a line and of what waits to be written before more is read for it, in bytes.
const (
	maxLine   = 64 << 20
	maxQueued = 1 << 20
)

// line is one that was read, with its end, or why there are no more.
type line struct {
	text []byte
	err  error
}

// readLines gives the lines of r, each when there is room to write it, until it ends or done is closed.
func readLines(name string, r io.Reader, limit int, to *outbox, lines chan<- line, done <-chan struct{}) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	for {
		to.room()
		var text []byte
		var err error
		for {
			var part []byte
			part, err = buffered.ReadSlice('\n')
			text = append(text, part...)
			if len(text) > limit {
				text, err = nil, fmt.Errorf("acp: a line of the %s has more than %d bytes", name, limit)
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		if len(text) > 0 {
			select {
			case lines <- line{text: text}:
			case <-done:
				return
			}
		}
		if err != nil {
			select {
			case lines <- line{err: err}:
			case <-done:
			}
			return
		}
	}
}

// outbox writes lines in order, in a goroutine of its own.
type outbox struct {
	w io.Writer

	mu    sync.Mutex
	moved sync.Cond
	lines [][]byte
	size  int
	torn  bool // the last line has no end
	over  bool // no more are written
	done  chan struct{}
}

func newOutbox(w io.Writer) *outbox {
	o := &outbox{w: w, done: make(chan struct{})}
	o.moved.L = &o.mu
	return o
}

// write queues a line.
func (o *outbox) write(text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.torn {
		text = append([]byte("\n"), text...)
	}
	o.torn = !bytes.HasSuffix(text, []byte("\n"))
	o.lines = append(o.lines, text)
	o.size += len(text)
	o.moved.Broadcast()
}

// room waits until few bytes wait.
func (o *outbox) room() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.size > maxQueued && !o.over {
		o.moved.Wait()
	}
}

// finish ends the goroutine when all is written.
func (o *outbox) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	o.moved.Broadcast()
}

// run writes until finish is called, or writing fails.
func (o *outbox) run(failed func(error)) {
	defer close(o.done)
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for len(o.lines) == 0 {
			if o.over {
				return
			}
			o.moved.Wait()
		}
		text := o.lines[0]
		o.lines = o.lines[1:]
		o.mu.Unlock()
		_, err := o.w.Write(text)
		o.mu.Lock()
		o.size -= len(text)
		o.moved.Broadcast()
		if err != nil {
			o.over = true
			failed(err)
			return
		}
	}
}
