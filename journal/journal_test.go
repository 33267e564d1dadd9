package journal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// newJournal returns a journal with n entries that were appended to it, "1",
// "2" and so on.
func newJournal(t testing.TB, c Config, n int) *Journal {
	j, err := New(c)
	require.NoError(t, err)
	write(j, n)
	return j
}

func write(j *Journal, n int) {
	for range n {
		seq := j.Latest() + 1
		j.Append(&event.Entry{Seq: seq, Message: fmt.Sprint(seq)}, signature.Signature{}, event.Decision{})
	}
}

func seqs(rs []Record) []uint64 {
	out := []uint64{}
	for _, r := range rs {
		out = append(out, r.Seq)
	}
	return out
}

// heldSeqs pages through all of j.
func heldSeqs(t testing.TB, j *Journal) []uint64 {
	out := []uint64{}
	for c := (Cursor{}); ; {
		p := j.Read(c, 0, Filter{})
		require.NoError(t, p.Err)
		out = append(out, seqs(p.Records)...)
		if c = p.Next; !p.More {
			return out
		}
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
		Tail:   Budget{Capacity: defaultEntries, MaxBytes: defaultBytes},
		Firsts: Budget{Capacity: defaultFirsts, MaxBytes: defaultFirstsBytes},
		Pinned: Budget{Capacity: defaultPinned, MaxBytes: defaultPinnedBytes},
	}, j.Stats())
}

func TestRecordComesBackWhole(t *testing.T) {
	at := time.Date(2024, 2, 29, 23, 59, 59, 999_999_999, time.FixedZone("", -3600))
	e := event.Entry{
		Seq: 1, Time: at, Kind: event.KindOperation, Level: event.LevelError, Status: event.StatusTimedOut,
		Source: "game/build", Message: "no answer\nafter 30 s", Stack: "at A.B\nat C.D",
		OperationID: "op-1", Parent: "op-0", ByCaller: true, Count: 1 << 63, Pos: 1<<64 - 1,
	}
	s := signature.Signature{ID: 1<<64 - 2, Check: 1<<32 - 3}
	d := event.Decision{
		Rule: "operation.timeout", Disposition: event.Blocking, Severity: event.SeverityFatal,
		Invalidates: true, Tags: []string{"crash", "", "네트워크"},
	}
	want := Record{Entry: e, Signature: s, Decision: d}
	want.Time = at.UTC()

	// One byte less than two of them: the second wraps around.
	j := newJournal(t, Config{Bytes: 2*blockLen(want) - 1}, 0)
	for range 20 {
		j.Append(&e, s, d)
		got, ok := j.get(e.Seq)
		require.True(t, ok)
		require.Equal(t, want, got)
		require.Equal(t, []Record{want}, j.Read(Cursor{}, 0, Filter{}).Records)
		e.Seq++
		want.Seq++
	}
	require.Equal(t, uint64(19), j.Stats().Lost)
}

func TestZeroTimeStaysZero(t *testing.T) {
	r, ok := newJournal(t, Config{}, 1).get(1)
	require.True(t, ok)
	require.Equal(t, time.Time{}, r.Time)
}

func TestAppendCopies(t *testing.T) {
	j := newJournal(t, Config{}, 0)
	tags := []string{"kept"}
	e := event.Entry{Seq: 1, Message: "kept"}
	j.Append(&e, signature.Signature{}, event.Decision{Tags: tags})
	tags[0], e.Message = "gone", "gone"
	r, _ := j.get(1)
	require.Equal(t, "kept", r.Message)
	require.Equal(t, []string{"kept"}, r.Tags)
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

func TestOneLongEntryDisplacesSeveral(t *testing.T) {
	j := newJournal(t, Config{Bytes: 10}, 9)
	require.Equal(t, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}, heldSeqs(t, j))
	j.Append(&event.Entry{Seq: 10, Message: "12345678"}, signature.Signature{}, event.Decision{})
	require.Equal(t, []uint64{8, 9, 10}, heldSeqs(t, j))
	j.Append(&event.Entry{Seq: 11, Message: "1234567890"}, signature.Signature{}, event.Decision{})
	require.Equal(t, []uint64{11}, heldSeqs(t, j))
	require.Equal(t, uint64(10), j.Stats().Tail.Evicted)
}

func TestRead(t *testing.T) {
	j := newJournal(t, Config{Entries: 4, Epoch: "e"}, 10)
	at := func(seq uint64) Cursor { return Cursor{Epoch: "e", Seq: seq} }
	for _, c := range []struct {
		after Cursor
		limit int
		want  []uint64
		page  Page
	}{
		{Cursor{}, 0, []uint64{7, 8, 9, 10}, Page{Next: at(10), Lost: 6}},
		{Cursor{}, 3, []uint64{7, 8, 9}, Page{Next: at(9), Lost: 6, More: true}},
		{Cursor{}, -1, []uint64{7, 8, 9, 10}, Page{Next: at(10), Lost: 6}},
		{at(3), 1, []uint64{7}, Page{Next: at(7), Lost: 3, More: true}},
		{at(6), 1, []uint64{7}, Page{Next: at(7), More: true}},
		{Cursor{Seq: 8}, 2, []uint64{9, 10}, Page{Next: at(10)}},
		{at(10), 2, []uint64{}, Page{Next: at(10)}},
	} {
		p := j.Read(c.after, c.limit, Filter{})
		require.Equal(t, c.want, seqs(p.Records), "%+v", c.after)
		c.page.Oldest, c.page.Latest = 7, 10
		p.Records = nil
		require.Equal(t, c.page, p, "%+v", c.after)
	}
}

func TestReadOfNothing(t *testing.T) {
	require.Equal(t, Page{}, newJournal(t, Config{}, 0).Read(Cursor{}, 0, Filter{}))

	// After a restore, all that was written is lost.
	j := newJournal(t, Config{After: 7}, 0)
	require.Equal(t, Page{Next: Cursor{Seq: 7}, Latest: 7, Lost: 5, LostBefore: 5}, j.Read(Cursor{Seq: 2}, 0, Filter{}))
	write(j, 1)
	require.Equal(t, []uint64{8}, heldSeqs(t, j))
}

func TestReadLimits(t *testing.T) {
	j := newJournal(t, Config{}, 2*MaxLimit)
	require.Len(t, j.Read(Cursor{}, 0, Filter{}).Records, defaultLimit)
	require.Len(t, j.Read(Cursor{}, MaxLimit, Filter{}).Records, MaxLimit)
	require.Len(t, j.Read(Cursor{}, MaxLimit+1, Filter{}).Records, MaxLimit)
}

func TestReadIsBounded(t *testing.T) {
	j := newJournal(t, Config{ReadEntries: 5}, 12)
	p := j.Read(Cursor{}, 0, Filter{Contains: "9"})
	require.Empty(t, p.Records)
	require.Equal(t, uint64(5), p.Next.Seq)
	require.True(t, p.More)
	p = j.Read(p.Next, 0, Filter{Contains: "9"})
	require.Equal(t, []uint64{9}, seqs(p.Records))
	require.Equal(t, uint64(10), p.Next.Seq)
	p = j.Read(p.Next, 0, Filter{Contains: "9"})
	require.Empty(t, p.Records)
	require.Equal(t, uint64(12), p.Next.Seq, "past what the filter left out at the end")
	require.False(t, p.More)

	j = newJournal(t, Config{ReadBytes: 3}, 12)
	for _, want := range [][]uint64{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10}, {11}, {12}} {
		p = j.Read(Cursor{Seq: want[0] - 1}, 0, Filter{})
		require.Equal(t, want, seqs(p.Records), "two digits are two bytes")
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

func TestCount(t *testing.T) {
	j := newJournal(t, Config{Entries: 3}, 5)
	j.KeepFirst(1)
	write(j, 5)
	for _, c := range []struct{ from, to, held, lost uint64 }{
		{0, 10, 4, 6},
		{0, 4, 0, 4},
		{4, 5, 1, 0},
		{4, 8, 2, 2},
		{7, 10, 3, 0},
		{9, 9, 0, 0},
		{9, 3, 0, 0},
	} {
		held, lost, err := j.count(Cursor{Seq: c.from}, Cursor{Seq: c.to})
		require.NoError(t, err)
		require.Equal(t, c.held, held, "held in (%d, %d]", c.from, c.to)
		require.Equal(t, c.lost, lost, "lost in (%d, %d]", c.from, c.to)
	}
}

func TestFilters(t *testing.T) {
	j := newJournal(t, Config{}, 0)
	long := strings.Repeat("o", maxName+10)
	j.Append(&event.Entry{Seq: 1, Message: "wall", Stack: "at Door", Source: "ui"},
		signature.Signature{ID: 5}, event.Decision{Disposition: event.Advisory, Rule: "a"})
	j.Append(&event.Entry{Seq: 2, Kind: event.KindOperation, Message: "roof", OperationID: long},
		signature.Signature{ID: 6}, event.Decision{Disposition: event.Blocking, Severity: event.SeverityError, Rule: "b"})
	j.Append(&event.Entry{Seq: 3, Kind: event.KindNotice},
		signature.Signature{ID: 5}, event.Decision{Severity: event.SeverityWarning})
	for _, c := range []struct {
		f    Filter
		want []uint64
	}{
		{Filter{}, []uint64{1, 2, 3}},
		{Filter{MinDisposition: event.Advisory}, []uint64{1, 2}},
		{Filter{MinDisposition: event.Blocking}, []uint64{2}},
		{Filter{MinSeverity: event.SeverityWarning}, []uint64{2, 3}},
		{Filter{Kinds: []event.Kind{event.KindNotice, event.KindLog}}, []uint64{1, 3}},
		{Filter{Kinds: []event.Kind{event.KindState}}, []uint64{}},
		{Filter{Kinds: []event.Kind{200}}, []uint64{}},
		{Filter{Signature: 5}, []uint64{1, 3}},
		{Filter{Operation: long}, []uint64{2}},
		{Filter{Operation: "o"}, []uint64{}},
		{Filter{Rule: "b"}, []uint64{2}},
		{Filter{Rule: "c"}, []uint64{}},
		{Filter{Source: "ui"}, []uint64{1}},
		{Filter{Contains: "roo"}, []uint64{2}},
		{Filter{Contains: "Door"}, []uint64{1}},
		{Filter{Contains: "walla"}, []uint64{}},
		{Filter{Contains: "ui"}, []uint64{}},
		{Filter{Signature: 5, Rule: "a"}, []uint64{1}},
		{Filter{Signature: 6, Rule: "a"}, []uint64{}},
	} {
		require.Equal(t, c.want, seqs(j.Read(Cursor{}, 0, c.f).Records), "%+v", c.f)
	}
}

func TestFilterWithParts(t *testing.T) {
	j := newJournal(t, Config{}, 0)
	long := strings.Repeat("o", maxName+10)
	for i, id := range []string{"root", "part", "", "rooted", long, "root"} {
		j.Append(&event.Entry{Seq: uint64(i + 1), OperationID: id}, signature.Signature{}, event.Decision{})
	}
	for _, c := range []struct {
		f     Filter
		parts []string
		want  []uint64
	}{
		{Filter{Operation: "root"}, nil, []uint64{1, 6}},
		{Filter{Operation: "root"}, []string{"part", "none", long}, []uint64{1, 2, 5, 6}},
		{Filter{Operation: "none"}, []string{"part"}, []uint64{2}},
		{Filter{Operation: "root", MinDisposition: event.Advisory}, []string{"part"}, []uint64{}},
		{Filter{}, []string{"part"}, []uint64{1, 2, 3, 4, 5, 6}},
	} {
		s := NewScan(Cursor{}, 0, c.f, c.parts, nil)
		s.Step(j)
		s.Sift()
		require.Equal(t, c.want, seqs(s.Page.Records), "%+v %q", c.f, c.parts)
	}
}

func TestFilterWithGroup(t *testing.T) {
	j := newJournal(t, Config{}, 0)
	for i, id := range []signature.ID{5, 6, 7, 5} {
		j.Append(&event.Entry{Seq: uint64(i + 1)}, signature.Signature{ID: id}, event.Decision{})
	}
	for _, c := range []struct {
		f     Filter
		group []signature.ID
		want  []uint64
	}{
		{Filter{Signature: 5}, nil, []uint64{1, 4}},
		{Filter{Signature: 5}, []signature.ID{5, 7}, []uint64{1, 3, 4}},
		{Filter{Signature: 8}, []signature.ID{6}, []uint64{2}},
		{Filter{}, []signature.ID{5}, []uint64{1, 2, 3, 4}},
	} {
		s := NewScan(Cursor{}, 0, c.f, nil, c.group)
		s.Step(j)
		s.Sift()
		require.Equal(t, c.want, seqs(s.Page.Records), "%+v %v", c.f, c.group)
	}
}

// get returns the entry seq, if it is held.
func (j *Journal) get(seq uint64) (Record, bool) {
	h, r := j.lookup(seq)
	if h == nil {
		return Record{}, false
	}
	return h.decode(string(j.appendBlock(nil, h, r))), true
}
