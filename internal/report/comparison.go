package report

import (
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/text"
)

// Comparison is what package compare found. [Text], [Markdown] and [JSON] render it, [JUnit] and [SARIF] a check.
type Comparison struct {
	// Found is a [compare.Diff], [compare.Check] or [compare.Suspects], which is its own JSON form.
	Found any

	// Top bounds the groups of each part of text and Markdown, 0 for all.
	Top int
	// Language has the headings of text and Markdown in another language, by the English ones. Optional.
	Language map[string]string

	// Rule is as of [Config], and Scrub is what scrubbed the comparison, or nil. Findings have both.
	Rule  func(id string) RuleText
	Scrub *Scrubber
}

// Rendered is the report of a log, or a comparison of logs.
type Rendered interface {
	*Document | *Comparison
	appendText(dst []byte, o TextOptions) []byte
	appendMarkdown(dst []byte) []byte
	checked() checked
}

// compared is a comparison in sentences and tables, as text and Markdown show it.
type compared struct {
	texts
	top      int
	title    string   // of Markdown
	headline []string // the first is the title of text
	mods     []compare.ModChange
	tables   []headedGrid
	end      []string

	oldNames, newNames map[string]string // of the files of a side, see shortNames

	hours, groups, ratios bool // there are rates by the hour; a table has groups; a group has a ratio
}

type headedGrid struct {
	heading string
	grid    *grid
	left    string // how many rows are not shown, "" for none
}

func (c *Comparison) compared() *compared {
	s := &compared{texts: c.Language, top: c.Top}
	switch found := c.Found.(type) {
	case *compare.Diff:
		s.sentences("diff", found)
		s.diff(found)
	case *compare.Check:
		s.sentences("check", found)
		s.check(found)
	case *compare.Suspects:
		s.sentences("suspects", found)
		s.suspects(found)
	}
	switch {
	case s.hours && s.groups:
		s.end = append(s.end, "Rates are per 1,000 records (/1000) and per hour (/HOUR).")
	case s.groups:
		s.end = append(s.end, "Rates are per 1,000 records.")
	}
	if s.ratios {
		s.end = append(s.end,
			"RATIO is the new rate divided by the old rate, with bounds, by the measure that shows the smallest difference.")
	}
	return s
}

func (c *Comparison) appendText(dst []byte, o TextOptions) []byte {
	s, t := c.compared(), textReport{Page: Page{o, dst}}
	t.wrapped(s.headline[0], 0, Plain)
	for _, says := range s.headline[1:] {
		t.sentence(Plain, "%s", says)
	}
	if mods := changedMods(s.mods, literally); mods != "" {
		t.sentence(Plain, "%s", mods)
	}
	for _, table := range s.tables {
		t.headed(table)
	}
	if s.end != nil {
		t.printf("\n")
		t.wrapped(strings.Join(s.end, " "), 0, Plain)
	}
	return t.Out
}

func (c *Comparison) appendMarkdown(dst []byte) []byte {
	s := c.compared()
	dst = fmt.Appendf(dst, "### %s\n\n", s.title)
	for _, says := range s.headline[1:] {
		dst = fmt.Appendf(dst, "- %s\n", prose(says))
	}
	if mods := changedMods(s.mods, func(name string) string { return code(name, 0) }); mods != "" {
		dst = fmt.Appendf(dst, "- %s\n", mods)
	}
	for _, t := range s.tables {
		dst = t.grid.appendMarkdown(fmt.Appendf(dst, "\n#### %s\n\n", t.heading))
		if t.left != "" {
			dst = fmt.Appendf(dst, "\n%s\n", t.left)
		}
	}
	if s.end != nil {
		dst = fmt.Appendf(dst, "\n%s\n", strings.Join(s.end, " "))
	}
	return dst
}

// comparisonForm has the sentences of comparisons, one in each line.
var comparisonForm = form("comparison.txt", template.FuncMap{
	"side": sideName, "gaps": gapsOf, "silent": silentSide, "count": text.Count, "counted": counted,
	"otherGames": otherGames, "excused": excused, "changes": changes,
	"unchanged": func(d *compare.Diff) int {
		return d.Groups - len(d.Added) - len(d.Gone) - len(d.More) - len(d.Less)
	},
})

// sentences sets the headline by a template of comparisonForm.
func (s *compared) sentences(name string, found any) {
	sentences := string(text.Rendered(comparisonForm().Lookup(name), found))
	s.headline = strings.Split(strings.TrimSuffix(sentences, "\n"), "\n")
}

// diff describes a difference.
func (s *compared) diff(d *compare.Diff) {
	s.mods, s.hours = d.Mods, d.Old.Hours > 0 && d.New.Hours > 0
	s.sides(&d.Old, &d.New)
	s.section(s.say("NEW: %s, only on the new side", s.count(d.Added)), d.Added, sectionNew)
	s.section(s.say("MORE frequent: %s, by every measure", s.count(d.More)), d.More, sectionRatio)
	s.section(s.say("WORSE: %s, more urgent than on the old side", s.count(d.Worse)), d.Worse, sectionWorse)
	s.section(s.say("LESS frequent: %s, by every measure", s.count(d.Less)), d.Less, sectionRatio)
	s.section(s.say("GONE: %s, only on the old side", s.count(d.Gone)), d.Gone, sectionGone)
}

// check describes the groups that a baseline does not explain.
func (s *compared) check(d *compare.Check) {
	s.newNames, s.title = shortNames(d.New.Files), heading(&d.New)+", against "+code(d.Baseline, 0)
	s.section(s.say("NEW: %s, not in the baseline", s.count(d.Added)), d.Added, sectionNew)
	s.section(s.say("MORE frequent: %s, than the baseline allows", s.count(d.More)), d.More, sectionRatio)
	s.section(s.say("WORSE: %s, more urgent than in the baseline", s.count(d.Worse)), d.Worse, sectionWorse)
	s.section(s.say("EXPIRED: %s, past their expiry day", s.count(d.Expired)), d.Expired, sectionExpired)
}

// suspects describes suspects.
func (s *compared) suspects(d *compare.Suspects) {
	s.hours = d.Old.Hours > 0 && d.New.Hours > 0
	s.sides(&d.Old, &d.New)
	ranked := top(d.Suspects, 2*s.top)
	rank := 0
	s.table(s.say("SUSPECTS, over all groups"), gridOf(ranked, 24, []columnOf[compare.RankedMod]{
		{column{title: "RANK", right: true}, func(*compare.RankedMod) string { rank++; return strconv.Itoa(rank) }},
		{
			column{title: "SUSPECT", limit: 40, style: only(Name), log: true},
			func(m *compare.RankedMod) string { return m.Name },
		},
		{column{title: "EVIDENCE"}, rankedReason},
	}), len(d.Suspects)-len(ranked)+d.MoreSuspects, "… and %d more with less evidence")
	mods := top(d.Mods, 4*s.top)
	s.table(s.say("MODS that changed"), gridOf(mods, 20, []columnOf[compare.ModChange]{
		{column{title: "CHANGE"}, func(m *compare.ModChange) string { return m.Change }},
		{column{title: "PLACE", right: true}, places},
		{column{title: "PACKAGE", limit: 40, log: true}, func(m *compare.ModChange) string { return m.PackageID }},
		{column{title: "MOD", style: only(Name), log: true}, changedTitle},
	}), len(d.Mods)-len(mods), "… and %d more (--top 0 shows all)")
	var added, more []compare.Group
	for i := range d.Groups {
		if g := d.Groups[i].Group; g.Old == nil {
			added = append(added, g)
		} else {
			more = append(more, g)
		}
	}
	s.section(s.say("NEW: %s, only on the new side", s.count(added)), added, sectionNew)
	s.section(s.say("MORE frequent: %s, by every measure", s.count(more)), more, sectionRatio)
}

// sides names both sides of a comparison.
func (s *compared) sides(before, after *compare.Totals) {
	s.oldNames, s.newNames = shortNames(before.Files), shortNames(after.Files)
	s.title = heading(before) + " → " + heading(after)
}

// table adds a table that has rows.
func (s *compared) table(heading string, g *grid, more int, format string) {
	if len(g.rows) > 0 {
		s.tables = append(s.tables, headedGrid{heading, g, moreRows(more, format)})
	}
}

type sectionKind uint8

const (
	sectionNew sectionKind = iota
	sectionGone
	sectionRatio // from here on of both sides
	sectionWorse
	sectionExpired
)

// section adds a table of groups.
func (s *compared) section(heading string, groups []compare.Group, kind sectionKind) {
	type group = compare.Group
	s.groups, s.ratios = s.groups || len(groups) > 0, s.ratios || kind == sectionRatio && len(groups) > 0
	before := func(g *group) *compare.Tally { return g.Old }
	after := func(g *group) *compare.Tally { return g.New }
	side, names := after, s.newNames
	if kind == sectionGone {
		side, names = before, s.oldNames
	}
	both := kind >= sectionRatio
	rates := func(of func(*compare.Tally) float64) func(*group) string {
		return func(g *group) string {
			if both {
				return rate(of(g.Old)) + "→" + rate(of(g.New))
			}
			return rate(of(side(g)))
		}
	}
	disposition := func(g *group) string {
		d := g.Disposition.String()
		if kind == sectionWorse {
			d = g.Old.Disposition.String() + "→" + d
		}
		if g.Disposition.Urgent() {
			d += " " + g.Severity.String()
		}
		return d
	}
	count := func(of func(*group) *compare.Tally) func(*group) string {
		return func(g *group) string { return number(of(g).Count) }
	}
	bold := only(Strong)
	columns := []columnOf[group]{
		{column{title: "COUNT", right: true, style: bold, omit: both}, count(side)},
		{column{title: "OLD", right: true, style: bold, omit: !both}, count(before)},
		{column{title: "NEW", right: true, style: bold, omit: !both}, count(after)},
		{column{title: "/1000", right: true}, rates(func(t *compare.Tally) float64 { return t.Per1000 })},
		{column{title: "/HOUR", right: true, omit: !s.hours}, rates(func(t *compare.Tally) float64 { return t.PerHour })},
		{column{title: "RATIO", omit: kind != sectionRatio, optional: true}, ratioWords},
		{column{title: "EXPIRED", omit: kind != sectionExpired}, func(g *group) string { return string(g.Expires) }},
		{
			column{title: "FIRST", right: true, log: names != nil},
			func(g *group) string { return firstWords(side(g), names) },
		},
		{column{title: "DISPOSITION", style: dispositionStyle}, disposition},
		{column{title: "RULE", limit: 32, log: true}, func(g *group) string { return g.Rule }},
		blameColumn(func(g *group) []string { return g.Blame }),
		{column{title: "TEMPLATE", log: true}, func(g *group) string { return g.Template }},
	}
	shown := top(groups, s.top)
	rest := groups[len(shown):]
	s.table(heading, gridOf(shown, 60, columns), len(rest),
		"… and %d more: "+byDisposition(rest, event.Ignore)+" (--top 0 shows all)")
}
