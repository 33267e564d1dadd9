package report

import (
	"math"
	"strings"

	"github.com/heedlog/heed/blame"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/report/compare"
)

// ComparisonVersion is the schemaVersion of the documents of comparisons, whose
// JSON Schemas stand in the folder schema.
const ComparisonVersion = SchemaVersion

// maxShown bounds a template or a sample in a document, in characters.
const maxShown = 2000

// DiffDocument is the JSON form of a [compare.Diff].
type DiffDocument struct {
	SchemaVersion int          `json:"schemaVersion"`
	Old           CompareSide  `json:"oldSide"`
	New           CompareSide  `json:"newSide"`
	Groups        int          `json:"groups"` // of both sides together
	Added         []CompareRow `json:"new"`
	Gone          []CompareRow `json:"gone"`
	More          []CompareRow `json:"more"`
	Less          []CompareRow `json:"less"`
	Worse         []CompareRow `json:"worse"` // of both sides, and judged to be more urgent than before
	Mods          []ModRow     `json:"mods"`  // that were added, updated or removed
}

// CheckDocument is the JSON form of a [compare.Checked].
type CheckDocument struct {
	SchemaVersion int          `json:"schemaVersion"`
	Baseline      string       `json:"baseline"`
	New           CompareSide  `json:"newSide"`
	Added         []CompareRow `json:"new"`
	More          []CompareRow `json:"more"`
	Worse         []CompareRow `json:"worse"`
	Expired       []CompareRow `json:"expired"`
	Known         int          `json:"known"`        // groups that are as the baseline says
	KnownEntries  uint64       `json:"knownEntries"` // and how often they came
	Unseen        []UnseenRow  `json:"unseen"`
	RulesChanged  bool         `json:"rulesChanged"`
	ModsChanged   bool         `json:"modsChanged"`
}

// UnseenRow is an entry of a baseline that no log has.
type UnseenRow struct {
	ID          string            `json:"id"`
	Disposition event.Disposition `json:"disposition"`
	Rule        string            `json:"rule"`
	Expires     compare.Date      `json:"expires"`
	Note        string            `json:"note,omitempty"`
	Template    string            `json:"template"`
}

// SuspectsDocument is the JSON form of a [compare.Investigation].
type SuspectsDocument struct {
	SchemaVersion int            `json:"schemaVersion"`
	Old           CompareSide    `json:"oldSide"`
	New           CompareSide    `json:"newSide"`
	OldMods       bool           `json:"oldMods"` // the old logs have a list of mods
	NewMods       bool           `json:"newMods"`
	Mods          []ModRow       `json:"mods"` // that differ
	Groups        []SuspectGroup `json:"groups"`
}

// ModRow is a mod that differs between two lists.
type ModRow struct {
	Name       string         `json:"name"`
	PackageID  string         `json:"packageId,omitempty"`
	Change     compare.Change `json:"change"`
	OldVersion string         `json:"oldVersion,omitempty"`
	Version    string         `json:"version,omitempty"`
	OldPlace   int            `json:"oldPlace,omitempty"` // in load order, from 1
	Place      int            `json:"place,omitempty"`
}

// SuspectGroup is a group with the mods that may be its cause.
type SuspectGroup struct {
	Group    CompareRow   `json:"group"`
	Suspects []SuspectRow `json:"suspects"` // the likeliest first
	More     int          `json:"more"`     // left out
}

// SuspectRow is a mod with what speaks against it.
type SuspectRow struct {
	Name      string         `json:"name"`
	PackageID string         `json:"packageId,omitempty"`
	Change    compare.Change `json:"change,omitempty"`
	Score     int            `json:"score"`
	Evidence  []string       `json:"evidence"`
}

// CompareSide is one side of a comparison.
type CompareSide struct {
	Files     []CompareFile `json:"files"`
	Records   uint64        `json:"records"`
	Hours     float64       `json:"hours,omitempty"`     // absent where a log has no clock
	Uncounted uint64        `json:"uncounted,omitempty"` // records that found no room, and are not compared
}

// CompareFile is one log.
type CompareFile struct {
	File     string       `json:"file"`
	Records  uint64       `json:"records"`
	Gaps     []CompareGap `json:"gaps"`
	MoreGaps int          `json:"moreGaps,omitempty"`
}

// CompareGap is where the evidence of a log is incomplete.
type CompareGap struct {
	Kind string `json:"kind"`
	From int    `json:"from"`
	To   int    `json:"to,omitempty"` // absent where the log did not speak again
	Rule string `json:"rule,omitempty"`
}

// CompareRow is one group.
type CompareRow struct {
	ID          string            `json:"id"`
	Forms       int               `json:"forms"`
	Template    string            `json:"template"`
	Sample      string            `json:"sample,omitempty"`
	Disposition event.Disposition `json:"disposition"`
	Severity    event.Severity    `json:"severity"`
	Rule        string            `json:"rule"`
	What        string            `json:"what,omitempty"` // in the words of the rule's author
	Blame       []string          `json:"blame,omitempty"`
	Old         *CompareTally     `json:"old,omitempty"`
	New         *CompareTally     `json:"new,omitempty"`
	Ratio       *CompareRatio     `json:"ratio,omitempty"`
	Chance      *float64          `json:"chance,omitempty"`
	MayBeUnseen bool              `json:"mayBeUnseen,omitempty"` // the side that lacks it has gaps
	Expires     compare.Date      `json:"expires,omitempty"`
	Note        string            `json:"note,omitempty"`
}

// CompareTally is a group on one side.
type CompareTally struct {
	Count       uint64            `json:"count"`
	Per1000     float64           `json:"per1000Records"`
	PerHour     float64           `json:"perHour,omitempty"`
	Disposition event.Disposition `json:"disposition"`
	First       []CompareFirst    `json:"first,omitempty"`
}

// CompareFirst is where a group begins in a log.
type CompareFirst struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// CompareRatio is how much more frequent a group is, by the measure that speaks
// least for it.
type CompareRatio struct {
	Value float64         `json:"value"`
	Low   float64         `json:"low"`
	High  float64         `json:"high"`
	By    compare.Measure `json:"by"`
}

// Comparer makes the documents of comparisons. Its zero value does.
type Comparer struct {
	// Rule is that of [Config]. Optional.
	Rule func(id string) (summary, why string)

	// Scrub takes out of text what is private. Optional.
	Scrub *Scrubber
}

// Diff returns the document of a difference.
func (c *Comparer) Diff(d *compare.Diff) *DiffDocument {
	oldGaps, newGaps := d.Old.Incomplete(), d.New.Incomplete()
	return &DiffDocument{
		SchemaVersion: ComparisonVersion, Old: c.side(&d.Old), New: c.side(&d.New), Groups: d.Groups,
		Added: c.rows(d.Added, oldGaps), Gone: c.rows(d.Gone, newGaps),
		More: c.rows(d.More, oldGaps), Less: c.rows(d.Less, newGaps), Worse: c.rows(d.Worse, false), Mods: c.mods(d.Mods),
	}
}

// Check returns the document of a check against the baseline in a file.
func (c *Comparer) Check(file string, checked *compare.Checked) *CheckDocument {
	rows := func(checked []compare.CheckedRow) []CompareRow {
		out := make([]CompareRow, len(checked))
		for i := range checked {
			r := &checked[i]
			out[i] = c.row(&r.Row, false)
			if e := r.Entry; e != nil {
				out[i].Old = &CompareTally{Count: e.Count, Per1000: rounded(e.Per1000()), Disposition: e.Disposition}
				out[i].Ratio = ratio(&r.Ratio)
				out[i].Expires, out[i].Note = e.Expires, c.text(e.Note, maxShown)
			}
		}
		return out
	}
	d := &CheckDocument{
		SchemaVersion: ComparisonVersion, Baseline: c.text(file, 0), New: c.side(&checked.New),
		Added: rows(checked.Added), More: rows(checked.More), Worse: rows(checked.Worse), Expired: rows(checked.Expired),
		Known: checked.Known, KnownEntries: checked.KnownEntries, Unseen: []UnseenRow{},
		RulesChanged: checked.RulesChanged, ModsChanged: checked.ModsChanged,
	}
	for i := range checked.Unseen {
		k := &checked.Unseen[i]
		d.Unseen = append(d.Unseen, UnseenRow{
			ID: k.Signature.ID.String(), Disposition: k.Disposition, Rule: c.text(k.Rule, 0), Expires: k.Expires,
			Note: c.text(k.Note, maxShown), Template: c.template(k.Templates),
		})
	}
	return d
}

// Suspects returns the document of an investigation of d.
func (c *Comparer) Suspects(d *compare.Diff, in *compare.Investigation) *SuspectsDocument {
	out := &SuspectsDocument{
		SchemaVersion: ComparisonVersion, Old: c.side(&d.Old), New: c.side(&d.New),
		OldMods: in.Listed[compare.Old], NewMods: in.Listed[compare.New], Mods: c.mods(in.Changes), Groups: []SuspectGroup{},
	}
	for i := range in.Groups {
		s := &in.Groups[i]
		g := SuspectGroup{Group: c.row(&s.Row, false), Suspects: []SuspectRow{}, More: s.More}
		for _, m := range s.Suspects {
			row := SuspectRow{Name: c.text(m.Name, maxName), PackageID: c.text(m.PackageID, maxName), Change: m.Change, Score: m.Score, Evidence: []string{}}
			for _, e := range m.Evidence {
				row.Evidence = append(row.Evidence, c.text(e, 0))
			}
			g.Suspects = append(g.Suspects, row)
		}
		out.Groups = append(out.Groups, g)
	}
	return out
}

func (c *Comparer) mods(changes []compare.ModChange) []ModRow {
	out := []ModRow{}
	for i := range changes {
		ch := &changes[i]
		row := ModRow{
			Name: c.text(ch.Mod.Name, maxName), PackageID: c.text(ch.Mod.PackageID, maxName), Change: ch.Change,
			OldVersion: c.text(ch.OldVersion, maxName), OldPlace: ch.OldPlace, Place: ch.NewPlace,
		}
		if ch.NewPlace > 0 {
			row.Version = c.text(ch.Mod.Version, maxName)
		}
		out = append(out, row)
	}
	return out
}

// text makes text of a log, or of a rule, fit to be shown.
func (c *Comparer) text(s string, limit int) string {
	return text.Safe(c.Scrub.Text(s), limit)
}

// template returns one line for the templates of a group.
func (c *Comparer) template(templates []string) string {
	if len(templates) == 0 || templates[0] == "" {
		return "(template too long to be held)"
	}
	t := templates[0]
	for _, other := range templates[1:] {
		t = common(t, other)
	}
	return text.Safe(oneLine(c.Scrub.Text(t)), maxShown)
}

func (c *Comparer) side(t *compare.Totals) CompareSide {
	out := CompareSide{Files: []CompareFile{}, Records: t.Records, Hours: rounded(t.Hours), Uncounted: t.Uncounted}
	for _, f := range t.Files {
		file := CompareFile{File: c.text(f.Name, 0), Records: f.Records, Gaps: []CompareGap{}, MoreGaps: f.MoreGaps}
		for _, g := range f.Gaps {
			file.Gaps = append(file.Gaps, CompareGap{g.Kind, g.From, g.To, c.text(g.Rule, 0)})
		}
		out.Files = append(out.Files, file)
	}
	return out
}

func (c *Comparer) rows(rows []compare.Row, unseen bool) []CompareRow {
	out := make([]CompareRow, len(rows))
	for i := range rows {
		out[i] = c.row(&rows[i], unseen)
	}
	return out
}

func (c *Comparer) row(r *compare.Row, unseen bool) CompareRow {
	weight := &r.New
	if weight.Count == 0 {
		weight = &r.Old
	}
	out := CompareRow{
		ID: r.Signature.ID.String(), Forms: r.Forms, Template: c.template(r.Templates), Sample: c.text(firstLineOf(r.Sample), maxShown),
		Disposition: weight.Disposition, Severity: weight.Severity, Rule: c.text(weight.Rule, 0),
		Blame: safeAll(c.Scrub.texts(blame.Likely(r.Blame))), Old: c.tally(&r.Old), New: c.tally(&r.New), MayBeUnseen: unseen,
	}
	if c.Rule != nil {
		what, _ := c.Rule(weight.Rule)
		out.What = c.text(oneSpace(what), 0)
	}
	if out.Old != nil && out.New != nil {
		out.Ratio = ratio(&r.Ratio)
	} else if r.Chance > 0 {
		chance := rounded(r.Chance)
		out.Chance = &chance
	}
	return out
}

func firstLineOf(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

func (c *Comparer) tally(t *compare.Tally) *CompareTally {
	if t.Count == 0 {
		return nil
	}
	out := &CompareTally{Count: t.Count, Per1000: rounded(t.Per1000), PerHour: rounded(t.PerHour), Disposition: t.Disposition}
	for _, p := range t.First {
		out.First = append(out.First, CompareFirst{c.text(p.File, 0), p.Line})
	}
	return out
}

func ratio(r *compare.Ratio) *CompareRatio {
	if r.By == "" {
		return nil
	}
	return &CompareRatio{rounded(r.Value), rounded(r.Low), rounded(r.High), r.By}
}

// rounded keeps four digits, which is more than a count of log lines is worth.
// Infinity, which JSON lacks, is a number beyond any ratio.
func rounded(x float64) float64 {
	const most = 1e12
	switch {
	case x == 0 || math.IsNaN(x):
		return 0
	case x > most:
		return most
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-3)
	if unit < 1 { // a whole number divided is nearer than one multiplied by a fraction
		per := math.Round(1 / unit)
		return math.Round(x*per) / per
	}
	return math.Round(x/unit) * unit
}

// AppendJSON appends the document as one line of JSON.
func (d *DiffDocument) AppendJSON(dst []byte) []byte { return appendJSON(dst, d) }

// AppendJSON appends the document as one line of JSON.
func (d *CheckDocument) AppendJSON(dst []byte) []byte { return appendJSON(dst, d) }

// AppendJSON appends the document as one line of JSON.
func (d *SuspectsDocument) AppendJSON(dst []byte) []byte { return appendJSON(dst, d) }
