package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/report/compare"
)

// compareSection is a table of a comparison, with its heading.
type compareSection struct {
	title string // one word
	what  string // what its rows are
	rows  []CompareRow
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
	headline  []string // sentences, the first of them a title
	mods      []ModRow // that differ
	sections  []compareSection
	footnotes []string
	hours     bool // there are rates by the hour
	manyOld   bool // files
	manyNew   bool
}

// comparison says what a difference is.
func (d *DiffDocument) comparison() *comparison {
	c := &comparison{mods: d.Mods, hours: d.Old.Hours > 0 && d.New.Hours > 0, manyOld: len(d.Old.Files) > 1, manyNew: len(d.New.Files) > 1}
	changed := len(d.Added) + len(d.Gone) + len(d.More) + len(d.Less)
	c.say("%s → %s", d.Old.describe(), d.New.describe())
	if changed == 0 {
		c.say("No difference: nothing new, gone, more or less frequent in %s.", count(uint64(d.Groups), "group"))
	} else {
		c.say("%s; %s; %d more and %d less frequent; %d of %s as before.",
			counted(d.Added, "new"), counted(d.Gone, "gone"), len(d.More), len(d.Less), d.Groups-changed, count(uint64(d.Groups), "group"))
	}
	if n := len(d.Worse); n > 0 {
		c.say("%s of both sides judged to be more urgent than before.", count(uint64(n), "group"))
	}
	for _, g := range d.New.gaps() {
		c.say("The new side %s: what is gone or less frequent may just be unseen.", g)
	}
	for _, g := range d.Old.gaps() {
		c.say("The old side %s: what is new or more frequent may just have been unseen.", g)
	}
	c.uncounted("old", &d.Old)
	c.uncounted("new", &d.New)
	c.sections = []compareSection{
		{"NEW", "only on the new side", d.Added, sectionNew},
		{"MORE frequent", "by every measure", d.More, sectionRatio},
		{"WORSE", "judged to be more urgent than on the old side", d.Worse, sectionWorse},
		{"LESS frequent", "by every measure", d.Less, sectionRatio},
		{"GONE", "only on the old side", d.Gone, sectionGone},
	}
	c.footnote()
	return c
}

// comparison says what a baseline does not explain.
func (d *CheckDocument) comparison() *comparison {
	c := &comparison{manyNew: len(d.New.Files) > 1}
	speak := len(d.Added) + len(d.More) + len(d.Worse) + len(d.Expired)
	c.say("%s, against %s", d.New.describe(), d.Baseline)
	unseen := ": what it does not show may just be unseen"
	switch {
	case d.New.silent():
		unseen = ""
		c.say("There is nothing to check: that nothing was found says nothing.")
	case speak == 0:
		c.say("Nothing that the baseline does not explain.")
	default:
		c.say("%s; %d above their rate, %d more urgent than before, %d expired.", counted(d.Added, "not in the baseline"), len(d.More), len(d.Worse), len(d.Expired))
	}
	c.say("Known and as it was: %s of %s. In the baseline and unseen: %d.", entries(d.KnownEntries), count(uint64(d.Known), "group"), len(d.Unseen))
	for _, g := range d.New.gaps() {
		c.say("The log %s%s.", g, unseen)
	}
	if d.RulesChanged {
		c.say(`The baseline was written under other rules: look at what they judge differently, and write it anew with "classify-replay baseline write".`)
	}
	if d.ModsChanged {
		c.say("The baseline was written with other mods.")
	}
	c.uncounted("new", &d.New)
	c.sections = []compareSection{
		{"NEW", "not in the baseline", d.Added, sectionNew},
		{"MORE frequent", "than the baseline allows", d.More, sectionRatio},
		{"WORSE", "judged to be more urgent than in the baseline", d.Worse, sectionWorse},
		{"EXPIRED", "known until a day that is past", d.Expired, sectionExpired},
	}
	c.footnote()
	return c
}

// maxChangedMods bounds the mods that are named for each change.
const maxChangedMods = 5

// changedMods says which mods differ, with their names as named shows them; "" where none
// does.
func (c *comparison) changedMods(named func(string) string) string {
	var parts []string
	for _, change := range []compare.Change{compare.Added, compare.Updated, compare.Removed} {
		var names []string
		n := 0
		for i := range c.mods {
			if c.mods[i].Change != change {
				continue
			}
			if n++; n <= maxChangedMods {
				names = append(names, named(c.mods[i].title()))
			}
		}
		if n > maxChangedMods {
			names = append(names, fmt.Sprintf("%d more", n-maxChangedMods))
		}
		if n > 0 {
			parts = append(parts, string(change)+" "+strings.Join(names, ", "))
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

func (c *comparison) uncounted(side string, s *CompareSide) {
	if s.Uncounted > 0 {
		c.say("%s of the %s side found no room in the tables and are not compared: what seems to be missing from it may be among them.", count(s.Uncounted, "record"), side)
	}
}

// footnote explains the columns that are there.
func (c *comparison) footnote() {
	var rows, chances, ratios bool
	for i := range c.sections {
		s := &c.sections[i]
		rows = rows || len(s.rows) > 0
		chances = chances || slices.ContainsFunc(s.rows, func(r CompareRow) bool { return r.Chance != nil })
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
		c.footnotes = append(c.footnotes, "CHANCE is how likely the other side would have none of them at the same rate.")
	}
	if ratios {
		c.footnotes = append(c.footnotes, "RATIO is that of the rates, with bounds, by the measure that speaks least for a difference.")
	}
}

// counted says how many rows there are, and how many of them are urgent.
func counted(rows []CompareRow, what string) string {
	var n [len(dispositions)]int
	for i := range rows {
		n[rows[i].Disposition]++
	}
	s := count(uint64(len(rows)), "group") + " " + what
	var parts []string
	for _, d := range dispositions {
		if n[d] > 0 && len(parts) < 2 && d.Urgent() {
			parts = append(parts, fmt.Sprintf("%d %s", n[d], d))
		}
	}
	if len(parts) > 0 {
		s += " (" + strings.Join(parts, ", ") + ")"
	}
	return s
}

// describe names a side.
func (s *CompareSide) describe() string {
	name := "nothing"
	switch len(s.Files) {
	case 0:
	case 1:
		name = s.Files[0].File
	default:
		name = fmt.Sprintf("%s and %d more", s.Files[0].File, len(s.Files)-1)
	}
	out := name + " (" + count(s.Records, "record")
	if s.Hours > 0 {
		out += ", " + rate(s.Hours) + " hours"
	}
	return out + ")"
}

// maxGaps bounds the gaps of a side that are told in text.
const maxGaps = 2

// silences says what there is of a log that says nothing.
var silences = map[string]string{compare.GapEmpty: "empty", compare.GapHeader: "only the header of an upload"}

// silent reports whether no log of a side says anything.
func (s *CompareSide) silent() bool {
	speaks := func(f CompareFile) bool {
		return !slices.ContainsFunc(f.Gaps, func(g CompareGap) bool { return silences[g.Kind] != "" })
	}
	return !slices.ContainsFunc(s.Files, speaks)
}

// gaps says where the evidence of a side is incomplete.
func (s *CompareSide) gaps() []string {
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
				where += " of " + s.Files[i].File
			}
			switch g.Kind {
			case compare.GapEmpty, compare.GapHeader:
				says := "is " + silences[g.Kind]
				if len(s.Files) > 1 {
					says = fmt.Sprintf("has a log that %s (%s)", says, s.Files[i].File)
				}
				out = append(out, says)
			case compare.GapBlind:
				said := "went BLIND " + where
				if g.Rule != "" {
					said += " (" + g.Rule + ")"
				}
				if g.To > 0 {
					said += fmt.Sprintf(", until line %d", g.To)
				}
				out = append(out, said)
			case compare.GapBeginning:
				out = append(out, "lacks its beginning"+strings.TrimPrefix(where, fmt.Sprintf("at line %d", g.From)))
			case event.StatusHole.String():
				out = append(out, "misses bytes "+where)
			case event.StatusRunCut.String():
				out = append(out, "misses repeats that the game left out "+where)
			case event.StatusTruncated.String():
				out = append(out, "is cut off "+where)
			case compare.GapUnread:
				out = append(out, "was not read to its end, but to"+strings.TrimPrefix(where, "at"))
			default:
				out = append(out, "has a gap "+where)
			}
		}
	}
	if more > 0 {
		out = append(out, "has "+count(uint64(more), "more such gap"))
	}
	return out
}

// columns returns the columns of a section, and the cells of each row. The last
// one is the text.
func (c *comparison) columns(s *compareSection, rows []CompareRow) ([]column, [][]string) {
	type field struct {
		column
		cell func(*CompareRow) string
	}
	side := func(r *CompareRow) *CompareTally {
		if s.kind == sectionGone {
			return r.Old
		}
		return r.New
	}
	many := c.manyNew
	if s.kind == sectionGone {
		many = c.manyOld
	}
	right := func(title string, cell func(*CompareRow) string) field {
		return field{column{title: title, right: true}, cell}
	}
	left := func(title string, limit int, cell func(*CompareRow) string) field {
		return field{column{title: title, limit: limit}, cell}
	}
	var fields []field
	both := s.kind == sectionRatio || s.kind == sectionWorse || s.kind == sectionExpired
	if both {
		fields = append(fields,
			right("OLD", func(r *CompareRow) string { return number(r.Old.Count) }),
			right("NEW", func(r *CompareRow) string { return number(r.New.Count) }),
			right("/1000", func(r *CompareRow) string { return rate(r.Old.Per1000) + "→" + rate(r.New.Per1000) }))
		if c.hours {
			fields = append(fields, right("/HOUR", func(r *CompareRow) string { return rate(r.Old.PerHour) + "→" + rate(r.New.PerHour) }))
		}
	} else {
		fields = append(fields,
			right("COUNT", func(r *CompareRow) string { return number(side(r).Count) }),
			right("/1000", func(r *CompareRow) string { return rate(side(r).Per1000) }))
		if c.hours {
			fields = append(fields, right("/HOUR", func(r *CompareRow) string { return rate(side(r).PerHour) }))
		}
	}
	if s.kind == sectionRatio {
		fields = append(fields, left("RATIO", 0, func(r *CompareRow) string { return r.Ratio.words() }))
	}
	if slices.ContainsFunc(rows, func(r CompareRow) bool { return r.Chance != nil }) {
		fields = append(fields, right("CHANCE", func(r *CompareRow) string { return percent(r.Chance) }))
	}
	if s.kind == sectionExpired {
		fields = append(fields, left("EXPIRED", 0, func(r *CompareRow) string { return string(r.Expires) }))
	}
	fields = append(fields,
		right("FIRST", func(r *CompareRow) string { return firstWords(side(r), many) }),
		left("DISPOSITION", 0, func(r *CompareRow) string {
			d := r.Disposition.String()
			if s.kind == sectionWorse {
				d = r.Old.Disposition.String() + "→" + d
			}
			if !r.Disposition.Urgent() {
				return d
			}
			return d + " " + r.Severity.String()
		}),
		left("RULE", 32, func(r *CompareRow) string { return r.Rule }))
	if slices.ContainsFunc(rows, func(r CompareRow) bool { return len(r.Blame) > 0 }) {
		fields = append(fields, left("BLAME", 24, func(r *CompareRow) string { return blamed(r.Blame) }))
	}
	fields = append(fields, left("TEMPLATE", 0, func(r *CompareRow) string { return r.Template }))
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

// words shows a ratio, such as "×4.2 (3.1–5.7 per run)".
func (r *CompareRatio) words() string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("×%s (%s–%s per %s)", rate(r.Value), rate(r.Low), rate(r.High), r.By)
}

// percent shows a chance. Beyond 5% nobody asks for fractions.
func percent(chance *float64) string {
	switch {
	case chance == nil:
		return ""
	case *chance < 0.001:
		return "<0.1%"
	case *chance > 0.05:
		return strconv.FormatFloat(*chance*100, 'f', 0, 64) + "%"
	}
	return strconv.FormatFloat(*chance*100, 'g', 2, 64) + "%"
}

// firstWords says where a group begins: a line, with its file where there are
// several.
func firstWords(t *CompareTally, many bool) string {
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

// left says what is not shown of rows.
func left(rows []CompareRow) string {
	var n [len(dispositions)]int
	for i := range rows {
		n[rows[i].Disposition]++
	}
	var parts []string
	for _, d := range dispositions {
		if n[d] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[d], d))
		}
	}
	return fmt.Sprintf("… and %d more: %s (--top 0 shows all)", len(rows), strings.Join(parts, ", "))
}

// AppendText appends the difference as text.
func (d *DiffDocument) AppendText(dst []byte, o TextOptions) []byte {
	return d.comparison().appendText(dst, o)
}

// AppendText appends the check as text.
func (d *CheckDocument) AppendText(dst []byte, o TextOptions) []byte {
	return d.comparison().appendText(dst, o)
}

func (c *comparison) appendText(dst []byte, o TextOptions) []byte {
	o = o.wideEnough()
	for i, s := range c.headline {
		indent := 2
		if i == 0 {
			indent = 0
		}
		dst = append(dst, strings.Repeat(" ", indent)...)
		dst = appendWrapped(dst, s, o.Width, indent)
	}
	if mods := c.changedMods(func(name string) string { return name }); mods != "" {
		dst = appendWrapped(append(dst, "  "...), mods, o.Width, 2)
	}
	for i := range c.sections {
		s := &c.sections[i]
		if len(s.rows) == 0 {
			continue
		}
		rows := s.rows
		if o.Top > 0 {
			rows = rows[:min(len(rows), o.Top)]
		}
		dst = o.heading(dst, strong, "%s: %s, %s", s.title, count(uint64(len(s.rows)), "group"), s.what)
		g := grid{minLast: 60, color: o.Color}
		var cells [][]string
		g.columns, cells = c.columns(s, rows)
		for i := range g.columns {
			switch column := &g.columns[i]; column.title {
			case "DISPOSITION":
				column.style = dispositionStyle
			case "COUNT", "OLD", "NEW":
				column.style = only(strong)
			case "BLAME":
				column.style = only(name)
			}
		}
		for _, row := range cells {
			g.add(row...)
		}
		dst = g.appendTo(dst, o.Width)
		if rest := s.rows[len(rows):]; len(rest) > 0 {
			dst = append(dst, "  "...)
			dst = appendWrapped(dst, left(rest), o.Width, 2)
		}
	}
	if len(c.footnotes) > 0 {
		dst = append(dst, '\n')
		dst = appendWrapped(dst, strings.Join(c.footnotes, " "), o.Width, 0)
	}
	return dst
}

// AppendText appends the suspects as text.
func (d *SuspectsDocument) AppendText(dst []byte, o TextOptions) []byte {
	o = o.wideEnough()
	p := func(indent int, format string, args ...any) {
		dst = append(dst, strings.Repeat(" ", indent)...)
		dst = appendWrapped(dst, fmt.Sprintf(format, args...), o.Width, indent)
	}
	p(0, "%s → %s", d.Old.describe(), d.New.describe())
	p(2, "%s new or more frequent, and urgent.", verb(uint64(len(d.Groups)), "group is", "groups are"))
	for _, s := range d.modSentences() {
		p(2, "%s", s)
	}
	for _, g := range d.Old.gaps() {
		p(2, "The old side %s: what is new may just have been unseen.", g)
	}
	if len(d.Mods) > 0 {
		dst = o.heading(dst, strong, "MODS that changed")
		g := grid{columns: []column{{title: "CHANGE"}, {title: "PLACE", right: true}, {title: "PACKAGE", limit: 40}, {title: "MOD", style: only(name)}}, minLast: 20, color: o.Color}
		rows := d.Mods
		if o.Top > 0 {
			rows = rows[:min(len(rows), 4*o.Top)]
		}
		for i := range rows {
			m := &rows[i]
			g.add(string(m.Change), m.places(), m.PackageID, m.title())
		}
		dst = g.appendTo(dst, o.Width)
		if n := len(d.Mods) - len(rows); n > 0 {
			p(2, "… and %d more (--top 0 shows all)", n)
		}
	}
	groups := d.Groups
	if o.Top > 0 {
		groups = groups[:min(len(groups), o.Top)]
	}
	for i := range groups {
		g := &groups[i]
		r := &g.Group
		kind := "new"
		if r.Old != nil {
			kind = "more frequent"
		}
		dst = o.heading(dst, styleOf(r.Disposition)+";1", "%s %s, %s: %s, first at %s", strings.ToUpper(r.Disposition.String()), r.Severity, kind,
			entries(r.New.Count), firstPlace(r.New))
		line := r.Template
		if o.Width > 0 {
			line = fit(line, o.Width-2)
		}
		dst = fmt.Appendf(dst, "  %s\n", line)
		if len(g.Suspects) == 0 {
			p(2, "no suspect: nothing points at a mod, and no list of mods says what changed")
			continue
		}
		t := grid{columns: []column{{title: "SCORE", right: true}, {title: "SUSPECT", limit: 40, style: only(name)}, {title: "EVIDENCE"}}, minLast: 24, color: o.Color}
		for _, s := range g.Suspects {
			t.add(strconv.Itoa(s.Score), s.Name, strings.Join(s.Evidence, "; "))
		}
		dst = t.appendTo(dst, o.Width)
		if g.More > 0 {
			p(2, "… and %d more with less evidence", g.More)
		}
	}
	if n := len(d.Groups) - len(groups); n > 0 {
		dst = append(dst, '\n')
		p(0, "… and %s (--top 0 shows all)", count(uint64(n), "more group"))
	}
	return dst
}

func firstPlace(t *CompareTally) string {
	if len(t.First) == 0 {
		return "no line"
	}
	return fmt.Sprintf("%s:%d", t.First[0].File, t.First[0].Line)
}

// modSentences says what is known of the mods.
func (d *SuspectsDocument) modSentences() []string {
	switch {
	case !d.OldMods && !d.NewMods:
		return []string{"Neither side has a list of mods (an upload has one, and so may the log of a mod loader or of a game in which a save was loaded): only what the text points at is known."}
	case !d.OldMods:
		return []string{"The old side has no list of mods: what was added or updated is not known."}
	case !d.NewMods:
		return []string{"The new side has no list of mods: what was added or updated is not known."}
	}
	n := map[compare.Change]int{}
	for i := range d.Mods {
		n[d.Mods[i].Change]++
	}
	return []string{fmt.Sprintf("Mods: %d added, %d updated, %d removed, %d moved in the load order.", n[compare.Added], n[compare.Updated], n[compare.Removed], n[compare.Moved])}
}

// places shows where a mod stood, and stands.
func (m *ModRow) places() string {
	switch {
	case m.OldPlace == 0:
		return strconv.Itoa(m.Place)
	case m.Place == 0:
		return strconv.Itoa(m.OldPlace) + "→"
	case m.Change != compare.Moved: // others went, or came, before it
		return strconv.Itoa(m.Place)
	}
	return fmt.Sprintf("%d→%d", m.OldPlace, m.Place)
}

// title is the name of a mod with its versions, where they differ.
func (m *ModRow) title() string {
	if m.Change == compare.Updated {
		return fmt.Sprintf("%s %s → %s", m.Name, m.OldVersion, m.Version)
	}
	return m.Name
}
