package heed

import (
	"cmp"
	"slices"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// startPhase is the phase with which another run of the game begins.
const startPhase = "start"

// playTag is the tag of decisions about entries that come only while the game is played.
const playTag = "play"

// neighbors is how many entries on each side of a cause the journal keeps with it.
const neighbors = 8

// Outcome is what became of one entry. Its strings, and the tags of the
// decision, are shared: read only.
type Outcome struct {
	Seq       uint64 // the entry's number among all that the engine received
	Signature signature.Signature

	// Group is the signature that names the group of Signature, as learned so far; see [Engine.Group].
	Group signature.Signature

	Decision event.Decision

	// Escalated reports that repetition raised Decision above the decision of its rule.
	Escalated bool

	// Phase is the phase of the game before the entry.
	Phase string

	// Blind reports that the log is not evidence any more after the entry: part of it
	// is missing.
	Blind bool

	// Blame names the mods that the entry points at, if it is urgent; shared: read only.
	Blame []string

	// AttentionID is the item that the entry was folded into, "" for an
	// ignored one.
	AttentionID string

	// Part is the part of the entry as it was ingested: [event.Rest] for an [event.Again] entry that is the record
	// observed before.
	Part event.Part

	// Pending reports that updates are pending after the entry, so that a host that
	// drains after each entry need not take the lock for most of them.
	Pending bool
}

// Log ingests a log record and returns the decision about it. It is Observe(r.Entry()).Decision for hosts that need no
// more, and cheaper: a record of a known signature whose decision is known allocates nothing. The tags of the decision
// are shared: read only.
func (e *Engine) Log(r event.Log) event.Decision {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.entry = r.Entry()
	e.bound()
	e.ingest()
	return e.input.Decision
}

// Observe ingests an entry and returns its outcome. It copies the parts that it keeps. The entry's Seq is the engine's
// to set; fields that do not belong to its Kind must be zero. The first event of an operation that is not known
// allocates; an event whose status is no operation's only names the method and the parent. Entries of [event.KindHost]
// are the engine's records of its own methods: a given one is left out, and the Outcome is zero. So is the Outcome of
// an [event.Again] record that adds nothing: the same rule decides, and no rule distinguishes the rest of a record.
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
	e.bound()
	switch in.Kind {
	case event.KindLog:
		e.entry.Status = event.StatusNone // decisions of log records are cached without it
		if in.Part != event.Whole && e.observed() {
			*o = Outcome{}
			return
		}
	case event.KindState:
		e.Heartbeat.observe(in.Status)
	}
	e.outcome(o, in.Part)
}

// bound cuts the texts of e.entry to [Config].MaxText. The lock is held.
func (e *Engine) bound() {
	to := &e.entry
	if n := e.cfg.MaxText; len(to.Message) > n || len(to.Stack) > n || len(to.Source) > n {
		to.Message, to.Stack, to.Source = e.cut(to.Message), e.cut(to.Stack), e.cut(to.Source)
	}
}

func (e *Engine) cut(s string) string { return s[:text.Prefix(s, e.cfg.MaxText)] }

// outcome is ingest for callers that want the Outcome. It sets all of o. The record of an entry is known by its latest
// part, unless that came as the whole and became a rest.
// The lock is held.
func (e *Engine) outcome(o *Outcome, given event.Part) {
	escalated, folded := e.ingest()
	res, d := e.result, &e.input.Decision
	o.Seq, o.Signature, o.Group, o.Decision = e.entry.Seq, res.Signature, res.Group, *d
	o.Blame = e.input.Blame
	o.Escalated, o.Phase, o.Blind, o.AttentionID = escalated, res.PhaseBefore, res.Blind, folded.ID
	o.Pending, o.Part = len(e.coalescer.Queue) > 0, e.entry.Part
	if in := &e.entry; in.Kind == event.KindLog && in.Pos != 0 && o.Part == given {
		if o.Part == event.Whole {
			e.Rest = ingested{}
		}
		*e.part() = ingested{in.Pos, d.Rule}
	}
}

// ingested is a log record, or the rest of one: where it begins, and the rule that decided.
type ingested struct {
	Pos  uint64 `json:",omitzero"`
	Rule string `json:",omitzero"`
}

// part returns the latest record, or the latest rest if e.entry is a rest. The lock is held.
func (e *Engine) part() *ingested {
	if e.entry.Part == event.Rest {
		return &e.Rest
	}
	return &e.Record
}

// observed reports whether e.entry adds nothing to a part of it that was ingested. It makes it the rest of the record
// if the same rule decides about the whole. The lock is held.
func (e *Engine) observed() bool {
	part := e.part()
	if part.Pos != e.entry.Pos || part.Rule != e.classifier.Decision(&e.entry).Rule {
		return false
	}
	e.entry.MakeRest()
	return e.classifier.Decision(&e.entry).Disposition != event.Ignore // by a rule that does not ask for the source
}

// ingest classifies, journals and folds e.entry, and leaves the result in e.result and
// the final decision in e.input. It reports whether repetition raised the decision. The
// lock is held.
//
// Each value is written where the next package reads it: copies of these structures
// were a sixth of the time of an entry.
func (e *Engine) ingest() (escalated bool, folded coalesce.Folded) {
	e.number()
	entry, in := &e.entry, &e.input
	res := e.classifier.Classify(entry)
	e.result = res
	in.Decision = res.Decision
	d := &in.Decision
	if res.Rule != nil && res.Rule.Escalate != nil {
		escalated = e.coalescer.Escalate(entry, res.Rule.Escalate, d)
	}
	e.journal.Append(entry, res.Signature, *d)

	if merges := e.classifier.Groups().Merges(e.merges[:0]); len(merges) > 0 {
		e.merges = merges
		for _, m := range merges {
			e.coalescer.Merge(m.From, m.Into)
		}
	}
	in.Entry, in.Signature, in.Variant, in.Blind = entry, res.Group, res.Variant, res.Blind
	in.Phase = cmp.Or(res.PhaseBefore, res.PhaseAfter)
	in.NewPhase = res.PhaseBefore != res.PhaseAfter
	in.Fresh = in.NewPhase && res.PhaseAfter == e.cfg.LoadPhase
	in.NewRun = in.NewPhase && res.PhaseAfter == startPhase ||
		entry.Kind == event.KindNotice && entry.Status == event.StatusRestarted
	in.Resolves, in.Begins, in.Playing, in.Summary, in.Advice, in.Blame, in.Frame = nil, false, false, "", "", nil, 0
	in.ExplainedBy = nil
	if d.Disposition.Urgent() {
		in.Blame, in.Frame = e.accuse(res.Signature)
		if in.Advice = res.Advice; in.Advice == "" {
			in.Advice = text.DefaultAdvice(d.Disposition == event.Blocking, text.IsProgram(e.cfg.Family))
		}
	}
	if rule := res.Rule; rule != nil {
		in.Playing = e.coalescer.Loading() && slices.Contains(in.Decision.Tags, playTag)
		in.Resolves, in.Begins, in.Summary = rule.Resolves, rule.Blinds, rule.Summary
		in.ExplainedBy = rule.ExplainedBy
	}
	folded = e.coalescer.Fold(in)
	e.keep(&folded)
	return escalated, folded
}

// number gives e.entry its sequence number. The lock is held.
func (e *Engine) number() {
	e.Seq++
	e.entry.Seq = e.Seq
	e.ByKind[e.entry.Kind]++
	if e.entry.Part == event.Rest {
		e.Late++
	}
}

// keep has the journal retain the entry as its item needs it. The lock is held.
func (e *Engine) keep(folded *coalesce.Folded) {
	if folded.NewGroup {
		e.journal.KeepFirst(folded.Owner)
	}
	e.retain()
}

// retain applies the coalescer's changes of retention to the journal. The lock is held.
func (e *Engine) retain() {
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

// pin retains the cause of an open item, which the journal holds, with its neighbors. While more than three quarters of
// the budget are used, cleared items are unpinned: the entries after the cause need room as well.
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
