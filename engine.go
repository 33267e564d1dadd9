package heed

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/heedlog/heed/blame"
	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// Types of the rooms behind the engine that its callers meet.
type (
	// Attention is what a bridge sees of what is urgent.
	Attention = coalesce.Attention
	// Sample is one group of an Attention.
	Sample = coalesce.Sample
	// Update is a change of one Attention.
	Update = coalesce.Update
	// AckResult is the answer to an acknowledgement.
	AckResult = coalesce.AckResult
	// Verdict says what came of an operation.
	Verdict = coalesce.Verdict
	// Cursor is a position in the journal.
	Cursor = journal.Cursor
	// Filter chooses records of the journal.
	Filter = journal.Filter
	// Page is a part of the journal.
	Page = journal.Page
)

// neighbors is how many entries on each side of a cause the journal keeps with
// it.
const neighbors = 8

// Engine turns entries into attention. Make one with [New]. All methods are
// safe for concurrent use; one lock orders them, so that each costs what its
// own work costs and what the callers before it in the queue cost. Those that take
// long hold it in turns of some ten microseconds, and let others go first. What they
// return belongs to the caller, unless they say otherwise. No input makes them
// fail or panic.
type Engine struct {
	mu        lock
	snapshots sync.Mutex // held before mu by whoever takes a snapshot

	normalizer *signature.Normalizer
	classifier *classify.Classifier
	journal    *journal.Journal
	coalescer  *coalesce.Coalescer
	finder     *blame.Finder
	epoch      string
	ruled      ruled

	seq       uint64
	byKind    [event.KindHost + 1]uint64
	heartbeat heartbeat
	loadPhase string
	entry     event.Entry            // reused, so that no entry escapes to the heap
	result    *classify.Result       // of the entry that take took in last
	plain     uint64                 // that entry, where one that comes again is as input says; or 0
	input     coalesce.Input         // reused by take, which sets all that it does not leave zero
	retention []coalesce.Retention   // reused
	suspects  []Suspect              // reused
	merges    []signature.GroupMerge // reused
}

// New returns an engine with the bounds of cfg, which it does not change. An
// error names the field of cfg that is at fault. Without cfg.Rules it compiles
// the default rules, which takes some milliseconds.
func New(cfg Config) (*Engine, error) {
	p, err := prepare(cfg)
	if err != nil {
		return nil, fmt.Errorf("heed: %w", err)
	}
	e := p.engine()
	if e.classifier, err = classify.New(p.classify); err != nil {
		return nil, fmt.Errorf("heed: Config: %w", err)
	}
	if e.journal, err = journal.New(p.journal); err != nil {
		return nil, fmt.Errorf("heed: Config.Journal: %w", err)
	}
	if e.coalescer, err = coalesce.New(p.coalesce); err != nil {
		return nil, fmt.Errorf("heed: Config.Coalesce: %w", err)
	}
	return e, nil
}

// parts is what the rooms of an engine are made of.
type parts struct {
	normalizer *signature.Normalizer
	classify   classify.Config
	journal    journal.Config
	coalesce   coalesce.Config
	loadPhase  string
	finder     *blame.Finder
	ruled      ruled
}

// prepare works out a Config for each room.
func prepare(cfg Config) (*parts, error) {
	if cfg.Rules == nil {
		set, err := rules.Compile(rules.Defaults()...)
		if err != nil {
			return nil, fmt.Errorf("default rules: %w", err)
		}
		cfg.Rules = set
	}
	cfg.Epoch = cmp.Or(cfg.Epoch, coalesce.DefaultEpoch)
	cfg.Journal.Epoch, cfg.Journal.After = cfg.Epoch, 0
	cfg.Coalesce.Epoch = cfg.Epoch

	own := newRuled(&cfg)
	normalizer, err := signature.New(own.maskingWith(cfg.Rules))
	if err != nil {
		return nil, fmt.Errorf("Config.Signature: %w", err)
	}
	finder, err := blame.New(blame.Config{GameCode: cfg.Rules.GameCode()})
	if err != nil {
		panic("BUG: heed: " + err.Error()) // the set has seen to the names
	}
	return &parts{
		normalizer: normalizer, finder: finder, ruled: own,
		classify: classify.Config{
			Rules: cfg.Rules, Normalizer: normalizer, Signatures: cfg.Signatures, Groups: cfg.Groups, InitialPhase: cfg.InitialPhase,
		},
		journal: cfg.Journal, coalesce: cfg.Coalesce, loadPhase: cmp.Or(cfg.LoadPhase, DefaultLoadPhase),
	}, nil
}

// engine returns an engine without its rooms.
func (p *parts) engine() *Engine {
	return &Engine{
		normalizer: p.normalizer, epoch: p.coalesce.Epoch, loadPhase: p.loadPhase, finder: p.finder, ruled: p.ruled,
	}
}

// Outcome is what became of one entry. Its strings, and the tags of the
// decision, are shared: read only.
type Outcome struct {
	Seq       uint64 // the entry's number among all that the engine received
	Signature signature.Signature

	// Group is the signature that names the group of Signature, by what was
	// learned so far; see [Engine.Group].
	Group signature.Signature

	Decision event.Decision

	// Escalated says that Decision is more than its rule says by itself, since so
	// many of what the rule decides came within its window.
	Escalated bool

	// Phase is the phase of the game that the entry saw.
	Phase string

	// Blind says that evidence is incomplete after the entry.
	Blind bool

	// AttentionID is the item that the entry was folded into, "" for an
	// ignored one.
	AttentionID string

	// Pending says that updates are pending after the entry, so that whoever drains
	// them after each need not ask: nearly no entry has one, and asking takes the lock.
	Pending bool
}

// Log ingests a log record and returns what was decided about it. It is
// Observe(r.Entry()).Decision for hosts that need no more, and cheaper: a record of a
// known signature whose decision is known allocates nothing. The tags of the
// decision are shared: read only.
func (e *Engine) Log(r event.Log) event.Decision {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log(&r)
	e.take()
	return e.input.Decision
}

// Observe ingests an entry and returns what became of it. It copies what it keeps.
// The entry's Seq is the engine's to set; fields that do not belong to its Kind must
// be zero. The first event of an operation that is not known allocates; one whose
// status is no operation's only names the method and the parent. An entry of
// [event.KindHost] is what the engine records about its own methods: one that is
// given is left out, and the Outcome is zero.
func (e *Engine) Observe(in event.Entry) (o Outcome) {
	e.ObserveInto(&o, &in)
	return o
}

// ObserveInto is Observe without copies of the entry and of the Outcome, for hosts
// with many entries to go through. It does not retain o or in.
func (e *Engine) ObserveInto(o *Outcome, in *event.Entry) {
	if in.Kind >= event.KindHost {
		*o = Outcome{}
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.entry = *in
	switch in.Kind {
	case event.KindLog:
		e.entry.Status = event.StatusNone // decisions of log records are cached without it
	case event.KindState:
		e.heartbeat.observe(in.Status)
	}
	e.outcome(o)
}

// log makes e.entry the common form of r, as [event.Log.Entry] does, but where it
// is to be: copies of an Entry are a tenth of the work on a known record. A test
// holds the two to each other. The lock is held.
func (e *Engine) log(r *event.Log) {
	to := &e.entry
	to.Time, to.Kind, to.Level, to.Status = r.Time, event.KindLog, r.Level, event.StatusNone
	to.Source, to.Message, to.Stack = r.Source, r.Message, r.Stack
	to.OperationID, to.Parent, to.ByCaller = r.OperationID, "", false
	to.Count, to.Pos = 0, r.Pos
}

// outcome is take for callers that get what became of the entry. It sets all of o.
// The lock is held.
func (e *Engine) outcome(o *Outcome) {
	escalated, folded := e.take()
	res, d := e.result, &e.input.Decision
	o.Seq, o.Signature, o.Group, o.Decision = e.entry.Seq, res.Signature, res.Group, *d
	o.Escalated, o.Phase, o.Blind, o.AttentionID = escalated, res.PhaseBefore, res.Blind, folded.ID
	o.Pending = e.coalescer.Pending() > 0
}

// take passes e.entry through the rooms, and leaves what came of it in e.result
// and, as it was decided in the end, in e.input. It reports whether repetition
// raised the decision. The lock is held.
//
// All of it is written where the next room reads it: of 250 ns that an entry took,
// 40 went into copies of structures, half of them waiting for narrow stores to
// become readable by wide loads.
func (e *Engine) take() (escalated bool, folded coalesce.Folded) {
	e.number()
	entry, in := &e.entry, &e.input
	res, again := e.classifier.Classify(entry)
	if again && e.plain == e.seq-1 && entry.OperationID == "" {
		return false, e.again()
	}
	e.result = res
	in.Decision = res.Decision
	d := &in.Decision
	if res.Rule != nil && res.Rule.Escalate != nil {
		escalated = e.coalescer.Escalate(entry, res.Rule.Escalate, d)
	}
	e.journal.Append(entry, res.Signature, *d)

	if merges := e.classifier.Merges(e.merges[:0]); len(merges) > 0 {
		e.merges = merges
		for _, m := range merges {
			e.coalescer.Merge(m.From, m.Into)
		}
	}
	in.Entry, in.Signature, in.Blind = entry, res.Group, res.Blind
	in.NewPhase = res.PhaseBefore != res.PhaseAfter
	in.Fresh = in.NewPhase && res.PhaseAfter == e.loadPhase
	in.Resolves, in.Begins, in.Summary = nil, false, ""
	if rule := res.Rule; rule != nil {
		in.Resolves, in.Begins, in.Summary = rule.Resolves, rule.Blinds, rule.Summary
	}
	folded = e.coalescer.Fold(in)
	e.keep(&folded)
	if entry.OperationID == "" && (res.Rule == nil || res.Rule.Escalate == nil) {
		e.plain = e.seq
	}
	return escalated, folded
}

// again is the rest of take for an entry that came again: its result is what it
// was, so all that take would set in e.input is there. That takes 20 ns of 95. The
// lock is held.
func (e *Engine) again() coalesce.Folded {
	e.plain = e.seq
	e.journal.Repeat(&e.entry)
	folded := e.coalescer.Repeat(&e.input)
	e.keep(&folded)
	return folded
}

// number gives e.entry its sequence number. The lock is held.
func (e *Engine) number() {
	e.seq++
	e.entry.Seq = e.seq
	e.byKind[e.entry.Kind]++
}

// keep lets the journal keep what the entry was to its item. The lock is held.
func (e *Engine) keep(folded *coalesce.Folded) {
	if folded.NewGroup {
		e.journal.KeepFirst(folded.Owner)
		e.accuse(folded.Owner)
	}
	if folded.NewCause {
		e.pin(folded.Owner, e.entry.Seq)
	}
	e.tend()
}

// tend lets the journal keep and let go of what the coalescer says. The lock is
// held.
func (e *Engine) tend() {
	retention := e.coalescer.Retention(e.retention[:0])
	if len(retention) == 0 {
		return
	}
	e.retention = retention
	for _, r := range retention {
		switch {
		case r.Pin != 0:
			e.pin(r.Owner, r.Pin)
		case r.Evicted:
			e.journal.Unpin(r.Owner)
		default:
			e.journal.Release(r.Owner)
		}
	}
}

// pin keeps the cause of an open item, which the journal holds, with what is
// around it. Cleared items give up their evidence while more than three quarters
// of the budget are taken: what comes after the cause needs room as well.
func (e *Engine) pin(owner, seq uint64) {
	for {
		pinned := e.journal.Stats().Pinned
		if 4*pinned.Entries <= 3*pinned.Capacity && 4*pinned.Bytes <= 3*pinned.MaxBytes {
			break
		}
		old, ok := e.coalescer.Unpin()
		if !ok {
			break
		}
		e.journal.Unpin(old)
	}
	e.journal.Pin(owner, seq, neighbors)
}

// Advance tells the engine the time, where no entry does: windows that have
// passed by now take effect. A time before the latest one seen changes nothing,
// unless it is further back than [coalesce.Config].MaxSkew: then the clock was
// set back. Where [Engine.Expect] named a time that is not after now, the game
// has stalled.
func (e *Engine) Advance(now time.Time) {
	e.mu.Lock()
	defer e.mu.Release()
	if e.heartbeat.missed(now) {
		e.entry = event.Entry{Kind: event.KindState, Status: event.StatusStall, Time: now, Message: "no sign of life by the time that the host expected one"}
		e.take()
	}
	e.coalescer.Advance(now)
	e.tend()
}

// Updates appends the pending updates to dst, oldest first, and forgets them.
// There is at most one for each item, with the item as it is now. Each costs a
// rendering of its item, some microseconds and a few allocations; with nothing
// pending it costs nothing. Others may be served between two of them; what is new
// since the call stays pending.
func (e *Engine) Updates(dst []Update) []Update {
	for n := e.pending(); n > 0; n-- {
		u, ok := e.nextUpdate()
		if !ok {
			break
		}
		dst = append(dst, u)
	}
	return dst
}

// Open appends all open items to dst, in the order in which they should be
// seen. It is for looking on: it does not count as showing them. It costs a
// rendering for each, and others may be served between two of them: what was open
// at the call, and is when its turn comes, is there as it is then.
func (e *Engine) Open(dst []Attention) []Attention {
	var room [64]string
	for _, id := range e.openIDs(room[:0]) {
		if a, ok := e.Item(id); ok && a.State == coalesce.Open {
			dst = append(dst, a)
		}
	}
	return dst
}

// pending returns how many updates are pending.
func (e *Engine) pending() int {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.Pending()
}

// nextUpdate drains one update. Each rendering has the lock for itself, so that
// nobody who logs waits for all of them.
func (e *Engine) nextUpdate() (Update, bool) {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.NextUpdate()
}

// openIDs appends the ids of the open items.
func (e *Engine) openIDs(dst []string) []string {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.OpenIDs(dst)
}

// Verdict returns what is known of the operation called id, and of its parts.
// Its cost grows with the number of operations known.
func (e *Engine) Verdict(id string) Verdict {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.Verdict(id)
}

// Read returns a page of the journal: what is held after a cursor, oldest
// first, and how much was lost. Page.Err says that a cursor is refused. The
// records are copies.
//
// No writer waits for the whole of a read: it takes the lock for some ten
// microseconds at a time, and searches and copies in between. What is displaced
// meanwhile, before the read has come to it, is among what the page calls lost.
func (e *Engine) Read(after Cursor, limit int, f Filter) Page {
	s := journal.NewScan(after, limit, f)
	for more := true; more; {
		e.mu.Lock()
		more = s.Step(e.journal)
		e.mu.Release()
		more = s.Sift() && more
	}
	return s.Page()
}

// Since returns how many entries after a cursor the journal holds and how many
// it lost, without reading them: two binary searches. It refuses a cursor that
// the journal cannot have given out, with journal.ErrCursorEpoch or
// journal.ErrCursorBeyond.
func (e *Engine) Since(after Cursor) (held, lost uint64, err error) {
	e.mu.Lock()
	defer e.mu.Release()
	return e.journal.Since(after)
}

// Item returns the item called id while it is open or remembered. It does not
// count as showing it. It costs a rendering.
func (e *Engine) Item(id string) (Attention, bool) {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.Item(id)
}

// Group returns the signature that names the group of s, by what was learned so
// far: s itself where it is alone. Groups only grow, so whoever counts by
// signature adds up by group at the end.
func (e *Engine) Group(s signature.Signature) signature.Signature {
	e.mu.Lock()
	defer e.mu.Release()
	return e.classifier.Group(s)
}

// Template returns the canonical template of a signature while it is known.
func (e *Engine) Template(s signature.Signature) (string, bool) {
	e.mu.Lock()
	defer e.mu.Release()
	return e.classifier.Template(s)
}
