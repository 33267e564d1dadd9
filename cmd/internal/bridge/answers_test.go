package bridge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
)

// TestEntriesLost holds what is said of entries that are gone: by eviction, and with an earlier process.
func TestEntriesLost(t *testing.T) {
	s, d := start(t, smallJournal())
	for i := range 1000 {
		s.Observe(logged(fmt.Sprint("Fine ", i)).Entry())
	}
	page := answer[bridge.Page](t, d, bridge.ToolEntries, `{"limit":3}`)
	require.Len(t, page.Entries, 3)
	require.EqualValues(t, 1000, page.Latest)
	require.Greater(t, page.Oldest, uint64(1))
	require.NotZero(t, page.Lost)
	require.Zero(t, page.LostBefore)
	_, refused := refusal(t, d, bridge.ToolEntries, `{"after":"run1/1001"}`)
	require.Equal(t, "beyond", refused.Reason)
	require.Equal(t, fmt.Sprint("run1/", page.Oldest-1), refused.Oldest)
	require.Equal(t, "run1/1000", refused.Latest)

	for _, seq := range []uint64{page.Oldest - 1, 1001, 1002} {
		_, refused = refusal(t, d, bridge.ToolExplain, fmt.Sprintf(`{"seq":%d}`, seq))
		require.Equal(t, "not_found", refused.Reason)
	}
	c := session.Config{Snapshot: filepath.Join(t.TempDir(), "state"), Engine: heed.Config{Rules: compile(t, testRules)}}
	func() {
		s, err := session.New(c)
		require.NoError(t, err)
		for range 3 {
			s.Observe(logged("Fine").Entry())
		}
		s.Raise(heed.Report{Key: "k", Disposition: event.Blocking, Message: "m"})
	}()
	s, d = start(t, c)
	require.True(t, s.Status().Restored, s.Status().Snapshot.Refused)
	s.Observe(logged("Fine").Entry())
	page = answer[bridge.Page](t, d, bridge.ToolEntries, `{}`)
	require.EqualValues(t, 4, page.LostBefore)
	require.EqualValues(t, 4, page.Lost)
	require.Len(t, page.Entries, 1)
}

// TestItemEvidence holds what is shown around the cause of an item, and how much of it is gone with an earlier process.
func TestItemEvidence(t *testing.T) {
	c := session.Config{Snapshot: filepath.Join(t.TempDir(), "state"), Engine: heed.Config{Rules: compile(t, testRules)}}
	s, err := session.New(c)
	require.NoError(t, err)
	d := bridge.NewDiagnostics(s, nil, bridge.NoLimits)
	for i := range 100 {
		s.Observe(logged(fmt.Sprint("Fine ", i, strings.Repeat(" x", 200))).Entry())
	}
	s.Observe(logged("Broken wall").Entry())
	for i := range 100 {
		s.Observe(logged(fmt.Sprint("Fine again ", i)).Entry())
	}
	arguments := `{"id":"` + s.Open(nil)[0].ID + `"}`
	s.Raise(heed.Report{Key: "k", Disposition: event.Blocking, Message: "m"}) // which saves
	item := answer[bridge.ItemDetail](t, d, bridge.ToolItem, arguments)
	require.EqualValues(t, 101, item.Cause.Entry.Seq)
	around := len(item.Prelude)
	require.NotZero(t, around)
	require.Len(t, item.Following, around)
	require.EqualValues(t, 100, item.Prelude[around-1].Seq)
	require.True(t, item.Prelude[around-1].Cut, "shorter than other entries")
	require.EqualValues(t, 102, item.Following[0].Seq)
	require.Zero(t, item.Lost)

	_, d = start(t, c)
	item = answer[bridge.ItemDetail](t, d, bridge.ToolItem, arguments)
	require.EqualValues(t, 101, item.Cause.Seq)
	require.Nil(t, item.Cause.Entry)
	require.EqualValues(t, 2*around+1, item.Lost)
}

// TestOperationAnswers holds what is said of an operation: how many events it has, where they begin, and when it ran.
func TestOperationAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := smallJournal()
		s, d := start(t, c)
		s.Observe(logged("Fine").Entry())
		began := time.Now().UTC()
		r := s.Begin(session.Call{Tool: "colony/build"})
		s.Observe(event.Operation{ID: "part", Parent: r.ID(), Method: "inner"}.Entry())
		time.Sleep(time.Second)
		_, _, err := r.End(t.Context(), event.StatusFailed, "no wood")
		require.NoError(t, err)
		all := answer[bridge.Operations](t, d, bridge.ToolOperations, "")
		require.Zero(t, all.Lost)
		require.Len(t, all.Operations, 2)
		o := all.Operations[0]
		require.Equal(t, r.ID(), o.Operation)
		require.Equal(t, 2, o.Events)
		require.Equal(t, "run1/1", o.Cursor)
		require.Equal(t, began, o.StartedAt)
		require.Equal(t, began.Add(time.Second), o.EndedAt)
		require.Equal(t, event.StatusFailed, o.Status)
		require.Equal(t, "colony/build", o.Method)
		detail := answer[bridge.OperationDetail](t, d, bridge.ToolOperation, `{"id":"`+r.ID()+`"}`)
		require.Equal(t, []any{o.Events, o.Cursor, o.StartedAt, o.EndedAt, o.Status, o.Method},
			[]any{detail.Events, detail.Cursor, detail.StartedAt, detail.EndedAt, detail.Status, detail.Method})
		part := all.Operations[1]
		require.Equal(t, []any{"part", r.ID(), "inner", 1}, []any{part.Operation, part.Parent, part.Method, part.Events})
		for i := range 1000 {
			s.Observe(logged(fmt.Sprint("Fine ", i)).Entry())
		}
		all = answer[bridge.Operations](t, d, bridge.ToolOperations, "")
		lost := answer[bridge.Page](t, d, bridge.ToolEntries, `{"limit":1}`).Lost
		require.NotZero(t, lost)
		require.GreaterOrEqual(t, all.Lost, lost)
		require.Less(t, all.Lost, uint64(1004))
	})
}

// TestTimelineFilters holds which events a filter chooses: an item's are those of its successor and cover too.
func TestTimelineFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := start(t, session.Config{})
		for range 3 {
			r := s.Begin(session.Call{ID: "r", Tool: "colony/build", Consumer: "ann"})
			_, _, err := r.End(t.Context(), event.StatusCompleted, "")
			require.NoError(t, err)
		}
		raise := func(key, message string) string {
			return s.Raise(heed.Report{Key: key, Disposition: event.Blocking, Message: message})
		}
		a, b := raise("a", "m"), raise("b", "m")
		first, _ := s.Current(t.Context(), "ann") // names b too
		require.Equal(t, a, first.ID)
		raise("a", "something else")
		res := s.Ack(t.Context(), "ann", a, first.LatestSequence)
		require.Equal(t, []string{b}, res.Covered)
		require.NotEmpty(t, res.Successor)
		s.Ack(t.Context(), "bob", "no-such", 0)
		synctest.Wait()
		timeline := func(arguments string) (out bridge.Timeline, said []string) {
			out = answer[bridge.Timeline](t, d, bridge.ToolTimeline, arguments)
			for _, e := range out.Events {
				said = append(said, fmt.Sprint(e.Kind, " ", e.Consumer, " ", e.Attention))
			}
			return out, said
		}
		all, said := timeline(`{}`)
		require.Zero(t, all.Omitted)
		require.NotEmpty(t, said)
		run := s.Status().Run
		for arguments, want := range map[string][]string{
			`{"consumer":"bob"}`:                                                {"ack_unknown bob no-such"},
			`{"kinds":["acknowledged","ack_unknown"]}`:                          {"acknowledged ann " + a, "ack_unknown bob no-such"},
			`{"attention":"` + res.Successor + `"}`:                             {"acknowledged ann " + a, "item_opened  " + res.Successor},
			`{"attention":"` + b + `","kinds":["acknowledged","item_cleared"]}`: {"acknowledged ann " + a, "item_cleared  " + b},
			`{"operation":"call-` + run + `-2"}`:                                {"call_began ann ", "call_ended ann "},
			`{"operation":"call-` + run + `-9"}`:                                nil,
		} {
			_, said := timeline(arguments)
			require.ElementsMatch(t, want, said, arguments)
		}
		page, _ := timeline(`{"limit":2}`)
		require.Equal(t, len(all.Events)-2, page.Omitted)
		require.False(t, page.More)
		require.Equal(t, all.Events[len(all.Events)-2:], page.Events)
		page, _ = timeline(`{"limit":2,"after":0}`)
		require.Zero(t, page.Omitted)
		require.True(t, page.More)
		require.Equal(t, all.Events[:2], page.Events)
		require.Equal(t, run+"/2", page.Next)
		page, _ = timeline(fmt.Sprintf(`{"after":%d}`, len(all.Events)))
		require.Empty(t, page.Events)
		require.Equal(t, all.Next, page.Next)
		_, refused := refusal(t, d, bridge.ToolTimeline, fmt.Sprintf(`{"after":%d}`, len(all.Events)+1))
		require.Equal(t, "beyond", refused.Reason)
		require.Equal(t, []string{run + "/0", all.Next}, []string{refused.Oldest, refused.Latest})
		_, refused = refusal(t, d, bridge.ToolTimeline, `{"after":"other/1"}`)
		require.Equal(t, "epoch", refused.Reason)
	})
}

// TestLogStatus holds what is said of the followed log.
func TestLogStatus(t *testing.T) {
	_, d := start(t, session.Config{Log: stuck})
	st := answer[bridge.Status](t, d, bridge.ToolStatus, "")
	require.Equal(t, &bridge.LogStatus{Status: follow.Status{Present: true}, Error: "permission denied"}, st.Log)
	require.NotEmpty(t, st.Behind)
	full := follow.Status{Offset: 5, Size: 7, Lines: 1, Records: 2, LostBytes: 3, Missed: 4}
	_, d = start(t, session.Config{Log: &read{full}})
	require.Equal(t, &bridge.LogStatus{Status: full}, answer[bridge.Status](t, d, bridge.ToolStatus, "").Log)
}

// TestTextBounds holds how long a text to be explained may be, and how many tags of an entry are shown.
func TestTextBounds(t *testing.T) {
	tags := make([]string, 20)
	for i := range tags {
		tags[i] = fmt.Sprint("t", i)
	}
	when := ", when: 'template startsWith \"Tagged\"', "
	set := compile(t, "version: 1\nrules:\n"+
		"  - {id: first"+when+"continue: true, tags: ["+strings.Join(tags[:15], ", ")+"]}\n"+
		"  - {id: second"+when+"disposition: advisory, tags: ["+strings.Join(tags[15:], ", ")+"]}\n")
	s, d := start(t, session.Config{Engine: heed.Config{Rules: set}})
	s.Observe(logged("Tagged").Entry())
	require.Len(t, answer[bridge.Page](t, d, bridge.ToolEntries, `{}`).Entries[0].Tags, 16)
	answer[bridge.Explanation](t, d, bridge.ToolExplain, `{"text":"`+strings.Repeat("x", 4096)+`"}`)
	_, refused := refusal(t, d, bridge.ToolExplain, `{"text":"`+strings.Repeat("x", 4097)+`"}`)
	require.Equal(t, "arguments.text", refused.Path)
	for n, reason := range map[int]string{510: "epoch", 511: ""} {
		for _, tool := range []string{bridge.ToolEntries, bridge.ToolWait, bridge.ToolTimeline} {
			_, refused = refusal(t, d, tool, `{"after":"`+strings.Repeat("x", n)+`/1"}`)
			require.Equal(t, reason, refused.Reason, tool)
		}
	}
}

// TestOmitted holds how many open items are shown, and how many are not.
func TestOmitted(t *testing.T) {
	s, d := start(t, session.Config{Engine: heed.Config{Coalesce: coalesce.Config{MaxOpen: 70}}})
	for i := range 66 {
		s.Raise(heed.Report{Key: fmt.Sprint(i), Disposition: event.Blocking, Message: "m"})
		items := answer[bridge.Items](t, d, bridge.ToolItems, "")
		require.Len(t, items.Items, min(i+1, 64))
		require.Equal(t, max(0, i+1-64), items.Omitted)
	}
}

// TestEvictedOperation holds what is said of an operation of which only the entries are left.
func TestEvictedOperation(t *testing.T) {
	s, d := start(t, session.Config{Engine: heed.Config{Coalesce: coalesce.Config{MaxOperations: 2}}})
	for i := range 5 {
		r := s.Begin(session.Call{Tool: fmt.Sprint("colony/build", i)})
		_, _, err := r.End(t.Context(), event.StatusCompleted, "")
		require.NoError(t, err)
	}
	all := answer[bridge.Operations](t, d, bridge.ToolOperations, "")
	require.Len(t, all.Operations, 5)
	for i, o := range all.Operations {
		require.Equal(t, fmt.Sprint("colony/build", 4-i), o.Method)
		require.Equal(t, i < 2, o.Known)
		require.Equal(t, event.StatusCompleted, o.Status)
	}
}

// TestManyRuleFiles holds how many rule files are named, and how many are not; and the cursor after a single event.
func TestManyRuleFiles(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i := range 66 {
		names = append(names, filepath.Join(dir, fmt.Sprint(i, ".yaml")))
		require.NoError(t, os.WriteFile(names[i], []byte("version: 1\n"), 0o600))
	}
	s, d := start(t, session.Config{RuleFiles: names, NoDefaults: true})
	st := answer[bridge.Status](t, d, bridge.ToolStatus, "").Rules
	require.Len(t, st.Files, 64)
	require.Equal(t, 2, st.Omitted)
	s.Ack(t.Context(), "bob", "no-such", 0)
	require.Equal(t, s.Status().Run+"/1", answer[bridge.Timeline](t, d, bridge.ToolTimeline, "").Next)
}

// TestOperationWithoutEntries holds that a verdict is told of an operation of which no entry is left.
func TestOperationWithoutEntries(t *testing.T) {
	s, d := start(t, smallJournal())
	r := s.Begin(session.Call{Tool: "colony/build"})
	for i := range 5000 {
		other, method := fmt.Sprint("other ", i%50), fmt.Sprint("m", i)
		s.Observe(event.Operation{ID: other, Method: method, Status: event.StatusStarted}.Entry())
	}
	o := answer[bridge.OperationDetail](t, d, bridge.ToolOperation, `{"id":"`+r.ID()+`"}`)
	require.Empty(t, o.EventEntries)
	require.Equal(t, event.StatusStarted, o.Status)
	_, refused := refusal(t, d, bridge.ToolOperation, `{"id":"no-such"}`)
	require.Equal(t, "not_found", refused.Reason)
}
