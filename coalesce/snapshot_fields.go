package coalesce

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/wire"
	"github.com/heedlog/heed/signature"
)

// logicalTime codes a point that is not after now.
func (s *coder) logicalTime(what string, m *logicalTime) {
	now := &s.c.now
	s.Uint64(what, &m.seq, now.seq)
	s.Uint64(what, &m.generation, now.generation)
	wire.Int(&s.Coder, what, &m.at, -farthest, farthest)
	if clocked(*m, *now) && m.at > now.at {
		s.Fail("%s is later than now", what)
	}
}

func (s *coder) place(what string, p *place) {
	s.Uint64(what, &p.seq, s.c.now.seq)
	s.Uint64(what, &p.pos, math.MaxUint64)
}

func (s *coder) consumers(v *consumers) {
	s.Uint64("consumers.calls", &v.calls, math.MaxUint64)
	s.Uint64("consumers.evicted", &v.evicted, v.calls)
	n := s.Len("consumers", len(v.list), cap(v.list))
	if n == 0 {
		s.Fail("the consumer without a name is missing")
	} else if s.Reading() {
		v.list = v.list[:n]
	}
	for i := range v.list {
		w := &v.list[i]
		s.Text("consumer.name", &w.name, maxConsumerName)
		s.Bool("consumer.attached", &w.attached)
		s.Uint64("consumer.used", &w.used, v.calls)
		if (i == 0) != (w.name == "") || slices.ContainsFunc(v.list[:i], func(o consumer) bool { return o.name == w.name }) {
			s.Fail("consumer %d is called %q", i, w.name)
		}
	}
}

func (s *coder) operations(t *operations) {
	s.Uint64("operations.numbers", &t.numbers, maxCount)
	s.Uint64("operations.evicted", &t.evicted, math.MaxUint64)
	s.Uint64("operations.abandoned", &t.abandoned, math.MaxUint64)
	s.Uint64("operations.anonymous", &t.anonymous, math.MaxUint64)
	n := s.Len("operations", len(t.order), t.limit)
	for i := range n {
		if s.Reading() {
			t.order = append(t.order, &operation{})
		}
		o := t.order[i]
		s.Uint64("operation.number", &o.number, t.numbers)
		s.define(o)
		s.itemRef("operation.openItem", &o.openItem)
		if s.Reading() {
			s.enter(t, o)
		}
	}
}

// enter enters an operation that was read into the table.
func (s *coder) enter(t *operations, o *operation) {
	switch {
	case t.byID[o.id] != nil || s.ops[o.number] != nil || o.number == 0:
		s.Fail("operation %q occurs twice", o.id)
	case o.gone:
		s.Fail("operation %q is evicted, but in the table", o.id)
	}
	t.byID[o.id], s.ops[o.number], s.known[o] = o, o, true
}

// define codes what is known of an operation. What one that is not known any more
// gathered means nothing.
func (s *coder) define(o *operation) {
	s.Text("operation.id", &o.id, maxOperationID)
	s.Text("operation.parent", &o.parent, maxOperationID)
	s.Text("operation.method", &o.method, maxOperationID)
	wire.Uint(&s.Coder, "operation.status", &o.status, event.StatusTimedOut)
	s.Bool("operation.seen", &o.seen)
	s.Bool("operation.begun", &o.begun)
	s.Bool("operation.gone", &o.gone)
	s.logicalTime("operation.started", &o.started)
	s.logicalTime("operation.ended", &o.ended)
	s.Bool("operation.abandoned", &o.abandoned)
	oneOf(s, "operation.gap", &o.gap, verdictReasons[:])
	s.Bool("operation.doubtful", &o.doubtful)
	wire.Uint(&s.Coder, "operation.worst", &o.worst, event.Blocking)
	s.Uint64("operation.item", &o.item, s.c.numbers)
	s.mark("operation.marked", &o.marked)
	s.Uint64("operation.lastItem", &o.lastItem, s.c.numbers)
	if o.id == "" {
		s.Fail("an operation has no id")
	}
}

// operation codes a reference to an operation, or nil: its number. One that is not
// in the table is defined where a part refers to it first, so that no part needs
// another one, and parts may be written in any order. It changes no more.
func (s *coder) operation(what string, ref **operation) {
	var n uint64
	if o := *ref; o != nil {
		n = o.number
	}
	s.Uint64(what, &n, s.c.ops.numbers)
	if n == 0 {
		return
	}
	if !s.Reading() {
		if o := *ref; o.known != s.c.saved.snapshot && o.part != s.c.saved.part {
			o.part = s.c.saved.part
			s.define(o)
		}
		return
	}
	o := s.ops[n]
	if o == nil {
		o = &operation{number: n}
		s.ops[n] = o
	}
	if !s.known[o] && !s.here[o] {
		s.here[o] = true
		s.define(o)
	}
	*ref = o
}

// itemRef codes a reference to an item, or nil.
func (s *coder) itemRef(what string, it **item) {
	items := s.c.items
	var n uint64 // index plus one
	if *it != nil {
		for &items[n] != *it {
			n++
		}
		n++
	}
	s.Uint64(what, &n, uint64(len(items)))
	if s.Reading() && n > 0 {
		*it = &items[n-1]
	}
}

// item codes an item but for its groups.
func (s *coder) item(it *item) {
	wire.Uint(&s.Coder, "item.state", &it.state, itemCleared)
	if it.state == itemFree {
		return
	}
	c := s.c
	s.Uint64("item.number", &it.number, c.numbers)
	if s.Reading() {
		it.id = c.id(it.number)
	}
	wire.Uint(&s.Coder, "item.scope", &it.scope, scopeDigest)
	s.operation("item.root", &it.root)
	s.Text("item.key", &it.key, math.MaxInt32)
	s.digest(&it.digest)

	wire.Uint(&s.Coder, "item.disposition", &it.disposition, event.Blocking)
	wire.Uint(&s.Coder, "item.severity", &it.severity, event.SeverityFatal)
	s.Bool("item.invalidates", &it.invalidates)

	s.place("item.opened", &it.opened)
	s.logicalTime("item.latest", &it.latest)
	s.Uint64("item.latestPos", &it.latestPos, math.MaxUint64)
	s.logicalTime("item.alive", &it.alive)

	s.Uint64("item.total", &it.total, c.now.seq)
	s.Uint64("item.untracked", &it.untracked, it.total)
	s.Bool("item.allRules", &it.allRules)

	s.cause(&it.cause)
	s.operation("item.causeBy", &it.causeBy)
	s.Uint64("item.prelude", &it.prelude, math.MaxUint64)
	s.Uint64("item.severeAt", &it.severeAt, c.now.seq)
	s.Uint64("item.invalidatedAt", &it.invalidatedAt, c.now.seq)
	s.Uint64("item.nextCount", &it.nextCount, math.MaxUint64)
	s.Uint64("item.nextGroups", &it.nextGroups, math.MaxUint64)

	for i := range c.consumers.list {
		s.Uint64("item.delivered", &it.delivered[i], c.now.seq)
	}
	wire.Int(&s.Coder, "item.consumer", &it.consumer, 0, len(c.consumers.list)-1)
	s.Uint64("item.viewed", &it.viewed, c.now.seq)
	n := s.Len("item.covers", len(it.covers), c.cfg.MaxNamed)
	if s.Reading() {
		it.covers = make([]cover, n)
	}
	for i := range it.covers {
		s.Uint64("cover.number", &it.covers[i].number, c.numbers)
		s.Uint64("cover.watermark", &it.covers[i].watermark, c.now.seq)
	}

	s.rate(&it.rate)
	s.Uint64("item.ackRate", &it.ackRate, math.MaxUint64)
	s.Uint64("item.predecessor", &it.predecessor, c.numbers)
	s.Text("item.known", &it.known, utf8.UTFMax*maxItemName)
	oneOf(s, "item.clearedBy", &it.clearedBy, reasons[:])
	s.Bool("item.acked", &it.acked)
	s.Uint64("item.ackedAt", &it.ackedAt, c.now.seq)
	s.Bool("item.shared", &it.shared)
	s.Bool("item.deferred", &it.deferred)
	s.Bool("item.told", &it.told)
	s.Bool("item.past", &it.past)
	s.Bool("item.unpinned", &it.unpinned)
	s.Uint64("item.clearedAt", &it.clearedAt, c.clears)
	oneOf(s, "item.pending", &it.pending, updateKinds[:])
	oneOf(s, "item.pendingWhy", &it.pendingWhy, reasons[:])
	s.place("item.pendingAt", &it.pendingAt)
}

func (s *coder) digest(d *digest) {
	wire.Int(&s.Coder, "digest.items", &d.items, 0, math.MaxInt32)
	s.Uint64("digest.entries", &d.entries, s.c.now.seq)
	s.place("digest.from", &d.from)
	n := s.Len("digest.samples", len(d.samples), s.c.cfg.MaxSamples)
	if s.Reading() && n > 0 {
		d.samples = make([]Sample, n)
	}
	for i := range d.samples {
		a := &d.samples[i]
		wire.Uint(&s.Coder, "sample.level", &a.Level, event.SeverityFatal)
		s.sampleText("sample.message", &a.Message)
		s.Uint64("sample.repeatCount", &a.RepeatCount, s.c.now.seq)
		s.Uint64("sample.latestSequence", &a.LatestSequence, s.c.now.seq)
		s.rule("sample.rule", &a.Rule)
		s.signature(&a.Signature)
		s.Uint64("sample.firstPos", &a.FirstPos, math.MaxUint64)
		s.Uint64("sample.latestPos", &a.LatestPos, math.MaxUint64)
		s.blame(&a.Blame)
		s.variants(&a.Variants)
	}
}

// variants codes the variants that a sample has.
func (s *coder) variants(all *Variants) {
	n := s.Len("sample.variants", len(*all), maxVariants+1)
	if s.Reading() && n > 0 {
		*all = make(Variants, n)
	}
	for i := range *all {
		v := &(*all)[i]
		s.Text("variant.value", &v.Value, math.MaxInt32)
		s.Bool("variant.others", &v.Others)
		s.Uint64("variant.count", &v.Count, s.c.now.seq)
	}
}

// blame codes the names that a sample has.
func (s *coder) blame(names *[]string) {
	n := s.Len("sample.blame", len(*names), maxBlame)
	if s.Reading() && n > 0 {
		*names = make([]string, n)
	}
	for i := range *names {
		s.Text("sample.blame", &(*names)[i], math.MaxInt32)
	}
}

func (s *coder) counters(t *counters) {
	n := s.Len("groups", len(t.rows), cap(t.rows))
	if !s.Reading() {
		for i := range t.rows {
			s.counter(&t.rows[i])
		}
		s.uncounted(t)
		return
	}
	for range n {
		var row counter
		s.counter(&row)
		if t.find(row.rule, row.sig, row.variant) != nil {
			s.Fail("the variant %q of the group %v of the rule %q occurs twice", row.variant, row.sig, row.rule)
		}
		if s.Err() != nil {
			return
		}
		t.add(row)
	}
	t.last = 0
	s.uncounted(t)
}

func (s *coder) counter(r *counter) {
	s.signature(&r.sig)
	s.rule("counter.rule", &r.rule)
	s.rule("counter.variant", &r.variant)
	wire.Uint(&s.Coder, "counter.disposition", &r.disposition, event.Blocking)
	wire.Uint(&s.Coder, "counter.severity", &r.severity, event.SeverityFatal)
	s.Bool("counter.invalidates", &r.invalidates)
	s.Uint64("counter.count", &r.count, s.c.now.seq)
	s.place("counter.first", &r.first)
	s.operation("counter.firstBy", &r.firstBy)
	s.logicalTime("counter.last", &r.last)
	s.Uint64("counter.lastPos", &r.lastPos, math.MaxUint64)
	s.turn(&r.worst)
	s.turn(&r.raised)
	s.sampleText("counter.text", &r.text)
	s.accused(&r.accused)
	s.recurrence(&r.recurrence)
}

// accused codes the mods that the entries of a group point at.
func (s *coder) accused(all *Accused) {
	n := s.Len("counter.accused", len(*all), maxAccused)
	if s.Reading() && n > 0 {
		*all = make(Accused, n)
	}
	for i := range *all {
		s.Text("accused.name", &(*all)[i].Name, math.MaxInt32)
		s.Uint64("accused.entries", &(*all)[i].Entries, s.c.now.seq)
		s.Uint64("accused.first", &(*all)[i].First, math.MaxUint64)
	}
}

func (s *coder) recurrence(ref **recurrence) {
	there := *ref != nil
	if s.Bool("recurrence", &there); !there {
		return
	}
	if s.Reading() {
		*ref = &recurrence{}
	}
	x := *ref
	for i := range x.seen {
		wire.Uint(&s.Coder, "recurrence.seen", &x.seen[i], math.MaxUint32)
		s.span("recurrence.since", &x.since[i])
	}
	s.Uint64("recurrence.times", &x.times, s.c.now.seq)
	s.logicalTime("recurrence.first", &x.first)
	s.Uint64("recurrence.call", &x.call, maxCount)
	n := s.Len("recurrence.stops", len(x.stops), maxMethods)
	if s.Reading() && n > 0 {
		x.stops = make([]stops, n)
	}
	for i := range x.stops {
		t := &x.stops[i]
		s.rule("stops.method", &t.method)
		wire.Int(&s.Coder, "stops.count", &t.count, 0, standingAfter)
		wire.Int(&s.Coder, "stops.unread", &t.unread, 0, standingAfter)
		s.Uint64("stops.from", &t.from, x.call)
		s.Uint64("stops.pace", &t.pace, maxCount)
		s.Uint64("stops.run", &t.run, maxCount)
		s.Uint64("stops.runFrom", &t.runFrom, x.call)
	}
}

func (s *coder) span(what string, v *span) {
	wire.Int(&s.Coder, what, &v.at, 0, farthest)
	s.Uint64(what, &v.entries, maxCount)
}

func (s *coder) mark(what string, m *mark) {
	s.Uint64(what, &m.item, s.c.numbers)
	oneOf(s, what, &m.why, verdictReasons[:])
}

// verdictReasons are all that a mark or a gap may have, by their number in a snapshot.
var verdictReasons = [...]VerdictReason{
	"", ReasonBackground, ReasonStanding, ReasonBlind, ReasonMissing, ReasonAbandoned, ReasonDoubtful, ReasonCharged,
}

// calls codes when calls are under way; which those are follows from the operations.
func (s *coder) calls(v *calls) {
	s.Uint64("calls.begun", &v.begun, maxCount)
	for i := range v.spent {
		s.span("calls.spent", &v.spent[i])
	}
	wire.Int(&s.Coder, "calls.side", &v.side, outside, inside)
	s.logicalTime("calls.since", &v.since)
	s.Bool("calls.reads", &v.reads)
	s.Uint64("calls.readAt", &v.readAt, s.c.now.seq)
	s.mark("calls.owed", &v.owed)
}

func (s *coder) allowance(a *allowance) {
	s.Uint64("allowance.groups", &a.groups, maxCount)
	s.Uint64("allowance.stops", &a.stops, maxCount)
	s.Uint64("allowance.spent", &a.spent, maxCount)
}

func (s *coder) load(l *load) {
	s.logicalTime("load.began", &l.began)
	s.logicalTime("load.playing", &l.playing)
	s.logicalTime("load.called", &l.called)
	wire.Int(&s.Coder, "load.calls", &l.calls, 0, loadCalls)
	s.Bool("load.acked", &l.acked)
}

func (s *coder) turn(t *turn) {
	s.place("turn", &t.place)
	s.operation("turn.named", &t.named)
	s.Uint64("turn.count", &t.count, math.MaxUint64)
	wire.Uint(&s.Coder, "turn.disposition", &t.disposition, event.Blocking)
	wire.Uint(&s.Coder, "turn.severity", &t.severity, event.SeverityFatal)
}

func (s *coder) rules(it *item) {
	n := s.Len("rules", len(it.rules), maxRules)
	if s.Reading() {
		it.rules = it.rules[:n]
	}
	for i := range it.rules {
		r := &it.rules[i]
		s.rule("rule", &r.rule)
		s.rule("rule.summary", &r.summary)
		s.rule("rule.advice", &r.advice)
		wire.Uint(&s.Coder, "rule.effects", &r.effects, 2*levels-1)
		s.Uint64("rule.untracked", &r.untracked, s.c.now.seq)
		wire.Uint(&s.Coder, "rule.disposition", &r.disposition, event.Blocking)
		s.Uint64("rule.first", &r.first, s.c.now.seq)
		s.Bool("rule.resolved", &r.resolved)
		if it.rule(r.rule) != r {
			s.Fail("the rule %q occurs twice", r.rule)
		}
	}
}

func (s *coder) cause(c *CauseEntry) {
	s.Uint64("cause.seq", &c.Seq, s.c.now.seq)
	s.Uint64("cause.pos", &c.Pos, math.MaxUint64)
	s.rule("cause.rule", &c.Rule)
	s.signature(&c.Signature)
}

func (s *coder) rate(r *rate) {
	s.logicalTime("rate.start", &r.start)
	s.Uint64("rate.current", &r.current, s.c.now.seq)
	s.Uint64("rate.previous", &r.previous, s.c.now.seq)
}

func (s *coder) signature(sig *signature.Signature) {
	s.Fixed64("signature.id", (*uint64)(&sig.ID))
	s.Fixed32("signature.check", &sig.Check)
}

// rule codes an id or a summary of a rule, or a variant: those that are equal share a copy, as
// those of a rule set do.
func (s *coder) rule(what string, id *string) { s.Name(what, id, math.MaxInt32) }

func (s *coder) sampleText(what string, text *string) {
	s.Text(what, text, utf8.UTFMax*s.c.cfg.MaxSampleText)
}

// reasons are all that an item may be given, by their number in a snapshot.
var reasons = [...]Reason{
	"", reasonNew, reasonReturned, reasonRate,
	reasonCharged, reasonStanding,
	reasonLoaded, reasonGroups, reasonCount, reasonVariant, reasonInvalidated, reasonSeverity, reasonDisposition,
	ReasonAcknowledged, ReasonResolved, ReasonExpired, ReasonEvicted, reasonWithdrawn, reasonAttached, ReasonRestarted,
}

// updateKinds are the kinds of a pending update, by their number in a snapshot.
var updateKinds = [...]string{"", Opened, Updated, Cleared}

// oneOf codes one of the values in all as its number there.
func oneOf[T ~string](s *coder, what string, v *T, all []T) {
	n := uint8(max(0, slices.Index(all, *v)))
	wire.Uint(&s.Coder, what, &n, uint8(len(all)-1))
	*v = all[n]
}

func (s *coder) queue() {
	c := s.c
	n := s.Len("queue", len(c.queue), len(c.items))
	if s.Reading() {
		c.queue = c.queue[:n]
	}
	for i := range c.queue {
		s.itemRef("queue", &c.queue[i])
	}
}

func (s *coder) escalations() {
	c := s.c
	n := s.Len("escalations", len(c.escalations), maxEscalations)
	if s.Reading() {
		c.escalations = make([]*escalation, n)
		for i := range c.escalations {
			c.escalations[i] = &escalation{}
		}
	}
	for _, x := range c.escalations {
		s.rule("escalation.rule", &x.rule)
		wire.Int(&s.Coder, "escalation.after", &x.after, 1, math.MaxInt32)
		n := s.Len("escalation.ring", len(x.ring), x.after)
		if s.Reading() {
			x.ring = make([]logicalTime, n)
		}
		for i := range x.ring {
			s.logicalTime("escalation.ring", &x.ring[i])
		}
		wire.Int(&s.Coder, "escalation.next", &x.next, 0, max(n-1, 0))
		if !x.full() && x.next != 0 {
			s.Fail("the repeats of the rule %q do not begin at the start", x.rule)
		}
	}
}

// stats codes what is counted, not what Stats works out.
func (s *coder) stats(st *Stats) {
	for _, f := range [...]struct {
		name string
		v    *uint64
	}{
		{"Received", &st.Received},
		{"Ignored", &st.Ignored},
		{"Folded", &st.Folded},
		{"ByDisposition", &st.ByDisposition[0]},
		{"ByDisposition", &st.ByDisposition[1]},
		{"ByDisposition", &st.ByDisposition[2]},
		{"Suppressed", &st.Suppressed},
		{"Overflowed", &st.Overflowed},
		{"Opened", &st.Opened},
		{"Reopened", &st.Reopened},
		{"Cleared", &st.Cleared},
		{"Acknowledged", &st.Acknowledged},
		{"Evicted", &st.Evicted},
		{"FoldedEvicted", &st.FoldedEvicted},
		{"Updates", &st.Updates},
		{"UpdatesDropped", &st.UpdatesDropped},
	} {
		s.Uint64(f.name, f.v, maxCount)
	}
	if s.Reading() {
		st.Blind = s.c.blind
	}
}
