package bridge

import (
	"context"
	"time"

	"github.com/heedlog/heed/internal/session"
)

const maxRuleFiles = 64

// Status is the answer of heed/status.
type Status struct {
	Epoch    string    `json:"epoch" jsonschema:"Names this run of heed's counter; cursors hold within it."`
	Run      string    `json:"run" jsonschema:"Names this process of heed."`
	Started  time.Time `json:"started,omitzero" jsonschema:"When this process began."`
	UptimeMs uint64    `json:"uptimeMs" jsonschema:"Since when it runs."`
	Restored bool      `json:"restored" jsonschema:"It went on from what an earlier process had saved."`

	Latest    string `json:"latest" jsonschema:"The cursor after the latest entry: give it to heed/wait as after."`
	OpenItems int    `json:"openItems" jsonschema:"Items of attention that are open; heed/items lists them."`
	InFlight  uint64 `json:"inFlight" jsonschema:"Calls that have begun and not ended."`
	Waiting   uint64 `json:"waiting" jsonschema:"Callers of heed/wait."`

	Phase     string `json:"phase" jsonschema:"The phase of the game that rules go by; empty: not known."`
	Blind     bool   `json:"blind" jsonschema:"Evidence is missing: that nothing was seen does not mean that nothing happened."`
	BlindRule string `json:"blindRule,omitempty" jsonschema:"The rule that said so."`

	Counts   Counts                  `json:"counts" jsonschema:"Entries, and what became of them."`
	Limits   []session.Limit         `json:"limits" jsonschema:"Bounds that were hit."`
	Rules    session.RuleStatus      `json:"rules" jsonschema:"The rules that decide."`
	Snapshot *session.SnapshotStatus `json:"snapshot,omitempty" jsonschema:"How heed saves its state, where it does."`
	Log      *LogStatus              `json:"log,omitempty" jsonschema:"The followed log, where there is one."`
	Behind   string                  `json:"behind,omitempty" jsonschema:"Why newer entries may be missing."`
}

// Counts are counts of entries.
type Counts struct {
	Received   uint64 `json:"received" jsonschema:"Ignored and folded add up to it."`
	Ignored    uint64 `json:"ignored" jsonschema:"Asked for nothing."`
	Folded     uint64 `json:"folded" jsonschema:"Are counted in an item of attention."`
	Logs       uint64 `json:"logs" jsonschema:"Log records."`
	Operations uint64 `json:"operations" jsonschema:"Events of operations."`
	States     uint64 `json:"states" jsonschema:"Events of the game."`
	Notices    uint64 `json:"notices" jsonschema:"Notices about the evidence."`
	Host       uint64 `json:"host" jsonschema:"What heed's host told of items, such as acknowledgements."`
}

// LogStatus is how the following of the log does.
type LogStatus struct {
	Present     bool      `json:"present" jsonschema:"The file is there."`
	Offset      uint64    `json:"offset" jsonschema:"Bytes read of it."`
	Size        uint64    `json:"size" jsonschema:"Bytes it had when it was last looked at."`
	LastGrowth  time.Time `json:"lastGrowth,omitzero" jsonschema:"When something was added."`
	Lines       uint64    `json:"lines" jsonschema:"Lines read."`
	Records     uint64    `json:"records" jsonschema:"Records in them."`
	Continued   uint64    `json:"continued" jsonschema:"Records of which lines came late."`
	Rotations   uint64    `json:"rotations" jsonschema:"How often another file took its place."`
	Truncations uint64    `json:"truncations" jsonschema:"How often it began anew."`
	LostBytes   uint64    `json:"lostBytes" jsonschema:"Bytes that were gone before they were read."`
	Notified    bool      `json:"notified" jsonschema:"The operating system tells of changes."`
	Untold      uint64    `json:"untold" jsonschema:"Changes that it did not tell of."`
	Error       string    `json:"error,omitempty" jsonschema:"Why it cannot be followed now."`
}

// status answers heed/status.
func (d *Diagnostics) status(ctx context.Context, _ string, _ args) (any, error) {
	behind := d.sync(ctx)
	s := d.session.Status()
	e := &s.Engine
	out := &Status{
		Epoch: s.Epoch, Run: s.Run, Started: stamp(s.Started), UptimeMs: s.UptimeMs, Restored: s.Restored,
		Latest: cursorText(d.epoch, d.session.Engine().Latest().Seq), OpenItems: e.Coalesce.Open,
		InFlight: uint64(max(0, s.InFlight)), Waiting: uint64(max(0, s.Waiting)),
		Phase: named(e.Phase), Blind: e.Blind, BlindRule: named(e.BlindRule),
		Counts: Counts{
			Received: e.Received, Ignored: e.Ignored, Folded: e.Folded, Logs: e.Logs, Operations: e.Operations,
			States: e.States, Notices: e.Notices, Host: e.Host,
		},
		Limits: append(append([]session.Limit{}, s.Limits...), d.limits()...), Rules: s.Rules, Snapshot: s.Snapshot,
		Behind: behind,
	}
	for i := range out.Limits {
		out.Limits[i].Count = integer(out.Limits[i].Count)
	}
	r := &out.Rules
	r.Since, r.Error = stamp(r.Since), said(r.Error)
	r.Omitted = max(0, len(r.Files)-maxRuleFiles)
	r.Files = r.Files[:len(r.Files)-r.Omitted]
	for i := range r.Files {
		r.Files[i].Name, r.Files[i].Changed = said(r.Files[i].Name), stamp(r.Files[i].Changed)
	}
	if n := out.Snapshot; n != nil {
		n.File, n.Saved, n.Error, n.Refused = said(n.File), stamp(n.Saved), said(n.Error), said(n.Refused)
	}
	if l := s.Log; l != nil {
		out.Log = &LogStatus{
			Present: l.Present, Offset: uint64(max(0, l.Offset)), Size: uint64(max(0, l.Size)), LastGrowth: stamp(l.LastGrowth),
			Lines: l.Lines, Records: l.Records, Continued: l.Continued, Rotations: l.Rotations, Truncations: l.Truncations,
			LostBytes: l.LostBytes, Notified: l.Notified, Untold: l.Missed,
		}
		if l.LastError != nil {
			out.Log.Error = said(l.LastError.Error())
		}
	}
	return out, nil
}
