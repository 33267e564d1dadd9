package capture

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/heedlog/heed/capture/format"
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
	// listed. In an upload, only its header lists any. A record that is delivered in parts
	// (see [Stream]) has the mods of the lines that came.
	Mods []ListedMod

	// Omitted is how many more there were, beyond the bounds of a [Reader].
	Omitted int
}

// Plain returns the mods of the list as an engine learns them: without versions. The slice is new.
func (l *ModList) Plain() []Mod {
	mods := make([]Mod, len(l.Mods))
	for i := range l.Mods {
		mods[i] = l.Mods[i].Mod
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
//	[Info   :   BepInEx] Loading [Some Mod 1.2.0]     one by one
//	[12:34:56] Loaded plugin Some Mod v1.2.0 by Author
//	[12:34:56] Loaded mods: Some Mod v1.2.0, Other Mod v2.0
//	[00:00:08]: Mod: workshop-1234567890 (Some Mod)	Loading modmain.lua
type modLists struct {
	form   listForm
	prefix int // how many bytes a logger put before the text of the line that announced items

	upload bool // the list of an upload was read: it is whole, and nothing else adds to it

	list  *ModList        // of the open record; nil where it names no mod
	known map[string]bool // key of each mod that was listed
	text  int             // bytes kept of all
	blind bool            // lines may be the beginnings of others: nothing is to be learned

	own func(line string) (name, version string, ok bool) // the form of the family's log; nil for none
}

// restart begins another run, whose mods are reported again: once for each run.
func (m *modLists) restart() {
	clear(m.known)
	*m = modLists{blind: m.blind, known: m.known, own: m.own}
}

// listForm is the form of the list that is being read.
type listForm uint8

const (
	formNone   listForm = iota
	formHeader          // the header of an upload, above its mods
	formMods            // the mods of a header
	formItems           // announced by a line
)

// mayBegin reports whether begin has something to look for in the first line of a
// record, and early that the log begins there. Nearly all are spared the call.
func (m *modLists) mayBegin(line string, early bool) bool {
	if m.form != formNone {
		return true
	}
	if m.upload {
		return false
	}
	ends := strings.IndexByte(": \t", line[len(line)-1]) >= 0
	return ends || m.own != nil || early && strings.Contains(line, "oad")
}

// begin looks at the first line of a record, which with header set is the
// header of an upload.
func (m *modLists) begin(line string, header bool) {
	var mod ListedMod
	if m.form == formItems && (m.prefix > 0 && mod.parseItem(prefixedItem(line, m.prefix)) || mod.parseColumns(line)) {
		m.add(&mod)
		return
	}
	m.form = formNone
	switch {
	case header:
		m.form = formHeader
		m.line(line)
		return
	case m.upload:
		return
	}
	if m.own != nil {
		if name, version, ok := m.own(line); ok {
			mod.Name, mod.Versions = name, version
			m.add(&mod)
			return
		}
	}
	if prefix, ok := announcesMods(line); ok {
		m.form, m.prefix = formItems, prefix
		return
	}
	if !strings.Contains(line, "oad") {
		return // as nearly all lines of a log
	}
	if strings.Contains(line, ": workshop-") {
		if folder := folderItem.FindStringSubmatch(line); folder != nil {
			mod.PackageID, mod.Name = folder[1], folder[2]
			m.add(&mod)
			return
		}
	}
	// The expression alone would cost a log of RimWorld a tenth of the time.
	if (strings.Contains(line, "oaded ") || strings.Contains(line, "oading ")) && namesLoaded(line) {
		if items := loadedItems.FindStringSubmatch(line); items != nil {
			m.named(items[1] + items[2])
		}
	}
}

// folderItem is a mod by the folder of its number in the Steam Workshop, with its name.
var folderItem = regexp.MustCompile(`od: (workshop-[0-9]+) \((.+)\)`)

// loadedItems are the mods after the words by which a program reports that it loads them: "Loaded mod ", "loading
// server plugin ", "Loaded mods: ", "Loading " before a bracket.
var loadedItems = regexp.MustCompile(
	`^(?:.*[0-9\]):])? *[Ll]oad(?:ed|ing) (?:\S* )??(?:(\[.*)|(?i:mod|plugin|addon)[sS]?:* (?:settings )?(.*))`)

// namesLoaded reports whether a line has a bracket or a noun of loadedItems.
func namesLoaded(line string) bool {
	line = strings.ToLower(line)
	return strings.Contains(line, " [") || strings.Contains(line, "mod") || strings.Contains(line, "plugin") ||
		strings.Contains(line, "addon")
}

// named adds the mods at the beginning of a text: a name with its version, in brackets or not, or several, separated
// by commas, of which some may have none.
func (m *modLists) named(text string) {
	list := strings.Split(text, ", ")
	for _, item := range list {
		var mod ListedMod
		inner, bracketed := strings.CutPrefix(item, "[")
		if inner, ok := strings.CutSuffix(inner, "]"); bracketed && ok {
			item = inner
		}
		if item != "" && (item[0] == '\'' || item[0] == '"') {
			item = strings.ReplaceAll(item, item[:1], "")
		}
		switch {
		case strings.HasPrefix(item, "base "), strings.HasPrefix(item, "core "): // parts of a game
		case mod.parseItem(item) && (mod.Versions != "" || len(list) >= minNamed):
			mod.PackageID = "" // else a file of it
			m.add(&mod)
		case mod.Name == "" && len(list) < minNamed:
			return
		}
	}
}

// minNamed is how many mods in a row need no version.
const minNamed = 3

// line looks at a further line of a record. With formNone there is
// nothing to look for.
func (m *modLists) line(line string) {
	var mod ListedMod
	switch m.form {
	case formHeader:
		if strings.HasPrefix(line, rimworld.UploadMods) {
			m.form, m.upload = formMods, true
		}
	case formMods:
		if strings.HasPrefix(line, rimworld.UploadPatches) {
			m.form = formNone
			return
		}
		if mod.parse(line) {
			m.add(&mod)
		}
	case formItems:
		found := false
		for item := range strings.SplitSeq(markedItem(line), "), ") {
			if mod = (ListedMod{}); mod.parseItem(item) {
				m.add(&mod)
				found = true
			}
		}
		if mod = (ListedMod{}); !found && (mod.parse(line) || mod.parseColumns(line)) {
			m.add(&mod)
		}
	case formNone:
		if _, ok := announcesMods(line); ok {
			m.form, m.prefix = formItems, 0
		}
	}
}

// message looks at the text of a record that was not read line by line.
func (m *modLists) message(message string, header bool) {
	line, rest, more := strings.Cut(message, "\n")
	if more {
		line = strings.TrimRight(line, "\r")
	}
	if line != "" && (header || m.mayBegin(line, true)) {
		m.begin(line, header)
	}
	for more && m.form != formNone {
		line, rest, more = strings.Cut(rest, "\n")
		m.line(strings.TrimRight(line, "\r"))
	}
}

// add adds a mod. Its strings may alias buffers that are reused.
func (m *modLists) add(mod *ListedMod) {
	key := strings.ToLower(cmp.Or(mod.PackageID, mod.Name))
	if m.blind || m.known[key] {
		return
	}
	size := len(mod.Name) + len(mod.PackageID) + len(mod.Versions)
	for _, a := range mod.Assemblies {
		size += len(a)
	}
	if m.list == nil {
		m.list = &ModList{}
	}
	if len(m.known) == maxMods || size > maxModText || m.text+size > maxModsText {
		m.list.Omitted++
		return
	}
	if m.known == nil {
		m.known = make(map[string]bool, 256) // a usual list
	}
	m.text += size
	m.known[strings.Clone(key)] = true
	mod.Name, mod.PackageID = strings.Clone(mod.Name), strings.Clone(mod.PackageID)
	mod.Versions = strings.Clone(mod.Versions)
	for i, a := range mod.Assemblies {
		mod.Assemblies[i] = strings.Clone(a)
	}
	m.list.Mods = append(m.list.Mods, *mod)
}

// take gives rec the mods since its last call.
func (m *modLists) take(rec *Record) {
	if m.list != nil { // else there is nothing to be written for a record
		rec.Mods, m.list = m.list, nil
	}
}

// parse reads a line of the list in the header of an upload: the name, the package id in parentheses, versions in
// brackets, a colon, the assemblies. The name itself may have parentheses, brackets and colons. A line whose name was
// lost names no mod.
func (m *ListedMod) parse(line string) bool {
	const most = 1000 // parentheses; one opens the package id
	var id, tags, rest string
	at := len(line)
	for tries := 0; rest == ""; tries++ {
		if at = strings.LastIndexByte(line[:at], '('); at < 1 || tries == most {
			return false
		}
		n := strings.IndexAny(line[at+1:], " ()")
		if n < 1 || line[at+1+n] != ')' {
			continue
		}
		id, tags = line[at+1:][:n], line[at+1+n+1:]
		rest = tags
		for ok := true; ok && strings.HasPrefix(rest, "["); {
			_, rest, ok = strings.Cut(rest, "]")
		}
		tags = strings.TrimSuffix(tags, rest)
		if !strings.HasPrefix(rest, ": ") {
			rest = ""
		}
	}
	if strings.HasSuffix(line[:at], rimworld.NoAssemblies) {
		return false
	}
	m.Name, m.PackageID = strings.TrimSpace(line[:at]), id
	var versions []string
	if tags != "" {
		versions = append(versions, tags)
	}
	for part := range strings.SplitSeq(strings.TrimRight(rest[len(": "):], " \t\r"), ", ") {
		if open := strings.LastIndexByte(part, '('); open > 0 {
			m.Assemblies = append(m.Assemblies, part[:open])
			versions = append(versions, strings.TrimSuffix(part[open+1:], ")"))
		}
	}
	m.Versions = strings.Join(versions, " ")
	return true
}

// announcement is a line that announces the mods that were loaded, after the prefix of a logger.
var announcement = regexp.MustCompile(
	`(?:^|[\]):] )((?:Loaded|Loading|Initializing|Initialized|Active|Enabled|Running) (?:.* )?(?i:mods|plugins|packs):)$` +
		`|(?:^|: |\] )(\S+ (?i:mods|plugins) \([0-9]+\):)$` +
		`|^()[ \t]*(?i:mod list:)$`)

// announcesMods reports whether line announces the mods that were
// loaded, and how long the prefix is that a logger put before that.
func announcesMods(line string) (prefix int, ok bool) {
	line = strings.TrimRight(line, " \t")
	if n := len(line); n < 2 || line[n-1] != ':' || strings.IndexByte("sStT)", line[n-2]) < 0 {
		return 0, false // as nearly all lines, for which the expression would take long
	}
	at := announcement.FindStringSubmatchIndex(line)
	if at == nil {
		return 0, false
	}
	return max(at[2], at[4], at[6]), true
}

// prefixedItem returns the indented text after a prefix of a logger.
func prefixedItem(line string, prefix int) string {
	if len(line) > prefix && line[prefix-1] == ' ' && line[prefix] == ' ' {
		return line[prefix:]
	}
	return ""
}

// markedItem returns the indented text after a mark.
func markedItem(line string) string {
	item := strings.TrimLeft(line, " \t")
	if len(item) == len(line) {
		return ""
	}
	if mark, rest, _ := strings.Cut(item, " "); mark == "-" || mark == "*" || mark == "•" {
		return rest
	}
	return ""
}

// parseColumns reads a line of a table that is set in: a name, its version and maybe the id.
func (m *ListedMod) parseColumns(line string) bool {
	item := strings.TrimLeft(line, " \t")
	return len(item) < len(line) && item != "" && isLetter(item[0]) && m.parseItem(item) && m.Versions != ""
}

// maxItem is how long an item of a list is at most, without its description: a
// longer one is a sentence.
const maxItem = 256

// parseItem reads an item of a list: a name with its version, a package id, or both
// names. Text in brackets or as "by Author" after it is none of them.
func (m *ListedMod) parseItem(item string) bool {
	item, _, _ = strings.Cut(strings.TrimSpace(item), " | ")
	if item == "" || len(item) > maxItem {
		return false
	}
	word, rest, _ := strings.Cut(item, " ")
	switch {
	case isPackageID(word) && (rest == "" || rest[0] == '('):
		m.PackageID = word
		return true
	case rest == "" && isLetter(word[0]) && isPlain(word):
		m.Name = word
		return true
	}
	for at := len(word); at < len(item); {
		word, rest, _ := strings.Cut(item[at+1:], " ")
		bare := strings.Trim(word, "(),")
		if format.IsVersion(bare) && (rest == "" || rest[0] == '(' || strings.HasPrefix(rest, "by ")) {
			m.Name, m.Versions = item[:at], bare
			if id := strings.Trim(rest, "()"); len(id) == len(rest)-len("()") && id != "" && isPlain(id) {
				m.PackageID = id
			}
			return true
		}
		at += 1 + len(word)
	}
	if open := strings.LastIndex(item, " ("); open > 0 && item[len(item)-1] == ')' {
		if id := item[open+len(" (") : len(item)-1]; isPackageID(id) {
			m.Name, m.PackageID = item[:open], id
			return true
		}
	}
	return false
}

// isPackageID reports whether a word is the id of a mod: with a dot in it, and no
// version.
func isPackageID(word string) bool {
	dot := strings.IndexByte(word, '.')
	return dot > 0 && dot < len(word)-1 && isPlain(word) && !format.IsVersion(word)
}

// isPlain reports whether a word has only the characters of an id, a version or a
// name of one word.
func isPlain(word string) bool {
	for i := range len(word) {
		if c := word[i]; !isName(c) && c != '.' && c != '-' && c != '+' {
			return false
		}
	}
	return true
}
