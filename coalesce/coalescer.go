package coalesce

import (
	"slices"
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
	// "". ByLevel reports that no rule decided about a log record, only its level.
	Decision event.Decision
	Summary  string
	Advice   string
	ByLevel  bool

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
	NewCause bool // the entry is the item's cause from now on
}

// Coalescer folds urgent entries into items by the rules of the package documentation. It is not safe for concurrent
// use.
type Coalescer struct {
	cfg Config

	now  logicalTime // latest sequence number, engine's time
	base time.Time   // from which it counts
	pos  uint64      // of the latest entry

	alarm alarm // when an item, an operation or the load may be due, at the earliest

	items   []item // fixed; open, cleared and free ones
	numbers uint64

	// The bursts under way. An operation holds its own.
	episode   episode
	blindly   *item  // open item of blindness, or nil
	blindItem uint64 // number of the latest item of blindness
	load      load

	index *index

	ops   operations
	calls calls

	freshSince uint64 // sequence number from which the game's state is the one it is
	consumers  consumers

	escalations []escalation // of the rules that were met, at most maxEscalations

	queue     []*item // with a pending update, oldest first
	allowance allowance
	retention []Retention

	stats Stats
}

// episode is the ambient burst under way; the zero value is none.
type episode struct {
	Began uint64      // number of its first entry
	Last  logicalTime // latest urgent entry that was not acknowledged before
}

// New returns a Coalescer with the bounds of cfg. All memory that does not
// depend on operations and texts is allocated here.
func New(cfg Config) (*Coalescer, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	c := &Coalescer{
		cfg:   cfg,
		items: make([]item, cfg.MaxOpen+cfg.MaxRemembered),
		ops: operations{
			byID:  make(map[string]*operation, cfg.MaxOperations),
			order: make([]*operation, 0, cfg.MaxOperations),
		},
		consumers: consumers{list: make([]consumer, 1, cfg.MaxConsumers)},
		index:     newIndex(cfg.MaxOpen+cfg.MaxRemembered, cfg.MaxGroups+reservedRows),
	}
	for i := range c.items {
		c.items[i].Counters = c.index.counters(i)
		c.items[i].Delivered = make([]uint64, cfg.MaxConsumers)
		c.items[i].reset()
	}
	c.queue = make([]*item, 0, len(c.items))
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
	c.now.seq, c.pos = e.Seq, e.Pos
	c.tick(e.Time)
	c.sweep()

	c.observeLoad(in)
	if in.NewRun {
		c.endRun()
	}
	if in.Blind && !c.stats.Blind {
		c.missEvidence(ReasonBlind)
	}
	c.stats.Blind = in.Blind
	if e.Kind == event.KindNotice {
		c.missEvidence(ReasonMissing)
	}
	c.stats.Received++
	var named *operation
	if e.Kind == event.KindOperation {
		named = c.operationEvent(e)
	}
	if len(in.Resolves) > 0 {
		c.resolve(in.Resolves)
	}
	if !in.Decision.Disposition.Urgent() {
		c.stats.Ignored++
		return Folded{}
	}
	c.stats.Folded++
	c.stats.ByDisposition[in.Decision.Disposition]++
	if named == nil && e.OperationID != "" {
		named = c.operation(e.OperationID)
	}
	return c.foldUrgent(in, named)
}

// destination is where an urgent entry belongs.
type destination struct {
	scope scopeKind
	root  *operation // of scopeOperation
	key   string     // of scopeHost
	named *operation // the operation that the entry names, or nil
	item  *item      // of the ambient episode that holds the entry's group and variant, or nil
	row   *counter   // of the entry's group and variant in the open item that holds it, if that was looked for and found

	novel bool // an item has the entry's group, and none the variant
}

// destination finds the burst of an entry: the burst of the operation that it names; the burst of the only running
// root, or of the only root that ended within Linger, unless the ambient burst already holds the entry's group; else
// the ambient burst. While a game is loaded, all entries belong to the ambient burst. Blindness has a burst of its own.
// An event of an operation without an id is no evidence about another operation.
//
// It sets to, which is zero: a result that is returned would be copied with wide loads that wait for the narrow stores
// before them (go test -bench Fold).
func (c *Coalescer) destination(in *Input, named *operation, to *destination) {
	switch {
	case in.Begins:
		to.scope, to.named = scopeBlind, named
	case in.Raised != "":
		to.scope, to.key, to.named = scopeHost, in.Raised, named
	case in.digest != nil:
		to.scope = scopeDigest
	case named != nil:
		to.root, to.named = c.ops.root(named), named
		if !c.Loading() {
			to.scope = scopeOperation
		}
	case in.Entry.Kind == event.KindOperation:
	case c.Loading():
		to.root = c.ops.only
	default:
		if to.item, to.row = c.inEpisode(in); to.row != nil {
			return
		}
		if to.root = c.ops.only; to.root != nil {
			to.scope = scopeOperation
		}
	}
}

// foldUrgent folds an urgent entry into the open item that holds its group, or gathers its burst; else into the
// acknowledged item that covers it, unless that reopens; else it opens one, or opens one again that lapsed.
func (c *Coalescer) foldUrgent(in *Input, named *operation) Folded {
	if c.episode.Began != 0 && !c.Loading() && c.cfg.AmbientQuiet.passed(c.episode.Last, c.now) {
		c.episode = episode{}
	}
	var to destination // ambient, unless it is another one
	c.destination(in, named, &to)
	it := c.gathering(in, &to)
	if to.scope.plain() {
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

// explainCrash marks the rule of a crash, or nil, as lack of memory if an item of this run reports that memory ran out.
func (c *Coalescer) explainCrash(r *ruleCount) {
	if r != nil && r.Effects&crash != 0 && slices.ContainsFunc(c.items, func(it item) bool {
		return it.State != itemFree && it.State != itemPast && it.State != itemOver &&
			slices.ContainsFunc(it.Rules, func(r ruleCount) bool { return r.Effects&memory != 0 })
	}) {
		r.Effects |= memory
	}
}

// holder returns the item that an entry of the log belongs to, of it, which gathers its burst, and the open items that
// hold its group; nil for none. An advisory entry stays with an item that blocks.
func (c *Coalescer) holder(in *Input, to *destination, it *item) *item {
	d := &in.Decision
	if it != nil && to.row == nil {
		to.row = c.row(it, in)
	}
	group := true
	if to.row == nil {
		c.asOthers(in)
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
	c.index.each(d.Rule, in.Signature, func(i int, r *counter) {
		it := &c.items[i]
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
	if it == nil && (before.item == nil || why == reasonVariant) && to.scope.plain() {
		it = c.overfull(d)
	}
	if it == nil {
		if it, opened = c.open(in, to, before); opened && it.Total > 0 {
			why = reasonReturned
		}
	}
	if to.scope == scopeAmbient {
		c.episode.Last = c.now
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
	} else if runGap.passed(to.row.Last, c.now) {
		c.occur(to.row, len(c.ops.live) == 0)
	}
	f := it.add(in, to.row, to.named, c.now, &c.cfg)
	if opened && it.blocking() {
		c.allowance.Stops++
	}
	if f.newGroup {
		if !group {
			c.allowance.Groups++
		}
		if again != nil && it.Scope.plain() == to.scope.plain() { // else it covers no repeat later
			before.row.Recurrence = nil
			it.Counters.find(d.Rule, in.Signature, in.variant).Recurrence = again
		}
		c.explainCrash(it.rule(d.Rule))
	}
	if it.State == itemDeferred && stopsAtOnce(in) {
		it.on(onBlock)
		f.why = reasonDisposition
	}
	switch at := (place{in.Entry.Seq, in.Entry.Pos}); {
	case opened:
		c.announce(it, Opened, why, at)
	case f.why != "":
		c.announce(it, Updated, f.why, at)
	}
	c.concern(in, to, it.Number, "")
	c.wake(it)
	return Folded{ID: it.id, Owner: it.Number, NewGroup: f.newGroup, NewCause: f.newCause}
}

// inEpisode returns the item of the ambient episode that holds the group and variant of an entry, with its row, or nil.
func (c *Coalescer) inEpisode(in *Input) (it *item, row *counter) {
	find := func() {
		c.index.each(in.Decision.Rule, in.Signature, func(i int, r *counter) {
			if c.items[i].Episode == c.episode.Began && r.Variant == in.variant {
				it, row = &c.items[i], r
			}
		})
	}
	if c.episode.Began == 0 {
		return nil, nil
	}
	if find(); row == nil && c.asOthers(in) {
		find()
	}
	return it, row
}

// gathering returns the open item that gathers the burst at to, or nil. An episode may have several: a blocking entry
// belongs to one with a blocking group that points at a mod of the entry, or at none as the entry does.
func (c *Coalescer) gathering(in *Input, to *destination) *item {
	switch to.scope {
	case scopeOperation:
		return to.root.openItem
	case scopeBlind:
		return c.blindly
	case scopeHost:
		return c.best(func(it *item) bool { return it.open() && it.Scope == scopeHost && it.Key == to.key }, newer)
	case scopeAmbient:
		if to.item == nil && c.episode.Began != 0 {
			return c.best(func(it *item) bool {
				return it.Episode == c.episode.Began && (c.Loading() || it.akin(in))
			}, newer)
		}
	}
	return to.item
}

// akin reports whether an entry may be of the fault of an item of its episode. If both block, a blocking group of the
// item points at a mod of the entry, or at none as the entry does.
func (it *item) akin(in *Input) bool {
	return in.Decision.Disposition < event.Blocking || it.Disposition < event.Blocking ||
		slices.ContainsFunc(it.Counters.Rows, func(r counter) bool {
			return r.Disposition == event.Blocking && len(r.Accused) == 0 == (len(in.Blame) == 0) && r.akin(in.Blame)
		})
}

// gather lets it gather the burst at to.
func (c *Coalescer) gather(to *destination, it *item) {
	switch to.scope {
	case scopeOperation:
		to.root.openItem = it
	case scopeBlind:
		c.blindly = it
	case scopeAmbient:
		if c.episode.Began == 0 {
			c.episode.Began = c.now.seq
		}
		it.Episode = c.episode.Began
	}
}

// handOver lets next, or nothing where it is nil, gather all bursts that it
// gathers: with MaxOpen items open, there may be several.
func (c *Coalescer) handOver(it, next *item) {
	if next != nil {
		next.Episode = it.Episode
	}
	it.Episode = 0
	if c.blindly == it {
		c.blindly = next
	}
	for _, o := range c.ops.order {
		if o.openItem == it {
			o.openItem = next
		}
	}
}
