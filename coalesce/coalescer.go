package coalesce

import (
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
	Decision  event.Decision

	// Summary is what the deciding rule says in heed's own words, or "".
	Summary string

	// Resolves names the rules whose items this entry resolves.
	Resolves []string

	// Begins says that evidence is incomplete from this entry on because of
	// the deciding rule; the entry then opens an item of its own. Blind says
	// that evidence is incomplete after this entry, for whatever reason.
	Begins bool
	Blind  bool

	// NewPhase says that the game entered another phase with this entry.
	NewPhase bool

	causeOperation string
	causeMethod    string
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

	now   moment // latest sequence number, latest time
	pos   uint64 // of the latest entry
	alarm alarm

	items   []item // fixed; open, cleared and free ones
	numbers uint64
	clears  uint64
	nOpen   int

	ambient     *item // of the episode that goes on, open or nil
	ambientLast moment
	lastAmbient uint64 // number of the ambient item acknowledged last
	absorber    *item  // that took the previous repeat: storms repeat themselves

	ops   operations
	only  inference
	blind bool

	queue    []*item // with a pending update, oldest first
	released []uint64

	stats Stats
}

// New returns a Coalescer with the bounds of cfg. All memory that does not
// depend on operations and texts is allocated here.
func New(cfg Config) (*Coalescer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	cfg.MaxGroups = min(cfg.MaxGroups, maxCounters)
	c := &Coalescer{
		cfg:    cfg,
		prefix: cfg.Epoch + "-",
		items:  make([]item, cfg.MaxOpen+cfg.MaxRemembered),
		ops:    newOperations(cfg.MaxOperations),
	}
	for i := range c.items {
		c.items[i].counters = newCounters(cfg.MaxGroups)
		c.items[i].rules = make([]ruleCount, 0, maxRules)
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

// Advance moves the engine's time to now, where now is later than it, and does
// what is due by then.
func (c *Coalescer) Advance(now time.Time) {
	if now.After(c.now.time) {
		c.now.time = now
	}
	if c.alarm.due(c.now) {
		c.sweep()
	}
}

// Fold takes in one entry. An ignored log entry costs a comparison.
func (c *Coalescer) Fold(in *Input) Folded {
	e := in.Entry
	c.now.seq, c.pos = e.Seq, e.Pos
	if e.Time.After(c.now.time) {
		c.now.time = e.Time
	}
	if c.alarm.due(c.now) {
		c.sweep()
	}
	at := moment{seq: e.Seq, time: e.Time}

	if in.NewPhase {
		c.endEpisode()
	}
	if in.Blind != c.blind {
		c.setBlind(in.Blind)
	}
	c.stats.Received++
	var named *operation
	if e.Kind == event.KindOperation {
		named = c.operationEvent(e, at)
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
		named = c.operation(e.OperationID, at)
	}
	return c.foldUrgent(in, named, at)
}

// destination is where an urgent entry belongs.
type destination struct {
	scope    scopeKind
	root     *operation // of scopeOperation
	named    *operation // the operation that the entry names, or nil
	inferred bool
}

// destination finds the burst that an entry belongs to: that of the operation
// it names; that of the only root that runs, or of the only one that ended
// within Linger, unless the ambient burst already holds what it repeats; else
// the ambient burst. Blindness is a burst of its own.
func (c *Coalescer) destination(in *Input, named *operation) destination {
	if in.Begins {
		return destination{scope: scopeBlind, named: named}
	}
	if named != nil {
		return destination{scope: scopeOperation, root: c.ops.root(named), named: named}
	}
	if c.ambient != nil && c.ambient.counters.find(in.Decision.Rule, in.Signature) != nil {
		return destination{scope: scopeAmbient}
	}
	if root := c.onlyRoot(); root != nil {
		return destination{scope: scopeOperation, root: root, inferred: true}
	}
	return destination{scope: scopeAmbient}
}

// foldUrgent folds an urgent entry into the item it belongs to, opening one
// where nothing that is open or acknowledged accounts for it.
func (c *Coalescer) foldUrgent(in *Input, named *operation, at moment) Folded {
	to := c.destination(in, named)
	in.causeOperation, in.causeMethod = "", ""
	if named != nil {
		in.causeOperation, in.causeMethod = named.id, named.method
	}
	it, predecessor := c.current(&to), uint64(0)
	why := ReasonNew
	if it == nil {
		var known *item
		known, why = c.account(in, &to, at)
		if known != nil && why == "" {
			return c.absorb(known, in, &to, at)
		}
		predecessor = c.predecessor(known, &to)
		it = c.openItem(&to, at, in.Entry.Pos)
	}
	opened := it.total == 0
	if opened {
		it.predecessor = predecessor
	}
	f := it.add(in, at, c.cfg.MaxSampleText, &c.cfg.RateWindow)
	switch {
	case opened:
		c.announce(it, Opened, why, in.Entry)
	case f.why != "":
		c.announce(it, Updated, f.why, in.Entry)
	}
	c.noteOperation(in, &to, it.number)
	if to.scope == scopeAmbient {
		c.ambientLast = at
	}
	c.wake(it)
	return Folded{ID: it.id, Owner: it.number, NewGroup: f.newGroup, NewCause: f.newCause}
}

// current returns the open item of the burst at to, or nil.
func (c *Coalescer) current(to *destination) *item {
	switch to.scope {
	case scopeOperation:
		return to.root.openItem
	case scopeAmbient:
		return c.ambient
	case scopeBlind:
		for i := range c.items {
			if it := &c.items[i]; it.open() && it.scope == scopeBlind {
				return it
			}
		}
	}
	return nil
}

// account looks for an acknowledged item that accounts for an entry. It
// returns that item and "" when the entry is a repeat of what it holds, the
// item and a reason when the entry goes beyond it, and nil and ReasonNew when
// there is none. What names an operation is accounted for by items of that
// operation alone; what names none, by any: an inference is no evidence that
// this is another fault.
func (c *Coalescer) account(in *Input, to *destination, at moment) (*item, Reason) {
	known := c.absorber
	if known == nil || !c.accounts(known, in, to) {
		known = nil
		for i := range c.items {
			if it := &c.items[i]; c.accounts(it, in, to) && (known == nil || it.clearedAt > known.clearedAt) {
				known = it
			}
		}
	}
	if known == nil {
		return nil, ReasonNew
	}
	if in.Decision.Severity > known.severity || in.Decision.Disposition > known.disposition {
		return known, ReasonSeverity
	}
	last := known.latest
	if ctr := known.counters.find(in.Decision.Rule, in.Signature); ctr != nil {
		last = ctr.last
	}
	if c.cfg.AckMemory.passed(last, at) {
		return known, ReasonReturned
	}
	if known.rate.current+1 >= rateFactor*known.ackRate && !c.cfg.RateWindow.passed(known.rate.start, at) {
		return known, ReasonRate
	}
	return known, ""
}

// rateFactor is how much more frequent something acknowledged must become to
// be worth another look.
const rateFactor = 10

// accounts reports whether it is an acknowledged item that knows the entry and
// may speak for its burst.
func (c *Coalescer) accounts(it *item, in *Input, to *destination) bool {
	if it.state != itemCleared || !it.acked {
		return false
	}
	if (it.scope == scopeBlind) != (to.scope == scopeBlind) {
		return false
	}
	if r := it.rule(in.Decision.Rule); r == nil || r.resolved {
		return false
	}
	if to.named != nil && to.scope == scopeOperation && (it.scope != scopeOperation || it.operation != to.root.id) {
		return false
	}
	return it.knows(in.Decision.Rule, in.Signature)
}

// absorb counts a repeat of what was acknowledged.
func (c *Coalescer) absorb(it *item, in *Input, to *destination, at moment) Folded {
	c.absorber = it
	it.add(in, at, c.cfg.MaxSampleText, &c.cfg.RateWindow)
	c.stats.Absorbed++
	if to.named != nil {
		c.noteOperation(in, to, it.number)
	}
	return Folded{ID: it.id, Owner: it.number}
}

// noteOperation records on the operations concerned what came of them.
func (c *Coalescer) noteOperation(in *Input, to *destination, number uint64) {
	o := to.named
	if o == nil {
		o = to.root
	}
	if o == nil {
		return
	}
	if status := in.Entry.Status; status == event.StatusTimedOut || status == event.StatusCancelled {
		c.ops.doubt(o, number)
		return
	}
	c.ops.note(o, in.Decision.Disposition, number)
}

// predecessor returns the number of the item that a new one at to continues.
func (c *Coalescer) predecessor(known *item, to *destination) uint64 {
	if known != nil {
		return known.number
	}
	switch to.scope {
	case scopeOperation:
		return to.root.lastItem
	case scopeAmbient:
		return c.lastAmbient
	}
	return 0
}

// openItem makes a new item for the burst at to.
func (c *Coalescer) openItem(to *destination, at moment, pos uint64) *item {
	it := c.slot(to)
	if it.open() {
		c.stats.Crowded++
		return it
	}
	it.reset()
	c.numbers++
	c.nOpen++
	c.stats.Opened++
	it.state, it.number, it.scope = itemOpen, c.numbers, to.scope
	it.id = c.id(it.number)
	it.opened, it.openedPos = at, pos
	switch to.scope {
	case scopeOperation:
		it.operation, it.method, it.inferred = to.root.id, to.root.method, to.inferred
		to.root.openItem = it
	case scopeAmbient:
		c.ambient = it
		c.ambientLast = at
	}
	return it
}

// slot returns a free item. With MaxOpen items open it clears the advisory one
// that has been quiet longest; when all block, it returns the newest of them,
// still open, to be shared.
func (c *Coalescer) slot(to *destination) *item {
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
			switch to.scope {
			case scopeAmbient:
				c.ambient = newest
			case scopeOperation:
				to.root.openItem = newest
			}
			return newest
		}
		c.clear(victim, ReasonDisplaced)
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
	if it.pending != 0 {
		c.stats.UpdatesDropped++
		c.unqueue(it)
	}
	if c.absorber == it {
		c.absorber = nil
	}
	c.stats.Forgotten++
	c.stats.FoldedForgotten += it.total
	c.released = append(c.released, it.number)
	it.state = itemFree
}

// clear ends an item, at the latest entry.
func (c *Coalescer) clear(it *item, why Reason) {
	c.nOpen--
	c.clears++
	c.stats.Cleared++
	it.state, it.clearedBy, it.clearedAt = itemCleared, why, c.clears
	if c.ambient == it {
		c.ambient = nil
	}
	for _, o := range c.ops.order {
		if o.openItem == it {
			o.openItem = nil
		}
	}
	it.pendingSeq, it.pendingPos = c.now.seq, c.pos
	c.queueUpdate(it, ClearedUpdate, why)
}

// announce notes that it has an update because of e.
func (c *Coalescer) announce(it *item, kind UpdateKind, why Reason, e *event.Entry) {
	it.pendingSeq, it.pendingPos = e.Seq, e.Pos
	c.queueUpdate(it, kind, why)
}

// queueUpdate merges an update into what is pending of the item: an item that
// nobody has heard of is still opened, and cleared ends all else.
func (c *Coalescer) queueUpdate(it *item, kind UpdateKind, why Reason) {
	if it.pending == 0 {
		c.queue = append(c.queue, it)
	}
	if it.pending == Opened && kind == Updated {
		return
	}
	it.pending, it.pendingWhy = kind, why
}

func (c *Coalescer) unqueue(it *item) {
	for i, q := range c.queue {
		if q == it {
			c.queue = append(c.queue[:i], c.queue[i+1:]...)
			break
		}
	}
	it.pending = 0
}

// Updates appends the pending updates to dst, oldest first, and forgets them:
// at most one per item, each with the item as it is now.
func (c *Coalescer) Updates(dst []Update) []Update {
	for _, it := range c.queue {
		dst = append(dst, Update{
			Kind: it.pending, Reason: it.pendingWhy, Attention: c.attention(it),
			Seq: it.pendingSeq, Pos: it.pendingPos,
		})
		it.pending = 0
		it.shown = it.latest
		c.stats.Updates++
	}
	clear(c.queue)
	c.queue = c.queue[:0]
	return dst
}

// Pending returns how many updates wait to be drained.
func (c *Coalescer) Pending() int { return len(c.queue) }

// Released appends to dst the owners of items that are gone for good, so that
// the journal may let go of what it kept for them.
func (c *Coalescer) Released(dst []uint64) []uint64 {
	dst = append(dst, c.released...)
	c.released = c.released[:0]
	return dst
}

// endEpisode ends the ambient burst. Its item stays open.
func (c *Coalescer) endEpisode() { c.ambient = nil }

// resolve marks rules as resolved in every item, and clears the open items of
// which nothing is left. What is resolved and returns is new, even where it
// had been acknowledged.
func (c *Coalescer) resolve(rules []string) {
	for i := range c.items {
		it := &c.items[i]
		hit := false
		for _, id := range rules {
			if r := it.rule(id); r != nil {
				r.resolved, hit = true, true
			}
		}
		if hit && it.open() && it.resolved() {
			c.clear(it, ReasonResolved)
		}
	}
}

// wake sets the alarm for the windows that run from the latest entry of it.
func (c *Coalescer) wake(it *item) {
	if c.ambient != nil {
		c.alarm.add(&c.cfg.AmbientQuiet, c.ambientLast)
	}
	if it.disposition == event.Advisory {
		c.alarm.add(&c.cfg.AdvisoryTTL, it.latest)
	}
}

// sweep does what is due and sets the alarm for what comes next.
func (c *Coalescer) sweep() {
	c.alarm = alarm{}
	if c.ambient != nil {
		if c.cfg.AmbientQuiet.passed(c.ambientLast, c.now) {
			c.endEpisode()
		} else {
			c.alarm.add(&c.cfg.AmbientQuiet, c.ambientLast)
		}
	}
	for i := range c.items {
		it := &c.items[i]
		if !it.open() || it.disposition != event.Advisory {
			continue
		}
		if c.cfg.AdvisoryTTL.passed(it.latest, c.now) {
			c.clear(it, ReasonExpired)
		} else {
			c.alarm.add(&c.cfg.AdvisoryTTL, it.latest)
		}
	}
	c.sweepOperations()
}
