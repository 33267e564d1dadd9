package bridge

import (
	"context"

	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
)

const maxRuleFiles = 64

// Status is the answer of heed/status.
type Status struct {
	session.Status

	Latest    string `json:"latest" jsonschema:"The cursor after the latest entry: use it as after of heed/wait."`
	OpenItems int    `json:"openItems" jsonschema:"How many attention items are open; heed/items lists them."`

	Phase     string `json:"phase" jsonschema:"The phase of the game that rules use; empty: not known."`
	Blind     bool   `json:"blind" jsonschema:"Blind: the log is incomplete, so silence does not mean that nothing happened."`
	BlindRule string `json:"blindRule,omitempty" jsonschema:"The rule that found this."`

	Counts Counts     `json:"counts" jsonschema:"Counts of entries."`
	Log    *LogStatus `json:"log,omitempty" jsonschema:"The followed log, if there is one."`
	Behind string     `json:"behind,omitempty" jsonschema:"Why newer entries may be missing."`
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

// LogStatus is the state of the following of the log.
type LogStatus struct {
	follow.Status

	Error string `json:"error,omitempty" jsonschema:"Why it cannot be followed now."`
}

// status answers heed/status.
func (d *Diagnostics) status(ctx context.Context, _ string, _ args) (any, error) {
	behind := d.sync(ctx)
	latest := cursorText(d.epoch, d.session.Engine().Latest().Seq)
	out := &Status{Status: d.session.Status(), Behind: behind, Latest: latest}
	e := &out.Engine
	out.Started, out.LogFrom, out.Limits = stamp(out.Started), said(out.LogFrom), append(out.Limits, d.limits()...)
	out.OpenItems, out.Phase, out.Blind, out.BlindRule = e.Coalesce.Open, named(e.Phase), e.Blind, named(e.BlindRule)
	out.Counts = Counts{
		Received: e.Received, Ignored: e.Ignored, Folded: e.Folded, Logs: e.Logs, Operations: e.Operations,
		States: e.States, Notices: e.Notices, Host: e.Host,
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
	if l := out.Status.Log; l != nil {
		out.Log = &LogStatus{Status: *l}
		log := out.Log
		log.Path, log.Absent, log.LastGrowth = said(l.Path), said(l.Absent), stamp(l.LastGrowth)
		log.Offset, log.Size = max(0, l.Offset), max(0, l.Size)
		if l.LastError != nil {
			log.Error = said(l.LastError.Error())
		}
	}
	return out, nil
}
