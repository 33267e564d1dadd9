package capture

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/heedlog/heed/internal/unpack"
)

// inputSize is how much of the input is read at a time.
const inputSize = 64 << 10

// maxNested is how often in a row an input may be compressed. A log that a tool
// compressed which had been compressed already is met; more is made to exhaust.
const maxNested = 3

// decompressed returns r, or its contents if it is compressed, and the name of
// the operation that reading it is. The contents may be compressed again.
func decompressed(r io.Reader) (*bufio.Reader, string, error) {
	br, op := bufio.NewReaderSize(r, inputSize), "read"
	if _, err := br.Peek(1); err != nil && !errors.Is(err, io.EOF) {
		return nil, op, err
	}
	for depth := 0; ; depth++ {
		contents, form, err := unpack.Layer(br)
		switch {
		case form == "":
			return br, op, nil
		case depth == maxNested:
			err = fmt.Errorf("compressed more than %d times: unpack it first", maxNested)
		}
		if op = form; err != nil {
			return nil, op, err
		}
		br = bufio.NewReaderSize(contents, inputSize)
	}
}
