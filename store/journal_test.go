package store

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/signature"
)

// record returns the record of a sequence number, with every field in use now
// and then.
func record(seq uint64) journal.Record {
	r := journal.Record{
		Entry: event.Entry{
			Seq: seq, Kind: event.Kind(seq % 4), Level: event.Level(seq % 6), Status: event.Status(seq % 18),
			Message: fmt.Sprintf("entry %d: %s", seq, strings.Repeat("é", int(seq*seq%40))),
			Source:  []string{"", "game", "mods"}[seq%3], Count: seq * 3, Pos: seq << (seq % 40),
			ByCaller: seq%5 == 0,
		},
		Signature: signature.Signature{ID: signature.ID(seq * 0x9E3779B97F4A7C15), Check: uint32(seq * 7919)},
		Decision: event.Decision{
			Rule: "rule." + string(rune('a'+seq%3)), Disposition: event.Disposition(seq % 3),
			Severity: event.Severity(seq % 4), Invalidates: seq%7 == 0,
		},
		Truncated: seq%11 == 0,
	}
	if seq%2 == 0 {
		r.Time = time.Unix(int64(seq)-50, int64(seq)*1001).UTC()
		r.Stack = "at Pawn.Tick ()\nat Map.Tick ()"
	}
	if seq%4 == 1 {
		r.OperationID, r.Parent = fmt.Sprintf("op-%d", seq), "op-1"
		r.Decision.Tags = []string{"save", "", "map"}[:1+seq%3]
	}
	return r
}

func open(t require.TestingT, fs filesystem, c JournalConfig) *Journal {
	if c.Dir == "" {
		c.Dir = "d"
	}
	if c.Epoch == "" {
		c.Epoch = "run-1"
	}
	j, err := openJournal(fs, c)
	require.NoError(t, err)
	return j
}

// small makes segments of some eighty records, four of them.
var small = JournalConfig{MaxText: 300, SegmentBytes: 9 << 10, MaxBytes: 36 << 10}

// reading is all that a reader meets from a cursor on.
type reading struct {
	records []journal.Record
	gaps    []Gap
}

// readAll follows the cursor to the end, and checks the laws of pages.
func readAll(t require.TestingT, j *Journal, after journal.Cursor, limit int) reading {
	var all reading
	pos := after.Seq
	for {
		p := j.Read(journal.Cursor{Epoch: after.Epoch, Seq: pos}, limit, journal.Filter{})
		require.NoError(t, p.Err)
		var lost uint64
		at := pos
		gaps := p.Gaps
		for _, r := range p.Records {
			for len(gaps) > 0 && gaps[0].After == at {
				at, gaps = gaps[0].To, gaps[1:]
			}
			require.Equal(t, at+1, r.Seq, "records and gaps account for all")
			at = r.Seq
		}
		for _, g := range gaps {
			require.Equal(t, at, g.After)
			at = g.To
		}
		for _, g := range p.Gaps {
			require.Less(t, g.After, g.To)
			lost += g.To - g.After
		}
		require.Equal(t, p.Next.Seq, at)
		require.Equal(t, lost, p.Lost)
		require.Equal(t, p.Next.Seq-pos, p.Lost+uint64(len(p.Records)), "held + lost = written")
		require.LessOrEqual(t, p.Next.Seq, p.Latest)
		if len(p.Records) > 0 {
			require.LessOrEqual(t, p.Oldest, p.Records[0].Seq)
		}
		all.records = append(all.records, p.Records...)
		all.gaps = append(all.gaps, p.Gaps...)
		if !p.More {
			return all
		}
		require.Greater(t, p.Next.Seq, pos, "following Next comes to an end")
		pos = p.Next.Seq
	}
}

func seqs(records []journal.Record) []uint64 {
	var s []uint64
	for _, r := range records {
		s = append(s, r.Seq)
	}
	return s
}

func upTo(from, to uint64) []uint64 {
	var s []uint64
	for ; from <= to; from++ {
		s = append(s, from)
	}
	return s
}

func TestJournalRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "journal")
	j, err := OpenJournal(JournalConfig{Dir: dir, Epoch: "run-1"})
	require.NoError(t, err)
	var want []journal.Record
	for seq := uint64(1); seq <= 300; seq++ {
		r := record(seq)
		want = append(want, r)
		r.Time = r.Time.Local() // comes back in UTC
		if seq%2 == 1 {
			r.Time = time.Time{}
		}
		require.NoError(t, j.Append(r))
	}
	require.Zero(t, j.DurableUpTo())
	require.NoError(t, j.Sync())
	require.EqualValues(t, 300, j.DurableUpTo())
	for _, limit := range []int{1, 7, 0, 5000} {
		require.Equal(t, want, readAll(t, j, journal.Cursor{}, limit).records)
	}
	_, err = OpenJournal(JournalConfig{Dir: dir, Epoch: "run-2"})
	require.ErrorContains(t, err, "in use")
	require.NoError(t, j.Close())
	require.ErrorIs(t, j.Close(), ErrClosed)
	require.ErrorIs(t, j.Append(record(301)), ErrClosed)
	require.ErrorIs(t, j.Sync(), ErrClosed)
	require.ErrorIs(t, j.Read(journal.Cursor{}, 0, journal.Filter{}).Err, ErrClosed)
	_, err = j.Drain(nil)
	require.ErrorIs(t, err, ErrClosed)

	if runtime.GOOS != "windows" {
		for path, mode := range map[string]os.FileMode{
			dir: 0o700 | os.ModeDir, filepath.Join(dir, segmentName(1)): 0o600, filepath.Join(dir, lockName): 0o600,
		} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode(), path)
		}
	}

	j, err = OpenJournal(JournalConfig{Dir: dir, Epoch: "run-1"})
	require.NoError(t, err)
	require.Equal(t, Recovery{Segments: 1, Records: 300}, j.Recovery())
	require.EqualValues(t, 300, j.DurableUpTo())
	require.ErrorIs(t, j.Append(record(300)), ErrSequence)
	require.NoError(t, j.Append(record(303)))
	all := readAll(t, j, journal.Cursor{}, 0)
	require.Equal(t, append(want, record(303)), all.records)
	require.Equal(t, []Gap{{After: 300, To: 302, Cause: GapMissed}}, all.gaps)
	require.NoError(t, j.Close())
}

// TestRecordFieldsAreKept fails when a record has a field that no test record
// sets, so that a new one cannot be forgotten.
func TestRecordFieldsAreKept(t *testing.T) {
	set := map[string]bool{}
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			name := prefix + v.Type().Field(i).Name
			if f := v.Field(i); f.Kind() == reflect.Struct && f.Type() != reflect.TypeFor[time.Time]() {
				walk(name+".", f)
			} else {
				set[name] = set[name] || !f.IsZero()
			}
		}
	}
	for seq := range uint64(100) {
		r := record(seq + 1)
		walk("", reflect.ValueOf(r))
		b, cut := appendRecord(nil, &r, DefaultMaxText)
		require.False(t, cut)
		got, err := decodeRecord(b)
		require.NoError(t, err)
		require.Equal(t, r, got)
	}
	for name, ok := range set {
		require.True(t, ok, "no record sets %s", name)
	}
}

func TestRecordExtremes(t *testing.T) {
	r := journal.Record{Entry: event.Entry{
		Seq: math.MaxUint64, Count: math.MaxUint64, Pos: math.MaxUint64,
		Kind: 255, Level: 255, Status: 255, Time: time.Unix(math.MaxInt64/2, 999_999_999).UTC(),
	}}
	b, _ := appendRecord(nil, &r, 0)
	got, err := decodeRecord(b)
	require.NoError(t, err)
	require.Equal(t, r, got)

	long := journal.Record{
		Entry: event.Entry{
			Seq: 1, Message: strings.Repeat("é", 1000), Stack: strings.Repeat("s", 1000),
			Source: strings.Repeat("q", 300), OperationID: strings.Repeat("o", 300), Parent: strings.Repeat("p", 300),
		},
		Decision: event.Decision{Rule: strings.Repeat("r", 300), Tags: slices.Repeat([]string{strings.Repeat("t", 300)}, 9)},
	}
	b, cut := appendRecord(nil, &long, 101)
	require.True(t, cut)
	got, err = decodeRecord(b)
	require.NoError(t, err)
	require.True(t, got.Truncated)
	require.Equal(t, strings.Repeat("é", 38), got.Message, "whole characters")
	require.Len(t, got.Stack, 25)
	require.Equal(t, []int{255, 255, 255, 255}, []int{len(got.Source), len(got.OperationID), len(got.Parent), len(got.Decision.Rule)})
	require.Len(t, got.Decision.Tags, 4)
	require.Less(t, len(b), 101+maxBesideText)

	// The longest that there is fits the smallest segment, behind a gap.
	c := small
	c.MaxText = 4096
	c.SegmentBytes = segmentHeader + 4096 + maxBesideText
	j := open(t, newFaultFS(), c)
	long.Message = strings.Repeat("m", 5000)
	for seq := uint64(math.MaxUint64 - 10); seq < math.MaxUint64; seq += 2 {
		long.Seq = seq
		require.NoError(t, j.Append(long))
	}
	require.EqualValues(t, 5, j.Stats().Cut)
	require.EqualValues(t, 5, j.Stats().Written)
}

// TestFilterAsInMemory holds filters to those of package journal.
func TestFilterAsInMemory(t *testing.T) {
	memory, err := journal.New(journal.Config{Epoch: "run-1"})
	require.NoError(t, err)
	for seq := uint64(1); seq <= 200; seq++ {
		r := record(seq)
		r.Source = strings.Repeat(r.Source, 80) // some are cut
		memory.Append(&r.Entry, r.Signature, r.Decision)
	}
	j := open(t, newFaultFS(), JournalConfig{})
	d, err := j.Drain(memory)
	require.NoError(t, err)
	require.Equal(t, Drained{Records: 200}, d)
	for _, f := range []journal.Filter{
		{},
		{MinDisposition: event.Advisory},
		{MinSeverity: event.SeverityError},
		{Kinds: []event.Kind{event.KindOperation, event.KindNotice}},
		{Signature: record(17).Signature.ID},
		{Operation: "op-21"},
		{Operation: "op-"},
		{Rule: "rule.b"},
		{Source: strings.Repeat("mods", 80)},
		{Source: strings.Repeat("mods", 63)},
		{Contains: "1: é"},
		{Contains: "Map.Tick"},
		{Contains: "entry 1", Rule: "rule.a", Kinds: []event.Kind{event.KindOperation}},
	} {
		for after := uint64(0); ; {
			a := memory.Read(journal.Cursor{Seq: after}, 7, f)
			b := j.Read(journal.Cursor{Seq: after}, 7, f)
			require.Equal(t, a, b.Page, "%+v after %d", f, after)
			if after = a.Next.Seq; !a.More {
				break
			}
		}
	}
}

func TestReadBounds(t *testing.T) {
	j := open(t, newFaultFS(), JournalConfig{ReadEntries: 10, ReadBytes: 1 << 10})
	for seq := uint64(1); seq <= 50; seq++ {
		r := record(seq)
		if seq > 20 {
			r.Message = strings.Repeat("x", 600)
		}
		require.NoError(t, j.Append(r))
	}
	p := j.Read(journal.Cursor{}, 0, journal.Filter{Contains: "nowhere"})
	require.Empty(t, p.Records)
	require.EqualValues(t, 10, p.Next.Seq, "entries")
	require.True(t, p.More)
	p = j.Read(journal.Cursor{Seq: 30}, 0, journal.Filter{})
	require.Equal(t, []uint64{31}, seqs(p.Records), "bytes")
	p = j.Read(journal.Cursor{Seq: 50}, 0, journal.Filter{})
	require.Equal(t, Page{Page: journal.Page{Next: journal.Cursor{Epoch: "run-1", Seq: 50}, Oldest: 1, Latest: 50}}, p)
}

func TestCursorsRefused(t *testing.T) {
	disk := newFaultFS()
	j := open(t, disk, JournalConfig{})
	require.NoError(t, j.Append(record(1)))
	require.ErrorIs(t, j.Read(journal.Cursor{Epoch: "run-0", Seq: 1}, 0, journal.Filter{}).Err, journal.ErrCursorEpoch)
	p := j.Read(journal.Cursor{Seq: 2}, 0, journal.Filter{})
	require.ErrorIs(t, p.Err, journal.ErrCursorBeyond)
	require.Equal(t, journal.Cursor{Seq: 2}, p.Next)
	require.NoError(t, j.Close())

	// An earlier run is read by its epoch, and ends where it ended.
	j = open(t, disk, JournalConfig{Epoch: "run-2"})
	require.Empty(t, readAll(t, j, journal.Cursor{}, 0))
	require.Equal(t, []uint64{1}, seqs(readAll(t, j, journal.Cursor{Epoch: "run-1"}, 0).records))
	require.ErrorIs(t, j.Read(journal.Cursor{Epoch: "run-1", Seq: 2}, 0, journal.Filter{}).Err, journal.ErrCursorBeyond)
	require.NoError(t, j.Append(record(7)))
	require.Equal(t, []Gap{{0, 6, GapMissed}}, readAll(t, j, journal.Cursor{}, 0).gaps)
	require.Equal(t, []Gap{{3, 6, GapMissed}}, j.Read(journal.Cursor{Seq: 3}, 0, journal.Filter{}).Gaps, "a cursor within a gap")
	runs := j.Runs()
	require.Equal(t, []string{"run-1", "run-2"}, []string{runs[0].Epoch, runs[1].Epoch})
	require.Equal(t, Run{Epoch: "run-2", Oldest: 7, Latest: 7, Records: 1, Segments: 1, Bytes: leastOnDisk}, runs[1])
}

func TestRetention(t *testing.T) {
	disk := newFaultFS()
	j := open(t, disk, small)
	old := open(t, newFaultFS(), small)
	require.NoError(t, old.Close())
	for seq := uint64(1); seq <= 2000; seq++ {
		require.NoError(t, j.Append(record(seq)))
		require.LessOrEqual(t, disk.bytes(), small.MaxBytes)
	}
	s := j.Stats()
	require.LessOrEqual(t, s.Bytes, small.MaxBytes)
	require.Greater(t, s.DeletedSegments, 5)
	require.EqualValues(t, 2000, s.DeletedRecords+s.Records)
	all := readAll(t, j, journal.Cursor{}, 0)
	require.Equal(t, []Gap{{0, s.DeletedRecords, GapDeleted}}, all.gaps)
	require.Equal(t, upTo(s.DeletedRecords+1, 2000), seqs(all.records))
	require.Equal(t, s.DeletedRecords+1, j.Read(journal.Cursor{}, 1, journal.Filter{}).Oldest)
	require.NoError(t, j.Close())

	j = open(t, disk, small)
	require.Equal(t, all, readAll(t, j, journal.Cursor{}, 0), "as before")

	// What the oldest segments do not make room for is not written.
	disk.fault = func(op string, n int) (int, error) {
		if op == "remove" {
			return 0, os.ErrPermission
		}
		return n, nil
	}
	require.ErrorIs(t, j.Append(record(2001)), os.ErrPermission)
	require.LessOrEqual(t, disk.bytes(), small.MaxBytes)
}

// full is a disk without room, on which what was written can still be synced.
func full(op string, n int) (int, error) {
	if op == "create" || op == "write" {
		return n / 2, errFull
	}
	return n, nil
}

// TestReadWhileWriting follows a writer that is ahead by what is kept.
func TestReadWhileWriting(t *testing.T) {
	c := small
	c.Dir, c.Epoch = t.TempDir(), "run-1"
	j, err := OpenJournal(c)
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }() // Windows removes no file that is open
	const n = 3000
	var writer sync.WaitGroup
	writer.Go(func() {
		for seq := uint64(1); seq <= n; seq++ {
			if err := j.Append(record(seq)); err != nil {
				t.Error(err)
			}
		}
	})
	defer writer.Wait()
	var read, lost uint64
	for after := (journal.Cursor{}); after.Seq < n && !t.Failed(); {
		p := j.Read(after, 20, journal.Filter{})
		require.NoError(t, p.Err)
		for _, r := range p.Records {
			require.Equal(t, record(r.Seq), r)
		}
		for _, g := range p.Gaps {
			require.Equal(t, GapDeleted, g.Cause)
		}
		read += uint64(len(p.Records))
		lost += p.Lost
		after = p.Next
	}
	require.EqualValues(t, n, read+lost)
}

// TestFailedState fills the disk for a while.
func TestFailedState(t *testing.T) {
	disk := newFaultFS()
	j := open(t, disk, JournalConfig{RetryEntries: 8})
	for seq := uint64(1); seq <= 10; seq++ {
		require.NoError(t, j.Append(record(seq)))
	}
	attempts := 0
	disk.fault = func(op string, n int) (int, error) {
		n, err := full(op, n)
		if err != nil {
			attempts++
		}
		return n, err
	}
	var tried []uint64
	for seq := uint64(11); seq <= 60; seq++ {
		before := attempts
		require.ErrorIs(t, j.Append(record(seq)), errFull)
		if attempts > before {
			tried = append(tried, seq)
		}
	}
	require.Equal(t, []uint64{11, 12, 14, 18, 26, 34, 42, 50, 58}, tried, "backoff by entries")
	s := j.Stats()
	require.ErrorIs(t, s.Err, errFull)
	require.EqualValues(t, []uint64{60, 10, 9}, []uint64{s.Latest, s.OnDisk, s.Failures})
	require.ErrorIs(t, j.Sync(), errFull)
	require.Len(t, disk.files, 1, "of what could not be begun nothing is left")
	require.Len(t, disk.files[j.path(j.segments[0])].data, int(j.segments[0].size), "nor of what could not be written")
	p := j.Read(journal.Cursor{}, 0, journal.Filter{})
	require.Equal(t, upTo(1, 10), seqs(p.Records), "what is there can be read")
	require.EqualValues(t, []any{uint64(60), uint64(10), uint64(0), false}, []any{p.Latest, p.Next.Seq, p.Lost, p.More})
	require.NoError(t, j.Read(journal.Cursor{Seq: 40}, 0, journal.Filter{}).Err)

	disk.fault = nil
	require.NoError(t, j.Append(record(61)), "Sync lets it try at once")
	require.NoError(t, j.Append(record(62)))
	require.NoError(t, j.Stats().Err)
	all := readAll(t, j, journal.Cursor{}, 0)
	require.Equal(t, []Gap{{10, 60, GapFailed}}, all.gaps)
	require.Equal(t, append(upTo(1, 10), 61, 62), seqs(all.records))
	require.EqualValues(t, 50, j.Stats().Failed)

	// What fails at the end is a gap as well, once it can be written.
	disk.fault = full
	require.ErrorIs(t, j.Append(record(63)), errFull)
	disk.fault = nil
	require.NoError(t, j.Close())
	j = open(t, disk, JournalConfig{})
	require.Equal(t, []Gap{{10, 60, GapFailed}, {62, 63, GapFailed}}, readAll(t, j, journal.Cursor{}, 0).gaps)
}

// TestWhatIsLeftGoesFirst: when room is made, what never held anything goes
// before any record.
func TestWhatIsLeftGoesFirst(t *testing.T) {
	disk := newFaultFS()
	j := open(t, disk, JournalConfig{MaxText: 300, SegmentBytes: 9 << 10, MaxBytes: 18 << 10})
	for seq := uint64(1); seq <= 60; seq++ {
		require.NoError(t, j.Append(record(seq)))
	}
	require.Greater(t, j.active.size, j.config.SegmentBytes-leastOnDisk, "the two and another are too much")
	disk.fault = func(op string, n int) (int, error) {
		if op == "write" || op == "remove" {
			return n / 2, os.ErrPermission
		}
		return n, nil
	}
	for range 2 { // the segment is ended, and the next cannot be begun
		require.ErrorIs(t, j.Append(record(j.Stats().Latest+1)), os.ErrPermission)
	}
	require.Len(t, disk.files, 2, "half a header is left")
	disk.fault = nil
	require.NoError(t, j.Append(record(64)))
	require.Equal(t, append(upTo(1, 60), 64), seqs(readAll(t, j, journal.Cursor{}, 0).records))
	require.Len(t, disk.files, 2)
}

// TestDurableBehindAFailure: what a later sync calls durable includes what was
// written before a write failed, and before a segment was full.
func TestDurableBehindAFailure(t *testing.T) {
	for _, rotate := range []bool{false, true} {
		disk := newFaultFS()
		j := open(t, disk, small)
		require.NoError(t, j.Append(record(1)))
		require.NoError(t, j.Append(record(2)))
		if rotate {
			for segments := len(j.segments); len(j.segments) == segments; {
				require.NoError(t, j.Append(record(j.Stats().Latest+1)))
			}
		} else {
			disk.fault = full
			require.ErrorIs(t, j.Append(record(3)), errFull)
			disk.fault = nil
		}
		require.NoError(t, j.Append(record(j.Stats().Latest+1)))
		require.NoError(t, j.Sync())
		want := readAll(t, j, journal.Cursor{}, 0)
		require.Equal(t, j.Stats().Latest, j.DurableUpTo())
		disk.restart(true, func(int) int { return 0 })
		require.Equal(t, want, readAll(t, open(t, disk, small), journal.Cursor{}, 0))
	}
}

// TestFailedSync takes a device at its word: what it could not sync is not
// called durable later.
func TestFailedSync(t *testing.T) {
	for _, cutFails := range []bool{false, true} {
		disk := newFaultFS()
		j := open(t, disk, JournalConfig{})
		memory, err := journal.New(journal.Config{Epoch: "run-1"})
		require.NoError(t, err)
		add := func(n int) {
			for range n {
				r := record(memory.Latest() + 1)
				memory.Append(&r.Entry, r.Signature, r.Decision)
			}
		}
		add(10)
		_, err = j.Drain(memory)
		require.NoError(t, err)
		require.NoError(t, j.Sync())
		add(10)
		_, err = j.Drain(memory)
		require.NoError(t, err)
		disk.fault = func(op string, n int) (int, error) {
			if op == "sync" || cutFails && op == "truncate" {
				return 0, errDevice
			}
			return n, nil
		}
		require.ErrorIs(t, j.Sync(), errDevice)
		disk.fault = nil
		require.EqualValues(t, 10, j.DurableUpTo())
		require.Equal(t, upTo(1, 10), seqs(readAll(t, j, journal.Cursor{}, 0).records))
		require.NoError(t, j.Read(journal.Cursor{Seq: 15}, 0, journal.Filter{}).Err, "a reader that was further waits")
		require.EqualValues(t, 10, j.Stats().Withdrawn)

		add(1)
		d, err := j.Drain(memory)
		require.NoError(t, err)
		require.Equal(t, Drained{Records: 11}, d, "drained anew")
		require.NoError(t, j.Sync())
		require.EqualValues(t, 21, j.DurableUpTo())
		want := readAll(t, j, journal.Cursor{}, 0)
		require.Equal(t, upTo(1, 21), seqs(want.records))
		for _, power := range []bool{false, true} {
			disk.restart(power, func(int) int { return 0 })
			j = open(t, disk, JournalConfig{})
			require.Equal(t, want, readAll(t, j, journal.Cursor{}, 0))
			require.EqualValues(t, 21, j.Recovery().Records, "what was withdrawn is not found again")
			require.Equal(t, cutFails, j.Recovery().DamagedBytes > 0)
		}
	}
}

// TestFailedDrain: a disk that refuses loses nothing before the ring is overrun.
func TestFailedDrain(t *testing.T) {
	engine, err := heed.New(heed.Config{Epoch: "run-1", Journal: journal.Config{Entries: 20}})
	require.NoError(t, err)
	log := func(n int) {
		for range n {
			engine.Log(event.Log{Level: event.LevelInfo, Message: "a quiet line"})
		}
	}
	disk := newFaultFS()
	j := open(t, disk, JournalConfig{})
	log(15)
	d, err := j.Drain(engine)
	require.NoError(t, err)
	require.Equal(t, Drained{Records: 15}, d)
	d, err = j.Drain(engine)
	require.NoError(t, err)
	require.Zero(t, d)

	log(5)
	disk.fault = full
	d, err = j.Drain(engine)
	require.ErrorIs(t, err, errFull)
	require.Zero(t, d)
	log(1)
	disk.fault = nil
	d, err = j.Drain(engine)
	require.NoError(t, err)
	require.Equal(t, Drained{Records: 6}, d)
	require.Empty(t, readAll(t, j, journal.Cursor{}, 0).gaps)

	log(50)
	d, err = j.Drain(engine)
	require.NoError(t, err)
	require.Equal(t, Drained{Records: 20, Missed: 30}, d)
	disk.fault = full
	log(1)
	_, err = j.Drain(engine)
	require.Error(t, err)
	log(39)
	disk.fault = nil
	d, err = j.Drain(engine)
	require.NoError(t, err)
	require.Equal(t, Drained{Records: 20, Missed: 20}, d)
	require.Equal(t, []Gap{{21, 51, GapMissed}, {71, 91, GapFailed}}, readAll(t, j, journal.Cursor{}, 0).gaps)

	other, err := heed.New(heed.Config{Epoch: "run-2"})
	require.NoError(t, err)
	_, err = j.Drain(other)
	require.ErrorIs(t, err, journal.ErrCursorEpoch)
	again, err := heed.New(heed.Config{Epoch: "run-1"})
	require.NoError(t, err)
	_, err = j.Drain(again)
	require.ErrorIs(t, err, journal.ErrCursorBeyond)
	require.NoError(t, j.Stats().Err, "the disk did nothing wrong")
}

func TestSyncPolicies(t *testing.T) {
	for _, c := range []struct {
		config JournalConfig
		want   []uint64 // durable after each of ten appends
		sync   uint64
	}{
		{JournalConfig{Sync: SyncAppend}, upTo(1, 10), 10},
		{JournalConfig{Sync: SyncBatched, SyncEntries: 4}, []uint64{0, 0, 0, 4, 4, 4, 4, 8, 8, 8}, 10},
		{JournalConfig{Sync: SyncBatched, SyncBytes: 1}, upTo(1, 10), 10},
		{JournalConfig{Sync: SyncNever, SyncEntries: 1}, make([]uint64, 10), 0},
	} {
		disk := newFaultFS()
		j := open(t, disk, c.config)
		memory, err := journal.New(journal.Config{Epoch: "run-1"})
		require.NoError(t, err)
		var got []uint64
		for seq := uint64(1); seq <= 10; seq++ {
			r := record(seq)
			require.NoError(t, j.Append(r))
			memory.Append(&r.Entry, r.Signature, r.Decision)
			got = append(got, j.DurableUpTo())
		}
		require.Equal(t, c.want, got, c.config.Sync)
		require.NoError(t, j.Sync())
		require.Equal(t, c.sync, j.DurableUpTo())

		// A drain of many syncs no later than the policy says.
		syncs, unsynced := 0, 0
		disk = newFaultFS()
		j = open(t, disk, c.config)
		disk.fault = func(op string, n int) (int, error) {
			if op == "sync" {
				syncs++
			}
			return n, nil
		}
		_, err = j.Drain(memory)
		require.NoError(t, err)
		unsynced = 10 - int(j.DurableUpTo())
		require.Equal(t, map[uint64]int{10: 0, 0: 10}[c.sync]+map[int]int{4: 2}[c.config.SyncEntries], unsynced)
		require.LessOrEqual(t, syncs, 10)
	}
	require.Equal(t, "batched append never sync(9)", fmt.Sprint(SyncBatched, SyncAppend, SyncNever, SyncPolicy(9)))
	require.Equal(t, "missed failed deleted damaged cause(0) cause(9)", fmt.Sprint(GapMissed, GapFailed, GapDeleted, GapDamaged, Cause(0), Cause(9)))
}

// TestRecoveryAtEveryByte cuts a segment at every byte, and flips a bit in every
// byte.
func TestRecoveryAtEveryByte(t *testing.T) {
	disk := newFaultFS()
	j := open(t, disk, JournalConfig{})
	ends := []int{int(segmentHeader)} // where whole records end
	for _, seq := range []uint64{1, 2, 5, 6, 7, 12} {
		require.NoError(t, j.Append(record(seq)))
		ends = append(ends, int(j.active.size))
	}
	want := readAll(t, j, journal.Cursor{}, 0)
	name := j.path(j.active)
	require.NoError(t, j.Close())
	whole := disk.files[name].data

	check := func(data []byte, note string) *Journal {
		disk := newFaultFS()
		disk.files[name] = &faultFile{data: slices.Clone(data)}
		j := open(t, disk, JournalConfig{})
		all := readAll(t, j, journal.Cursor{}, 3)
		n := len(all.records)
		require.Equal(t, want.records[:n], append([]journal.Record{}, all.records...), note)
		r := j.Recovery()
		require.EqualValues(t, n, r.Records)
		if file := disk.files[name]; file != nil {
			require.EqualValues(t, len(data), int64(len(file.data))+r.TornBytes, note)
		} else { // a header alone is not torn, and here of no use
			require.Contains(t, []int64{int64(len(data)), int64(len(data)) - segmentHeader}, r.TornBytes, note)
		}
		if r.DamagedBytes == 0 { // and it goes on
			latest := j.Stats().Latest
			require.NoError(t, j.Append(record(latest+1)))
			require.Equal(t, latest+1, seqs(readAll(t, j, journal.Cursor{}, 0).records)[n])
		}
		return j
	}
	for n := range whole {
		j := check(whole[:n], fmt.Sprintf("cut at %d", n))
		records := 0
		for _, end := range ends[1:] {
			if end <= n {
				records++
			}
		}
		require.EqualValues(t, records, j.Recovery().Records, "cut at %d", n)
	}
	for at := range whole {
		data := slices.Clone(whole)
		data[at] ^= 1 << (at % 8)
		j := check(data, fmt.Sprintf("bit %d of byte %d", at%8, at))
		records := 0
		for _, end := range ends[1:] {
			if end <= at {
				records++
			}
		}
		require.EqualValues(t, records, j.Recovery().Records, "byte %d", at)
	}
	for _, junk := range []string{"\x00", strings.Repeat("\x00", 5000), "\xff\xff\xff\xff and more", "\x08\x00\x00\x00\x00\x00\x00\x00eight by"} {
		j := check(slices.Concat(whole, []byte(junk)), "junk")
		require.EqualValues(t, len(junk), j.Recovery().TornBytes)
	}
}

// TestPositionNeverFalls: what one opening calls accounted for, the next does as
// well, whatever a loss of power left of files that nobody had synced, or of a
// segment whose successor is a header alone.
func TestPositionNeverFalls(t *testing.T) {
	c := small
	c.MaxBytes, c.Sync = 2*c.SegmentBytes, SyncNever
	reopen := func(disk *faultFS) (latest uint64, all reading) {
		j := open(t, disk, c)
		require.NoError(t, j.Recovery().Err)
		defer func() { require.NoError(t, j.Close()) }()
		return j.Stats().Latest, readAll(t, j, journal.Cursor{}, 0)
	}
	for kept := range int(segmentHeader) + 200 {
		disk := newFaultFS()
		j := open(t, disk, c)
		for j.Stats().DeletedSegments == 0 {
			require.NoError(t, j.Append(record(j.Stats().Latest+1)))
		}
		require.Len(t, j.segments, 2)
		began := j.segments[1].first
		require.NoError(t, disk.syncDir("d")) // the names at least
		disk.restart(true, func(n int) int { return min(n, max(kept, 1)) })
		latest, all := reopen(disk)
		if kept >= int(segmentHeader) {
			require.GreaterOrEqual(t, latest, began-1, "%d bytes of each file", kept)
			require.NotEmpty(t, all.gaps)
		}
		for range 2 {
			again, same := reopen(disk)
			require.Equal(t, latest, again, "%d bytes of each file", kept)
			require.Equal(t, all, same)
		}

		// And it goes on, so that the header is of no use any more.
		j = open(t, disk, c)
		require.NoError(t, j.Append(record(latest+1)))
		require.Equal(t, append(seqs(all.records), latest+1), seqs(readAll(t, j, journal.Cursor{}, 0).records))
		require.NoError(t, j.Close())
	}

	// A synced segment that was damaged later, and one that was only begun.
	c.Sync = SyncBatched
	disk := newFaultFS()
	j := open(t, disk, c)
	for len(j.segments) < 2 {
		require.NoError(t, j.Append(record(j.Stats().Latest+1)))
	}
	first, second := j.segments[0], j.segments[1]
	disk.restart(false, nil)
	disk.files[j.path(first)].data[first.size-1] ^= 1
	disk.files[j.path(second)].data = disk.files[j.path(second)].data[:segmentHeader+1]
	for range 2 {
		latest, all := reopen(disk)
		require.Equal(t, first.last, latest)
		require.Equal(t, upTo(1, first.last-1), seqs(all.records))
		require.Equal(t, []Gap{{first.last - 1, first.last, GapDamaged}}, all.gaps)
	}
}

// TestDamageBetween: an older segment is not cut, and the page says what is
// missing.
func TestDamageBetween(t *testing.T) {
	disk := newFaultFS()
	j := open(t, disk, small)
	for seq := uint64(1); seq <= 250; seq++ {
		require.NoError(t, j.Append(record(seq)))
	}
	second := j.segments[1]
	from, to := second.first, second.last
	path := j.path(second)
	// While it is open ...
	disk.files[path].data[segmentHeader+500] ^= 1
	all := readAll(t, j, journal.Cursor{}, 0)
	require.Len(t, all.gaps, 1)
	require.Equal(t, GapDamaged, all.gaps[0].Cause)
	require.Equal(t, to, all.gaps[0].To)
	require.Greater(t, all.gaps[0].After, from)
	require.NoError(t, j.Close())
	// ... and found so.
	j = open(t, disk, small)
	require.Equal(t, all, readAll(t, j, journal.Cursor{}, 0))
	require.Zero(t, j.Recovery().TornBytes)
	require.Positive(t, j.Recovery().DamagedBytes)
	require.NoError(t, j.Close())
	// A file that is not there, and one that is not a segment.
	delete(disk.files, path)
	disk.files[filepath.Join("d", segmentName(2))] = &faultFile{data: make([]byte, 5000)}
	disk.files[filepath.Join("d", "journal-1.seg")] = &faultFile{data: []byte("not a name of ours")}
	j = open(t, disk, small)
	gap := readAll(t, j, journal.Cursor{}, 0).gaps
	require.Equal(t, []Gap{{from - 1, to, GapDamaged}}, gap)
	require.EqualValues(t, 5000, j.Recovery().DamagedBytes)
	require.Contains(t, disk.files, filepath.Join("d", segmentName(2)))
	delete(disk.files, j.path(j.segments[2]))
	// One that goes while the journal is open will not come back; one that cannot
	// be read now may.
	third := j.segments[2]
	p := j.Read(journal.Cursor{Seq: to}, 0, journal.Filter{})
	require.Equal(t, []Gap{{to, third.last, GapDamaged}}, p.Gaps)
	disk.fault = func(string, int) (int, error) { return 0, errDevice }
	p = j.Read(journal.Cursor{Seq: to}, 0, journal.Filter{})
	require.ErrorIs(t, p.Err, errDevice)
	require.Equal(t, to, p.Next.Seq, "reading may go on from there")
	require.Empty(t, p.Gaps)
}

func TestOtherVersionIsRefused(t *testing.T) {
	disk := newFaultFS()
	j := open(t, disk, JournalConfig{})
	require.NoError(t, j.Append(record(1)))
	path := j.path(j.active)
	require.NoError(t, j.Close())
	data := disk.files[path].data
	data[len(segmentMagic)] = 2
	copy(data[segmentHeader-4:], checksum(data[:segmentHeader-4]))
	before := slices.Clone(data)
	_, err := openJournal(disk, JournalConfig{Dir: "d", Epoch: "run-1"})
	require.ErrorIs(t, err, ErrVersion)
	require.ErrorContains(t, err, path+": unknown version: it is of version 2, this program reads version 1")
	require.Equal(t, before, disk.files[path].data, "untouched")
	require.False(t, disk.locked)
}

func TestConfigNamesTheField(t *testing.T) {
	ok := JournalConfig{Dir: "d", Epoch: "e"}
	require.NoError(t, ok.Validate())
	for field, change := range map[string]func(*JournalConfig){
		"Dir":          func(c *JournalConfig) { c.Dir = "" },
		"Epoch":        func(c *JournalConfig) { c.Epoch = "a/b" },
		"SegmentBytes": func(c *JournalConfig) { c.SegmentBytes = -1 },
		"MaxBytes":     func(c *JournalConfig) { c.MaxBytes = -1 },
		"MaxText":      func(c *JournalConfig) { c.MaxText = -1 },
		"Sync":         func(c *JournalConfig) { c.Sync = 3 },
		"SyncEntries":  func(c *JournalConfig) { c.SyncEntries = -1 },
		"SyncBytes":    func(c *JournalConfig) { c.SyncBytes = -1 },
		"RetryEntries": func(c *JournalConfig) { c.RetryEntries = -1 },
		"ReadEntries":  func(c *JournalConfig) { c.ReadEntries = -1 },
		"ReadBytes":    func(c *JournalConfig) { c.ReadBytes = -1 },
	} {
		c := ok
		change(&c)
		_, err := OpenJournal(c)
		require.ErrorContains(t, err, "JournalConfig."+field+" is ")
	}
	for text, c := range map[string]JournalConfig{
		"the least is two segments": {MaxBytes: 16<<20 - 1},
		"the largest is 1073741824": {SegmentBytes: math.MaxInt64},
		"the least is 73820":        {SegmentBytes: 1},
		"the largest is 8388608":    {MaxText: 8<<20 + 1},
		"1 to 64 letters":           {Epoch: strings.Repeat("e", 65)},
	} {
		c.Dir, c.Epoch = "d", max(c.Epoch, "e")
		require.ErrorContains(t, c.Validate(), text)
	}
	require.Equal(t, reflect.TypeFor[JournalConfig]().NumField(), 11, "a new field needs a case above")
}

func TestOpenErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{file, filepath.Join(file, "journal")} {
		_, err := OpenJournal(JournalConfig{Dir: dir, Epoch: "e"})
		require.ErrorContains(t, err, "store: ")
		require.ErrorContains(t, err, file)
		require.ErrorIs(t, err, syscall.ENOTDIR)
	}

	// A disk that refuses is no reason to change what is there, or to keep it
	// locked.
	disk := newFaultFS()
	j := open(t, disk, JournalConfig{})
	require.NoError(t, j.Append(record(1)))
	name := j.path(j.active)
	require.NoError(t, j.Close())
	whole := slices.Clone(disk.files[name].data)
	for _, why := range []error{errFull, os.ErrPermission, errDevice} {
		for op, message := range map[string]string{
			"mkdir": "store: mkdir d: ", "lock": "in use, or cannot be locked: lock " + filepath.Join("d", "lock") + ": ",
			"sync": "store: sync " + name + ": ", "syncdir": "store: syncdir d: ",
		} {
			disk.fault = func(is string, n int) (int, error) {
				if is == op {
					return 0, why
				}
				return n, nil
			}
			_, err := openJournal(disk, JournalConfig{Dir: "d", Epoch: "run-1"})
			require.ErrorIs(t, err, why)
			require.ErrorContains(t, err, message)
			require.False(t, disk.locked)
			require.Equal(t, whole, disk.files[name].data)
		}
	}

	// A segment that cannot be read stays, and the rest is read.
	disk.fault = func(is string, n int) (int, error) {
		if is == "open" {
			return 0, errDevice
		}
		return n, nil
	}
	j = open(t, disk, JournalConfig{})
	require.ErrorIs(t, j.Recovery().Err, errDevice)
	require.Equal(t, whole, disk.files[name].data)
	require.NoError(t, j.Close())
	disk.fault = nil
	require.Equal(t, []uint64{1}, seqs(readAll(t, open(t, disk, JournalConfig{}), journal.Cursor{}, 0).records))
}

// TestSyncDirWhereThereIsNone: a file system that cannot sync a directory is no
// reason to keep nothing.
func TestSyncDirWhereThereIsNone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a file system that cannot, such as that of /proc")
	}
	require.NoError(t, osFS{}.syncDir("/proc"))
	require.ErrorIs(t, osFS{}.syncDir(filepath.Join(t.TempDir(), "nowhere")), os.ErrNotExist)
}
