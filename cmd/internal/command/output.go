package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/width"
)

// buffered returns standard output with a buffer, which keeps the first error: a full disk is reported once, and not
// at every line.
func (p *program) buffered() *bufio.Writer { return bufio.NewWriterSize(p.Stdout, 64<<10) }

// checkOutputs refuses to write over a file that the run reads, to a folder, and to one file twice, by each flag that
// names a file for output.
func checkOutputs(cmd *cobra.Command, inputs []string) error {
	ruleNames, _ := cmd.Flags().GetStringArray("rules") // none without the flag
	ruleNames, _ = files.RuleFiles(ruleNames)           // an error shows when they are read
	var baseline []string
	if f := cmd.Flags().Lookup("baseline"); f != nil {
		baseline = []string{f.Value.String()}
	}
	var written []*pflag.Flag
	for _, flag := range append([]string{outputFlag, formatPage}, documentFormats...) {
		f := cmd.Flags().Lookup(flag)
		if f == nil || !f.Changed && flag != outputFlag {
			continue
		}
		file := f.Value.String()
		switch {
		case file == "" && f.DefValue != "" && flag != outputFlag:
			continue // the file that is written without the flag is not wanted
		case file == "":
			return cli.Usage(cmd, `--%s "": name a file`, flag)
		case file == standardInput && flag == outputFlag:
			continue
		case file == standardInput && cmd.Flags().Lookup("format") == nil:
			return cli.Usage(cmd, "--%s -: name a file", flag)
		case file == standardInput:
			return cli.Usage(cmd, "--%[1]s -: name a file; --format %[1]s writes it to standard output", flag)
		}
		out, err := os.Stat(file)
		for _, other := range written {
			if (err != nil || out.Mode().IsRegular()) && files.Same(file, other.Value.String()) {
				return cli.Usage(cmd, "--%s and --%s are the same file: %s", flag, other.Name, file)
			}
		}
		written = append(written, f)
		if err != nil {
			continue // an error shows when it is written
		}
		if out.IsDir() {
			return cli.Usage(cmd, "--%s %s is a directory: name a file in it", flag, file)
		}
		for _, read := range []struct {
			what  string
			names []string
		}{{"one of the logs", inputs}, {"a file of --rules", ruleNames}, {"the file of --baseline", baseline}} {
			for _, name := range read.names {
				if files.Same(name, file) {
					return cli.Usage(cmd, "--%s %s is %s, and would overwrite it", flag, file, read.what)
				}
			}
		}
	}
	return nil
}

const outputFlag = "output"

// toFile makes standard output of do the file that --output names. The file is replaced if do ends without an error.
func (p *program) toFile(cmd *cobra.Command, args []string, do func(cmd *cobra.Command, args []string) error) error {
	if err := checkOutputs(cmd, args); err != nil {
		return err
	}
	if p.output == standardInput {
		return do(cmd, args)
	}
	stdout := p.Stdout
	err := replaceFile(p.output, func(w io.Writer) error {
		counted := &counter{Writer: w}
		p.Stdout, p.Color = counted, cli.Color(p.ColorMode, p.Getenv, counted)
		err := do(cmd, args)
		if err == nil && counted.n == 0 && p.Status != exitOK {
			return errNothing // the messages are printed
		}
		return err
	})
	if p.Stdout = stdout; errors.Is(err, errNothing) {
		return nil
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok && path.Path == p.output {
		return ioError(fmt.Errorf("cannot write the output: %w", err))
	}
	return err
}

var errNothing = errors.New("there is no output")

// counter counts bytes.
type counter struct {
	io.Writer
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += n
	return n, err
}

// ReplaceFile writes a file whole or not at all, since people may have edited the old file. It writes directly to a
// pipe or a device.
func ReplaceFile(name string, data []byte) error {
	return replaceFile(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// replaceFile is [ReplaceFile] with the data that write writes. The old file stays if write returns an error.
func replaceFile(name string, write func(w io.Writer) error) error {
	mode := fs.FileMode(0o644) // others may read it
	if info, err := os.Stat(name); err == nil {
		if !info.Mode().IsRegular() {
			f, err := os.OpenFile(name, os.O_WRONLY, mode)
			if err != nil {
				return err
			}
			return errors.Join(write(f), f.Close())
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
	err = write(f)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to report
	}
	return err
}

// show writes a document, called what in an error, in the format that the flags name: as JSON, or as prose.
func (p *program) show(what string, form *template.Template, d any) error {
	if p.formats[0] == formatJSON {
		return p.Print(what, report.AppendJSON(nil, d))
	}
	return p.Print(what, prose(form, d, p.layout().Width))
}

func safe(s string, width int) string { return text.Safe(s, width) }

// prose returns the lines of a template that are not empty, wrapped at so many columns; 0 for none. Text of logs and
// rule files must go through safe. A line that is not indented begins a section, after an empty line. A tab ends the
// lead of a line, below which the line continues; without one its spaces are the lead. A tab alone is an empty line.
func prose(form *template.Template, data any, columns int) (out []byte) {
	for line := range strings.SplitSeq(string(text.Rendered(form, data)), "\n") {
		lead, rest, found := strings.Cut(line, "\t")
		if !found {
			rest = strings.TrimLeft(line, " ")
			lead = line[:len(line)-len(rest)]
		}
		if lead == "" && line != "" && len(out) > 0 {
			out = append(out, '\n')
		}
		if rest != "" || lead != "" {
			out = width.Measure{}.AppendHanging(out, lead, rest, columns)
		}
	}
	return out
}

// part is a number of things in words.
type part struct {
	n    int
	what string
}

// joinParts joins the parts whose number is not 0.
func joinParts(parts ...part) string {
	var out []string
	for _, p := range parts {
		if p.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(out, ", ")
}
