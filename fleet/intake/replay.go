package intake

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/unpack"
	"github.com/heedlog/heed/rules"
)

var (
	errEmpty   = errors.New("is empty")
	errTooLong = fmt.Errorf("has more than %d bytes", maxLog)
)

// maxLog bounds an unpacked log: a file that expands without end is no log.
const maxLog = 16 << 30

// summarize returns the summary of a log, scrubbed as its text comes in. If the log could not be read to its end, it
// returns both the summary so far and the error; for another file, an error alone. The text counts against a limit.
func summarize(set *rules.Set, name string, packed io.Reader, within *limit) (s *summary.Session, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, errors.New("heed failed on it, which is a fault of heed's")
			if wrong, ok := p.(runtime.Error); ok { // others may have text of the log
				err = fmt.Errorf("%w: %w", err, wrong)
			}
		}
	}()
	log, _, err := unpack.Layer(packed)
	if err != nil {
		return nil, err
	}
	hasher := summary.NewHasher()
	unzipped := within.reader((&limit{left: maxLog, err: errTooLong}).reader(io.TeeReader(log, hasher)))
	r, err := replay.Open(set, unzipped)
	if err != nil {
		return nil, err
	}
	scrubber := &report.Scrubber{}
	if home, err := os.UserHomeDir(); err == nil {
		scrubber.Home(home)
	}
	made := report.New(r.Report(name, scrubber))
	err = r.Run(made)
	s = replay.Summarize(made, scrubber, set, hasher.Log(name))
	if s.Log.Bytes == 0 {
		return nil, errors.Join(err, errEmpty)
	}
	return s, err
}

// limit bounds the bytes read from readers, and has the error for more. A nil limit is no limit.
type limit struct {
	left int64
	more int64 // that may be allowed
	err  error
}

// allow lets so many bytes of an archive unpack to [maxRatio] times more.
func (l *limit) allow(packed int64) {
	more := min(min(packed, maxUnpacked)*maxRatio, l.more)
	l.left, l.more = l.left+more, l.more-more
}

// granted are limits that rise with the bytes written to it.
type granted []*limit

// Write implements [io.Writer].
func (g *granted) Write(b []byte) (int, error) {
	for _, l := range *g {
		l.allow(int64(len(b)))
	}
	return len(b), nil
}

func (l *limit) reader(r io.Reader) io.Reader {
	if l == nil {
		return r
	}
	return &limitReader{r, l}
}

type limitReader struct {
	r io.Reader
	*limit
}

func (l *limitReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, l.err
	}
	return n, err
}
