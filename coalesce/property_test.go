package coalesce

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// model is the naive twin of a coalescer: it remembers every entry and checks,
// after each step, what the coalescer says against all of them.
type model struct {
	t *rapid.T
	c *Coalescer

	seq     uint64
	now     time.Time
	blind   map[string]bool
	ignored uint64
	folded  uint64

	items map[string]*modelItem
	order []string
}

type modelItem struct {
	entries []modelEntry // folded while it was open
	opened  bool         // an update said so
	cleared bool         // an update or an acknowledgement said so
	split   bool         // part of a split by an acknowledgement
}

type modelEntry struct {
	seq         uint64
	disposition event.Disposition
	severity    event.Severity
	invalidates bool
	rule        string
	sig         signature.Signature
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := func(label string) int { return rapid.IntRange(1, 4).Draw(t, label) }
		cfg := Config{
			Epoch: "e", MaxOpen: small("open"), MaxRemembered: small("remembered"), MaxGroups: small("groups"),
			MaxOperations: small("operations"), MaxSamples: small("samples"), MaxNamed: small("named"),
			Linger: Window{time.Second, 3}, AmbientQuiet: Window{2 * time.Second, 6}, AckMemory: Window{5 * time.Second, 20},
			AdvisoryTTL: Window{4 * time.Second, 12}, OperationMax: Window{6 * time.Second, 25}, RateWindow: Window{time.Second, 5},
		}
		c, err := New(cfg)
		require.NoError(t, err)
		m := &model{t: t, c: c, blind: map[string]bool{}, items: map[string]*modelItem{}}
		if rapid.Bool().Draw(t, "clock") {
			m.now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		t.Repeat(map[string]func(*rapid.T){
			"urgent":   m.urgent,
			"urgent2":  m.urgent,
			"noise":    func(*rapid.T) { m.fold(event.Entry{Message: "noise"}, Input{}) },
			"event":    m.event,
			"ack":      m.ack,
			"drain":    func(*rapid.T) { m.drain() },
			"current":  func(*rapid.T) { m.current() },
			"time":     m.passTime,
			"resolve":  m.resolve,
			"blind":    m.goBlind,
			"newphase": func(*rapid.T) { m.fold(event.Entry{Kind: event.KindState}, Input{NewPhase: true}) },
			"":         func(*rapid.T) { m.check() },
		})
	})
}

func (m *model) urgent(t *rapid.T) {
	in := Input{
		Signature: groupSignature(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(t, "group")),
		Decision: event.Decision{
			Rule:        rapid.SampledFrom([]string{"r", "s"}).Draw(t, "rule"),
			Disposition: rapid.SampledFrom([]event.Disposition{event.Advisory, event.Blocking}).Draw(t, "disposition"),
			Severity:    rapid.SampledFrom([]event.Severity{event.SeverityWarning, event.SeverityError}).Draw(t, "severity"),
			Invalidates: rapid.Bool().Draw(t, "invalidates"),
		},
	}
	m.fold(event.Entry{Message: "text", OperationID: rapid.SampledFrom([]string{"", "", "x", "y", "z"}).Draw(t, "operation")}, in)
}

func (m *model) event(t *rapid.T) {
	status := rapid.SampledFrom([]event.Status{event.StatusStarted, event.StatusCompleted, event.StatusFailed, event.StatusTimedOut}).Draw(t, "status")
	e := event.Entry{
		Kind: event.KindOperation, Status: status, Source: "m",
		OperationID: rapid.SampledFrom([]string{"x", "y", "z", ""}).Draw(t, "operation"),
		Parent:      rapid.SampledFrom([]string{"", "", "x", "y"}).Draw(t, "parent"),
	}
	in := Input{Signature: groupSignature(status.String())}
	switch status {
	case event.StatusFailed:
		in.Decision = event.Decision{Rule: "failed", Disposition: event.Advisory}
	case event.StatusTimedOut:
		in.Decision = event.Decision{Rule: "timed_out", Disposition: event.Blocking, Severity: event.SeverityError}
	}
	m.fold(e, in)
}

func (m *model) passTime(t *rapid.T) {
	if m.now.IsZero() {
		return
	}
	m.now = m.now.Add(time.Duration(rapid.IntRange(-2000, 7000).Draw(t, "ms")) * time.Millisecond)
	m.c.Advance(m.now)
}

func (m *model) resolve(t *rapid.T) {
	rule := rapid.SampledFrom([]string{"r", "s", "blinds"}).Draw(t, "rule")
	delete(m.blind, rule)
	m.fold(event.Entry{}, Input{Resolves: []string{rule}})
}

func (m *model) goBlind(*rapid.T) {
	m.blind["blinds"] = true
	m.fold(event.Entry{}, Input{
		Begins: true, Signature: groupSignature("blinds"),
		Decision: event.Decision{Rule: "blinds", Disposition: event.Blocking, Severity: event.SeverityWarning},
	})
}

func (m *model) fold(e event.Entry, in Input) {
	m.seq++
	e.Seq, e.Pos, e.Time = m.seq, m.seq, m.now
	in.Entry, in.Blind = &e, len(m.blind) > 0
	f := m.c.Fold(&in)
	if !in.Decision.Disposition.Urgent() {
		m.ignored++
		require.Empty(m.t, f.ID)
		return
	}
	m.folded++
	require.NotEmpty(m.t, f.ID)
	it := m.items[f.ID]
	if it == nil {
		it = &modelItem{}
		m.items[f.ID] = it
		m.order = append(m.order, f.ID)
		require.True(m.t, f.NewGroup && f.NewCause, "the first entry of an item is its cause")
	}
	if a, ok := m.c.Item(f.ID); ok && a.State == Open {
		it.entries = append(it.entries, modelEntry{e.Seq, in.Decision.Disposition, in.Decision.Severity, in.Decision.Invalidates, in.Decision.Rule, in.Signature})
	}
}

func (m *model) ack(t *rapid.T) {
	if len(m.order) == 0 {
		return
	}
	id := rapid.SampledFrom(m.order).Draw(t, "id")
	upTo := uint64(0)
	if rapid.Bool().Draw(t, "explicit") {
		upTo = uint64(rapid.IntRange(1, int(m.seq)).Draw(t, "upto"))
	}
	before, held := m.c.Item(id)
	var want []modelEntry
	if held && before.State == Open && upTo != 0 && !m.items[id].split && before.GroupsExact {
		want = m.firstSeenAfter(id, max(upTo, before.OpenedAtSequence))
	}
	res := m.c.Ack(id, upTo)
	if held && before.State == Open {
		require.True(m.t, res.Acknowledged && !res.Already)
		if after, ok := m.c.Item(id); ok { // it may be forgotten at once
			require.True(m.t, after.State == Cleared && !after.Blocking)
		}
	}
	if len(want) > 0 {
		require.NotEmpty(m.t, res.Successor, "new after the mark: %v", want)
	}
	if res.Successor != "" {
		require.NotContains(m.t, m.items, res.Successor, "an id is given once")
		m.items[id].split = true
		m.items[res.Successor] = &modelItem{split: true}
		m.order = append(m.order, res.Successor)
		next, ok := m.c.Item(res.Successor)
		require.True(m.t, ok)
		require.Equal(m.t, id, next.Predecessor)
		if after, ok := m.c.Item(id); ok {
			require.Equal(m.t, before.TotalUrgentEntries, next.TotalUrgentEntries+after.TotalUrgentEntries, "nothing is lost in a split")
		}
	}
	for _, covered := range res.Covered {
		if a, ok := m.c.Item(covered); ok {
			require.Equal(m.t, Cleared, a.State)
		}
		m.items[covered].split = true
	}
	// Covered items may have been split as well: their successors are new ids.
	for _, a := range m.c.OpenItems(nil) {
		if m.items[a.ID] == nil {
			m.items[a.ID] = &modelItem{split: true}
			m.order = append(m.order, a.ID)
		}
	}
}

// firstSeenAfter returns the entries of an item that are the first of a group
// that has none up to mark, when fewer than eight groups have one.
func (m *model) firstSeenAfter(id string, mark uint64) []modelEntry {
	type key struct {
		rule string
		sig  signature.Signature
	}
	seen := map[key]bool{}
	var after []modelEntry
	for _, e := range m.items[id].entries {
		k := key{e.rule, e.sig}
		if !seen[k] && e.seq > mark {
			after = append(after, e)
		}
		seen[k] = true
	}
	return after
}

func (m *model) drain() {
	seen := map[string]bool{}
	for _, u := range m.c.Updates(nil) {
		id := u.Attention.ID
		require.False(m.t, seen[id], "two updates of %s in one drain", id)
		seen[id] = true
		it := m.items[id]
		require.NotNil(m.t, it, id)
		require.False(m.t, it.cleared, "%s of %s after it was cleared", u.Kind, id)
		switch u.Kind {
		case Opened:
			require.False(m.t, it.opened, "%s opened twice", id)
			it.opened = true
		case Updated:
			require.True(m.t, it.opened, "%s updated before it was opened", id)
		case ClearedUpdate:
			it.cleared = true
			require.Equal(m.t, Cleared, u.Attention.State)
		}
		require.NotEmpty(m.t, u.Attention.Summary)
		require.NotEmpty(m.t, u.Attention.Sample)
		require.Less(m.t, u.Attention.DiagnosticsCursor, u.Attention.Cause.Seq)
	}
	require.Zero(m.t, m.c.Pending())
}

func (m *model) current() {
	a, ok := m.c.Current()
	open := m.c.OpenItems(nil)
	require.Equal(m.t, len(open) > 0, ok)
	for i := range open {
		require.True(m.t, a.Blocking || !open[i].Blocking, "advisory before blocking")
		if a.Blocking == open[i].Blocking {
			require.GreaterOrEqual(m.t, a.Severity, open[i].Severity)
		}
	}
}

// check compares every open item with all entries that were folded into it.
func (m *model) check() {
	s := m.c.Stats()
	require.NoError(m.t, s.Check())
	require.Equal(m.t, m.seq, s.Received)
	require.Equal(m.t, m.ignored, s.Ignored)
	require.Equal(m.t, m.folded, s.Folded)
	require.LessOrEqual(m.t, s.Open, m.c.cfg.MaxOpen)
	require.LessOrEqual(m.t, s.Open+s.Remembered, len(m.c.items))
	require.LessOrEqual(m.t, s.Operations, m.c.cfg.MaxOperations)
	for _, a := range m.c.OpenItems(nil) {
		it := m.items[a.ID]
		require.NotNil(m.t, it)
		if it.split {
			continue
		}
		require.Equal(m.t, uint64(len(it.entries)), a.TotalUrgentEntries)
		worst := it.entries[0]
		severity, invalidated := event.SeverityInfo, false
		for _, e := range it.entries {
			if e.disposition > worst.disposition {
				worst = e
			}
			severity = max(severity, e.severity)
			invalidated = invalidated || e.invalidates
		}
		require.Equal(m.t, worst.seq, a.Cause.Seq, "the cause is the first entry at the highest disposition")
		require.Equal(m.t, severity, a.Severity)
		require.Equal(m.t, invalidated, a.StateInvalidated)
		require.Equal(m.t, worst.disposition == event.Blocking, a.Blocking)
		require.Equal(m.t, it.entries[0].seq, a.OpenedAtSequence)
		require.Equal(m.t, it.entries[len(it.entries)-1].seq, a.LatestSequence)
	}
}

// TestUpdatesAreFew holds the number of updates to the formula that the
// documentation promises, for a consumer that drains after every entry.
func TestUpdatesAreFew(t *testing.T) {
	for _, tc := range []struct{ n, k int }{{1000, 1}, {100_000, 1}, {10_000, 100}, {100_000, 20}} {
		t.Run(fmt.Sprintf("%d entries of %d groups", tc.n, tc.k), func(t *testing.T) {
			c, err := New(Config{})
			require.NoError(t, err)
			updates := 0
			var dst []Update
			sigs := make([]signature.Signature, tc.k)
			for i := range sigs {
				sigs[i] = groupSignature(fmt.Sprint("group", i))
			}
			for i := range tc.n {
				e := event.Entry{Seq: uint64(i + 1), Message: "text"}
				c.Fold(&Input{
					Entry: &e, Signature: sigs[i%tc.k],
					Decision: event.Decision{Rule: "r", Disposition: event.Blocking, Severity: event.SeverityError},
				})
				dst = c.Updates(dst[:0])
				updates += len(dst)
			}
			limit := 6 + 3*log10(tc.n) + 3*log10(tc.k)
			require.LessOrEqual(t, float64(updates), limit)
		})
	}
}

func log10(n int) float64 {
	v := 0.0
	for ; n >= 10; n /= 10 {
		v++
	}
	return v
}

func TestFoldAllocatesNothing(t *testing.T) {
	c, err := New(Config{})
	require.NoError(t, err)
	e := event.Entry{Message: "text"}
	in := Input{Entry: &e, Decision: event.Decision{Rule: "r", Disposition: event.Blocking, Severity: event.SeverityError}}
	sigs := []signature.Signature{groupSignature("a"), groupSignature("b"), groupSignature("c")}
	i := 0
	step := func() {
		i++
		e.Seq = uint64(i)
		in.Signature = sigs[i%len(sigs)]
		c.Fold(&in)
	}
	for range 10 {
		step()
	}
	require.Zero(t, testing.AllocsPerRun(1000, step), "urgent")
	c.Ack("0-1", 0)
	require.Zero(t, testing.AllocsPerRun(1000, step), "acknowledged")
	in.Decision = event.Decision{}
	require.Zero(t, testing.AllocsPerRun(1000, step), "ignored")
}

func TestConfigValidate(t *testing.T) {
	for name, cfg := range map[string]Config{
		"MaxOpen":           {MaxOpen: -1},
		"MaxRemembered":     {MaxRemembered: -1},
		"MaxGroups":         {MaxGroups: -1},
		"MaxOperations":     {MaxOperations: -1},
		"MaxSamples":        {MaxSamples: -1},
		"MaxSampleText":     {MaxSampleText: -1},
		"MaxNamed":          {MaxNamed: -1},
		"Linger.Entries":    {Linger: Window{Entries: -1}},
		"AckMemory.Dur":     {AckMemory: Window{Duration: -1}},
		"Epoch":             {Epoch: "a b"},
		"OperationMax.Dura": {OperationMax: Window{Duration: -time.Second}},
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
	at := func(seq uint64, ms int) moment {
		if ms < 0 {
			return moment{seq: seq}
		}
		return moment{seq: seq, time: time.Unix(100, 0).Add(time.Duration(ms) * time.Millisecond)}
	}
	for _, tc := range []struct {
		since, now moment
		want       bool
	}{
		{at(1, 0), at(500, 99), false},
		{at(1, 0), at(2, 100), true},
		{at(1, -1), at(10, -1), false},
		{at(1, -1), at(11, -1), true},
		{at(1, -1), at(11, 0), true},
		{at(1, 0), at(10, -1), false},
		{at(1, 1000), at(2, 0), false},
	} {
		require.Equal(t, tc.want, w.passed(tc.since, tc.now), "%v %v", tc.since, tc.now)
	}
}
