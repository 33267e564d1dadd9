package journal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// TestScanWhileWritten writes between the steps of pages, and reads on with their
// cursors to the end: what a page accounts for is in it, was left out by the filter,
// or is lost; and what is still held afterwards was not called lost.
func TestScanWhileWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			Entries: rapid.IntRange(1, 400).Draw(t, "entries"), Bytes: rapid.IntRange(1000, 100_000).Draw(t, "bytes"),
			Firsts: 20, Pinned: 20, After: rapid.Uint64Range(0, 5).Draw(t, "before"),
			ReadEntries: rapid.SampledFrom([]int{0, 100, 300}).Draw(t, "readEntries"),
			ReadBytes:   rapid.SampledFrom([]int{0, 5000}).Draw(t, "readBytes"),
		}
		j, err := New(cfg)
		require.NoError(t, err)
		written := map[uint64]string{}
		write := func(n int) {
			for range n {
				seq := j.Latest() + 1
				written[seq] = fmt.Sprintf("entry %d %s", seq, strings.Repeat("x", int(seq*seq%211)))
				d := event.Decision{Disposition: event.Disposition(seq % 3)}
				j.Append(&event.Entry{Seq: seq, Message: written[seq]}, signature.Signature{}, d)
				switch seq % 37 {
				case 1:
					j.KeepFirst(seq / 100)
				case 2:
					j.Pin(seq/100, seq, 3)
				case 3:
					j.Release(seq / 200)
					j.Unpin(seq / 300)
				}
			}
		}
		write(rapid.IntRange(0, 600).Draw(t, "written"))
		f := rapid.SampledFrom([]Filter{
			{},
			{MinDisposition: event.Advisory},
			{Contains: "7"},
			{Contains: "none has this"},
		}).Draw(t, "filter")
		matches := func(seq uint64) bool {
			return event.Disposition(seq%3) >= f.MinDisposition && strings.Contains(written[seq], f.Contains)
		}
		limit := rapid.IntRange(1, 400).Draw(t, "limit")

		var cursor Cursor
		for pages := 0; pages == 0 || cursor.Seq < j.Latest(); pages++ {
			s := NewScan(cursor, limit, f, nil, nil)
			for more := true; more; {
				more = s.Step(j)
				if pages < 5 && rapid.Bool().Draw(t, "busy") {
					write(rapid.IntRange(0, 200).Draw(t, "meanwhile"))
				}
				more = s.Sift() && more
			}
			p := s.Page
			require.NoError(t, p.Err)
			require.LessOrEqual(t, len(p.Records), limit)
			require.LessOrEqual(t, p.Next.Seq, p.Latest)
			require.Equal(t, p.Next.Seq < p.Latest, p.More)
			in := map[uint64]bool{}
			last := cursor.Seq
			for i := range p.Records {
				r := &p.Records[i]
				require.Greater(t, r.Seq, last, "oldest first, each once")
				require.LessOrEqual(t, r.Seq, p.Next.Seq)
				require.Equal(t, written[r.Seq], r.Message)
				require.True(t, matches(r.Seq))
				in[r.Seq], last = true, r.Seq
			}
			lost, out := uint64(0), uint64(0)
			for seq := cursor.Seq + 1; seq <= p.Next.Seq; seq++ {
				switch {
				case in[seq]:
				case j.lookup(seq) != nil:
					require.False(t, matches(seq), "entry %d is held, and not in the page", seq)
					out++
				default:
					lost++ // by now: when the step was there, it may have been held, and left out
				}
			}
			require.LessOrEqual(t, p.Lost, lost)
			require.LessOrEqual(t, p.LostBefore, p.Lost)
			if f.Contains == "" && f.MinDisposition == 0 {
				require.Equal(t, p.Next.Seq-cursor.Seq, uint64(len(p.Records))+p.Lost)
			}
			require.LessOrEqual(t, uint64(len(p.Records))+out+p.Lost, p.Next.Seq-cursor.Seq)
			require.True(t, p.Next.Seq > cursor.Seq || p.Latest == cursor.Seq, "a page goes on")
			cursor = p.Next
		}
	})
}

// TestScanStepsAreBounded holds what a step may examine and copy, and that it does as
// much where it can.
func TestScanStepsAreBounded(t *testing.T) {
	j := newJournal(t, Config{}, 5000)
	s := NewScan(Cursor{}, MaxLimit, Filter{Contains: "none has this"}, nil, nil)
	steps := 0
	for more := true; more; steps++ {
		before := s.examined
		more = s.Step(j)
		require.LessOrEqual(t, s.examined-before, uint64(stepEntries))
		require.LessOrEqual(t, len(s.text), stepBytes)
		more = s.Sift() && more
	}
	require.EqualValues(t, 4096, s.examined)
	require.LessOrEqual(t, steps, 2+4096/stepEntries)
}
