package session

import (
	"fmt"
	"slices"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
)

// Status is the state of a session.
type Status struct {
	Epoch    string    `json:"epoch" jsonschema:"Identifies this count of entries; cursors are valid within it."`
	Run      string    `json:"run" jsonschema:"Identifies this process of heed."`
	Started  time.Time `json:"started,omitzero" jsonschema:"When this process started."`
	UptimeMs uint64    `json:"uptimeMs" jsonschema:"How long this process has been running."`
	Restored bool      `json:"restored" jsonschema:"It continued from the saved state of an earlier process."`

	InFlight int64 `json:"inFlight" jsonschema:"Calls that have started and not ended."`
	Waiting  int64 `json:"waiting" jsonschema:"Callers that wait in heed/wait."`

	Held uint64 `json:"-"` // calls that a gate held back

	AcksOfPeople, AcksOfAgents uint64 `json:"-"` // acknowledgements by each; see [Person]

	Limits   []Limit         `json:"limits" jsonschema:"Limits that were reached."`
	Rules    RuleStatus      `json:"rules" jsonschema:"The rules in use."`
	Snapshot *SnapshotStatus `json:"snapshot,omitempty" jsonschema:"How heed saves its state, if it does."`
	Log      *follow.Status  `json:"log,omitempty" jsonschema:"The followed log, if there is one."`
	LogFrom  string          `json:"logFrom,omitempty" jsonschema:"How the log was found; without one, where it was looked for."`

	Engine heed.Stats `json:"-"`
}

// Limit is a bound that was hit.
type Limit struct {
	Name  string `json:"name" jsonschema:"The limit."`
	Count uint64 `json:"count" jsonschema:"How often it was reached."`
	Means string `json:"means" jsonschema:"What this means."`
}

// SnapshotStatus is how the saving of the engine's state goes.
type SnapshotStatus struct {
	File    string    `json:"file" jsonschema:"Where the state is saved."`
	Saves   uint64    `json:"saves" jsonschema:"How often it was saved."`
	Failed  uint64    `json:"failed" jsonschema:"How often saving failed."`
	Saved   time.Time `json:"saved,omitzero" jsonschema:"When it was last saved."`
	Error   string    `json:"error,omitempty" jsonschema:"The error of the latest save."`
	Refused string    `json:"refused,omitempty" jsonschema:"Why the saved state was not restored as a whole at the start."`
}

// Status returns how the session does. It costs what [heed.Engine.Stats] does.
func (s *Session) Status() Status {
	e := s.engine.Stats()
	st := Status{
		Epoch: s.engine.Latest().Epoch, Run: s.run, Started: s.started, UptimeMs: millis(since(s.started, s.now())),
		Restored: s.restored,
		LogFrom:  s.cfg.LogFrom, InFlight: s.inFlight.Load(), Waiting: s.waits.Load(),
		Held: s.held.Load(), AcksOfPeople: s.timeline.people.Load(), AcksOfAgents: s.timeline.agents.Load(),
		Limits: limits(&e, s.timeline.dropped.Load()), Rules: s.rules.status(), Snapshot: s.disk.status(), Engine: e,
	}
	if s.cfg.Limits != nil {
		st.Limits = append(st.Limits, s.cfg.Limits()...)
	}
	if s.cfg.Log != nil {
		log := s.cfg.Log.Status()
		st.Log = &log
	}
	return st
}

// Unsaved returns why the state was not saved the last time, nil if it was or none is to be.
func (s *Session) Unsaved() error {
	if d := s.disk.status(); d != nil && d.Error != "" {
		return fmt.Errorf("the state is not saved: %s", d.Error)
	}
	return nil
}

func (d *disk) status() *SnapshotStatus {
	if d.path == "" {
		return nil
	}
	return new(*d.state.Load())
}

// limits returns the bounds that were hit, with the consequence of each.
func limits(s *heed.Stats, untold uint64) []Limit {
	c, k, j := &s.Classify, &s.Coalesce, &s.Journal
	return slices.DeleteFunc([]Limit{
		{"journal.tail", j.Tail.Evicted, "the oldest entries were evicted; pages report how many"},
		{"journal.firsts", j.Firsts.Refused, "there was no space to keep the first entry of a group after its " +
			"eviction from the tail"},
		{"journal.pinned", j.Pinned.Refused, "there was no space to keep entries around a cause after their " +
			"eviction from the tail"},
		{"journal.text", j.Truncated, "the text of an entry was cut"},
		{"classify.signatures", c.SignaturesEvicted, "a signature was evicted; it is calculated again when it returns"},
		{"classify.decisions", c.DecisionsEvicted, "a decision was evicted; it is made again when needed"},
		{"classify.oversize", c.Oversize, "a text was too long to keep its decision"},
		{"classify.errors", c.EvaluationErrors, "a condition of a rule failed; that counts as no match"},
		{"groups.unlearned", c.Groups.Unlearned, "a new signature could not be used for grouping: the limit was " +
			"reached"},
		{"items.overflowed", k.Overflowed, "too many blocking items were open; entries joined the item of another burst"},
		{"items.evicted", k.Evicted, "a cleared item was evicted; if its problem returns, it counts as new"},
		{"updates.dropped", k.UpdatesDropped, "an item was evicted before its update was delivered"},
		{"operations.evicted", k.OperationsEvicted, "an operation was evicted to make space"},
		{"operations.abandoned", k.OperationsAbandoned, "the end of an operation was not seen in time"},
		{"acks.untold", untold, "an agent was not told that others acknowledged an item; it is told how many"},
		{"consumers.evicted", k.ConsumersEvicted, "the record of what a consumer received was evicted to make space"},
	}, func(l Limit) bool { return l.Count == 0 })
}
