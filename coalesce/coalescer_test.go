package coalesce

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

func TestFoldAllocatesNothing(t *testing.T) {
	for _, clock := range []bool{false, true} {
		c := testkit.Must(New(Config{}))
		e := event.Entry{Message: "text"}
		in := Input{Entry: &e, Decision: event.Decision{
			Rule: "r", Disposition: event.Blocking,
			Severity: event.SeverityError,
		}}
		sigs := []signature.Signature{groupSignature("a"), groupSignature("b"), groupSignature("c")}
		step := func() {
			e.Seq++
			if clock {
				e.Time = time.Unix(int64(e.Seq), 0)
			}
			in.Signature = sigs[e.Seq%3]
			c.Fold(&in)
		}
		for range 10 {
			step()
		}
		require.Zero(t, testing.AllocsPerRun(1000, step), "urgent")
		updates(c)
		c.Ack("", "0-1", 0)
		require.Zero(t, testing.AllocsPerRun(1000, step), "acknowledged")
		require.EqualValues(t, 1001, c.Stats().Suppressed)
		in.Decision = event.Decision{}
		require.Zero(t, testing.AllocsPerRun(1000, step), "ignored")
	}
}

// TestVariantsAllocateNothing folds variants of one group, some of them counted as others.
func TestVariantsAllocateNothing(t *testing.T) {
	c := testkit.Must(New(Config{}))
	var variants []string
	for i := range maxVariants + 3 {
		variants = append(variants, fmt.Sprint("status ", i))
	}
	e := event.Entry{Message: "text"}
	in := Input{
		Entry: &e, Signature: groupSignature("a"),
		Decision: event.Decision{Rule: "r", Disposition: event.Blocking, Severity: event.SeverityError},
	}
	step := func() {
		e.Seq++
		in.Variant = variants[e.Seq%uint64(len(variants))]
		c.Fold(&in)
	}
	for range 2 * len(variants) {
		step()
	}
	require.Zero(t, testing.AllocsPerRun(1000, step), "urgent")
	a, ok := c.Item("0-1")
	require.True(t, ok)
	require.Equal(t, 1, a.Groups)
	require.Len(t, a.Sample[0].Variants, maxVariants+1)
	updates(c)
	c.Ack("", "0-1", 0)
	require.Zero(t, testing.AllocsPerRun(1000, step), "acknowledged")
	require.EqualValues(t, 1001, c.Stats().Suppressed)
	require.Zero(t, c.Stats().Open)
}

// TestManyRules folds more rules into an item than it has room for: it is not resolved by rules, and what was
// acknowledged stays so.
func TestManyRules(t *testing.T) {
	c := testkit.Must(New(Config{}))
	fold := func(in Input) Folded {
		in.Entry = &event.Entry{Seq: c.Now.seq + 1, Message: "text"}
		return c.Fold(&in)
	}
	var all []string
	urgent := func(i int) Folded {
		return fold(Input{
			Signature: groupSignature(fmt.Sprint("group", i)), Blame: []string{"mod"},
			Decision: event.Decision{Rule: fmt.Sprint("rule", i), Disposition: event.Blocking},
		})
	}
	room := c.Config.MaxGroups + reservedForRules
	for i := range room + 6 {
		all = append(all, fmt.Sprint("rule", i))
		require.Equal(t, "0-1", urgent(i).ID)
	}
	fold(Input{Resolves: all})
	a, ok := c.Current("")
	require.True(t, ok, "nobody knows that all rules are resolved")
	c.Ack("", a.ID, 0)
	require.Equal(t, "0-2", urgent(room-1).ID, "a rule that had room, and is resolved")
	require.Equal(t, "0-2", urgent(room-1).ID)
	fold(Input{Resolves: all})
	_, ok = c.Current("")
	require.False(t, ok)
	checkStructure(t, c)
}

// TestEndIsAnnounced: an item whose end was not passed on yet is not forgotten before others.
func TestEndIsAnnounced(t *testing.T) {
	c := testkit.Must(New(Config{MaxOpen: 2, MaxRemembered: 1}))
	fold := func(rule string, resolves ...string) {
		c.Fold(&Input{
			Entry: &event.Entry{Seq: c.Now.seq + 1, Message: rule}, Signature: groupSignature(rule), Resolves: resolves,
			Decision: event.Decision{Rule: rule, Disposition: event.Blocking},
		})
	}
	fold("one")
	require.Len(t, updates(c), 1)
	c.Ack("", "0-1", 0)
	require.Len(t, updates(c), 1)
	fold("two")
	require.Len(t, updates(c), 1)
	c.Withdraw("0-2")
	fold("three")
	c.Withdraw("0-3")
	fold("four")
	all := updates(c)
	require.Equal(t, "0-2", all[0].Item.ID)
	require.Equal(t, Cleared, all[0].Kind)
}

// TestStats checks the counts that no law of conservation holds together.
func TestStats(t *testing.T) {
	c := testkit.Must(New(Config{MaxOpen: 2, MaxRemembered: 1, MaxOperations: 2}))
	fold := func(e event.Entry, d event.Disposition, rule string) {
		e.Seq = c.Now.seq + 1
		raised := ""
		if e.OperationID == "" && d == event.Advisory {
			raised = rule
		}
		c.Fold(&Input{
			Raised: raised,
			Entry:  &e, Signature: groupSignature(rule), NewPhase: true, Blind: rule == "blinds", Begins: rule == "blinds",
			Decision: event.Decision{Rule: rule, Disposition: d},
		})
	}
	for _, id := range []string{"", "a", "b", "c"} {
		fold(event.Entry{Kind: event.KindOperation, Status: event.StatusStarted, OperationID: id}, event.Ignore, "")
	}
	fold(event.Entry{OperationID: "c"}, event.Blocking, "one")
	fold(event.Entry{}, event.Advisory, "two")
	fold(event.Entry{}, event.Advisory, "three") // displaces two
	fold(event.Entry{}, event.Advisory, "four")  // displaces three, and forgets two
	fold(event.Entry{}, event.Blocking, "blinds")
	require.Len(t, updates(c), 3)
	c.Ack("", "0-1", 0)
	s := c.Stats()
	require.NoError(t, s.Check())
	require.Equal(t, Stats{
		Received: 9, Latest: 9, Number: 5, Ignored: 4, Folded: 5, ByDisposition: [3]uint64{0, 3, 2},
		Opened: 5, Open: 1, OpenBlocking: 1, Cleared: 4, Acknowledged: 1, Remembered: 2, Evicted: 2,
		FoldedOpen: 1, FoldedCleared: 2, FoldedEvicted: 2,
		Updates: 3, UpdatesPending: 1, UpdatesDropped: 2,
		Operations: 2, OperationsRunning: 2, OperationsEvicted: 1, OperationsAnonymous: 1, Consumers: 1, Blind: true,
	}, s)
	require.Equal(t, []Retention{
		{Owner: 1, Pin: 5},
		{Owner: 2, Pin: 6},
		{Owner: 2},
		{Owner: 3, Pin: 7},
		{Owner: 3},
		{Owner: 2, Evicted: true},
		{Owner: 4, Pin: 8},
		{Owner: 4},
		{Owner: 3, Evicted: true},
		{Owner: 5, Pin: 9},
		{Owner: 1},
	}, c.Retention(nil))
	require.Empty(t, c.Retention(nil))

	// Items are unpinned in the order of their eviction: the acknowledged one last.
	for _, want := range []uint64{4, 1} {
		owner, ok := c.Unpin()
		require.True(t, ok)
		require.Equal(t, want, owner)
	}
	_, ok := c.Unpin()
	require.False(t, ok)
}

func TestConfigIsValidated(t *testing.T) {
	for name, cfg := range map[string]Config{
		"MaxOpen":                 {MaxOpen: -1},
		"MaxRemembered":           {MaxRemembered: -1},
		"MaxGroups":               {MaxGroups: -1},
		"MaxOperations":           {MaxOperations: -1},
		"MaxSamples":              {MaxSamples: -1},
		"MaxSampleText":           {MaxSampleText: -1},
		"MaxNamed":                {MaxNamed: -1},
		"Linger.Entries":          {Linger: Window{Entries: -1}},
		"AckMemory.Dur":           {AckMemory: Window{Duration: -1}},
		"Epoch":                   {Epoch: "a b"},
		"OperationMax.Dura":       {OperationMax: Window{Duration: -time.Second}},
		"MaxSkew":                 {MaxSkew: -1},
		"MaxGroups is 16385":      {MaxGroups: maxGroups + 1},
		"MaxOpen is 65537":        {MaxOpen: maxTable + 1},
		"MaxRemembered is 65537":  {MaxRemembered: maxTable + 1},
		"MaxOperations is 65537":  {MaxOperations: maxTable + 1},
		"MaxConsumers is 65537":   {MaxConsumers: maxTable + 1},
		"MaxSamples is 65537":     {MaxSamples: maxTable + 1},
		"MaxSampleText is 65537":  {MaxSampleText: maxTable + 1},
		"MaxNamed is 65537":       {MaxNamed: maxTable + 1},
		"MaxSummaryTokens is 49":  {MaxSummaryTokens: minSummaryTokens - 1},
		"MaxSummaryTokens is 251": {MaxSummaryTokens: maxSummaryTokens + 1},
		"Epoch has 65 bytes":      {Epoch: strings.Repeat("e", 65)},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(cfg)
			require.Nil(t, c)
			require.ErrorContains(t, err, "Config."+name)
		})
	}
}

func TestWindowBoundaries(t *testing.T) {
	w := Window{Duration: 100 * time.Millisecond, Entries: 10}
	const unclocked = -1
	at := func(seq uint64, ms int) logicalTime {
		if ms == unclocked {
			return logicalTime{seq: seq}
		}
		return logicalTime{seq: seq, generation: 1, at: time.Duration(ms) * time.Millisecond}
	}
	setBack := func(m logicalTime) logicalTime {
		m.generation++
		return m
	}
	for _, tc := range []struct {
		since, now logicalTime
		passed     bool
	}{
		{at(1, 0), at(1, 0), false},
		{at(1, 0), at(500, 9), false},
		{at(1, 0), at(500, 10), false},
		{at(1, 0), at(500, 99), false},
		{at(1, 0), at(2, 100), true},
		{at(1, 0), at(2, 1000), true},
		{at(1, unclocked), at(10, unclocked), false},
		{at(1, unclocked), at(2, unclocked), false},
		{at(1, unclocked), at(11, unclocked), true},
		{at(1, unclocked), at(11, 0), true},
		{at(1, 0), setBack(at(10, 500)), false},
		{at(1, 0), setBack(at(11, 50)), true},
	} {
		require.Equal(t, tc.passed, w.passed(tc.since, tc.now), "%v %v", tc.since, tc.now)
		var a alarm
		require.False(t, a.due(tc.now), "not set")
		a.add(&w, tc.since, tc.now)
		require.Equal(t, tc.passed, a.due(tc.now), "%v %v", tc.since, tc.now)
	}
}

func TestTick(t *testing.T) {
	c := testkit.Must(New(Config{MaxSkew: time.Second}))
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		time time.Time
		want logicalTime
	}{
		{time.Time{}, logicalTime{}},
		{start, logicalTime{generation: 1}},
		{time.Time{}, logicalTime{generation: 1}},
		{start.Add(10 * time.Second), logicalTime{generation: 1, at: 10 * time.Second}},
		{start.Add(9 * time.Second), logicalTime{generation: 1, at: 10 * time.Second}},
		{start.Add(9*time.Second - 1), logicalTime{generation: 2, at: 9*time.Second - 1}},
		{start.Add(-time.Second), logicalTime{generation: 3, at: -time.Second}},
		{start.AddDate(5000, 0, 0), logicalTime{generation: 3, at: farthest}},
		{start.AddDate(-2000, 0, 0), logicalTime{generation: 4, at: -farthest}},
		{start.AddDate(5000, 0, 0), logicalTime{generation: 4, at: farthest}},
		{start, logicalTime{generation: 5}},
	} {
		c.Advance(tc.time)
		require.Equal(t, tc.want, c.Now, tc.time)
	}
}

// TestSampleShowsCut: a text of wide characters that is one too long has the mark of a cut.
func TestSampleShowsCut(t *testing.T) {
	require.NotEqual(t, strings.Repeat("😀", 5), sampleText(&event.Entry{Message: strings.Repeat("😀", 6)}, 5))
}
