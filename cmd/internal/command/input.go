package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/text"
)

// standardInput is the name of standard input on the command line.
const standardInput = "-"

// errNoFile says that a file does not exist.
var errNoFile = text.Say("no such file")

// openAny opens a file of any kind, an address by the name that p.named gives it, or standard input for "-".
func (p *program) openAny(ctx context.Context, name string) (*input, error) {
	if name == standardInput {
		watch := p.watch(ctx, standardInputName, 0, p.Stdin)
		in := pipeInput(ctx, func() (io.ReadCloser, error) { return io.NopCloser(watch), nil })
		if f, ok := p.Stdin.(*os.File); !ok || !cli.IsTerminal(f) {
			_ = p.begins(in) // its error comes again
		}
		return watch.over(in), nil
	}
	if files.IsAddress(name) {
		return p.openAddress(ctx, name)
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && name == "":
		return nil, ioError(fmt.Errorf("%q: %w", name, errNoFile))
	case errors.Is(err, fs.ErrNotExist):
		return nil, ioError(fmt.Errorf("%s: %w%s", name, p.inWords(errNoFile), files.Missing(name)))
	case err != nil:
		return nil, ioError(err)
	case info.IsDir():
		is := text.Say("is a directory: name a log in it, such as %s", inside(name))
		return nil, ioError(fmt.Errorf("%s %w", name, p.inWords(is)))
	}
	if !info.Mode().IsRegular() {
		return pipeInput(ctx, func() (io.ReadCloser, error) { return os.Open(name) }), nil
	}
	if p.writesTo(info) {
		return nil, ioError(fmt.Errorf("%s is also the output file: write the output to another file", name))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, ioError(err)
	}
	watch := p.watch(ctx, name, info.Size(), f)
	return watch.over(&input{bufio.NewReaderSize(watch, readSize), f.Close}), nil
}

// silence is how long standard input may be silent before a message says that it is read.
const silence = time.Second

// begins waits until standard input has a byte, and returns an error where it ends or breaks before.
func (p *program) begins(in *input) (err error) {
	begun := make(chan struct{})
	go func() {
		_, err = in.Peek(1)
		close(begun)
	}()
	p.await(begun, time.After(silence))
	return err
}

// await waits until standard input has begun, and notes when it is late.
func (p *program) await(begun <-chan struct{}, late <-chan time.Time) {
	select {
	case <-begun:
	case <-late:
		p.Note("waiting for a log on standard input; name a file to read another")
		<-begun
	}
}

// writesTo reports whether a file is the output: it would be overwritten, or read without end while it grows.
func (p *program) writesTo(file fs.FileInfo) bool {
	if info, err := os.Stat(p.output); err == nil && os.SameFile(info, file) {
		return true
	}
	out, ok := p.Stdout.(*os.File)
	if !ok {
		return false
	}
	info, err := out.Stat()
	return err == nil && info.Mode().IsRegular() && os.SameFile(info, file)
}

// inside returns a log in a directory, or the usual name of one.
func inside(dir string) string {
	for _, pattern := range []string{"Player.log", "*.log", "*.txt"} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return "Player.log"
}

// readSize is how much is read from a file at a time.
const readSize = 64 << 10

// input is an open file or standard input.
type input struct {
	*bufio.Reader
	close func() error
}

func (i *input) Close() error { return i.close() }

// pipeInput opens and reads an input that may stay silent, such as standard input or a named pipe, in a goroutine:
// neither the opening nor a read can be interrupted. The goroutine ends with the process.
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
