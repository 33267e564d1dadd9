package journal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

// newJournal returns a journal with n entries that were appended to it, "1",
// "2" and so on.
func newJournal(t testing.TB, c Config, n int) *Journal {
	j := testkit.Must(New(c))
	write(j, n)
	return j
}

func write(j *Journal, n int) {
	for range n {
		seq := j.Latest() + 1
		j.Append(&event.Entry{Seq: seq, Message: fmt.Sprint(seq)}, signature.Signature{}, event.Decision{})
	}
}

func TestConfigErrorsNameTheField(t *testing.T) {
	for _, c := range []struct {
		Config
		want string
	}{
		{Config{Entries: -1}, "journal: Config.Entries is -1, want at least 1 (0 means 24576)"},
		{Config{Bytes: maxCapacity + 1}, "journal: Config.Bytes is 2147483647, want at most 2147483646"},
		{Config{Firsts: -2}, "Config.Firsts is -2"},
		{Config{FirstsBytes: -2}, "Config.FirstsBytes is -2"},
		{Config{FirstsPerBurst: -2}, "Config.FirstsPerBurst is -2"},
		{Config{Pinned: -2}, "Config.Pinned is -2"},
		{Config{PinnedBytes: -2}, "Config.PinnedBytes is -2"},
		{Config{MaxText: -2}, "Config.MaxText is -2"},
		{Config{ReadEntries: -2}, "Config.ReadEntries is -2"},
		{Config{ReadBytes: -2}, "Config.ReadBytes is -2"},
	} {
		j, err := New(c.Config)
		require.ErrorContains(t, err, c.want)
		require.Nil(t, j)
	}
}

func TestZeroConfigIsTheDefault(t *testing.T) {
	j := newJournal(t, Config{}, 0)
	require.Equal(t, Stats{
		Tail:   Budget{Capacity: 24576, MaxBytes: 3 << 20},
		Firsts: Budget{Capacity: 2048, MaxBytes: 1 << 20},
		Pinned: Budget{Capacity: 2048, MaxBytes: 1 << 20},
	}, j.Stats())
}

func TestAppendOutOfOrderIsABug(t *testing.T) {
	j := newJournal(t, Config{}, 2)
	for _, seq := range []uint64{0, 2, 4} {
		require.PanicsWithValue(t, fmt.Sprintf("BUG: journal: entry %d appended after entry 2", seq), func() {
			j.Append(&event.Entry{Seq: seq}, signature.Signature{}, event.Decision{})
		})
	}
}

func TestTextIsCut(t *testing.T) {
	long := strings.Repeat("ж", 100) // 200 bytes
	for _, c := range []struct {
		name           string
		c              Config
		message, stack string
		wantM, wantS   int
		truncated      bool
	}{
		{"exactly", Config{MaxText: 200}, long, "", 200, 0, false},
		{"one less", Config{MaxText: 199}, long, "", 198, 0, true},
		{"both exactly", Config{MaxText: 210}, long, "0123456789", 200, 10, false},
		{"a short stack stays whole", Config{MaxText: 100}, long, "0123456789", 90, 10, true},
		{"a long stack keeps a quarter", Config{MaxText: 100}, long, long, 74, 24, true},
		{"a short message stays whole", Config{MaxText: 100}, "0123456789", long, 10, 90, true},
		{"no room at all", Config{MaxText: 1}, long, long, 0, 0, true},
		{"larger than the ring", Config{Bytes: 51}, long, "", 50, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJournal(t, c.c, 0)
			j.Append(&event.Entry{Seq: 1, Message: c.message, Stack: c.stack}, signature.Signature{}, event.Decision{})
			r, ok := j.get(1)
			require.True(t, ok)
			require.Equal(t, c.message[:c.wantM], r.Message)
			require.Equal(t, c.stack[:c.wantS], r.Stack)
			require.Equal(t, c.truncated, r.Truncated)
			require.Equal(t, c.truncated, j.Stats().Truncated == 1)
		})
	}
}

func TestNamesAreCut(t *testing.T) {
	long := strings.Repeat("n", maxName)
	j := newJournal(t, Config{}, 0)
	e := event.Entry{Seq: 1, Message: "m", OperationID: long, Source: long, Parent: long}
	d := event.Decision{Rule: long, Tags: []string{long, long, long, long}} // 4*256 bytes: maxTags
	j.Append(&e, signature.Signature{}, d)
	r, _ := j.get(1)
	require.Equal(t, e, r.Entry)
	require.Equal(t, d, r.Decision)
	require.False(t, r.Truncated)

	for _, change := range []func(*event.Entry, *event.Decision){
		func(e *event.Entry, _ *event.Decision) { e.OperationID += "x" },
		func(e *event.Entry, _ *event.Decision) { e.Source += "x" },
		func(e *event.Entry, _ *event.Decision) { e.Parent += "x" },
		func(_ *event.Entry, d *event.Decision) { d.Rule += "x" },
		func(_ *event.Entry, d *event.Decision) { d.Tags = append(d.Tags, "") },
		func(_ *event.Entry, d *event.Decision) { d.Tags = append(d.Tags[:3:3], long+"x") },
	} {
		e, d := e, d
		e.Seq = j.Latest() + 1
		change(&e, &d)
		j.Append(&e, signature.Signature{}, d)
		got, _ := j.get(e.Seq)
		require.True(t, got.Truncated)
		got.Truncated, got.Seq = false, 1
		require.Equal(t, r, got)
		require.NoError(t, j.valid())
	}
}

func TestCursorsAreRefused(t *testing.T) {
	j := newJournal(t, Config{Epoch: "now"}, 3)
	for _, c := range []struct {
		Cursor
		want error
		text string
	}{
		{Cursor{"then", 1}, ErrCursorEpoch, `journal: cursor of another epoch: it is of "then", the journal of "now"`},
		{Cursor{"then", 9}, ErrCursorEpoch, "another epoch"},
		{Cursor{"now", 4}, ErrCursorBeyond, "journal: cursor beyond the latest entry: it is at 4, the latest is 3"},
		{Cursor{"", 1<<64 - 1}, ErrCursorBeyond, "beyond"},
	} {
		p := j.Read(c.Cursor, 0, Filter{})
		require.ErrorIs(t, p.Err, c.want)
		require.ErrorContains(t, p.Err, c.text)
		require.Empty(t, p.Records)
		require.Equal(t, c.Cursor, p.Next)
		require.Equal(t, uint64(3), p.Latest)

		_, _, err := j.Since(c.Cursor)
		require.ErrorIs(t, err, c.want)
		_, _, err = j.count(Cursor{}, c.Cursor)
		require.ErrorIs(t, err, c.want)
	}
	require.Equal(t, Cursor{"now", 3}, j.end())
}

// get returns the entry seq, if it is held.
func (j *Journal) get(seq uint64) (Record, bool) {
	h, r := j.next(seq - 1)
	if h == nil || h.seq != seq {
		return Record{}, false
	}
	return h.decode(string(j.appendBlock(nil, h, r))), true
}

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
		j := testkit.Must(New(cfg))
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
