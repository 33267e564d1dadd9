package session

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// TestLimits holds which count makes which limit.
func TestLimits(t *testing.T) {
	var s heed.Stats
	require.Empty(t, limits(&s, 0))
	c, k, j := &s.Classify, &s.Coalesce, &s.Journal
	counts := []struct {
		name  string
		count *uint64
	}{
		{"journal.tail", &j.Tail.Evicted},
		{"journal.firsts", &j.Firsts.Refused},
		{"journal.pinned", &j.Pinned.Refused},
		{"journal.text", &j.Truncated},
		{"classify.signatures", &c.SignaturesEvicted},
		{"classify.decisions", &c.DecisionsEvicted},
		{"classify.oversize", &c.Oversize},
		{"classify.errors", &c.EvaluationErrors},
		{"groups.unlearned", &c.Groups.Unlearned},
		{"items.overflowed", &k.Overflowed},
		{"items.evicted", &k.Evicted},
		{"updates.dropped", &k.UpdatesDropped},
		{"operations.evicted", &k.OperationsEvicted},
		{"operations.abandoned", &k.OperationsAbandoned},
		{"consumers.evicted", &k.ConsumersEvicted},
	}
	for i := range counts {
		*counts[i].count = uint64(i + 1)
	}
	hit := limits(&s, 0)
	require.Len(t, hit, len(counts))
	for i, l := range hit {
		require.Equal(t, counts[i].name, l.Name)
		require.EqualValues(t, i+1, l.Count)
		require.NotEmpty(t, l.Means)
	}
}

// TestConfig holds the defaults, and the names of what is refused.
func TestConfig(t *testing.T) {
	c, err := Config{}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, []time.Duration{
		250 * time.Millisecond, 0, time.Second,
	}, []time.Duration{c.Tick, c.Settle, c.SyncTimeout})
	require.Equal(t, 1024, c.Timeline)
	require.NotNil(t, c.Now)
	require.NotNil(t, c.Logger)
	for name, c := range map[string]Config{
		"Tick":   {Tick: -1},
		"Settle": {Settle: -1}, "SyncTimeout": {SyncTimeout: -1}, "Timeline": {Timeline: -1},
	} {
		_, err := c.withDefaults()
		require.ErrorContains(t, err, "Config."+name+" is -1")
	}
	at := func() time.Time { return time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC) }
	s, err := New(Config{Now: at})
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{8}$`, s.Status().Run)
	require.Regexp(t, `^20260131T100000\.[0-9a-f]{8}$`, s.Status().Epoch)
	require.Equal(t, "call-"+s.Status().Run+"-1", s.Begin(Call{Tool: "t"}).ID())
	require.True(t, s.Status().Rules.Default)
	require.NotZero(t, s.Status().Rules.Rules)
	for want, c := range map[string]Config{
		"Config.RuleFiles[0] is empty": {RuleFiles: []string{""}},
		"no-such-file":                 {RuleFiles: []string{"no-such-file"}},
	} {
		_, err := New(c)
		require.ErrorContains(t, err, want)
	}
	small := smallConfig(t)
	small.Signatures = -1
	for _, file := range []string{"", filepath.Join(t.TempDir(), "state")} {
		_, err = New(Config{Engine: small, Snapshot: file})
		require.ErrorContains(t, err, "Config.Signatures")
	}
	small = smallConfig(t)
	for noDefaults, n := range map[bool]int{false: 1, true: 0} {
		s, err = New(Config{Engine: small, NoDefaults: noDefaults})
		require.NoError(t, err)
		require.Equal(t, n, s.Status().Rules.Rules, "NoDefaults replaces the engine's rules too")
		require.False(t, s.Status().Rules.Default)
	}
	ec := heed.Config{Epoch: "mine"}
	s, err = New(Config{Engine: ec})
	require.NoError(t, err)
	require.Equal(t, "mine", s.Status().Epoch)
}

// TestNotes holds how many items the timeline knows more of than their events, the latest, and how many readers of each.
func TestNotes(t *testing.T) {
	var tl timeline
	tl.init(4)
	began := time.Unix(1000, 0)
	id := func(i int) string { return fmt.Sprint("e-", i) }
	for i := range maxNotes + 1 {
		tl.update(&heed.Update{Kind: coalesce.Opened, Item: heed.Item{ID: id(i)}}, began)
	}
	require.Equal(t, maxNotes, tl.notes.Len())
	oldest, _, _ := tl.notes.GetOldest()
	require.Equal(t, id(1), oldest)
	after := func(i int, passed time.Duration) int {
		tl.update(&heed.Update{Kind: coalesce.Cleared, Item: heed.Item{ID: id(i)}}, began.Add(passed))
		return int(tl.events[len(tl.events)-1].AfterMs)
	}
	require.Equal(t, []int{2000, 1, 0}, []int{after(1, 2*time.Second), after(1, 1), after(1, 0)})
	require.Zero(t, after(0, time.Hour), "it is not known any more")

	for i := range maxReaders + 1 {
		for range 2 {
			tl.read(fmt.Sprint("reader", i), id(5))
		}
	}
	require.Len(t, tl.of(id(5)).readers, maxReaders)
	long := strings.Repeat("e", 200)
	tl.read(long, id(6))
	for _, c := range []struct {
		consumer, id string
		read         bool
	}{
		{"reader0", id(5), true},
		{"reader15", id(5), true},
		{"reader16", id(5), false},
		{"reader0", id(6), false},
		{long, id(6), true},
		{long + "x", id(6), true}, // as far as names are kept
	} {
		tl.acked(c.consumer, &Acked{AckResult: heed.AckResult{
			ID: c.id, Acknowledged: true, Successor: "s", Covered: []string{"c"},
		}}, began.Add(time.Second))
		e := tl.events[len(tl.events)-1]
		require.Equal(t, Acknowledged, e.Kind)
		require.Equal(t, c.read, *e.Read, c.consumer)
		require.Equal(t, "s", e.Successor)
		require.Equal(t, []string{"c"}, e.Covered)
		require.EqualValues(t, 1000, e.AfterMs)
		require.LessOrEqual(t, len(e.Consumer), 128)
	}
	for _, res := range []heed.AckResult{{ID: id(5)}, {ID: id(5), Acknowledged: true, Already: true}} {
		tl.acked("a", &Acked{AckResult: res}, began)
		require.Equal(t, AckUnknown, tl.events[len(tl.events)-1].Kind)
	}
}

// TestTimelineAfter holds which events are returned, and how many were evicted before them.
func TestTimelineAfter(t *testing.T) {
	s := &Session{}
	s.timeline.init(8)
	for range 20 {
		s.timeline.add(Event{Covered: []string{"a"}})
	}
	for _, c := range []struct {
		after    uint64
		first, n int
		lost     uint64
	}{
		{0, 13, 8, 12},
		{11, 13, 8, 1},
		{12, 13, 8, 0},
		{13, 14, 7, 0},
		{19, 20, 1, 0},
		{20, 0, 0, 0},
		{25, 0, 0, 0},
	} {
		events, lost, _ := s.Timeline(c.after)
		require.Equal(t, c.lost, lost, c)
		require.Len(t, events, c.n, c)
		for i := range events {
			require.EqualValues(t, c.first+i, events[i].Number)
		}
	}
	events, _, _ := s.Timeline(19)
	require.Len(t, events, 1)
	events[0].Covered[0] = "b"
	again, _, _ := s.Timeline(19)
	require.Equal(t, "a", again[0].Covered[0], "it belongs to whoever got it")
}

// TestDiskSaves holds when the state is written: before an item is told that no earlier snapshot has, and before an
// acknowledgement is answered; once for each.
func TestDiskSaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Engine: smallConfig(t), Snapshot: filepath.Join(t.TempDir(), "state")})
		require.NoError(t, err)
		saves := uint64(0)
		expect := func(more uint64, what string) {
			t.Helper()
			saves += more
			require.Equal(t, saves, s.Status().Snapshot.Saves, what)
		}
		raise := func(key string) { s.Raise(heed.Report{Key: key, Disposition: event.Blocking, Message: "m"}) }
		expect(0, "nothing")
		raise("a")
		expect(1, "the host has its id")
		raise("a")
		expect(0, "which is known")
		s.Observe(event.Log{Message: "Broken"}.Entry())
		expect(0, "nobody knows it")
		require.Len(t, s.Open(nil), 2)
		expect(1, "a list has it")
		s.Observe(event.Operation{ID: "op", Status: event.StatusStarted}.Entry())
		s.Observe(event.Log{Message: "Broken by it", OperationID: "op"}.Entry())
		v := s.Verdict("op")
		require.NotEmpty(t, v.AttentionID)
		expect(1, "a verdict names it")
		require.False(t, s.Ack(t.Context(), "agent", "no-such", 0).Acknowledged)
		expect(0, "nothing was acknowledged")
		require.True(t, s.Ack(t.Context(), "agent", v.AttentionID, 0).Acknowledged)
		expect(1, "it was")
		s.Observe(event.Log{Message: "Fine"}.Entry())
		require.True(t, s.Ack(t.Context(), "agent", v.AttentionID, 0).Already)
		expect(0, "before")
		s.disk.through(s.engine.Latest().Seq)
		expect(1, "one more")
		s.disk.through(s.engine.Latest().Seq)
		expect(0, "and was")

		again, err := New(Config{Engine: smallConfig(t), Snapshot: s.cfg.Snapshot})
		require.NoError(t, err)
		require.Len(t, again.Open(nil), 2)
		require.Zero(t, again.Status().Snapshot.Saves, "what was restored is on disk")
	})
}

// TestRuleFilesRead holds what is no rule file, and when files are read again.
func TestRuleFilesRead(t *testing.T) {
	dir := t.TempDir()
	_, err := New(Config{RuleFiles: []string{dir}})
	require.ErrorContains(t, err, "is not a regular file")
	_, err = New(Config{RuleFiles: []string{filepath.Join(dir, "absent")}})
	require.ErrorIs(t, err, fs.ErrNotExist)

	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "own.yaml")
		stamp := time.Unix(1000, 0)
		write := func(text string) {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			require.NoError(t, os.Chtimes(path, stamp, stamp))
		}
		rule := func(id string) string {
			return "version: 1\nrules:\n  - {id: " + id + ", when: 'template startsWith \"Broken\"', disposition: ignore}\n"
		}
		write("version: 1\nrules: 7\n")
		_, err := New(Config{RuleFiles: []string{path}})
		require.Regexp(t, "^rules: ", err.Error(), "a list of errors, as it is")
		write(rule("a"))
		s, err := New(Config{RuleFiles: []string{path}, Engine: smallConfig(t)})
		require.NoError(t, err)
		require.NotNil(t, s.Rules().Rule("a"), "files replace the engine's rules")
		s, err = New(Config{RuleFiles: []string{path}, NoDefaults: true})
		require.NoError(t, err)
		require.Equal(t, stamp, s.Status().Rules.Files[0].Changed)
		require.Equal(t, len(rule("a")), s.Status().Rules.Files[0].Bytes)
		require.False(t, s.Status().Rules.Default)
		write(rule("b")) // same size and time
		s.reloadIfChanged()
		require.EqualValues(t, 1, s.Status().Rules.Swaps)
		require.Equal(t, "b", s.Rules().Rules()[0].ID)
		time.Sleep(time.Minute)
		stamp = stamp.Add(time.Second)
		write(rule("b")) // the same
		s.reloadIfChanged()
		require.EqualValues(t, 1, s.Status().Rules.Swaps)
		write(rule("b") + "# a comment\n")
		before := s.Status().Rules.Since
		s.reloadIfChanged()
		require.EqualValues(t, 2, s.Status().Rules.Swaps)
		require.True(t, s.Status().Rules.Since.After(before))
	})
}

const nowText = "20260131T090000.123456789"

// smallConfig makes snapshots of a few hundred bytes.
func smallConfig(t testing.TB) heed.Config {
	set, err := rules.Compile(rules.File{
		Name: "f.yaml",
		Data: []byte("version: 1\nrules:\n  - {id: broken, when: 'template startsWith \"Broken\"', disposition: " +
			"blocking}\n"),
	})
	require.NoError(t, err)
	return heed.Config{Rules: set, Epoch: nowText, Groups: signature.GrouperConfig{Signatures: 16, Columns: 8}}
}

// Clear ends an open item; see [heed.Engine.Clear].
func (s *Session) Clear(id string) bool {
	s.ordered.Lock()
	defer s.leave()
	return s.engine.Clear(id)
}

// Gate returns a gate for this session's calls: c with Source set.
func (s *Session) Gate(c gate.Config) (*gate.Gate, error) {
	c.Source = s.Source(c.FailOpen)
	return gate.New(c)
}
