package capture

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// interrupted returns the records of data, fed in parts, after the record number stop, and where the Stream was then.
// Up to there what is open is asked for after each part.
func interrupted(tb testing.TB, data []byte, size, stop int, partly bool, opt Options) (at Position, after []Record) {
	tb.Helper()
	s := testkit.Must(NewStream(opt))
	n := 0
	take := func() {
		var rec Record
		for s.Next(&rec) {
			switch n++; {
			case n == stop:
				at = s.At()
				s.flush, s.partly = false, false // as if the process had ended here
			case n > stop:
				after = append(after, kept(rec))
			}
		}
	}
	for part := range slices.Chunk(data, size) {
		s.Feed(bytes.Clone(part))
		take()
		if n < stop {
			s.Flush(partly)
			take()
		}
	}
	s.End()
	take()
	return at, after
}

// resumed returns the records of data that a Stream returns which continues at a position.
func resumed(tb testing.TB, data []byte, after int, at Position, opt Options) (out []Record) {
	tb.Helper()
	s := testkit.Must(NewStream(opt))
	s.Resume(after, at)
	var rec Record
	take := func() {
		for s.Next(&rec) {
			if !s.Resuming() {
				out = append(out, kept(rec))
			}
		}
	}
	for part := range slices.Chunk(data, 4096) {
		s.Feed(bytes.Clone(part))
		take()
	}
	s.End()
	take()
	return out
}

// TestStreamResume: a Stream that continues after any record of another returns the rest of its records.
func TestStreamResume(t *testing.T) {
	for name, data := range captures(t) {
		data = data[:min(len(data), 20_000)]
		all, r := read(t, bytes.NewReader(data), Options{})
		opt := Options{Layout: r.At().Layout} // which is recognized by more the second time
		for stop := 1; stop < len(all); stop += 1 + len(all)/20 {
			for _, size := range []int{1 << 20, 900, 150} {
				at, want := interrupted(t, data, size, stop, size == 150, opt)
				got := resumed(t, data, 0, at, opt)
				// Parts that were looked at may decide whether the rest of a record comes alone or again with its beginning.
				if len(got) > 0 && len(got) == len(want) && got[0].Part+want[0].Part == event.Again+event.Rest {
					got[0], want[0] = Record{}, Record{EndLine: want[0].EndLine - got[0].EndLine}
				}
				require.Equal(t, want, got, "%s: %d records in parts of %d, %+v", name, stop, size, at)
			}
		}
	}
}
