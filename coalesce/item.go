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
	scopeHost   // raised by the host, under a key
	scopeDigest // of what was open before an agent came
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
	root   *operation // of scopeOperation
	key    string     // of scopeHost
	digest digest     // of scopeDigest

	disposition event.Disposition
	severity    event.Severity
	invalidates bool

	opened    place
	latest    logicalTime
	latestPos uint64
	alive     logicalTime // from which AdvisoryTTL runs: latest, or the making of a successor

	total     uint64 // urgent entries, those after its acknowledgement included
	untracked uint64 // entries of groups without a counter

	counters counters
	rules    []ruleCount // capacity maxRules
	allRules bool        // rules holds every rule that was met

	// cause is the entry at which the disposition reached its present height,
	// causeBy the operation that it named, or nil.
	cause   Cause
	causeBy *operation
	prelude uint64

	severeAt      uint64 // sequence number at which the severity rose last
	invalidatedAt uint64 // and at which state became invalid, or 0

	nextCount  uint64
	nextGroups uint64

	delivered []uint64 // for each consumer, the sequence number up to which it has seen the item
	consumer  int      // that saw it as the current one last,
	viewed    uint64   // up to which sequence number,
	covers    []cover  // and which others were named with it

	rate    rate
	ackRate uint64 // per span, at the acknowledgement

	predecessor uint64
	clearedBy   Reason
	acked       bool
	unpinned    bool   // its evidence is no longer pinned
	clearedAt   uint64 // order of clearing, for displacement
	familiar    bool   // its rules are in the index

	pending    string // 0: none
	pendingWhy Reason
	pendingAt  place

	saved savedItem
}

// cover is an item named by the latest view of another as the current one, and
// how far it was shown.
type cover struct {
	number    uint64
	watermark uint64
}

// reset makes an item free, keeping its memory but nothing that it points to.
func (it *item) reset() {
	it.counters.reset()
	clear(it.rules[:cap(it.rules)])
	clear(it.delivered)
	*it = item{
		counters: it.counters, rules: it.rules[:0], delivered: it.delivered, covers: it.covers[:0],
		saved: it.saved, allRules: true, nextCount: 2, nextGroups: 2,
	}
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
// holds and nothing has resolved.
func (it *item) knows(rule string, sig signature.Signature) bool {
	r := it.rule(rule)
	if r != nil && r.resolved {
		return false
	}
	return it.counters.find(rule, sig) != nil || r != nil && len(it.counters.rows) >= familiarGroups
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

// nextThreshold returns the threshold after n in the series 2, 5, 10, 20, 50, ….
func nextThreshold(n uint64) uint64 {
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

// Rows beyond Config.MaxGroups are kept for what an agent has to hear of. Each
// item grows worse at most five times after its first entry: three times in
// severity, once in disposition, once in validity.
const (
	reservedForWorse = 5
	reservedForRules = 11
	reservedRows     = reservedForWorse + reservedForRules
)

// room reports whether an entry of a new group gets a counter. Where MaxGroups
// have one already, only the first of a rule does, and what makes the item
// worse: so the cause is always among the groups, and an acknowledgement of
// what was before cannot take it along unseen.
func (it *item) room(d *event.Decision) bool {
	switch left := cap(it.counters.rows) - len(it.counters.rows); {
	case left > reservedRows:
		return true
	case it.worsens(d):
		return left > 0
	default:
		return left > reservedForWorse && it.rule(d.Rule) == nil
	}
}

// worsens reports whether an entry that d decides about makes the item worse
// than it is.
func (it *item) worsens(d *event.Decision) bool {
	return d.Disposition > it.disposition || d.Severity > it.severity || d.Invalidates && !it.invalidates
}

// count counts one entry at now.
func (it *item) count(now logicalTime, pos uint64, cfg *Config) {
	it.total++
	it.latest, it.latestPos, it.alive = now, pos, now
	it.rate.add(&cfg.RateWindow, now)
}

// repeat does what add does for an entry that the item knows and that changes
// nothing about it but counts, and returns true; else it does nothing. It saves 25
// of 37 ns: most of add is about what may change, and storms consist of what does
// not. A fuzz test holds the two to each other.
//
// c is the entry's counter, or nil where it was not looked for. Where unmoved held
// of it at this version of the Coalescer, it does until an entry is worse than its
// group: an item is as bad as its groups, and nothing else but another version makes
// it false.
func (it *item) repeat(in *Input, c *counter, now logicalTime, version uint64, cfg *Config) bool {
	d := &in.Decision
	if c == nil {
		c = it.counters.find(d.Rule, in.Signature)
	}
	if c == nil || c.worsens(d) || it.total+1 >= it.nextCount || in.digest != nil {
		return false
	}
	if c.calm != version {
		if !it.unmoved(d) {
			return false
		}
		c.calm = version
	}
	it.count(now, in.Entry.Pos, cfg)
	c.again(now, in.Entry.Pos)
	return true
}

// unmoved reports whether an entry that does not make its group worse leaves the
// item as it is but for counts.
func (it *item) unmoved(d *event.Decision) bool {
	if it.worsens(d) || uint64(len(it.counters.rows)) >= it.nextGroups {
		return false
	}
	r := it.rule(d.Rule)
	return r != nil && r.disposition >= d.Disposition && !r.resolved
}

// folded is what adding one entry to an item changed.
type folded struct {
	newGroup bool
	newCause bool
	why      Reason // the most telling reason for an update, or ""
}

// add folds one urgent entry into the item, which is open, or is acknowledged
// and knows the entry.
func (it *item) add(in *Input, named *operation, now logicalTime, cfg *Config) folded {
	var f folded
	d, at := &in.Decision, place{now.seq, in.Entry.Pos}
	if it.total == 0 {
		it.opened = at
	}
	it.count(now, at.pos, cfg)

	c := it.counters.find(d.Rule, in.Signature)
	if c == nil && it.open() && it.room(d) {
		f.newGroup = true
		c = it.counters.add(counter{rule: d.Rule, sig: in.Signature, text: sampleText(in.Entry, cfg.MaxSampleText)})
	}
	if c != nil {
		c.add(in, named, now)
	} else {
		it.untracked++
	}
	if !it.open() {
		return f
	}

	switch r := it.rule(d.Rule); {
	case r != nil:
		r.disposition = max(r.disposition, d.Disposition)
		r.resolved = false
	case len(it.rules) < cap(it.rules):
		it.rules = append(it.rules, ruleCount{rule: d.Rule, summary: in.Summary, disposition: d.Disposition, first: at.seq})
		f.why = reasonRule
	default:
		it.allRules = false
	}

	// Later assignments win: the order is that of Reason.weight.
	if groups := uint64(len(it.counters.rows)); groups >= it.nextGroups {
		it.nextGroups = nextThreshold(groups)
		f.why = reasonGroups
	}
	if it.total >= it.nextCount {
		it.nextCount = nextThreshold(it.total)
		f.why = reasonCount
	}
	if d.Invalidates && !it.invalidates {
		it.invalidates, it.invalidatedAt = true, at.seq
		f.why = reasonInvalidated
	}
	if d.Severity > it.severity {
		it.severity, it.severeAt = d.Severity, at.seq
		f.why = reasonSeverity
	}
	if d.Disposition > it.disposition {
		it.disposition = d.Disposition
		it.prelude = it.total - 1
		it.cause, it.causeBy = Cause{Seq: at.seq, Pos: at.pos, Rule: d.Rule, Signature: in.Signature}, named
		f.newCause = true
		f.why = reasonDisposition
	}
	return f
}
