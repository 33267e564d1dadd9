package journal

import (
	"fmt"
	"strings"
	"testing"

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
