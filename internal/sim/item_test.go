package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// scope is what the model knows for certain of an item's burst.
type scope uint8

const (
	other    scope = iota // an operation or an ambient episode
	blinding              // blindness
	hosted                // what the host raised
	digest                // what was open before an agent came
)

// group is what an item counts together.
type group struct {
	rule string
	sig  signature.Signature
}

// item is what the model knows of an item.
type item struct {
	id     string
	number uint64
	scope  scope
	key    string // of hosted
	before *item  // its predecessor by an acknowledgement

	ambient bool   // an episode's, not an operation's
	root    string // the operation that it was opened for, or a part of it

	held  []*entry // that came while it was open
	late  []*entry // that were suppressed
	alive stamp    // from which AdvisoryTTL runs
	last  stamp    // latest entry that it ever held

	// What held adds up to.
	tally
	groups map[group]*tally
	rules  map[string]*tally

	// vague says that entries moved in a way that the model does not know,
	// blurred that not every group has a counter, and merged that two groups are
	// one now, so that a split between them is the engine's.
	vague   bool
	blurred bool
	merged  bool
	shared  bool // bursts may have been crowded into it

	cleared bool
	acked   bool
	gone    bool // evicted

	delivered map[string]uint64
	consumer  string // that saw it as the current one last
	viewed    uint64
	covers    []cover

	updated string // the latest update
	updates int
	severer bool // a split may have left it more severe than its entries are

	// What the engine said at the latest look, while the item was open.
	seen    bool
	worst   event.Disposition
	cause   uint64
	lost    bool // no room to pin the cause
	maximum int  // most entries at any time
}

type cover struct {
	id   string
	mark uint64
}

// tally is the sum of entries.
type tally struct {
	count       int
	first       uint64
	last        stamp
	disposition event.Disposition
	severity    event.Severity
	invalidates bool
	worst       *entry // first at the disposition
	resolved    bool
}

func (t *tally) add(e *entry) {
	t.count++
	if t.first == 0 {
		t.first = e.Seq
	}
	if t.worst == nil || e.disposition > t.disposition {
		t.disposition, t.worst = e.disposition, e
	}
	t.severity = max(t.severity, e.severity)
	t.invalidates = t.invalidates || e.invalidates
	t.last = e.when
}

// item returns the item of an id, made where the engine has just opened it.
func (m *model) item(number uint64) *item {
	id := itemID(number)
	it := &item{
		id: id, number: number, delivered: map[string]uint64{}, groups: map[group]*tally{}, rules: map[string]*tally{},
		alive: m.now,
	}
	m.items = append(m.items, it)
	m.byID[id] = it
	return it
}

// add counts an entry in an item that is open.
func (it *item) add(e *entry) {
	it.held = append(it.held, e)
	it.alive, it.last = e.when, e.when
	it.sum(e)
	it.maximum = max(it.maximum, len(it.held))
	it.rules[e.rule].resolved = false
}

func (it *item) sum(e *entry) {
	it.tally.add(e)
	if it.groups[e.group] == nil {
		it.groups[e.group] = &tally{}
	}
	it.groups[e.group].add(e)
	if it.rules[e.rule] == nil {
		it.rules[e.rule] = &tally{}
	}
	it.rules[e.rule].add(e)
}

// hold makes entries all that an item holds.
func (it *item) hold(entries []*entry) {
	resolved := map[string]bool{}
	for r, t := range it.rules {
		resolved[r] = t.resolved
	}
	it.held = entries
	it.tally = tally{}
	clear(it.groups)
	clear(it.rules)
	for _, e := range entries {
		it.sum(e)
	}
	for r, t := range it.rules {
		t.resolved = resolved[r]
	}
	it.maximum = max(it.maximum, len(entries))
}

// operation returns the id of an operation that an entry of the item names, or
// "".
func (it *item) operation() string {
	for _, e := range it.held {
		if e.OperationID != "" {
			return e.OperationID
		}
	}
	return ""
}

// familiar is the number of groups from which one more of a known rule is no
// news.
const familiar = 8

// fold puts an urgent entry where the engine says that it went, and checks that
// it may be there.
func (m *model) fold(e *entry, id string, s scope) error {
	if !e.disposition.Urgent() {
		return nil
	}
	e.group = group{e.rule, m.engine.Group(e.sig)}
	it := m.byID[id]
	a, known := m.engine.Item(id)
	switch {
	case !known:
		return fmt.Errorf("conservation: entry %d went to item %q, which is not known", e.Seq, id)
	case it == nil:
		if want := itemID(uint64(len(m.items)) + 1); id != want || a.State != coalesce.Open {
			return fmt.Errorf("identity: entry %d opened item %s (%s), the next one is %s", e.Seq, id, a.State, want)
		}
		if err := m.mayOpen(e, s); err != nil {
			return err
		}
		it = m.item(uint64(len(m.items)) + 1)
		it.scope = s
		it.root = cmp.Or(e.OperationID, a.AfterOperation)
		if it.ambient = s == other && it.root == ""; it.ambient {
			m.episode = it
		}
		if err := m.mayInfer(e, it); err != nil {
			return err
		}
		if s == hosted {
			it.key = e.Source
		}
	case it.cleared:
		if a.State == coalesce.Open {
			return fmt.Errorf("identity: item %s was cleared and is open again", id)
		}
		if err := m.mayAbsorb(e, it, s); err != nil {
			return err
		}
		it.late = append(it.late, e)
		it.last = e.when
		if g := it.groups[e.group]; g != nil {
			g.last = e.when
		}
		return nil
	default:
		if a.State != coalesce.Open {
			return fmt.Errorf("state: entry %d was folded into item %s, which is %s by %s", e.Seq, id, a.State, a.ClearedBy)
		}
		if err := m.mayJoin(e, it, s); err != nil {
			return err
		}
	}
	it.add(e)
	it.blurred = it.blurred || len(it.groups) > m.cfg.Coalesce.MaxGroups
	return nil
}

// mayJoin says why an entry cannot belong to an open item.
func (m *model) mayJoin(e *entry, it *item, s scope) error {
	if m.engine.Stats().Coalesce.Overflowed != m.stats.Coalesce.Overflowed {
		it.shared = true
	}
	if it.shared {
		return nil
	}
	if s != it.scope || s == hosted && it.key != e.Source {
		return fmt.Errorf("bursts: entry %d of scope %d joined item %s of scope %d", e.Seq, s, it.id, it.scope)
	}
	if s != other {
		return nil
	}
	op := it.operation()
	if e.OperationID != "" && op != "" && !m.related(op, e.OperationID) {
		return fmt.Errorf("causality: entry %d of operation %q joined item %s of operation %q", e.Seq, e.OperationID, it.id,
			op)
	}
	if it.vague {
		return nil
	}
	if !it.ambient {
		return m.mayInfer(e, it)
	}
	if e.OperationID != "" {
		return fmt.Errorf("causality: entry %d of operation %q joined ambient item %s", e.Seq, e.OperationID, it.id)
	}
	if it.before != nil || len(it.held) == 0 {
		return nil
	}
	if m.turned > it.last.seq {
		return fmt.Errorf("episodes: entry %d joined item %s over the change of phase at %d", e.Seq, it.id, m.turned)
	}
	if m.passed(m.cfg.Coalesce.AmbientQuiet, it.last) {
		return fmt.Errorf("episodes: entry %d joined item %s, quiet since %d", e.Seq, it.id, it.last.seq)
	}
	return nil
}

// mayInfer says why an entry that names no operation cannot be put down to that
// of an item: another one runs for certain, or it is long over.
func (m *model) mayInfer(e *entry, it *item) error {
	if it.scope != other || it.root == "" || e.OperationID != "" || len(m.ops) > m.cfg.Coalesce.MaxOperations {
		return nil
	}
	if e.Kind == event.KindOperation {
		return fmt.Errorf("causality: entry %d, of an operation without an id, was put down to %q", e.Seq, it.root)
	}
	for id, o := range m.ops {
		if o.begun && !o.given && !o.ended && !o.lived && !m.related(id, it.root) {
			return fmt.Errorf("causality: entry %d was put down to %q while %q runs", e.Seq, it.root, id)
		}
	}
	lingers := func(end stamp) bool { return !m.passed(m.cfg.Coalesce.Linger, end) }
	if o := m.ops[it.root]; m.simple(it.root) && o.ended && !slices.ContainsFunc(o.ends, lingers) {
		return fmt.Errorf("causality: entry %d was put down to %q, which ended at %d", e.Seq, it.root, o.ends[0].seq)
	}
	return nil
}

// knows reports whether an item for certain counts an entry as something that it
// knows.
func (it *item) knows(e *entry) bool {
	r := it.rules[e.rule]
	return r != nil && !r.resolved && (it.groups[e.group] != nil || len(it.groups) >= familiar)
}

// mayOpen says why an entry need not have opened an item: an open one gathers
// its burst, or what was acknowledged accounts for it.
func (m *model) mayOpen(e *entry, s scope) error {
	if s == digest {
		return nil
	}
	busy := m.busy()
	for _, it := range m.items {
		if it.gone || it.vague || it.shared {
			continue
		}
		if !it.cleared {
			if a, known := m.engine.Item(it.id); !known || a.State != coalesce.Open {
				continue // the entry itself brought its end
			}
			if s == other && it.scope == other && e.OperationID != "" && m.simple(e.OperationID) && len(it.held) > 0 &&
				it.held[0].OperationID == e.OperationID {
				return fmt.Errorf("bursts: entry %d opened an item beside %s of its operation %q", e.Seq, it.id, e.OperationID)
			}
			if s == other && it == m.episode && len(m.ops) == 0 && m.turned < it.last.seq &&
				!m.passed(m.cfg.Coalesce.AmbientQuiet, it.last) {
				return fmt.Errorf("bursts: entry %d opened an item beside the ambient %s", e.Seq, it.id)
			}
			if s == hosted && it.scope == hosted && it.key == e.Source {
				return fmt.Errorf("bursts: report %d of %q opened an item beside %s", e.Seq, e.Source, it.id)
			}
			continue
		}
		if !it.acked || it.blurred || busy || (s == blinding) != (it.scope == blinding) ||
			(s == hosted) != (it.scope == hosted) || it.scope == digest {
			continue
		}
		if s == other && e.OperationID != "" && (!m.simple(e.OperationID) || len(it.held) == 0 ||
			it.held[0].OperationID != e.OperationID) {
			continue
		}
		if !it.knows(e) || e.disposition > it.disposition || e.severity > it.severity || e.invalidates && !it.invalidates {
			continue
		}
		last := it.last
		if g := it.groups[e.group]; g != nil {
			last = g.last
		}
		if last.generation != m.now.generation || m.passed(m.cfg.Coalesce.AckMemory, last) {
			continue
		}
		return fmt.Errorf("acknowledgement: entry %d opened an item, but %s was acknowledged and accounts for it", e.Seq,
			it.id)
	}
	return nil
}

// rateFactor is how much more frequent something acknowledged must become to open again: that of
// package coalesce.
const rateFactor = 10

// busy reports whether so much came within a span that a rate may have risen by
// rateFactor.
func (m *model) busy() bool {
	n := len(m.entries)
	return n >= rateFactor && !m.passed(m.cfg.Coalesce.RateWindow, m.entries[n-rateFactor].when)
}

// mayAbsorb says why a cleared item cannot account for an entry.
func (m *model) mayAbsorb(e *entry, it *item, s scope) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("acknowledgement: entry %d was suppressed by %s: %s", e.Seq, it.id, fmt.Sprintf(format, args...))
	}
	if !it.acked {
		return wrong("nobody acknowledged that")
	}
	if it.shared || it.vague {
		return nil
	}
	if (s == blinding) != (it.scope == blinding) || (s == hosted) != (it.scope == hosted) || it.scope == digest {
		return wrong("its burst is of another kind")
	}
	r := it.rules[e.rule]
	if r != nil && r.resolved {
		return wrong("rule %s was resolved since", e.rule)
	}
	if !it.blurred && (r == nil || it.groups[e.group] == nil && len(it.groups) < familiar) {
		return wrong("it does not know %s %s", e.rule, e.group.sig.ID)
	}
	if e.disposition > it.disposition || !it.severer && e.severity > it.severity || !it.severer && e.invalidates &&
		!it.invalidates {
		return wrong("it is worse than all that it holds")
	}
	last := it.last
	if g := it.groups[e.group]; g != nil && g.last.generation != last.generation {
		last.generation = -1 // the clock was set in between: nobody knows
	}
	if last.generation == m.now.generation && m.passed(m.cfg.Coalesce.AckMemory, last) {
		return wrong("quiet since %d", it.last.seq)
	}
	if op := it.operation(); s == other && e.OperationID != "" && op != "" && !m.related(op, e.OperationID) {
		return wrong("it is of operation %q, not of %q", op, e.OperationID)
	} else if s == other && e.OperationID != "" && it.ambient {
		return wrong("it is of no operation, and the entry of %q", e.OperationID)
	}
	return nil
}
