package report

import (
	"cmp"
	"slices"

	"github.com/heedlog/heed/event"
)

// modsView is the list of mods of a section: in load order, but that those which the
// verdict names come first.
type modsView struct {
	Count string // "" where no mod is listed
	List  []modView
	More  uint64 // that are left out
	Named int    // of the list

	IDs, Versions bool // whether any mod has one
}

type modView struct {
	Place    int // in load order, from 1
	Title    string
	ID       string // where it is not the title
	Versions string
	Named    string // by what, in words; "" for nearly all
}

// namedWords says what names a mod, beside its name. That is no proof.
var namedWords = map[string]string{
	byFirst: "named by what broke first", byAlike: "named by a similar entry", byWorst: "named by the worst", byOther: "named elsewhere",
}

// environment tells where the log was made.
func (s *section) environment() {
	e, v := s.doc.Summary.Environment, s.doc.Summary.Verdict
	if e == nil {
		return
	}
	s.InShort = e.inShort()
	for _, fact := range facts(&e.Facts) {
		if *fact.text != "" {
			s.Facts = append(s.Facts, fieldView{fact.label, *fact.text})
		}
	}
	named := e.namedMods(v)
	m := &s.Mods
	m.Count, m.More = e.modCount(), uint64(e.MoreMods)
	for i := range e.Mods {
		mod := &e.Mods[i]
		view := modView{Place: i + 1, Title: title(mod), Versions: mod.Versions}
		if mod.Name != "" {
			view.ID = mod.PackageID
		}
		if by := named[i]; by != nil {
			view.Named = namedWords[by.By]
			if by.By == byFirst && v.First.Disposition != event.Blocking {
				view.Named = "named by the first complaint"
			}
		}
		m.List = append(m.List, view)
	}
	// In a list of hundreds nobody finds what is meant.
	slices.SortStableFunc(m.List, func(a, b modView) int { return cmp.Compare(b.rank(), a.rank()) })
	m.keep(s.share(pageMods))
}

// rank is 1 for a mod that comes before the others.
func (m *modView) rank() int {
	if m.Named != "" {
		return 1
	}
	return 0
}

// keep leaves out what is beyond the first n mods.
func (m *modsView) keep(n int) {
	kept := m.List[:min(n, len(m.List))]
	m.More += uint64(len(m.List) - len(kept))
	m.List, m.Named, m.IDs, m.Versions = kept, 0, false, false
	for i := range kept {
		if kept[i].Named != "" {
			m.Named++
		}
		m.IDs = m.IDs || kept[i].ID != ""
		m.Versions = m.Versions || kept[i].Versions != ""
	}
}
