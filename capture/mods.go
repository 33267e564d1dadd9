package capture

import "strings"

// Mod is a line of the list of mods in the header of an upload.
type Mod struct {
	Name       string
	PackageID  string
	Assemblies []string // names, without versions
}

// maxMods bounds the mods of one list: several times what anybody runs.
const maxMods = 4096

// AppendMods appends to dst the mods that a record of [KindContext] lists, in
// their order. message is the record's Log.Message; the strings share its
// memory, so that who keeps them copies them. A line that has another form is
// skipped:
//
//	Some Mod(author.somemod)[mv:1.2.0]: SomeLib(2.2.1), SomeMod(av:1.0.0,fv:1.2.0)
//	Only Textures(author.textures): (no assemblies)
func AppendMods(dst []Mod, message string) []Mod {
	for _, line := range modLines(message) {
		if len(dst) == maxMods {
			break
		}
		if m, ok := parseMod(line); ok {
			dst = append(dst, m)
		}
	}
	return dst
}

// ListedMod is a mod of the list with the versions that the list gives.
type ListedMod struct {
	Mod

	// Versions are as they are written, "[mv:1.2.0]" of the mod and "2.2.1" or
	// "av:1.0.0,fv:1.0.0" of its assemblies, in that order and separated by spaces.
	// An assembly without one has none here.
	Versions string
}

// AppendModList is [AppendMods] with the versions.
func AppendModList(dst []ListedMod, message string) []ListedMod {
	for _, line := range modLines(message) {
		if len(dst) == maxMods {
			break
		}
		m, ok := parseMod(line)
		if !ok {
			continue
		}
		listed := ListedMod{Mod: m}
		i := max(strings.LastIndex(line, "): "), strings.LastIndex(line, "]: "))
		var versions []string
		if head := line[:i+1]; strings.HasSuffix(head, "]") {
			versions = append(versions, head[strings.LastIndex(head, ")[")+1:])
		}
		for part := range strings.SplitSeq(line[i+len("): "):], ", ") {
			if open := strings.LastIndexByte(part, '('); open > 0 {
				versions = append(versions, strings.TrimSuffix(part[open+1:], ")"))
			}
		}
		listed.Versions = strings.Join(versions, " ")
		dst = append(dst, listed)
	}
	return dst
}

// modLines returns the lines of the list in a header.
func modLines(message string) []string {
	_, list, ok := strings.Cut(message, contextMods)
	if !ok {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(list, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == contextPatches {
			break
		}
		lines = append(lines, line)
	}
	return lines
}

// parseMod reads one line of the list. The name itself may have parentheses,
// brackets and colons, so that the line is taken apart from behind.
func parseMod(line string) (Mod, bool) {
	i := max(strings.LastIndex(line, "): "), strings.LastIndex(line, "]: "))
	if i < 0 {
		return Mod{}, false
	}
	head, assemblies := line[:i+1], line[i+len("): "):]
	for strings.HasSuffix(head, "]") {
		open := strings.LastIndexByte(head, '[')
		if open < 0 {
			return Mod{}, false
		}
		head = head[:open]
	}
	open := strings.LastIndexByte(head, '(')
	if open < 1 || !strings.HasSuffix(head, ")") {
		return Mod{}, false
	}
	m := Mod{Name: strings.TrimSpace(head[:open]), PackageID: head[open+1 : len(head)-1]}
	// A line from which the name was lost names nobody.
	if m.PackageID == "" || strings.HasSuffix(m.Name, noAssemblies) || strings.ContainsAny(m.PackageID, " ()") {
		return Mod{}, false
	}
	for part := range strings.SplitSeq(assemblies, ", ") {
		if end := strings.LastIndexByte(part, '('); end > 0 {
			m.Assemblies = append(m.Assemblies, part[:end])
		}
	}
	return m, true
}
