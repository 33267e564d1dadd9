package capture

import "strings"

// Mod is a mod as a list names it. The name or the package id may be empty.
type Mod struct {
	Name       string
	PackageID  string
	Assemblies []string // names, without versions
}

// ListedMod is a mod of a list with the versions that the list gives.
type ListedMod struct {
	Mod

	// Versions are as they are written, "[mv:1.2.0]" of the mod and "2.2.1" or
	// "av:1.0.0,fv:1.0.0" of its assemblies, in that order and separated by spaces.
	// An assembly without one has none here.
	Versions string
}

// ModList is what a record says of the mods that a game runs with. It has memory of
// its own: whoever wants to may keep it.
type ModList struct {
	// Mods are in load order, without those that an earlier record of the capture
	// listed. Where it is an upload, only its header lists any. A record of which the rest comes later (see [Stream]) has those of the
	// lines that came.
	Mods []ListedMod

	// Omitted is how many more there were, for which there was no room: see the bounds
	// of a [Reader].
	Omitted int
}

// The bounds of what is kept of the lists of a capture, several times what anybody
// runs. They are apart from those of texts: the header of an upload is longer than
// any record, and what it says about the mods matters to all that follows.
const (
	maxMods     = 4096
	maxModsText = 1 << 20
	maxModText  = 16 << 10
)

// modLists reads lists of mods line by line, whatever is kept of the text of the
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
type modLists struct {
	form   listForm
	prefix int // how many bytes a logger put before the text of the line that announced items

	upload bool // the list of an upload was read: it is whole, and nothing else adds to it

	list  *ModList        // of the open record; nil where it names no mod
	known map[string]bool // key of each mod that was listed
	text  int             // bytes kept of all
	blind bool            // lines may be the beginnings of others: nothing is to be learned
}

// listForm is the form of the list that is being read.
type listForm uint8

const (
	formNone   listForm = iota
	formHeader          // the header of an upload, above its mods
	formMods            // the mods of a header
	formItems           // what a line announced
)

// mayBegin reports whether begin has something to look for in the first line of a
// record. Nearly all are spared the call.
func (m *modLists) mayBegin(line string) bool {
	if m.form != formNone {
		return true
	}
	switch line[len(line)-1] {
	case ':', ']', ' ', '\t':
		return !m.upload
	}
	return false
}

// begin looks at the first line of a record, of which header says that it is the
// header of an upload.
func (m *modLists) begin(line string, header bool) {
	if m.form == formItems && m.prefix > 0 && m.add(parseItem(prefixedItem(line, m.prefix))) {
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
	switch line[len(line)-1] {
	case ':', ' ', '\t':
		if prefix, ok := announcesMods(line); ok {
			m.form, m.prefix = formItems, prefix
		}
	case ']':
		m.add(parsePlugin(line))
	}
}

// line looks at a further line of a record. It need not be called with form being
// formNone.
func (m *modLists) line(line string) {
	switch m.form {
	case formHeader:
		if strings.HasPrefix(line, contextMods) {
			m.form, m.upload = formMods, true
		}
	case formMods:
		if strings.HasPrefix(line, contextPatches) {
			m.form = formNone
			return
		}
		m.add(parseMod(line))
	case formItems:
		if !m.add(parseItem(markedItem(line))) {
			m.add(parseMod(line))
		}
	}
}

// message looks at the text of a record that was not read line by line.
func (m *modLists) message(message string, header bool) {
	line, rest, more := strings.Cut(message, "\n")
	if more {
		line = strings.TrimRight(line, "\r")
	}
	if line != "" && (header || m.mayBegin(line)) {
		m.begin(line, header)
	}
	for more && m.form != formNone {
		line, rest, more = strings.Cut(rest, "\n")
		m.line(strings.TrimRight(line, "\r"))
	}
}

// add takes in a mod if there is one, which it reports. Its strings may alias what
// is used again.
func (m *modLists) add(mod ListedMod, ok bool) bool {
	if !ok {
		return false
	}
	key := mod.PackageID
	if key == "" {
		key = mod.Name
	}
	if key = strings.ToLower(key); m.blind || m.known[key] {
		return true
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
		return true
	}
	if m.known == nil {
		m.known = map[string]bool{}
	}
	m.text += size
	m.known[strings.Clone(key)] = true
	mod.Name, mod.PackageID, mod.Versions = strings.Clone(mod.Name), strings.Clone(mod.PackageID), strings.Clone(mod.Versions)
	for i, a := range mod.Assemblies {
		mod.Assemblies[i] = strings.Clone(a)
	}
	m.list.Mods = append(m.list.Mods, mod)
	return true
}

// take gives rec what was read since it was called last.
func (m *modLists) take(rec *Record) {
	if m.list != nil { // else there is nothing to be written for a record
		rec.Mods, m.list = m.list, nil
	}
}

// parseMod reads a line of the list in the header of an upload. The name itself may
// have parentheses, brackets and colons, so that the line is taken apart from behind.
func parseMod(line string) (ListedMod, bool) {
	line = strings.TrimRight(line, " \t\r")
	i := max(strings.LastIndex(line, "): "), strings.LastIndex(line, "]: "))
	if i < 0 {
		return ListedMod{}, false
	}
	head, assemblies := line[:i+1], line[i+len("): "):]
	tags := ""
	for strings.HasSuffix(head, "]") {
		open := strings.LastIndexByte(head, '[')
		if open < 0 {
			return ListedMod{}, false
		}
		head, tags = head[:open], line[open:i+1]
	}
	open := strings.LastIndexByte(head, '(')
	if open < 1 || !strings.HasSuffix(head, ")") {
		return ListedMod{}, false
	}
	m := ListedMod{Mod: Mod{Name: strings.TrimSpace(head[:open]), PackageID: head[open+1 : len(head)-1]}}
	// A line from which the name was lost names nobody.
	if m.PackageID == "" || strings.HasSuffix(m.Name, noAssemblies) || strings.ContainsAny(m.PackageID, " ()") {
		return ListedMod{}, false
	}
	var versions []string
	if tags != "" {
		versions = append(versions, tags)
	}
	for part := range strings.SplitSeq(assemblies, ", ") {
		if open := strings.LastIndexByte(part, '('); open > 0 {
			m.Assemblies = append(m.Assemblies, part[:open])
			versions = append(versions, strings.TrimSuffix(part[open+1:], ")"))
		}
	}
	m.Versions = strings.Join(versions, " ")
	return m, true
}

// announcesMods reports whether line says that it is followed by the mods that were
// loaded, and how long the prefix is that a logger put before that.
func announcesMods(line string) (prefix int, ok bool) {
	line = strings.TrimRight(line, " \t")
	if line == "" || line[len(line)-1] != ':' {
		return 0, false // many a message ends with a space
	}
	switch strings.ToLower(line[strings.LastIndexByte(line, ' ')+1:]) {
	case "mods:", "plugins:", "packs:":
	default:
		return 0, false
	}
	for _, verb := range [...]string{"Loaded ", "Loading ", "Initializing ", "Initialized ", "Active ", "Enabled ", "Running "} {
		i := strings.Index(line, verb)
		if i == 0 || i > 1 && line[i-1] == ' ' && strings.IndexByte("]):", line[i-2]) >= 0 {
			return i, true
		}
	}
	return 0, false
}

// prefixedItem returns what is set in behind a prefix of a logger.
func prefixedItem(line string, prefix int) string {
	if len(line) > prefix && line[prefix-1] == ' ' && line[prefix] == ' ' {
		return line[prefix:]
	}
	return ""
}

// markedItem returns what is set in behind a mark.
func markedItem(line string) string {
	item := strings.TrimLeft(line, " \t")
	if len(item) == len(line) {
		return ""
	}
	for _, mark := range [...]string{"- ", "* ", "• "} {
		if rest, ok := strings.CutPrefix(item, mark); ok {
			return rest
		}
	}
	return ""
}

// maxItem is how long an item of a list is at most, without what the mod does: a
// longer one is a sentence.
const maxItem = 256

// parseItem reads an item of a list: a name with its version, a package id, or both
// names. What follows in brackets or as "by Author" is none of them.
func parseItem(item string) (ListedMod, bool) {
	item, _, _ = strings.Cut(strings.TrimSpace(item), " | ")
	if item == "" || len(item) > maxItem {
		return ListedMod{}, false
	}
	word, rest, _ := strings.Cut(item, " ")
	switch {
	case isPackageID(word) && (rest == "" || rest[0] == '('):
		return ListedMod{Mod: Mod{PackageID: word}}, true
	case rest == "":
		return ListedMod{Mod: Mod{Name: word}}, isLetter(word[0]) && strings.IndexFunc(word, notInName) < 0
	}
	if open := strings.LastIndex(item, " ("); open > 0 && item[len(item)-1] == ')' {
		if id := item[open+len(" (") : len(item)-1]; isPackageID(id) {
			return ListedMod{Mod: Mod{Name: item[:open], PackageID: id}}, true
		}
	}
	for at := len(word); at < len(item); {
		word, rest, _ := strings.Cut(item[at+1:], " ")
		if isVersion(word) && (rest == "" || rest[0] == '(' || strings.HasPrefix(rest, "by ")) {
			return ListedMod{Mod: Mod{Name: item[:at]}, Versions: word}, true
		}
		at += 1 + len(word)
	}
	return ListedMod{}, false
}

// parsePlugin reads a line that says of one mod that it is being loaded.
func parsePlugin(line string) (ListedMod, bool) {
	const loading = "Loading ["
	i := strings.Index(line, loading)
	if i < 0 || i > 0 && !strings.HasSuffix(line[:i], "] ") {
		return ListedMod{}, false
	}
	inner := line[i+len(loading) : len(line)-1]
	space := strings.LastIndexByte(inner, ' ')
	if space < 1 || len(inner) > maxItem || !isVersion(inner[space+1:]) {
		return ListedMod{}, false
	}
	return ListedMod{Mod: Mod{Name: inner[:space]}, Versions: inner[space+1:]}, true
}

// isPackageID reports whether a word is the id of a mod: with a dot in it, and no
// version.
func isPackageID(word string) bool {
	dot := strings.IndexByte(word, '.')
	return dot > 0 && dot < len(word)-1 && !isVersion(word) && strings.IndexFunc(word, notInName) < 0
}

// notInName reports whether a sign may not stand in an id or a name of one word.
func notInName(r rune) bool {
	return r < 0x80 && !isName(byte(r)) && r != '.' && r != '-'
}

// isVersion reports whether a word is a version: "1.2.0", "v2", "0.92.0+1.20.1".
func isVersion(word string) bool {
	if len(word) > 1 && word[0]|0x20 == 'v' {
		word = word[1:]
	}
	if word == "" || !isDigit(word[0]) {
		return false
	}
	// The first number of an id is part of a word.
	i := 0
	for i < len(word) && isDigit(word[i]) {
		i++
	}
	return i == len(word) || strings.IndexByte(".-+_", word[i]) >= 0 && strings.IndexFunc(word, func(r rune) bool {
		return notInName(r) && r != '+'
	}) < 0
}
