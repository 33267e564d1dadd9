package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/scrub"
)

// checked is a report as the forms for continuous integration list it.
type checked struct {
	logs  []checkedLog
	found []found
	marks []scrub.Kind // of private text that was removed
}

// checkedLog is a log of a report. A text is "" if all is well.
type checkedLog struct {
	File       string // not escaped
	Properties []property
	Unread     string   // why it was not read to its end
	Kind       string   // of that error
	Silence    string   // the contents of a log without a record
	Lacks      string   // its gaps, in sentences
	notes      []string // all that is wanting, in sentences
}

// Out returns all that is wanting, a sentence in each line.
func (l *checkedLog) Out() string { return strings.Join(l.notes, "\n") }

type property struct{ Name, Value string }

// found is a problem: the groups of one rule and disposition in one log that point at one mod first, or at none. It has
// the rule and the log of its first group.
type found struct {
	finding
	Mod     string
	Groups  []finding
	Line    uint64   // the first of all groups
	Entries uint64   // of all groups
	reasons []string // why a comparison reports it, nil if the report is of one log
	passes  bool     // all groups are of other mods than the checked ones
}

// finding is an urgent row.
type finding struct {
	*Row
	RuleText
	File     string // the first that has it, not escaped
	News     string // why a comparison reports it, which makes it fail; "" in the report of one log
	otherMod bool   // it does not fail
}

// problems joins groups to problems, in the order of their first groups.
func problems(groups []finding) (all []found) {
	for _, f := range groups {
		mod := strings.Join(f.Blame[:min(1, len(f.Blame))], "")
		at := slices.IndexFunc(all, func(p found) bool {
			return p.Rule == f.Rule && p.Disposition == f.Disposition && p.File == f.File && p.Mod == mod
		})
		if at < 0 {
			at = len(all)
			all = append(all, found{finding: f, Mod: mod, Line: f.First, passes: true})
			all[at].Advice = cmp.Or(f.advice, text.Advice(f.Advice, f.Blame...)) // a comparison has no items, and no advice
		}
		p := &all[at]
		p.Groups = append(p.Groups, f)
		p.Entries += f.Count
		p.Line = min(p.Line, f.First)
		p.passes = p.passes && f.otherMod
		if f.News != "" && !slices.Contains(p.reasons, f.News) {
			p.reasons = append(p.reasons, f.News)
		}
	}
	return all
}

// Often returns how often and where the problem is.
func (p *found) Often() string {
	if len(p.Groups) == 1 {
		return p.finding.Often()
	}
	return fmt.Sprintf("%s in %d groups, the first at line %d", text.Count(p.Entries, "entry", "entries"), len(p.Groups),
		p.Line)
}

// Because returns a text about the problem, and why a comparison reports it.
func (p *found) Because(says string) string {
	switch {
	case p.reasons == nil:
		return says
	case len(p.reasons) > 2:
		return fmt.Sprintf("%s; %d groups are new, or more than before", says, len(p.Groups))
	}
	return says + "; " + strings.Join(p.reasons, "; ")
}

// Often returns how often and where.
func (f *finding) Often() string {
	often := text.Count(f.Count, "entry", "entries")
	if f.Forms > 1 {
		often += fmt.Sprintf(" in %d forms", f.Forms)
	}
	switch f.Last {
	case f.First:
		return often + fmt.Sprintf(", line %d", f.First)
	case 0: // of a comparison, which does not know it
		return often + fmt.Sprintf(", the first at line %d", f.First)
	}
	return often + fmt.Sprintf(", lines %d to %d", f.First, f.Last)
}

// checked has the urgent rows, blocking ones first, and how many more rows the tables have.
func (d *Document) checked() checked {
	s := &d.Summary
	doubts := slices.Clip(d.doubts)
	if d.silence != "" {
		doubts = append(doubts, d.silence)
	}
	log := checkedLog{
		File: d.file, Unread: s.Error, Kind: "input", Silence: d.silence, notes: doubts,
		Properties: []property{
			{"heed.layout", s.Layout},
			{"heed.lines", number(uint64(s.Lines))},
			{"heed.records", number(s.Records)},
			{"heed.verdict", s.Verdict.lead()},
		},
	}
	if removed := strings.Join(inWords(d.removed), ", "); removed != "" {
		log.Properties = append(log.Properties, property{"heed.removed", removed})
	}
	if s.Interrupted {
		log.Unread, log.Kind = "interrupted", "interrupted"
	}
	if d.WentBlind {
		log.Lacks = strings.Join(doubts, " ")
	}
	var groups []finding
	left := 0
	for _, disposition := range [...]event.Disposition{event.Blocking, event.Advisory} {
		rows, t := d.rows(disposition), d.table(disposition)
		left += t.Rows - len(rows)
		for i := range rows {
			r := &rows[i]
			groups = append(groups, finding{Row: r, RuleText: d.rule(r.Rule).described(r.Rule, r.Severity), File: d.file})
		}
		if dropped := t.dropped(); dropped != "" {
			log.notes = append(log.notes, fmt.Sprintf("%s: %s.", disposition, dropped))
		}
	}
	if left > 0 {
		log.notes = append(log.notes, fmt.Sprintf("%s not listed: the least frequent ones.",
			text.Count(left, "more group is", "more groups are")))
	}
	return checked{[]checkedLog{log}, problems(groups), d.removed}
}

// checked has the logs of the new side of a check, and the groups that its baseline does not cover, which --fail-on new
// reports: each in the first log that has it.
func (c *Comparison) checked() checked {
	check := c.Found.(*compare.Check)
	side := &check.New
	all := checked{marks: c.Scrub.removed()}
	for i := range side.Files {
		f := &side.Files[i]
		log := checkedLog{File: f.Name, Kind: "input", Properties: []property{{"heed.records", number(f.Records)}}}
		for _, gap := range gapsOf(&compare.Totals{Files: side.Files[i : i+1]}) {
			log.notes = append(log.notes, "The log "+gap+".")
		}
		if i == 0 && side.Uncounted > 0 {
			log.notes = append(log.notes, fmt.Sprintf("%s did not fit into the tables and are not compared.",
				text.Count(side.Uncounted, "record")))
		}
		says := strings.Join(log.notes, " ")
		switch {
		case slices.ContainsFunc(f.Gaps, func(g compare.Gap) bool { return g.Kind == "unread" }):
			log.Unread = says
		case len(f.Gaps) > 0 && f.Gaps[0].Silence() != "":
			log.Silence = f.Gaps[0].Silence()
		default:
			log.Lacks = says
		}
		all.logs = append(all.logs, log)
	}
	var groups []finding
	add := func(of []compare.Group, why func(*compare.Group) string) {
		for i := range of {
			g := &of[i]
			first := g.New.First[0]
			row := &Row{
				Disposition: g.Disposition, Severity: g.Severity, Rule: g.Rule, Signature: g.ID, Forms: uint64(g.Forms),
				Count: g.New.Count, First: uint64(first.Line), Template: g.Template, Blame: g.Blame,
			}
			rule := c.Rule(g.Rule).shown().described(g.Rule, g.Severity)
			groups = append(groups, finding{row, rule, first.File, "new: " + why(g), g.OtherMod})
		}
	}
	add(check.Added, func(*compare.Group) string { return "not in the baseline" })
	add(check.More, func(g *compare.Group) string {
		return strings.TrimSpace("above its rate in the baseline " + ratioWords(g))
	})
	add(check.Worse, func(g *compare.Group) string {
		return "more urgent than in the baseline, where it is " + g.Old.Disposition.String()
	})
	add(check.Expired, func(g *compare.Group) string {
		return "its entry in the baseline has expired on " + string(g.Expires)
	})
	all.found = problems(groups)
	return all
}
