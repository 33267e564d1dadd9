package capture

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heedlog/heed/capture/internal/modlist"
	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/internal/blame"
)

// Mod is a mod as a list names it. The name or the package id may be empty.
type Mod = blame.Mod

// ListedMod is a mod of a list with the versions that the list gives.
type ListedMod struct {
	Mod

	// Versions are as they are written, "[mv:1.2.0]" of the mod and "2.2.1" or
	// "av:1.0.0,fv:1.0.0" of its assemblies, in that order and separated by spaces.
	// An assembly without one has none here.
	Versions string `json:"versions,omitempty" jsonschema:"Versions of the mod and of its assemblies, as the log has them."`
}

// ModList has the mods of a game that a record lists. It may be retained.
type ModList struct {
	// Mods are in load order, without those that an earlier record of the capture
	// listed with the version. In an upload, only its header lists any. A record that is delivered in parts
	// (see [Stream]) has the mods of the lines that came.
	Mods []ListedMod

	// Omitted is how many more there were, beyond the bounds of a [Reader].
	Omitted int

	again []bool // of each mod, whether it was listed without its version
}

// Plain returns the mods of the list as an engine learns them: without versions. The slice is new.
func (l *ModList) Plain() []Mod {
	mods := make([]Mod, len(l.Mods))
	for i := range l.Mods {
		mods[i] = l.Mods[i].Mod
	}
	return mods
}

// AppendTo appends the mods of the list to the mods of earlier lists. A mod that had no version gets it.
func (l *ModList) AppendTo(mods []ListedMod) []ListedMod {
	var places map[string]int // of the earlier mods
	if slices.Contains(l.again, true) {
		places = make(map[string]int, len(mods))
		for i := range mods {
			places[mods[i].key()] = i
		}
	}
	for i := range l.Mods {
		if i < len(l.again) && l.again[i] { // else a list of a program, or a new mod
			if at, ok := places[l.Mods[i].key()]; ok {
				mods[at] = l.Mods[i]
				continue
			}
		}
		mods = append(mods, l.Mods[i])
	}
	return mods
}

// The bounds of the lists of a capture, several times the usual number. Texts have bounds
// of their own: the header of an upload is longer than any record, and
// its mods matter to all later records.
const (
	maxMods     = 4096
	maxModsText = 1 << 20
	maxModText  = 16 << 10
)

// modLists reads lists of mods line by line, also where the text is cut of the
// records that hold them:
//
//	Loaded mods:                                      in the header of an upload
//	Some Mod(author.somemod)[mv:1.2.0]: SomeLib(2.2.1), SomeMod(av:1.0.0,fv:1.2.0)
//
//	Loading game from file Autosave-1 with mods:      set in, with a mark
//	  - author.somemod
//
//	[12:34:56 INFO  SMAPI] Loaded 2 mods:             with the prefix of the line above
//	[12:34:56 INFO  SMAPI]    Some Mod 1.2.0 by Author | What it does
//
// and the reports of package modlist.
type modLists struct {
	form   listForm
	prefix int // how many bytes a logger put before the text of the line that announced items

	from   int  // records of the input before the run
	silent bool // see [format.Format]
	early  bool // the log begins: programs report the mods that they load
	upload bool // the list of an upload was read: it is whole, and nothing else adds to it

	list  *ModList        // of the open record; nil where it names no mod
	known map[string]bool // key of each mod that was listed, and whether with its version
	text  int             // bytes kept of all
	blind bool            // lines may be the beginnings of others: nothing is to be learned

	words, first string // of the first line of a form that needs a second one, and the line
}

// restart begins another run, whose mods are reported again: once for each run.
func (m *modLists) restart(records int) {
	clear(m.known)
	*m = modLists{blind: m.blind, known: m.known, from: records}
}

// listForm is the form of the list that is being read.
type listForm uint8

const (
	formNone  listForm = iota
	formMods           // the mods in the header of an upload
	formItems          // announced by a line
)

// mayBegin reports whether begin has something to look for in the first line of a
// record, after so many. Nearly all are spared the call.
func (m *modLists) mayBegin(line string, records int) bool {
	m.early = !m.silent && records-m.from <= maxBeginning
	ends := strings.IndexByte(": \t", line[len(line)-1]) >= 0
	return m.form != formNone || !m.upload && (ends || m.early)
}

// begin looks at the first line of a record, which with header set is the
// header of an upload.
func (m *modLists) begin(line string, header bool) {
	prefixed := m.prefix > 0 && len(line) > m.prefix && line[m.prefix-1:m.prefix+1] == "  "
	if m.form == formItems &&
		(prefixed && (m.setIn(line[m.prefix-1:]) || m.item(line[m.prefix:], false)) || m.setIn(line)) {
		return
	}
	m.form = formNone
	prefix, isHeading := modlist.Heading(line)
	switch {
	case header:
		m.form = formMods
	case m.upload:
	case isHeading:
		m.form, m.prefix = formItems, prefix
	case m.early:
		m.report(line)
	}
}

// report looks for the mods that a program reports in a line, maybe with the line before.
func (m *modLists) report(line string) {
	mods, words, isSure := modlist.Read(line)
	switch {
	case isSure:
	case len(mods) > 0 && (m.words != words || words == modlist.Author):
		m.words, m.first = strings.Clone(words), strings.Clone(line)
		return
	case m.words == words && m.first != "":
		before, _, _ := modlist.Read(m.first)
		mods, m.first = append(before, mods...), ""
	}
	for i := range mods {
		m.add(&ListedMod{Mod: mods[i].Mod, Versions: mods[i].Version})
	}
}

// item adds the item of a list in a text, and returns false for a text that is none. A column gives a version or an id.
func (m *modLists) item(text string, isColumn bool) bool {
	var item modlist.Mod
	_, ok := item.Read(text)
	if ok = ok && (!isColumn || item.Version+item.PackageID != ""); ok {
		m.add(&ListedMod{Mod: item.Mod, Versions: item.Version})
	}
	return ok
}

// setIn adds the items in a line that is set in: after a mark, or a row of a table.
func (m *modLists) setIn(line string) (found bool) {
	t := strings.TrimLeft(line, " \t")
	if len(t) == len(line) || t == "" {
		return false
	}
	switch mark, list, _ := strings.Cut(t, " "); mark {
	case "-", "*", "•":
		for item := range strings.SplitSeq(list, "), ") {
			found = m.item(item, false) || found
		}
		return found
	}
	return isLetter(t[0]) && m.item(t, true)
}

// line looks at a further line of a record. With formNone there is
// nothing to look for.
func (m *modLists) line(line string) {
	var mod ListedMod
	switch m.form {
	case formMods:
		switch {
		case strings.HasPrefix(line, rimworld.UploadPatches):
			m.form = formNone
		case mod.parse(line):
			m.upload = true
			m.add(&mod)
		}
	case formItems:
		m.setIn(line)
	case formNone:
		if _, ok := modlist.Heading(line); ok {
			m.form, m.prefix = formItems, 0
		}
	}
}

// message looks at the text of a record that was not read line by line.
func (m *modLists) message(message string, header bool, records int) {
	line, rest, more := strings.Cut(message, "\n")
	line = strings.TrimRight(line, "\r")
	if line != "" && (header || m.mayBegin(line, records)) {
		m.begin(line, header)
	}
	for more && m.form != formNone {
		line, rest, more = strings.Cut(rest, "\n")
		m.line(strings.TrimRight(line, "\r"))
	}
}

// add adds a mod. Its strings may alias buffers that are reused.
func (m *modLists) add(mod *ListedMod) {
	key := mod.key()
	versioned, isKnown := m.known[key]
	if m.blind || isKnown && (versioned || mod.Versions == "") {
		return
	}
	size := len(mod.Name) + len(mod.PackageID) + len(mod.Versions)
	for _, a := range mod.Assemblies {
		size += len(a)
	}
	if m.list == nil {
		m.list = &ModList{}
	}
	if !isKnown && len(m.known) == maxMods || size > maxModText || m.text+size > maxModsText {
		m.list.Omitted++
		return
	}
	if m.known == nil {
		m.known = make(map[string]bool, 256) // a usual list
	}
	m.text += size
	m.known[key] = mod.Versions != ""
	mod.Name, mod.PackageID = strings.Clone(mod.Name), strings.Clone(mod.PackageID)
	mod.Versions = strings.Clone(mod.Versions)
	for i, a := range mod.Assemblies {
		mod.Assemblies[i] = strings.Clone(a)
	}
	m.list.Mods, m.list.again = append(m.list.Mods, *mod), append(m.list.again, isKnown)
}

// key is the same for all names of a mod; one without letters stays as it is.
func (m *ListedMod) key() string {
	name := cmp.Or(m.PackageID, m.Name)
	if key := blame.Key(name); key != "" {
		return key
	}
	return strings.Clone(name)
}

// parse reads a line of the list in the header of an upload: the name, the package id in parentheses, versions in
// brackets, a colon, the assemblies. The name itself may have parentheses, brackets and colons. A line whose name was
// lost names no mod.
func (m *ListedMod) parse(line string) bool {
	end := len(line)
	for open := strings.LastIndexByte(line, '('); open > 0; open, end = strings.LastIndexByte(line[:open], '('), open {
		id, rest, _ := strings.Cut(line[open+1:end], ")")
		after := rest
		for strings.HasPrefix(after, "[") && strings.Contains(after, "]") {
			_, after, _ = strings.Cut(after, "]")
		}
		if !strings.HasPrefix(after, ": ") || id == "" || strings.Contains(id, " ") {
			continue
		}
		m.Name, m.PackageID = strings.TrimSpace(line[:open]), id
		versions := []string{rest[:len(rest)-len(after)]}
		for part := range strings.SplitSeq(strings.TrimRight(line[end-len(after)+2:], " \t\r"), ", ") {
			if open := strings.LastIndexByte(part, '('); open > 0 {
				m.Assemblies = append(m.Assemblies, part[:open])
				versions = append(versions, strings.TrimSuffix(part[open+1:], ")"))
			}
		}
		m.Versions = strings.TrimPrefix(strings.Join(versions, " "), " ")
		return !strings.HasSuffix(line[:open], rimworld.NoAssemblies)
	}
	return false
}
