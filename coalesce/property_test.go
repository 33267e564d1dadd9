package coalesce

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
)

// model drives a coalescer at random and checks its structure, its snapshot and its counts after each step. The simulator
// of internal/sim compares each item with all entries.
type model struct {
	t *rapid.T
	c *Coalescer

	seq     uint64
	now     time.Time
	blind   map[string]bool
	ignored uint64
	folded  uint64

	// escalated says that rule "r", and what the host raises, now blocks: a
	// rule's disposition may rise, and never falls.
	escalated bool

	given []string // ids
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := func(label string) int { return rapid.IntRange(1, 4).Draw(t, label) }
		cfg := Config{
			Epoch: "e", MaxOpen: small("open"), MaxRemembered: small("remembered"),
			MaxGroups:     rapid.SampledFrom([]int{1, 3, 30}).Draw(t, "groups"),
			MaxOperations: small("operations"), MaxSamples: small("samples"), MaxNamed: small("named"), MaxSkew: 3 * time.Second,
			Linger: Window{time.Second, 3}, AmbientQuiet: Window{2 * time.Second, 6}, AckMemory: Window{5 * time.Second, 20},
			AdvisoryTTL: Window{4 * time.Second, 12}, OperationMax: Window{6 * time.Second, 25},
			QuietTime: Window{time.Second, 2},
		}
		c, err := New(cfg)
		require.NoError(t, err)
		m := &model{t: t, c: c, blind: map[string]bool{}}
		if rapid.Bool().Draw(t, "clock") {
			m.now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		t.Repeat(map[string]func(*rapid.T){
			"urgent":   m.urgent,
			"urgent2":  m.urgent,
			"urgent3":  m.urgent,
			"noise":    func(*rapid.T) { m.fold(event.Entry{Message: "noise"}, Input{}) },
			"event":    m.event,
			"event2":   m.event,
			"ack":      m.ack,
			"drain":    func(*rapid.T) { m.drain() },
			"current":  m.current,
			"raise":    m.raise,
			"withdraw": m.withdraw,
			"attach":   m.attach,
			"loads":    func(*rapid.T) { m.fold(event.Entry{}, Input{NewPhase: true, Fresh: true}) },
			"time":     m.passTime,
			"resolve":  m.resolve,
			"escalate": func(*rapid.T) { m.escalated = true },
			"blind":    m.goBlind,
			"newphase": func(*rapid.T) { m.fold(event.Entry{Kind: event.KindState}, Input{NewPhase: true}) },
			"":         func(*rapid.T) { m.check() },
		})
	})
}

func (m *model) urgent(t *rapid.T) {
	d := event.Decision{
		Rule: rapid.SampledFrom([]string{"r", "s", "w"}).Draw(t, "rule"),
		Severity: rapid.SampledFrom([]event.Severity{event.SeverityInfo, event.SeverityWarning, event.SeverityError}).Draw(t,
			"severity"),
	}
	switch d.Rule {
	case "s":
		d.Disposition, d.Invalidates = event.Blocking, true
	case "w":
		d.Disposition = event.Advisory
	default:
		d.Disposition = event.Advisory
		if m.escalated {
			d.Disposition = event.Blocking
		}
	}
	sig := groupSignature(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(t, "group"))
	m.fold(event.Entry{Message: "text", OperationID: rapid.SampledFrom([]string{"", "", "x", "y", "z"}).Draw(t,
		"operation")}, Input{
		Signature: sig, Decision: d,
		Variant: rapid.SampledFrom([]string{"", "", "open", "shut"}).Draw(t, "variant"),
	})
}

func (m *model) event(t *rapid.T) {
	status := rapid.SampledFrom([]event.Status{
		event.StatusStarted, event.StatusCompleted, event.StatusFailed,
		event.StatusTimedOut,
	}).Draw(t, "status")
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
	m.now = m.now.Add(time.Duration(rapid.IntRange(-5000, 7000).Draw(t, "ms")) * time.Millisecond)
	if rapid.Bool().Draw(t, "advance") {
		m.c.Advance(m.now)
	}
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

// phaseOf returns the phase of the entry with a number.
func phaseOf(seq uint64) string { return fmt.Sprint("phase ", seq/8) }

func (m *model) fold(e event.Entry, in Input) {
	m.seq++
	e.Seq, e.Pos, e.Time = m.seq, m.seq, m.now
	in.Entry, in.Blind, in.Phase = &e, len(m.blind) > 0, phaseOf(m.seq)
	f := m.c.Fold(&in)
	if !in.Decision.Disposition.Urgent() {
		m.ignored++
		require.Empty(m.t, f.ID)
		return
	}
	m.folded++
	require.NotEmpty(m.t, f.ID)
	known := slices.Contains(m.given, f.ID)
	require.True(m.t, known || f.NewGroup && f.NewCause, "the first entry of an item is its cause")
	if !known {
		m.given = append(m.given, f.ID)
	}
	a, ok := m.c.Item(f.ID)
	require.True(m.t, ok && a.State == Open || !f.NewGroup && !f.NewCause, "absorbed")
}

func (m *model) ack(t *rapid.T) {
	if len(m.given) == 0 {
		return
	}
	id := rapid.SampledFrom(m.given[max(0, len(m.given)-6):]).Draw(t, "id")
	through := uint64(rapid.IntRange(0, int(m.seq)).Draw(t, "upto"))
	open := openItems(m.c)
	before, held := m.c.Item(id)
	res := m.c.Ack(rapid.SampledFrom(modelConsumers).Draw(t, "by"), id, through)
	require.Equal(m.t, held, res.Acknowledged)
	require.Equal(m.t, held && before.State == Cleared, res.Already)
	cleared := 0
	for _, a := range open {
		if b, ok := m.c.Item(a.ID); !ok || b.State != Open {
			cleared++
		}
	}
	if held && before.State == Open {
		cleared--
	}
	require.Len(m.t, res.Covered, cleared, "nothing else is cleared")
	for _, a := range openItems(m.c) {
		if !slices.Contains(m.given, a.ID) {
			require.Contains(m.t, append(res.Covered, id), a.Predecessor)
			m.given = append(m.given, a.ID)
		}
	}
}

func (m *model) drain() {
	seen := map[string]bool{}
	for _, u := range updates(m.c) {
		require.False(m.t, seen[u.Item.ID], "two updates of %s in one drain", u.Item.ID)
		seen[u.Item.ID] = true
		require.Contains(m.t, m.given, u.Item.ID)
		require.Equal(m.t, u.Kind == Cleared, u.Item.State == Cleared)
		checkWire(m.t, &u.Item)
		require.NotEmpty(m.t, u.Reason)
		require.LessOrEqual(m.t, u.Seq, m.seq)
	}
	require.Zero(m.t, m.c.Pending())
}

// modelConsumers are fewer than a coalescer knows, so that none is evicted.
var modelConsumers = []string{"", "", "ann", "bob"}

// raise lets the host open an item, or go on with it.
func (m *model) raise(t *rapid.T) {
	key := rapid.SampledFrom([]string{"k", "l"}).Draw(t, "key")
	d := event.Decision{Rule: "host." + key, Disposition: event.Advisory}
	if m.escalated {
		d.Disposition, d.Invalidates = event.Blocking, true
	}
	m.fold(event.Entry{Kind: event.KindHost, Status: event.StatusRaised},
		Input{Raised: key, Signature: groupSignature(key), Decision: d})
}

func (m *model) withdraw(t *rapid.T) {
	if len(m.given) == 0 {
		return
	}
	id := rapid.SampledFrom(m.given[max(0, len(m.given)-6):]).Draw(t, "id")
	before, ok := m.c.Item(id)
	require.Equal(m.t, ok && before.State == Open, m.c.Withdraw(id))
	if after, held := m.c.Item(id); held {
		require.Equal(m.t, Cleared, after.State)
	}
}

// attach lets an agent come, or leave. What it gets as one digest is what was
// open, but for what still holds.
func (m *model) attach(t *rapid.T) {
	who := rapid.SampledFrom(modelConsumers[1:]).Draw(t, "who")
	if rapid.Bool().Draw(t, "leaves") {
		m.c.Detach(who)
		return
	}
	before := openItems(m.c)
	past := len(m.c.before(who))
	m.seq++
	e := event.Entry{Kind: event.KindHost, Status: event.StatusAttached, Seq: m.seq, Pos: m.seq, Time: m.now}
	in := Input{Entry: &e, Blind: len(m.blind) > 0, Decision: m.c.Arrival(who)}
	f := m.c.Attach(who, &in)
	if past == 0 {
		m.ignored++
		require.Empty(m.t, f.ID)
		return
	}
	m.folded++
	require.NotContains(m.t, m.given, f.ID)
	m.given = append(m.given, f.ID)
	attached := 0
	for _, a := range before {
		if after, ok := m.c.Item(a.ID); !ok || after.ClearedBy == reasonAttached {
			attached++
		} else if after.State == Open {
			// Where bursts crowd, one may share the item of what stands.
			require.True(m.t, m.c.stats.Overflowed > 0 || a.StateInvalidated || m.c.stats.Blind ||
				a.Blocking && m.c.lookup(a.ID).Delivered[m.c.consumer(who)] > 0 ||
				strings.HasPrefix(a.Cause.Rule, "host."), "%+v", a)
		}
	}
	require.GreaterOrEqual(m.t, attached, past)
	require.Len(m.t, m.c.before(who), 1, "nothing but the digest")
}

func (m *model) current(t *rapid.T) {
	by := rapid.SampledFrom(modelConsumers).Draw(t, "by")
	a, ok := m.c.Current(by)
	open := openItems(m.c)
	require.Equal(m.t, len(open) > 0, ok)
	for i := range open {
		require.True(m.t, a.Blocking || !open[i].Blocking, "advisory before blocking")
		past := func(a *Item) bool { return a.Blocking && m.c.lookup(a.ID).State == itemPast }
		if a.Blocking == open[i].Blocking && past(&a) == past(&open[i]) {
			require.LessOrEqual(m.t, a.Members[0].Compare(&open[i].Members[0]), 0)
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
	checkStructure(m.t, m.c)
	checkSnapshot(m.t, m.c)
	for i := range m.c.items {
		it := &m.c.items[i]
		unused := slices.ContainsFunc(it.Counters.Rows[len(it.Counters.Rows):cap(it.Counters.Rows)],
			func(c counter) bool { return !reflect.ValueOf(c).IsZero() }) ||
			slices.ContainsFunc(it.Rules[len(it.Rules):cap(it.Rules)], func(r ruleCount) bool { return r != ruleCount{} })
		require.False(m.t, unused, "what is not used keeps nothing alive")
	}
}
