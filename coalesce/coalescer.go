package coalesce

import (
	"slices"
	"strconv"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// Input is one entry with what was decided about it.
type Input struct {
	// Entry carries a sequence number, higher than that of every entry before.
	// Nothing of it is kept after the call but copies.
	Entry     *event.Entry
	Signature signature.Signature

	// Decision.Rule and Summary are kept as they are: they should be strings of
	// a rule set. Summary is what the deciding rule says in heed's own words, or
	// "".
	Decision event.Decision
	Summary  string

	// Resolves names the rules whose items this entry resolves. Not kept.
	Resolves []string

	// Begins says that evidence is incomplete from this entry on because of
	// the deciding rule; the entry then opens an item of its own. Blind says
	// that evidence is incomplete after this entry, for whatever reason.
	Begins bool
	Blind  bool

	// Fresh says that the game's state is another one from this entry on: what
	// was said to be invalid before says nothing about it.
	Fresh bool

	// Raised is the key under which the host itself raises this entry, "" for
	// all that it does not raise. Entries of one key are one item.
	Raised string

	digest *digested

	// NewPhase says that the game entered another phase with this entry, which
	// is then the first of the new phase's episode.
	NewPhase bool
}

// Folded tells the caller what became of an entry.
type Folded struct {
	// ID is the attention id of the item that the entry was folded into, ""
	// for an ignored entry. Owner is the item's number, for the journal.
	ID    string
	Owner uint64

	NewGroup bool // first of its group in this item
	NewCause bool // the entry is the item's cause from now on
}

// Coalescer folds urgent entries into items. It is not safe for concurrent
// use. The package documentation describes what it does.
type Coalescer struct {
	cfg    Config
	prefix string // of attention ids

	now  logicalTime // latest sequence number, engine's time
	base time.Time   // from which it counts
	pos  uint64      // of the latest entry

	expiry  alarm // of advisory items
	abandon alarm // of operations

	items   []item // fixed; open, cleared and free ones
	numbers uint64
	clears  uint64
	nOpen   int

	// The bursts that go on, but for those of operations, which hold their own.
	episode episode
	blindly *item // open item of blindness, or nil

	suppressor *item // that took the previous repeat: storms repeat themselves
	again      again
	index      *index
	version    uint64 // changes whenever an item is cleared, a rule resolved or groups merged

	ops   operations
	only  inference
	blind bool

	freshSince uint64 // sequence number from which the game's state is the one it is
	consumers  consumers

	escalations []*escalation // of the rules that were met, at most maxEscalations
	repeated    *escalation   // that raised a decision last

	queue     []*item // with a pending update, oldest first
	retention []Retention

	stats Stats

	thorough bool // for tests: repeats take the way of all others

	saved savedItems
}

// episode is the ambient burst that goes on; the zero value is none.
type episode struct {
	item  *item       // open, or nil
	last  logicalTime // latest urgent entry that was not acknowledged before
	acked uint64      // number of its item that was acknowledged last, 0: none
}

// New returns a Coalescer with the bounds of cfg. All memory that does not
// depend on operations and texts is allocated here.
func New(cfg Config) (*Coalescer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	c := &Coalescer{
		cfg:       cfg,
		prefix:    cfg.Epoch + "-",
		items:     make([]item, cfg.MaxOpen+cfg.MaxRemembered),
		ops:       newOperations(cfg.MaxOperations),
		consumers: newConsumers(cfg.MaxConsumers),
		version:   1,
		index:     newIndex(cfg.MaxOpen+cfg.MaxRemembered, cfg.MaxGroups+reservedRows),
	}
	for i := range c.items {
		c.items[i].counters = c.index.counters(i)
		c.items[i].rules = make([]ruleCount, 0, maxRules)
		c.items[i].delivered = make([]uint64, cfg.MaxConsumers)
		c.items[i].reset()
	}
	c.queue = make([]*item, 0, len(c.items))
	return c, nil
}

// id returns the attention id of item number n.
func (c *Coalescer) id(n uint64) string {
	if n == 0 {
		return ""
	}
	return c.prefix + strconv.FormatUint(n, 10)
}

// Advance moves the engine's time to now, and does what is due by then. A time
// before the latest one changes nothing, unless it is so far back that the
// clock must have been set: see [Config].MaxSkew.
func (c *Coalescer) Advance(now time.Time) {
	c.tick(now)
	c.sweep()
}

// Fold takes in one entry. An ignored log entry costs a few comparisons, a
// repeat of an urgent one a table look-up; neither allocates.
func (c *Coalescer) Fold(in *Input) Folded {
	e := in.Entry
	c.again.version = 0
	c.now.seq, c.pos = e.Seq, e.Pos
	c.tick(e.Time)
	c.sweep()

	if in.NewPhase {
		c.episode = episode{}
	}
	if in.Fresh {
		c.freshSince = e.Seq
	}
	if in.Blind != c.blind {
		c.setBlind(in.Blind)
	}
	if e.Kind == event.KindNotice {
		c.missEvidence()
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

// tick moves the engine's time to t, the time of an entry or of the host. Time
// only goes forward, so that entries which arrive out of order do no harm. What
// is further back than MaxSkew means that the clock was set back: waiting until
// it is where it was would stop every window.
func (c *Coalescer) tick(t time.Time) {
	if t.IsZero() {
		return
	}
	if c.now.generation == 0 {
		c.base = t.Round(0) // without the monotonic clock, which a replay would not have
		c.now.generation = 1
	}
	at := since(c.base, t)
	if at < c.now.at {
		if c.now.at-at <= c.cfg.MaxSkew {
			return
		}
		c.now.generation++
		c.only.valid = false // windows that had passed by time are counted in entries again
	}
	c.now.at = at
}

// destination is where an urgent entry belongs.
type destination struct {
	scope scopeKind
	root  *operation // of scopeOperation
	key   string     // of scopeHost
	named *operation // the operation that the entry names, or nil
	row   *counter   // where the item that gathers the burst has the entry's group, if that was looked for and found
}

// destination finds the burst that an entry belongs to: that of the operation
// it names; that of the only root that runs, or of the only one that ended
// within Linger, unless the ambient burst already holds what it repeats; else
// the ambient burst. Blindness is a burst of its own. An event of an operation
// that does not say which is no evidence about another one.
//
// It sets to, which is zero: what it returned had to be copied, with wide loads
// that wait for the narrow stores before them, for 12 ns.
func (c *Coalescer) destination(in *Input, named *operation, to *destination) {
	switch {
	case in.Begins:
		to.scope, to.named = scopeBlind, named
	case in.Raised != "":
		to.scope, to.key, to.named = scopeHost, in.Raised, named
	case in.digest != nil:
		to.scope = scopeDigest
	case named != nil:
		to.scope, to.root, to.named = scopeOperation, c.ops.root(named), named
	case in.Entry.Kind == event.KindOperation:
	default:
		if it := c.episode.item; it != nil {
			if to.row = it.counters.find(in.Decision.Rule, in.Signature); to.row != nil {
				return
			}
		}
		if to.root = c.onlyRoot(); to.root != nil {
			to.scope = scopeOperation
		}
	}
}

// foldUrgent folds an urgent entry into the item it belongs to. Storms consist of
// what an item has seen already and is none the worse for: that goes no further
// than repeat.
func (c *Coalescer) foldUrgent(in *Input, named *operation) Folded {
	if c.episode.last.seq != 0 && c.cfg.AmbientQuiet.passed(c.episode.last, c.now) {
		c.episode = episode{}
	}
	var to destination // ambient, unless it is another one
	c.destination(in, named, &to)
	it := c.gathering(&to)
	if it != nil {
		c.save(it)
	}
	if it == nil || c.thorough || !it.repeat(in, to.row, c.now, c.version, &c.cfg) {
		return c.foldNews(in, &to, it)
	}
	if to.scope == scopeAmbient {
		c.episode.last = c.now
	}
	c.noteOperation(in, &to, it.number)
	c.wake(it)
	return Folded{ID: it.id, Owner: it.number}
}

// foldNews folds an entry that belongs to the burst at to into it, the item that
// gathers that, or, where that is nil and nothing acknowledged accounts for the
// entry, into an item that it opens. What was acknowledged does not make another
// item worse either.
func (c *Coalescer) foldNews(in *Input, to *destination, it *item) Folded {
	d, why := &in.Decision, reasonNew
	var known *item
	if it == nil || it.worsens(d) && !it.knows(d.Rule, in.Signature) {
		if known, why = c.account(in, to); known != nil && why == "" {
			return c.suppress(known, in, to)
		}
	}
	opened := false
	if it == nil {
		it, opened = c.openFor(known, to)
	}
	if to.scope == scopeAmbient {
		c.episode.last = c.now
	}
	if in.digest != nil {
		it.digest = in.digest.digest
	}
	c.save(it)
	f := it.add(in, to.named, c.now, &c.cfg)
	switch at := (place{in.Entry.Seq, in.Entry.Pos}); {
	case opened:
		c.announce(it, Opened, why, at)
	case f.why != "":
		c.announce(it, Updated, f.why, at)
	}
	c.noteOperation(in, to, it.number)
	c.wake(it)
	return Folded{ID: it.id, Owner: it.number, NewGroup: f.newGroup, NewCause: f.newCause}
}

// gathering returns the open item that gathers the burst at to, or nil.
func (c *Coalescer) gathering(to *destination) *item {
	switch to.scope {
	case scopeOperation:
		return to.root.openItem
	case scopeBlind:
		return c.blindly
	case scopeHost:
		for i := range c.items {
			if it := &c.items[i]; it.open() && it.scope == scopeHost && it.key == to.key {
				return it
			}
		}
		return nil
	case scopeDigest:
		return nil
	}
	return c.episode.item
}

// gather lets it gather the burst at to.
func (c *Coalescer) gather(to *destination, it *item) {
	switch to.scope {
	case scopeOperation:
		to.root.openItem = it
	case scopeBlind:
		c.blindly = it
	case scopeHost, scopeDigest:
		// A key finds its item, and a digest gathers nothing more.
	default:
		c.episode.item = it
	}
}

// handOver lets next, or nothing where it is nil, gather all bursts that it
// gathers: with MaxOpen items open, there may be several.
func (c *Coalescer) handOver(it, next *item) {
	if c.episode.item == it {
		c.episode.item = next
	}
	if c.blindly == it {
		c.blindly = next
	}
	for _, o := range c.ops.order {
		if o.openItem == it {
			o.openItem = next
		}
	}
}

// account looks for an acknowledged item that accounts for an entry. It
// returns that item and "" when the entry is a repeat of what it holds; the
// latest one that knows the entry, and a reason, when it goes beyond all of
// them; and nil and reasonNew when none knows it. What names an operation is
// accounted for by items of that operation alone; what names none, by any: an
// inference is no evidence that this is another fault.
func (c *Coalescer) account(in *Input, to *destination) (*item, Reason) {
	if it := c.suppressor; it != nil && c.accounts(it, in, to) && c.exceeds(it, in) == "" {
		return it, ""
	}
	var known, latest *item
	why := reasonNew
	c.knowing(in.Decision.Rule, in.Signature, func(it *item) {
		if !c.accounts(it, in, to) {
			return
		}
		reason := c.exceeds(it, in)
		if reason == "" && (known == nil || it.clearedAt > known.clearedAt) {
			known = it
		}
		if latest == nil || it.clearedAt > latest.clearedAt {
			latest, why = it, reason
		}
	})
	if known != nil {
		return known, ""
	}
	return latest, why
}

// rateFactor is how much more frequent something acknowledged must become to
// be worth another look.
const rateFactor = 10

// accounts reports whether it is an acknowledged item that knows the entry and
// may speak for its burst.
func (c *Coalescer) accounts(it *item, in *Input, to *destination) bool {
	if it.state != itemCleared || !it.acked || to.scope == scopeDigest {
		return false
	}
	if (it.scope == scopeBlind) != (to.scope == scopeBlind) || (it.scope == scopeHost) != (to.scope == scopeHost) {
		return false
	}
	if to.named != nil && to.scope == scopeOperation && (it.root == nil || c.ops.root(it.root) != to.root) {
		return false
	}
	return it.knows(in.Decision.Rule, in.Signature)
}

// exceeds returns why an entry goes beyond what was acknowledged with an item
// that accounts for it, or "" where it does not.
func (c *Coalescer) exceeds(it *item, in *Input) Reason {
	switch d := &in.Decision; {
	case d.Disposition > it.disposition:
		return reasonDisposition
	case d.Severity > it.severity:
		return reasonSeverity
	case d.Invalidates && !it.invalidates:
		return reasonInvalidated
	}
	last := it.latest
	if ctr := it.counters.find(in.Decision.Rule, in.Signature); ctr != nil {
		last = ctr.last
	}
	if c.cfg.AckMemory.passed(last, c.now) {
		return reasonReturned
	}
	if it.rate.current+1 >= rateFactor*it.ackRate && !c.cfg.RateWindow.passed(it.rate.start, c.now) {
		return reasonRate
	}
	return ""
}

// absorb counts a repeat of what was acknowledged.
func (c *Coalescer) suppress(it *item, in *Input, to *destination) Folded {
	c.suppressor = it
	c.save(it)
	it.add(in, to.named, c.now, &c.cfg)
	c.stats.Suppressed++
	if to.named != nil {
		c.noteOperation(in, to, it.number)
	}
	return Folded{ID: it.id, Owner: it.number}
}

// noteOperation records on the operation concerned what came of it.
func (c *Coalescer) noteOperation(in *Input, to *destination, number uint64) {
	o := to.named
	if o == nil {
		o = to.root
	}
	if o == nil {
		return
	}
	if status := in.Entry.Status; status == event.StatusTimedOut || status == event.StatusCancelled {
		o.doubt(number)
		return
	}
	o.note(in.Decision.Disposition, number)
}

// openFor opens an item for the burst at to, where an entry went beyond what
// was acknowledged with known, or, where that is nil, is new. It returns false
// where the burst has to share an item that was open before.
func (c *Coalescer) openFor(known *item, to *destination) (*item, bool) {
	var predecessor uint64
	var r rate
	switch {
	case known != nil:
		// How frequent it is stays known: else a steady fault would seem to
		// grow anew after each acknowledgement.
		predecessor, r = known.number, known.rate
	case to.scope == scopeOperation:
		predecessor = to.root.lastItem
	case to.scope == scopeAmbient:
		predecessor = c.episode.acked
	}
	it := c.slot()
	c.gather(to, it)
	if it.open() {
		c.stats.Overflowed++
		return it, false
	}
	c.open(it, to, predecessor)
	if known == nil {
		c.repeats(&r)
	}
	it.rate = r
	return it, true
}

// Withdraw ends the open item called id, as the host wants. What it holds is new
// when it returns. It returns false where no open item has this id.
func (c *Coalescer) Withdraw(id string) bool {
	it := c.lookup(id)
	if it == nil || !it.open() {
		return false
	}
	c.clear(it, reasonWithdrawn)
	return true
}

// open makes a free item an open one.
func (c *Coalescer) open(it *item, to *destination, predecessor uint64) {
	c.numbers++
	c.nOpen++
	c.stats.Opened++
	it.state, it.number, it.id = itemOpen, c.numbers, c.id(c.numbers)
	it.scope, it.root, it.key, it.predecessor = to.scope, to.root, to.key, predecessor
}

// slot returns a free item. With MaxOpen items open it clears the advisory one
// that has been quiet longest; when all block, it returns the newest of them,
// still open, to be shared.
func (c *Coalescer) slot() *item {
	if c.nOpen >= c.cfg.MaxOpen {
		var victim, newest *item
		for i := range c.items {
			it := &c.items[i]
			if !it.open() {
				continue
			}
			if it.disposition != event.Blocking && (victim == nil || it.latest.seq < victim.latest.seq) {
				victim = it
			}
			if newest == nil || it.number > newest.number {
				newest = it
			}
		}
		if victim == nil {
			return newest
		}
		c.clear(victim, ReasonEvicted)
	}
	var oldest *item
	for i := range c.items {
		it := &c.items[i]
		switch {
		case it.state == itemFree:
			return it
		case it.open():
		case oldest == nil, less(it, oldest):
			oldest = it
		}
	}
	c.forget(oldest)
	return oldest
}

// less reports whether cleared item a is to be forgotten before b: first what
// nobody acknowledged, then the oldest.
func less(a, b *item) bool {
	if a.acked != b.acked {
		return !a.acked
	}
	return a.clearedAt < b.clearedAt
}

// forget drops a cleared item, keeping its counts in the totals.
func (c *Coalescer) forget(it *item) {
	if it.pending != "" {
		c.stats.UpdatesDropped++
		c.queue = slices.DeleteFunc(c.queue, func(q *item) bool { return q == it })
	}
	if c.suppressor == it {
		c.suppressor = nil
	}
	c.stats.Evicted++
	c.stats.FoldedEvicted += it.total
	c.retention = append(c.retention, Retention{Owner: it.number, Evicted: true})
	c.version++
	c.save(it)
	c.leaveRules(it)
	it.reset()
}

// clear ends an item, and with it the bursts that it gathers.
func (c *Coalescer) clear(it *item, why Reason) {
	c.close(it, why)
	c.handOver(it, nil)
}

// close ends an item at the latest entry.
func (c *Coalescer) close(it *item, why Reason) {
	c.version++
	c.nOpen--
	c.clears++
	c.stats.Cleared++
	it.state, it.clearedBy, it.clearedAt = itemCleared, why, c.clears
	c.retention = append(c.retention, Retention{Owner: it.number})
	c.announce(it, Cleared, why, place{c.now.seq, c.pos})
}

// announce merges an update into what is pending of the item: an item that
// nobody has heard of is still to be opened, cleared ends all else, and of two
// reasons the more telling one stays.
func (c *Coalescer) announce(it *item, kind string, why Reason, at place) {
	if it.pending == "" {
		c.queue = append(c.queue, it)
	} else if kind == Updated && (it.pending == Opened || it.pendingWhy.weight() > why.weight()) {
		return
	}
	it.pending, it.pendingWhy, it.pendingAt = kind, why, at
}

// NextUpdate returns the oldest pending update and forgets it, with its item as it is
// now: there is at most one for each item. It costs a rendering: sorting the groups of
// the item, and a few allocations. It returns false where no update is pending.
func (c *Coalescer) NextUpdate() (Update, bool) {
	if len(c.queue) == 0 {
		return Update{}, false
	}
	it := c.queue[0]
	c.queue = slices.Delete(c.queue, 0, 1)
	u := Update{
		Kind: it.pending, Reason: it.pendingWhy, Attention: c.attention(it),
		Seq: it.pendingAt.seq, Pos: it.pendingAt.pos,
	}
	it.pending = ""
	it.delivered[0] = it.latest.seq
	c.stats.Updates++
	return u, true
}

// Pending returns how many updates wait to be drained.
func (c *Coalescer) Pending() int { return len(c.queue) }

// resolve marks rules as resolved in every item that matters, and clears the
// open items of which nothing is left. What is resolved and returns is new, even
// where it had been acknowledged.
func (c *Coalescer) resolve(rules []string) {
	for i := range c.items {
		it := &c.items[i]
		if !it.open() && !it.acked {
			continue
		}
		hit := false
		for _, id := range rules {
			if r := it.rule(id); r != nil {
				c.save(it)
				c.version++
				r.resolved, hit = true, true
			}
		}
		if hit && it.open() && it.resolved() {
			c.clear(it, ReasonResolved)
		}
	}
}

// wake sets the alarm for an advisory item.
func (c *Coalescer) wake(it *item) {
	if it.disposition == event.Advisory {
		c.expiry.add(&c.cfg.AdvisoryTTL, it.alive, c.now)
	}
}

// sweep does what is due.
func (c *Coalescer) sweep() {
	if c.expiry.due(c.now) {
		c.expire()
	}
	if c.abandon.due(c.now) {
		c.giveUp()
	}
}

// expire clears the advisory items that have been quiet for AdvisoryTTL.
func (c *Coalescer) expire() {
	c.expiry = alarm{}
	for i := range c.items {
		it := &c.items[i]
		if !it.open() || it.disposition != event.Advisory {
			continue
		}
		if c.cfg.AdvisoryTTL.passed(it.alive, c.now) {
			c.clear(it, ReasonExpired)
		} else {
			c.wake(it)
		}
	}
}
