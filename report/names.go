package report

import (
	"cmp"
	"slices"

	"github.com/heedlog/heed"
)

// rename gives each mod one name, by what is known once the log has ended: a record may have named it before a list
// did, by its code or its package id. It returns what does so with further names.
func (r *Replay) rename() func(names []string) []string {
	if r.config.Mod == nil {
		return func(names []string) []string { return names }
	}
	// Of a mod that no list gives a name, that is what a record calls it besides its package id.
	named := map[string]string{}
	for _, t := range r.tables {
		for _, row := range t.rows.Values() {
			for _, name := range row.Blame {
				if m, ok := r.config.Mod(name); ok && m.Name == "" && name != m.PackageID {
					named[m.PackageID] = moreReadable(named[m.PackageID], name)
				}
			}
		}
	}
	known := map[string]string{}
	one := func(name *string) {
		to, ok := known[*name]
		if !ok {
			to = *name
			if m, ok := r.config.Mod(*name); ok {
				to = cmp.Or(r.config.Scrub.Text(m.Name), named[m.PackageID], *name)
			}
			known[*name] = to
		}
		*name = to
	}
	all := func(names []string) []string {
		names = slices.Clone(names) // the engine may hold the same
		for i := range names {
			one(&names[i])
		}
		return names
	}
	r.eachKept(func(row *row) {
		row.Blame, row.patchers = all(row.Blame), all(row.patchers)
		for i := range row.mixed {
			one(&row.mixed[i].name)
		}
	}, func(a *heed.Item) {
		a.EachText(func(name *string, mod bool) {
			if mod {
				one(name)
			}
		})
	}, func(names *[]string) { *names = all(*names) })
	return all
}

// eachKept calls the functions for each row, item and list of mods that a replay keeps.
func (r *Replay) eachKept(rows func(*row), items func(*heed.Item), names func(*[]string)) {
	for _, t := range r.tables {
		for _, row := range t.rows.Values() {
			rows(row)
		}
	}
	for _, n := range []*run{&r.run, &r.earlier} {
		for _, p := range n.problems {
			rows(p.began) // the table may have evicted them
			rows(p.loudest)
		}
	}
	for _, updates := range [][]heed.Update{r.timeline.first, r.timeline.last} {
		for i := range updates {
			items(&updates[i].Item)
		}
	}
	for _, it := range r.causes.open {
		items(&it.attention)
	}
	each := func(of parts) {
		for _, p := range of {
			names(&p.blame)
		}
	}
	for _, c := range r.causes.sums {
		items(&c.FirstItem)
		items(&c.Largest)
		names(&c.Blame)
		each(c.parts)
	}
	for _, of := range r.causes.parts {
		each(of)
	}
}
