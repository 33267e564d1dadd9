// Package framing reads the messages of a peer from a stream: lines, and bodies whose length came before them.
//
//	Line("{}\n{}\n", 64)        "{}\n", "{}\n", io.EOF
//	Line("abcdefgh\n", 8)       *LongError, and then the next line
//	Body("abcdef", nil, 4, 64)  "abcd"
//	Body("ab", nil, 4, 64)      io.ErrUnexpectedEOF
//
// The peer is not trusted: a message is bounded, and memory is allocated as its bytes arrive.
package framing

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// MaxMessage is the default bound of a message, in bytes.
const MaxMessage = 64 << 20

// TooLong returns the sentence about a message of n bytes.
func TooLong(kind string, n, limit int) string {
	return fmt.Sprintf("%s of %d bytes, want at most %d", kind, n, limit)
}

// LongError is the error of a line that is longer than its limit.
type LongError struct {
	Size, Limit int
	Ends        // of the line
}

// Error implements error.
func (e *LongError) Error() string { return TooLong("a line", e.Size, e.Limit) }

// MaxEnd bounds each of the [Ends], in bytes: the id of a message is looked for in them.
const MaxEnd = 4 << 10

// Ends are the beginning and the end of a text. The zero value is an empty text.
type Ends struct{ Head, Tail []byte }

// Add appends text. The head has at most limit bytes.
func (e *Ends) Add(text []byte, limit int) {
	n := min(len(text), limit-len(e.Head))
	e.Head = append(e.Head, text[:n]...)
	e.Tail = append(e.Tail, text[n:]...)
	if n := len(e.Tail) - MaxEnd; n > 0 {
		e.Tail = append(e.Tail[:0], e.Tail[n:]...)
	}
}

// Line returns the next line of r with its end, which the last one may lack. A line of more than limit bytes is read to
// its end and dropped: the error is a [*LongError], and the next line can be read.
func Line(r *bufio.Reader, limit int) (line []byte, err error) {
	var kept Ends
	size := 0
	for {
		part, err := r.ReadSlice('\n')
		kept.Add(part, limit)
		size += len(part)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case size > limit && (err == nil || errors.Is(err, io.EOF)):
			return nil, &LongError{size, limit, Ends{bytes.Clone(kept.Head[:min(limit, MaxEnd)]), kept.Tail}}
		case errors.Is(err, io.EOF) && size > 0:
			return kept.Head, nil
		default:
			return kept.Head, err
		}
	}
}

// Body reads n bytes into buf, and returns them. It allocates step bytes first, and then at most twice as many as have
// arrived, so that a length alone costs no memory. The end of r before n bytes is [io.ErrUnexpectedEOF].
func Body(r io.Reader, buf []byte, n, step int) ([]byte, error) {
	buf = slices.Grow(buf[:0], min(n, step))
	for len(buf) < n {
		buf = slices.Grow(buf, min(max(len(buf), 1), n-len(buf)))
		got, err := io.ReadFull(r, buf[len(buf):min(n, cap(buf))])
		buf = buf[:len(buf)+got]
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
	}
	return buf, nil
}
