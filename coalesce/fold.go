package coalesce

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heedlog/heed/event"
	stackframe "github.com/heedlog/heed/internal/frame"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// scopeKind is the kind of the burst of an item.
type scopeKind uint8

const (
	scopeAmbient scopeKind = iota
	scopeOperation
	scopeBlind
	scopeHost   // raised by the host, under a key
	scopeDigest // the sum of items that were open before an agent arrived
)

// plain reports whether entries of the log, or about operations, make such items: neither
// blindness, nor the host, nor an arrival.
func (k scopeKind) plain() bool { return k <= scopeOperation }

// item is the bounded fold of urgent entries that belong together, with its state. It outlives its burst: until it is
// acknowledged, resolved or expired, and then to recognize repeats of acknowledged faults.
type item struct {
	State  itemState `json:",omitzero"`
	Number uint64    `json:",omitzero"`
	id     string
	Digest digest `json:",omitzero"` // of scopeDigest

	burst
	gravity

	Opened    place       `json:",omitzero"`
	Latest    logicalTime `json:",omitzero"`
	LatestPos uint64      `json:",omitzero"`
	Alive     logicalTime `json:",omitzero"` // from which AdvisoryTTL runs: latest, or the making of a successor

	Total     uint64 `json:",omitzero"` // urgent entries, those after its acknowledgement included
	Untracked uint64 `json:",omitzero"` // entries of groups without a counter

	Counters counters    `json:",omitzero"`
	Rules    []ruleCount `json:",omitempty"` // of the counters

	// Cause is the entry at which the disposition reached its present height,
	// CauseBy the operation that it named, or nil.
	Cause   storedCause `json:",omitzero"`
	CauseBy *life       `json:",omitzero"`
	CauseOf string      `json:",omitzero"` // its variant
	Prelude uint64      `json:",omitzero"`

	NextCount  uint64 `json:",omitzero"`
	NextGroups uint64 `json:",omitzero"`

	Delivered []uint64 `json:",omitempty"` // for each consumer, the sequence number up to which it has seen the item
	Consumer  int      `json:",omitzero"`  // that saw it as the current one last,
	Viewed    uint64   `json:",omitzero"`  // up to which sequence number,
	Covers    []uint64 `json:",omitempty"` // and the numbers of the others that were named with it

	Predecessor uint64      `json:",omitzero"`
	Known       string      `json:",omitzero"`
	ClearedBy   Reason      `json:",omitzero"`
	AckedAt     logicalTime `json:",omitzero"` // when it was acknowledged, or 0

	Shared    bool   `json:",omitzero"` // bursts that are not its own are in it, too
	Announced bool   `json:",omitzero"` // an update that was drained opened it, and none cleared it
	Unpinned  bool   `json:",omitzero"` // its evidence is no longer pinned
	ClearedAt uint64 `json:",omitzero"` // order of clearing, for displacement

	Pending    string `json:",omitzero"` // 0: none
	PendingWhy Reason `json:",omitzero"`
	PendingAt  place  `json:",omitzero"`
}

// reset makes an item free, keeping its memory but nothing that it points to.
func (it *item) reset() {
	for _, r := range it.Counters.Rows {
		r.Count = 0
	}
	it.Counters.prune()
	clear(it.Rules[:cap(it.Rules)])
	clear(it.Delivered)
	*it = item{
		Counters: it.Counters, Rules: it.Rules[:0], Delivered: it.Delivered, Covers: it.Covers[:0],
		NextCount: 2, NextGroups: 2,
	}
}

// blocking reports whether the item stops an agent now.
func (it *item) blocking() bool {
	return it.open() && it.Disposition == event.Blocking && it.State != itemDeferred
}

// announced reports whether who drains the updates takes the item for open, or will.
func (it *item) announced() bool {
	return it.Pending == "" && it.Announced || it.Pending != "" && it.Pending != Cleared
}

// rule returns the item's record of the rule called id, or nil.
func (it *item) rule(id string) *ruleCount {
	for i := range it.Rules {
		if it.Rules[i].Rule == id {
			return &it.Rules[i]
		}
	}
	return nil
}

// resolved reports whether every rule at the item's disposition is resolved, and no entry was of another rule.
func (it *item) resolved() bool {
	unknown := it.Untracked
	for i := range it.Rules {
		r := &it.Rules[i]
		if unknown -= r.Untracked; r.Disposition == it.Disposition && !r.Resolved {
			return false
		}
	}
	return unknown == 0
}

// nextThreshold returns the threshold after n in the series 2, 5, 10, 20, 50, ….
func nextThreshold(n uint64) uint64 {
	for lead := uint64(1); ; lead *= 10 {
		for _, t := range [...]uint64{2 * lead, 5 * lead, 10 * lead} {
			if n < t {
				return t
			}
		}
	}
}

// thresholds returns how many numbers of the series of nextThreshold are at most n.
func thresholds(n uint64) (count uint64) {
	for t := nextThreshold(1); t <= n; t = nextThreshold(t) {
		count++
	}
	return count
}

// Rows beyond Config.MaxGroups are reserved for news. Each
// item grows worse at most five times after its first entry: three times in
// severity, once in disposition, once in validity.
const (
	reservedForWorse = 5
	reservedForRules = 11
	reservedRows     = reservedForWorse + reservedForRules + 1 // and the spare one
)

// admits reports whether an entry of a new group or variant gets a counter. If MaxGroups have one already, only the
// first of a rule does, and each that makes the item worse: so the cause is always among the groups, and an
// acknowledgement of earlier groups cannot cover it unseen.
func (it *item) admits(d *event.Decision) bool {
	switch left := it.Counters.left(); {
	case left > reservedRows:
		return true
	case gravityOf(d).above(it.gravity) != "":
		return left > 0
	default:
		return left > reservedForWorse+1 && it.rule(d.Rule) == nil
	}
}

// spares reports whether entry number seq, which is not admitted, gets the spare counter, and returns the number of the
// latest entry that the counter represents already, 1 for none. It holds the severest blocking group that no consumer
// has seen, of these the first, and represents the others. The group that had it is untracked then.
func (it *item) spares(d *event.Decision, seq uint64) (spare uint64, ok bool) {
	if d.Disposition < event.Blocking {
		return 0, false
	}
	rows := it.Counters.Rows
	i := len(rows) - 1
	for i >= 0 && rows[i].Spare == 0 {
		i--
	}
	if i < 0 { // in a successor all rows may be in use, except those reserved for worse groups
		left := it.Counters.left() - int(event.SeverityFatal-it.Severity)
		return 1, left > 1 || left > 0 && it.Invalidates
	}
	r := rows[i]
	if d.Severity <= r.Severity && r.First.Seq > slices.Max(it.Delivered) {
		r.Spare = seq
		return 0, false
	}
	it.Untracked += r.Count
	it.rule(r.Rule).Untracked += r.Count
	spare = max(r.Spare, r.Raised.At.Seq)
	r.Count = 0
	it.Counters.prune()
	return spare, true
}

// gravity is how bad an entry is, or the worst of several.
type gravity struct {
	Disposition event.Disposition `json:",omitzero"`
	Severity    event.Severity    `json:",omitzero"`
	Invalidates bool              `json:",omitzero"`
}

func gravityOf(d *event.Decision) gravity { return gravity{d.Disposition, d.Severity, d.Invalidates} }

// above returns the weightiest reason why g is worse than o, "" if it is not.
func (g gravity) above(o gravity) Reason {
	switch {
	case g.Disposition > o.Disposition:
		return reasonDisposition
	case g.Severity > o.Severity:
		return reasonSeverity
	case g.Invalidates && !o.Invalidates:
		return reasonInvalidated
	}
	return ""
}

// raise makes g at least as bad as o.
func (g *gravity) raise(o gravity) {
	g.Disposition, g.Severity = max(g.Disposition, o.Disposition), max(g.Severity, o.Severity)
	g.Invalidates = g.Invalidates || o.Invalidates
}

// add folds one urgent entry into the item, which is open, or is acknowledged and knows the entry. c is the counter of
// the entry's group and variant, nil if there is none. It reports whether the group or the variant is new, and returns
// the most telling reason for an update, or "".
func (it *item) add(
	in *Input, c *counter, named *operation, now logicalTime, cfg *Config,
) (newGroup bool, why Reason) {
	d, at := &in.Decision, place{now.seq, in.Entry.Pos}
	if it.Total == 0 {
		it.Opened = at
	}
	it.Total++
	it.Latest, it.LatestPos, it.Alive = now, at.Pos, now

	variant := false
	if c == nil {
		spare := uint64(0)
		if newGroup = it.admits(d); !newGroup && it.open() {
			spare, newGroup = it.spares(d, at.Seq)
		}
		if newGroup {
			variant = it.Counters.first(d.Rule, in.Signature) != nil
			c = it.Counters.add(counter{
				Rule: d.Rule, Sig: in.Signature, Variant: in.variant, Frame: frame(in.Frame), Spare: spare,
				Text: sampleText(in.Entry, cfg.MaxSampleText),
			})
		}
	}
	r := it.rule(d.Rule)
	if c != nil {
		c.add(in, named, now, r != nil && c.Last.seq < r.ResolvedAt)
	} else {
		it.Untracked++
	}
	if r == nil && c != nil {
		r = it.learn(ruleCount{
			Rule: d.Rule, Summary: strings.Clone(in.Summary), Effects: EffectsOf(d), ExplainedBy: in.ExplainedBy,
		})
	}
	if r != nil {
		if r.Resolved = false; d.Disposition > r.Disposition {
			r.Disposition, r.Advice = d.Disposition, in.Advice
		}
		if c == nil {
			r.Untracked++
		}
	}
	if !it.open() {
		return newGroup, why
	}

	// Later assignments win: the order is Reason.weight.
	if newGroup {
		if groups := it.Counters.groups(); groups >= it.NextGroups {
			it.NextGroups = nextThreshold(groups)
			why = reasonGroups
		}
	}
	if it.Total >= it.NextCount {
		it.NextCount = nextThreshold(it.Total)
		why = reasonCount
	}
	if variant {
		why = reasonVariant
	}
	why = cmp.Or(gravityOf(d).above(it.gravity), why)
	if d.Disposition > it.Disposition {
		it.Prelude = it.Total - 1
		it.Cause, it.CauseBy = storedCause{at.Seq, at.Pos, d.Rule, in.Signature, 0, in.Phase}, named.life()
		it.CauseOf = in.variant
	}
	it.raise(gravityOf(d))
	return newGroup, why
}

// news reports whether a group or variant is new after a watermark, became worse, or returned after it was resolved. It
// is false while the rule is resolved, unless the group represents others.
func (it *item) news(c *counter, watermark uint64) bool {
	return c.Raised.At.Seq > watermark && !it.rule(c.Rule).Resolved || c.Spare > watermark
}

// part moves into next, which is empty, the news after a watermark: a new variant as a whole, and a variant that became
// worse from there on. The item keeps the rest, as it was delivered; state that was invalidated stays invalidated.
func (it *item) part(next *item, watermark uint64) {
	for _, c := range it.Counters.Rows {
		if !it.news(c, watermark) {
			continue
		}
		moved := *c
		if c.First.Seq > watermark || c.Raised.At.Seq <= watermark {
			c.Count = 0
		} else {
			moved = c.split()
		}
		it.Total -= moved.Count
		next.take(it.rule(c.Rule), moved)
	}
	it.Counters.prune()
	if it.Cause.Seq > watermark {
		it.Cause.Seq = 0
	}
	it.settle()
	next.settle()
	next.NextCount, next.NextGroups = nextThreshold(next.Total), nextThreshold(next.Counters.groups())
}

// take adds a group that another item had counted, and its rule.
func (it *item) take(rule *ruleCount, c counter) {
	c.Spare = 0
	it.Counters.add(c)
	it.Total += c.Count
	if it.Opened.Seq == 0 || c.First.Seq < it.Opened.Seq {
		it.Opened = c.First
	}
	if c.Last.seq > it.Latest.seq {
		it.Latest, it.LatestPos = c.Last, c.LastPos
	}
	it.Invalidates = it.Invalidates || c.Invalidates
	r := it.rule(c.Rule)
	if r == nil {
		r = it.learn(ruleCount{
			Rule: c.Rule, Summary: rule.Summary, Advice: rule.Advice, Effects: rule.Effects, ResolvedAt: rule.ResolvedAt,
			ExplainedBy: rule.ExplainedBy,
		})
	}
	r.Disposition = max(r.Disposition, c.Disposition)
}

// learn adds a rule.
func (it *item) learn(r ruleCount) *ruleCount {
	it.Rules = append(it.Rules, r)
	return &it.Rules[len(it.Rules)-1]
}

// settle computes the item's disposition and severity again, from its groups, and its cause if that is gone: the first
// entry of its first group at the disposition. The prelude then counts the groups that ended before.
func (it *item) settle() {
	it.Disposition, it.Severity = 0, 0
	var cause *counter
	for _, c := range it.Counters.Rows {
		it.Severity = max(it.Severity, c.Severity)
		if cause == nil || c.Disposition > it.Disposition ||
			c.Disposition == it.Disposition && c.First.Seq < cause.First.Seq {
			it.Disposition, cause = c.Disposition, c
		}
	}
	if it.Cause.Seq != 0 {
		return
	}
	it.Cause = storedCause{cause.First.Seq, cause.First.Pos, cause.Rule, cause.Sig, 0, cause.Phase}
	it.CauseBy, it.CauseOf, it.Prelude = cause.FirstBy, cause.Variant, 0
	for _, c := range it.Counters.Rows {
		if c.Last.seq < it.Cause.Seq {
			it.Prelude += c.Count
		}
	}
}

// ruleCount is an item's record of one rule. It decides whether the rule is new to the item, and whether the item is
// resolved.
type ruleCount struct {
	Rule        string            `json:",omitzero"`
	Summary     string            `json:",omitzero"`
	Advice      string            `json:",omitzero"`
	Effects     Effects           `json:",omitzero"`
	ExplainedBy []string          `json:",omitempty"` // rules
	Disposition event.Disposition `json:",omitzero"`
	Untracked   uint64            `json:",omitzero"` // entries of groups without a counter
	Resolved    bool              `json:",omitzero"` // since ResolvedAt
	ResolvedAt  uint64            `json:",omitzero"` // sequence number at which it was last, 0: never
}

// digest sums up the items that were open before an agent arrived.
type digest struct {
	Items   int       `json:",omitzero"`
	Entries uint64    `json:",omitzero"`
	From    place     `json:",omitzero"`  // of the first of their entries
	Samples []counter `json:",omitempty"` // sums of groups
}

// storedCause is the cause of an item, as [CauseEntry].
type storedCause struct {
	Seq, Pos  uint64
	Rule      string
	Signature signature.Signature
	ID        signature.ID `json:"-"`
	Phase     string
}

// sampleText returns one line of an entry's text, escaped and cut
// to limit characters: the first line that is not blank, and the next one where the first ends in a colon, or else the
// first line that an exception begins where the first line names none. What Python threw is in the place of its trace.
func sampleText(e *event.Entry, limit int) string {
	parts := make([]string, 0, 4)
	if e.Kind == event.KindOperation {
		parts = append(parts, e.Source)
	}
	if e.Kind != event.KindLog {
		parts = append(parts, e.Status.String())
	}
	message, thrown := stackframe.Thrown(strings.TrimSpace(e.Message))
	message = message[:min(len(message), utf8.UTFMax*(limit+1))] // which shows that text was cut
	head := ""
	for line := range strings.SplitSeq(message, "\n") {
		line = strings.TrimSpace(line)
		n, _ := stackframe.Throwable(line)
		reason := strings.HasSuffix(head, ":") || n > 0 && thrown == "" && !strings.Contains(head, "Exception")
		if line == "" || head != "" && !reason {
			continue
		}
		parts = append(parts, line)
		if head != "" {
			break
		}
		head = line
	}
	sample := strings.TrimSpace(strings.Join(append(parts, thrown), " "))
	if sample == "" {
		sample = "(empty " + e.Kind.String() + " entry)"
	}
	return strings.Clone(text.Safe(sample, limit))
}
