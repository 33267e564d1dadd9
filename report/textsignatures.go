package report

import (
	"fmt"
	"slices"
)

// signatures prints the table of signatures, a section per disposition.
func (t *textReport) signatures() {
	t.section(strong, "SIGNATURES by disposition")
	for _, d := range dispositions {
		table := t.tables[d]
		if table.entries == 0 {
			continue
		}
		rows := table.top(t.options.Top)
		held := table.size()
		heading := fmt.Sprintf("%s: %s of %s", d, entries(table.entries), count(uint64(table.rows.Len())+table.forgotten, "signature"))
		if held < table.rows.Len() {
			heading += " in " + count(uint64(held), "group")
		}
		if len(rows) < held {
			heading += fmt.Sprintf(", the %d most frequent (--top 0 shows all)", len(rows))
		}
		t.printf("\n")
		t.sentence(styleOf(d), "%s", heading)
		g := grid{columns: []column{
			{title: "COUNT", right: true, style: only(strong)},
			{title: "FIRST", right: true},
			{title: "LAST", right: true},
			{title: "FORMS", right: true},
			{title: "SIGNATURE", style: only(faint)},
			{title: "RULE", limit: 40},
			{title: "TEMPLATE"},
		}, minLast: 60, color: t.options.Color}
		blame := slices.ContainsFunc(rows, func(r *row) bool { return len(r.Blame) > 0 })
		if blame {
			g.columns = slices.Insert(g.columns, 6, column{title: "BLAME", limit: 24, style: only(name)})
		}
		for _, row := range rows {
			cells := []string{number(row.Count), number(row.First), number(row.Last), number(row.Forms), row.Signature.ID.String(), row.Rule}
			if blame {
				cells = append(cells, blamed(row.Blame))
			}
			g.add(append(cells, oneLine(row.Template))...)
		}
		t.out = g.appendTo(t.out, t.options.Width)
		if table.forgotten > 0 {
			t.sentence(plain, "%s with %s did not fit into the table; a row that was forgotten and came back shows less than there was",
				count(table.forgotten, "row"), entries(table.forgottenEntries))
		}
	}
}
