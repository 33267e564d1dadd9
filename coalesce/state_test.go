package coalesce

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// snap appends the state of c as JSON.
func snap(c *Coalescer, dst []byte) []byte {
	state, err := json.Marshal(c.State())
	if err != nil {
		panic(err)
	}
	return append(dst, state...)
}

// restored returns the Coalescer of a state as JSON.
func restored(cfg Config, state []byte) (*Coalescer, error) {
	var s State
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, err
	}
	return Restore(cfg, &s)
}

// checkSnapshot holds that the state of c can be restored, to the byte.
func checkSnapshot(t require.TestingT, c *Coalescer) {
	snapshot := snap(c, nil)
	r := testkit.Must(restored(c.Config, snapshot))
	require.Equal(t, snapshot, snap(r, nil))
	require.Equal(t, c.Stats(), r.Stats())
}

// call is something that a host does to a Coalescer. It returns all that the
// host is told.
type call func(c *Coalescer) any

// caller makes calls at random. All that differs between two Coalescers would
// have to come from them.
type caller struct {
	intn func(n int) int
	seq  uint64
	now  time.Time
	last Input // folded, where Repeat may follow, or zero
}

func (m *caller) one(of ...string) string { return of[m.intn(len(of))] }

func (m *caller) next() call {
	switch m.intn(16) {
	case 0, 1, 2, 3, 4:
		d := event.Decision{
			Rule: m.one("r", "s", "t", "blinds"), Disposition: event.Disposition(m.intn(3)), Severity: event.Severity(m.intn(4)),
			Invalidates: m.intn(5) == 0,
		}
		e := event.Entry{Message: "text\x1b of " + d.Rule, OperationID: m.one("", "", "x", "y", "z")}
		in := Input{
			Signature: groupSignature(m.one("a", "b", "c", "d", "e", "f", "g", "h", "i", "j")), Decision: d,
			Phase:   d.Rule,
			Variant: m.one("", "", "open", "jammed", strings.Repeat("v", m.intn(12))),
			Summary: m.one("", "it broke"),
			Begins:  d.Rule == "blinds" && d.Disposition.Urgent(), Blind: d.Rule == "blinds", NewPhase: m.intn(8) == 0,
			Fresh: m.intn(12) == 0, Playing: m.intn(9) == 0,
		}
		if m.intn(6) == 0 {
			e.Kind, e.Status, in.Raised = event.KindHost, event.StatusRaised, m.one("disk", "net")
		}
		return m.fold(e, in)
	case 5, 6, 7:
		e := event.Entry{
			Kind: event.KindOperation, Status: event.StatusStarted + event.Status(m.intn(5)), Source: m.one("", "m", "n"),
			OperationID: m.one("", "x", "y", "z"), Parent: m.one("", "", "x", "y"),
		}
		return m.fold(e, Input{
			Signature: groupSignature(e.Status.String()),
			Decision:  event.Decision{Rule: "op", Disposition: event.Disposition(m.intn(3))},
		})
	case 8:
		return m.fold(event.Entry{Kind: event.KindNotice, Status: event.StatusHole},
			Input{Resolves: []string{m.one("r", "s", "blinds")}})
	case 9:
		if !m.now.IsZero() {
			m.now = m.now.Add(time.Duration(m.intn(9000)-2000) * time.Millisecond)
		}
		now := m.now
		return func(c *Coalescer) any { c.Advance(now); return nil }
	case 10:
		consumer, back, through := m.one("", "ann", "bob", "eve"), uint64(m.intn(4)),
			uint64(m.intn(3))*uint64(m.intn(int(m.seq)+1))
		return func(c *Coalescer) any { return c.Ack(consumer, c.id(c.Numbers-min(back, c.Numbers)), through) }
	case 11:
		consumer := m.one("", "ann", "bob", "eve")
		return func(c *Coalescer) any { a, ok := c.Current(consumer); return []any{a, ok} }
	case 12:
		return func(c *Coalescer) any { return updates(c) }
	case 13:
		from, into := groupSignature(m.one("a", "b", "c")), groupSignature(m.one("d", "e", "f"))
		return func(c *Coalescer) any { c.Merge(from, into); return nil }
	case 14:
		back := uint64(m.intn(6))
		return func(c *Coalescer) any {
			id := c.id(c.Numbers - min(back, c.Numbers))
			if back == 0 {
				c.StateRead()
			}
			return []any{c.Withdraw(id), c.Delivered("bob", id, m.seq), c.Verdict("x"), c.Verdict("y")}
		}
	default:
		consumer := m.one("ann", "bob")
		m.last = Input{}
		m.seq++
		e := event.Entry{Kind: event.KindHost, Status: event.StatusAttached, Seq: m.seq, Time: m.now}
		leaves := m.intn(2) == 0
		return func(c *Coalescer) any {
			if leaves {
				c.Detach("ann")
				c.Detach("bob")
			}
			return c.Attach(consumer, &Input{Entry: &e, Blind: c.Counts.Blind, Decision: c.Arrival(consumer)})
		}
	}
}

func (m *caller) fold(e event.Entry, in Input) call {
	m.seq++
	e.Seq, e.Pos, e.Time = m.seq, m.seq*7, m.now
	in.Blame = []string{"Some Mod", "Other"}[:m.seq%3]
	m.last = Input{}
	if e.Kind == event.KindLog && e.OperationID == "" && !in.Begins && !in.NewPhase && !in.Fresh &&
		in.Decision.Rule != "t" {
		m.last = in
		m.last.Entry = &e
	}
	return func(c *Coalescer) any {
		in := in
		in.Entry = &e
		if in.Decision.Rule == "t" {
			by := event.Escalation{
				After: 3, Within: 3 * time.Second, Entries: 9, To: event.Blocking,
				Severity: event.SeverityError,
			}
			c.Escalate(&e, &by, &in.Decision)
		}
		return c.Fold(&in)
	}
}

func smallConfig(open, groups, operations int) Config {
	return Config{
		Epoch: "e", MaxOpen: open, MaxRemembered: 2, MaxGroups: groups, MaxOperations: operations, MaxSamples: 2, MaxNamed: 2,
		MaxConsumers: 3, MaxSkew: time.Second,
		Linger: Window{time.Second, 3}, AmbientQuiet: Window{2 * time.Second, 6}, AckMemory: Window{5 * time.Second, 20},
		AdvisoryTTL: Window{4 * time.Second, 12}, OperationMax: Window{6 * time.Second, 25},
		QuietTime: Window{time.Millisecond, 1},
	}
}

// TestStateGoesOn drives two Coalescers alike from the moment that one was
// restored from the other's snapshot: nothing that a host sees differs.
func TestStateGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &caller{intn: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }}
		if rapid.Bool().Draw(t, "clock") {
			m.now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		cfg := smallConfig(1+m.intn(4), []int{1, 3, 30}[m.intn(3)], 1+m.intn(3))
		a := testkit.Must(New(cfg))
		for range rapid.IntRange(0, 80).Draw(t, "before") {
			m.next()(a)
		}
		snapshot := snap(a, []byte("head"))[4:]
		b := testkit.Must(restored(cfg, snapshot))
		require.Equal(t, string(snapshot), string(snap(b, nil)))
		clear(snapshot) // nothing of it is kept
		a.Retention(nil)
		for range rapid.IntRange(0, 80).Draw(t, "after") {
			do := m.next()
			require.Equal(t, do(a), do(b))
			require.Equal(t, a.Retention(nil), b.Retention(nil))
			require.Equal(t, a.Stats(), b.Stats())
			require.Equal(t, openItems(a), openItems(b))
		}
		require.Equal(t, snap(a, nil), snap(b, nil))
		checkStructure(t, b)
	})
}

// TestStateIsOfOnePoint holds that what happens after State does not show in the copy.
func TestStateIsOfOnePoint(t *testing.T) {
	for stream := range uint64(40) {
		rng := rand.New(rand.NewPCG(stream, 3))
		m := &caller{intn: rng.IntN}
		c := testkit.Must(New(smallConfig(1+rng.IntN(6), 12, 1+rng.IntN(5))))
		for range 20 {
			for range rng.IntN(20) {
				m.next()(c)
			}
			before, state := snap(c, nil), c.State()
			for range rng.IntN(20) {
				m.next()(c)
			}
			after := testkit.Must(json.Marshal(state))
			require.Equal(t, string(before), string(after))
		}
	}
}

// busy returns a Coalescer after n calls of a stream.
func busy(t testing.TB, cfg Config, stream uint64, n int) *Coalescer {
	rng := rand.New(rand.NewPCG(stream, 1))
	m := &caller{intn: rng.IntN, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	c := testkit.Must(New(cfg))
	for range n {
		m.next()(c)
	}
	return c
}

func TestStateHasEveryField(t *testing.T) {
	cfg := smallConfig(8, 30, 3)
	cfg.AdvisoryTTL = Window{time.Hour, 1000}
	var c *Coalescer
	rich := func() bool {
		any := func(f func(it item) bool) bool { return slices.ContainsFunc(c.Items, f) }
		return c.Episode.Began != 0 && len(c.Queue) > 0 && c.Now.generation > 0 &&
			any(func(it item) bool { return it.Scope == scopeBlind && it.open() }) &&
			len(c.Consumers.List) > 1 &&
			any(func(it item) bool { return len(it.Digest.Samples) > 0 }) &&
			any(func(it item) bool { return len(it.Covers) > 0 }) &&
			any(func(it item) bool { return it.Key != "" }) && len(c.Escalations) > 0 &&
			any(func(it item) bool {
				return slices.ContainsFunc(it.Counters.Rows, func(r *counter) bool { return r.Accused != nil })
			}) &&
			any(func(it item) bool {
				return slices.ContainsFunc(it.Digest.Samples, func(s counter) bool { return s.Accused != nil })
			})
	}
	for stream := uint64(0); c == nil || !rich(); stream++ {
		require.Less(t, stream, uint64(2000), "no state in which every field means something")
		c = busy(t, cfg, stream, 150)
	}
	c.Load, c.Calls.Pending = load{Began: c.Now, Playing: c.Now, Called: c.Now, Calls: 1}, mark{1, ReasonStanding}
	for i := range c.Items {
		for n := range c.Items[i].Rules {
			c.Items[i].Rules[n].ExplainedBy = []string{"r"}
		}
		for n := range c.Items[i].Counters.Rows {
			c.Items[i].Counters.Rows[n].Recurrence = &recurrence{
				Times: 2, First: c.Now, Call: 9,
				Stops: 1, Unread: 1,
			}
		}
	}
	testkit.Fields(t, c, func() []byte { return snap(c, nil) },
		// Made anew from what is coded.
		"Coalescer.alarm",
		"calls.marked", "calls.but", "operations.live", "operations.only",
		"item.id", "storedCause.ID",
		"operations.byID", "operation.name",
		// About a journal, which a snapshot is not part of.
		"Coalescer.retention",
		// Of the present process.
		"-Coalescer.index", "-counters.index", "-counters.of", "-counter.of",
	)
}

func TestRestoreBounds(t *testing.T) {
	cfg := smallConfig(8, 30, 8)
	cfg.MaxSampleText = 20
	c := busy(t, cfg, 17, 300)
	snapshot := snap(c, nil)
	for field, less := range map[string]func(*Config){
		"MaxOpen":       func(c *Config) { c.MaxOpen-- },
		"MaxRemembered": func(c *Config) { c.MaxRemembered-- },
		"MaxGroups":     func(c *Config) { c.MaxGroups-- },
		"MaxOperations": func(c *Config) { c.MaxOperations-- },
		"MaxSamples":    func(c *Config) { c.MaxSamples-- },
		"MaxSampleText": func(c *Config) { c.MaxSampleText-- },
		"MaxNamed":      func(c *Config) { c.MaxNamed-- },
		"MaxConsumers":  func(c *Config) { c.MaxConsumers-- },
		"Epoch":         func(c *Config) { c.Epoch = "f" },
		"Linger":        func(c *Config) { c.Linger.Entries = -1 },
	} {
		smaller := cfg
		less(&smaller)
		r, err := restored(smaller, snapshot)
		require.Nil(t, r)
		require.ErrorContains(t, err, "Config."+field)
	}
	larger := Config{Epoch: "e", MaxSamples: cfg.MaxSamples}
	r := testkit.Must(restored(larger, snapshot))
	require.Equal(t, c.Stats(), r.Stats())
	require.Equal(t, openItems(c), openItems(r))
	checkStructure(t, r)
}

// TestRestoreOtherWindows restores an advisory item under a shorter AdvisoryTTL: it
// expires by that.
func TestRestoreOtherWindows(t *testing.T) {
	c := testkit.Must(New(Config{}))
	at := time.Unix(1000, 0)
	c.Fold(&Input{Entry: &event.Entry{Seq: 1, Time: at}, Decision: event.Decision{Rule: "r", Disposition: event.Advisory}})
	c.Fold(&Input{Entry: &event.Entry{
		Seq: 2, Time: at, Kind: event.KindOperation, Status: event.StatusStarted,
		OperationID: "x",
	}})
	r, err := restored(Config{AdvisoryTTL: Window{Duration: time.Second}, OperationMax: Window{Duration: time.Second}},
		snap(c, nil))
	require.NoError(t, err)
	r.Advance(at.Add(999 * time.Millisecond))
	require.Equal(t, 1, r.Stats().Open)
	r.Advance(at.Add(time.Second))
	require.Zero(t, r.Stats().Open)
	require.True(t, r.Verdict("x").Abandoned)
}

// TestRestoreRefused writes states that no Coalescer can be in. TestBroken has the laws of one item.
func TestRestoreRefused(t *testing.T) {
	cfg := smallConfig(8, 30, 8)
	first := func(c *Coalescer, state itemState) *item {
		i := slices.IndexFunc(c.Items, func(it item) bool { return it.State == state && it.Scope == scopeOperation })
		require.GreaterOrEqual(t, i, 0)
		return &c.Items[i]
	}
	for name, tc := range map[string]struct {
		change func(c *Coalescer)
		want   string
	}{
		"counts": {func(c *Coalescer) { c.Counts.Ignored++ }, "coalesce: BUG: received"},
		"items opened": {func(c *Coalescer) {
			c.Counts.Opened++
			c.Counts.Cleared++
			c.Counts.Evicted++
		}, "Numbers is"},
		"huge group": {
			func(c *Coalescer) { first(c, itemOpen).Counters.Rows[0].Count = 1 << 63 },
			".Rows[0].Count is not possible",
		},
		"two of a kind": {func(c *Coalescer) { first(c, itemOpen).Number = first(c, itemAcked).Number }, "Number of an item"},
		"future":        {func(c *Coalescer) { first(c, itemOpen).Latest.seq = c.Now.seq + 1 }, ".Latest is not possible"},
		"later": {func(c *Coalescer) {
			it := first(c, itemOpen)
			it.Latest.generation, it.Latest.at = c.Now.generation, c.Now.at+1
		}, ".Latest is not possible"},
		"consumer": {func(c *Coalescer) { first(c, itemOpen).Consumer = 3 }, "Items: Consumer is not possible"},
		"no consumer": {
			func(c *Coalescer) { c.Consumers.List = c.Consumers.List[:0] },
			"Consumers is not possible",
		},
		"queue": {
			func(c *Coalescer) { c.Queue = append(c.Queue, first(c, itemOpen).Number, first(c, itemOpen).Number) },
			"Queue is",
		},
		"no queue": {func(c *Coalescer) { c.Queue = c.Queue[:0] }, "Queue is"},
		"sequence": {func(c *Coalescer) { c.Now.seq = 1 << 63 }, "Now is not possible"},
	} {
		t.Run(name, func(t *testing.T) {
			c := busy(t, cfg, 17, 300)
			require.NotEmpty(t, c.Queue)
			checkSnapshot(t, c)
			tc.change(c)
			r, err := restored(cfg, snap(c, nil))
			require.Nil(t, r)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// TestRestoreDamaged replaces numbers of a state: it is refused, or works.
func TestRestoreDamaged(t *testing.T) {
	number := regexp.MustCompile(`\b[0-9]+\b`)
	values := []string{
		"0", "1", "2", "3", "5", "40", "1000", "2305843009213693952", "9223372036854775808", "18446744073709551615", "-1",
	}
	works := 0
	for seed := range uint64(120) {
		rng := rand.New(rand.NewPCG(seed, 4))
		cfg := smallConfig(3, 5, 3)
		state := snap(busy(t, cfg, seed%20, 100), nil)
		at := number.FindAllIndex(state, -1)
		for range 1 + rng.IntN(2) {
			n := at[rng.IntN(len(at))]
			value := values[rng.IntN(len(values))]
			state = slices.Concat(state[:n[0]], []byte(value), state[n[1]:])
			at = number.FindAllIndex(state, -1)
		}
		c, err := restored(cfg, state)
		if err != nil {
			continue
		}
		works++
		m := &caller{intn: rng.IntN, seq: c.Now.seq, now: time.Date(2030, 1, 1, 0, 1, 0, 0, time.UTC)}
		for range 60 {
			m.next()(c)
			s := c.Stats()
			require.NoError(t, s.Check())
		}
		snap(c, nil)
	}
	require.Greater(t, works, 20)
}
