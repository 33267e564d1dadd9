package compare

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/template"
	"github.com/heedlog/heed/signature"
)

// Diff has the differences between the old side and the new one. Like [Check] and [Suspects] it is plain data,
// scrubbed and escaped, and its JSON form. Groups are ordered by weight: blocking before advisory before
// ignored, then by severity, then the more frequent.
type Diff struct {
	SchemaVersion int         `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
	Old           Totals      `json:"oldSide" jsonschema:"The log that was good."`
	New           Totals      `json:"newSide" jsonschema:"The logs that are compared with it."`
	Groups        int         `json:"groups" jsonschema:"Groups of both sides together."`
	Added         []Group     `json:"new" jsonschema:"Groups that only the new side has."`
	Gone          []Group     `json:"gone" jsonschema:"Groups that only the old side has."`
	More          []Group     `json:"more" jsonschema:"Groups that are more frequent than before, beyond chance."`
	Less          []Group     `json:"less" jsonschema:"Groups that are less frequent than before, beyond chance."`
	Worse         []Group     `json:"worse" jsonschema:"Groups on both sides that are more urgent than before; they may also be more or less frequent."`
	Mods          []ModChange `json:"mods" jsonschema:"Mods that were added, updated or removed, if both sides have a list; a change of load order alone does not count."`
}

// Check has the groups that a baseline does not explain. A group is in the first list that fits.
type Check struct {
	SchemaVersion int      `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
	Baseline      string   `json:"baseline" jsonschema:"Name of the baseline file."`
	New           Totals   `json:"newSide" jsonschema:"The logs that are compared with the baseline."`
	Added         []Group  `json:"new" jsonschema:"Urgent groups that are not in the baseline."`
	More          []Group  `json:"more" jsonschema:"Groups that are more frequent than in the baseline."`
	Worse         []Group  `json:"worse" jsonschema:"Groups that are more urgent than in the baseline."`
	Expired       []Group  `json:"expired" jsonschema:"Groups whose entry in the baseline has expired."`
	Known         int      `json:"known" jsonschema:"Groups that are as in the baseline."`
	KnownEntries  uint64   `json:"knownEntries" jsonschema:"Entries in those groups."`
	Unseen        []unseen `json:"unseen" jsonschema:"Entries of the baseline that do not occur in any log."`
	RulesChanged  bool     `json:"rulesChanged" jsonschema:"The baseline was written with other rules."`

	UnknownMods []string `json:"-"` // names of Config.Mods that the logs do not have
}

// Suspects has the mods that may be the cause of new groups, by two sides and their mods.
type Suspects struct {
	SchemaVersion int            `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
	Old           Totals         `json:"oldSide" jsonschema:"The log that was good."`
	New           Totals         `json:"newSide" jsonschema:"The logs that are compared with it."`
	OldMods       bool           `json:"oldMods" jsonschema:"The old log has a list of mods."`
	NewMods       bool           `json:"newMods" jsonschema:"The new logs have one."`
	Mods          []ModChange    `json:"mods" jsonschema:"Mods that differ between the lists, if both sides have one."`
	Suspects      []RankedMod    `json:"suspects" jsonschema:"Mods that may be the cause, over all groups: those that something points at first, then those that only differ between the lists."`
	MoreSuspects  int            `json:"moreSuspects,omitempty" jsonschema:"Suspects with less evidence, which are not listed."`
	Groups        []SuspectGroup `json:"groups" jsonschema:"Urgent groups that are new or more frequent."`
}

// RankedMod is a mod that may be the cause of new groups, with its strongest evidence in one of them.
type RankedMod struct {
	modSuspect

	Blocking int    `json:"blockingGroups" jsonschema:"Blocking groups in which something points at it."`
	Groups   int    `json:"groups" jsonschema:"Groups in which something points at it."`
	Entries  uint64 `json:"entries" jsonschema:"Entries on the new side that point at it, of its blocking groups if it has some."`
}

// Totals is one side as a whole.
type Totals struct {
	Files     []File  `json:"files" jsonschema:"Its logs."`
	Records   uint64  `json:"records" jsonschema:"Records in all its logs."`
	Hours     float64 `json:"hours,omitempty" jsonschema:"Hours between the first and the last time; absent if a log has no times."`
	Uncounted uint64  `json:"uncounted,omitempty" jsonschema:"Records that did not fit into the tables and are not compared."`

	hours float64 // exact
}

// File is one log of a side.
type File struct {
	Name     string `json:"file" jsonschema:"The log, as it was named."`
	Game     string `json:"game,omitempty" jsonschema:"Its game without the version, if known."`
	Records  uint64 `json:"records" jsonschema:"Records in it."`
	Gaps     []Gap  `json:"gaps" jsonschema:"Where its evidence is incomplete, at most 16."`
	MoreGaps int    `json:"moreGaps,omitempty" jsonschema:"Gaps that are not listed."`
}

// Gap is a place where the evidence of a log is incomplete: more may have happened there.
type Gap struct {
	Kind string `json:"kind" jsonschema:"What is missing: blind, hole, run_cut, truncated, unread or beginning; empty or header (only the header of an upload) if all of it is missing."`
	From int    `json:"from" jsonschema:"The line at which the gap begins; 0 if there is no log."`
	To   int    `json:"to,omitempty" jsonschema:"The line at which logging resumed; absent if it did not."`
	Rule string `json:"rule,omitempty" jsonschema:"The rule that decided so, if any."`
}

// Silence returns the contents of a log that has nothing to compare, such as "empty"; "" for a smaller gap.
func (g Gap) Silence() string {
	return map[string]string{gapEmpty: "empty", gapHeader: "only the header of an upload"}[g.Kind]
}

// Group is a group with its counts on both sides.
type Group struct {
	ID          signature.ID      `json:"id" jsonschema:"The signature that names the group: its lowest id." pattern:"^[0-9a-f]{16}$"`
	Forms       int               `json:"forms" jsonschema:"Signatures in the group."`
	Template    string            `json:"template" jsonschema:"The text with variable parts masked, in one line."`
	Sample      string            `json:"sample,omitempty" jsonschema:"Log text, escaped and cut."`
	Disposition event.Disposition `json:"disposition" jsonschema:"The highest of its entries, on the new side if it is there."`
	Severity    event.Severity    `json:"severity" jsonschema:"The severity of that entry."`
	Rule        string            `json:"rule" jsonschema:"The rule that decided."`
	What        string            `json:"what,omitempty" jsonschema:"What happened, as the rule describes it."`
	Blame       []string          `json:"blame,omitempty" jsonschema:"Mods that its urgent entries point at, those of the first one first."`
	OtherMod    bool              `json:"otherMod,omitempty" jsonschema:"It points at other mods than those of --fail-on-mod and does not break play, so that it does not fail."`
	Old         *Tally            `json:"old,omitempty" jsonschema:"The group on the old side, or in the baseline."`
	New         *Tally            `json:"new,omitempty" jsonschema:"The group on the new side."`
	Ratio       *ratio            `json:"ratio,omitempty" jsonschema:"New rate divided by old rate, with bounds, by the measure that shows the smallest difference."`
	MayBeUnseen bool              `json:"mayBeUnseen,omitempty" jsonschema:"The side without the group has gaps."`
	Expires     date              `json:"expires,omitempty" jsonschema:"The day on which the entry of the baseline expires."`
	Note        string            `json:"note,omitempty" jsonschema:"What a person wrote into the baseline."`

	group *group
}

// Tally is a group on one side.
type Tally struct {
	Count       uint64            `json:"count" jsonschema:"Entries in the group."`
	Per1000     float64           `json:"per1000Records" jsonschema:"Entries per 1,000 records."`
	PerHour     float64           `json:"perHour,omitempty" jsonschema:"Entries per hour; absent if a log has no times."`
	Disposition event.Disposition `json:"disposition" jsonschema:"The highest of its entries."`
	First       []place           `json:"first,omitempty" jsonschema:"Its first line in each log that has it."`
}

// place is a line of a log.
type place struct {
	File string `json:"file" jsonschema:"The log, as it was named."`
	Line int    `json:"line" jsonschema:"The line."`
}

// ratio is how much more frequent something is on the new side, by the measure
// that shows the least difference.
type ratio struct {
	Value float64 `json:"value" jsonschema:"The new rate divided by the old rate."`
	Low   float64 `json:"low" jsonschema:"Its lower bound."`
	High  float64 `json:"high" jsonschema:"Its upper bound."`
	By    string  `json:"by" jsonschema:"The measure of a log's length." enum:"run,record,hour"`
}

// ModChange is a mod that differs between two lists. A place is that in load order, from 1, and 0 where the
// mod is not in the list.
type ModChange struct {
	Name       string `json:"name" jsonschema:"Its name."`
	PackageID  string `json:"packageId,omitempty" jsonschema:"Its package id, if known."`
	Change     string `json:"change" jsonschema:"What changed." enum:"added,updated,removed,moved"`
	OldVersion string `json:"oldVersion,omitempty" jsonschema:"Its version before."`
	Version    string `json:"version,omitempty" jsonschema:"Its version after."`
	OldPlace   int    `json:"oldPlace,omitempty" jsonschema:"Its place in load order before, from 1."`
	Place      int    `json:"place,omitempty" jsonschema:"Its place after."`

	assemblies []string
}

// SuspectGroup is a group with the mods that may be its cause.
type SuspectGroup struct {
	Group    Group        `json:"group" jsonschema:"The group."`
	Suspects []modSuspect `json:"suspects" jsonschema:"Mods that may be its cause, the most likely first."`
	More     int          `json:"more" jsonschema:"Suspects with less evidence, which are not listed."`
}

// modSuspect is a mod that may be the cause of a group, with the evidence.
type modSuspect struct {
	Name      string   `json:"name" jsonschema:"Its name."`
	PackageID string   `json:"packageId,omitempty" jsonschema:"Its package id, if a list has the mod."`
	Change    string   `json:"change,omitempty" jsonschema:"What changed between the lists." enum:"added,updated,removed,moved"`
	Direct    bool     `json:"direct" jsonschema:"Something in the text or the stack points at it, other than what changed between the lists."`
	Score     int      `json:"score" jsonschema:"How strong the evidence is; only the order of scores has a meaning."`
	Evidence  []string `json:"evidence" jsonschema:"The evidence in words, the strongest first."`

	entries uint64 // that point at it
}

// unseen is an entry of a baseline that no log has.
type unseen struct {
	ID          signature.ID      `json:"id" jsonschema:"The group's id." pattern:"^[0-9a-f]{16}$"`
	Disposition event.Disposition `json:"disposition" jsonschema:"The disposition in the baseline."`
	Rule        string            `json:"rule" jsonschema:"The rule that decided when the baseline was written."`
	Expires     date              `json:"expires" jsonschema:"The day on which the entry expires."`
	Note        string            `json:"note,omitempty" jsonschema:"What a person wrote into the baseline."`
	Template    string            `json:"template" jsonschema:"The text with variable parts masked, in one line."`
}

// The bounds of texts in documents, in characters.
const (
	maxShown = 2000 // of a template, a sample or a note
	maxName  = 64   // of a mod
)

// text makes text of a log, or of a rule, fit to be shared and shown.
func (c *Collector) safe(s string, limit int) string {
	return text.Safe(c.config.Scrub.Text(s), limit)
}

// mod makes the name or the id of a mod fit to be shared and shown.
func (c *Collector) mod(name string) string { return text.Safe(c.config.Scrub.Mod(name), maxName) }

// line returns one line for the templates of a group.
func (c *Collector) line(templates []string) string {
	t := templates[0]
	for _, other := range templates[1:] {
		t = template.Common(t, other)
	}
	return cmp.Or(text.Safe(template.Line(c.config.Scrub.Text(t)), maxShown), "(no text)")
}

// totals describes one side.
func (c *Collector) totals(side Side) Totals {
	t := Totals{Files: []File{}}
	clock := true
	for _, r := range c.runs[side] {
		f := r.File
		f.Name, f.Game, f.Gaps = c.safe(f.Name, 0), c.safe(f.Game, maxName), append([]Gap{}, f.Gaps...)
		for i := range f.Gaps {
			f.Gaps[i].Rule = c.safe(f.Gaps[i].Rule, 0)
		}
		t.Files = append(t.Files, f)
		t.Records += f.Records
		t.Uncounted += r.uncounted
		hours := r.times.Last.Sub(r.times.First).Hours()
		// If few records have a time, the length of the log is not known.
		clock = clock && 2*r.times.Entries >= f.Records && hours > 0
		t.hours += hours
	}
	if !clock {
		t.hours = 0
	}
	t.Hours = rounded(t.hours)
	return t
}

// incomplete reports whether the evidence of a log on this side has gaps.
func (t *Totals) incomplete() bool {
	return slices.ContainsFunc(t.Files, func(f File) bool { return len(f.Gaps) > 0 })
}

// row describes a group.
func (c *Collector) row(g *group, before, after *Totals) Group {
	heavy := &g.tally[New]
	if heavy.count == 0 {
		heavy = &g.tally[Old]
	}
	rule := heavy.decided.Rule
	r := Group{
		ID: g.texts[0].sig.ID, Forms: len(g.texts), Template: c.line(g.templates()),
		Disposition: heavy.decided.Disposition, Severity: heavy.decided.Severity, Rule: c.safe(rule, 0),
		Old: c.tally(g, Old, before), New: c.tally(g, New, after), group: g,
	}
	sample, _, _ := strings.Cut(strings.TrimSpace(g.sample()), "\n")
	r.Sample = c.safe(sample, maxShown)
	named := g.pointing().named
	r.OtherMod = len(c.config.Mods) > 0 && len(named) > 0 && !g.tally[New].breaks
	for _, s := range named {
		r.Blame = append(r.Blame, text.Safe(c.config.Scrub.Mod(s.Mod), 0))
		r.OtherMod = r.OtherMod && !slices.ContainsFunc(c.config.Mods, hasName(s.Mod, s.PackageID))
	}
	if rule := c.config.Rules.Rule(rule); rule != nil {
		r.What = c.safe(strings.Join(strings.Fields(rule.Summary), " "), 0)
	}
	return r
}

// hasName returns a function that reports whether a text is the name or the package id of a mod.
func hasName(mod, id string) func(string) bool {
	return func(name string) bool {
		return (&ModChange{Name: mod, PackageID: id}).is(name) || (&ModChange{PackageID: name}).is(mod)
	}
}

// unknownMods returns the names of [Config].Mods that no listed mod and no mod of a group has.
func (c *Collector) unknownMods(groups []*group) []string {
	unknown := slices.Clone(c.config.Mods)
	for _, m := range c.listed(New) {
		unknown = slices.DeleteFunc(unknown, hasName(m.Name, m.PackageID))
	}
	for _, g := range groups {
		for _, s := range g.pointing().suspects {
			unknown = slices.DeleteFunc(unknown, hasName(s.Mod, s.PackageID))
		}
	}
	return unknown
}

// pointing returns the tally of the side whose urgent entries point at mods: the new one, if both do.
func (g *group) pointing() *tally {
	if len(g.tally[New].suspects) > 0 {
		return &g.tally[New]
	}
	return &g.tally[Old]
}

// sample returns the line of an urgent entry, "" if none is urgent.
func (g *group) sample() string { return cmp.Or(g.tally[New].sample, g.tally[Old].sample) }

// templates returns the templates of a group, by id.
func (g *group) templates() []string {
	out := make([]string, 0, min(len(g.texts), MaxForms))
	for _, t := range g.texts[:min(len(g.texts), MaxForms)] {
		out = append(out, t.template)
	}
	return out
}

// tally describes a group on one side, nil where it is not there.
func (c *Collector) tally(g *group, side Side, total *Totals) *Tally {
	t := &g.tally[side]
	if t.count == 0 {
		return nil
	}
	out := &Tally{
		Count: t.count, Per1000: rounded(float64(t.count) * 1000 / float64(total.Records)),
		Disposition: t.decided.Disposition,
	}
	if total.hours > 0 {
		out.PerHour = rounded(float64(t.count) / total.hours)
	}
	for _, run := range c.runs[side] {
		if line, ok := g.first[run]; ok {
			out.First = append(out.First, place{c.safe(run.Name, 0), line})
		}
	}
	return out
}

// shown returns r as documents have it, nil where nothing is known.
func (r ratio) shown() *ratio {
	if r.By == "" {
		return nil
	}
	return &ratio{rounded(r.Value), rounded(r.Low), rounded(r.High), r.By}
}

// rounded keeps four digits, which is more than a count of log lines is worth.
// Infinity, which JSON lacks, is a number beyond any ratio.
func rounded(x float64) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(min(x, 1e12), 'g', 4, 64), 64)
	return x
}
