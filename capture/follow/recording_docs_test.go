package follow

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// TestRecordingDocs holds docs/reference.md to what a Recorder writes: its first line, and
// in the table each kind of line with its members, in their order.
func TestRecordingDocs(t *testing.T) {
	text := testkit.Must(os.ReadFile("../../docs/reference.md"))
	_, page, found := strings.Cut(string(text), "\n## Recordings\n")
	require.True(t, found)
	page, _, _ = strings.Cut(page, "\n## ")

	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	log := event.Log{Time: at, Level: event.LevelError, Source: "s", OperationID: "o", Message: "m", Stack: "st"}.Entry()
	var out bytes.Buffer
	r := NewRecorder(&out)
	r.Record(&capture.Record{Entry: log})
	r.Record(&capture.Record{Context: true, Entry: log})
	rest := log
	rest.Part = event.Rest
	r.Record(&capture.Record{Entry: rest})
	for _, e := range []event.Entry{
		event.Operation{
			Time: at, ID: "o", Status: event.StatusFailed, Parent: "p", Method: "m", Error: "e",
			ByCaller: true,
		}.Entry(),
		event.State{Time: at, Status: event.StatusExited, Detail: "d"}.Entry(),
		event.Notice{Time: at, Status: event.StatusTruncated, Detail: "d", Count: 1}.Entry(),
	} {
		r.Record(&capture.Record{Entry: e})
	}
	r.Ack("v", "a", 1)
	r.Record(&capture.Record{Entry: event.Entry{
		Kind: event.KindHost, Status: event.StatusDelivered, Source: "v", Message: "a", Count: 1,
	}})
	r.StateRead()
	r.Advance(at)
	require.NoError(t, r.Err())

	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	testkit.Shows(t, "docs/reference.md", page, "```json\n"+lines[0]+"\n```")

	documented := map[string][]string{}
	var order []string
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		kind := strings.Trim(cells[1], " `")
		order = append(order, kind)
		if like, ok := strings.CutPrefix(strings.TrimSpace(cells[2]), "as `"); ok {
			documented[kind] = documented[strings.TrimSuffix(like, "`")]
			continue
		}
		documented[kind] = []string{}
		for name := range strings.FieldsFuncSeq(cells[2], func(r rune) bool { return strings.ContainsRune(" ,`", r) }) {
			documented[kind] = append(documented[kind], name)
		}
	}
	var kinds []string
	for _, line := range lines[1:] {
		d := json.NewDecoder(strings.NewReader(line))
		var names []string
		var values []any
		for d.More() {
			token := testkit.Must(d.Token())
			if delim, ok := token.(json.Delim); ok {
				require.Equal(t, json.Delim('{'), delim, "a line holds no list and no object")
				continue
			}
			name, ok := token.(string)
			require.True(t, ok)
			value := testkit.Must(d.Token())
			names, values = append(names, name), append(values, value)
		}
		require.Equal(t, "kind", names[0])
		kind, ok := values[0].(string)
		require.True(t, ok)
		kinds = append(kinds, kind)
		members := names[1:]
		if kind != "advance" && slices.Index(members, "time") == 0 {
			members = members[1:] // the page says it of all
		}
		require.Equal(t, documented[kind], members, kind)
	}
	require.Equal(t, order, kinds, "kinds of lines")
}

// TestRecordingIsRead: entries are read back as they were recorded, texts of the log byte for byte. A recording of a
// recording is the same.
func TestRecordingIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringN(0, 20, -1), rapid.SampledFrom([]string{"", "a\nb\tc\x00\"\\\u2028é", "\xff\xfe broken", "<&>"}),
			rapid.Custom(func(t *rapid.T) string {
				return strings.Repeat("é", rapid.SampledFrom([]int{4095, 4096, 4097}).Draw(t, "length"))
			}),
		)
		name := rapid.SampledFrom([]string{"", "colony/build", `a "name"`})
		at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
		var first, second bytes.Buffer
		r := NewRecorder(&first)
		var want []string
		for range rapid.IntRange(1, 10).Draw(t, "lines") {
			at = at.Add(time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "passed")))
			var e event.Entry
			switch rapid.IntRange(0, 6).Draw(t, "kind") {
			case 0, 1:
				e = event.Log{
					Time: at, Level: event.Level(rapid.IntRange(0, int(event.LevelFatal)).Draw(t, "level")),
					Source:      name.Draw(t, "source"),
					OperationID: name.Draw(t, "operation"), Message: text.Draw(t, "message"), Stack: text.Draw(t, "stack"),
				}.Entry()
			case 2:
				e = event.Operation{
					Time: at, ID: "o", Status: event.StatusCancelled, Parent: name.Draw(t, "parent"), Method: name.Draw(t, "method"),
					Error: text.Draw(t, "error"), ByCaller: rapid.Bool().Draw(t, "by"),
				}.Entry()
			case 3:
				e = event.State{Time: at, Status: event.StatusExited, Detail: text.Draw(t, "detail")}.Entry()
			case 4:
				e = event.Notice{
					Time: at, Status: event.StatusHole, Detail: text.Draw(t, "detail"), Count: rapid.Uint64().Draw(t, "count"),
				}.Entry()
			case 5:
				r.Ack(name.Draw(t, "consumer"), "e-7", rapid.Uint64Range(0, 1<<53).Draw(t, "through"))
				r.Record(&capture.Record{Entry: event.Entry{
					Kind: event.KindHost, Status: event.StatusDelivered, Source: name.Draw(t, "consumer"),
					Message: rapid.SampledFrom([]string{"", "e-7"}).Draw(t, "item"),
				}})
				continue
			default:
				if rapid.Bool().Draw(t, "time") {
					r.Advance(at)
				} else {
					r.StateRead()
				}
				continue
			}
			r.Record(&capture.Record{Entry: e})
			want = append(want, e.Kind.String()+" "+e.Status.String()+" "+e.Message+" "+e.Stack+" "+e.Source)
		}
		require.NoError(t, r.Err())
		in := testkit.Must(capture.NewReader(bytes.NewReader(first.Bytes()), capture.Options{}))
		again := NewRecorder(&second)
		var got []string
		var rec capture.Record
		for {
			if err := in.Next(&rec); err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
			again.Record(&rec)
			if e := &rec.Entry; e.Kind != event.KindHost {
				got = append(got, e.Kind.String()+" "+e.Status.String()+" "+e.Message+" "+e.Stack+" "+e.Source)
			}
		}
		require.Equal(t, want, got)
		require.Equal(t, first.String(), second.String())
	})
}

// full is a writer that takes so many writes.
type full struct {
	bytes.Buffer
	left int
}

func (w *full) Write(p []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errors.New("no space left")
	}
	return w.Buffer.Write(p)
}

// TestRecordingEnds: the first error of the writer ends the recording, and nothing more is written.
func TestRecordingEnds(t *testing.T) {
	for left := range 4 {
		w := &full{left: left}
		r := NewRecorder(w)
		for n := range 5 {
			require.Equal(t, n < left, r.Err() == nil)
			r.StateRead()
		}
		w.left = 10
		r.StateRead()
		require.EqualError(t, r.Err(), "no space left")
		require.Equal(t, left, strings.Count(w.String(), "\n"))
	}
}
