package coalesce

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// Input is one entry with the decision about it.
type Input struct {
	// Entry carries a sequence number above the numbers of all entries before. Fold keeps only copies of its parts.
	Entry     *event.Entry
	Signature signature.Signature

	// Variant is the text by which an entry differs from others of its Signature in its decision, such as a code or a
	// state, and "" if nothing differs. It is log text, safe to show. Under one rule, all items together distinguish
	// maxVariants variants of a group. All further variants count as one.
	Variant string
	variant string // that the entry is counted as

	// Frame is a hash of the innermost frame of a stack, 0 for none. Groups with one frame are forms of one fault, if they
	// point at the same mods.
	Frame uint64

	// Decision.Rule, Summary and Advice are kept as they are: they should be strings of
	// a rule set. Summary and Advice are texts of the deciding rule, in heed's own words, or
	// "".
	Decision event.Decision
	Summary  string
	Advice   string

	// ExplainedBy names the rules whose earlier entries explain this one. It is kept.
	ExplainedBy []string

	// Blame names the mods that the entry points at, without line feeds, likeliest first.
	// The names are kept.
	Blame []string

	// Resolves names the rules whose items this entry resolves. Not kept.
	Resolves []string

	// Begins reports that evidence is incomplete from this entry on because of
	// the deciding rule; the entry then opens an item of its own. Blind reports
	// that evidence is incomplete after this entry, for whatever reason.
	Begins bool
	Blind  bool

	// Fresh reports that the game's state was loaded with this entry: earlier invalidations do not matter any more.
	Fresh bool

	// NewRun reports that another run of the game begins with this entry. No item holds entries of two runs, and a
	// fault that was acknowledged in one run is new in the next.
	NewRun bool

	// Raised is the key under which the host itself raises this entry, "" for
	// all that it does not raise. Entries of one key are one item.
	Raised string

	digest *digest

	// Phase is the game's phase at the entry, "" where it is not known.
	Phase string

	// NewPhase reports that the game entered another phase with this entry, which
	// is then the first of the new phase's episode. Fresh with it begins a load, which
	// the next phase ends.
	NewPhase bool

	// Playing reports that the entry is evidence of play, in any phase. It matters while a game is loaded; see
	// [Coalescer.Loading].
	Playing bool
}

// Folded is what became of an entry.
type Folded struct {
	// ID is the attention id of the item that the entry was folded into, ""
	// for an ignored entry. Owner is the item's number, for the journal.
	ID    string
	Owner uint64

	NewGroup bool // first of its group, or of its variant of that, in this item
}

// Coalescer folds urgent entries into items by the rules of the package documentation. It is not safe for concurrent
// use.
type Coalescer struct {
	kept

	alarm     alarm // when an item, an operation or the load may be due, at the earliest
	index     *index
	retention []Retention
}

// episode is the ambient burst under way; the zero value is none.
type episode struct {
	Began uint64      // number of its first entry
	Last  logicalTime // latest urgent entry that was not acknowledged before
}

// New returns a Coalescer with the bounds of cfg. Its tables grow up to them.
func New(cfg Config) (*Coalescer, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	n := cfg.MaxOpen + cfg.MaxRemembered
	c := &Coalescer{
		kept: kept{
			Config: cfg, Items: make([]item, n), Queue: make([]uint64, 0, n),
			Operations: operations{
				Order: make([]*operation, 0, cfg.MaxOperations), byID: make(map[string]*operation, cfg.MaxOperations),
			},
			Consumers: consumers{List: make([]consumer, 1, cfg.MaxConsumers)},
		},
		index: &index{
			size: cfg.MaxGroups + reservedRows, groups: map[signature.Signature][]*counter{}, frames: map[frame][]*counter{},
		},
	}
	for i := range c.Items {
		it := &c.Items[i]
		it.Counters, it.Delivered = counters{index: c.index, of: it}, make([]uint64, cfg.MaxConsumers)
		it.reset()
	}
	return c, nil
}

// Advance moves the engine's time to now, and does the work that is due by then. A time before the latest one changes
// nothing, unless it is so far back that the clock must have been set: see [Config].MaxSkew.
func (c *Coalescer) Advance(now time.Time) {
	c.tick(now)
	c.sweep()
}

// Fold ingests one entry. An ignored log entry costs a few comparisons, a
// repeat of an urgent one a table look-up; neither allocates.
func (c *Coalescer) Fold(in *Input) Folded {
	e := in.Entry
	in.variant = in.Variant
	c.Now.seq, c.Pos = e.Seq, e.Pos
	c.tick(e.Time)
	c.sweep()

	c.observeLoad(in)
	if in.NewRun {
		c.endRun()
	}
	if in.Blind && !c.Counts.Blind {
		c.missEvidence(ReasonBlind)
	}
	c.Counts.Blind = in.Blind
	if e.Kind == event.KindNotice {
		c.missEvidence(ReasonMissing)
	}
	c.Counts.Received++
	var named *operation
	if e.Kind == event.KindOperation {
		named = c.operationEvent(e)
	}
	if len(in.Resolves) > 0 {
		c.resolve(in.Resolves)
	}
	if !in.Decision.Disposition.Urgent() {
		c.Counts.Ignored++
		return Folded{}
	}
	c.Counts.Folded++
	c.Counts.ByDisposition[in.Decision.Disposition]++
	if named == nil && e.OperationID != "" {
		named = c.operation(e.OperationID)
	}
	return c.foldUrgent(in, named)
}

// burst is a burst of entries.
type burst struct {
	Scope   scopeKind `json:",omitzero"`
	Root    *life     `json:",omitzero"` // of scopeOperation
	Key     string    `json:",omitzero"` // of scopeHost
	Episode uint64    `json:",omitzero"` // of scopeAmbient: when it began
}

// is reports whether b and o are one burst. A digest is none.
func (b *burst) is(o *burst) bool {
	return b.Scope == o.Scope && b.Episode == o.Episode && b.Key == o.Key && b.Scope != scopeDigest && b.Root.is(o.Root)
}

// destination is where an urgent entry belongs.
type destination struct {
	burst
	root  *operation // that the entry is charged to, or nil
	named *operation // the operation that the entry names, or nil
	row   *counter   // of the entry's group and variant in the open item that holds it, if that was looked for and found

	novel bool // an item has the entry's group, and none the variant
}

// destination finds the burst of an entry: the burst of the operation that it names; the burst of the only running
// root, or of the only root that ended within Linger, unless the ambient burst already holds the entry's group; else
// the ambient burst. While a game is loaded, all entries belong to the ambient burst. Blindness has a burst of its own.
// An event of an operation without an id is no evidence about another operation.
//
// It sets to, which is zero: a result that is returned would be copied with wide loads that wait for the narrow stores
// before them (go test -bench Fold). It returns the item that holds the group, if that was looked for and found.
func (c *Coalescer) destination(in *Input, named *operation, to *destination) (it *item) {
	to.named = named
	switch {
	case in.Begins:
		to.Scope = scopeBlind
		return nil
	case in.Raised != "":
		to.Scope, to.Key = scopeHost, strings.Clone(in.Raised)
		return nil
	case in.digest != nil:
		to.Scope = scopeDigest
		return nil
	}
	to.Episode = cmp.Or(c.Episode.Began, c.Now.seq)
	switch {
	case named != nil:
		to.root = c.Operations.root(named)
	case in.Entry.Kind == event.KindOperation:
	case c.Loading():
		to.root = c.Operations.only
	case c.Operations.only != nil:
		if it, to.row = c.gatheringRow(in, to); it != nil {
			return it
		}
		to.root = c.Operations.only
	}
	if to.root != nil && !c.Loading() {
		to.burst = burst{Scope: scopeOperation, Root: to.root.life()}
	}
	return nil
}

// foldUrgent folds an urgent entry into the open item that holds its group, or gathers its burst; else into the
// acknowledged item that covers it, unless that reopens; else it opens one, or opens one again that lapsed.
func (c *Coalescer) foldUrgent(in *Input, named *operation) Folded {
	if c.Episode.Began != 0 && !c.Loading() && c.Config.AmbientQuiet.passed(c.Episode.Last, c.Now) {
		c.Episode = episode{}
	}
	var to destination // ambient, unless it is another one
	it := c.destination(in, named, &to)
	if it == nil {
		it = c.gathering(in, &to)
	}
	if to.Scope.plain() {
		it = c.holder(in, &to, it)
	}
	var before known
	why := reasonNew
	if it == nil || to.row == nil && (it.Counters.find(in.Decision.Rule, in.Signature, in.variant) == nil ||
		it.rule(in.Decision.Rule).Resolved) {
		if before = c.covering(in, &to); before.item != nil {
			if why = c.reopens(&before, in, &to); why == "" || why == reasonStanding {
				return c.suppress(&before, in, &to, why)
			}
		}
	}
	return c.join(in, &to, it, &before, why)
}

// explainCrash looks for the reason of a crash, if an entry that is new to an item reports one: lack of memory, if an
// item of this run reports that; and the fault that came once, directly before a crash without a stack of its own. The
// mods of that fault are those of the crash.
func (c *Coalescer) explainCrash(it *item, in *Input) {
	r, row := it.rule(in.Decision.Rule), it.Counters.find(in.Decision.Rule, in.Signature, in.variant)
	if r == nil || r.Effects&crash == 0 {
		return
	}
	latest := map[uint64]*counter{} // groups of this run, by the sequence number of their latest entry
	for i := range c.Items {
		if o := &c.Items[i]; o.State != itemFree && o.State != itemPast && o.State != itemOver {
			for _, group := range o.Counters.Rows {
				latest[group.Last.seq] = group
			}
			if slices.ContainsFunc(o.Rules, func(r ruleCount) bool { return r.Effects&memory != 0 }) {
				r.Effects |= memory | explained
			}
		}
	}
	for seq := c.Now.seq - 1; row != nil && in.Entry.Stack == ""; seq-- {
		o := latest[seq]
		if o == nil || o.Count > 1 || o.Disposition != event.Blocking {
			return
		}
		row.Accused = row.Accused.join(o.Accused)
		if o.Severity < event.SeverityFatal || !strings.HasPrefix(o.Rule, "default.") { // else it announces the crash
			r.ExplainedBy = append(slices.Clip(r.ExplainedBy), o.Rule)
			return
		}
	}
}

// holder returns the item that an entry of the log belongs to, of it, which gathers its burst, and the open items that
// hold its group; nil for none. An advisory entry stays with an item that blocks.
func (c *Coalescer) holder(in *Input, to *destination, it *item) *item {
	d := &in.Decision
	group := true
	if to.row == nil {
		var variant bool
		group, variant = c.index.has(d.Rule, in.Signature, in.variant)
		to.novel = group && !variant
	}
	if group && (it == nil || it.Disposition < d.Disposition || to.row == nil && it.Disposition == d.Disposition) {
		if other, row := c.holding(in, to); other != nil {
			it, to.row = other, row
		}
	}
	if it != nil && it.Shared && it.Disposition < d.Disposition {
		to.row = nil
		return nil // others are in it, who must not be acknowledged with this
	}
	return it
}

// holding returns the open item of an operation or of an episode that holds the group of an
// entry and is at least as urgent, with the row of its variant; nil for none. Where an
// item has the variant, only such do.
func (c *Coalescer) holding(in *Input, to *destination) (holder *item, row *counter) {
	d := &in.Decision
	c.index.each(d.Rule, in.Signature, func(r *counter) {
		it := r.of
		if !it.takes() || !it.Scope.plain() || it.Disposition < d.Disposition ||
			holder != nil && holder.Number < it.Number {
			return
		}
		if to.novel {
			r = nil
		} else if r.Variant != in.variant {
			return
		}
		if known := it.rule(d.Rule); known == nil || !known.Resolved {
			holder, row = it, r
		}
	})
	return holder, row
}

// overfull returns an open item without room for another group of a rule that it knows, so that it may hold an entry
// uncounted; nil for none. Without it, a stream of many groups makes 85 updates where the law allows 41
// (TestUpdatesAreFew of internal/sim).
func (c *Coalescer) overfull(d *event.Decision) *item {
	return c.best(func(it *item) bool {
		return it.takes() && it.Scope.plain() && it.Untracked > 0 && it.Disposition >= d.Disposition && !it.admits(d)
	}, newer)
}

// join folds an entry of the burst at to into it, or where that is nil into an item that it opens because of why.
func (c *Coalescer) join(in *Input, to *destination, it *item, before *known, why Reason) Folded {
	d := &in.Decision
	opened := false
	var again *recurrence
	if before.row != nil {
		again = before.row.Recurrence
	}
	if it == nil && (before.item == nil || why == reasonVariant) && to.Scope.plain() {
		it = c.overfull(d)
	}
	if it == nil {
		if it, opened = c.open(in, to, before); opened && it.Total > 0 {
			why = reasonReturned
		}
	}
	if to.Scope == scopeAmbient {
		c.Episode = episode{to.Episode, c.Now}
	}
	if in.digest != nil {
		it.Digest = *in.digest
	}
	if to.row == nil {
		to.row = it.Counters.find(d.Rule, in.Signature, in.variant)
	}
	group := true
	if to.row == nil {
		group, _ = c.index.has(d.Rule, in.Signature, "")
	} else if runGap.passed(to.row.Last, c.Now) {
		c.occur(to.row, len(c.Operations.live) == 0)
	}
	newGroup, update := it.add(in, to.row, to.named, c.Now, &c.Config)
	if it.Cause.Seq == c.Now.seq {
		c.retention = append(c.retention, Retention{Owner: it.Number, Pin: c.Now.seq})
	}
	if newGroup {
		if !group {
			c.Allowance.Groups++
		}
		if again != nil && it.Scope.plain() == to.Scope.plain() { // else it covers no repeat later
			before.row.Recurrence = nil
			it.Counters.find(d.Rule, in.Signature, in.variant).Recurrence = again
		}
		c.explainCrash(it, in)
	}
	if it.State == itemDeferred && stopsAtOnce(in) {
		it.on(onBlock)
		update = reasonDisposition
	}
	if opened && it.blocking() {
		c.Allowance.Stops++
	}
	switch at := (place{in.Entry.Seq, in.Entry.Pos}); {
	case opened:
		c.announce(it, Opened, why, at)
	case update != "":
		c.announce(it, Updated, update, at)
	}
	c.concern(in, to, it.Number, "")
	c.wake(it)
	return Folded{ID: it.id, Owner: it.Number, NewGroup: newGroup}
}

// gatheringRow returns the open item that gathers the burst at to and holds the group and variant of an entry, with its
// row; nil for none.
func (c *Coalescer) gatheringRow(in *Input, to *destination) (it *item, row *counter) {
	find := func() {
		c.index.each(in.Decision.Rule, in.Signature, func(r *counter) {
			if at := r.of; r.Variant == in.variant && at.takes() && at.is(&to.burst) &&
				(it == nil || it.Number < at.Number) {
				it, row = at, r
			}
		})
	}
	if find(); row == nil && c.asOthers(in) {
		find()
	}
	return it, row
}

// maxFaults bounds the open items of an episode: then another fault joins the item that took an entry last.
const maxFaults = 8

// gathering returns the open item that gathers the burst at to, or nil. An episode may have several, each for the
// faults that are akin: then it is the most akin, of these the latest to take an entry.
func (c *Coalescer) gathering(in *Input, to *destination) (it *item) {
	if it, to.row = c.gatheringRow(in, to); it != nil {
		return it
	}
	best, faults := otherFault, 0
	for i := range c.Items {
		other := &c.Items[i]
		if !other.takes() || !other.is(&to.burst) {
			continue
		}
		faults++
		k := sameFault
		if to.Scope == scopeAmbient && !c.Loading() {
			k = c.akin(other, in)
		}
		if it == nil || cmp.Or(cmp.Compare(k, best), cmp.Compare(other.Latest.seq, it.Latest.seq)) > 0 {
			it, best = other, k
		}
	}
	if best == otherFault && faults < maxFaults {
		return nil
	}
	return it
}

// kinship is how much an entry is akin to an item of its episode.
type kinship uint8

const (
	otherFault kinship = iota
	nextRecord         // it comes just after the cause of the item
	sameFault
)

// faultEntries is the number of entries in which all records of a fault come first.
const faultEntries = 4

// akin returns whether an entry is of the fault of an item of its episode. If both block, it has a mod of a blocking
// group of the item; or neither has a mod, and it has the rule of the group. It may be the next record of the fault if
// it comes just after the cause of the item, one of them has no mod, and one has no stack.
func (c *Coalescer) akin(it *item, in *Input) kinship {
	if in.Decision.Disposition < event.Blocking || it.Disposition < event.Blocking {
		return sameFault
	}
	near := c.Now.seq-it.Cause.Seq <= faultEntries && !runGap.passed(it.Latest, c.Now)
	if !near && len(in.Blame) == 0 && it.rule(in.Decision.Rule) == nil {
		return otherFault // without a look at each row, in a storm
	}
	named, stack := false, false
	for _, r := range it.Counters.Rows {
		switch blocks := r.Disposition == event.Blocking; {
		case len(r.Accused) == 0 && len(in.Blame) == 0 && r.Rule == in.Decision.Rule,
			blocks && len(r.Accused) > 0 && len(in.Blame) > 0 && r.akin(in.Blame):
			return sameFault
		case blocks:
			named, stack = named || len(r.Accused) > 0, stack || r.Frame != 0
		}
	}
	if near && (!named || len(in.Blame) == 0) && (!stack || in.Frame == 0) {
		return nextRecord
	}
	return otherFault
}
