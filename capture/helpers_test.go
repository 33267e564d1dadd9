package capture

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
	"github.com/heedlog/heed/internal/testkit"
)

// kept is a record with strings of its own.
func kept(r Record) Record {
	for _, s := range []*string{
		&r.Message, &r.Stack, &r.Source, &r.OperationID, &r.Parent,
	} {
		*s = strings.Clone(*s)
	}
	return r
}

// readAll reads every record, and the error that ended the reading if it is not
// the end of the input.
func readAll(tb testing.TB, src io.Reader, opt Options) ([]Record, *Reader, error) {
	tb.Helper()
	r := testkit.Must(NewReader(src, opt))
	var out []Record
	for {
		var rec Record
		err := r.Next(&rec)
		if errors.Is(err, io.EOF) {
			return out, r, nil
		}
		if err != nil {
			return out, r, err
		}
		out = append(out, kept(rec))
	}
}

// read is readAll of an input that can be read to its end.
func read(tb testing.TB, src io.Reader, opt Options) ([]Record, *Reader) {
	tb.Helper()
	recs, r, err := readAll(tb, src, opt)
	require.NoError(tb, err)
	for i := range recs {
		if e := &recs[i].Entry; e.Head > 0 {
			require.Equal(tb, logline.Text(e.Message, e.Level), logline.Of(e))
		}
	}
	return recs, r
}

// records returns the records of a text.
func records(tb testing.TB, in string) []Record {
	tb.Helper()
	recs, _ := read(tb, strings.NewReader(in), Options{})
	return recs
}

// covered returns the records of a text, and fails unless they cover it.
func covered(tb testing.TB, in string) []Record {
	tb.Helper()
	recs := records(tb, in)
	requireCovers(tb, in, recs)
	return recs
}

// render renders records one per line, for tables.
func render(recs []Record) string {
	var b strings.Builder
	for i := range recs {
		r := &recs[i]
		if r.StartLine == 0 {
			fmt.Fprintf(&b, "notice %s count=%d pos=%d\n", r.Status, r.Count, r.Pos)
			continue
		}
		fmt.Fprintf(&b, "%d-%d %s", r.StartLine, r.EndLine, r.Split)
		if !r.IsLog() {
			fmt.Fprintf(&b, " %s", r.KindName())
		}
		if r.Level != event.LevelUnknown {
			fmt.Fprintf(&b, " %s/%s", r.Level, r.LevelBy)
		}
		if r.RefState != "" {
			fmt.Fprintf(&b, " ref=%X/%s", r.Ref, r.RefState)
		}
		fmt.Fprintf(&b, " %q", r.Message)
		if r.Stack != "" {
			fmt.Fprintf(&b, " @ %q", r.Stack)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// outline renders records one per line by their heads, for logs as they are. Records in sequence of one line each that
// are alike but for their text are rendered as one.
func outline(recs []Record) string {
	var b strings.Builder
	for i := 0; i < len(recs); i++ {
		r := &recs[i]
		if r.StartLine == 0 {
			fmt.Fprintf(&b, "notice %s count=%d pos=%d\n", r.Status, r.Count, r.Pos)
			continue
		}
		first := r
		for i+1 < len(recs) && plainlyAlike(r, &recs[i+1]) {
			i++
			r = &recs[i]
		}
		if r != first {
			fmt.Fprintf(&b, "%d-%d each %s %s/%s\n", first.StartLine, r.EndLine, r.Split, r.Level, r.LevelBy)
			continue
		}
		head, _, _ := strings.Cut(r.Message, "\n")
		frames := 0
		if r.Stack != "" {
			frames = 1 + strings.Count(r.Stack, "\n")
		}
		fmt.Fprintf(&b, "%d-%d %s %s/%s %d frames: %.40s\n", r.StartLine, r.EndLine, r.Split, r.Level, r.LevelBy,
			frames, strings.TrimSpace(head))
	}
	return b.String()
}

// plainlyAlike reports whether both records have one line, no stack, and the same level and evidence.
func plainlyAlike(a, b *Record) bool {
	single := func(r *Record) bool { return r.StartLine > 0 && r.StartLine == r.EndLine && r.Stack == "" }
	return single(a) && single(b) && a.Split == b.Split && a.Level == b.Level && a.LevelBy == b.LevelBy
}

// counts returns the numbers in the notices with a status.
func counts(recs []Record, status event.Status) []uint64 {
	var all []uint64
	for i := range recs {
		if recs[i].Kind == event.KindNotice && recs[i].Status == status {
			all = append(all, recs[i].Count)
		}
	}
	return all
}

// requireCovers fails unless the records with lines cover every line of data
// that is not blank exactly once and in order, and end on such a line.
func requireCovers(tb testing.TB, data string, recs []Record) {
	tb.Helper()
	last := 0
	lines := strings.Split(strings.TrimPrefix(data, byteOrderMark), "\n")
	isBlank := func(n int) bool { return blank([]byte(lines[n-1])) }
	for i := range recs {
		r := &recs[i]
		if r.StartLine == 0 {
			require.Equal(tb, event.KindNotice, r.Kind)
			continue
		}
		require.NotEqual(tb, evidenceNone, r.Split, "record %d", i)
		if r.IsLog() {
			require.Equal(tb, r.Level == event.LevelUnknown, r.LevelBy == evidenceNone, "record %d", i)
		}
		require.Greater(tb, r.StartLine, last, "record %d begins before the one above it ends", i)
		require.LessOrEqual(tb, r.StartLine, r.EndLine, "record %d", i)
		require.LessOrEqual(tb, r.EndLine, len(lines), "record %d", i)
		require.False(tb, isBlank(r.StartLine), "line %d begins a record and is blank", r.StartLine)
		require.False(tb, isBlank(r.EndLine), "line %d ends a record and is blank", r.EndLine)
		for n := last + 1; n < r.StartLine; n++ {
			require.True(tb, isBlank(n), "line %d is in no record: %.80q", n, lines[n-1])
		}
		last = r.EndLine
	}
	for n := last + 1; n <= len(lines); n++ {
		require.True(tb, isBlank(n), "line %d is in no record: %.80q", n, lines[n-1])
	}
}

func doc(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// table runs a predicate over examples.
func table(t *testing.T, f func([]byte) bool, yes, no []string) {
	t.Helper()
	for _, s := range yes {
		require.True(t, f([]byte(s)), "%q", s)
	}
	for _, s := range no {
		require.False(t, f([]byte(s)), "%q", s)
	}
}
