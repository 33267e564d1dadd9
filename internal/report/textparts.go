package report

import (
	"fmt"
	"slices"
	"strings"

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
	rest := all[shown:]
	g := gridOf(top(rest, textAlso), 32, []columnOf[Cause]{
		{column{title: "LINE", right: true}, func(c *Cause) string { return number(c.First) }},
		{column{title: "DISPOSITION", style: dispositionStyle}, func(c *Cause) string { return c.Disposition.String() }},
		{column{title: "ITEMS", right: true}, func(c *Cause) string { return number(c.Items) }},
		{column{title: "ENTRIES", right: true}, func(c *Cause) string { return number(c.Entries) }},
		{column{title: "WHAT"}, func(c *Cause) string {
			what := c.Summary
			if len(c.Blame) > 0 {
				what += "; blame: " + blamed(c.Blame)
			}
			return what + " (" + c.Rule + c.repetition() + ")"
		}},
	})
	if more := len(rest) - textAlso; more > 0 {
		g.rows = append(g.rows, []string{"...", "", "", "", fmt.Sprintf("(%d more; see --format json)", more)})
	}
	t.grid(g)
}

// cause shows one cause in full.
func (t *textReport) cause(c *Cause, first bool) {
	t.section(styleOf(c.Disposition)+";1", "%s %s, first at line %d", strings.ToUpper(c.Disposition.String()),
		c.Severity, c.First)
	t.facts(c.facts(plainly, textWith, first))
	label := "sample"
	for _, s := range c.Samples {
		t.labeledLine(label, s.says(s.Text))
		label = ""
	}
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
		t.grid(signatureGrid(rows))
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
