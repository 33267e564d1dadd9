package capture

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow bounds the memory that a zstd stream may ask for: the
// default of the reference decoder.
const maxZstdWindow = 128 << 20

// inputSize is how much of the input is read at a time.
const inputSize = 64 << 10

// maxNested is how often in a row an input may be compressed. A log that a tool
// compressed which had been compressed already is met; more is made to exhaust.
const maxNested = 3

// decompressed returns r, or its contents if it is compressed, and the name of
// the operation that reading it is. Both formats are recognized by their magic
// bytes; several members or frames in a row are one stream, whose contents
// may be compressed again.
func decompressed(r io.Reader) (*bufio.Reader, string, error) {
	br, op := bufio.NewReaderSize(r, inputSize), "read"
	for depth := 0; ; depth++ {
		magic, err := br.Peek(4)
		if depth == 0 && err != nil && !errors.Is(err, io.EOF) && len(magic) == 0 {
			return nil, op, err
		}
		switch { // below the first, an error comes again with the first read
		case hasPrefix(magic, "\x1f\x8b"):
			op = "gzip"
		case hasPrefix(magic, "\x28\xb5\x2f\xfd"):
			op = "zstd"
		default:
			return br, op, nil
		}
		if depth == maxNested {
			return nil, op, fmt.Errorf("compressed more than %d times: unpack it first", maxNested)
		}
		var z io.Reader
		if op == "gzip" {
			var unpacked *gzip.Reader
			unpacked, err = gzip.NewReader(br)
			z = gzipReader{unpacked}
		} else {
			// Concurrency 1 starts no goroutines, so that there is nothing to close.
			z, err = zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(maxZstdWindow))
		}
		if errors.Is(err, io.EOF) { // where there should be none
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, op, err
		}
		br = bufio.NewReaderSize(z, inputSize)
	}
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
