package blame

import (
	"cmp"
	"strings"

	texts "github.com/heedlog/heed/internal/text"
)

// Mod describes a mod as a list or its own files do. Any part may be empty.
type Mod struct {
	Name       string   `json:"name,omitempty" jsonschema:"Its name."`
	PackageID  string   `json:"packageId,omitempty" jsonschema:"Its package id."`                    // such as "author.modname"
	WorkshopID string   `json:"workshopId,omitempty" jsonschema:"Its number in the Steam Workshop."` // digits
	Assemblies []string `json:"-"`                                                                   // names without ".dll", and namespaces
}

// Title returns the name of a mod, or else its package id.
func (m *Mod) Title() string { return cmp.Or(m.Name, m.PackageID) }

// Link returns the address of the mod's page in the Steam Workshop, "" where its number is not known.
func (m *Mod) Link() string {
	if !number(m.WorkshopID) || len(m.WorkshopID) > maxWorkshopDigits {
		return ""
	}
	return "https://steamcommunity.com/sharedfiles/filedetails/?id=" + m.WorkshopID
}

// maxWorkshopDigits is how many digits a number of the Steam Workshop has at most: it has 64 bits.
const maxWorkshopDigits = 20

// Learn learns a mod that records may name. It keeps copies. Mods with one package id are
// one, and so are those whose names differ in case, spaces and punctuation alone; what either does
// not know, the other adds. A mod whose name collides with GameCode goes by its assembly or
// package id. It returns false, and learns nothing, when there is no room, or the mod has no name
// that could be shown.
func (f *Finder) Learn(m Mod) bool {
	id := display(stem(m.PackageID))
	name := cmp.Or(display(m.Name), id)
	if name == "" {
		return false
	}
	passes := f.Passes(name)
	switch {
	case f.isGameCode(m.PackageID):
		name = ""
	case passes:
		name = f.otherName(&m)
	}
	n := cmp.Or(f.ids[fold(id)], f.names[fold(name)])
	if n == 0 && len(f.mods) >= maxMods {
		return false
	}
	if n == 0 {
		f.mods = append(f.mods, Mod{})
		n = len(f.mods)
	}
	known := &f.mods[n-1]
	// Of names that differ in case, spaces and punctuation alone, the longest is shown, in whichever order they come.
	readable := cmp.Or(cmp.Compare(len(name), len(known.Name)), cmp.Compare(known.Name, name)) > 0
	if name != id && name != "" && (known.Name == "" || readable && fold(known.Name) == fold(name)) {
		known.Name = name
		f.lessons++
	}
	if name != "" {
		known.PackageID = cmp.Or(known.PackageID, id)
		f.name(name, n)
	}
	if number(m.WorkshopID) {
		known.WorkshopID = cmp.Or(known.WorkshopID, strings.Clone(m.WorkshopID[:min(len(m.WorkshopID), maxWorkshopDigits)]))
		f.alias(f.index, workshop+known.WorkshopID, n)
	}
	if !passes {
		f.alias(f.index, m.Name, n)
	}
	f.learnID(stem(m.PackageID), n)
	for _, a := range m.Assemblies[:min(len(m.Assemblies), maxAssemblies)] {
		f.alias(f.index, a, n)
	}
	return true
}

// Lessons returns a number that grows with each mod that taught something: answers at a lower one may be outdated.
func (f *Finder) Lessons() int { return f.lessons }

// LearnAll says that n of the mods that were learned came from a complete list: once there
// are a few of them, a tag that names no mod is none's. It returns whether that is so.
func (f *Finder) LearnAll(n int) bool {
	f.inLists += n
	return f.whole()
}

func (f *Finder) whole() bool { return f.inLists >= minList }

// minList is how many mods a list has at least that counts as whole.
const minList = 3

// learnID learns the package id of mod n, and what code may be called after it: its end, as in
// VFE.Empire of author.vfe.empire, and its beginning, unless another mod has them.
func (f *Finder) learnID(id string, n int) {
	key := fold(id)
	if key == "" {
		return
	}
	f.ids[key] = cmp.Or(f.ids[key], n)
	f.alias(f.index, id, n)
	first, rest, ok := strings.Cut(id, ".")
	if ok && letters(first) >= 3 && !domains[first] {
		f.alias(f.authors, first, n)
	}
	for ok {
		if len(fold(rest)) >= minPart {
			f.alias(f.hints, rest, n)
		}
		_, rest, ok = strings.Cut(rest, ".")
	}
}

// name remembers that mod n is shown by a name.
func (f *Finder) name(name string, n int) {
	if key := fold(name); key != "" && f.names[key] == 0 {
		f.names[key] = n
		f.lessons++
	}
}

// alias remembers in names that mod n goes by one. What several go by is no one's.
func (f *Finder) alias(names map[string]int, name string, n int) {
	key := fold(name)
	old := names[key]
	if key == "" || old == n || old == ambiguous {
		return
	}
	if old != 0 {
		n = ambiguous
	}
	names[key] = n
	f.lessons++
}

// stem returns a package id without the suffix that the game adds if a mod is
// installed more than once.
func stem(id string) string {
	for _, suffix := range [...]string{"_steam", "_copy", "_local"} {
		if cut, ok := strings.CutSuffix(id, suffix); ok {
			return cut
		}
	}
	return id
}

// Mod returns the mod that [Finder.Find] calls name, or that goes by it, and
// false without one. Assemblies are not returned.
func (f *Finder) Mod(name string) (Mod, bool) {
	name = strings.TrimPrefix(name, texts.Code)
	n := cmp.Or(f.names[fold(name)], f.known(name), f.hint(name))
	if id, ok := strings.CutPrefix(name, workshop); n == 0 && ok && number(id) {
		return Mod{Name: name, WorkshopID: id}, true
	}
	if n == 0 || f.mods[n-1].Title() == "" {
		return Mod{}, false
	}
	return f.mods[n-1], true
}

// Called returns the present name of a suspect that was found by name.
func (f *Finder) Called(name string) string {
	m, ok := f.Mod(name)
	if !ok {
		return name
	}
	return cmp.Or(m.Name, strings.TrimPrefix(name, texts.Code))
}

// hint returns the mod whose package id ends with a name, by its number, and 0 when there is none or more than one.
func (f *Finder) hint(name string) int {
	return max(0, f.hints[fold(name)])
}

// listed sets the name by which the mod of o is shown. If only its package id is known, that is the
// name in the record, if there is one.
func (f *Finder) listed(o *owner) {
	m := &f.mods[o.mod-1]
	if key := fold(o.display); m.Name != "" || m.PackageID == "" || f.ids[key] != 0 ||
		f.authors[key] != 0 && f.hints[key] <= 0 || o.rank == rankNumber || o.rank == rankPhrase {
		o.display = m.Title()
	}
	o.rank = rankListed
}

// goesBy reports whether one of the mods goes by a name.
func (f *Finder) goesBy(name string) bool { return f.known(name) != 0 || f.hint(name) != 0 }

// LearnNames remembers the names of suspects, for mods with only a known package id: the
// first name stays. So one mod has one name, in whichever way later records name it. And it remembers the
// numbers of folders that were found with a name.
func (f *Finder) LearnNames(suspects []Suspect) {
	for i := range suspects {
		s := &suspects[i]
		n := f.ids[fold(s.PackageID)]
		switch {
		case n != 0 && f.mods[n-1].Name == "" && f.mods[n-1].PackageID != "" && f.ids[fold(s.Mod)] == 0:
			f.mods[n-1].Name = s.Mod
			f.name(s.Mod, n)
		case n == 0 && s.WorkshopID != "" && f.names[fold(s.Mod)] == 0 && fold(s.Mod) != fold(workshop+s.WorkshopID):
			f.Learn(Mod{Name: s.Mod, WorkshopID: s.WorkshopID})
			continue
		}
		n = cmp.Or(n, f.names[fold(s.Mod)])
		if n != 0 && s.WorkshopID != "" && f.mods[n-1].WorkshopID == "" && f.mods[n-1].Title() != "" {
			f.mods[n-1].WorkshopID = s.WorkshopID
			f.alias(f.index, workshop+s.WorkshopID, n)
		}
	}
}

// minTag is how many letters and digits the prefix of a name has at least that names a mod.
const minTag = 4
