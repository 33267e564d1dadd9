package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
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

// group is what an item counts together: a variant of a group.
type group struct {
	rule    string
	sig     signature.Signature
	variant string
}

// whole returns the group with all its variants.
func (g group) whole() group { return group{rule: g.rule, sig: g.sig} }

// akin reports whether an item holds the group of an entry, whatever the variant.
func (it *item) akin(e *entry) bool {
	for g := range it.groups {
		if g.whole() == e.group.whole() {
			return true
		}
	}
	return false
}

// item is what the model knows of an item.
type item struct {
	id     string
	number uint64
	scope  scope
	key    string // of hosted
	before *item  // its predecessor by an acknowledgement
	after  *item  // the item that it continues, as the engine says

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

	cleared   bool
	acked     bool
	ackedAt   uint64 // number of the latest entry then
	ackedTime stamp
	ofLoad    bool            // it was opened in a load
	by        coalesce.Reason // why it was cleared last
	again     bool            // it was cleared, and opened again
	past      bool            // it belongs to a run of the game that is over
	gone      bool            // evicted

	delivered map[string]uint64
	consumer  string // that saw it as the current one last
	viewed    uint64
	covers    []string

	updated string // the latest update
	updates int
	marked  int  // marks that its counts had passed then
	severer bool // a split may have left it more severe than its entries are

	// What the engine said at the latest look, while the item was open.
	seen    bool
	worst   event.Disposition
	cause   uint64
	lost    bool // no room to pin the cause
	maximum int  // most entries at any time
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
	resolvedAt  uint64
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

// outweighs reports whether what a rule decided is worse than what another one did, or as bad and more. No rule here
// has a tag.
func (t *tally) outweighs(rule string, o *tally, other string) bool {
	harm := func(rule string, t *tally) int {
		switch {
		case strings.HasPrefix(rule, "default.log."):
			return 0
		case t.disposition != event.Blocking:
			return 1
		case t.severity == event.SeverityFatal:
			return 4
		case t.count >= 10 && t.invalidates:
			return 3
		case t.count >= 10:
			return 2
		}
		return 1
	}
	return cmp.Or(cmp.Compare(harm(rule, t), harm(other, o)), cmp.Compare(t.severity, o.severity),
		cmp.Compare(t.count, o.count)) > 0
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
	if g, r := it.groups[e.group], it.rules[e.rule]; g != nil && r != nil {
		e.returned = g.last.seq < r.resolvedAt
	}
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
	rules := maps.Clone(it.rules)
	it.held = entries
	it.tally = tally{}
	clear(it.groups)
	clear(it.rules)
	for _, e := range entries {
		it.sum(e)
	}
	for _, e := range it.late {
		it.know(e)
	}
	for r, t := range it.rules {
		if old := rules[r]; old != nil {
			t.resolved, t.resolvedAt = old.resolved, old.resolvedAt
		}
	}
	it.maximum = max(it.maximum, len(entries))
}

// know makes the group and the rule of an entry known that joined an acknowledged item.
func (it *item) know(e *entry) {
	if it.groups[e.group] == nil {
		it.groups[e.group] = &tally{first: e.Seq}
	}
	it.groups[e.group].last = e.when
	if it.rules[e.rule] == nil {
		it.rules[e.rule] = &tally{first: e.Seq}
	}
}

// fold puts an urgent entry where the engine says that it went, and checks that
// it may be there.
func (m *model) fold(e *entry, id string, s scope) error {
	if !e.disposition.Urgent() {
		return nil
	}
	e.group = group{e.rule, m.engine.Group(e.sig), m.variant(e)}
	m.law.urgent++
	m.law.groups[group{rule: e.rule, sig: e.sig}] = true
	act := s == hosted || s == digest || e.Status == event.StatusStall // of the host, which counts as a stop
	if act {
		m.law.stops++
	}
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
		it.scope, it.after, e.opened = s, m.byID[a.Predecessor], true
		if e.disposition == event.Blocking {
			if r := m.returns[e.group]; r != nil && r.item == nil {
				r.item = it
			}
		}
		if e.disposition == event.Blocking && !act {
			m.law.stops++
		}
		it.root, it.ofLoad = cmp.Or(e.OperationID, a.AfterOperation), m.loadMay()
		if it.ambient = s == other && it.root == ""; it.ambient {
			m.episode = it
		}
		if err := m.mayInfer(e, it); err != nil {
			return err
		}
		if s == hosted {
			it.key = e.Source
		}
	case it.cleared && a.State == coalesce.Open:
		if err := m.mayReopen(e, it, s); err != nil {
			return err
		}
		it.cleared, it.again = false, true
		if it.disposition == event.Blocking && !act {
			m.law.stops++
		}
		it.lost = m.setup.Pinned != 0 || m.setup.Bytes != 0 || !m.keeps(it.cause)
	case it.cleared:
		if err := m.mayAbsorb(e, it, s); err != nil {
			return err
		}
		e.late = true
		it.late = append(it.late, e)
		m.owed = m.owed || e.disposition == event.Blocking
		it.last = e.when
		it.know(e)
		it.blurred = it.blurred || len(it.groups) > m.cfg.Coalesce.MaxGroups
		return nil
	default:
		if a.State != coalesce.Open {
			return fmt.Errorf("state: entry %d was folded into item %s, which is %s by %s", e.Seq, id, a.State, a.ClearedBy)
		}
		if err := m.mayJoin(e, it, s); err != nil {
			return err
		}
	}
	if len(it.held) > 0 && e.disposition > it.disposition && !act {
		m.law.stops++
	}
	it.add(e)
	it.blurred = it.blurred || len(it.groups) > m.cfg.Coalesce.MaxGroups
	if s == other && e.OperationID == "" {
		m.ambient = append(m.ambient, m.now)
	}
	return nil
}

// keeps reports whether the journal holds an entry.
func (m *model) keeps(seq uint64) bool {
	page := m.engine.Read(heed.Cursor{Seq: seq - 1}, 1, heed.Filter{})
	return len(page.Records) == 1 && page.Records[0].Seq == seq
}

// holds reports whether an item for certain holds the group of an entry, which nothing has
// resolved, and is at least as urgent.
func (it *item) holds(e *entry) bool { return !it.vague && !it.blurred && it.mayHold(e) }

// mayHold is holds where not all is known of the item.
func (it *item) mayHold(e *entry) bool {
	r := it.rules[e.rule]
	return it.scope == other && !it.gone && !it.past && it.disposition >= e.disposition && it.groups[e.group] != nil &&
		r != nil && !r.resolved
}

// holder returns an open item that holds an entry, before and after it, or nil.
func (m *model) holder(e *entry) *item {
	for _, it := range m.items {
		if it.cleared || !it.holds(e) {
			continue
		}
		if a, known := m.engine.Item(it.id); known && a.State == coalesce.Open {
			return it
		}
	}
	return nil
}

// novel reports whether no item holds the variant of an entry for certain.
func (m *model) novel(e *entry) bool {
	return !slices.ContainsFunc(m.items, func(it *item) bool {
		return !it.gone && !it.vague && !it.blurred && it.groups[e.group] != nil
	})
}

// variant returns the variant of an entry.
func (m *model) variant(e *entry) string {
	if e.Kind == event.KindHost {
		return ""
	}
	return m.engine.Variant(string(rules.AppendTemplate(nil, m.masks, &e.Entry)))
}

// mayReopen says why an item cannot open again for an entry: somebody ended it, or another
// fault is in it.
func (m *model) mayReopen(e *entry, it *item, s scope) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("identity: entry %d opened item %s again: %s", e.Seq, it.id, fmt.Sprintf(format, args...))
	}
	switch {
	case it.acked:
		return wrong("it was acknowledged")
	case it.past:
		return wrong("it belongs to an earlier run")
	case it.by != coalesce.ReasonExpired && it.by != coalesce.ReasonEvicted && it.by != coalesce.ReasonResolved:
		return wrong("it was cleared for %q", it.by)
	case s != it.scope, s == hosted && it.key != e.Source, s == digest:
		return wrong("it is of another kind")
	case it.vague, it.blurred, it.akin(e):
		return nil
	case e.disposition == event.Advisory && it.disposition == event.Advisory && s == other:
		return nil // all that is advisory shares one
	}
	return wrong("it does not hold %s %s", e.rule, e.group.sig.ID)
}

// mayJoin says why an entry cannot belong to an open item.
func (m *model) mayJoin(e *entry, it *item, s scope) error {
	if m.engine.Stats().Coalesce.Overflowed != m.stats.Coalesce.Overflowed {
		it.shared = true
	}
	if it.past {
		return fmt.Errorf("runs: entry %d joined item %s of an earlier run", e.Seq, it.id)
	}
	if it.shared {
		return nil
	}
	if s != it.scope || s == digest || s == hosted && it.key != e.Source {
		return fmt.Errorf("bursts: entry %d of scope %d joined item %s of scope %d", e.Seq, s, it.id, it.scope)
	}
	if s != other || it.vague || it.mayHold(e) || it.akin(e) && m.novel(e) {
		return nil
	}
	has := it.groups[e.group] != nil && it.disposition >= e.disposition // if resolved
	if h := m.holder(e); h != nil && !has && it.disposition <= e.disposition {
		return fmt.Errorf("bursts: entry %d joined item %s, and %s holds its group", e.Seq, it.id, h.id)
	}
	if it.blurred && it.disposition >= e.disposition || e.disposition == event.Advisory &&
		it.disposition == event.Advisory {
		return nil
	}
	if m.loadMay() && it.first >= m.load.seq {
		return nil
	}
	if it.again {
		return nil // it gathers what opened it again, too
	}
	if e.OperationID != "" && it.root != "" && !m.related(it.root, e.OperationID) {
		return fmt.Errorf("causality: entry %d of operation %q joined item %s of operation %q", e.Seq, e.OperationID, it.id,
			it.root)
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
	if m.quiet(it.first) {
		return fmt.Errorf("episodes: entry %d joined item %s, quiet since %d", e.Seq, it.id, it.last.seq)
	}
	return nil
}

// quiet reports whether an ambient episode that began at entry since is over, whichever of
// the entries that name no operation were of it.
func (m *model) quiet(since uint64) bool {
	for i := len(m.ambient) - 1; i >= 0 && m.ambient[i].seq >= since; i-- {
		if !m.passed(m.cfg.Coalesce.AmbientQuiet, m.ambient[i]) {
			return false
		}
	}
	return true
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
		if o.running() && !m.related(id, it.root) {
			return fmt.Errorf("causality: entry %d was put down to %q while %q runs", e.Seq, it.root, id)
		}
	}
	lingers := func(end stamp) bool { return !m.passed(m.cfg.Coalesce.Linger, end) }
	if o := m.ops[it.root]; m.simple(it.root) && o.ended && !slices.ContainsFunc(o.ends, lingers) {
		return fmt.Errorf("causality: entry %d was put down to %q, which ended at %d", e.Seq, it.root, o.ends[0].seq)
	}
	return nil
}

// mayOpen says why an entry need not have opened an item: an open one gathers
// its burst or holds its group, what was acknowledged accounts for it, or one that nobody
// acknowledged has to open again.
func (m *model) mayOpen(e *entry, s scope) error {
	if s == digest {
		return nil
	}
	if h := m.holder(e); s == other && h != nil {
		return fmt.Errorf("bursts: entry %d opened an item, and %s holds its group", e.Seq, h.id)
	}
	latest, sure := m.accounts(e, s)
	for _, it := range m.items {
		if it.gone || it.past || it.vague || it.shared || s != it.scope {
			continue
		}
		if it.cleared {
			if err := m.mayLeave(e, it); err != nil && latest == nil && sure && !m.covered(e) {
				return err
			}
			continue
		}
		if a, known := m.engine.Item(it.id); !known || a.State != coalesce.Open {
			continue // the entry itself brought its end
		}
		if s == blinding || s == hosted && it.key == e.Source {
			return fmt.Errorf("bursts: entry %d opened an item beside %s of its kind", e.Seq, it.id)
		}
		if s != other {
			continue
		}
		if e.disposition == event.Advisory && it.disposition == event.Advisory {
			return fmt.Errorf("bursts: entry %d opened an advisory item beside %s", e.Seq, it.id)
		}
		if it.disposition < e.disposition || it.ofLoad || m.loadMay() {
			continue // others may have joined it
		}
		if e.OperationID != "" && it.root == e.OperationID && m.simple(e.OperationID) && len(it.held) > 0 &&
			it.held[0].OperationID == e.OperationID && it.held[0].Seq >= m.ops[e.OperationID].first && !it.again {
			return fmt.Errorf("bursts: entry %d opened an item beside %s of its operation %q", e.Seq, it.id, e.OperationID)
		}
		if it == m.episode && it.rules[e.rule] != nil && len(m.ops) == 0 && m.turned < it.first &&
			it.held[0].when.generation == m.now.generation && !m.passed(m.cfg.Coalesce.AmbientQuiet, it.held[0].when) {
			return fmt.Errorf("bursts: entry %d opened an item beside the ambient %s of its rule", e.Seq, it.id)
		}
	}
	if latest == nil || !sure || s == hosted {
		return nil // what the host raises again is heard
	}
	if m.worse(e, latest) || latest.last.generation != m.now.generation {
		return nil
	}
	last := latest.groups[e.group].last
	if last.generation != m.now.generation || m.passed(m.cfg.Coalesce.AckMemory, last) {
		return nil
	}
	if inside, sure := m.inside(); e.disposition == event.Blocking && s == other && (inside || !sure ||
		e.OperationID != "" || m.loadMay() && latest.ackedAt < m.load.seq) {
		if m.loadMay() {
			return nil // it may be of a load that began since
		}
		return m.mayCharge(e, latest)
	}
	return fmt.Errorf("acknowledgement: entry %d opened an item, but %s was acknowledged and accounts for it", e.Seq,
		latest.id)
}

// mayLeave says why an item that was cleared has to open again for an entry, rather than
// that another one opens.
func (m *model) mayLeave(e *entry, it *item) error {
	if it.acked || it.blurred || it.merged || it.scope == digest || it.disposition != e.disposition ||
		it.by != coalesce.ReasonExpired && it.by != coalesce.ReasonEvicted && it.by != coalesce.ReasonResolved {
		return nil
	}
	if a, known := m.engine.Item(it.id); !known || a.State == coalesce.Open {
		return nil
	}
	if it.groups[e.group] != nil && (it.scope != hosted || it.key == e.Source) || it.scope == other &&
		e.disposition == event.Advisory {
		return fmt.Errorf("identity: entry %d opened an item, and %s was cleared (%s) and could open again", e.Seq, it.id, it.by)
	}
	return nil
}
