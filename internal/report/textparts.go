package report

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// causes shows what deserved attention, cause by cause.
func (t *textReport) causes() {
	all := t.Causes
	shown := min(len(all), textCauses)
	for i := range all[:shown] {
		t.cause(&all[i], i == 0)
	}
	if len(all) == shown {
		return
	}
	t.section(strong, "ALSO")
	g := grid{columns: []column{
		{title: "LINE", right: true},
		{title: "DISPOSITION", style: dispositionStyle},
		{title: "ITEMS", right: true},
		{title: "ENTRIES", right: true},
		{title: "WHAT"},
	}, minLast: 32}
	rest := all[shown:]
	for i := range rest[:min(len(rest), textAlso)] {
		c := &rest[i]
		what := c.Summary
		if len(c.Blame) > 0 {
			what += "; blame: " + blamed(c.Blame)
		}
		g.add(number(c.First), c.Disposition.String(), number(c.Items), number(c.Entries),
			what+" ("+c.Rule+c.repetition()+")")
	}
	if more := len(rest) - textAlso; more > 0 {
		g.add("...", "", "", "", fmt.Sprintf("(%d more; see --format json)", more))
	}
	t.out = g.appendTo(t.out, t.options)
}

// cause shows one cause in full.
func (t *textReport) cause(c *Cause, first bool) {
	t.section(styleOf(c.Disposition)+";1", "%s %s, first at line %d", strings.ToUpper(c.Disposition.String()),
		c.Severity, c.First)
	t.facts(c.facts(plainly, textWith, first))
	label := "sample"
	for _, s := range c.samples {
		t.labeledLine(label, s.says(s.Text))
		label = ""
	}
}

// updates prints the timeline. Updates of one item that follow its opening, or
// each other, are folded into one row with the state after the last of them.
func (t *textReport) updates() {
	total := t.Summary.Items.Updates
	if total == 0 {
		return
	}
	t.section(strong, "TIMELINE of %s", text.Count(total, "update"))
	g := grid{columns: []column{
		{title: "LINE", right: true},
		{title: "UPDATES"},
		{title: "ITEM"},
		{title: "DISPOSITION", style: dispositionStyle},
		{title: "COUNT", right: true, style: only(strong)},
		{title: "GROUPS", right: true},
		{title: "SUMMARY"},
	}, minLast: 32}
	rows := fold(t.Updates)
	if t.UpdatesLeftOut > 0 { // as many are kept of the beginning as of the end
		half := len(t.Updates) / 2
		rows = slices.Concat(fold(t.Updates[:half]), fold(t.Updates[half:]))
	}
	first, last := min(len(rows), textUpdates), max(len(rows)-textUpdates, 0)
	left := total
	for i := range rows {
		if i >= first && i < last {
			continue
		}
		r := &rows[i]
		left -= r.updates
		a := &r.last.Item
		line, kind := number(r.first.Pos), r.first.Kind
		if r.updates > 1 {
			line += "-" + number(r.last.Pos)
			kind = fmt.Sprintf("%s, %d more", kind, r.updates-1)
		}
		g.add(line, kind, safe(a.ID), a.Disposition.String()+" "+a.Severity.String(),
			number(a.TotalUrgentEntries), strconv.Itoa(a.Groups), forPeople(a.Summary))
	}
	if left > 0 {
		out := fmt.Sprintf("(%s left out; see --format jsonl)", text.Count(left, "update"))
		g.rows = slices.Insert(g.rows, first, []string{"...", "", "", "", "", "", out})
	}
	t.out = g.appendTo(t.out, t.options)
}

// updateRow is a run of updates of one item, from its opening or in its life.
type updateRow struct {
	first, last *UpdateLine
	updates     uint64
}

// fold returns the runs among updates.
func fold(updates []UpdateLine) []updateRow {
	var rows []updateRow
	for i := range updates {
		u := &updates[i]
		if n := len(rows); n > 0 && u.Kind == updated && rows[n-1].last.Item.ID == u.Item.ID {
			rows[n-1].last = u
			rows[n-1].updates++
			continue
		}
		rows = append(rows, updateRow{first: u, last: u, updates: 1})
	}
	return rows
}

// signatures prints the table of signatures, a section per disposition.
func (t *textReport) signatures() {
	t.section(strong, "SIGNATURES by disposition")
	t.explainSignatures()
	for _, d := range dispositions {
		table, rows := t.table(d), t.rows(d)
		if table.Entries == 0 {
			continue
		}
		t.printf("\n")
		heading := t.groupsHeading(d, len(rows))
		if len(rows) < table.Rows {
			heading += " (--top 0 shows all)"
		}
		t.sentence(styleOf(d), "%s", heading)
		t.out = signatureGrid(rows).appendTo(t.out, t.options)
		if dropped := table.dropped(); dropped != "" {
			t.sentence(plain, "%s", dropped)
		}
	}
}

// explainSignatures explains signatures, groups and masks.
func (t *textReport) explainSignatures() {
	if len(t.Signatures) == 0 {
		return
	}
	text := "A signature is the text of an entry"
	if slices.ContainsFunc(t.Signatures, func(r Row) bool { return strings.Contains(r.Template, signature.Mask) }) {
		text += ", with " + signature.Mask + " where it varies"
	}
	t.sentence(faint, "%s.", text)
	t.sentence(faint, "Signatures that one log statement wrote form a group; FORMS counts them.")
	if slices.ContainsFunc(t.Signatures, func(r Row) bool { return len(r.Variants) > 0 }) {
		t.sentence(faint, "What entries of a group decide differently, such as a code, stands in brackets, with counts.")
	}
}

// signatureGrid lays rows out.
func signatureGrid(rows []Row) *grid {
	return gridOf(rows, 60, []columnOf[Row]{
		{column{title: "COUNT", right: true, style: only(strong)}, func(r *Row) string { return number(r.Count) }},
		{column{title: "FIRST", right: true}, func(r *Row) string { return number(r.First) }},
		{column{title: "LAST", right: true}, func(r *Row) string { return number(r.Last) }},
		{column{title: "FORMS", right: true}, func(r *Row) string { return number(r.Forms) }},
		{column{title: "SIGNATURE", style: only(faint), log: true}, func(r *Row) string { return r.Signature.String() }},
		{column{title: "RULE", limit: 40, log: true}, func(r *Row) string { return r.Rule }},
		blameColumn(func(r *Row) []string { return r.Blame }),
		{column{title: "TEMPLATE", log: true}, func(r *Row) string { return r.varied(oneLine(r.Template)) }},
	})
}

// blameColumn shows the mods that rows name, if any does.
func blameColumn[R any](of func(*R) []string) columnOf[R] {
	c := column{title: "BLAME", limit: 24, style: only(name), log: true, optional: true}
	return columnOf[R]{c, func(r *R) string { return blamed(of(r)) }}
}

// forPeople removes the parts of an item's summary that are for an agent: where to read on, at which entry of the
// journal the item began, and which state to read again. A report has lines in place of a journal.
func forPeople(summary string) string {
	short, _, _ := strings.Cut(summary, "; see entries after ")
	short = strings.Replace(short, " state may have changed: read it again", " state may have changed", 1)
	return sinceEntry.ReplaceAllString(short, "")
}

var sinceEntry = regexp.MustCompile(`; first at entry \d+`)
