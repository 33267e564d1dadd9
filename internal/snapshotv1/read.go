package snapshotv1

import (
	"math"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/wire"
)

// State is what a snapshot holds that does not depend on ids of signatures.
type State struct {
	Epoch    string
	Seq      uint64
	ByKind   [event.KindHost + 1]uint64
	Phase    string
	Blind    []string // the rules that began a blindness which lasts
	Classify classify.Stats
	Coalesce coalesce.Stats
	Blocking []Item // that were open, in no order
}

// Item is one that held calls back.
type Item struct {
	Number      uint64
	Severity    event.Severity
	Invalidates bool // the game's state may have changed
	Entries     uint64
	Opened      uint64 // the sequence number of its first entry
	Latest      uint64
	Rule        string // the first that blocked
	Summary     string // of Rule; may be ""
	Text        string // of a group of Rule: log text
}

// maxPhase bounds the name of a phase.
const maxPhase = 64

// Read reads the body of a snapshot of format 5: what is between its length and its checksum. The error names what no
// such snapshot has.
func Read(body []byte) (*State, error) {
	r := reader{Coder: wire.Reader(body)}
	st := &State{}
	r.skip(8) // masking
	st.Epoch = r.text()
	st.Seq = r.number()
	for i := range st.ByKind {
		st.ByKind[i] = r.number()
	}
	r.time() // the heartbeat
	r.numbers(2)
	of := reader{Coder: wire.Reader(r.Section("classify"))}
	own := reader{Coder: wire.Reader(of.Section("own"))}
	own.classifier(st)
	items := reader{Coder: wire.Reader(r.Section("coalesce"))}
	r.Section("the rest of classify")
	groups := reader{Coder: wire.Reader(r.Section("the rest of coalesce"))}
	open := items.coalescer(st)
	groups.operations = items.operations
	for _, it := range open {
		groups.groups(it)
		if it != nil {
			st.Blocking = append(st.Blocking, *it)
		}
	}
	for _, c := range []*wire.Coder{&r.Coder, &own.Coder, &items.Coder, &groups.Coder} {
		if err := c.Close(); err != nil {
			return nil, err
		}
	}
	return st, of.Err()
}

// reader reads values that are named in no error but as values: whoever wrote them has checked them.
type reader struct {
	wire.Coder
	operations map[uint64]bool // those in the table
	here       map[uint64]bool // and those that the present part has defined
}

func (r *reader) number() (n uint64) {
	r.Uint64("a number", &n, math.MaxUint64)
	return n
}

func (r *reader) numbers(n int) {
	for i := 0; i < n && r.Err() == nil; i++ {
		r.number()
	}
}

// count returns how many elements follow, each of at least a byte.
func (r *reader) count() int { return r.Len("a count", 0, math.MaxInt32) }

func (r *reader) text() (s string) {
	r.Text("a text", &s, math.MaxInt32)
	return s
}

// skip passes over bytes of a fixed number, in steps of four.
func (r *reader) skip(bytes int) {
	for i := 0; i < bytes && r.Err() == nil; i += 4 {
		var v uint32
		r.Fixed32("a fixed number", &v)
	}
}

func (r *reader) time() {
	r.skip(8)
	r.number()
}

func (r *reader) signature() { r.skip(12) }

// logicalTime and place have a sequence number first.
func (r *reader) logicalTime() uint64 { seq := r.number(); r.numbers(2); return seq }

func (r *reader) place() uint64 { seq := r.number(); r.number(); return seq }

func (r *reader) classifier(st *State) {
	r.Text("phase", &st.Phase, maxPhase)
	for range r.count() {
		st.Blind = append(st.Blind, r.text())
	}
	s := &st.Classify
	for _, v := range []*uint64{
		&s.Entries, &s.Hits, &s.Misses, &s.Collisions, &s.DecisionHits, &s.DecisionMisses, &s.Uncached, &s.Oversize,
		&s.Holes, &s.SignaturesEvicted, &s.DecisionsEvicted, &s.EvaluationErrors,
	} {
		*v = r.number()
	}
}

// coalescer reads all but the groups of items. It returns a place for each item, nil for one that
// did not hold calls back.
func (r *reader) coalescer(st *State) []*Item {
	r.part()
	r.text()             // epoch
	r.numbers(8)         // bounds
	latest := r.number() // now
	generation := r.number()
	r.numbers(2)
	if generation != 0 {
		r.time()
	}
	r.Bool("blind", &st.Coalesce.Blind)
	r.numbers(3) // freshSince, the numbers of items and of clears: the counts have these, too
	r.numbers(2)
	consumers := r.count()
	for range consumers {
		r.text()
		r.numbers(2)
	}
	r.operationTable()
	items := make([]*Item, r.count())
	for i := range items {
		items[i] = r.item(consumers)
	}
	r.number() // the episode
	r.logicalTime()
	r.numbers(4) // until the pool
	r.calls()
	r.logicalTime() // load
	r.logicalTime()
	r.numbers(1 + 1 + 3) // until the allowance
	queue := r.count()
	r.numbers(queue)
	for range r.count() { // escalations
		r.text()
		r.number()
		for range r.count() {
			r.logicalTime()
		}
		r.number()
	}
	s := &st.Coalesce
	for _, v := range []*uint64{
		&s.Received, &s.Ignored, &s.Folded, &s.ByDisposition[0], &s.ByDisposition[1], &s.ByDisposition[2], &s.Suppressed,
		&s.Overflowed, &s.Opened, &s.Reopened, &s.Cleared, &s.Acknowledged, &s.Evicted, &s.FoldedEvicted, &s.Updates,
		&s.UpdatesDropped,
	} {
		*v = r.number()
	}
	s.Latest, s.UpdatesPending = latest, queue
	return items
}

// part begins a part that names operations by itself.
func (r *reader) part() { r.here = map[uint64]bool{} }

func (r *reader) operationTable() {
	r.operations = map[uint64]bool{}
	r.numbers(4)
	for range r.count() {
		r.operations[r.number()] = true
		r.define()
		r.number()
	}
}

func (r *reader) define() {
	for range 3 {
		r.text()
	}
	r.numbers(4)
	r.logicalTime()
	r.logicalTime()
	r.numbers(5)
	r.mark()
	r.number()
}

func (r *reader) operation() {
	n := r.number()
	if n != 0 && !r.operations[n] && !r.here[n] {
		r.here[n] = true
		r.define()
	}
}

func (r *reader) mark() { r.numbers(2) }

// States of an item.
const (
	itemFree = iota
	itemOpen
)

func (r *reader) item(consumers int) *Item {
	state := r.number()
	if state == itemFree {
		return nil
	}
	it := &Item{Number: r.number()}
	r.number()
	r.operation()
	r.text()
	r.numbers(2) // the digest
	r.place()
	for range r.count() {
		r.number()
		r.text()
		r.numbers(2)
		r.text()
		r.signature()
		r.numbers(2)
		for range r.count() {
			r.text()
		}
	}
	blocking := r.number() == uint64(event.Blocking)
	wire.Uint(&r.Coder, "a severity", &it.Severity, event.SeverityFatal)
	r.Bool("invalidates", &it.Invalidates)
	it.Opened = r.place()
	it.Latest = r.logicalTime()
	r.number()
	r.logicalTime()
	it.Entries = r.number()
	r.numbers(2)
	r.place() // the cause
	r.text()
	r.signature()
	r.operation()
	r.numbers(5)
	r.numbers(consumers)
	r.numbers(2)
	for range r.count() {
		r.numbers(2)
	}
	r.logicalTime() // the rate
	r.numbers(2)
	r.numbers(6) // until shared
	deferred := r.number() == 1
	r.numbers(5) // until pendingWhy
	r.place()
	if state != itemOpen || !blocking || deferred {
		return nil
	}
	return it
}

func (r *reader) calls() {
	r.number()
	r.numbers(2 * 2)
	r.number()
	r.logicalTime()
	r.numbers(2)
	r.mark()
}

// groups reads the groups of an item into it, unless it is nil.
func (r *reader) groups(it *Item) {
	r.part()
	texts := map[string]string{} // of the first group of a rule
	for range r.count() {
		rule, text := r.counter()
		if texts[rule] == "" {
			texts[rule] = text
		}
	}
	r.number() // the groups without a counter
	for range r.count() {
		r.text()
	}
	r.skip(8 * r.count())
	for range r.count() {
		rule, summary := r.text(), r.text()
		disposition := r.number()
		r.numbers(2)
		if it != nil && it.Rule == "" && disposition == uint64(event.Blocking) {
			it.Rule, it.Summary, it.Text = rule, summary, texts[rule]
		}
	}
}

func (r *reader) counter() (rule, text string) {
	r.signature()
	rule = r.text()
	r.numbers(4)
	r.place()
	r.operation()
	r.logicalTime()
	r.number()
	for range 2 { // turns
		r.place()
		r.operation()
		r.numbers(3)
	}
	text = r.text()
	r.text()
	if r.number() == 0 {
		return rule, text
	}
	r.numbers(2 * 3) // the recurrence
	r.number()
	r.logicalTime()
	r.number()
	for range r.count() {
		r.text()
		r.numbers(6)
	}
	return rule, text
}
