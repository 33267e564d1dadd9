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

// valid returns the first invariant of j that does not hold.
func (j *Journal) valid() error {
	for _, f := range []func() error{j.validTail, j.validIndex, j.validFirsts, j.pins.valid} {
		if err := f(); err != nil {
			return err
		}
	}
	if s := j.Stats(); s.Held+s.Lost != s.Latest || s.Written+s.After != s.Latest {
		return fmt.Errorf("stats do not add up: %+v", s)
	}
	return nil
}

func (j *Journal) validTail() error {
	t := &j.tail
	used := 0
	at := t.write - t.Bytes
	if at < 0 {
		at += len(t.bytes)
	}
	for i := range t.Entries {
		h := t.at(i)
		if want := j.tailFrom() + uint64(i); h.seq != want {
			return fmt.Errorf("tail: entry %d is %d, not %d", i, h.seq, want)
		}
		if h.size() > 0 && int(h.at)%len(t.bytes) != (at+used)%len(t.bytes) {
			return fmt.Errorf("tail: block of %d begins at %d, not where the one before ends", h.seq, h.at)
		}
		used += h.size()
	}
	if used != t.Bytes || used > len(t.bytes) {
		return fmt.Errorf("tail: %d bytes used, counted as %d of %d", used, t.Bytes, len(t.bytes))
	}
	return nil
}

func (j *Journal) validIndex() error {
	var last uint64
	var firsts, pinned Budget
	kept := func(h *header) error {
		if h.flags&flagFirst != 0 {
			firsts.add(h.size())
		}
		if h.flags&flagPinned != 0 {
			pinned.add(h.size())
			if !j.pins.covered(h.seq) {
				return fmt.Errorf("pins: nobody pinned %d", h.seq)
			}
		}
		return nil
	}
	for _, r := range j.index {
		if r.seq <= last || r.seq >= j.tailFrom() {
			return fmt.Errorf("index: %d after %d, the tail from %d", r.seq, last, j.tailFrom())
		}
		last = r.seq
		if len(r.block) != r.size() || r.flags&flagsKept == 0 {
			return fmt.Errorf("index: %d has %d bytes of %d, and is for nothing", r.seq, len(r.block), r.size())
		}
		if err := kept(&r.header); err != nil {
			return err
		}
	}
	for i := range j.tail.Entries {
		if err := kept(j.tail.at(i)); err != nil {
			return err
		}
	}
	for _, b := range [][2]Budget{{firsts, j.firsts.Budget}, {pinned, j.pins.Budget}} {
		if held := b[1]; held.Entries > held.Capacity || held.Bytes > held.MaxBytes ||
			b[0].Entries != held.Entries || b[0].Bytes != held.Bytes {
			return fmt.Errorf("index: %+v, counted as %+v", b[0], held)
		}
	}
	return nil
}

func (j *Journal) validFirsts() error {
	f := &j.firsts
	count, bytes := len(f.released), 0
	for _, seq := range f.released {
		bytes += j.lookup(seq).size()
	}
	if bytes != f.releasedBytes {
		return fmt.Errorf("firsts: %d bytes released, counted as %d", bytes, f.releasedBytes)
	}
	for id, b := range f.bursts {
		if len(b) == 0 || len(b) > f.perBurst {
			return fmt.Errorf("bursts: %d has %d firsts of %d", id, len(b), f.perBurst)
		}
		count += len(b)
	}
	if count != f.Entries {
		return fmt.Errorf("firsts: %d in lists, %d counted", count, f.Entries)
	}
	return nil
}

func (p *pins) valid() error {
	for i := range p.pins {
		q := &p.pins[i]
		if q.seq < q.from || q.seq > q.to || q.to > p.until {
			return fmt.Errorf("pins: %+v, until %d", *q, p.until)
		}
	}
	return nil
}
