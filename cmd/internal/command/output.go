package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/width"
)

// bufferSize is how much output is gathered before it is written.
const bufferSize = 64 << 10

// output gathers what is written to standard output and remembers the first
// error, so that a full disk is reported once and not at every line.
type output struct {
	w   io.Writer
	buf []byte
	err error
}

// full writes what has been gathered if it is enough to be worth it. It
// reports whether writing still makes sense.
func (o *output) full() bool {
	if len(o.buf) >= bufferSize {
		return o.flush()
	}
	return o.err == nil
}

// flush writes what has been gathered and reports whether all went well so
// far.
func (o *output) flush() bool {
	if o.err == nil && len(o.buf) > 0 {
		_, o.err = o.w.Write(o.buf)
	}
	o.buf = o.buf[:0]
	return o.err == nil
}

// done writes the rest of what is called what, such as "the report", and returns the error
// if not all of it could be written.
func (o *output) done(what string) error {
	if !o.flush() {
		return cli.CannotWrite(exitIO, what, o.err)
	}
	return nil
}

// print writes a text, called what in an error, to standard output.
func (p *program) print(what string, text []byte) error {
	return (&output{w: p.Stdout, buf: text}).done(what)
}

// checkOutput refuses to write over a log, and what is no file.
func checkOutput(cmd *cobra.Command, output string, inputs []string) error {
	if output == "" {
		return cli.Usage(cmd, `--output "": name a file, or - for standard output`)
	}
	out, err := os.Stat(output)
	if output == standardInput || err != nil {
		return nil // what is wrong with it shows when it is written
	}
	if out.IsDir() {
		return cli.Usage(cmd, "--output %s is a directory: name a file in it", output)
	}
	for _, name := range inputs {
		if in, err := os.Stat(name); err == nil && os.SameFile(in, out) {
			return cli.Usage(cmd, "--output %s is one of the logs, and would overwrite it", output)
		}
	}
	return nil
}

// fileMode is for a file that others may read.
const fileMode fs.FileMode = 0o644

// ReplaceFile writes a file whole or not at all: the old one may hold what people
// wrote. What is no file, such as a pipe, is written to.
func ReplaceFile(name string, data []byte) error {
	mode := fileMode
	if info, err := os.Stat(name); err == nil {
		if !info.Mode().IsRegular() {
			return os.WriteFile(name, data, mode)
		}
		mode = info.Mode().Perm()
		if target, err := filepath.EvalSymlinks(name); err == nil {
			name = target // the link stays
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".heed-*.tmp")
	if err != nil {
		// The name of the new file means nothing to the user.
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			path.Path = name
		}
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to report
	}
	return err
}

// lineOfJSON returns v as one line of JSON in which no text acts on a terminal.
func lineOfJSON(v any) []byte { return append(text.AppendJSON(nil, text.JSON(v)), '\n') }

// show writes a document, called what in an error, in the format that the flags name: as JSON, or its lines.
func (p *program) show(what string, d interface{ lines(p *prose) }, f *viewFlags) error {
	if f.format == formatJSON {
		return p.print(what, lineOfJSON(d))
	}
	out := &prose{width: p.layout(f.width).Width}
	d.lines(out)
	return p.print(what, out.buf)
}

// prose gathers lines of text. What comes from logs and rule files goes through
// safe; a format never holds it.
type prose struct {
	buf   []byte
	width int // to wrap lines at, 0 for none
}

func safe(s string, width int) string { return text.Safe(s, width) }

func (p *prose) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for strings.HasPrefix(text, "\n") {
		p.buf, text = append(p.buf, '\n'), text[1:]
	}
	words := strings.TrimLeft(text, " ")
	p.hang(text[:len(text)-len(words)], "%s", words)
}

// hang writes a line after lead; what does not fit continues below, at the same column.
func (p *prose) hang(lead, format string, args ...any) {
	p.buf = width.Measure{}.AppendHanging(p.buf, lead, fmt.Sprintf(format, args...), p.width)
}

// field writes a line with a name before it.
func (p *prose) field(name, format string, args ...any) {
	p.hang(fmt.Sprintf("  %-10s", name), format, args...)
}

// known adds a line of a field whose value is not empty.
func (p *prose) known(name, value string) {
	if value != "" {
		p.field(name, "%s", value)
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// lineRange returns "7" or "7-9".
func lineRange(first, last int) string {
	if first == last {
		return strconv.Itoa(first)
	}
	return strconv.Itoa(first) + "-" + strconv.Itoa(last)
}
