package blame

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	texts "github.com/heedlog/heed/internal/text"
)

// A row is evidence in words: the meaning of the name after a word, and how the name is read from the text of the line
// before and after the word.
type row struct {
	kind   Kind
	weight int
	rank   int
	name   func(s *scan, before, rest string) (name string, ok bool)
}

// table has the evidence by the word, in small letters, that leads up to it.
var table = map[string]row{
	"mod":            {Named, weightNamed, rankNamed, (*scan).announced},
	"plugin":         {Named, weightNamed, rankNamed, (*scan).announced},
	"melon":          {Named, weightNamed, rankNamed, (*scan).announced},
	"pack":           {Named, weightNamed, rankNamed, (*scan).announced},
	"package":        {Named, weightNamed, rankNamed, packaged},
	"smods":          {Path, weightPath, rankFolder, id},
	"version":        {Named, weightNamed, rankNamed, subject},
	"modid":          {Named, weightNamed, rankNamed, labeled},
	"by":             {Named, weightNamed, rankNamed, labeled},
	"blaming":        {Named, weightNamed, rankNamed, labeled},
	"resource":       {Named, weightNamed, rankNamed, labeled},
	"mixins":         {Type, weightType, rankNamed, mixins},
	"missing":        {Named, weightNamed, rankNamed, subject},
	"load":           {Named, weightNamed, rankNamed, refused},
	"loading":        {Named, weightNamed, rankNamed, refused},
	"skipping":       {Named, weightNamed, rankNamed, refused},
	"because":        {Named, weightNamed, rankNamed, subject},
	"package" + "id": {Named, weightNamed, rankOwner, identified},
	"assembly":       {Type, weightType, rankCode, (*scan).assembly},

	"type":        {name: (*scan).typed},
	"class":       {name: (*scan).typed},
	"for":         {name: (*scan).typed},
	"named":       {name: (*scan).typed},
	"registering": {name: (*scan).typed},
}

const maxLead = len("registering") // the longest of them

// words reads the mods that the words of a line name.
func (s *scan) words(line string) {
	node, isNode := strings.CutPrefix(line, "<") // of a node, only the class in its own tag is read as a type
	if isNode {
		node, _, _ = strings.Cut(node, ">")
		_, class, _ := strings.Cut(node, " Class=\"")
		s.typeName(class, true)
	}
	isNative := nativeFrame().MatchString(line)
	for i := 0; i < len(line); i++ {
		from := i
		for i < len(line) && wordByte(line[i]) {
			i++
		}
		if from == i {
			continue
		}
		word, before, rest := line[from:i], line[:from], line[i:]
		if len(word) <= maxLead {
			var lower [maxLead]byte // without an allocation; a small letter of ASCII differs in one bit
			for k := range len(word) {
				lower[k] = word[k] | 0x20
			}
			if r, ok := table[string(lower[:len(word)])]; ok {
				if name, ok := r.name(s, before, rest); ok {
					s.owned(r.kind, r.weight, r.rank, name)
				}
			}
		}
		if isNative && s.finder.known(word) != 0 {
			if o, ok := s.finder.owner(rankCode, word); ok {
				s.thrownBy(o)
			}
		}
		s.versioned(before, word, rest)
		if name, ok := strings.CutPrefix(word, "sbm_"); ok { // an assembly that Space Engineers made of a mod's scripts
			s.owned(Type, weightType, rankCode, name)
		}
		if len(s.finder.mods) > 0 {
			s.prefixes(word, rest)
		}
		if !isNode && strings.HasPrefix(rest, ".") && strings.IndexByte(before, '<') < 0 &&
			(from == 0 || strings.IndexByte(" '\"`(=,", line[from-1]) >= 0) {
			s.typeName(line[from:], strings.HasSuffix(before, "="))
		}
	}
}

// nativeFrame matches a place in a library: "Game-SomeMod-Win64-Shipping.dll!Turn", "SomeMod.dll+0123ABC".
var nativeFrame = texts.Lazy(`\.(?:dll|so)[!+]\w`)

// labeled reads the id of a mod after words that only ids follow: "provided by", "ModID:", "Blaming:", "start
// resource", "for resource".
func labeled(_ *scan, before, rest string) (string, bool) {
	name, ok := id(nil, "", rest)
	isLabel := strings.HasPrefix(rest, ":") && !strings.Contains(rest, "://")
	isLabel = isLabel || slices.Contains([]string{"provided", "start", "for"}, lastWord(before))
	return strings.TrimRight(name, "."), ok && isLabel
}

// subject reads the mod that a line begins with: "- Some Mod 1.2.0 because …", "Some Mod (version: 1.2.0)", "Some Mod
// is missing a dependency: …".
func subject(_ *scan, before, rest string) (string, bool) {
	head, isRow := strings.CutPrefix(strings.TrimSpace(before), "- ")
	if name := unversioned(head); isRow && name != head {
		return name, true
	}
	head, hasVersion := strings.CutSuffix(head, " (")
	head, lacks := strings.CutSuffix(head, " is")
	isSubject := hasVersion && strings.HasPrefix(rest, ": ") || lacks && strings.HasPrefix(rest, " a dependency")
	name, after := capitalized(head)
	return name, isSubject && after == "" && letters(name) > len("It")
}

// id reads the id of a mod, also in the name of a piece of Lua: [SMODS SomeMod "press.lua"].
func id(_ *scan, _, rest string) (string, bool) {
	rest = strings.TrimLeft(rest, ": ")
	name, ok := quoted(rest)
	if !ok {
		name = rest[:len(rest)-len(strings.TrimLeftFunc(rest, idRune))]
	}
	return archived(name), letters(name) > 1
}

// packaged reads the name of a mod after the words "content package".
func packaged(_ *scan, before, rest string) (string, bool) {
	name, _ := capitalized(strings.TrimLeft(rest, `: "`))
	return strings.TrimRight(name, `)"`), strings.HasSuffix(before, "ontent ")
}

func idRune(r rune) bool { return r == '-' || r == '.' || r < utf8.RuneSelf && wordByte(byte(r)) }

// mixins reads a mod in the name of its file: "some-mod.mixins.json".
func mixins(s *scan, before, rest string) (string, bool) {
	name, ok := strings.CutSuffix(before, ".")
	ok = ok && strings.HasPrefix(rest, ".json")
	s.stranger = s.stranger || ok // code that first uses a class is not at fault for its patches
	return name[len(strings.TrimRightFunc(name, idRune)):], ok
}

// archived returns the name of a mod by its file, without folder, version and ending.
func archived(file string) string {
	if !modFiles[path.Ext(file)] {
		return file
	}
	return archive().FindStringSubmatch(strings.TrimSuffix(path.Base(file), path.Ext(file)))[1]
}

var modFiles = texts.Words(".jar .zip .pak .dll .smx")

// refused reads what BepInEx writes of a plugin that it does not load, with its version: "Skipping [Some Mod 1.2.0]
// because …", or the file of a mod: "Could not load 'plugins/SomeMod-1.2.jar'".
func refused(_ *scan, before, rest string) (string, bool) {
	rest = strings.TrimLeft(rest, " ")
	if name, ok := quoted(rest); ok && (archived(name) != name || strings.HasPrefix(before, "AssemblyLoader: ")) {
		return archived(name), true
	}
	tag, _, ok := cutTag(rest)
	name := unversioned(tag)
	return name, ok && name != tag
}

// identified reads a package id after its label.
func identified(_ *scan, before, rest string) (string, bool) {
	id := stem(packageID(afterColon(rest)))
	return id, id != "" && !strings.Contains(strings.ToLower(before), "example")
}

// versioned reads a mod by the version after its name: "in Some-Mod v1.2.0".
func (s *scan) versioned(before, word, rest string) {
	if word[0]|0x20 != 'v' || !strings.HasPrefix(rest, ".") || !strings.HasSuffix(before, " ") || !version(word) {
		return
	}
	before = strings.TrimRight(before, " ")
	at := len(strings.TrimRightFunc(before, idRune))
	name, before := before[at:], before[:at]
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(lastWord(before), "'\"(["))
	if s.finder.known(name) != 0 || name != strings.ToLower(name) && !unicode.IsUpper(first) {
		s.owned(Named, weightNamed, rankNamed, name)
	}
}

// prefixes reads definitions, components and resources that are called after a mod that is known, as in SomeMod_Press
// and some_mod:press.
func (s *scan) prefixes(word, rest string) {
	for i := minTag; i <= len(word); i++ {
		isEnd := i == len(word)
		if isEnd && (len(rest) < 2 || rest[0] != ':' || !wordByte(rest[1]) || rest[1] == '_') ||
			!isEnd && (word[i] != '_' || i+1 == len(word) || word[i+1] == '_') {
			continue
		}
		if prefix := word[:i]; s.finder.goesBy(prefix) {
			s.owned(Type, weightDoubt, rankCode, prefix)
		}
	}
}

// wordByte reports whether a byte may be part of a word.
func wordByte(c byte) bool {
	return c >= utf8.RuneSelf || c == '_' || digit(c) || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// announced returns the name of a mod that follows the word "mod" or "plugin" with before and rest around it.
func (s *scan) announced(before, rest string) (string, bool) {
	rest, colon := strings.CutPrefix(rest, ":")
	if rest == "" || rest[0] != ' ' && !colon {
		return "", false
	}
	rest = strings.TrimPrefix(strings.TrimLeft(rest, " "), "from folder: ")
	if name, ok := quoted(rest); ok && lastWord(before) != "required" {
		return archived(unversioned(name)), true
	}
	word, _, _ := strings.Cut(rest, " ")
	if file, ok := strings.CutSuffix(word, ".dll"); ok {
		return file, true
	}
	if name := s.knownPrefix(rest); name != "" {
		return name, true
	}
	if id := packageID(rest); id != "" {
		return stem(id), true
	}
	if number(word) && len(word) >= workshopDigits {
		return workshop + word, true
	}
	if strings.HasPrefix(rest, "will not ") || strings.HasPrefix(rest, "is disabled") {
		for i := range s.findings {
			if f := &s.findings[i]; f.Kind == Tag { // "[Some Mod] The mod will not work"
				f.weight = f.owner.doubted(weightNamed)
			}
		}
	}
	name, rest := capitalized(rest)
	if name == "" && strings.Contains(rest, "dependenc") {
		name, rest, _ = strings.Cut(rest, " ") // an id: "mod some-mod is missing dependency …"
	}
	name = unversioned(name)
	first, _, _ := strings.Cut(name, " ")
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
	// "Mod Loaded." is no name: at the beginning of a line the sentence must go
	// on, and within it the word before must lead up to a name.
	isLed := false
	switch strings.ToLower(lastWord(before[strings.LastIndexAny(before, ":]")+1:])) {
	case "|": // a field of a frame: "in turn | MOD: Some Mod"
		isLed = colon
	case "":
		isLed = unicode.IsLower(next)
	case "the", "from", "by", "of", "in", "for", "load", "loading", "disabled":
		isLed = true
	}
	return name, isLed && name != "" && !notNames[fold(first)]
}

// lastWord returns the last word of a text.
func lastWord(text string) string {
	text = strings.TrimRight(text, " ")
	return text[strings.LastIndexByte(text, ' ')+1:]
}

// unversioned returns a name without the version after it: "Some Mod v1.2.0".
func unversioned(name string) string {
	if i := strings.LastIndexByte(name, ' '); i > 0 && version(name[i+1:]) {
		return name[:i]
	}
	return name
}

// closings are the signs that close a quotation, by those that open it.
var closings = map[rune]string{
	'\'': "'", '"': `"`, '`': "`", '[': "]", '“': "”", '„': "”", '‘': "’", '«': "»",
}

// quoted returns a name in quotes or brackets at the beginning of s.
func quoted(s string) (string, bool) {
	open, size := utf8.DecodeRuneInString(s)
	closing, ok := closings[open]
	if !ok {
		return "", false
	}
	s = s[size:]
	// An apostrophe within a name does not close it.
	for i := 0; i < len(s) && i <= maxName; {
		n := strings.Index(s[i:], closing)
		if n < 0 {
			return "", false
		}
		i += n
		if after := i + len(closing); after >= len(s) || !wordByte(s[after]) {
			return s[:i], i > 0 && i <= maxName
		}
		i += len(closing)
	}
	return "", false
}

// knownPrefix returns the longest run of words at the beginning of s that is the
// name of a mod that was learned.
func (s *scan) knownPrefix(text string) string {
	longest := ""
	var folded [maxName + utf8.UTFMax]byte
	key, from := folded[:0], 0
	for i := 1; i <= min(len(text), maxName); i++ {
		if i < len(text) && wordByte(text[i]) {
			continue
		}
		key = appendFolded(key, text[from:i])
		if from = i; s.finder.index[string(key)] > 0 {
			longest = text[:i]
		}
	}
	return longest
}

// packageID returns the package id at the beginning of s: words of letters and
// digits with dots between them, and not the name of a file.
func packageID(s string) string {
	id := idForm().FindString(strings.TrimLeft(s, " '\"`([<>:="))
	if id == "" || strings.Contains(id, "..") || letters(id) < 5 || len(id) > maxName || extension(lastPart(id)) {
		return ""
	}
	return id
}

// idForm matches words with dots between them. The first and the last begin with no digit.
var idForm = texts.Lazy(`^[A-Za-z_.-][\w.-]*\.[A-Za-z_][\w-]*\b`)

// extension reports whether the last part of a dotted word ends the name of a
// file.
func extension(last string) bool { return extensions[strings.ToLower(last)] }

var extensions = texts.Words("xml dll txt log png jpg psd dds json yaml cs exe so rws wav ogg mp3 com net org bundle")

// afterColon returns the text after the first colon of a clause, or the clause.
func afterColon(clause string) string {
	if i := strings.IndexAny(clause, ":!.;"); i > 0 && clause[i] == ':' {
		return clause[i+1:]
	}
	return clause
}

// title matches words that are written like a title, with small ones between them: the last may end in any sign, the
// others in none but the dot of an abbreviation, as in "Misc. Tools".
var title = texts.Lazy(`^(?:[\p{Lu}\p{Nd}[(](?:\S{0,3}\.|\S*[^\s,:).])? (?:(?:of|the|and|for|[-&+x]) )*)*` +
	`[\p{Lu}\p{Nd}[(]\S*`)

// capitalized returns the words at the beginning of s that are written like a
// title, and the text after them.
func capitalized(s string) (name, rest string) {
	name = title().FindString(s[:min(len(s), 2*maxName)])
	return strings.TrimRight(name, " .,:;!"), s[len(name):]
}

// notNames are words after "Mod" that mean mods in general.
var notNames = texts.Words(`
	settings manager loader loaded loading list options config configuration menu identifier name id folder version
	error errors content contents initialized init is has not with conflict
`)

// typed reads a type after a word that leads up to one.
func (s *scan) typed(_, rest string) (string, bool) {
	s.typeName(strings.TrimLeft(rest, " '\"`"), true)
	return "", false
}

// typeName reads the name of a type with its namespace; unless the text says that it is one, only of a mod that is
// known. A name before a parenthesis is a method, whose namespace the game leaves out: "Error in LordToil.Init()".
func (s *scan) typeName(text string, isType bool) {
	first, _ := utf8.DecodeRuneInString(text)
	if !unicode.IsUpper(first) {
		return // at once: "type.type.type" leads to a type three times
	}
	end := 0
	for end < len(text) && (wordByte(text[end]) || text[end] == '.' || text[end] == '+') {
		end++
	}
	path := strings.TrimRight(text[:end], ".")
	root := identifier(path)
	if end < len(text) && text[end] == '(' || len(root) == len(path) || s.finder.isGameCode(path) ||
		extension(lastPart(path)) || s.tagged(path[len(root)+1:]) {
		return
	}
	member, _ := utf8.DecodeRuneInString(path[len(root)+1:])
	if !unicode.IsUpper(member) {
		return
	}
	if o, ok := s.codeOwner(path, root); ok && (isType || o.mod != 0) {
		weight := weightType
		if s.victim {
			weight = weightDoubt
		}
		s.found(Type, weight, o)
	}
}

// tagged reports whether the record carries the tag of a mod of that name: Author.Mod, after [Mod].
func (s *scan) tagged(name string) bool {
	key := fold(name)
	return key != "" && slices.ContainsFunc(s.findings, func(f finding) bool {
		return f.Kind == Tag && slices.Contains(f.owner.keys[:], key)
	})
}

// assembly returns the name of an assembly after the word, without its version and the ending of its file:
//
//	Exception getting types in assembly SomeMod: …
//	Could not load type 'Some.Type' from assembly 'SomeMod, Version=1.0.0.0, …'
//	Error in Some Mod, assembly name: SomeMod, method: …
//
// An assembly that is missing is not at fault: "Could not load file or assembly 'SomeLib'".
func (s *scan) assembly(before, rest string) (string, bool) {
	rest, isLabel := strings.CutPrefix(rest, " name:")
	rest, isNext := strings.CutPrefix(rest, " ")
	name, _, isVersioned := strings.Cut(rest, ", Version=")
	switch lastWord(before) {
	case "in", "from", "of", "AssemblyLoader:":
	case "or":
		return "", false
	default:
		if !isLabel && (!isVersioned || strings.ContainsAny(name, " ,")) {
			return "", false
		}
	}
	name, isQuoted := quoted(rest)
	if !isQuoted {
		name, _, _ = strings.Cut(rest, " ")
	}
	name, _, _ = strings.Cut(name, ",")
	name = strings.TrimSuffix(strings.TrimRight(name, ".:;!)'\""), ".dll")
	first, _ := utf8.DecodeRuneInString(name)
	return name, isNext && (isQuoted || unicode.IsUpper(first) || unicode.IsDigit(first)) && readable(name)
}
