package coalesce

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
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

	// escalated says that rule "r", and what the host raises, now blocks: a
	// rule's disposition may rise, and never falls.
	escalated bool

	items map[string]*modelItem
	order []string
}

type modelItem struct {
	entries   []modelEntry      // that it holds, of those that came while it was open
	delivered map[string]uint64 // for each consumer, up to which it saw the item
	resolved  map[string]bool   // rules
	since     map[string]uint64 // when they were resolved last
	opened    bool              // an update said so
	cleared   bool              // an update said so
	loose     bool              // an entry has no counter: a split is a guess
	parted    bool              // by an acknowledgement, which may leave an early cause
}

type modelEntry struct {
	seq uint64
	event.Decision
	sig     signature.Signature
	variant string

	returned bool // after its rule was resolved, which was in the item
}

type modelGroup struct {
	rule    string
	sig     signature.Signature
	variant string
}

func (e *modelEntry) group() modelGroup { return modelGroup{e.Rule, e.sig, e.variant} }

// whole returns the group with all its variants.
func (g modelGroup) whole() modelGroup { return modelGroup{g.rule, g.sig, ""} }

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
		m := &model{t: t, c: c, blind: map[string]bool{}, items: map[string]*modelItem{}}
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
	for _, it := range m.items {
		it.resolved[rule], it.since[rule] = true, m.seq
	}
}

func (m *model) goBlind(*rapid.T) {
	m.blind["blinds"] = true
	m.fold(event.Entry{}, Input{
		Begins: true, Signature: groupSignature("blinds"),
		Decision: event.Decision{Rule: "blinds", Disposition: event.Blocking, Severity: event.SeverityWarning},
	})
}

// item returns what the model knows of an item, made where it is new.
func (m *model) item(id string) (it *modelItem, known bool) {
	if it = m.items[id]; it != nil {
		return it, true
	}
	it = &modelItem{resolved: map[string]bool{}, since: map[string]uint64{}, delivered: map[string]uint64{}}
	m.items[id] = it
	m.order = append(m.order, id)
	return it, false
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
	it, known := m.item(f.ID)
	require.True(m.t, known || f.NewGroup && f.NewCause, "the first entry of an item is its cause")
	if a, ok := m.c.Item(f.ID); ok && a.State == Open {
		entry := modelEntry{seq: e.Seq, Decision: in.Decision, sig: in.Signature, variant: in.Variant}
		for i := range it.entries {
			if old := &it.entries[i]; old.group() == entry.group() {
				entry.returned = old.seq < it.since[old.Rule]
			}
		}
		it.entries = append(it.entries, entry)
		it.resolved[in.Decision.Rule] = false
		it.loose = it.loose || m.c.lookup(f.ID).Untracked > 0
	} else {
		require.False(m.t, f.NewGroup || f.NewCause, "absorbed")
	}
}

func (m *model) ack(t *rapid.T) {
	if len(m.order) == 0 {
		return
	}
	id := rapid.SampledFrom(m.order[max(0, len(m.order)-6):]).Draw(t, "id")
	it := m.items[id]
	by := rapid.SampledFrom(modelConsumers).Draw(t, "by")
	through, watermark := uint64(0), it.delivered[by]
	if rapid.Bool().Draw(t, "explicit") {
		through = uint64(rapid.IntRange(1, int(m.seq)).Draw(t, "upto"))
		watermark = through
	}
	before, held := m.c.Item(id)
	open := openItems(m.c)
	m.c.Retention(nil)
	res := m.c.Ack(by, id, through)
	require.Equal(m.t, held, res.Acknowledged)
	require.Equal(m.t, held && before.State == Cleared, res.Already)
	if !held || before.State == Cleared {
		require.Empty(m.t, res.Successor)
		require.Empty(m.t, res.Covered)
	} else {
		m.split(id, res.Successor, max(watermark, before.OpenedAtSequence))
	}
	for _, covered := range res.Covered {
		// How far it was shown when it was named, the model does not know.
		if a, ok := m.c.Item(covered); ok {
			require.Equal(m.t, Cleared, a.State)
		}
		m.items[covered].loose = true
	}
	for _, a := range openItems(m.c) {
		if next, known := m.item(a.ID); !known {
			next.loose = true
			require.Contains(m.t, res.Covered, a.Predecessor)
		}
	}
	m.delivered(by, res.Current, res.Open)
	still := 0
	for _, a := range open {
		if b, ok := m.c.Item(a.ID); ok && b.State == Open {
			still++
		}
	}
	if held && before.State == Open {
		require.Equal(m.t, len(open)-1-len(res.Covered), still, "nothing else is cleared")
	}
}

// split moves to the successor of an acknowledged item what was not shown, and
// compares.
func (m *model) split(id, successor string, watermark uint64) {
	it := m.items[id]
	after, remembered := m.c.Item(id)
	// With room for few, the successors of covered items may displace it at once.
	require.True(m.t, !remembered || after.State == Cleared && !after.Blocking && after.ClearedBy == ReasonAcknowledged)
	if it.loose {
		if successor != "" {
			next, known := m.item(successor)
			require.False(m.t, known, "an id is given once")
			next.loose = true
		}
		return
	}
	left, moved := it.part(watermark)
	it.entries, it.parted = left, it.parted || successor != ""
	if remembered {
		m.agree(&after, it)
	}
	require.Equal(m.t, len(moved) > 0, successor != "", "%d unseen", len(moved))
	if successor == "" {
		return
	}
	next, known := m.item(successor)
	require.False(m.t, known, "an id is given once")
	next.entries, next.parted, next.since = moved, true, maps.Clone(it.since)
	if a, ok := m.c.Item(successor); ok {
		require.Equal(m.t, id, a.Predecessor)
		m.agree(&a, next)
	}
	retention := m.c.Retention(nil)
	pin := slices.IndexFunc(retention, func(r Retention) bool { return r.Pin != 0 })
	require.GreaterOrEqual(m.t, pin, 0)
	require.LessOrEqual(m.t, retention[pin].Pin, worst(moved).seq)
	require.Equal(m.t, successor, m.c.id(retention[pin].Owner))
}

// part returns the entries of an item that an acknowledger who was shown it up
// to watermark has seen, or need not see, and the others.
func (it *modelItem) part(watermark uint64) (left, moved []modelEntry) {
	raised := map[modelGroup]uint64{} // where a group began, or became worse last
	groups := map[modelGroup]*event.Decision{}
	first := map[modelGroup]uint64{}
	for i := range it.entries {
		e := &it.entries[i]
		g := e.group()
		d := groups[g]
		if d == nil {
			d = &event.Decision{}
			groups[g], first[g], raised[g] = d, e.seq, e.seq
		}
		if e.returned || e.Disposition > d.Disposition || e.Severity > d.Severity || e.Invalidates && !d.Invalidates {
			raised[g] = e.seq
		}
		d.Disposition, d.Severity = max(d.Disposition, e.Disposition), max(d.Severity, e.Severity)
		d.Invalidates = d.Invalidates || e.Invalidates
	}
	from := map[modelGroup]uint64{} // sequence number from which a group is unseen
	for g := range groups {
		switch {
		case it.resolved[g.rule]:
		case first[g] > watermark:
			from[g] = first[g]
		case raised[g] > watermark:
			from[g] = raised[g]
		}
	}
	for _, e := range it.entries {
		if f := from[e.group()]; f != 0 && e.seq >= f {
			moved = append(moved, e)
		} else {
			left = append(left, e)
		}
	}
	return left, moved
}

// agree compares an item with the entries that it holds.
func (m *model) agree(a *Item, it *modelItem) {
	m.t.Helper()
	worst := worst(it.entries)
	severity := event.SeverityInfo
	groups := map[modelGroup]bool{}
	for _, e := range it.entries {
		severity = max(severity, e.Severity)
		groups[e.group().whole()] = true
	}
	require.Equal(m.t, uint64(len(it.entries)), a.TotalUrgentEntries)
	require.True(m.t, a.Groups == len(groups) || a.Groups < len(groups) && !a.GroupsExact)
	require.Equal(m.t, it.entries[0].seq, a.OpenedAtSequence)
	require.Equal(m.t, it.entries[0].seq, a.OpenedPos)
	require.Equal(m.t, worst.Disposition, a.Disposition)
	held := m.c.lookup(a.ID).State == itemDeferred
	require.Equal(m.t, worst.Disposition == event.Blocking && a.State == Open && !held, a.Blocking)
	phase := phaseOf(worst.seq)
	want := CauseEntry{
		Seq: worst.seq, Pos: worst.seq, Rule: worst.Rule, Signature: worst.sig, ID: worst.sig.ID, Phase: phase,
	}
	if it.parted {
		require.True(m.t, slices.ContainsFunc(it.entries, func(e modelEntry) bool { return e.seq == a.Cause.Seq }))
	} else {
		require.Equal(m.t, want, a.Cause, "the cause is the first entry at the highest disposition")
	}
	require.Equal(m.t, a.Cause.Seq-1, a.DiagnosticsCursor)
	require.GreaterOrEqual(m.t, a.Severity, severity, "what is moved from a turn on may be counted as severe as its group")
	require.Equal(m.t, a.Rule, a.Sample[0].Rule, "the dominant member comes first")
	require.True(m.t, m.c.cfg.MaxSamples == 1 ||
		slices.ContainsFunc(a.Sample, func(s Sample) bool { return s.Rule == a.Cause.Rule }),
		"the cause is among the samples")
	require.LessOrEqual(m.t, len(a.Sample), m.c.cfg.MaxSamples)
}

// worst returns the first entry at the highest disposition.
func worst(entries []modelEntry) modelEntry {
	w := entries[0]
	for _, e := range entries {
		if e.Disposition > w.Disposition {
			w = e
		}
	}
	return w
}

func (m *model) delivered(consumer string, a Item, ok bool) {
	if !ok {
		return
	}
	it, _ := m.item(a.ID)
	it.delivered[consumer] = a.LatestSequence
	// So are the others that it names, as many as Config.MaxNamed.
	for i, other := range openItems(m.c) {
		if i > 0 && i <= m.c.cfg.MaxNamed {
			named, _ := m.item(other.ID)
			named.delivered[consumer] = other.LatestSequence
			require.Contains(m.t, a.Summary, other.ID+" ("+other.Disposition.String())
		}
	}
}

func (m *model) drain() {
	seen := map[string]bool{}
	for _, u := range updates(m.c) {
		id := u.Item.ID
		require.False(m.t, seen[id], "two updates of %s in one drain", id)
		seen[id] = true
		it := m.items[id]
		require.NotNil(m.t, it, id)
		again := m.c.stats.Reopened > 0
		require.True(m.t, again || !it.cleared, "%s of %s after it was cleared", u.Kind, id)
		it.cleared = false
		it.delivered[""] = u.Item.LatestSequence
		switch u.Kind {
		case Opened:
			require.True(m.t, again || !it.opened, "%s opened twice", id)
			it.opened = true
		case Updated:
			require.True(m.t, it.opened, "%s updated before it was opened", id)
		case Cleared:
			it.cleared = true
			require.Equal(m.t, Cleared, u.Item.State)
			require.Equal(m.t, u.Reason, u.Item.ClearedBy)
		}
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
	if len(m.order) == 0 {
		return
	}
	id := rapid.SampledFrom(m.order[max(0, len(m.order)-6):]).Draw(t, "id")
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
	digest, known := m.item(f.ID)
	require.False(m.t, known)
	digest.loose = true // its cursor goes back to what it stands for
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
	m.delivered(by, a, ok)
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
	for _, a := range openItems(m.c) {
		it, _ := m.item(a.ID)
		if it.loose {
			continue
		}
		m.agree(&a, it)
		require.Equal(m.t, it.entries[len(it.entries)-1].seq, a.LatestSequence)
		require.Equal(m.t, m.seqInvalid(it), a.StateInvalidated)
	}
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

func (m *model) seqInvalid(it *modelItem) bool {
	return slices.ContainsFunc(it.entries, func(e modelEntry) bool { return e.Invalidates })
}
