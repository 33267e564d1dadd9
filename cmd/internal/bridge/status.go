package bridge

import (
	"context"

	"github.com/heedlog/heed"
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

	Counts heed.Stats `json:"counts" jsonschema:"Counts of entries."`
	Log    *LogStatus `json:"log,omitempty" jsonschema:"The followed log, if there is one."`
	Behind string     `json:"behind,omitempty" jsonschema:"Why newer entries may be missing."`
}

// LogStatus is the state of the following of the log.
type LogStatus struct {
	follow.Status

	Error string `json:"error,omitempty" jsonschema:"Why it cannot be followed now."`
}

// status answers heed/status.
func (d *Diagnostics) status(ctx context.Context, _ string, _ struct{}) (*Status, error) {
	behind := d.sync(ctx)
	latest := cursorText(d.epoch, d.session.Engine().Latest().Seq)
	out := &Status{Status: d.session.Status(), Behind: behind, Latest: latest}
	e := &out.Engine
	out.Counts = *e
	out.Started, out.LogFrom, out.Limits = stamp(out.Started), said(out.LogFrom), append(out.Limits, d.limits()...)
	out.OpenItems, out.Phase, out.Blind, out.BlindRule = e.Coalesce.Open, named(e.Phase), e.Blind, named(e.BlindRule)
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
