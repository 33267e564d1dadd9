package session

import (
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
)

// Status says how a session does. Its JSON form is for people and tools.
type Status struct {
	Epoch    string        `json:"epoch"`
	Run      string        `json:"run"` // tells this process apart
	Started  time.Time     `json:"started"`
	Uptime   time.Duration `json:"uptime"`
	Restored bool          `json:"restored"` // from a snapshot

	Received   uint64 `json:"received"` // entries; Ignored and Folded add up to it
	Ignored    uint64 `json:"ignored"`
	Folded     uint64 `json:"folded"`
	Logs       uint64 `json:"logs"`
	Operations uint64 `json:"operations"`
	States     uint64 `json:"states"`
	Notices    uint64 `json:"notices"`
	Host       uint64 `json:"host"`

	Phase     string `json:"phase"`
	Blind     bool   `json:"blind"`
	BlindRule string `json:"blindRule,omitempty"`

	OpenItems int   `json:"openItems"`
	InFlight  int64 `json:"inFlight"` // calls that have begun and not ended
	Waiting   int64 `json:"waiting"`  // callers of Wait

	Limits   []Limit        `json:"limits,omitempty"` // that were hit
	Rules    RuleStatus     `json:"rules"`
	Snapshot SnapshotStatus `json:"snapshot,omitzero"`
	Log      *follow.Status `json:"log,omitempty"` // of the followed log
	LogError string         `json:"logError,omitempty"`

	Engine heed.Stats `json:"-"`
}

// Limit is a bound that was hit, and how often.
type Limit struct {
	Name  string `json:"name"`
	Count uint64 `json:"count"`
	Means string `json:"means"`
}

// SnapshotStatus says how the saving of the engine's state goes.
type SnapshotStatus struct {
	File    string    `json:"file"`
	Saves   uint64    `json:"saves"`
	Failed  uint64    `json:"failed"`
	Saved   time.Time `json:"saved,omitzero"`
	Error   string    `json:"error,omitempty"`   // of the latest save
	Refused string    `json:"refused,omitempty"` // why the file that was there was not restored
}

// Blind reports whether evidence is incomplete, and which rule said so.
func (s *Session) Blind() (rule string, blind bool) {
	st := s.engine.Stats()
	return st.BlindRule, st.Blind
}

// Status returns how the session does. It costs what [heed.Engine.Stats] does.
func (s *Session) Status() Status {
	e, now := s.engine.Stats(), s.now()
	st := Status{
		Epoch: s.engine.Latest().Epoch, Run: s.run, Started: s.started, Uptime: since(s.started, now), Restored: s.restored,
		Received: e.Received, Ignored: e.Ignored, Folded: e.Folded, Logs: e.Logs, Operations: e.Operations, States: e.States,
		Notices: e.Notices, Host: e.Host, Phase: e.Phase, Blind: e.Blind, BlindRule: e.BlindRule,
		InFlight: s.inFlight.Load(), Waiting: s.waits.Load(),
		OpenItems: e.Coalesce.Open, Limits: limits(&e), Rules: s.rules.status(), Snapshot: s.disk.status(), Engine: e,
	}
	if s.cfg.Log != nil {
		log := s.cfg.Log.Status()
		st.Log = &log
		if log.LastError != nil {
			st.LogError = log.LastError.Error()
			st.Log.LastError = nil // has no form in JSON
		}
	}
	return st
}

func (d *disk) status() SnapshotStatus {
	if d.path == "" {
		return SnapshotStatus{}
	}
	d.stateMu.Lock()
	defer d.stateMu.Unlock()
	st := SnapshotStatus{File: d.path, Saves: d.saves, Failed: d.failed, Saved: d.at}
	if d.err != nil {
		st.Error = d.err.Error()
	}
	if d.refused != nil {
		st.Refused = d.refused.Error()
	}
	return st
}
