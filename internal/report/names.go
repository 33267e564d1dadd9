package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/internal/text"
)

// rename gives each mod one name, once the log has ended: a record may have named a mod before a list did, by its code
// or its package id. It returns a function that renames the mods of an item.
func (r *Replay) rename() func(a *heed.Item) {
	// A mod without a name in a list has the name that a record gives it, other than its package id.
	named := map[string]string{}
	for _, t := range r.tables {
		for _, row := range t.rows.Values() {
			for _, name := range row.Blame {
				if m, ok := r.config.Mod(name); ok && m.Name == "" && name != m.PackageID {
					named[m.PackageID] = moreReadable(named[m.PackageID], strings.TrimPrefix(name, text.Code))
				}
			}
		}
	}
	mod := func(name *string, isMod bool) {
		if !isMod {
			return
		}
		if m, ok := r.config.Mod(*name); ok {
			*name = cmp.Or(r.config.Scrub.Mod(m.Name), named[m.PackageID], strings.TrimPrefix(*name, text.Code))
		}
	}
	r.eachText(mod)
	return func(a *heed.Item) { a.EachText(mod) }
}

// eachText calls f for each text of a log that a replay keeps, and reports whether it names a mod.
func (r *Replay) eachText(f func(s *string, mod bool)) {
	for _, t := range r.tables {
		for _, row := range t.rows.Values() {
			row.eachText(f)
		}
		for _, a := range t.gone {
			f(&a.Name, true)
		}
	}
	for i := range r.causes.open {
		r.causes.open[i].EachText(f)
	}
	for _, c := range r.causes.sums {
		c.FirstItem.EachText(f)
		for _, m := range c.members {
			m.EachText(f)
		}
	}
}

// eachText calls f as [Replay.eachText] does.
func (r *row) eachText(f func(s *string, mod bool)) {
	all := func(texts *[]string, mods bool) {
		*texts = slices.Clone(*texts) // the engine may hold the same
		for i := range *texts {
			f(&(*texts)[i], mods)
		}
	}
	f(&r.Template, false)
	f(&r.says, false)
	all(&r.Blame, true)
	all(&r.patchers, true)
	for i := range r.accused {
		f(&r.accused[i].Name, true)
	}
	for i := range r.Detail.Sample {
		f(&r.Detail.Sample[i].Text, false)
	}
}
