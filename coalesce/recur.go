package coalesce

import (
	"slices"
	"time"

	"github.com/heedlog/heed/event"
)

// runGap is the silence within a group that makes its next entry another occurrence: what
// comes closer together is one.
var runGap = Window{250 * time.Millisecond, 64}

// chargeFactor is how many times as frequent a group must be within calls as outside of
// them to be charged to a call.
const chargeFactor = 3

// standingAfter is how many times a fault stops an agent again after an acknowledgement,
// in calls of one method, before it is standing. forgetAfter is the number of calls without
// it after which the count starts again.
const (
	standingAfter = 3
	forgetAfter   = 20
)

// neither is the side of what counts on none.
const neither = -1

// recurrence is how often a group came again, within calls and outside of them, and what
// it did in calls after acknowledgements. The first occurrence is not among them: the
// incident itself tells nothing about others.
type recurrence struct {
	Seen  [2]uint32
	Since [2]span     // the exposure from which they count
	Times uint64      // in all
	First logicalTime // from which they count

	Call  uint64  // the latest to which it was charged, by number
	Stops []stops // for each method of such calls, at most maxMethods
}

// stops is how often a group stopped an agent after an acknowledgement, in calls of one
// method.
type stops struct {
	Method  string
	Count   int    // with the state read in between, as far as that is known
	Unread  int    // without, at most standingAfter
	From    uint64 // the call of the first
	Pace    uint64 // calls for each of them, once the fault is standing
	Run     uint64 // occurrences in calls since runFrom, while it is standing
	RunFrom uint64
}

// maxMethods bounds the methods for which the stops of a group are counted apart. What is
// charged to more of them counts with the last.
const maxMethods = 8

// standing reports whether the fault stands for calls of any method.
func (x *recurrence) standing() bool {
	return x != nil && slices.ContainsFunc(x.Stops, func(s stops) bool { return s.Count == standingAfter })
}

// stopsOf returns the stops in calls of a method.
func (x *recurrence) stopsOf(method string, call uint64) *stops {
	for i := range x.Stops {
		if s := &x.Stops[i]; s.Method == method || i == maxMethods-1 {
			return s
		}
	}
	x.Stops = append(x.Stops, stops{Method: method, From: call})
	return &x.Stops[len(x.Stops)-1]
}

// occur counts another occurrence of a group, on a side, or on neither.
func (c *Coalescer) occur(r *counter, side int) {
	total := c.exposure()
	x := r.Recurrence
	if x == nil {
		x = &recurrence{Since: total, First: r.Last}
		r.Recurrence = x
	}
	x.Times++
	if side != neither {
		x.Seen[side]++
	}
	// What is long past counts less and less.
	for {
		var past span
		for i := range total {
			past.at += total[i].at - x.Since[i].at
			past.entries += total[i].entries - x.Since[i].entries
		}
		if memory := &c.cfg.AckMemory; past.at < memory.Duration && (past.at > 0 || past.entries < uint64(memory.Entries)) {
			return
		}
		for i := range total {
			x.Since[i].at += (total[i].at - x.Since[i].at + 1) / 2
			x.Since[i].entries += (total[i].entries - x.Since[i].entries + 1) / 2
			x.Seen[i] /= 2
		}
	}
}

// frequent reports whether what recurs is well more frequent within calls than outside of
// them, or was never seen outside of them. A call that has just begun counts in full.
func (c *Coalescer) frequent(o *recurrence) bool {
	if o.Seen[outside] == 0 {
		return true
	}
	total := c.exposure()
	var passed [2]float64
	for i := range total {
		passed[i] = float64(total[i].at - o.Since[i].at)
	}
	linger := float64(c.cfg.Linger.Duration)
	if passed[outside] == 0 {
		for i := range total {
			passed[i] = float64(total[i].entries - o.Since[i].entries)
		}
		linger = float64(c.cfg.Linger.Entries)
	}
	// One of them may be a coincidence.
	return float64(max(1, o.Seen[inside])-1)*passed[outside] >=
		chargeFactor*float64(o.Seen[outside]+1)*(passed[inside]+linger)
}

// charge decides about a blocking entry inside of a call that began after the
// acknowledgement of its group: whether it is charged to the call, which then opens a
// successor, or stands, or is what happens without calls, too.
func (c *Coalescer) charge(k *known, root *operation) Reason {
	x := k.row.Recurrence
	if !c.frequent(x) {
		return ""
	}
	method := ""
	if root != nil {
		method = root.Method
	}
	call := c.calls.Begun
	if call > x.Call+forgetAfter+1 || c.freshSince > k.row.Last.seq {
		x.Stops = x.Stops[:0]
	}
	x.Call = call
	s := x.stopsOf(method, call)
	if s.Count < standingAfter {
		if !c.calls.Reads || c.calls.ReadAt >= k.item.Opened.Seq || s.Unread == standingAfter {
			s.Count++
		} else {
			s.Unread++ // and perhaps its reads are not reported
		}
		return reasonCharged
	}
	if s.Pace == 0 {
		s.Pace, s.RunFrom = max(1, (call-s.From)/standingAfter), call
	}
	if s.Run++; s.Run >= rateFactor {
		if (call-s.RunFrom)*rateFactor <= s.Run*s.Pace && s.Pace >= rateFactor {
			*s = stops{Method: s.Method, From: call}
			return reasonRate
		}
		s.Run, s.RunFrom = 0, call
	}
	return reasonStanding
}

// inCall returns the number of the entry with which the call began that an entry is inside of,
// if that was since item it was acknowledged, and 0 if not; whether it is inside of one that
// began before; and the root operation of the former: the one that the entry names, or
// else the latest. One that is named, and had no such entry yet, counts as one that began
// since.
func (c *Coalescer) inCall(it *item, to *destination) (root *operation, since uint64, before bool) {
	if o := to.named; o != nil {
		if o.Started.seq > it.AckedAt || o.Worst < event.Blocking {
			return c.ops.root(o), o.Started.seq, false
		}
		return nil, 0, true
	}
	for _, o := range c.ops.live {
		switch r := c.ops.root(o); {
		case r.Started.seq <= it.AckedAt:
			before = true
		case r.Started.seq > since:
			root, since = r, r.Started.seq
		}
	}
	return root, since, before
}

// load is the load of a game that goes on; the zero value is none. All that is urgent in
// it is one incident.
type load struct {
	Began   logicalTime // 0: none
	Playing logicalTime // the first evidence of play in the log since, or 0
	Called  logicalTime // the end of the first completed call that began since, or 0
	Calls   int         // such calls, at most loadCalls
	Acked   bool        // its item was acknowledged
}

// loadCalls is the number of completed calls, each begun after the load began, that end it.
const loadCalls = 2

// The bounds of a load whose end is not logged: since evidence of play in the log, since the first completed call that
// began in the load, and since the load began.
var (
	loadPlay = Window{time.Minute, 500}
	loadCall = Window{5 * time.Second, 50}
	loadMax  = Window{5 * time.Minute, 20_000}
)

// Loading reports whether the game is being loaded; see [Input].Playing.
func (c *Coalescer) Loading() bool { return c.load.Began.seq != 0 }

// beginLoad begins the load of a game.
func (c *Coalescer) beginLoad() {
	c.endLoad()
	c.load.Began = c.now
	c.set(&c.loadEnds, &loadMax, c.now)
}

// endLoad ends the load that goes on, if there is one: what it kept from blocking blocks now.
func (c *Coalescer) endLoad() {
	if !c.Loading() {
		return
	}
	c.load, c.loadEnds, c.episode = load{}, alarm{}, episode{}
	c.loadEnded = c.now.seq
	c.version++
	for i := range c.items {
		if it := &c.items[i]; it.open() && it.Deferred {
			it.Deferred = false
			c.announce(it, Updated, reasonLoaded, place{c.now.seq, c.pos})
		}
	}
}

// observeLoad records what an entry tells of the load of a game.
func (c *Coalescer) observeLoad(in *Input) {
	if in.NewPhase {
		c.endLoad()
		c.episode = episode{}
	}
	if in.Fresh {
		c.freshSince = in.Entry.Seq
		c.beginLoad()
	}
	if !c.Loading() {
		return
	}
	if in.Entry.Kind == event.KindState && in.Entry.Status == event.StatusExited {
		c.endLoad()
	} else if in.Playing && c.load.Playing.seq == 0 {
		c.load.Playing = c.now
		c.set(&c.loadEnds, &loadPlay, c.now)
	}
}

// completed records that a call ends as completed. A call that began in a load is evidence of play.
func (c *Coalescer) completed(o *operation) {
	l := &c.load
	if !c.Loading() || !o.Begun || o.Parent != "" || o.Started.seq < l.Began.seq {
		return
	}
	switch l.Calls++; l.Calls {
	case 1:
		l.Called = c.now
		c.set(&c.loadEnds, &loadCall, c.now)
	case loadCalls:
		c.endLoad()
	}
}

// overdueLoad ends a load whose end was not logged in time.
func (c *Coalescer) overdueLoad() {
	l := &c.load
	c.loadEnds = alarm{}
	for _, bound := range [...]struct {
		window *Window
		since  logicalTime
	}{{&loadMax, l.Began}, {&loadPlay, l.Playing}, {&loadCall, l.Called}} {
		switch {
		case bound.since.seq == 0:
		case bound.window.passed(bound.since, c.now):
			c.endLoad()
			return
		default:
			c.set(&c.loadEnds, bound.window, bound.since)
		}
	}
}

// meetDeferred marks a call that begins while an item waits for the end of a load: its result is not clean.
func (c *Coalescer) meetDeferred(o *operation) {
	for i := range c.items {
		if it := &c.items[i]; it.Deferred && it.Disposition == event.Blocking {
			o.mark(it.Number, ReasonBackground)
		}
	}
}

// stopsAtOnce reports whether an entry blocks even while a game is loaded.
func stopsAtOnce(in *Input) bool {
	return in.Decision.Severity >= event.SeverityFatal || in.Entry.Kind == event.KindState
}
