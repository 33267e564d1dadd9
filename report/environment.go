package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heedlog/heed/blame"
	"github.com/heedlog/heed/internal/text"
)

// Environment is where a log was made, as far as its beginning tells: the versions,
// the machine, the mods. Whoever reads a report asks for it first.
type Environment struct {
	Facts

	// Mods are those that the log lists, in load order, and MoreMods counts those
	// that are not among them.
	Mods     []Mod `json:"mods,omitempty"`
	MoreMods int   `json:"more_mods,omitempty"`
}

// Facts are what a log tells besides its mods, "" where it does not.
type Facts struct {
	Game           string `json:"game,omitempty"`     // with its version
	Engine         string `json:"engine,omitempty"`   // with its version
	Loader         string `json:"loader,omitempty"`   // of mods, with its version
	Platform       string `json:"platform,omitempty"` // that the game was built for
	Runtime        string `json:"runtime,omitempty"`  // of scripts
	Language       string `json:"language,omitempty"`
	System         string `json:"system,omitempty"` // the operating system
	CPU            string `json:"cpu,omitempty"`
	Memory         string `json:"memory,omitempty"`
	Graphics       string `json:"graphics,omitempty"` // the graphics card
	GraphicsAPI    string `json:"graphics_api,omitempty"`
	GraphicsMemory string `json:"graphics_memory,omitempty"`
	GraphicsDriver string `json:"graphics_driver,omitempty"`
	Arguments      string `json:"arguments,omitempty"` // of the command line
}

// Mod is a mod as a log lists it. What the log does not tell is "".
type Mod struct {
	Name      string `json:"name,omitempty"`
	PackageID string `json:"package_id,omitempty"`
	Versions  string `json:"versions,omitempty"` // of the mod and of its assemblies, as they are written
}

// The bounds of what every form shows, in characters.
const (
	maxFactText     = 200
	maxModVersions  = 120
	maxModReference = 100 // of a name or a package id
)

// clean returns e without what is private in it, and fit to be shown; nil where
// nothing is known.
func (e Environment) clean(s *Scrubber) *Environment {
	for _, fact := range e.facts() {
		*fact.text = text.Safe(s.Text(*fact.text), maxFactText)
	}
	mods := make([]Mod, len(e.Mods))
	for i, m := range e.Mods {
		mods[i] = Mod{
			Name:      text.Safe(s.Text(m.Name), maxModReference),
			PackageID: text.Safe(s.Text(m.PackageID), maxModReference),
			Versions:  text.Safe(s.Text(m.Versions), maxModVersions),
		}
	}
	if e.Mods = mods; len(mods) == 0 {
		e.Mods = nil
		if e.Facts == (Facts{}) && e.MoreMods == 0 {
			return nil
		}
	}
	return &e
}

// factRef is one of the facts, with what people call it.
type factRef struct {
	label string
	text  *string
}

// facts returns all facts in the order in which they are shown.
func (f *Facts) facts() []factRef {
	return []factRef{
		{"Game", &f.Game},
		{"Engine", &f.Engine},
		{"Mod loader", &f.Loader},
		{"Built for", &f.Platform},
		{"System", &f.System},
		{"Scripts", &f.Runtime},
		{"Language", &f.Language},
		{"Processor", &f.CPU},
		{"Memory", &f.Memory},
		{"Graphics", &f.Graphics},
		{"Graphics API", &f.GraphicsAPI},
		{"Graphics memory", &f.GraphicsMemory},
		{"Graphics driver", &f.GraphicsDriver},
		{"Arguments", &f.Arguments},
	}
}

// inShort returns the facts that are asked for first.
func (f *Facts) inShort() []string {
	system := f.System
	if system == "" && f.Platform != "" {
		system = f.Platform + " build"
	}
	var short []string
	for _, fact := range [...]string{f.Game, f.Engine, f.Loader, system, f.Graphics} {
		if fact != "" {
			short = append(short, fact)
		}
	}
	return short
}

// line joins what is asked for first to a line that may be cut at its end, "" where
// nothing of it is known.
func (e *Environment) line() string {
	if e == nil {
		return ""
	}
	parts := e.inShort()
	if mods := e.modCount(); mods != "" {
		parts = slices.Insert(parts, min(len(parts), 1), mods)
	}
	return strings.Join(parts, ", ")
}

// modCount says how many mods there are, "" where none is listed.
func (e *Environment) modCount() string {
	if n := len(e.Mods) + e.MoreMods; n > 0 {
		return count(uint64(n), "mod")
	}
	return ""
}

// title is what a mod is called.
func (m *Mod) title() string { return cmp.Or(m.Name, m.PackageID) }

// namedMods returns, for the mods of an environment that a verdict names, by their
// index, what names them. A verdict may have a mod by its name, its package id or the
// last part of that, which counts where no other mod ends with it.
func (e *Environment) namedMods(v *Verdict) map[int]*VerdictMod {
	if e == nil || len(v.Mods) == 0 {
		return nil
	}
	const several = -1
	whole, ends := map[string]int{}, map[string]int{}
	for i := range e.Mods {
		m := &e.Mods[i]
		for _, name := range [...]string{m.Name, m.PackageID} {
			if _, ok := whole[blame.Key(name)]; name != "" && !ok {
				whole[blame.Key(name)] = i
			}
		}
		end := blame.Key(m.PackageID[strings.LastIndexByte(m.PackageID, '.')+1:])
		if _, ok := ends[end]; ok {
			ends[end] = several
		} else {
			ends[end] = i
		}
	}
	named := map[int]*VerdictMod{}
	for i := range v.Mods {
		key := blame.Key(v.Mods[i].Name)
		if key == "" {
			continue
		}
		at, ok := whole[key]
		if !ok {
			at, ok = ends[key]
		}
		if ok && at != several && named[at] == nil {
			named[at] = &v.Mods[i]
		}
	}
	return named
}
