package capture

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow bounds the memory that a zstd stream may ask for; it is what
// the reference decoder accepts without being told otherwise.
const maxZstdWindow = 128 << 20

// inputSize is how much of the input is read at a time.
const inputSize = 64 << 10

// decompressed returns r, or what it holds if it is compressed, and the name of
// the operation that reading it is. Both formats are recognized by their magic
// bytes; several members or frames in a row are one stream.
func decompressed(r io.Reader) (*bufio.Reader, string, error) {
	br := bufio.NewReaderSize(r, inputSize)
	magic, err := br.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) && len(magic) == 0 {
		return nil, "read", err
	}
	switch {
	case len(magic) >= 2 && magic[0] == 0x1f && magic[1] == 0x8b:
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, "gzip", unexpected(err)
		}
		return bufio.NewReaderSize(z, inputSize), "gzip", nil
	case len(magic) >= 4 && magic[0] == 0x28 && magic[1] == 0xb5 && magic[2] == 0x2f && magic[3] == 0xfd:
		// Concurrency 1 starts no goroutines, so that there is nothing to close.
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, "zstd", unexpected(err)
		}
		return bufio.NewReaderSize(z, inputSize), "zstd", nil
	}
	return br, "read", nil
}

// unexpected turns an end of the input where there should be none into an
// error that says so.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
