package report

import (
	"fmt"

	"github.com/heedlog/heed/event"
)

// finding is a group of urgent entries that one rule judged, as the forms for
// continuous integration list them.
type finding struct {
	*row
	disposition event.Disposition
	what, why   string // of the rule, safe
}

// findings returns the top rows of what is urgent, all of them where top is not
// positive, what blocks first; and how many rows there are beyond.
func (r *Replay) findings(top int) (found []finding, left int) {
	for _, d := range dispositions {
		if !d.Urgent() {
			continue
		}
		rows := r.tables[d].top(top)
		left += r.tables[d].size() - len(rows)
		for _, row := range rows {
			f := finding{row: row, disposition: d}
			f.what, f.why = r.describe(row.Rule, row.Severity)
			found = append(found, f)
		}
	}
	return found, left
}

// maxHead bounds the part of a template's first line that names a finding, in
// characters.
const maxHead = 160

// often says how often and where.
func (f *finding) often() string {
	often := entries(f.Count)
	if f.Forms > 1 {
		often += fmt.Sprintf(" in %d forms", f.Forms)
	}
	if f.First == f.Last {
		return often + fmt.Sprintf(", line %d", f.First)
	}
	return often + fmt.Sprintf(", lines %d to %d", f.First, f.Last)
}

// wanting says, sentence by sentence, what the reader of findings should know
// about the evidence: where the log is blind or incomplete, and what is not
// listed.
func (r *Replay) wanting(left int) []string {
	sentences := r.doubts()
	if left > 0 {
		sentences = append(sentences, fmt.Sprintf("%s not listed: the least frequent ones.", verb(uint64(left), "more group is", "more groups are")))
	}
	for _, d := range dispositions {
		if n := r.tables[d].forgotten; n > 0 && d.Urgent() {
			sentences = append(sentences, fmt.Sprintf("%s (%s) did not fit into the table.", count(n, d.String()+" row"), entries(r.tables[d].forgottenEntries)))
		}
	}
	return sentences
}
