// Command heed-parquet makes one file of Parquet, on standard output, of the sessions that "heed history export"
// prints:
//
//	heed history export | heed-parquet > sessions.parquet
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/heedlog/heed/fleet/beam/parquet"
	"github.com/heedlog/heed/internal/report/summary"
)

func main() {
	flag.Usage = func() {
		_, _ = fmt.Fprint(flag.CommandLine.Output(), `heed-parquet makes one file of Parquet of the sessions that "heed history export" prints.

usage: heed history export | heed-parquet > sessions.parquet
       heed-parquet FILE... > sessions.parquet
`)
	}
	flag.Parse()
	if err := write(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "heed-parquet:", err)
		os.Exit(1)
	}
}

func write(files []string) error {
	if term.IsTerminal(int(os.Stdout.Fd())) {
		return errors.New("no Parquet is written to a terminal: name a file, as in heed-parquet > sessions.parquet")
	}
	if len(files) == 0 {
		return run(os.Stdout, input{"standard input", os.Stdin})
	}
	var in []input
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // only read from
		in = append(in, input{name, f})
	}
	return run(os.Stdout, in...)
}

type input struct {
	name string
	io.Reader
}

// maxLine bounds a session, in bytes.
const maxLine = 64 << 20

// run writes all sessions, a line of JSON each. An error names the line; earlier lines are written.
func run(out io.Writer, all ...input) (err error) {
	w := parquet.NewWriter(out)
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, in := range all {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, maxLine)
		n := 0
		for lines.Scan() {
			if n++; len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			s, err := summary.Parse(lines.Bytes())
			if err == nil && (s.Log.Hash == 0 || s.State == "") {
				err = errors.New("no session: it has no hash of a log, or no state")
			}
			if err == nil {
				err = w.Write(s)
			}
			if err != nil {
				return fmt.Errorf("%s: line %d: %w", in.name, n, err)
			}
		}
		if err := lines.Err(); err != nil {
			return fmt.Errorf("%s: line %d: %w", in.name, n+1, err)
		}
	}
	return nil
}
