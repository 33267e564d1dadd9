package report

import (
	"cmp"
	"slices"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
)

// Environment is where a log was made, as far as that is known: the versions, the machine, the mods. Readers of
// a report look for it first.
type Environment struct {
	capture.Facts

	Mods     []capture.ListedMod `json:"mods,omitempty" jsonschema:"The mods that the log lists, in load order."`
	MoreMods int                 `json:"moreMods,omitempty" jsonschema:"How many more mods there are."`
}

// The bounds of what every form shows, in characters.
const (
	maxFactText     = 200
	maxModVersions  = 120
	maxModReference = 100 // of a name or a package id
)

// clean returns e scrubbed and escaped, nil where nothing is known.
func (e Environment) clean(s *Scrubber) *Environment {
	for _, fact := range facts(&e.Facts) {
		*fact.Text = text.Safe(s.Text(*fact.Text), maxFactText)
	}
	var mods []capture.ListedMod
	for _, m := range e.Mods {
		of := capture.Mod{
			Name:       text.Safe(s.Mod(m.Name), maxModReference),
			PackageID:  text.Safe(s.Mod(m.PackageID), maxModReference),
			WorkshopID: text.Safe(s.Text(m.WorkshopID), maxModReference),
		}
		mods = append(mods, capture.ListedMod{Mod: of, Versions: text.Safe(s.Mod(m.Versions), maxModVersions)})
	}
	if e.Mods = mods; mods == nil && e.Facts == (capture.Facts{}) && e.MoreMods == 0 {
		return nil
	}
	return &e
}

// factRef is one of the facts, with what people call it.
type factRef struct {
	Label string
	Text  *string
}

// facts returns all of them in the order in which they are shown.
func facts(f *capture.Facts) []factRef {
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

// Known returns the facts that are known.
func (e *Environment) Known() []factRef {
	return slices.DeleteFunc(facts(&e.Facts), func(f factRef) bool { return *f.Text == "" })
}

// inShort returns the facts that are asked for first, and how many mods there are.
func (e *Environment) inShort(w voice, t texts) []string {
	if e == nil {
		return nil
	}
	f := &e.Facts
	system := f.System
	if system == "" && f.Platform != "" {
		system = t.say("%s build", f.Platform)
	}
	var short []string
	for _, fact := range [...]string{f.Game, f.Engine, f.Loader, system, f.Graphics} {
		if fact != "" {
			short = append(short, w.code(fact, 0))
		}
	}
	if mods := e.modCount(t); mods != "" {
		short = slices.Insert(short, min(len(short), 1), mods)
	}
	return short
}

// modCount returns how many mods there are, "" where none is listed.
func (e *Environment) modCount(t texts) string {
	if n := len(e.Mods) + e.MoreMods; n > 0 {
		return t.one(uint64(n), "%d mod", "%d mods", n)
	}
	return ""
}

// title returns the name of a mod, or its package id.
func title(m *capture.ListedMod) string { return cmp.Or(m.Name, m.PackageID) }

// namedMods returns, for the mods of an environment that a verdict names, by their index, what names them, in words:
// that is no proof. A verdict has a mod by its name or its package id.
func (e *Environment) namedMods(v *verdict) map[int]string {
	if e == nil || len(v.Causes) == 0 {
		return nil
	}
	named := map[int]string{}
	name := func(mods []verdictMod, by string) {
		for _, m := range mods {
			is := func(s string) bool {
				key := blame.Key(s)
				return key != "" && (key == blame.Key(m.Name) || key == blame.Key(m.PackageID))
			}
			at := slices.IndexFunc(e.Mods, func(l capture.ListedMod) bool { return is(l.Name) || is(l.PackageID) })
			if at >= 0 && named[at] == "" {
				named[at] = by
			}
		}
	}
	for i := range v.Causes {
		name(v.Causes[i].Mods, "named by: "+v.label(&v.Causes[i]))
	}
	name(v.Mods, "named elsewhere")
	return named
}
