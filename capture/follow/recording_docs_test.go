package follow

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// TestRecordingDocs holds docs/recording.md to what a Recorder writes: its first line, and
// in the table each kind of line with its members, in their order.
func TestRecordingDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/recording.md")
	require.NoError(t, err)

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
	r.StateRead()
	r.Advance(at)
	require.NoError(t, r.Err())

	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	testkit.Shows(t, "docs/recording.md", string(page), "```json\n"+lines[0]+"\n```")

	documented := map[string][]string{}
	var order []string
	for line := range strings.Lines(string(page)) {
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
			token, err := d.Token()
			require.NoError(t, err)
			if delim, ok := token.(json.Delim); ok {
				require.Equal(t, json.Delim('{'), delim, "a line holds no list and no object")
				continue
			}
			name, ok := token.(string)
			require.True(t, ok)
			value, err := d.Token()
			require.NoError(t, err)
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
