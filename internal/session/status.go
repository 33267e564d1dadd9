package session

import (
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
)

// Status is how a session does.
type Status struct {
	Epoch    string
	Run      string // identifies this process
	Started  time.Time
	UptimeMs uint64
	Restored bool // from a snapshot

	InFlight int64 // calls that have begun and not ended
	Waiting  int64 // callers of Wait

	Limits   []Limit // that were hit
	Rules    RuleStatus
	Snapshot *SnapshotStatus // nil without one
	Log      *follow.Status  // of the followed log, nil without one

	Engine heed.Stats
}

// Limit is a bound that was hit.
type Limit struct {
	Name  string `json:"name" jsonschema:"The bound."`
	Count uint64 `json:"count" jsonschema:"How often."`
	Means string `json:"means" jsonschema:"What follows from it."`
}

// SnapshotStatus is how the saving of the engine's state goes.
type SnapshotStatus struct {
	File    string    `json:"file" jsonschema:"Where it is saved."`
	Saves   uint64    `json:"saves" jsonschema:"How often it was."`
	Failed  uint64    `json:"failed" jsonschema:"How often it could not be."`
	Saved   time.Time `json:"saved,omitzero" jsonschema:"When it was last."`
	Error   string    `json:"error,omitempty" jsonschema:"Of the latest save."`
	Refused string    `json:"refused,omitempty" jsonschema:"Why what was there at the start was not restored."`
}

// Status returns how the session does. It costs what [heed.Engine.Stats] does.
func (s *Session) Status() Status {
	e := s.engine.Stats()
	st := Status{
		Epoch: s.engine.Latest().Epoch, Run: s.run, Started: s.started, UptimeMs: millis(since(s.started, s.now())),
		Restored: s.restored,
		InFlight: s.inFlight.Load(), Waiting: s.waits.Load(),
		Limits: limits(&e), Rules: s.rules.status(), Snapshot: s.disk.status(), Engine: e,
	}
	if s.cfg.Log != nil {
		log := s.cfg.Log.Status()
		st.Log = &log
	}
	return st
}

func (d *disk) status() *SnapshotStatus {
	if d.path == "" {
		return nil
	}
	d.stateMu.Lock()
	defer d.stateMu.Unlock()
	st := &SnapshotStatus{File: d.path, Saves: d.saves, Failed: d.failed, Saved: d.at}
	if d.err != nil {
		st.Error = d.err.Error()
	}
	if d.refused != nil {
		st.Refused = d.refused.Error()
	}
	return st
}

// limits returns the bounds that were hit, with the consequence of each.
func limits(s *heed.Stats) []Limit {
	c, k, j := &s.Classify, &s.Coalesce, &s.Journal
	all := []Limit{
		{"journal.tail", j.Tail.Evicted, "the oldest entries gave way; pages say how many"},
		{"journal.firsts", j.Firsts.Refused, "the first entry of a group could not be kept beyond the tail"},
		{"journal.pinned", j.Pinned.Refused, "entries around a cause could not be kept beyond the tail"},
		{"journal.text", j.Truncated, "text of an entry was cut"},
		{"classify.signatures", c.SignaturesEvicted, "a signature was forgotten, and is worked out again when it returns"},
		{"classify.decisions", c.DecisionsEvicted, "a decision was forgotten, and is made again"},
		{"classify.oversize", c.Oversize, "a text was too long for its decision to be remembered"},
		{"classify.errors", c.EvaluationErrors, "a condition of a rule failed, which counts as no match"},
		{"groups.unlearned", c.Groups.Unlearned, "a signature came when no more could be learned from"},
		{"items.crowded", k.Overflowed, "too many blocking items were open: a burst joined another's item"},
		{"items.forgotten", k.Evicted, "a cleared item was forgotten, and its return counts as new"},
		{"updates.dropped", k.UpdatesDropped, "an item was forgotten before its update was handed over"},
		{"operations.displaced", k.OperationsEvicted, "an operation was forgotten to make room"},
		{"operations.abandoned", k.OperationsAbandoned, "an operation had no end in time"},
		{"viewers.displaced", k.ConsumersEvicted, "what a viewer was shown was forgotten to make room"},
	}
	var hit []Limit
	for _, l := range all {
		if l.Count > 0 {
			hit = append(hit, l)
		}
	}
	return hit
}
