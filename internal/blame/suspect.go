package blame

import (
	"cmp"
	"fmt"
	"slices"

	texts "github.com/heedlog/heed/internal/text"
)

// Kind is a kind of evidence.
type Kind uint8

// Kinds of evidence; the package documentation has their weights.
const (
	Frame Kind = iota + 1 // code of the mod is in the trace
	Title                 // the trace is headed by the mod
	Path                  // a file of the mod is named
	Named                 // the text names the mod as one
	Type                  // the text names a type or an assembly of the mod as such
	Tag                   // the record begins with the mod's tag
	Patch                 // the mod patches a method in the trace
	kinds
)

var kindNames = [...]string{"none", "frame", "title", "path", "named", "type", "tag", "patch"}

// String returns the lower-case name of k.
func (k Kind) String() string { return kindNames[k] }

var kindDescriptions = [...]string{
	"", "its code is in the stack trace", "the stack trace begins with its name",
	"the text names one of its files", "the text names it", "the text names its code", "the text begins with its name",
	"it patches code in the stack trace",
}

// Describe returns the evidence in words: "its code is in the stack trace".
func (k Kind) Describe() string { return kindDescriptions[k] }

// MarshalText returns the name, for JSON and other encodings.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the inverse of MarshalText. An unknown name is an error.
func (k *Kind) UnmarshalText(name []byte) error {
	i := slices.Index(kindNames[:], string(name))
	if i < 0 {
		return fmt.Errorf("blame: there is no evidence %q", name)
	}
	*k = Kind(i)
	return nil
}

// Evidence is one piece of evidence against a mod.
type Evidence struct {
	Kind Kind `json:"kind" jsonschema:"What form the evidence has."`

	// Line is its line in the record, counted from 1: first the lines of the
	// message, then the lines of the stack.
	Line int `json:"line" jsonschema:"Where it stands, counting from 1: the lines of the message, then those of the stack." minimum:"1"`
}

// Suspect is a mod that a record points at.
type Suspect struct {
	// Mod is the name of the mod: the name given to [Finder.Learn], or else the
	// most readable name in the record, with letters, digits, ._-+'&!?#: and single
	// spaces only. It begins with "code: " where no list has it and no text or folder
	// gives it as a mod's: the mod is not known.
	Mod string `json:"mod" jsonschema:"Its name."`

	// PackageID and WorkshopID are known of mods that were learned.
	PackageID  string `json:"packageId,omitempty" jsonschema:"Its package id, if known."`
	WorkshopID string `json:"workshopId,omitempty" jsonschema:"Its number in the Steam Workshop, if known."`

	// Score is from 1 to 100; only its order means something.
	Score int `json:"score" jsonschema:"How much points at it; only the order means something." minimum:"1"`

	// Evidence has one piece of each kind, the strongest, by line.
	Evidence []Evidence `json:"evidence" jsonschema:"What points at it, the strongest of each kind."`
}

// What [Likely] names.
const (
	maxLikely = 2  // the first is the answer, the second a doubt; more is a list
	minLikely = 25 // no mod that only patches, or lends a type
)

// Likely returns the names of the first suspect, and of the second if it is hardly
// less likely. A suspect with patches as its only evidence is not named: popular
// methods carry patches of many mods, and all but one of them are innocent.
func Likely(suspects []Suspect) []string {
	var names []string
	for i := range suspects[:min(len(suspects), maxLikely)] {
		if s := &suspects[i]; s.Score >= minLikely && 4*s.Score >= 3*suspects[0].Score {
			names = append(names, s.Mod)
		}
	}
	return names
}

// finding is one piece of evidence against a name.
type finding struct {
	Evidence
	weight int
	owner  owner
	about  bool // of a path: the record is about this file
}

// weigh makes suspects of findings: those about one mod are joined, and the
// heaviest are kept. The order of findings of equal weight and kind does not
// matter but for the lines.
func weigh(dst []Suspect, mods []Mod, findings []finding) []Suspect {
	var mine [][]finding // those about one mod each: "is the same mod" connects names in chains
	for i := range findings {
		f := findings[i : i+1]
		mine = slices.DeleteFunc(mine, func(g []finding) bool {
			same := slices.ContainsFunc(g, func(h finding) bool { return h.owner.same(&findings[i].owner) })
			if same {
				f = slices.Concat(g, f)
			}
			return same
		})
		mine = append(mine, f)
	}
	start := len(dst)
	for _, f := range mine {
		dst = append(dst, suspect(mods, f))
	}
	found := dst[start:]
	slices.SortFunc(found, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Mod, b.Mod))
	})
	if len(found) <= maxSuspects {
		return dst
	}
	// Where the cut would fall among equals, which of them stay is no finding.
	kept := maxSuspects
	for kept > 0 && found[kept-1].Score == found[maxSuspects].Score {
		kept--
	}
	return dst[:start+kept]
}

// suspect sums up the findings about a mod.
func suspect(mods []Mod, findings []finding) Suspect {
	var best [kinds]*finding
	name := &findings[0].owner
	number := ""
	for i := range findings {
		f := &findings[i]
		if b := best[f.Kind]; b == nil || f.weight > b.weight {
			best[f.Kind] = f
		}
		if f.owner.before(name) {
			name = &f.owner
		}
		number = cmp.Or(number, f.owner.number)
	}
	s := Suspect{Mod: name.display}
	if name.mod != 0 {
		s.PackageID, s.WorkshopID = mods[name.mod-1].PackageID, mods[name.mod-1].WorkshopID
	}
	s.WorkshopID = cmp.Or(s.WorkshopID, number)
	if name.mod == 0 && best[Title] == nil && best[Path] == nil && best[Named] == nil {
		s.Mod = texts.Code + s.Mod
	}
	top, sum := 0, 0
	for _, f := range best {
		if f != nil {
			s.Evidence = append(s.Evidence, f.Evidence)
			top, sum = max(top, f.weight), sum+f.weight
		}
	}
	s.Score = top + (sum-top)/10
	slices.SortFunc(s.Evidence, func(a, b Evidence) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind))
	})
	return s
}
