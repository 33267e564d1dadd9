package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/report/compare"
)

// compareSection is a table of a comparison, with its heading.
type compareSection struct {
	title string // one word
	what  string // what its rows are
	rows  []compare.Group
	kind  sectionKind
}

type sectionKind uint8

const (
	sectionNew sectionKind = iota
	sectionGone
	sectionRatio
	sectionWorse
	sectionExpired
)

// comparison is what the text and the markdown forms are made of.
type comparison struct {
	headline  []string            // sentences, the first of them a title
	mods      []compare.ModChange // that differ
	sections  []compareSection
	footnotes []string
	hours     bool // there are rates by the hour
	manyOld   bool // files
	manyNew   bool
}

// Comparison is what package compare finds.
type Comparison interface {
	*compare.Diff | *compare.Check | *compare.Suspects
}

// CompareText appends a comparison as text.
func CompareText[C Comparison](dst []byte, c C, o TextOptions) []byte {
	o = o.wideEnough()
	switch d := any(c).(type) {
	case *compare.Diff:
		return ofDiff(d).appendText(dst, o)
	case *compare.Check:
		return ofCheck(d).appendText(dst, o)
	case *compare.Suspects:
		return appendSuspects(dst, d, o)
	}
	panic("BUG: report: a comparison of another kind")
}

// CompareMarkdown appends a comparison as Markdown, to paste into an issue, with at most top groups in each
// section, 0 for all. As in that of a report, log text and names stand in code only.
func CompareMarkdown[C Comparison](dst []byte, c C, top int) []byte {
	switch d := any(c).(type) {
	case *compare.Diff:
		return ofDiff(d).appendMarkdown(dst, heading(&d.Old)+" → "+heading(&d.New), top)
	case *compare.Check:
		return ofCheck(d).appendMarkdown(dst, heading(&d.New)+", against "+code(d.Baseline, 0), top)
	case *compare.Suspects:
		return suspectsMarkdown(dst, d, top)
	}
	panic("BUG: report: a comparison of another kind")
}

// CompareJSON appends a comparison as one line of JSON.
func CompareJSON[C Comparison](dst []byte, c C) []byte { return appendJSON(dst, c) }

// ofDiff describes a difference.
func ofDiff(d *compare.Diff) *comparison {
	c := &comparison{
		mods: d.Mods, hours: d.Old.Hours > 0 && d.New.Hours > 0, manyOld: len(d.Old.Files) > 1,
		manyNew: len(d.New.Files) > 1,
	}
	changed := len(d.Added) + len(d.Gone) + len(d.More) + len(d.Less)
	c.say("%s → %s", sideName(&d.Old), sideName(&d.New))
	if changed == 0 {
		c.say("No difference: of %s none is new, gone, more or less frequent.", text.Count(d.Groups, "group"))
	} else {
		c.say("%s; %s; %d more frequent and %d less frequent; %d of %s unchanged.",
			counted(d.Added, "new group", "new groups"), counted(d.Gone, "group gone", "groups gone"),
			len(d.More), len(d.Less), d.Groups-changed, text.Count(d.Groups, "group"))
	}
	if n := len(d.Worse); n > 0 {
		c.say("%s on both sides more urgent than before.", text.Count(n, "group is", "groups are"))
	}
	for _, g := range gapsOf(&d.New) {
		c.say("The new side %s: what seems gone or less frequent may only be missing from the log.", g)
	}
	for _, g := range gapsOf(&d.Old) {
		c.say("%s", oldGap(g))
	}
	c.uncounted("old", &d.Old)
	c.uncounted("new", &d.New)
	c.sections = []compareSection{
		{"NEW", "only on the new side", d.Added, sectionNew},
		{"MORE frequent", "by every measure", d.More, sectionRatio},
		{"WORSE", "more urgent than on the old side", d.Worse, sectionWorse},
		{"LESS frequent", "by every measure", d.Less, sectionRatio},
		{"GONE", "only on the old side", d.Gone, sectionGone},
	}
	c.footnote()
	return c
}

// oldGap is what a gap of the old log makes uncertain.
func oldGap(gap string) string {
	return "The old side " + gap + ": what seems new or more frequent may only be missing from the old log."
}

// ofCheck describes what a baseline does not explain.
func ofCheck(d *compare.Check) *comparison {
	c := &comparison{manyNew: len(d.New.Files) > 1}
	speak := len(d.Added) + len(d.More) + len(d.Worse) + len(d.Expired)
	c.say("%s, against %s", sideName(&d.New), d.Baseline)
	unseen := ": what is not in it may still have happened"
	switch {
	case silentSide(&d.New):
		unseen = ""
		c.say("There is nothing to check: an empty log does not show that all is well.")
	case speak == 0:
		c.say("The baseline explains everything that was found.")
	default:
		c.say("%s not in the baseline; %d above their rate, %d more urgent than before, %d expired.",
			counted(d.Added, "group", "groups"),
			len(d.More), len(d.Worse), len(d.Expired))
	}
	c.say("As in the baseline: %s in %s. In the baseline but not in the log: %d.", text.Count(d.KnownEntries, "entry", "entries"),
		text.Count(d.Known, "group"), len(d.Unseen))
	for _, g := range gapsOf(&d.New) {
		c.say("The log %s%s.", g, unseen)
	}
	if d.RulesChanged {
		c.say("The baseline was written with other rules: review what they decide differently, and update it with " +
			`"heed baseline write".`)
	}
	if d.ModsChanged {
		c.say("The baseline was written with other mods.")
	}
	c.uncounted("new", &d.New)
	c.sections = []compareSection{
		{"NEW", "not in the baseline", d.Added, sectionNew},
		{"MORE frequent", "than the baseline allows", d.More, sectionRatio},
		{"WORSE", "more urgent than in the baseline", d.Worse, sectionWorse},
		{"EXPIRED", "past their expiry day", d.Expired, sectionExpired},
	}
	c.footnote()
	return c
}

// maxChangedMods bounds the mods that are named for each change.
const maxChangedMods = 5

// changedMods returns which mods differ, with their names as named shows them; "" where none
// does.
func (c *comparison) changedMods(named func(string) string) string {
	var parts []string
	for _, change := range [...]string{"added", "updated", "removed"} {
		var names []string
		n := 0
		for i := range c.mods {
			if c.mods[i].Change != change {
				continue
			}
			if n++; n <= maxChangedMods {
				names = append(names, named(changedTitle(&c.mods[i])))
			}
		}
		if n > maxChangedMods {
			names = append(names, fmt.Sprintf("%d more", n-maxChangedMods))
		}
		if n > 0 {
			parts = append(parts, change+" "+strings.Join(names, ", "))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Mods: " + strings.Join(parts, "; ") + "."
}

func (c *comparison) say(format string, args ...any) {
	c.headline = append(c.headline, fmt.Sprintf(format, args...))
}

func (c *comparison) uncounted(side string, s *compare.Totals) {
	if s.Uncounted > 0 {
		c.say("%s of the %s side did not fit into the tables and are not compared: what seems to be missing there may be "+
			"among them.", text.Count(s.Uncounted, "record"), side)
	}
}

// footnote explains the columns that are there.
func (c *comparison) footnote() {
	var rows, chances, ratios bool
	for i := range c.sections {
		s := &c.sections[i]
		rows = rows || len(s.rows) > 0
		chances = chances || slices.ContainsFunc(s.rows, func(r compare.Group) bool { return r.Chance > 0 })
		ratios = ratios || len(s.rows) > 0 && s.kind == sectionRatio
	}
	if rows {
		rates := "Rates are per 1,000 records"
		if c.hours {
			rates += " (/1000) and per hour (/HOUR)"
		}
		c.footnotes = append(c.footnotes, rates+".")
	}
	if chances {
		c.footnotes = append(c.footnotes, "CHANCE is the probability that the other side has none of them at the same rate.")
	}
	if ratios {
		c.footnotes = append(c.footnotes,
			"RATIO is the new rate divided by the old rate, with bounds, by the measure that shows the smallest difference.")
	}
}

// counted returns how many rows there are, and how many of them are urgent.
func counted(rows []compare.Group, one, many string) string {
	s := text.Count(len(rows), one, many)
	if urgent := byDisposition(rows, event.Advisory); urgent != "" {
		s += " (" + urgent + ")"
	}
	return s
}

// byDisposition returns how many rows each disposition has, from the least one on.
func byDisposition(rows []compare.Group, least event.Disposition) string {
	var n [len(dispositions)]int
	for i := range rows {
		n[rows[i].Disposition]++
	}
	var parts []string
	for _, d := range dispositions {
		if n[d] > 0 && d >= least {
			parts = append(parts, fmt.Sprintf("%d %s", n[d], d))
		}
	}
	return strings.Join(parts, ", ")
}

// sideName names a side.
func sideName(s *compare.Totals) string {
	name := "nothing"
	switch len(s.Files) {
	case 0:
	case 1:
		name = s.Files[0].Name
	default:
		name = fmt.Sprintf("%s and %d more", s.Files[0].Name, len(s.Files)-1)
	}
	out := name + " (" + text.Count(s.Records, "record")
	if s.Hours > 0 {
		out += ", " + rate(s.Hours) + " hours"
	}
	return out + ")"
}

// maxGaps bounds the gaps of a side that text lists.
const maxGaps = 2

// silentSide reports whether no log of a side has anything to compare.
func silentSide(s *compare.Totals) bool {
	hasEntries := func(f compare.File) bool {
		return !slices.ContainsFunc(f.Gaps, func(g compare.Gap) bool { return g.Silence() != "" })
	}
	return !slices.ContainsFunc(s.Files, hasEntries)
}

// gapsOf returns where the evidence of a side is incomplete.
func gapsOf(s *compare.Totals) []string {
	var out []string
	more := 0
	for i := range s.Files {
		more += s.Files[i].MoreGaps
		for _, g := range s.Files[i].Gaps {
			if len(out) == maxGaps {
				more++
				continue
			}
			where := fmt.Sprintf("at line %d", g.From)
			if len(s.Files) > 1 {
				where += " of " + s.Files[i].Name
			}
			if silence := g.Silence(); silence != "" {
				says := "is " + silence
				if len(s.Files) > 1 {
					says = fmt.Sprintf("has a log that %s (%s)", says, s.Files[i].Name)
				}
				out = append(out, says)
				continue
			}
			switch g.Kind {
			case "blind":
				blind := "went BLIND " + where
				if g.Rule != "" {
					blind += " (" + g.Rule + ")"
				}
				if blind += ", when logging stopped"; g.To > 0 {
					blind += fmt.Sprintf(", until line %d", g.To)
				}
				out = append(out, blind)
			case "beginning":
				out = append(out, "lacks its beginning"+strings.TrimPrefix(where, fmt.Sprintf("at line %d", g.From)))
			case event.StatusHole.String():
				out = append(out, "has missing bytes "+where)
			case event.StatusRunCut.String():
				out = append(out, "lacks repeated messages, which the game left out, "+where)
			case event.StatusTruncated.String():
				out = append(out, "is cut off "+where)
			case "unread":
				out = append(out, "was only read to"+strings.TrimPrefix(where, "at"))
			default:
				out = append(out, "has a gap "+where)
			}
		}
	}
	if more > 0 {
		out = append(out, "has "+text.Count(more, "more such gap"))
	}
	return out
}

// columns returns the columns of a section, and the cells of each row. The last
// one is the text.
func (c *comparison) columns(s *compareSection, rows []compare.Group) ([]column, [][]string) {
	type field struct {
		column
		cell func(*compare.Group) string
	}
	side := func(r *compare.Group) *compare.Tally {
		if s.kind == sectionGone {
			return r.Old
		}
		return r.New
	}
	many := c.manyNew
	if s.kind == sectionGone {
		many = c.manyOld
	}
	right := func(title string, cell func(*compare.Group) string) field {
		return field{column{title: title, right: true}, cell}
	}
	left := func(title string, limit int, cell func(*compare.Group) string) field {
		return field{column{title: title, limit: limit}, cell}
	}
	var fields []field
	both := s.kind == sectionRatio || s.kind == sectionWorse || s.kind == sectionExpired
	if both {
		fields = append(fields,
			right("OLD", func(r *compare.Group) string { return number(r.Old.Count) }),
			right("NEW", func(r *compare.Group) string { return number(r.New.Count) }),
			right("/1000", func(r *compare.Group) string { return rate(r.Old.Per1000) + "→" + rate(r.New.Per1000) }))
		if c.hours {
			fields = append(fields, right("/HOUR", func(r *compare.Group) string {
				return rate(r.Old.PerHour) + "→" + rate(r.New.PerHour)
			}))
		}
	} else {
		fields = append(fields,
			right("COUNT", func(r *compare.Group) string { return number(side(r).Count) }),
			right("/1000", func(r *compare.Group) string { return rate(side(r).Per1000) }))
		if c.hours {
			fields = append(fields, right("/HOUR", func(r *compare.Group) string { return rate(side(r).PerHour) }))
		}
	}
	if s.kind == sectionRatio {
		fields = append(fields, left("RATIO", 0, func(r *compare.Group) string { return ratioWords(r.Ratio) }))
	}
	if slices.ContainsFunc(rows, func(r compare.Group) bool { return r.Chance > 0 }) {
		fields = append(fields, right("CHANCE", func(r *compare.Group) string { return percent(r.Chance) }))
	}
	if s.kind == sectionExpired {
		fields = append(fields, left("EXPIRED", 0, func(r *compare.Group) string { return string(r.Expires) }))
	}
	fields = append(fields,
		right("FIRST", func(r *compare.Group) string { return firstWords(side(r), many) }),
		left("DISPOSITION", 0, func(r *compare.Group) string {
			d := r.Disposition.String()
			if s.kind == sectionWorse {
				d = r.Old.Disposition.String() + "→" + d
			}
			if !r.Disposition.Urgent() {
				return d
			}
			return d + " " + r.Severity.String()
		}),
		left("RULE", 32, func(r *compare.Group) string { return r.Rule }))
	if slices.ContainsFunc(rows, func(r compare.Group) bool { return len(r.Blame) > 0 }) {
		fields = append(fields, left("BLAME", 24, func(r *compare.Group) string { return blamed(r.Blame) }))
	}
	fields = append(fields, left("TEMPLATE", 0, func(r *compare.Group) string { return r.Template }))
	columns := make([]column, len(fields))
	for i, f := range fields {
		columns[i] = f.column
	}
	cells := make([][]string, len(rows))
	for i := range rows {
		for _, f := range fields {
			cells[i] = append(cells[i], f.cell(&rows[i]))
		}
	}
	return columns, cells
}

// rate shows a rate in three digits.
func rate(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// ratioWords shows a ratio, such as "×4.2 (3.1–5.7 per run)".
func ratioWords(r *compare.Ratio) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("×%s (%s–%s per %s)", rate(r.Value), rate(r.Low), rate(r.High), r.By)
}

// percent shows a chance, without fractions beyond 5%.
func percent(chance float64) string {
	switch {
	case chance == 0:
		return ""
	case chance < 0.001:
		return "<0.1%"
	case chance > 0.05:
		return strconv.FormatFloat(chance*100, 'f', 0, 64) + "%"
	}
	return strconv.FormatFloat(chance*100, 'g', 2, 64) + "%"
}

// firstWords returns where a group begins: a line, with its file where there are
// several.
func firstWords(t *compare.Tally, many bool) string {
	if len(t.First) == 0 {
		return ""
	}
	first := t.First[0]
	s := strconv.Itoa(first.Line)
	if many {
		s = baseName(first.File) + ":" + s
		if n := len(t.First) - 1; n > 0 {
			s += fmt.Sprintf(" +%d", n)
		}
	}
	return s
}

// left returns what is not shown of rows.
func left(rows []compare.Group) string {
	return fmt.Sprintf("… and %d more: %s (--top 0 shows all)", len(rows), byDisposition(rows, event.Ignore))
}
