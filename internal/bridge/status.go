package bridge

import (
	"context"
	"time"

	"github.com/heedlog/heed/internal/session"
)

const maxRuleFiles = 64

// Status is the answer of heed/status.
type Status struct {
	Epoch    string    `json:"epoch" jsonschema:"names this run of heed's counter; cursors hold within it"`
	Run      string    `json:"run" jsonschema:"names this process of heed"`
	Started  time.Time `json:"started,omitzero"`
	UptimeMs uint64    `json:"uptimeMs"`
	Restored bool      `json:"restored" jsonschema:"it went on from what an earlier process had saved"`

	Latest    string `json:"latest" jsonschema:"the cursor after the latest entry: give it to heed/wait as after"`
	OpenItems int    `json:"openItems" jsonschema:"items of attention that are open; heed/items lists them"`
	InFlight  uint64 `json:"inFlight" jsonschema:"calls that have begun and not ended"`
	Waiting   uint64 `json:"waiting" jsonschema:"callers of heed/wait"`

	Phase     string `json:"phase" jsonschema:"the phase of the game that rules go by; empty: not known"`
	Blind     bool   `json:"blind" jsonschema:"evidence is missing: that nothing was seen does not mean that nothing happened"`
	BlindRule string `json:"blindRule,omitempty" jsonschema:"the rule that said so"`

	Counts   Counts          `json:"counts"`
	Limits   []Limit         `json:"limits" jsonschema:"bounds that were hit"`
	Rules    RuleStatus      `json:"rules"`
	Snapshot *SnapshotStatus `json:"snapshot,omitempty" jsonschema:"how heed saves its state, where it does"`
	Log      *LogStatus      `json:"log,omitempty" jsonschema:"the followed log, where there is one"`
	Behind   string          `json:"behind,omitempty" jsonschema:"why newer entries may be missing"`
}

// Counts are counts of entries.
type Counts struct {
	Received   uint64 `json:"received" jsonschema:"ignored and folded add up to it"`
	Ignored    uint64 `json:"ignored" jsonschema:"asked for nothing"`
	Folded     uint64 `json:"folded" jsonschema:"are counted in an item of attention"`
	Logs       uint64 `json:"logs"`
	Operations uint64 `json:"operations" jsonschema:"events of operations"`
	States     uint64 `json:"states"`
	Notices    uint64 `json:"notices"`
	Host       uint64 `json:"host"`
}

// Limit is a bound that was hit.
type Limit struct {
	Name  string `json:"name"`
	Count uint64 `json:"count"`
	Means string `json:"means" jsonschema:"what follows from it"`
}

// RuleStatus says which rules decide.
type RuleStatus struct {
	Rules   int        `json:"rules" jsonschema:"how many there are"`
	Hash    string     `json:"hash" jsonschema:"version of the set that decides: of the names and texts of all its files"`
	Since   time.Time  `json:"since,omitzero" jsonschema:"when it took over"`
	Swaps   uint64     `json:"swaps" jsonschema:"how often another set took over"`
	Files   []RuleFile `json:"files" jsonschema:"the owner's files of the set, in order"`
	Omitted int        `json:"omitted,omitempty" jsonschema:"how many other files there are"`
	Default bool       `json:"default" jsonschema:"heed's own rules come after them"`
	Error   string     `json:"error,omitempty" jsonschema:"why the files as they are now do not decide: the last good set does"`
	Refused uint64     `json:"refused" jsonschema:"how often that was so"`
}

// RuleFile is a file of rules, as it was read for the set that decides.
type RuleFile struct {
	Name    string    `json:"name"`
	Bytes   int       `json:"bytes"`
	Hash    string    `json:"hash" jsonschema:"its version: the first 16 digits of the SHA-256"`
	Changed time.Time `json:"changed,omitzero"`
}

// SnapshotStatus says how the saving of heed's state goes.
type SnapshotStatus struct {
	File    string    `json:"file"`
	Saves   uint64    `json:"saves"`
	Failed  uint64    `json:"failed"`
	Saved   time.Time `json:"saved,omitzero"`
	Error   string    `json:"error,omitempty" jsonschema:"of the latest save"`
	Refused string    `json:"refused,omitempty" jsonschema:"why what was there at the start was not restored"`
}

// LogStatus says how the following of the log goes.
type LogStatus struct {
	Present     bool      `json:"present" jsonschema:"the file is there"`
	Offset      uint64    `json:"offset" jsonschema:"bytes read of it"`
	Size        uint64    `json:"size" jsonschema:"bytes it had when it was last looked at"`
	LastGrowth  time.Time `json:"lastGrowth,omitzero"`
	Lines       uint64    `json:"lines"`
	Records     uint64    `json:"records"`
	Continued   uint64    `json:"continued" jsonschema:"records of which lines came late"`
	Rotations   uint64    `json:"rotations" jsonschema:"how often another file took its place"`
	Truncations uint64    `json:"truncations" jsonschema:"how often it began anew"`
	LostBytes   uint64    `json:"lostBytes" jsonschema:"bytes that were gone before they were read"`
	Notified    bool      `json:"notified" jsonschema:"the operating system tells of changes"`
	Untold      uint64    `json:"untold" jsonschema:"changes that it did not tell of"`
	Error       string    `json:"error,omitempty" jsonschema:"why it cannot be followed now"`
}

// status answers heed/status.
func (d *Diagnostics) status(ctx context.Context, _ string, _ args) (any, error) {
	behind := d.sync(ctx)
	s := d.session.Status()
	s.Limits = append(s.Limits, d.limits()...)
	return statusOf(&s, cursorText(d.epoch, d.session.Engine().Latest().Seq), behind), nil
}

func statusOf(s *session.Status, latest, behind string) *Status {
	out := &Status{
		Epoch: s.Epoch, Run: s.Run, Started: stamp(s.Started), UptimeMs: millis(s.Uptime), Restored: s.Restored,
		Latest: latest, OpenItems: s.OpenItems, InFlight: uint64(max(0, s.InFlight)), Waiting: uint64(max(0, s.Waiting)),
		Phase: named(s.Phase), Blind: s.Blind, BlindRule: named(s.BlindRule),
		Counts: Counts{
			Received: s.Received, Ignored: s.Ignored, Folded: s.Folded, Logs: s.Logs, Operations: s.Operations,
			States: s.States, Notices: s.Notices, Host: s.Host,
		},
		Limits: []Limit{},
		Rules: RuleStatus{
			Rules: s.Rules.Rules, Hash: s.Rules.Hash, Since: stamp(s.Rules.Since), Swaps: s.Rules.Swaps, Files: []RuleFile{},
			Default: s.Rules.Default, Error: said(s.Rules.Error), Refused: s.Rules.Refused,
		},
		Behind: behind,
	}
	for _, l := range s.Limits {
		out.Limits = append(out.Limits, Limit{Name: l.Name, Count: integer(l.Count), Means: l.Means})
	}
	shown := min(len(s.Rules.Files), maxRuleFiles)
	out.Rules.Omitted = len(s.Rules.Files) - shown
	for _, f := range s.Rules.Files[:shown] {
		out.Rules.Files = append(out.Rules.Files, RuleFile{Name: said(f.Name), Bytes: f.Bytes, Hash: f.Hash, Changed: stamp(f.Changed)})
	}
	if n := &s.Snapshot; n.File != "" {
		out.Snapshot = &SnapshotStatus{
			File: said(n.File), Saves: n.Saves, Failed: n.Failed, Saved: stamp(n.Saved), Error: said(n.Error), Refused: said(n.Refused),
		}
	}
	if l := s.Log; l != nil {
		out.Log = &LogStatus{
			Present: l.Present, Offset: uint64(max(0, l.Offset)), Size: uint64(max(0, l.Size)), LastGrowth: stamp(l.LastGrowth),
			Lines: l.Lines, Records: l.Records, Continued: l.Continued, Rotations: l.Rotations, Truncations: l.Truncations,
			LostBytes: l.LostBytes, Notified: l.Notified, Untold: l.Untold, Error: said(s.LogError),
		}
	}
	return out
}
