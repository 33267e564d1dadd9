package coalesce

import (
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// scopeKind says what the entries of an item have in common.
type scopeKind uint8

const (
	scopeAmbient scopeKind = iota
	scopeOperation
	scopeBlind
)

type itemState uint8

const (
	itemFree itemState = iota
	itemOpen
	itemCleared
)

// item is the bounded fold of urgent entries that belong together, and what
// became of it. It outlives its burst: until it is acknowledged, resolved or
// expired, and then as a memory of what was acknowledged.
type item struct {
	state  itemState
	number uint64
	id     string
	scope  scopeKind

	// operation and method name the root operation of the burst. inferred says
	// that no entry named it.
	operation string
	method    string
	inferred  bool

	disposition event.Disposition
	severity    event.Severity
	invalidates bool

	opened    moment
	openedPos uint64
	latest    moment
	latestPos uint64

	total     uint64 // urgent entries, those after its acknowledgement included
	untracked uint64 // entries of groups without a counter
	absorbed  uint64 // entries after its acknowledgement

	counters counters
	rules    []ruleCount // capacity maxRules
	allRules bool        // rules holds every rule that was met

	cause          Cause
	causeOperation string // that the cause named, if it did
	causeMethod    string
	prelude        uint64

	nextCount  uint64
	nextGroups uint64

	roseAt  moment // when the severity or the disposition rose last
	shown   moment // what a consumer has seen of the item
	rate    rate
	ackRate uint64 // rate at the acknowledgement

	predecessor uint64
	clearedBy   Reason
	acked       bool
	clearedAt   uint64 // order of clearing, for displacement

	covers []cover // what the latest view of this item as the current one named

	pending    UpdateKind // 0: none
	pendingWhy Reason
	pendingSeq uint64
	pendingPos uint64
}

// cover is an item named by the view of another, and how far it was shown.
type cover struct {
	number uint64
	mark   uint64
}

// reset makes a used item as new, keeping its memory.
func (it *item) reset() {
	counters, rules, covers := it.counters, it.rules[:0], it.covers[:0]
	counters.reset()
	clear(it.rules[:cap(it.rules)])
	*it = item{counters: counters, rules: rules, covers: covers, allRules: true, nextCount: 2, nextGroups: 2}
}

func (it *item) open() bool { return it.state == itemOpen }

// blocking reports whether the item stops an agent now.
func (it *item) blocking() bool { return it.open() && it.disposition == event.Blocking }

// rule returns what the item knows about the rule called id, or nil.
func (it *item) rule(id string) *ruleCount {
	for i := range it.rules {
		if it.rules[i].rule == id {
			return &it.rules[i]
		}
	}
	return nil
}

// familiarGroups is the number of groups from which an item is known for its
// rules rather than for its groups: one more form of the same fault is no news.
const familiarGroups = 8

// knows reports whether an entry of (rule, sig) is a repeat of what the item
// holds.
func (it *item) knows(rule string, sig signature.Signature) bool {
	if it.counters.find(rule, sig) != nil {
		return true
	}
	return len(it.counters.rows) >= familiarGroups && it.rule(rule) != nil
}

// resolved reports whether every rule at the item's disposition is resolved.
func (it *item) resolved() bool {
	if !it.allRules {
		return false
	}
	for i := range it.rules {
		if r := &it.rules[i]; r.disposition == it.disposition && !r.resolved {
			return false
		}
	}
	return true
}

// nextMark returns the mark after n in the series 2, 5, 10, 20, 50, ….
func nextMark(n uint64) uint64 {
	for lead := uint64(1); ; lead *= 10 {
		for _, m := range [...]uint64{2 * lead, 5 * lead, 10 * lead} {
			if m > n {
				return m
			}
		}
		if lead > 1<<59 {
			return 1<<64 - 1
		}
	}
}

// folded is what adding one entry to an item changed.
type folded struct {
	newGroup bool
	newCause bool
	why      Reason // the most telling reason for an update, or ""
}

// add folds one urgent entry into the item. The item must be open, or be
// acknowledged and know the entry.
func (it *item) add(in *Input, at moment, maxText int, window *Window) folded {
	var f folded
	e, d := in.Entry, &in.Decision
	it.total++
	it.latest, it.latestPos = at, e.Pos
	it.rate.add(window, at)

	c := it.counters.find(d.Rule, in.Signature)
	if c == nil && it.open() {
		if c = it.counters.add(d.Rule, in.Signature); c != nil {
			f.newGroup = true
			c.first, c.firstPos = at, e.Pos
			c.text = sampleText(e, maxText)
		}
	}
	if c != nil {
		c.add(in, at)
	} else {
		it.untracked++
	}
	if !it.open() {
		it.absorbed++
		return f
	}

	switch r := it.rule(d.Rule); {
	case r != nil:
		r.disposition = max(r.disposition, d.Disposition)
		r.resolved = false
	case len(it.rules) < cap(it.rules):
		it.rules = append(it.rules, ruleCount{rule: d.Rule, summary: in.Summary, disposition: d.Disposition, first: at})
		f.why = ReasonRule
	default:
		it.allRules = false
	}

	// Later assignments win: the order is by how much they tell.
	if groups := uint64(len(it.counters.rows)); groups >= it.nextGroups {
		it.nextGroups = nextMark(groups)
		f.why = ReasonGroups
	}
	if it.total >= it.nextCount {
		it.nextCount = nextMark(it.total)
		f.why = ReasonCount
	}
	if d.Invalidates && !it.invalidates {
		it.invalidates = true
		f.why = ReasonInvalidated
	}
	if d.Severity > it.severity {
		it.severity, it.roseAt = d.Severity, at
		f.why = ReasonSeverity
	}
	if d.Disposition > it.disposition {
		it.disposition, it.roseAt = d.Disposition, at
		it.prelude = it.total - 1
		it.cause = Cause{Seq: e.Seq, Pos: e.Pos, Rule: d.Rule, Signature: in.Signature}
		it.causeOperation, it.causeMethod = in.causeOperation, in.causeMethod
		f.newCause = true
		f.why = ReasonDisposition
	}
	return f
}
