package sim

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// model is the naive twin of an engine: it keeps every entry, and bounds
// nothing.
type model struct {
	engine *heed.Engine
	cfg    *heed.Config
	setup  *Setup
	masks  *signature.Normalizer
	rnd    *rand.Rand // chooses cursors

	entries []*entry // entry n has the sequence number n+1
	kinds   [event.KindHost + 1]uint64
	ignored uint64
	folded  [3]uint64 // by disposition

	now    stamp
	base   time.Time
	phase  string
	turned uint64   // sequence number of the latest change of phase
	fresh  uint64   // and from which the game's state is the one it is
	load   stamp    // when the latest load began
	loaded bool     // and is over, for certain
	played []stamp  // calls that began in it and were completed, for certain
	blind  []string // rules that began a blindness which lasts
	repeat map[string][]stamp
	heart  heart
	owed   bool   // a fault that was acknowledged returned since the latest call
	reads  bool   // reads of the game's state are reported
	reread uint64 // sequence number of the latest entry when the game's state was read

	items     []*item // item n has the number n+1
	byID      map[string]*item
	episode   *item              // of the ambient episode that began last
	returns   map[group]*returns // of what was acknowledged, in calls
	calls     int                // operations that were seen to start
	started   uint64             // number of the latest start of one
	completed uint64             // and of the latest completion
	ambient   []stamp            // entries that name no operation, and were not suppressed
	unions    int                // merges of groups so far
	known     map[signature.Signature]bool

	ops       map[string]*operation
	consumers []*consumer // the one without a name first, the others as they were named last

	begun   uint64      // entries before the latest restart: the journal knows none of them
	law     account     // of the updates so far
	stats   heed.Stats  // as of the latest check
	refused uint64      // pins, before this step
	acking  bool        // the step is an acknowledgement
	open    []heed.Item // reused
}

// stamp is a logical time of the model: the entry, and the time where it is known. An
// generation ends when the clock is set back.
type stamp struct {
	seq        uint64
	generation int
	at         time.Duration
}

// entry is what the model keeps of one entry.
type entry struct {
	event.Entry
	rule        string
	disposition event.Disposition
	severity    event.Severity
	invalidates bool
	sig         signature.Signature // as it came
	group       group               // as it is grouped now
	inside      bool                // it came in the window of a call, for certain
	sure        bool                // whether it did is certain
	loading     bool                // a load may have gone on
	started     uint64              // number of the latest start of an operation
	opened      bool                // it opened an item
	late        bool                // it was suppressed
	returned    bool                // its group was in the item, and resolved since
	when        stamp
}

// operation is what the model knows of the present life of an operation, by its id.
type operation struct {
	links    []string // ids that any life of it was ever linked to, as parent or part
	parent   string
	first    uint64 // number of the entry that named it first
	seen     bool   // it was named, and not only as a parent; at since
	begun    bool   // it was seen to start, then at since
	since    stamp
	method   string
	given    bool // up: OperationMax has passed since
	ended    bool
	ends     []stamp  // that were reported: one in doubt may be reported again
	closed   bool     // Linger has passed since the latest end
	doubtful bool     // nobody knows how it ended
	gaps     bool     // evidence was missing in its window
	touched  uint64   // number of the first urgent entry in its window
	excused  bool     // the host raised something in its window, or about it, or a fault returned before it
	covered  uint64   // up to which a verdict went
	named    []*entry // urgent ones that name it
}

// running reports whether the operation was seen to start, and no end of it.
func (o *operation) running() bool { return o.begun && !o.ended && !o.given }

// windowed reports whether an entry that comes now is in the window of an operation: from
// its start to Linger after its end.
func (m *model) windowed(o *operation) bool {
	return o.running() || o.begun && len(o.ends) > 0 && !o.closed
}

// consumer is who receives attention.
type consumer struct {
	name     string
	attached bool
}

// returns is how often a fault stopped calls after it was acknowledged.
type returns struct {
	item  *item  // that it opened last
	stops int    // with the state read in between, if it is ever read
	call  int    // the number of calls at the latest one
	at    uint64 // sequence number of the latest one
}

// account is what the number of updates is held to.
type account struct {
	updates, urgent int
	groups          map[group]bool // by signatures as they came
	stops           int            // items that began to block or came of an acknowledgement, and acts of the host
	advisory        int            // acknowledgements of advisory items
}

// bound returns the most updates that there may have been. Where items have no room for each
// group, nobody knows which came before.
func (a *account) bound(c *coalesce.Config) float64 {
	n, k := max(1, a.urgent), max(1, len(a.groups))
	if k > c.MaxGroups {
		k = n
	}
	return 6 + math.Ceil(3*math.Log10(float64(n))) + math.Ceil(3*math.Log10(float64(k))) + float64(3*a.stops+2*a.advisory)
}

// heart is the model's heartbeat.
type heart struct {
	by            time.Time
	stalled, busy bool
}

func (h *heart) observe(s event.Status) {
	switch s {
	case event.StatusLongEvent:
		h.busy = true
	case event.StatusLongEventEnd:
		*h = heart{stalled: h.stalled}
	case event.StatusStall:
		h.stalled = true
	case event.StatusRecovered:
		h.stalled = false
	case event.StatusExited, event.StatusDisconnected:
		*h = heart{}
	}
}

func newModel(e *heed.Engine, s *Setup, cfg *heed.Config) *model {
	masks, err := signature.New(cfg.Rules.Masking())
	if err != nil {
		panic(err)
	}
	return &model{
		engine: e, cfg: cfg, setup: s, masks: masks, rnd: rand.New(rand.NewPCG(1, 2)),
		repeat: map[string][]stamp{}, byID: map[string]*item{}, known: map[signature.Signature]bool{},
		returns: map[group]*returns{},
		law:     account{groups: map[group]bool{}},
		ops:     map[string]*operation{}, consumers: []*consumer{{}},
	}
}

// passed reports whether w has passed since a stamp.
func (m *model) passed(w coalesce.Window, since stamp) bool { return between(w, since, m.now) }

func between(w coalesce.Window, since, until stamp) bool {
	if since.generation == until.generation && until.generation > 0 {
		return until.at-since.at >= w.Duration
	}
	return until.seq-since.seq >= uint64(w.Entries)
}

// runGap is the silence within a group that makes its next entry another occurrence, and aloneAfter how many of them
// without a call since the one before show that a fault comes by itself.
var runGap = coalesce.Window{Duration: 250 * time.Millisecond, Entries: 64}

const aloneAfter = 2

// loadMax is how long a load lasts whose end is not logged.
var loadMax = coalesce.Window{Duration: 5 * time.Minute, Entries: 20_000}

// loadCalls is how many completed calls that began in a load end it, loadCall how long it lasts after the first.
const loadCalls = 2

var loadPlay = coalesce.Window{Duration: time.Minute, Entries: 500}

var loadCall = coalesce.Window{Duration: 5 * time.Second, Entries: 50}

// loadMay reports whether a load may go on: no end of it is known.
func (m *model) loadMay() bool {
	return m.load.seq > 0 && !m.loaded && !m.passed(loadMax, m.load) && len(m.played) < loadCalls &&
		(len(m.played) == 0 || !m.passed(loadCall, m.played[0]))
}

// loads reports whether a load goes on for certain, of which nothing was acknowledged.
func (m *model) loads() bool {
	return m.loadMay() && m.now.generation < 2 && m.completed < m.load.seq && !m.passed(loadPlay, m.load) &&
		!slices.ContainsFunc(m.items, func(it *item) bool { return it.acked && it.ackedAt >= m.load.seq })
}

// stopped reports whether an open item blocks, or waits for the end of a load.
func (m *model) stopped() bool {
	m.open = m.engine.Open(m.open[:0])
	return slices.ContainsFunc(m.open, func(a heed.Item) bool {
		return a.Disposition == event.Blocking
	})
}

// tick lets the time be t, where that is known, and gives up operations.
func (m *model) tick(t time.Time) {
	m.set(t)
	for _, o := range m.ops {
		o.closed = o.closed || len(o.ends) > 0 && m.passed(m.cfg.Coalesce.Linger, o.ends[len(o.ends)-1])
		o.given = o.given || o.seen && !o.ended && m.passed(m.cfg.Coalesce.OperationMax, o.since)
	}
}

func (m *model) set(t time.Time) {
	if t.IsZero() {
		return
	}
	if m.now.generation == 0 {
		m.base, m.now.generation = t, 1
	}
	switch at := t.Sub(m.base); {
	case at >= m.now.at:
		m.now.at = at
	case m.now.at-at > m.cfg.Coalesce.MaxSkew:
		m.now.generation++
		m.now.at = at
	}
}

// decide classifies an entry, and counts it where repetition matters.
func (m *model) decide(e *event.Entry) (event.Decision, *law) {
	l := lawOf(e, m.phase)
	if l == nil {
		return byDefault(e), nil
	}
	d := event.Decision{Rule: l.id, Disposition: l.disposition, Severity: l.severity, Invalidates: l.invalidates}
	if l.repeated > 0 {
		all := append(m.repeat[l.id], m.now)
		m.repeat[l.id] = all
		if n := len(all); n >= l.repeated && !m.passed(l.within, all[n-l.repeated]) {
			d.Disposition, d.Severity = event.Blocking, max(d.Severity, l.severer)
		}
	}
	return d, l
}

// took ingests an entry that rules decide about.
func (m *model) took(e event.Entry, o *heed.Outcome) error {
	if want := uint64(len(m.entries)) + 1; o.Seq != want {
		return fmt.Errorf("numbers: entry %d is called %d", want, o.Seq)
	}
	m.now.seq = o.Seq
	m.tick(e.Time)
	d, l := m.decide(&e)
	if o.Decision.Rule != d.Rule || o.Decision.Disposition != d.Disposition || o.Decision.Severity != d.Severity ||
		o.Decision.Invalidates != d.Invalidates {
		return fmt.Errorf("decision: %+v, the model says %+v", o.Decision, d)
	}
	if o.Phase != m.phase {
		return fmt.Errorf("phase: entry saw %q, the model says %q", o.Phase, m.phase)
	}
	if o.Decision.Disposition.Urgent() != (o.AttentionID != "") {
		return fmt.Errorf("conservation: %s entry in item %q", o.Decision.Disposition, o.AttentionID)
	}
	before := m.phase
	if e.Kind == event.KindState && e.Status == event.StatusPhase {
		m.phase = e.Message
	}
	m.loaded = m.loaded || e.Kind == event.KindState && e.Status == event.StatusExited
	if l != nil {
		if l.sets != "" {
			m.phase = l.sets
		}
		m.blind = slices.DeleteFunc(m.blind, func(id string) bool { return slices.Contains(l.resolves, id) })
		if l.blinds && !slices.Contains(m.blind, l.id) {
			m.blind = append(m.blind, l.id)
		}
	}
	if m.phase != before {
		m.turned, m.loaded = o.Seq, true
		if m.phase == "load" {
			m.fresh, m.load, m.loaded, m.played = o.Seq, m.now, false, nil
		}
	}
	if e.Kind == event.KindNotice && e.Status == event.StatusRestarted || m.phase == "start" && before != "start" {
		m.endRun()
	}
	if o.Blind != (len(m.blind) > 0) {
		return fmt.Errorf("blindness: %v, the model says %v", o.Blind, m.blind)
	}
	m.operate(&e, d.Disposition)
	if l != nil {
		m.resolve(l.resolves)
	}
	if !m.known[o.Signature] {
		m.known[o.Signature] = true
		m.regroup() // only a new signature merges groups
	}
	x := m.keep(e, d, o.Signature)
	scope := other
	if l != nil && l.blinds {
		scope = blinding
	}
	return m.fold(x, o.AttentionID, scope)
}

// endRun ends what belongs to the run of the game so far.
func (m *model) endRun() {
	m.turned, m.fresh, m.loaded, m.episode = m.now.seq, m.now.seq, true, nil
	for _, it := range m.items {
		it.past = it.past || it.scope == other
	}
}

// endsWithRun reports whether an item is cleared when its run is over: only what blocks
// stays, where somebody has a name.
func (m *model) endsWithRun(it *item) bool {
	return it.disposition == event.Advisory || len(m.consumers) == 1
}

// restarted goes on with another engine. What the journal held is lost; all else is
// as it was.
func (m *model) restarted(e *heed.Engine) {
	m.engine, m.begun, m.refused = e, uint64(len(m.entries)), 0
	m.stats.Journal = e.Stats().Journal
}

// lively takes in an entry that the engine made of the heartbeat, whose outcome
// it was not reported.
func (m *model) lively(e event.Entry) error {
	seq := uint64(len(m.entries)) + 1
	page := m.engine.Read(heed.Cursor{Seq: seq - 1}, 1, heed.Filter{})
	if len(page.Records) != 1 || page.Records[0].Status != e.Status || page.Latest != seq {
		return fmt.Errorf("heartbeat: no entry %d of status %s", seq, e.Status)
	}
	r := &page.Records[0]
	e.Message = r.Message
	o := heed.Outcome{Seq: seq, Signature: r.Signature, Decision: r.Decision, Phase: m.phase, Blind: len(m.blind) > 0}
	if r.Disposition.Urgent() {
		for n := m.engine.Stats().Coalesce.Opened; n > 0 && o.AttentionID == ""; n-- {
			if a, ok := m.engine.Item(itemID(n)); ok && a.LatestSequence == seq {
				o.AttentionID = a.ID
			}
		}
	}
	return m.took(e, &o)
}

// acted takes in what the host did to attention, an entry that rules do not
// judge.
func (m *model) acted(e event.Entry, d event.Decision) *entry {
	e.Kind = event.KindHost
	m.now.seq = uint64(len(m.entries)) + 1
	m.tick(e.Time)
	var sig signature.Signature
	if page := m.engine.Read(heed.Cursor{Seq: m.now.seq - 1}, 1, heed.Filter{}); len(page.Records) == 1 {
		sig = page.Records[0].Signature
	}
	return m.keep(e, d, sig)
}

// keep remembers an entry.
func (m *model) keep(e event.Entry, d event.Decision, sig signature.Signature) *entry {
	e.Seq = m.now.seq
	m.kinds[e.Kind]++
	if d.Disposition.Urgent() {
		m.folded[d.Disposition]++
	} else {
		m.ignored++
	}
	x := &entry{
		Entry: e, rule: d.Rule, disposition: d.Disposition, severity: d.Severity, invalidates: d.Invalidates, sig: sig,
		when: m.now,
	}
	inside, sure := m.inside()
	x.inside, x.sure = inside && sure, sure
	x.loading, x.started = m.loadMay(), m.started
	m.entries = append(m.entries, x)
	if o := m.ops[e.OperationID]; o != nil && d.Disposition.Urgent() {
		o.named = append(o.named, x)
	}
	return x
}

// named returns the operation called id.
func (m *model) named(id string) *operation {
	o := m.ops[id]
	if o == nil {
		o = &operation{first: m.now.seq}
		m.ops[id] = o
	}
	return o
}

// operate notes what an entry says of operations. One that is ignored, and no
// event of an operation, says nothing.
func (m *model) operate(e *event.Entry, d event.Disposition) {
	if e.OperationID != "" && e.Kind == event.KindOperation && e.Status == event.StatusStarted {
		if o := m.ops[e.OperationID]; o != nil && (o.given || o.ended && o.begun) {
			m.ops[e.OperationID] = &operation{links: o.links, first: m.now.seq} // another life
		}
	}
	if e.Kind == event.KindNotice || len(m.blind) > 0 {
		for _, o := range m.ops {
			o.gaps = o.gaps || !o.ended || m.windowed(o)
			o.excused = o.excused || o.ended // it may linger, seen to start or not
		}
	}
	for id, o := range m.ops {
		switch {
		case !d.Urgent():
		case e.Kind == event.KindHost:
			o.excused = o.excused || id == e.OperationID || m.windowed(o)
		case len(o.ends) > 0: // it may linger again, where the clock was set back
			o.excused = o.excused || !m.passed(m.cfg.Coalesce.Linger, o.ends[len(o.ends)-1])
		case e.Kind == event.KindOperation && (id == e.Parent || m.related(id, e.OperationID)):
			// How it ended is said by another reason.
			o.excused = true
		case o.touched == 0 && m.windowed(o):
			o.touched = m.now.seq
		}
	}
	if e.OperationID == "" || e.Kind != event.KindOperation && !d.Urgent() {
		return
	}
	known := m.ops[e.OperationID] != nil
	o := m.named(e.OperationID)
	if !o.seen {
		o.seen, o.since = true, m.now
	}
	if e.Kind != event.KindOperation {
		o.excused = o.excused || e.Kind == event.KindHost
		return
	}
	o.method = cmp.Or(o.method, e.Source)
	if e.Status == event.StatusStarted {
		m.started = m.now.seq
	}
	if e.Status == event.StatusCompleted {
		m.completed = m.now.seq
	}
	if e.Status == event.StatusStarted && !o.begun {
		o.begun, o.since = true, m.now
		m.calls++
		if m.stopped() {
			o.touched = m.now.seq
		}
		if o.excused = o.excused || m.owed; e.Parent == "" && o.first == m.now.seq {
			m.owed = false
		}
	}
	o.gaps = o.gaps || len(m.blind) > 0 && (!known || m.windowed(o))
	doubt := e.Status == event.StatusTimedOut || e.Status == event.StatusCancelled
	if e.Status == event.StatusCompleted && o.running() && o.since.seq > m.load.seq && e.Parent == "" &&
		m.simple(e.OperationID) {
		m.played = append(m.played, m.now)
	}
	if e.Status.Ended() && (!o.ended || o.given || o.doubtful) {
		o.excused = o.excused || o.ended || o.given
		// Nobody looked for what came of it after it was given up, or had lingered.
		o.gaps = o.gaps || o.given || o.doubtful && m.passed(m.cfg.Coalesce.Linger, o.ends[len(o.ends)-1])
		o.ended, o.given, o.doubtful, o.closed = true, false, doubt, false
		o.ends = append(o.ends, m.now)
	}
	o.doubtful = o.doubtful || doubt
	if e.Parent == "" {
		return
	}
	if o.parent == "" { // later ones count for nothing
		m.named(e.Parent)
		if !m.related(e.OperationID, e.Parent) {
			o.parent = e.Parent
		}
	}
	if !slices.Contains(o.links, e.Parent) {
		o.links = append(o.links, e.Parent)
		if parent := m.ops[e.Parent]; parent != nil {
			parent.links = append(parent.links, e.OperationID)
		}
	}
}

// inside reports whether the window of a root operation is open. It is not sure where that
// depends on who is whose part, or where operations were evicted.
func (m *model) inside() (inside, sure bool) {
	sure = len(m.ops) <= m.cfg.Coalesce.MaxOperations
	for _, o := range m.ops {
		if m.windowed(o) {
			inside = true
			sure = sure && len(o.links) == 0
		} else if o.begun && o.closed { // it lingers again if the clock was set back
			sure = sure && m.passed(m.cfg.Coalesce.Linger, o.ends[len(o.ends)-1])
		}
	}
	return inside, sure
}

// related reports whether two operations were ever linked, over others or not.
func (m *model) related(a, b string) bool {
	seen := []string{a}
	for i := 0; i < len(seen); i++ {
		if seen[i] == b {
			return true
		}
		if o := m.ops[seen[i]]; o != nil {
			for _, l := range o.links {
				if !slices.Contains(seen, l) {
					seen = append(seen, l)
				}
			}
		}
	}
	return false
}

// simple reports whether all is plain about an operation: it has no parent and no part,
// and none was evicted.
func (m *model) simple(id string) bool {
	o := m.ops[id]
	return o != nil && len(o.links) == 0 && len(m.ops) <= m.cfg.Coalesce.MaxOperations
}

// resolve notes that the trouble of rules is over.
func (m *model) resolve(rules []string) {
	for _, it := range m.items {
		if it.gone {
			continue
		}
		for _, r := range rules {
			if t := it.rules[r]; t != nil {
				t.resolved, t.resolvedAt = true, m.now.seq
			}
		}
	}
}
