package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/heedlog/heed/bench/workload"
)

// input is the replayed text: files one after the other, again and again, or a storm, up to a size.
type input struct {
	files []string
	storm workload.Mode
	size  int64
	block []byte // of a storm, repeated
}

// stormBlock is how much of a storm is made before it repeats: to make a line
// costs as much as to replay it.
const stormBlock = 16 << 20

// load makes the storm, or sees whether the files can be read.
func (in *input) load() error {
	for _, name := range in.files {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() || info.Size() == 0 {
			return fmt.Errorf("%s: want a file that can be read again and holds something", name)
		}
	}
	if len(in.files) > 0 {
		return nil
	}
	storm := workload.NewStorm(in.storm, 1)
	in.block = make([]byte, 0, stormBlock+4096) // the resident memory has it too
	for int64(len(in.block)) < min(in.size, stormBlock) {
		in.block = append(append(in.block, storm.Next()...), '\n')
	}
	return nil
}

// String describes the input in a few words.
func (in *input) String() string {
	what := fmt.Sprintf("storm %s", in.storm)
	if n := len(in.files); n > 0 {
		what = fmt.Sprintf("%d files", n)
	}
	return fmt.Sprintf("%.0f MB of %s", float64(in.size)/1e6, what)
}

// reader returns a reader of the whole input.
func (in *input) reader() io.Reader { return io.LimitReader(&again{in: in}, in.size) }

// again reads the parts of an input in turn, without end.
type again struct {
	in   *input
	next int
	part io.Reader
	file *os.File
}

// Read implements io.Reader. Files are separated by a line feed, since one may
// lack its own.
func (a *again) Read(b []byte) (int, error) {
	for {
		if a.part == nil {
			if err := a.open(); err != nil {
				return 0, err
			}
		}
		n, err := a.part.Read(b)
		if errors.Is(err, io.EOF) {
			err = nil
			a.part = nil
			if a.file != nil {
				err = a.file.Close()
			}
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (a *again) open() (err error) {
	if len(a.in.files) == 0 {
		a.part = bytes.NewReader(a.in.block)
		return nil
	}
	if a.file, err = os.Open(a.in.files[a.next%len(a.in.files)]); err != nil {
		return err
	}
	a.next++
	a.part = io.MultiReader(a.file, bytes.NewReader([]byte{'\n'}))
	return nil
}
