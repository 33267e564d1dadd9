package sim

import (
	"cmp"
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

// naive says when an agent has to be stopped, and keeps what it needs for that in lists that it
// searches: no group is ever forgotten, but with the item that held it.
//
// It knows root operations that have an id, one life each.
type naive struct {
	model // its time
	set   *rules.Set

	kept    []*kept // open and remembered, in the order of their numbers
	clears  int
	calls   []*call // that run, or ended within Linger
	episode *kept
	ambient stamp // latest entry of the episode
	load    *load

	begun   int                // calls
	fresh   uint64             // sequence number of the latest load
	ledgers map[string]*ledger // by rule and text

	urgent, stops, acks, advisoryAcks int
}

// kept is an item.
type kept struct {
	burst       any // *call, *load, "ambient" or "blind"
	groups      map[string]stamp
	rules       map[string]*held
	disposition event.Disposition
	severity    event.Severity
	invalidates bool
	joined      bool // by entries of other bursts
	open, acked bool
	full        bool // some groups are not among groups
	last        stamp
	cleared     int // order of clearing
	ackedAt     stamp
}

// held is a rule of an item.
type held struct {
	disposition event.Disposition
	resolved    bool
}

type call struct {
	id, method   string
	begun, ended bool
	since, end   stamp
	item         *kept
}

// load is the incident that a load of the game is.
type load struct {
	since  stamp
	item   *kept
	played []stamp // calls that began in it and were completed
	acked  bool    // an item of it was acknowledged
}

// ledger is what is known of a group.
type ledger struct {
	alone    int   // occurrences outside of calls, without a call since the one before
	begun    int   // calls at the latest entry
	last     stamp // entry
	standing standing
}

// standing is how often a group returned in calls after it was acknowledged.
type standing struct {
	returns, call int
	at            uint64 // sequence number of the latest return in a call
}

func newNaive(cfg coalesce.Config, set *rules.Set) *naive {
	c, err := (&Setup{}).config()
	if err != nil {
		panic(err)
	}
	c.Coalesce.MaxOpen, c.Coalesce.MaxRemembered = cmp.Or(cfg.MaxOpen, 32), cmp.Or(cfg.MaxRemembered, 64)
	c.Coalesce.MaxGroups = cmp.Or(cfg.MaxGroups, 128)
	return &naive{set: set, model: model{cfg: &heed.Config{Coalesce: c.Coalesce}}, ledgers: map[string]*ledger{}}
}

// inside reports whether the window of a call is open.
func (n *naive) inside() bool {
	return slices.ContainsFunc(n.calls, func(o *call) bool { return o.begun })
}

// sweep ends what is over by now.
func (n *naive) sweep() {
	c := &n.cfg.Coalesce
	n.calls = slices.DeleteFunc(n.calls, func(o *call) bool {
		return o.ended && n.passed(c.Linger, o.end) || !o.ended && n.passed(c.OperationMax, o.since)
	})
	for _, it := range n.kept {
		if it.open && it.disposition == event.Advisory && n.passed(c.AdvisoryTTL, it.last) {
			n.clear(it)
		}
	}
	if n.episode != nil && n.passed(c.AmbientQuiet, n.ambient) {
		n.episode = nil
	}
	if l := n.load; l != nil && (n.passed(loadMax, l.since) || len(l.played) > 0 && n.passed(loadCall, l.played[0])) {
		n.load = nil
	}
}

func (n *naive) clear(it *kept) {
	n.clears++
	it.open, it.cleared = false, n.clears
	if n.episode == it {
		n.episode = nil
	}
	for _, o := range n.calls {
		if o.item == it {
			o.item = nil
		}
	}
	if n.load != nil && n.load.item == it {
		n.load.item = nil
	}
}

// endRun forgets the items of a run that is over.
func (n *naive) endRun() {
	n.load, n.fresh = nil, n.now.seq
	for _, it := range n.kept {
		if it.open && it.burst != "blind" {
			n.clear(it)
		}
	}
	n.kept = slices.DeleteFunc(n.kept, func(it *kept) bool { return it.burst != "blind" })
}

// take ingests an entry with what was decided about it.
func (n *naive) take(e *event.Entry, seq uint64, d *event.Decision) {
	n.now.seq = seq
	n.model.set(e.Time)
	n.sweep()
	var rule rules.Rule
	if n.set != nil {
		if r := n.set.Rule(d.Rule); r != nil {
			rule = *r
		}
	}
	phase := cmp.Or(rule.SetsPhase, n.phase)
	if e.Kind == event.KindState && e.Status == event.StatusPhase {
		phase = e.Message
	}
	if phase == "start" && n.phase != phase || e.Kind == event.KindNotice && e.Status == event.StatusRestarted {
		n.endRun()
	}
	if phase != n.phase {
		n.phase, n.episode = phase, nil
		n.load = nil
		if phase == "load" {
			n.load, n.fresh = &load{since: n.now}, n.now.seq
		}
	}
	if e.Kind == event.KindOperation {
		n.happened(e)
	}
	for _, it := range n.kept {
		if !it.open && !it.acked {
			continue
		}
		for _, r := range rule.Resolves {
			if h := it.rules[r]; h != nil {
				h.resolved = true
			}
		}
		over := true
		for _, h := range it.rules {
			over = over && (h.resolved || h.disposition < it.disposition)
		}
		if over && it.open {
			n.clear(it)
		}
	}
	if !d.Disposition.Urgent() {
		return
	}
	n.urgent++
	n.fold(e, d, rule.Blinds)
}

func (n *naive) happened(e *event.Entry) {
	i := slices.IndexFunc(n.calls, func(o *call) bool { return o.id == e.OperationID })
	switch {
	case e.Status == event.StatusStarted && (i < 0 || n.calls[i].ended):
		n.begun++
		n.calls = append(n.calls, &call{id: e.OperationID, method: e.Source, begun: true, since: n.now})
	case e.Status.Ended() && i >= 0:
		o := n.calls[i]
		if o.ended {
			return
		}
		o.ended, o.end = true, n.now
		if l := n.load; l != nil && e.Status == event.StatusCompleted && o.begun && o.since.seq > l.since.seq {
			if l.played = append(l.played, n.now); len(l.played) == loadCalls {
				n.load = nil
			}
		}
	case e.Status.Ended():
		n.calls = append(n.calls, &call{id: e.OperationID, method: e.Source, ended: true, since: n.now, end: n.now})
	}
}

// burst returns what an entry belongs to, and where that keeps its item.
func (n *naive) burst(e *event.Entry) (any, **kept) {
	if n.load != nil {
		return n.load, &n.load.item
	}
	if e.OperationID != "" {
		for _, call := range slices.Backward(n.calls) {
			if call.id == e.OperationID {
				return call, &call.item
			}
		}
		o := &call{id: e.OperationID, since: n.now} // named, and not seen to start
		n.calls = append(n.calls, o)
		return o, &o.item
	}
	if e.Kind != event.KindOperation {
		var only *call
		for _, running := range []bool{true, false} {
			for _, o := range n.calls {
				if o.ended == running {
					continue
				}
				if only != nil || running && !o.begun {
					return "ambient", &n.episode
				}
				only = o
			}
			if only != nil {
				return only, &only.item
			}
		}
	}
	return "ambient", &n.episode
}

// fold puts an urgent entry into an item, and counts a stop where one has to begin.
func (n *naive) fold(e *event.Entry, d *event.Decision, blinds bool) {
	key := d.Rule + "\n" + e.Message
	l := n.ledger(key)
	burst, slot := n.burst(e)
	if blinds {
		burst, slot = "blind", new(*kept)
	}
	named, _ := burst.(*call)
	switch {
	case l.last.seq == 0 || n.load != nil || !n.passed(runGap, l.last):
	case !n.inside() && l.begun == n.begun:
		l.alone++
	}
	l.last, l.begun = n.now, n.begun

	// An open item that holds the group, that of the burst first; but what only advises
	// belongs to what it came with.
	own := *slot
	advises := own != nil && own.open && own.disposition > d.Disposition
	if own != nil && own.open && !advises && n.holds(own, key, d) && own.disposition >= d.Disposition {
		n.add(own, key, d)
		return
	}
	for _, it := range n.kept {
		if it.open && !advises && (it.burst == "blind") == blinds && n.holds(it, key, d) && !it.resolved(d.Rule) &&
			it.disposition >= d.Disposition {
			n.add(it, key, d)
			return
		}
	}

	// What was acknowledged accounts for its repeats.
	var acked, known, before *kept
	for _, it := range n.kept {
		if it.open || (it.burst == "blind") != blinds {
			continue
		}
		shares := d.Disposition == event.Advisory && it.disposition == event.Advisory // the one advisory item
		_, held := it.groups[key]
		if !it.acked && (held && it.disposition == d.Disposition || shares) &&
			(before == nil || it.cleared > before.cleared) {
			before = it
		}
		if !it.acked || it.resolved(d.Rule) {
			continue
		}
		if held && (acked == nil || it.cleared > acked.cleared) {
			acked = it
		}
		if it.rules[d.Rule] != nil && !n.passed(n.cfg.Coalesce.QuietTime, it.ackedAt) &&
			(known == nil || it.cleared > known.cleared) {
			known = it
		}
	}
	if acked == nil {
		acked = known
	}
	if acked != nil && !n.returns(acked, key, d, l, named) {
		if _, held := acked.groups[key]; held || n.admits(acked, d) {
			acked.groups[key] = n.now
		}
		acked.last = n.now
		return
	}

	// The item of the burst, the one advisory item, one that nobody acknowledged, or a new one.
	if it := *slot; it != nil && it.open && (!it.joined || d.Disposition <= it.disposition) {
		if d.Disposition > it.disposition {
			n.stops++
		}
		n.add(it, key, d)
		return
	}
	if d.Disposition == event.Advisory && !blinds {
		for _, it := range n.kept {
			if it.open && it.disposition == event.Advisory && it.burst != "blind" {
				it.joined = true
				if *slot == nil {
					*slot = it
				}
				n.add(it, key, d)
				return
			}
		}
	}
	if acked == nil && before != nil {
		if max(d.Disposition, before.disposition) == event.Blocking {
			n.stops++
		}
		before.open, before.joined = true, true
		if *slot == nil {
			*slot = before
		}
		n.add(before, key, d)
		return
	}
	it := n.open(burst)
	if it == nil {
		return
	}
	if d.Disposition == event.Blocking {
		n.stops++
	}
	*slot = it
	n.add(it, key, d)
}

func (it *kept) resolved(rule string) bool { return it.rules[rule] != nil && it.rules[rule].resolved }

// holds reports whether an item has a group, or no room for it, so that nobody can say.
func (n *naive) holds(it *kept, key string, d *event.Decision) bool {
	_, held := it.groups[key]
	return held || it.full && it.disposition >= d.Disposition && !n.admits(it, d)
}

// admits reports whether an item has room for another group: beyond MaxGroups there is some
// for what makes it worse, and for the first of a rule.
func (n *naive) admits(it *kept, d *event.Decision) bool {
	left := n.cfg.Coalesce.MaxGroups + 16 - len(it.groups)
	worse := d.Disposition > it.disposition || d.Severity > it.severity || d.Invalidates && !it.invalidates
	return left > 16 || worse && left > 0 || it.rules[d.Rule] == nil && left > 5
}

func (n *naive) add(it *kept, key string, d *event.Decision) {
	if _, held := it.groups[key]; held || n.admits(it, d) {
		it.groups[key] = n.now
	} else {
		it.full = true
	}
	if it.rules[d.Rule] == nil {
		it.rules[d.Rule] = &held{}
	}
	h := it.rules[d.Rule]
	h.disposition, h.resolved = max(h.disposition, d.Disposition), false
	it.disposition, it.severity = max(it.disposition, d.Disposition), max(it.severity, d.Severity)
	it.invalidates = it.invalidates || d.Invalidates
	it.last = n.now
	if n.episode == it {
		n.ambient = n.now
	}
}

// open returns a new item, or nil where as many as there may be block.
func (n *naive) open(burst any) *kept {
	c := &n.cfg.Coalesce
	var quiet *kept
	opened := 0
	for _, it := range n.kept {
		if it.open {
			opened++
			if it.disposition == event.Advisory && (quiet == nil || it.last.seq < quiet.last.seq) {
				quiet = it
			}
		}
	}
	if opened >= c.MaxOpen {
		if quiet == nil {
			return nil
		}
		n.clear(quiet)
	}
	if len(n.kept) >= c.MaxOpen+c.MaxRemembered {
		out := -1
		for i, it := range n.kept {
			if it.open {
				continue
			}
			if out < 0 || it.acked != n.kept[out].acked && !it.acked ||
				it.acked == n.kept[out].acked && it.cleared < n.kept[out].cleared {
				out = i
			}
		}
		n.kept = slices.Delete(n.kept, out, out+1)
	}
	it := &kept{burst: burst, groups: map[string]stamp{}, rules: map[string]*held{}, open: true}
	n.kept = append(n.kept, it)
	return it
}

// returns reports whether an entry that an acknowledged item holds has to be seen again.
func (n *naive) returns(it *kept, key string, d *event.Decision, l *ledger, named *call) bool {
	worse := d.Disposition > it.disposition || d.Severity > it.severity || d.Invalidates && !it.invalidates
	if _, held := it.groups[key]; !held {
		return worse || slices.ContainsFunc(n.calls, func(o *call) bool {
			return o.since.seq > it.ackedAt.seq && (named == nil || o == named)
		})
	}
	if d.Disposition == event.Blocking && n.load != nil && !n.load.acked && it.ackedAt.seq < n.load.since.seq {
		return true // of another incident
	}
	since := slices.ContainsFunc(n.calls, func(o *call) bool {
		return o.since.seq > it.ackedAt.seq && (named == nil || o == named)
	})
	late := n.passed(n.cfg.Coalesce.AckMemory, it.groups[key])
	if d.Disposition == event.Blocking && since && n.load == nil && !worse && !late {
		if l.alone >= aloneAfter {
			return false
		}
		s := &l.standing
		if n.begun > s.call+20 || n.fresh > s.at {
			*s = standing{}
		}
		s.call, s.at = n.begun, n.now.seq
		if s.returns >= 3 {
			return false
		}
		s.returns++
		return true
	}
	return worse || late
}

// ledger returns that of a group.
func (n *naive) ledger(key string) *ledger {
	l := n.ledgers[key]
	if l == nil {
		l = &ledger{}
		n.ledgers[key] = l
	}
	return l
}

// acknowledge ends every open item.
func (n *naive) acknowledge() {
	for _, it := range n.kept {
		if !it.open {
			continue
		}
		n.acks++
		if it.disposition == event.Advisory {
			n.advisoryAcks++
		}
		it.acked, it.ackedAt = true, n.now
		if n.load != nil && it.burst == n.load {
			n.load.acked = true
		}
		n.clear(it)
	}
}
