// Package framing reads the messages of a peer from a stream: lines, and bodies whose length came before them.
//
//	Line("{}\n{}\n", 64)        "{}\n", "{}\n", io.EOF
//	Line("abcdefgh\n", 8)       ErrLong
//	Body("abcdef", nil, 4, 64)  "abcd"
//	Body("ab", nil, 4, 64)      io.ErrUnexpectedEOF
//
// The peer is not trusted: a message is bounded, and memory is allocated as its bytes arrive.
package framing

import (
	"bufio"
	"errors"
	"io"
	"slices"
)

// ErrLong is the error of a line that is longer than its limit.
var ErrLong = errors.New("the line is too long")

// Line returns the next line of r with its end, which the last one may lack. A line of more than limit bytes is
// [ErrLong]; nothing can be read after it.
func Line(r *bufio.Reader, limit int) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, ErrLong
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		default:
			return line, err
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
