// Command heed-parquet makes one file of Parquet, on standard output, of the sessions that "heed history export"
// prints:
//
//	heed history export | heed-parquet > sessions.parquet
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/heedlog/heed/fleet/parquet"
	"github.com/heedlog/heed/summary"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "heed-parquet:", err)
		os.Exit(1)
	}
}

// maxLine bounds a session, in bytes.
const maxLine = 64 << 20

// run writes the sessions of in, a line of JSON each. An error names the line; what came before it is written.
func run(in io.Reader, out io.Writer) (err error) {
	w := parquet.NewWriter(out)
	defer func() { err = errors.Join(err, w.Close()) }()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		s, err := summary.Parse(lines.Bytes())
		if err == nil {
			err = w.Write(s)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}
