package coalesce

import (
	"slices"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// scopeKind is what the entries of an item have in common.
type scopeKind uint8

const (
	scopeAmbient scopeKind = iota
	scopeOperation
	scopeBlind
	scopeHost   // raised by the host, under a key
	scopeDigest // of what was open before an agent arrived
)

// plain reports whether entries of the log, or about operations, make such items: neither
// blindness, nor the host, nor an arrival.
func (k scopeKind) plain() bool { return k <= scopeOperation }

type itemState uint8

const (
	itemFree itemState = iota
	itemOpen
	itemCleared
)

// item is the bounded fold of urgent entries that belong together, and what
// became of it. It outlives its burst: until it is acknowledged, resolved or
// expired, and then to recognize repeats of what was acknowledged.
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
	cause   CauseEntry
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
	known       string
	clearedBy   Reason
	acked       bool
	ackedAt     uint64 // sequence number of the latest entry then

	shared   bool // bursts that are not its own are in it, too
	deferred bool // it does not block before the load is over
	told     bool // who drains the updates takes it for open
	past     bool // it belongs to an earlier run of the game, and gathers nothing more

	unpinned  bool   // its evidence is no longer pinned
	clearedAt uint64 // order of clearing, for displacement
	familiar  bool   // its rules are in the index

	pending    string // 0: none
	pendingWhy Reason
	pendingAt  place
}

// cover is an item named by the latest view of another as the current one, and
// its watermark then.
type cover struct {
	Number    uint64
	Watermark uint64
}

// reset makes an item free, keeping its memory but nothing that it points to.
func (it *item) reset() {
	it.counters.reset()
	clear(it.rules[:cap(it.rules)])
	clear(it.delivered)
	*it = item{
		counters: it.counters, rules: it.rules[:0], delivered: it.delivered, covers: it.covers[:0],
		allRules: true, nextCount: 2, nextGroups: 2,
	}
}

func (it *item) open() bool { return it.state == itemOpen }

// blocking reports whether the item stops an agent now.
func (it *item) blocking() bool { return it.open() && it.disposition == event.Blocking && !it.deferred }

// announced reports whether who drains the updates takes the item for open, or will.
func (it *item) announced() bool {
	if it.pending != "" {
		return it.pending != Cleared
	}
	return it.told
}

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

// knows reports whether an entry of (rule, sig, variant) is a repeat of what the item
// holds and nothing has resolved.
func (it *item) knows(rule string, sig signature.Signature, variant string) bool {
	r := it.rule(rule)
	if r != nil && r.resolved {
		return false
	}
	return it.counters.find(rule, sig, variant) != nil || r != nil && it.counters.counted() >= familiarGroups
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

// thresholds returns how many numbers of the series of nextThreshold are at most n.
func thresholds(n uint64) (count uint64) {
	for t := nextThreshold(1); t <= n && t != 1<<64-1; t = nextThreshold(t) {
		count++
	}
	return count
}

// decade returns 1 for a power of ten, and 0 for all other numbers.
func decade(n uint64) uint64 {
	for n%10 == 0 && n > 0 {
		n /= 10
	}
	if n == 1 {
		return 1
	}
	return 0
}

// Rows beyond Config.MaxGroups are reserved for news. Each
// item grows worse at most five times after its first entry: three times in
// severity, once in disposition, once in validity.
const (
	reservedForWorse = 5
	reservedForRules = 11
	reservedRows     = reservedForWorse + reservedForRules
)

// admits reports whether an entry of a new group or variant gets a counter. Where MaxGroups
// have one already, only the first of a rule does, and what makes the item
// worse: so the cause is always among the groups, and an acknowledgement of
// what was before cannot take it along unseen.
func (it *item) admits(d *event.Decision) bool {
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

// folded is what adding one entry to an item changed.
type folded struct {
	newGroup bool // or variant
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

	c := it.counters.find(d.Rule, in.Signature, in.variant)
	variants := it.counters.variants
	if c == nil && it.open() && it.admits(d) {
		f.newGroup = true
		c = it.counters.add(counter{
			rule: d.Rule, sig: in.Signature, variant: in.variant, text: sampleText(in.Entry, cfg.MaxSampleText),
		})
	}
	if c != nil {
		c.add(in, named, now)
	} else {
		it.untracked++
		it.counters.distinguish(d.Rule, in.Signature)
	}
	if !it.open() {
		return f
	}

	switch r := it.rule(d.Rule); {
	case r != nil:
		r.disposition = max(r.disposition, d.Disposition)
		r.resolved = false
	case len(it.rules) < cap(it.rules):
		it.rules = append(it.rules, ruleCount{
			rule: d.Rule, summary: in.Summary, advice: in.Advice, effects: EffectsOf(d, in.ByLevel),
			disposition: d.Disposition, first: at.seq,
		})
	default:
		it.allRules = false
	}
	if r := it.rule(d.Rule); r != nil && c == nil {
		r.untracked++
	}

	// Later assignments win: the order is that of Reason.weight.
	if groups, _ := it.counters.groups(); groups >= it.nextGroups {
		it.nextGroups = nextThreshold(groups)
		f.why = reasonGroups
	}
	if it.total >= it.nextCount {
		it.nextCount = nextThreshold(it.total)
		f.why = reasonCount
	}
	if it.counters.variants > variants {
		f.why = reasonVariant
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
		it.cause, it.causeBy = CauseEntry{Seq: at.seq, Pos: at.pos, Rule: d.Rule, Signature: in.Signature}, named
		f.newCause = true
		f.why = reasonDisposition
	}
	return f
}

// unseen returns the rows, in order, with news after a watermark: the variant is new, or
// became worse than all the item held; and the turn from which that is so. In an item
// with many groups, one more of a rule before the watermark is no news; nor is what is
// resolved.
func (it *item) unseen(watermark uint64) (rows []int, turns []turn) {
	if it.latest.seq <= watermark {
		return nil, nil
	}
	all := it.counters.rows
	seen := 0 // groups
	for i := range all {
		c := &all[i]
		if c.first.seq <= watermark && !slices.ContainsFunc(all[:i], func(o counter) bool {
			return o.first.seq <= watermark && o.sig == c.sig && o.rule == c.rule
		}) {
			seen++
		}
	}
	for i := range all {
		c := &all[i]
		r := it.rule(c.rule)
		var t turn
		switch {
		case r != nil && r.resolved:
			continue
		case c.first.seq > watermark && (seen < familiarGroups || r == nil || r.first > watermark):
			t = turn{place: c.first, named: c.firstBy}
		case c.disposition == it.disposition && it.cause.Seq > watermark:
			t = c.worst
		case c.severity == it.severity && it.severeAt > watermark, c.invalidates && it.invalidatedAt > watermark:
			t = c.raised
		default:
			continue
		}
		rows, turns = append(rows, i), append(turns, t)
	}
	return rows, turns
}

// part moves into next, which is empty, what the given rows have counted from
// their turns on, all after watermark. What is left is the item as it was delivered; but
// state that was invalidated stays so.
func (it *item) part(next *item, watermark uint64, rows []int, turns []turn) {
	for i, n := range rows {
		moved := it.counters.rows[n].split(turns[i])
		it.total -= moved.count
		next.take(it, moved)
	}
	next.nextCount, next.nextGroups = nextThreshold(next.total), nextThreshold(uint64(next.counters.counted()))
	next.rate = it.rate
	next.settle()

	it.counters.retain(func(c *counter) bool { return c.count > 0 })
	it.rules = slices.DeleteFunc(it.rules, func(r ruleCount) bool { return r.first > watermark && !r.resolved })
	it.settle()
}

// take adds a group that another item had counted.
func (it *item) take(from *item, c counter) {
	it.counters.add(c)
	it.total += c.count
	if it.opened.seq == 0 || c.first.seq < it.opened.seq {
		it.opened = c.first
	}
	if c.last.seq > it.latest.seq {
		it.latest, it.latestPos = c.last, c.lastPos
	}
	it.invalidates = it.invalidates || c.invalidates
	r, known := it.rule(c.rule), from.rule(c.rule)
	switch {
	case r != nil:
		r.disposition = max(r.disposition, c.disposition)
		r.first = min(r.first, c.first.seq)
	case known != nil:
		it.rules = append(it.rules, ruleCount{
			rule: c.rule, summary: known.summary, advice: known.advice, effects: known.effects,
			disposition: c.disposition, first: c.first.seq,
		})
	default:
		it.allRules = false
	}
}

// settle computes the item's disposition, severity, since when, and its cause again,
// from its groups. The prelude then counts what is known to be before the cause: of
// a group that goes on after it, nothing is.
func (it *item) settle() {
	it.disposition, it.severity = 0, 0
	for i := range it.counters.rows {
		c := &it.counters.rows[i]
		it.disposition, it.severity = max(it.disposition, c.disposition), max(it.severity, c.severity)
	}
	var cause *counter
	it.severeAt, it.invalidatedAt = 0, 0
	for i := range it.counters.rows {
		c := &it.counters.rows[i]
		if c.disposition == it.disposition && (cause == nil || c.worst.seq < cause.worst.seq) {
			cause = c
		}
		if c.severity == it.severity && (it.severeAt == 0 || c.raised.seq < it.severeAt) {
			it.severeAt = c.raised.seq
		}
		if c.invalidates && (it.invalidatedAt == 0 || c.raised.seq < it.invalidatedAt) {
			it.invalidatedAt = c.raised.seq
		}
	}
	if it.cause.Seq == cause.worst.seq {
		return
	}
	it.cause = CauseEntry{Seq: cause.worst.seq, Pos: cause.worst.pos, Rule: cause.rule, Signature: cause.sig}
	it.causeBy = cause.worst.named
	it.prelude = cause.worst.count
	for i := range it.counters.rows {
		if c := &it.counters.rows[i]; c.last.seq < it.cause.Seq {
			it.prelude += c.count
		}
	}
}

// ruleCount holds what an item knows about one rule. It decides whether the
// rule is new to the item, and whether the item is resolved.
type ruleCount struct {
	rule        string
	summary     string
	advice      string
	effects     Effects
	disposition event.Disposition
	first       uint64 // sequence number of its first entry
	untracked   uint64 // entries of groups without a counter
	resolved    bool
}

// maxRules bounds the rules that an item distinguishes. Rules are few: the
// default set has some hundred, and an item that meets more than this many of
// them is an item about everything.
const maxRules = 64
