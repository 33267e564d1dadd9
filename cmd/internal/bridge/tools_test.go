package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/journal"
)

// TestRead: the timeline tells who had looked before acknowledging.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		tool, arguments string
		read            bool
	}{
		{bridge.ToolItems, "", false},
		{bridge.ToolStatus, "", false},
		{bridge.ToolItem, `{"id":"run1-1"}`, true},
		{bridge.ToolEntries, "", true},
		{bridge.ToolEntries, `{"after":1}`, false},
		{bridge.ToolExplain, `{"seq":1}`, true},
		{bridge.ToolWait, `{"after":0}`, true},
	} {
		t.Run(c.tool+c.arguments, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, d := start(t, session.Config{})
				s.Observe(logged("Broken").Entry())
				s.Observe(logged("well").Entry())
				synctest.Wait()
				time.Sleep(3 * time.Second)
				raw(t, t.Context(), d, c.tool, c.arguments)
				s.Ack(t.Context(), "agent", "run1-1", 0)
				s.Ack(t.Context(), "agent", "run1-1", 0)
				line := answer[bridge.Timeline](t, d, bridge.ToolTimeline, `{"kinds":["acknowledged","ack_unknown"]}`)
				require.Len(t, line.Events, 2)
				require.Equal(t, "agent", line.Events[0].Consumer)
				require.Equal(t, c.read, *line.Events[0].Read)
				require.Equal(t, uint64(3000), line.Events[0].AfterMs)
				require.Nil(t, line.Events[1].Read)
			})
		})
	}
}

func TestOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := start(t, session.Config{})
		op := scene(s)
		all := answer[bridge.Operations](t, d, bridge.ToolOperations, "")
		require.Len(t, all.Operations, 2)
		require.Equal(t, event.StatusStarted, all.Operations[0].Status)
		require.Equal(t, op, all.Operations[1].Operation)
		require.Equal(t, "blocking", all.Operations[1].Outcome)
		require.Equal(t, "run1-1", all.Operations[1].AttentionID)
		require.Equal(t, s.Verdict(op), all.Operations[1].Verdict, "the verdict is the same everywhere")
		running := answer[bridge.Operations](t, d, bridge.ToolOperations, `{"running":true}`)
		require.Equal(t, all.Operations[:1], running.Operations)
		one := answer[bridge.Operations](t, d, bridge.ToolOperations, `{"limit":1}`)
		require.Equal(t, 1, one.Omitted)
		require.Empty(t, answer[bridge.Operations](t, d, bridge.ToolOperations, `{"method":"colony/none"}`).Operations)

		o := answer[bridge.OperationDetail](t, d, bridge.ToolOperation, `{"id":"`+op+`"}`)
		require.Len(t, o.EventEntries, 2)
		require.Equal(t, "Broken wall", o.Entries[0].Message)
		require.Equal(t, "run1-1", o.Item.ID)
		require.Equal(t, "blocking", o.Outcome)
		require.Equal(t, event.StatusCompleted, o.Status)

		page := answer[bridge.Page](t, d, bridge.ToolEntries, `{"kinds":["operation"],"operation":"`+op+`"}`)
		require.Equal(t, o.EventEntries, page.Entries)
		require.Len(t, answer[bridge.Page](t, d, bridge.ToolEntries, `{"kinds":["operation"],"source":"colony/wait"}`).Entries, 1)

		// What its parts say is its own, but for when it began and ended.
		s.Observe(event.Operation{ID: "mod-7", Parent: op, Status: event.StatusStarted}.Entry())
		s.Observe(event.Log{Message: "of the part", OperationID: "mod-7"}.Entry())
		with := answer[bridge.OperationDetail](t, d, bridge.ToolOperation, `{"id":"`+op+`"}`)
		require.Len(t, with.EventEntries, 3)
		require.Equal(t, "of the part", with.Entries[len(with.Entries)-1].Message)
		require.Equal(t, o.Events, with.Events)
		require.Equal(t, []any{o.StartedAt, o.EndedAt, o.Status}, []any{with.StartedAt, with.EndedAt, with.Status})
		for _, tool := range []string{bridge.ToolEntries, bridge.ToolWait} {
			page := answer[bridge.Page](t, d, tool, `{"after":0,"operation":"`+op+`","contains":"of the part"}`)
			require.Len(t, page.Entries, 1, tool)
		}
	})
}

func TestFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := start(t, session.Config{})
		op := scene(s)
		all := answer[bridge.Page](t, d, bridge.ToolEntries, "")
		require.False(t, all.More)
		require.Equal(t, int(all.Latest), len(all.Entries))
		signature := all.Entries[1].Signature
		for arguments, want := range map[string]int{
			`{"minDisposition":"blocking"}`:              1,
			`{"rule":"odd.play"}`:                        1,
			`{"operation":"` + op + `"}`:                 3,
			`{"kinds":["notice","state"]}`:               2,
			`{"signature":"` + signature.String() + `"}`: 3,
			`{"contains":"well 2"}`:                      1,
			`{"source":"colony/build"}`:                  2,
			`{"minSeverity":"fatal"}`:                    0,
			`{"last":2}`:                                 2,
			`{"last":2,"kinds":["operation"]}`:           0,
			`{"last":9007199254740991}`:                  len(all.Entries),
			`{"after":"run1/` + "3" + `"}`:               len(all.Entries) - 3,
			`{"after":3.0}`:                              len(all.Entries) - 3,
			`{"after":"3","limit":2,"stack":true}`:       2,
		} {
			page := answer[bridge.Page](t, d, bridge.ToolEntries, arguments)
			if strings.Contains(arguments, "blocking") {
				want = len(page.Entries)
				for _, e := range page.Entries {
					require.Equal(t, event.Blocking, e.Disposition)
				}
			}
			require.Len(t, page.Entries, want, arguments)
		}
		notice := answer[bridge.Page](t, d, bridge.ToolEntries, `{"kinds":["notice"]}`)
		require.Equal(t, uint64(1<<53-1), notice.Entries[0].Count, "no more than every reader keeps")
	})
}

// TestBadArguments: an error names the argument and what is allowed.
func TestBadArguments(t *testing.T) {
	s, d := start(t, session.Config{})
	scene(s)
	for _, c := range []struct{ tool, arguments, field, reason, says string }{
		{bridge.ToolStatus, `{"x":1}`, "x", "", "nothing here"},
		{bridge.ToolStatus, `[]`, "", "", "an object"},
		{bridge.ToolEntries, `{"Limit":1}`, "Limit", "", "one of after, chars, contains, kinds, last, limit, "},
		{bridge.ToolEntries, `{"limit":0}`, "limit", "", "an integer from 1 to 500"},
		{bridge.ToolEntries, `{"limit":501}`, "limit", "", "an integer from 1 to 500"},
		{bridge.ToolEntries, `{"limit":1.5}`, "limit", "", "an integer"},
		{bridge.ToolEntries, `{"limit":1e300}`, "limit", "", "an integer"},
		{bridge.ToolEntries, `{"limit":"1"}`, "limit", "", "an integer"},
		{bridge.ToolEntries, `{"limit":null}`, "limit", "", "an integer"},
		{bridge.ToolEntries, `{"last":0}`, "last", "", "an integer from 1"},
		{bridge.ToolEntries, `{"last":3,"after":1}`, "last", "", "got both"},
		{bridge.ToolEntries, `{"after":-1}`, "after", "", "or a text of 1 to 512 characters"},
		{bridge.ToolEntries, `{"after":"run1/x"}`, "after", "", "a cursor"},
		{bridge.ToolEntries, `{"after":""}`, "after", "", "or a text of 1 to 512 characters"},
		{bridge.ToolEntries, `{"after":"run1/9007199254740992"}`, "after", "", "a cursor"},
		{bridge.ToolEntries, `{"after":true}`, "after", "", "or a text of 1 to 512 characters"},
		{bridge.ToolEntries, `{"after":"run0/1"}`, "after", "epoch", `want a cursor such as "run1/0" for all entries, or "run1/`},
		{bridge.ToolEntries, `{"after":1000}`, "after", "beyond", "past the latest entry"},
		{bridge.ToolEntries, `{"minDisposition":"urgent"}`, "minDisposition", "", `one of "ignore", "advisory", "blocking"`},
		{bridge.ToolEntries, `{"kinds":"log"}`, "kinds", "", "a list of at least 1 element, no two the same"},
		{bridge.ToolEntries, `{"kinds":[]}`, "kinds", "", "a list"},
		{bridge.ToolEntries, `{"kinds":["log","log"]}`, "kinds", "", "a list"},
		{bridge.ToolEntries, `{"kinds":["logs"]}`, "kinds[0]", "", `one of "log", "operation"`},
		{bridge.ToolEntries, `{"signature":"xyz"}`, "signature", "", "16 hexadecimal digits"},
		{bridge.ToolEntries, `{"signature":"0000000000000000"}`, "signature", "", "16 hexadecimal digits"},
		{bridge.ToolEntries, `{"stack":"yes"}`, "stack", "", "true or false"},
		{bridge.ToolEntries, `{"contains":"` + strings.Repeat("x", 257) + `"}`, "contains", "", "1 to 256 characters"},
		{bridge.ToolEntries, `{"chars":4001}`, "chars", "", "from 40 to 4000"},
		{bridge.ToolEntries, `{"` + "\\u001b[31m\\n" + `":1}`, `\x1b[31m\n`, "", "one of"},
		{bridge.ToolWait, `{"seconds":31}`, "seconds", "", "from 1 to 30"},
		{bridge.ToolWait, `{"after":"run0/1"}`, "after", "epoch", "for all entries"},
		{bridge.ToolWait, `{"after":4242}`, "after", "beyond", "for all entries"},
		{bridge.ToolItem, `{}`, "id", "", "id: want a text"},
		{bridge.ToolItem, ``, "id", "", "id: want a text"},
		{bridge.ToolItem, `{"id":""}`, "id", "", "1 to 256 characters"},
		{bridge.ToolItem, `{"id":0}`, "id", "", "an integer from 1"},
		{bridge.ToolItem, `{"id":99}`, "id", "not_found", "or its number"},
		{bridge.ToolItem, `{"attentionId":""}`, "attentionId", "", "1 to 256 characters"},
		{bridge.ToolItem, `{"attentionId":"run1-99"}`, "id", "not_found", "or its number"},
		{bridge.ToolItem, `{"attentionID":"run1-1"}`, "attentionID", "", "one of attentionId, chars, id, stack"},
		{bridge.ToolOperation, `{"attentionId":"run1-1"}`, "attentionId", "", "one of chars, id, stack"},
		{bridge.ToolItem, `{"id":"run1-99"}`, "id", "not_found", "or its number"},
		{bridge.ToolOperation, `{"id":"nothing"}`, "id", "not_found", "the id of an operation"},
		{bridge.ToolOperations, `{"limit":101}`, "limit", "", "from 1 to 100"},
		{bridge.ToolExplain, ``, "seq", "", "either seq or text"},
		{bridge.ToolExplain, `{"seq":1,"text":"x"}`, "seq", "", "either seq or text"},
		{bridge.ToolExplain, `{"seq":1,"phase":"play"}`, "phase", "", "an entry has its own"},
		{bridge.ToolExplain, `{"seq":4000}`, "seq", "not_found", "the number of an entry that heed holds"},
		{bridge.ToolExplain, `{"text":"x","level":"loud"}`, "level", "", `one of "unknown", "debug"`},
		{bridge.ToolTimeline, `{"after":"other/1"}`, "after", "epoch", "another process"},
		{bridge.ToolTimeline, `{"after":4000}`, "after", "beyond", "past the latest event"},
		{bridge.ToolTimeline, `{"after":"x"}`, "after", "", "a cursor"},
		{bridge.ToolTimeline, `{"kinds":["nap"]}`, "kinds[0]", "", "call_began"},
	} {
		e, data := refusal(t, d, c.tool, c.arguments)
		require.Equal(t, strings.TrimSuffix("arguments."+c.field, "."), data.Path, c.arguments)
		require.Equal(t, c.reason, data.Reason, c.arguments)
		require.Contains(t, e.Message, c.says, c.arguments)
		if c.reason == "epoch" || c.reason == "beyond" {
			for _, cursor := range []string{data.Oldest, data.Latest} { // both hold
				result, _, err := d.Call(t.Context(), "agent", gabp.ToolCall{Name: c.tool, Arguments: json.RawMessage(`{"after":"` + cursor + `"` + map[bool]string{true: `,"seconds":1`}[c.tool == bridge.ToolWait] + `}`)})
				require.NoError(t, err)
				require.NotNil(t, result)
			}
		}
	}
}

// TestCursors: over evictions, what a reader gets and what it is told to have lost
// is all that there was.
func TestCursors(t *testing.T) {
	s, d := start(t, smallJournal())
	cursor := "run1/0"
	var got, lost uint64
	for i := range 40 {
		for j := range 1 + i*7%60 {
			s.Observe(logged(fmt.Sprintf("line %d %d", i, j)).Entry())
		}
		if i%3 == 0 {
			s.Observe(logged("Broken " + strconv.Itoa(i)).Entry())
		}
		for more := true; more && (i%4 != 0 || i == 39); {
			page := answer[bridge.Page](t, d, bridge.ToolEntries, `{"after":"`+cursor+`","limit":7}`)
			_, seq, _ := strings.Cut(cursor, "/")
			at, err := strconv.ParseUint(seq, 10, 64)
			require.NoError(t, err)
			_, seq, _ = strings.Cut(page.Next, "/")
			next, err := strconv.ParseUint(seq, 10, 64)
			require.NoError(t, err)
			require.Equal(t, next-at, uint64(len(page.Entries))+page.Lost)
			got, lost = got+uint64(len(page.Entries)), lost+page.Lost
			cursor, more = page.Next, page.More
		}
	}
	require.NotZero(t, lost)
	require.Equal(t, s.Status().Engine.Received, got+lost)
	_, data := refusal(t, d, bridge.ToolEntries, `{"after":"gone/1"}`)
	oldest := answer[bridge.Page](t, d, bridge.ToolEntries, `{"after":"`+data.Oldest+`","limit":1}`)
	require.Equal(t, oldest.Oldest, oldest.Entries[0].Seq)
	require.Zero(t, oldest.Lost)

	// A filter that nothing fits goes through all that is held at once.
	nowhere := answer[bridge.Page](t, d, bridge.ToolEntries, `{"contains":"nowhere"}`)
	require.Empty(t, nowhere.Entries)
	require.False(t, nowhere.More)
	require.NotZero(t, nowhere.Lost)

	// A filter that few fit goes through all that is held at once, within a bound, after which it goes on.
	s, d = start(t, session.Config{Engine: heed.Config{Journal: journal.Config{ReadEntries: 1}}})
	for i := range 200 {
		s.Observe(logged(map[bool]string{false: "Fine", true: "needle"}[i%60 == 59]).Entry())
	}
	var found []uint64
	cursor = "0"
	for calls := 1; ; calls++ {
		page := answer[bridge.Page](t, d, bridge.ToolEntries, `{"contains":"needle","after":"`+cursor+`"}`)
		for _, e := range page.Entries {
			found = append(found, e.Seq)
		}
		if cursor = page.Next; !page.More {
			require.Equal(t, 4, calls)
			break
		}
		require.NotEmpty(t, page.Entries, "each of the first three has one")
	}
	require.Equal(t, []uint64{60, 120, 180}, found)
	page := answer[bridge.Page](t, d, bridge.ToolEntries, `{"contains":"nowhere"}`)
	require.Empty(t, page.Entries)
	require.True(t, page.More)
	require.Equal(t, "run1/65", page.Next)
}

// TestBounds: an answer is bounded, and says what it leaves out.
func TestBounds(t *testing.T) {
	s, d := start(t, session.Config{})
	long := lines(200, strings.Repeat("\x1b\"\\", 200)) // the dearest there is to show
	for range 300 {
		s.Observe(event.Log{
			Level: event.LevelError, Message: "Broken " + long, Stack: long, Source: long,
			OperationID: long,
		}.Entry())
	}
	const most = 128 << 10
	for _, arguments := range []string{`{"limit":500}`, `{"limit":500,"chars":4000,"stack":true}`, `{"limit":1,"chars":4000,"stack":true}`, `{"limit":500,"chars":40}`} {
		text := raw(t, t.Context(), d, bridge.ToolEntries, arguments)
		require.Less(t, len(text), most, arguments)
		var page bridge.Page
		require.NoError(t, json.Unmarshal(text, &page))
		require.NotEmpty(t, page.Entries)
		require.True(t, page.Entries[0].Cut)
		require.True(t, page.Entries[0].Truncated)
		require.True(t, page.More)
		require.Equal(t, fmt.Sprintf("run1/%d", page.Entries[len(page.Entries)-1].Seq), page.Next)
	}
	for _, name := range []string{
		bridge.ToolItem, bridge.ToolExplain, bridge.ToolItems, bridge.ToolOperations,
		bridge.ToolStatus, bridge.ToolTimeline,
	} {
		require.Less(t, len(raw(t, t.Context(), d, name, map[string]string{bridge.ToolItem: `{"id":"run1-1","stack":true,"chars":4000}`, bridge.ToolExplain: `{"seq":299}`}[name])), most, name)
	}
	for i := range 500 {
		s.Begin(session.Call{ID: strconv.Itoa(i), Tool: "colony/build", Consumer: long})
	}
	ops := answer[bridge.Operations](t, d, bridge.ToolOperations, `{"limit":100}`)
	require.Len(t, ops.Operations, 100)
	require.Positive(t, ops.Omitted)
}

// TestTimelineLost: what the ring has let go of is counted.
func TestTimelineLost(t *testing.T) {
	s, d := start(t, session.Config{Timeline: 10})
	for i := range 25 {
		s.Begin(session.Call{ID: strconv.Itoa(i), Tool: "colony/build"})
	}
	line := answer[bridge.Timeline](t, d, bridge.ToolTimeline, `{"after":5,"operation":"none"}`)
	require.Equal(t, uint64(10), line.Lost)
	require.Empty(t, line.Events)
	require.Equal(t, line.Run+"/25", line.Next, "what the filter left out is gone through")
}

// TestWait: a wait ends with what comes, without looking again and again, and in
// time.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := start(t, session.Config{})
		s.Observe(logged("before").Entry())
		wait := func(ctx context.Context, arguments string) <-chan bridge.Page {
			c := make(chan bridge.Page, 1)
			go func() {
				var p bridge.Page
				require.NoError(t, json.Unmarshal(raw(t, ctx, d, bridge.ToolWait, arguments), &p))
				c <- p
			}()
			synctest.Wait()
			return c
		}
		c := wait(t.Context(), `{"minDisposition":"advisory","seconds":30}`)
		require.Equal(t, int64(1), s.Status().Waiting)
		s.Observe(logged("nothing").Entry())
		s.Observe(logged("Broken").Entry())
		p := <-c
		require.Equal(t, "Broken", p.Entries[0].Message)
		require.False(t, p.TimedOut)

		// Without result: ten seconds, or what was asked for, and the place is kept.
		for arguments, want := range map[string]time.Duration{`{}`: 10 * time.Second, `{"seconds":30}`: 30 * time.Second, `{"seconds":1,"rule":"none"}`: time.Second} {
			began := time.Now()
			p = <-wait(t.Context(), arguments)
			require.True(t, p.TimedOut)
			require.Equal(t, want, time.Since(began))
			require.Equal(t, fmt.Sprintf("run1/%d", p.Latest), p.Next)
		}

		// A request that must end earlier is answered before it does.
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		p = <-wait(ctx, `{"seconds":30}`)
		require.True(t, p.TimedOut)
		require.NoError(t, ctx.Err())

		// Who has gone gets an error.
		ctx, gone := context.WithCancel(t.Context())
		errs := make(chan error, 1)
		go func() {
			_, _, err := d.Call(ctx, "agent", gabp.ToolCall{Name: bridge.ToolWait})
			errs <- err
		}()
		synctest.Wait()
		gone()
		require.Error(t, <-errs)
		synctest.Wait()
		require.Zero(t, s.Status().Waiting)
	})
}

// FuzzArguments: whatever is sent, there is an answer that follows the schema, or a
// refusal that names a field; and the schema of the arguments says no less than the
// code does.
func FuzzArguments(f *testing.F) {
	s, err := session.New(session.Config{Engine: heed.Config{Epoch: "run1"}})
	require.NoError(f, err)
	briefs, err := briefing.New(heedsource.Sources(heedsource.Config{Engine: s.Engine(), Rules: s.Rules, Now: time.Now}))
	require.NoError(f, err)
	d := bridge.NewDiagnostics(s, briefs.Assemble, bridge.NoLimits)
	scene(s)
	for i, arguments := range []string{
		``, `{}`, `{"after":1}`, `{"after":"run1/2","limit":3,"kinds":["log"]}`, `{"id":"run1-1"}`, `{"seq":2}`, `{"text":"Broken"}`,
		`{"last":1e3}`, `{"limit":-0}`, `{"after":"/"}`, `{"x":{}}`, `null`, `{"signature":"0000000000000000"}`, `{"":0}`,
	} {
		f.Add(uint8(i), arguments)
	}
	f.Fuzz(func(t *testing.T, n uint8, arguments string) {
		name := lookingTools[int(n)%len(lookingTools)]
		if name == bridge.ToolWait || arguments != "" && !json.Valid([]byte(arguments)) {
			return // a message that is no JSON does not get here
		}
		result, known, err := d.Call(context.Background(), "agent", gabp.ToolCall{
			Name:      name,
			Arguments: json.RawMessage(arguments),
		})
		require.True(t, known)
		if err != nil {
			e, _ := refusal(t, d, name, arguments)
			require.NotEmpty(t, e.Message)
			return
		}
		text, err := json.Marshal(result)
		require.NoError(t, err)
		require.NoError(t, valid(t, toolOf(name).OutputSchema, text), "%s", text)
	})
}

// node is what is shown of a schema.
type node struct {
	Type        any
	Description string
	Enum        []string
	Minimum     *int64
	Maximum     *int64
	Default     *int64
	Items       *node
	Properties  map[string]*node
	Required    []string
}

func (n *node) form() string {
	what := fmt.Sprint(n.Type)
	if list, ok := n.Type.([]any); ok {
		what = fmt.Sprintf("%v or %v", list[0], list[1])
	}
	if n.Items != nil {
		what = n.Items.form() + " list"
		if n.Items.Enum != nil {
			what = "list of " + strings.Join(n.Items.Enum, ", ")
		}
	}
	if n.Enum != nil {
		what = strings.Join(n.Enum, ", ")
	}
	if n.Minimum != nil && n.Maximum != nil && *n.Maximum < 1<<53-1 {
		what += fmt.Sprintf(" %d to %d", *n.Minimum, *n.Maximum)
	}
	if n.Default != nil {
		what += fmt.Sprintf(", default %d", *n.Default)
	}
	return what
}

func parse(t *testing.T, schema json.RawMessage) *node {
	var n node
	require.NoError(t, json.Unmarshal(schema, &n))
	return &n
}

func names(n *node) []string {
	var all []string
	for name := range n.Properties {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// fill breaks text into lines of at most 120 bytes.
func fill(text string) string {
	var b strings.Builder
	width := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case width == 0:
		case width+1+len(word) > 120:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String()
}

// rendered is the generated part of the page.
func rendered(t *testing.T) string {
	var b strings.Builder
	for _, tool := range bridge.Tools() {
		fmt.Fprintf(&b, "### `%s`\n\n%s\n\n", tool.Name, fill(tool.Description))
		if in := parse(t, tool.InputSchema); len(in.Properties) > 0 {
			b.WriteString("| argument | type | meaning |\n|---|---|---|\n")
			for _, name := range names(in) {
				must := ""
				if slices.Contains(in.Required, name) {
					must = " (required)"
				}
				fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", name, must, in.Properties[name].form(), in.Properties[name].Description)
			}
			b.WriteString("\n")
		}
		var members []string
		for _, name := range names(parse(t, tool.OutputSchema)) {
			members = append(members, "`"+name+"`")
		}
		fmt.Fprintf(&b, "%s\n\n", fill("Returns "+strings.Join(members, ", ")+"."))
	}
	b.WriteString("## Resources\n\n| URI | content |\n|---|---|\n")
	for _, r := range bridge.Resources() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.URI, r.Description)
	}
	return b.String()
}

const (
	generated = "<!-- generated from the definitions of the tools -->\n"
	page      = "../../../docs/agents.md"
)

// TestDocs holds the page to the tools.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	own, _, ok := strings.Cut(string(text), generated)
	require.True(t, ok)
	testkit.Golden(t, page, own+generated+"\n"+rendered(t))
}
