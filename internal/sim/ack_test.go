package sim

import (
	"fmt"
	"maps"
	"slices"

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
