package coalesce

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
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
	opened    bool              // an update said so
	cleared   bool              // an update said so
	loose     bool              // an entry has no counter: a split is a guess
}

type modelEntry struct {
	seq uint64
	event.Decision
	sig signature.Signature
}

type modelGroup struct {
	rule string
	sig  signature.Signature
}

func (e *modelEntry) group() modelGroup { return modelGroup{e.Rule, e.sig} }

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := func(label string) int { return rapid.IntRange(1, 4).Draw(t, label) }
		cfg := Config{
			Epoch: "e", MaxOpen: small("open"), MaxRemembered: small("remembered"),
			MaxGroups:     rapid.SampledFrom([]int{1, 3, 30}).Draw(t, "groups"),
			MaxOperations: small("operations"), MaxSamples: small("samples"), MaxNamed: small("named"), MaxSkew: 3 * time.Second,
			Linger: Window{time.Second, 3}, AmbientQuiet: Window{2 * time.Second, 6}, AckMemory: Window{5 * time.Second, 20},
			AdvisoryTTL: Window{4 * time.Second, 12}, OperationMax: Window{6 * time.Second, 25},
			RateWindow: Window{time.Second, 5},
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
		"operation")}, Input{Signature: sig, Decision: d})
}

func (m *model) event(t *rapid.T) {
	status := rapid.SampledFrom([]event.Status{event.StatusStarted, event.StatusCompleted, event.StatusFailed,
		event.StatusTimedOut}).Draw(t, "status")
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
		it.resolved[rule] = true
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
	it = &modelItem{resolved: map[string]bool{}, delivered: map[string]uint64{}}
	m.items[id] = it
	m.order = append(m.order, id)
	return it, false
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
	it, known := m.item(f.ID)
	require.True(m.t, known || f.NewGroup && f.NewCause, "the first entry of an item is its cause")
	if a, ok := m.c.Item(f.ID); ok && a.State == Open {
		it.entries = append(it.entries, modelEntry{e.Seq, in.Decision, in.Signature})
		it.resolved[in.Decision.Rule] = false
		it.loose = it.loose || !a.GroupsExact
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
	by := rapid.SampledFrom(modelViewers).Draw(t, "by")
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
	it.entries = left
	if remembered {
		m.agree(&after, it)
	}
	require.Equal(m.t, len(moved) > 0, successor != "", "%d unseen", len(moved))
	if successor == "" {
		return
	}
	next, known := m.item(successor)
	require.False(m.t, known, "an id is given once")
	next.entries = moved
	if a, ok := m.c.Item(successor); ok {
		require.Equal(m.t, id, a.Predecessor)
		m.agree(&a, next)
	}
	retention := m.c.Retention(nil)
	pin := slices.IndexFunc(retention, func(r Retention) bool { return r.Pin != 0 })
	require.GreaterOrEqual(m.t, pin, 0)
	require.Equal(m.t, worst(moved).seq, retention[pin].Pin)
	require.Equal(m.t, successor, m.c.id(retention[pin].Owner))
}

// part returns the entries of an item that an acknowledger who was shown it up
// to watermark has seen, or need not see, and the others.
func (it *modelItem) part(watermark uint64) (left, moved []modelEntry) {
	var d event.Decision // of the item
	var gravest, severest, invalid uint64
	first := map[modelGroup]uint64{}
	firstOfRule := map[string]uint64{}
	groups := map[modelGroup]*event.Decision{}
	worst, raised := map[modelGroup]uint64{}, map[modelGroup]uint64{}
	rise := func(d *event.Decision, e *modelEntry, gravest, severest, invalid *uint64) bool {
		a, b, c := e.Disposition > d.Disposition, e.Severity > d.Severity, e.Invalidates && !d.Invalidates
		if a {
			d.Disposition, *gravest = e.Disposition, e.seq
		}
		if b {
			d.Severity, *severest = e.Severity, e.seq
		}
		if c {
			d.Invalidates, *invalid = true, e.seq
		}
		return a || b || c
	}
	for i := range it.entries {
		e := &it.entries[i]
		rise(&d, e, &gravest, &severest, &invalid)
		g := e.group()
		if groups[g] == nil {
			groups[g], first[g] = &event.Decision{}, e.seq
			if firstOfRule[e.Rule] == 0 {
				firstOfRule[e.Rule] = e.seq
			}
		}
		var ignored, w uint64
		if rise(groups[g], e, &w, &ignored, &ignored) || first[g] == e.seq {
			raised[g] = e.seq
		}
		if w != 0 {
			worst[g] = w
		}
	}
	seen := 0
	for g := range groups {
		if first[g] <= watermark {
			seen++
		}
	}
	from := map[modelGroup]uint64{} // sequence number from which a group is unseen
	for g, gd := range groups {
		switch {
		case it.resolved[g.rule]:
		case first[g] > watermark && (seen < familiarGroups || firstOfRule[g.rule] > watermark):
			from[g] = first[g]
		case gravest > watermark && gd.Disposition == d.Disposition:
			from[g] = worst[g]
		case severest > watermark && gd.Severity == d.Severity, invalid > watermark && gd.Invalidates:
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
func (m *model) agree(a *Attention, it *modelItem) {
	m.t.Helper()
	worst := worst(it.entries)
	severity := event.SeverityInfo
	groups := map[modelGroup]bool{}
	for _, e := range it.entries {
		severity = max(severity, e.Severity)
		groups[e.group()] = true
	}
	require.Equal(m.t, uint64(len(it.entries)), a.TotalUrgentEntries)
	require.Equal(m.t, len(groups), a.Groups)
	require.Equal(m.t, it.entries[0].seq, a.OpenedAtSequence)
	require.Equal(m.t, it.entries[0].seq, a.OpenedPos)
	require.Equal(m.t, worst.Disposition, a.Disposition)
	require.Equal(m.t, worst.Disposition == event.Blocking && a.State == Open, a.Blocking)
	require.Equal(m.t, Cause{Seq: worst.seq, Pos: worst.seq, Rule: worst.Rule, Signature: worst.sig}, a.Cause,
		"the cause is the first entry at the highest disposition")
	require.Equal(m.t, a.Cause.Seq-1, a.DiagnosticsCursor)
	require.GreaterOrEqual(m.t, a.Severity, severity, "what is moved from a turn on may be counted as severe as its group")
	require.Equal(m.t, worst.Rule, a.Sample[0].Rule, "the cause is among the samples")
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

func (m *model) delivered(consumer string, a Attention, ok bool) {
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
		id := u.Attention.ID
		require.False(m.t, seen[id], "two updates of %s in one drain", id)
		seen[id] = true
		it := m.items[id]
		require.NotNil(m.t, it, id)
		require.False(m.t, it.cleared, "%s of %s after it was cleared", u.Kind, id)
		it.delivered[""] = u.Attention.LatestSequence
		switch u.Kind {
		case Opened:
			require.False(m.t, it.opened, "%s opened twice", id)
			it.opened = true
		case Updated:
			require.True(m.t, it.opened, "%s updated before it was opened", id)
		case Cleared:
			it.cleared = true
			require.Equal(m.t, Cleared, u.Attention.State)
			require.Equal(m.t, u.Reason, u.Attention.ClearedBy)
		}
		checkWire(m.t, &u.Attention)
		require.NotEmpty(m.t, u.Reason)
		require.LessOrEqual(m.t, u.Seq, m.seq)
	}
	require.Zero(m.t, m.c.Pending())
}

// modelViewers are fewer than a coalescer knows, so that none is displaced.
var modelViewers = []string{"", "", "ann", "bob"}

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
	who := rapid.SampledFrom(modelViewers[1:]).Draw(t, "who")
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
			require.True(m.t, m.c.stats.Overflowed > 0 || a.StateInvalidated || m.c.blind ||
				strings.HasPrefix(a.Cause.Rule, "host."), "%+v", a)
		}
	}
	require.GreaterOrEqual(m.t, attached, past)
	require.Len(m.t, m.c.before(who), 1, "nothing but the digest")
}

func (m *model) current(t *rapid.T) {
	by := rapid.SampledFrom(modelViewers).Draw(t, "by")
	a, ok := m.c.Current(by)
	open := openItems(m.c)
	require.Equal(m.t, len(open) > 0, ok)
	for i := range open {
		require.True(m.t, a.Blocking || !open[i].Blocking, "advisory before blocking")
		if a.Blocking == open[i].Blocking {
			require.GreaterOrEqual(m.t, a.Severity, open[i].Severity)
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
		unused := slices.ContainsFunc(it.counters.rows[len(it.counters.rows):cap(it.counters.rows)],
			func(c counter) bool { return c != counter{} }) ||
			slices.ContainsFunc(it.rules[len(it.rules):cap(it.rules)], func(r ruleCount) bool { return r != ruleCount{} })
		require.False(m.t, unused, "what is not used keeps nothing alive")
	}
}

func (m *model) seqInvalid(it *modelItem) bool {
	return slices.ContainsFunc(it.entries, func(e modelEntry) bool { return e.Invalidates })
}

// openItems returns all open items.
func openItems(c *Coalescer) []Attention {
	var all []Attention
	for _, id := range c.OpenIDs(nil) {
		a, _ := c.Item(id)
		all = append(all, a)
	}
	return all
}

// updates drains all pending updates.
func updates(c *Coalescer) []Update {
	var all []Update
	for u, ok := c.NextUpdate(); ok; u, ok = c.NextUpdate() {
		all = append(all, u)
	}
	return all
}

// checkIndex compares the index with the items.
func checkIndex(t require.TestingT, c *Coalescer) {
	groups, rules := map[uint32]uint64{}, map[uint32]uint64{}
	for i := range c.items {
		it := &c.items[i]
		for k := range it.counters.rows {
			row := &it.counters.rows[k]
			ref := it.counters.base + uint32(k)
			require.Same(t, &c.index.rows[ref], row)
			groups[ref] = uint64(row.sig.ID)
		}
		require.False(t, it.familiar && !it.acked)
		if it.acked && len(it.counters.rows) >= familiarGroups {
			require.True(t, it.familiar)
		}
		for k := range it.rules {
			if it.familiar {
				rules[uint32(1+i*maxRules+k)] = xxhash.Sum64String(it.rules[k].rule)
			}
		}
	}
	same := func(want map[uint32]uint64, table *chains) {
		n := 0
		for list, ref := range table.heads {
			for ; ref != 0; ref = table.next[ref] {
				hash, ok := want[ref]
				require.True(t, ok && hash&uint64(len(table.heads)-1) == uint64(list))
				n++
			}
		}
		require.Equal(t, len(want), n)
	}
	same(groups, &c.index.groups)
	same(rules, &c.index.rules)
}

// checkStructure checks what always holds inside a coalescer.
func checkStructure(t require.TestingT, c *Coalescer) {
	open := 0
	numbers := map[uint64]bool{}
	queued := map[*item]bool{}
	for _, it := range c.queue {
		require.False(t, queued[it], "queued twice")
		queued[it] = true
	}
	for i := range c.items {
		it := &c.items[i]
		require.Equal(t, it.pending != "", queued[it])
		if it.state == itemFree {
			require.Zero(t, it.number)
			require.Zero(t, it.total)
			require.Empty(t, it.counters.rows)
			continue
		}
		require.NotNil(t, it.counters.find(it.cause.Rule, it.cause.Signature), "a merge looks for a cause where its group is")
		require.False(t, numbers[it.number])
		numbers[it.number] = true
		require.Equal(t, c.id(it.number), it.id)
		require.Equal(t, it.scope == scopeOperation, it.root != nil)
		if it.open() {
			open++
			require.False(t, it.acked)
			require.Empty(t, it.clearedBy)
		}
		sum := it.untracked
		for n := range it.counters.rows {
			row := it.counters.rows[n]
			sum += row.count
			require.NotZero(t, row.count)
			it.counters.last = 1 << 20 // so that the index is asked
			require.Same(t, &it.counters.rows[n], it.counters.find(row.rule, row.sig))
			if it.open() {
				require.LessOrEqual(t, row.severity, it.severity)
				require.LessOrEqual(t, row.disposition, it.disposition)
				require.True(t, it.invalidates || !row.invalidates)
				if row.calm == c.version {
					require.True(t, it.unmoved(&event.Decision{Rule: row.rule, Disposition: row.disposition, Severity: row.severity,
						Invalidates: row.invalidates}))
				}
				require.True(t, row.first.seq <= row.worst.seq && row.worst.seq <= row.raised.seq && row.raised.seq <= row.last.seq)
			}
		}
		require.Equal(t, it.total, sum, "every entry is in one group or untracked")
		if it.open() && it.disposition == event.Advisory {
			require.False(t, c.cfg.AdvisoryTTL.passed(it.alive, c.now), "expired")
			soonest := alarm{}
			soonest.add(&c.cfg.AdvisoryTTL, it.alive, c.now)
			requireNotLater(t, c.expiry, soonest)
		}
	}
	checkIndex(t, c)
	require.Equal(t, open, c.nOpen)
	require.False(t, c.expiry.due(c.now), "an alarm that stays due would sweep at each entry")
	require.False(t, c.abandon.due(c.now))
	gathers := func(it *item) { require.True(t, it == nil || it.open()) }
	gathers(c.episode.item)
	gathers(c.blindly)
	if c.suppressor != nil {
		require.True(t, c.suppressor.state == itemCleared && c.suppressor.acked)
	}
	require.Len(t, c.ops.byID, len(c.ops.order))
	for _, o := range c.ops.order {
		require.Same(t, o, c.ops.byID[o.id])
		require.False(t, o.gone)
		gathers(o.openItem)
		if o.running() {
			require.False(t, c.cfg.OperationMax.passed(o.started, c.now), "given up")
			soonest := alarm{}
			soonest.add(&c.cfg.OperationMax, o.started, c.now)
			requireNotLater(t, c.abandon, soonest)
		}
		root := c.ops.root(o)
		require.True(t, root.parent == "" || c.ops.get(root.parent) == nil, "no loops")
		require.True(t, o == root || o.openItem == nil || c.nOpen == c.cfg.MaxOpen, "only roots gather")
	}
	cached := c.onlyRoot()
	c.only.valid = false
	require.Same(t, cached, c.onlyRoot(), "the inference is up to date")
}

// requireNotLater checks that alarm a goes off when b does, or earlier.
func requireNotLater(t require.TestingT, a, b alarm) {
	if b.seq != 0 {
		require.True(t, a.seq != 0 && a.seq <= b.seq, "%v is later than %v", a, b)
	}
	if b.generation != 0 {
		require.True(t, a.generation == b.generation && a.at <= b.at, "%v is later than %v", a, b)
	}
}

// TestUpdatesAreFew holds the number of updates to the formula that the
// documentation promises, for a consumer that drains after every entry.
func TestUpdatesAreFew(t *testing.T) {
	for _, tc := range []struct{ n, k int }{{1000, 1}, {100_000, 1}, {10_000, 100}, {100_000, 20}} {
		t.Run(fmt.Sprintf("%d entries of %d groups", tc.n, tc.k), func(t *testing.T) {
			c, err := New(Config{})
			require.NoError(t, err)
			changes := 0
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
				changes += len(updates(c))
			}
			limit := 6 + 3*log10(tc.n) + 3*log10(tc.k)
			require.LessOrEqual(t, float64(changes), limit)
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
	for _, clock := range []bool{false, true} {
		c, err := New(Config{})
		require.NoError(t, err)
		e := event.Entry{Message: "text"}
		in := Input{Entry: &e, Decision: event.Decision{Rule: "r", Disposition: event.Blocking,
			Severity: event.SeverityError}}
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

// TestManyRules folds more rules into an item than it tells apart: it is not
// resolved by rules, and what was acknowledged stays so.
func TestManyRules(t *testing.T) {
	c, err := New(Config{})
	require.NoError(t, err)
	seq := uint64(0)
	fold := func(in Input) Folded {
		seq++
		in.Entry = &event.Entry{Seq: seq, Message: "text"}
		return c.Fold(&in)
	}
	var all []string
	urgent := func(i int) Folded {
		return fold(Input{
			Signature: groupSignature(fmt.Sprint("group", i)),
			Decision:  event.Decision{Rule: fmt.Sprint("rule", i), Disposition: event.Blocking},
		})
	}
	for i := range maxRules + 6 {
		all = append(all, fmt.Sprint("rule", i))
		require.Equal(t, "0-1", urgent(i).ID)
	}
	fold(Input{Resolves: all})
	a, ok := c.Current("")
	require.True(t, ok, "nobody knows that all rules are resolved")
	c.Ack("", a.ID, 0)
	require.Equal(t, "0-1", urgent(maxRules+5).ID, "a rule that was not told apart")
	require.Equal(t, "0-2", urgent(maxRules-1).ID, "one that was, and is resolved")
	require.EqualValues(t, 1, c.Stats().Suppressed)

	// The same for a successor.
	for i := range maxRules + 6 {
		urgent(1000 + i)
	}
	c.Ack("", "0-2", seq-uint64(maxRules)-6)
	_, ok = c.Item("0-3")
	require.True(t, ok)
	for i := range maxRules + 6 {
		all = append(all, fmt.Sprint("rule", 1000+i))
	}
	fold(Input{Resolves: all})
	_, ok = c.Current("")
	require.True(t, ok)
	checkStructure(t, c)
}

// TestStats checks the counts that no law of conservation holds together.
func TestStats(t *testing.T) {
	c, err := New(Config{MaxOpen: 2, MaxRemembered: 1, MaxOperations: 2})
	require.NoError(t, err)
	seq := uint64(0)
	fold := func(e event.Entry, d event.Disposition, rule string) {
		seq++
		e.Seq = seq
		c.Fold(&Input{
			Entry: &e, Signature: groupSignature(rule), NewPhase: true, Blind: rule == "blinds", Begins: rule == "blinds",
			Decision: event.Decision{Rule: rule, Disposition: d},
		})
	}
	for _, id := range []string{"", "a", "b", "c"} {
		fold(event.Entry{Kind: event.KindOperation, Status: event.StatusStarted, OperationID: id}, event.Ignore, "")
	}
	fold(event.Entry{OperationID: "c"}, event.Blocking, "one")
	fold(event.Entry{OperationID: "b"}, event.Advisory, "two")
	fold(event.Entry{}, event.Advisory, "three") // displaces two
	fold(event.Entry{}, event.Advisory, "four")  // displaces three, and forgets two
	fold(event.Entry{}, event.Blocking, "blinds")
	require.Len(t, updates(c), 3)
	c.Ack("", "0-1", 0)
	s := c.Stats()
	require.NoError(t, s.Check())
	require.Equal(t, Stats{
		Received: 9, Latest: 9, Ignored: 4, Folded: 5, ByDisposition: [3]uint64{0, 3, 2},
		Opened: 5, Open: 1, OpenBlocking: 1, Cleared: 4, Acknowledged: 1, Remembered: 2, Evicted: 2,
		FoldedOpen: 1, FoldedCleared: 2, FoldedEvicted: 2,
		Updates: 3, UpdatesPending: 1, UpdatesDropped: 2,
		Operations: 2, OperationsRunning: 2, OperationsEvicted: 1, OperationsAnonymous: 1, Consumers: 1, Blind: true,
	}, s)
	require.Equal(t, []Retention{
		{Owner: 2}, {Owner: 3}, {Owner: 2, Evicted: true}, {Owner: 4}, {Owner: 3, Evicted: true}, {Owner: 1},
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

func TestConfigValidate(t *testing.T) {
	for name, cfg := range map[string]Config{
		"MaxOpen":            {MaxOpen: -1},
		"MaxRemembered":      {MaxRemembered: -1},
		"MaxGroups":          {MaxGroups: -1},
		"MaxOperations":      {MaxOperations: -1},
		"MaxSamples":         {MaxSamples: -1},
		"MaxSampleText":      {MaxSampleText: -1},
		"MaxNamed":           {MaxNamed: -1},
		"Linger.Entries":     {Linger: Window{Entries: -1}},
		"AckMemory.Dur":      {AckMemory: Window{Duration: -1}},
		"Epoch":              {Epoch: "a b"},
		"OperationMax.Dura":  {OperationMax: Window{Duration: -time.Second}},
		"MaxSkew":            {MaxSkew: -1},
		"MaxGroups is 16385": {MaxGroups: maxGroups + 1},
		"Epoch has 65 bytes": {Epoch: strings.Repeat("e", 65)},
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
		tenths     uint64
	}{
		{at(1, 0), at(1, 0), false, 1},
		{at(1, 0), at(500, 9), false, 1},
		{at(1, 0), at(500, 10), false, 2},
		{at(1, 0), at(500, 99), false, 10},
		{at(1, 0), at(2, 100), true, 10},
		{at(1, 0), at(2, 1000), true, 10},
		{at(1, unclocked), at(10, unclocked), false, 10},
		{at(1, unclocked), at(2, unclocked), false, 2},
		{at(1, unclocked), at(11, unclocked), true, 10},
		{at(1, unclocked), at(11, 0), true, 10},
		{at(1, 0), setBack(at(10, 500)), false, 10},
		{at(1, 0), setBack(at(11, 50)), true, 10},
	} {
		require.Equal(t, tc.passed, w.passed(tc.since, tc.now), "%v %v", tc.since, tc.now)
		require.Equal(t, tc.tenths, w.tenths(tc.since, tc.now), "%v %v", tc.since, tc.now)
		var a alarm
		require.False(t, a.due(tc.now), "not set")
		a.add(&w, tc.since, tc.now)
		require.Equal(t, tc.passed, a.due(tc.now), "%v %v", tc.since, tc.now)
	}
}

func TestTick(t *testing.T) {
	c, err := New(Config{MaxSkew: time.Second})
	require.NoError(t, err)
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
		require.Equal(t, tc.want, c.now, tc.time)
	}
}

func TestRate(t *testing.T) {
	w := Window{Entries: 10}
	var r rate
	seq := uint64(0)
	add := func(n int) {
		for range n {
			seq++
			r.add(&w, logicalTime{seq: seq})
		}
	}
	per := func() uint64 { return r.perSpan(&w, logicalTime{seq: seq}) }
	add(1)
	require.EqualValues(t, 1, per(), "a single entry is no rate")
	add(1)
	require.EqualValues(t, 10, per(), "two in two tenths")
	seq += 6
	add(1)
	require.EqualValues(t, 30/9, per(), "three in nine tenths")
	seq++
	add(1)
	require.EqualValues(t, 3, per(), "a span is over when it is reached")
	add(3)
	require.EqualValues(t, 4, per())
	seq += 15
	add(1)
	require.EqualValues(t, 4, per(), "of the span before")
	seq += 19
	add(2)
	require.EqualValues(t, 10, per(), "of long ago is nothing")
}
