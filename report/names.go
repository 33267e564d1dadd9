package report

import (
	"cmp"
	"slices"

	"github.com/heedlog/heed"
)

// rename gives each mod one name, by what is known once the log has ended: a record may have named it before a list
// did, by its code or its package id. It returns what does so with an item.
func (r *Replay) rename() func(a *heed.Item) {
	if r.config.Mod == nil {
		return func(*heed.Item) {}
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
	mod := func(name *string, isMod bool) {
		if isMod {
			one(name)
		}
	}
	item := func(a *heed.Item) { a.EachText(mod) }
	r.eachKept(func(row *row) {
		row.Blame, row.patchers = all(row.Blame), all(row.patchers)
		for i := range row.accused {
			one(&row.accused[i].Name)
		}
	}, item, func(m *heed.Member) { m.EachText(mod) })
	return item
}

// eachKept calls the functions for each row, item and member of a cause that a replay keeps.
func (r *Replay) eachKept(rows func(*row), items func(*heed.Item), members func(*heed.Member)) {
	for _, t := range r.tables {
		for _, row := range t.rows.Values() {
			rows(row)
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
	for _, c := range r.causes.sums {
		items(&c.FirstItem)
		for _, m := range c.members {
			members(m)
		}
	}
}
