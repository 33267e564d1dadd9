package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
)

// ack acknowledges an item, and checks that what was delivered to the consumer, and no
// more, is done with.
func (m *model) ack(p *player, by, id string, through uint64) error {
	m.acking = true
	consumer := m.know(by).name
	before, held := m.engine.Item(id)
	open := held && before.State == coalesce.Open
	it := m.byID[id]
	res := m.engine.Ack(by, id, through)
	p.sayAck(&res)
	if res.Acknowledged != held || res.Already != (held && !open) {
		return fmt.Errorf("acknowledgement: acknowledged=%v already=%v of an item that is known: %v, open: %v",
			res.Acknowledged, res.Already, held, open)
	}
	if !open {
		if res.Successor != "" || len(res.Covered) > 0 || res.Watermark != 0 {
			return fmt.Errorf("acknowledgement: %+v of what is not open", res)
		}
		m.looked(consumer, &res.Current, res.Open)
		return nil
	}

	mark := through
	if mark == 0 {
		mark = it.delivered[consumer]
	}
	if it.scope != digest {
		mark = max(mark, before.OpenedAtSequence)
	} else {
		mark = max(mark, it.held[0].Seq)
	}
	if res.Watermark != mark {
		return fmt.Errorf("acknowledgement: up to %d, what the consumer saw is %d", res.Watermark, mark)
	}
	var covers []string
	if it.consumer == consumer && mark >= it.viewed {
		covers = slices.Clone(it.covers)
	}
	if err := m.split(it, res.Watermark, res.Successor); err != nil {
		return err
	}
	for _, other := range res.Covered {
		also := m.byID[other]
		switch {
		case also == nil || also.cleared:
			return fmt.Errorf("acknowledgement: covers %s, which is not open", other)
		case !slices.Contains(covers, other):
			return fmt.Errorf("acknowledgement: covers %s, which was not delivered with %s", other, id)
		}
		seen := also.delivered[consumer]
		if !also.vague { // else its entries are not known
			seen = max(seen, also.held[0].Seq)
		}
		if err := m.split(also, seen, ""); err != nil {
			return err
		}
	}
	m.looked(consumer, &res.Current, res.Open)

	m.acted(event.Entry{Status: event.StatusAcknowledged, Source: by}, event.Decision{Rule: "host.acknowledged"})
	want := fmt.Sprintf("%s up to %d", id, res.Watermark)
	page := m.engine.Read(heed.Cursor{Seq: m.now.seq - 1}, 1, heed.Filter{})
	if len(page.Records) != 1 || m.setup.Bytes == 0 && (page.Records[0].Source != by ||
		len(page.Records[0].Message) < len(want) || page.Records[0].Message[:len(want)] != want) {
		return fmt.Errorf("acknowledgement: the journal says %+v, not that %q acknowledged %s", page.Records, by, want)
	}
	return nil
}

// split hands what an acknowledgement up to mark did not see to a successor,
// and compares. Of the successor of an item that is covered, nobody tells the
// id: it is then the next one.
func (m *model) split(it *item, mark uint64, successor string) error {
	it.cleared, it.acked, it.ackedAt, it.ackedTime = true, true, m.now.seq, m.now
	if it.disposition == event.Advisory {
		m.law.advisory++
	}
	number := uint64(len(m.items)) + 1
	opened := m.engine.Stats().Coalesce.Opened
	unsure := it.vague || it.blurred || it.merged
	var left, moved []*entry
	if !unsure {
		left, moved = it.part(mark)
		if successor == "" && len(moved) > 0 && number <= opened {
			successor = itemID(number)
		}
		if (successor != "") != (len(moved) > 0) {
			return fmt.Errorf("acknowledgement: of %s, %d entries after %d are new, and the successor is %q", it.id, len(moved),
				mark, successor)
		}
	} else if successor == "" && number <= opened {
		if a, ok := m.engine.Item(itemID(number)); !ok || a.Predecessor == it.id {
			successor = itemID(number)
		}
	}
	if successor == "" {
		if unsure && !it.vague && it.unseen(mark) {
			return fmt.Errorf("acknowledgement: what came to %s after %d is new, and has no successor", it.id, mark)
		}
		return m.parted(it)
	}
	if want := itemID(number); successor != want {
		return fmt.Errorf("identity: the successor of %s is %s, the next item is %s", it.id, successor, want)
	}
	next := m.item(number)
	m.law.stops++
	next.scope, next.key, next.ambient, next.root = it.scope, it.key, it.ambient, it.root
	next.before, next.after = it, it
	next.shared, next.again, next.ofLoad = it.shared, it.again, it.ofLoad
	next.alive, next.last, next.past = m.now, it.last, it.past
	if unsure {
		it.vague, next.vague = true, true
		return m.parted(it)
	}
	whole, rules := it.groups, maps.Clone(it.rules)
	it.groups = map[group]*tally{}
	it.hold(left)
	next.hold(moved)
	for r, t := range next.rules {
		t.resolvedAt = rules[r].resolvedAt
	}
	next.vague = overstated(next, whole)
	next.last = moved[len(moved)-1].when
	it.severer, next.severer = true, true
	if err := m.parted(it); err != nil {
		return err
	}
	a, ok := m.engine.Item(successor)
	if !ok {
		return nil // evicted at once
	}
	if a.Predecessor != it.id {
		return fmt.Errorf("acknowledgement: %s continues %q, not %s", successor, a.Predecessor, it.id)
	}
	return m.agree(&a, next)
}

// overstated reports whether a group moved in part, from an entry on that is not
// its gravest: the engine then takes that one to be as grave as the whole group
// was. Only what a host reports under one key, now as blocking and now as
// advisory, comes to that.
func overstated(next *item, whole map[group]*tally) bool {
	for _, e := range next.held {
		t, w := next.groups[e.group], whole[e.group]
		if e.Seq == t.first && t.count < w.count &&
			(w.worst.Seq < t.first || e.severity < w.severity || !e.invalidates && w.invalidates) {
			return true
		}
	}
	return false
}

// parted checks an item that was just acknowledged.
func (m *model) parted(it *item) error {
	a, ok := m.engine.Item(it.id)
	if !ok {
		return nil
	}
	if a.State == coalesce.Open || a.Blocking || a.ClearedBy != coalesce.ReasonAcknowledged {
		return fmt.Errorf("acknowledgement: %s is %s (%q), blocking=%v", it.id, a.State, a.ClearedBy, a.Blocking)
	}
	return m.agree(&a, it)
}

// keptRules is how many rules are sure of a counter for their first group,
// however few groups an item has room for.
const keptRules = 11

// unseen reports whether, of an item whose groups are not all known, something
// came after mark that is new for certain: the first of a group that blocks, or of a rule.
func (it *item) unseen(mark uint64) bool {
	for g, t := range it.groups {
		if t.disposition == event.Blocking && t.first > mark && !it.rules[g.rule].resolved {
			return true
		}
	}
	if len(it.rules) > keptRules {
		return false
	}
	for _, r := range it.rules {
		if r.first > mark && !r.resolved {
			return true
		}
	}
	return false
}

// part returns the entries that a consumer with this watermark has seen or
// need not see, and the others: a variant that is new, from its first entry on, and
// one that became worse or was resolved and returned, from where it last did.
func (it *item) part(mark uint64) (left, moved []*entry) {
	type height struct {
		disposition event.Disposition
		severity    event.Severity
		invalidates bool
		raised      uint64 // where anything rose last
	}
	groups := map[group]*height{}
	for _, e := range it.held {
		h := groups[e.group]
		if h == nil {
			h = &height{raised: e.Seq}
			groups[e.group] = h
		}
		if e.returned || e.disposition > h.disposition || e.severity > h.severity || e.invalidates && !h.invalidates {
			h.raised = e.Seq
		}
		h.disposition, h.severity = max(h.disposition, e.disposition), max(h.severity, e.severity)
		h.invalidates = h.invalidates || e.invalidates
	}
	from := map[group]uint64{}
	for g, h := range groups {
		switch first := it.groups[g].first; {
		case it.rules[g.rule].resolved:
		case first > mark:
			from[g] = first
		case h.raised > mark:
			from[g] = h.raised
		}
	}
	for _, e := range it.held {
		if f := from[e.group]; f != 0 && e.Seq >= f {
			moved = append(moved, e)
		} else {
			left = append(left, e)
		}
	}
	return left, moved
}

// covered reports whether an acknowledged item covers an entry by its group, or by its rule in the quiet time.
func (m *model) covered(e *entry) bool {
	return slices.ContainsFunc(m.items, func(it *item) bool {
		r := it.rules[e.rule]
		return it.acked && !it.past && !it.gone && r != nil && (m.soon(it) || it.akin(e) && !r.resolved)
	})
}

// soon reports whether an entry comes in the quiet time of an item that was acknowledged.
func (m *model) soon(it *item) bool {
	if m.phase == "start" {
		return !m.passed(loadMax, it.ackedTime)
	}
	return !m.passed(m.cfg.Coalesce.QuietTime, it.ackedTime)
}

// accounts returns the item that holds the group of an entry and was acknowledged last, or
// nil. It is not sure where items may hold it of which not all is known.
func (m *model) accounts(e *entry, s scope) (latest *item, sure bool) {
	sure = true
	for _, it := range m.items {
		if !it.acked || it.gone || it.past || (s == blinding) != (it.scope == blinding) ||
			(s == hosted) != (it.scope == hosted) {
			continue
		}
		r := it.rules[e.rule]
		if it.vague || it.blurred || it.merged {
			sure = false
			continue
		}
		if r == nil || r.resolved || it.groups[e.group] == nil {
			continue
		}
		if latest == nil || it.ackedAt >= latest.ackedAt {
			if latest != nil && it.ackedAt == latest.ackedAt {
				sure = false
			}
			latest = it
		}
	}
	return latest, sure
}

// worse reports whether an entry may be worse than what an item was acknowledged with.
func (m *model) worse(e *entry, it *item) bool {
	return e.disposition > it.disposition || e.severity > it.severity || e.invalidates && !it.invalidates
}

// mayAbsorb says why a cleared item cannot account for an entry.
func (m *model) mayAbsorb(e *entry, it *item, s scope) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("acknowledgement: entry %d was suppressed by %s: %s", e.Seq, it.id, fmt.Sprintf(format, args...))
	}
	if !it.acked {
		return wrong("nobody acknowledged that")
	}
	if it.past {
		return wrong("it belongs to an earlier run")
	}
	if h := m.holder(e); s == other && h != nil && e.disposition == event.Blocking {
		return wrong("%s is open and holds its group", h.id)
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
	if it.groups[e.group] == nil && !it.blurred {
		switch {
		case (r == nil || r.first > it.ackedAt) && !it.akin(e), !m.soon(it):
			return wrong("it does not know %s %s", e.rule, e.group.sig.ID)
		case m.acts(e, it):
			return wrong("%s %s is new, and came in a call that began since", e.rule, e.group.sig.ID)
		case m.worst(e):
			return wrong("it is worse than all that it holds")
		}
		return nil
	}
	latest, sure := m.accounts(e, s)
	if sure && latest != it {
		return wrong("%s was acknowledged later", latest.id)
	}
	if sure && m.worst(e) {
		return wrong("it is worse than all that it holds")
	}
	if g := it.groups[e.group]; sure && g != nil && e.disposition == event.Blocking && !it.severer {
		switch {
		case s == hosted && g.last.generation == m.now.generation && m.passed(runGap, g.last):
			return wrong("the host raises it again")
		case s == other && it.ackedAt < m.load.seq && m.loads():
			return wrong("a load began since, and nothing of it was acknowledged")
		}
	}
	if it.groups[e.group] == nil && r != nil && m.soon(it) {
		return nil // it may be new
	}
	last := it.last
	g := it.groups[e.group]
	if g != nil {
		last = g.last
	}
	if !it.severer && last.generation == m.now.generation && it.last.generation == last.generation &&
		m.passed(m.cfg.Coalesce.AckMemory, last) &&
		(!it.blurred || !m.soon(it) && m.passed(m.cfg.Coalesce.AckMemory, it.last)) { // the group may have no counter
		return wrong("quiet since %d", last.seq)
	}
	if sure && s == other && e.disposition == event.Blocking && m.charged(e, it) {
		return wrong("it came in calls alone, and in one that began since")
	}
	return nil
}

// worst reports whether an entry is worse than the most that acknowledged items with its rule
// were acknowledged with.
func (m *model) worst(e *entry) bool {
	var most item
	for _, it := range m.items {
		if !it.acked || it.rules[e.rule] == nil {
			continue
		}
		if it.severer {
			return false
		}
		most.disposition, most.severity = max(most.disposition, it.disposition), max(most.severity, it.severity)
		most.invalidates = most.invalidates || it.invalidates
	}
	return m.worse(e, &most)
}

// onceWithin is the span in which all entries of a group are one occurrence.
var onceWithin = coalesce.Window{Duration: time.Second, Entries: 64}

// mayCharge says why an entry that an acknowledged item holds cannot be charged to a call that
// began since: its group comes by itself, or it stands.
func (m *model) mayCharge(e *entry, it *item) error {
	if m.background(e, it) {
		return fmt.Errorf("charges: entry %d opened an item, and %s %s comes by itself", e.Seq, e.rule,
			e.group.sig.ID)
	}
	var call *operation
	for id, o := range m.ops {
		if m.windowed(o) {
			if call != nil || o.since.seq <= it.ackedAt || len(o.links) > 0 || e.OperationID != "" && e.OperationID != id {
				return nil
			}
			call = o
		}
	}
	if inside, sure := m.inside(); call == nil || !inside || !sure {
		return nil
	}
	r := m.returns[e.group]
	if r == nil || r.item != it || m.calls > r.call+20 || m.fresh > r.at {
		r = &returns{}
		m.returns[e.group] = r
	}
	if r.stops >= 3 && len(it.late) < 9 {
		return fmt.Errorf("charges: entry %d opened an item, and stopped calls %d times since it was acknowledged", e.Seq,
			r.stops)
	}
	if !m.reads || m.reread >= it.first {
		r.stops++
	}
	r.call, r.at, r.item = m.calls, m.now.seq, nil // the one that it opens
	return nil
}

// background reports whether a group, by the entries of an acknowledged item that holds it, for certain comes by
// itself.
func (m *model) background(e *entry, it *item) bool {
	if l := lawOf(&e.Entry, m.phase); it.severer || l != nil && l.repeated > 0 {
		return false // what came before was something else
	}
	if m.now.generation > 1 {
		return false // where the clock was set back, a call may linger again
	}
	alone := 0 // at least
	for p := it; p != nil; p = p.after {
		if p.severer || p.vague {
			return false
		}
	}
	var last *entry
	for _, x := range slices.Concat(it.held, it.late) {
		if x.group != e.group {
			continue
		}
		if last != nil && x.sure && !x.inside && !x.loading && x.OperationID == "" &&
			between(runGap, last.when, x.when) {
			if x.started < last.Seq {
				alone++
			}
		}
		last = x
	}
	return alone >= aloneAfter
}

// charged reports whether an entry that an acknowledged item holds is for certain charged to a
// call: all its group ever did was in calls, and this is another one, and it did not
// return so often that it stands.
func (m *model) charged(e *entry, it *item) bool {
	inside, sure := m.inside()
	if !inside || !sure || m.loadMay() || len(m.blind) > 0 || !m.passed(onceWithin, it.groups[e.group].last) {
		return false
	}
	for _, o := range m.ops {
		if m.windowed(o) && o.since.seq <= it.ackedAt {
			return false // it may be what that call did before
		}
	}
	if o := m.ops[e.OperationID]; e.OperationID != "" && (o == nil || !m.windowed(o)) {
		return false
	}
	unread := m.reads // reads are reported, and none since the first of the group
	stops, first := 0, true
	for _, x := range m.entries {
		if x != e && x.group == e.group {
			if !x.inside {
				return false
			}
			unread = unread && x.Seq > m.reread
			if !x.late && !first && x.Seq > m.fresh {
				stops++ // at most
			}
			first = false
		}
	}
	return stops < 3 || unread && stops < 6
}

// acts reports whether an entry is for certain in a call that began after an acknowledgement.
func (m *model) acts(e *entry, it *item) bool {
	inside, sure := m.inside()
	if !inside || !sure {
		return false
	}
	for id, o := range m.ops {
		if m.windowed(o) && o.first > it.ackedAt && (e.OperationID == "" || e.OperationID == id) {
			return true
		}
	}
	return false
}
