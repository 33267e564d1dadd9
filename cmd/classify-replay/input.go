package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// standardInput is the name of standard input on the command line.
const standardInput = "-"

// errNoFile says that a file does not exist.
var errNoFile = errors.New("no such file")

// openLog opens a log, or standard input for "-", and refuses what is not one.
// Errors say what to do instead. Reads fail with the cause of ctx once that is
// done.
func (p *program) openLog(ctx context.Context, name string) (io.ReadCloser, error) {
	in, err := p.openAny(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := refuseBinary(in.Reader); err != nil {
		_ = in.Close() // only read from
		if name == standardInput {
			name = "standard input"
		}
		return nil, inputError(fmt.Errorf("%s %w", name, err))
	}
	return in, nil
}

// openAny opens a file of any kind, or standard input for "-".
func (p *program) openAny(ctx context.Context, name string) (*input, error) {
	if name == standardInput {
		return pipeInput(ctx, func() (io.ReadCloser, error) { return io.NopCloser(p.stdin), nil }), nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && name == "":
		return nil, inputError(fmt.Errorf("%q: %w", name, errNoFile))
	case errors.Is(err, fs.ErrNotExist):
		return nil, inputError(fmt.Errorf("%s: %w", name, errNoFile))
	case err != nil:
		return nil, inputError(err)
	case info.IsDir():
		return nil, inputError(fmt.Errorf("%s is a directory: %s", name, inside(name)))
	}
	if !info.Mode().IsRegular() {
		return pipeInput(ctx, func() (io.ReadCloser, error) { return os.Open(name) }), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, inputError(err)
	}
	return &input{Reader: bufio.NewReaderSize(&checkedReader{ctx: ctx, r: f}, readSize), close: f.Close}, nil
}

// inside suggests a log in a directory.
func inside(dir string) string {
	for _, pattern := range []string{"Player.log", "*.log", "*.txt"} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err == nil && len(found) > 0 {
			return "name a log in it, such as " + found[0]
		}
	}
	return "name a log, such as Player.log"
}

// readSize is how much is read from a file at a time.
const readSize = 64 << 10

// input is an open file or standard input.
type input struct {
	*bufio.Reader
	close func() error
}

func (i *input) Close() error { return i.close() }

// checkedReader stops reading a file when it is time to stop.
type checkedReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *checkedReader) Read(b []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

// pipeInput opens and reads what may stay silent, such as standard input or a
// named pipe, through a pipe of its own: neither the opening nor a read can be
// interrupted. The goroutine that waits in one ends with the process.
func pipeInput(ctx context.Context, open func() (io.ReadCloser, error)) *input {
	pr, pw := io.Pipe()
	stop := context.AfterFunc(ctx, func() { pw.CloseWithError(context.Cause(ctx)) })
	go func() {
		r, err := open()
		if err == nil {
			_, err = io.Copy(pw, r)
			_ = r.Close() // only read from
		}
		pw.CloseWithError(err)
	}()
	return &input{Reader: bufio.NewReaderSize(pr, readSize), close: func() error { stop(); return pr.Close() }}
}

var (
	errBinary = errors.New("is not a text file: classify-replay reads logs, plain or compressed with gzip or zstd")
	errUTF16  = errors.New("is UTF-16 text without a byte order mark: convert it to UTF-8 first, such as with iconv -f UTF-16LE -t UTF-8")
)

// refuseBinary looks at the beginning of the input, as far as the first read
// brings it, and refuses what is not text. Compressed input passes: what is in
// it shows later.
func refuseBinary(br *bufio.Reader) error {
	if _, err := br.Peek(1); err != nil {
		return nil // the error comes again with the first read
	}
	head, err := br.Peek(br.Buffered())
	if err != nil {
		panic("BUG: classify-replay: cannot peek at what is buffered: " + err.Error())
	}
	for _, magic := range []string{"\x1f\x8b", "\x28\xb5\x2f\xfd"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return nil
		}
	}
	return looksBinary(head)
}

// looksBinary judges by control characters. NUL bytes do not count: a log of a
// game that was killed holds runs of hundreds of thousands. Neither do bytes
// beyond ASCII: a log may be in a legacy encoding.
func looksBinary(head []byte) error {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return nil // package capture decodes it
	}
	var controls, alone, rest int
	for i, b := range head {
		switch {
		case b == 0:
			// Text in UTF-16 without a mark has a NUL beside nearly every character.
			if i > 0 && i+1 < len(head) && head[i-1] != 0 && head[i+1] != 0 {
				alone++
			}
			continue
		case b < 0x20 && b != '\t' && b != '\n' && b != '\v' && b != '\f' && b != '\r' && b != 0x1b:
			controls++
		}
		rest++
	}
	const few = 20 // one in so many may be a control character
	switch {
	case controls > 1 && controls*few > rest:
		return errBinary
	case alone > 8 && alone*2 > rest:
		return errUTF16
	}
	return nil
}
