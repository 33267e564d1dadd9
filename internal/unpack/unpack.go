// Package unpack reads logs that are compressed with gzip or zstd, which it recognizes by their first bytes. Several
// members or frames in a row are one text.
package unpack

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// inputSize is how much of the input is read at a time.
const inputSize = 64 << 10

// maxWindow bounds the memory that a zstd stream may ask for: the default of the reference decoder.
const maxWindow = 128 << 20

// Layer returns the contents of r and the name of its form, "gzip" or "zstd". If r is not compressed, it returns the
// text of r and "". There is nothing to close.
func Layer(r io.Reader) (contents io.Reader, form string, err error) {
	br := bufio.NewReaderSize(r, inputSize)
	magic, _ := br.Peek(4) // the next read finds the error
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		z, wrong := gzip.NewReader(br)
		contents, form, err = gzipReader{z}, "gzip", wrong
	case bytes.HasPrefix(magic, []byte("\x28\xb5\x2f\xfd")):
		form = "zstd"
		contents, err = zstd.NewReader(br, zstd.WithDecoderConcurrency(1), // starts no goroutines
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	default:
		contents = br
	}
	if errors.Is(err, io.EOF) { // where there should be none
		err = io.ErrUnexpectedEOF
	}
	return contents, form, err
}

// errTrailing says that something else follows a gzip stream. The text before it is
// whole, and was checked.
var errTrailing = errors.New("the data after the compressed text is not gzip and was not read")

// gzipReader distinguishes trailing data from a stream that is not gzip.
type gzipReader struct{ *gzip.Reader }

func (z gzipReader) Read(b []byte) (int, error) {
	n, err := z.Reader.Read(b)
	if errors.Is(err, gzip.ErrHeader) {
		err = errTrailing
	}
	return n, err
}
