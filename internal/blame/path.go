package blame

import (
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/frame"
)

// workshop precedes a number if nothing else is known of a mod, and
// workshopDigits is how many digits such a number has at least.
const (
	workshop       = "workshop "
	workshopDigits = 8
)

// path reads where files of mods are named in a line:
//
//	C:\Games\Some Game\Mods\Some Mod\Textures\a.png
//	C:\Games\Some Game\Loader\plugins\Author-Some_Mod\Some.dll
//	/home/u/.steam/steam/steamapps/workshop/content/123450/1234567890/About/About.xml
//	res://mods-unpacked/Author-SomeMod/panel.gd:12
func (s *scan) path(line string) {
	if len(s.files) > maxPaths || !strings.ContainsAny(line, `/\`) {
		return
	}
	label, _, _ := strings.Cut(line, ": ")
	about := strings.EqualFold(label[max(0, len(label)-len("file")):], "file")
	var above [2]string // the last two folders
	within := false     // of a path whose mod is known: a folder in a mod's folder may bear the name of another
	parts := strings.Split(strings.ReplaceAll(line, `\`, "/"), "/")
	for i, part := range parts {
		last := i == len(parts)-1
		word := part[strings.LastIndexAny(part, " :='\"(")+1:]
		name := modOf(line, above, part, word)
		switch {
		case within:
			within = part == "" || strings.IndexByte(": \"'", part[len(part)-1]) < 0
		case domains[word]: // of a class: me/author/mods/thing/Panel
			within = true
		case last && strings.HasPrefix(word, script): // a method of Python's
		case name != "":
			s.folder(name, last, about)
			within = true
		}
		if above[1] == "" {
			part = word // the rest is the text before the path
		}
		above = [2]string{above[1], part}
	}
}

// modOf returns the mod of a part of a path in a line, with two folders above it and the word at its end, "" for none.
func modOf(line string, above [2]string, part, word string) string {
	before := above[1]
	switch {
	case len(word) > 2*len(script) && strings.HasPrefix(word, script) && strings.HasSuffix(word, script):
		return strings.Trim(word, "_")
	case isModFolder(before) || before == "plugins":
		file, _, _ := strings.Cut(part, ".js") // a plugin may be one script
		return file
	case above == [2]string{"r6", "scripts"}, above[0] == "resources" && strings.HasPrefix(before, "["),
		before == "ai" && strings.Contains(line, ".nut"): // of a script in Squirrel
		return part
	case number(part) && number(before) && (len(part) >= 6 && strings.EqualFold(above[0], "content") ||
		len(part) >= workshopDigits && len(before) >= 5):
		return part
	}
	return ""
}

var modFolders = []string{"mods-unpacked", "addons", "gamemodes"}

// isModFolder reports whether a folder holds a folder for each mod. An engine has Plugins.
func isModFolder(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "mods") || strings.HasSuffix(name, "_packs") || slices.Contains(modFolders, name)
}

// script is before and after the name of a mod in the path of its script: __some-mod__/control.lua.
const script = "__"

// folder adds the folder of a mod. At the end of the line, text may
// follow it, and it may itself be a file. About reports that the line names the file
// that the record is about.
func (s *scan) folder(name string, last, about bool) {
	if last {
		name, _, _ = strings.Cut(name, " (")
		name = strings.TrimRight(name, " .,;:)]}'\"")
		if strings.Contains(name+" ", ".xml ") || strings.Contains(name+" ", ".dll ") || frame.File(name) != "" {
			return
		}
	}
	if len(name) > maxName || display(name) == "" {
		return
	}
	_, behind, _ := strings.Cut(name, "-") // its author
	rank, names := rankFolder, []string{name, behind}
	if number(name) {
		rank, names = rankNumber, []string{workshop + name}
	}
	o, ok := s.finder.owner(rank, names...)
	if !ok {
		return
	}
	if rank == rankNumber {
		o.number = strings.Clone(name) // it is learned, and a record is not kept
	}
	if slices.ContainsFunc(s.files, func(f finding) bool { return f.owner.same(&o) }) {
		return
	}
	s.files = append(s.files, finding{
		Evidence: Evidence{Path, s.line}, weight: o.doubted(weightPath), owner: o,
		about: about,
	})
}

// paths adds the folders that were found, when they are few. Where there is
// one, and it has a number for a name, it goes with the mod that the record is
// about.
func (s *scan) paths() {
	if len(s.files) > maxPaths {
		return
	}
	for _, f := range s.files {
		if f.owner.rank == rankNumber {
			switch o := s.subject(f.about); {
			case o != nil && len(s.files) == 1:
				number := f.owner.number
				f.owner = *o
				f.owner.number = number
			case o != nil:
				f.weight = min(f.weight, weightSecond) // where the mod that is named is installed, more than once
			}
		}
		if len(s.findings) < maxFindings {
			s.findings = append(s.findings, f)
		}
	}
}

// subject returns the mod that the record is about: the mod that heads the
// trace or, where the record is about a file, has its tag before it; else the
// only mod that the text names. It returns nil without one.
func (s *scan) subject(file bool) *owner {
	var named *owner
	for i := range s.findings {
		switch f := &s.findings[i]; {
		case f.Kind == Title, f.Kind == Tag && file:
			return &f.owner
		case f.Kind != Named:
		case named != nil && !named.same(&f.owner):
			return nil
		default:
			named = &f.owner
		}
	}
	return named
}

// number reports whether s consists of digits.
func number(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
