package report

import "github.com/heedlog/heed"

// rescrub takes out of what was kept the names that were learned after it was, once
// the log has ended and before groups are made: what is kept is as if all names had been
// known from the first line on.
func (r *Replay) rescrub() {
	s := r.config.Scrub
	if s == nil || !s.names.Any() {
		return
	}
	again := func(text *string) { *text = s.again(*text) }
	all := func(texts []string) {
		for i := range texts {
			again(&texts[i])
		}
	}
	again(&r.config.File)
	for _, t := range r.tables {
		for _, row := range t.rows.all() {
			again(&row.Template)
			all(row.Blame)
			all(row.patchers)
			for i := range row.mixed {
				again(&row.mixed[i].name)
			}
			if d := row.detail; d != nil {
				for i := range d.sample {
					again(&d.sample[i].text)
				}
				all(d.reason)
			}
		}
	}
	for _, updates := range [][]heed.Update{r.timeline.first, r.timeline.last} {
		for i := range updates {
			updates[i] = s.Update(updates[i])
		}
	}
	for _, it := range r.causes.open {
		it.attention = s.attention(it.attention)
	}
	for _, c := range r.causes.sums {
		c.FirstItem, c.Largest = s.attention(c.FirstItem), s.attention(c.Largest)
		for _, p := range c.parts {
			all(p.blame)
		}
	}
	for _, of := range r.causes.parts {
		for _, p := range of {
			all(p.blame)
		}
	}
}
