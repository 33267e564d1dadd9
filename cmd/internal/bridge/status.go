package bridge

import (
	"context"
	"time"

	"github.com/heedlog/heed/cmd/internal/session"
)

const maxRuleFiles = 64

// Status is the answer of heed/status.
type Status struct {
	Epoch    string    `json:"epoch" jsonschema:"Identifies this count of entries; cursors are valid within it."`
	Run      string    `json:"run" jsonschema:"Identifies this process of heed."`
	Started  time.Time `json:"started,omitzero" jsonschema:"When this process started."`
	UptimeMs uint64    `json:"uptimeMs" jsonschema:"How long this process has been running."`
	Restored bool      `json:"restored" jsonschema:"It continued from the saved state of an earlier process."`

	Latest    string `json:"latest" jsonschema:"The cursor after the latest entry: use it as after of heed/wait."`
	OpenItems int    `json:"openItems" jsonschema:"How many attention items are open; heed/items lists them."`
	InFlight  uint64 `json:"inFlight" jsonschema:"Calls that have started and not ended."`
	Waiting   uint64 `json:"waiting" jsonschema:"Callers that wait in heed/wait."`

	Phase     string `json:"phase" jsonschema:"The phase of the game that rules use; empty: not known."`
	Blind     bool   `json:"blind" jsonschema:"Blind: the log is incomplete, so silence does not mean that nothing happened."`
	BlindRule string `json:"blindRule,omitempty" jsonschema:"The rule that found this."`

	Counts   Counts                  `json:"counts" jsonschema:"Counts of entries."`
	Limits   []session.Limit         `json:"limits" jsonschema:"Limits that were reached."`
	Rules    session.RuleStatus      `json:"rules" jsonschema:"The rules in use."`
	Snapshot *session.SnapshotStatus `json:"snapshot,omitempty" jsonschema:"How heed saves its state, if it does."`
	Log      *LogStatus              `json:"log,omitempty" jsonschema:"The followed log, if there is one."`
	LogFrom  string                  `json:"logFrom,omitempty" jsonschema:"How the log was found; without one, what was looked for."`
	Behind   string                  `json:"behind,omitempty" jsonschema:"Why newer entries may be missing."`
}

// Counts are counts of entries.
type Counts struct {
	Received   uint64 `json:"received" jsonschema:"All entries; equal to ignored + folded."`
	Ignored    uint64 `json:"ignored" jsonschema:"Not actionable."`
	Folded     uint64 `json:"folded" jsonschema:"Counted in an attention item."`
	Logs       uint64 `json:"logs" jsonschema:"Log records."`
	Operations uint64 `json:"operations" jsonschema:"Events of operations."`
	States     uint64 `json:"states" jsonschema:"Events of the game."`
	Notices    uint64 `json:"notices" jsonschema:"Notices about the log."`
	Host       uint64 `json:"host" jsonschema:"Actions on items, such as acknowledgements."`
}

// LogStatus is how the following of the log does.
type LogStatus struct {
	Path        string    `json:"path" jsonschema:"The file, as it was named at the start."`
	Present     bool      `json:"present" jsonschema:"The log is there."`
	Absent      string    `json:"absent,omitempty" jsonschema:"Why it is not."`
	Evidence    string    `json:"evidence,omitempty" jsonschema:"Why the file is the log of this run of the game, if heed has started it."`
	Renamed     bool      `json:"renamed,omitempty" jsonschema:"Another file, or none, is at path: the log is followed under its new name."`
	Offset      uint64    `json:"offset" jsonschema:"Bytes read from it."`
	Size        uint64    `json:"size" jsonschema:"Bytes it had at the last check."`
	LastGrowth  time.Time `json:"lastGrowth,omitzero" jsonschema:"When it last grew."`
	Lines       uint64    `json:"lines" jsonschema:"Lines read."`
	Records     uint64    `json:"records" jsonschema:"Records in them."`
	Continued   uint64    `json:"continued" jsonschema:"Records with lines that came late."`
	Rotations   uint64    `json:"rotations" jsonschema:"How often another file replaced it."`
	Truncations uint64    `json:"truncations" jsonschema:"How often it was emptied and started again."`
	LostBytes   uint64    `json:"lostBytes" jsonschema:"Bytes that were lost before heed read them."`
	Notified    bool      `json:"notified" jsonschema:"The operating system reports changes."`
	Missed      uint64    `json:"missed" jsonschema:"Changes that it did not report."`
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
		LogFrom: said(s.LogFrom), Behind: behind,
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
			Path: said(l.Path), Present: l.Present, Absent: said(l.Absent), Evidence: l.Evidence, Renamed: l.Renamed,
			Offset: uint64(max(0, l.Offset)), Size: uint64(max(0, l.Size)), LastGrowth: stamp(l.LastGrowth),
			Lines: l.Lines, Records: l.Records, Continued: l.Continued, Rotations: l.Rotations, Truncations: l.Truncations,
			LostBytes: l.LostBytes, Notified: l.Notified, Missed: l.Missed,
		}
		if l.LastError != nil {
			out.Log.Error = said(l.LastError.Error())
		}
	}
	return out, nil
}
