package blame

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	texts "github.com/heedlog/heed/internal/text"
)

// announced reads the mods that a line names.
func (s *scan) announced(line string) {
	for i := 0; i < len(line); i++ {
		from := i
		for i < len(line) && wordByte(line[i]) {
			i++
		}
		if from < i {
			s.leads(line[from:i], line[:from], line[i:])
		}
	}
	node, isNode := strings.CutPrefix(line, "<") // of the node, only its own tag is read
	node, _, _ = strings.Cut(node, ">")
	if _, class, ok := strings.Cut(node, " Class=\""); ok && isNode {
		s.typeName(class)
	}
	s.prefixes(line)
	if !isNode {
		s.parts(line)
	}
}

// leads reads the mod to which a word in any case leads up, with the text of the line before and after the word.
func (s *scan) leads(word, before, rest string) {
	var lower [9]byte // the longest of the words has so many
	if len(word) > len(lower) {
		return
	}
	for i := range len(word) {
		lower[i] = word[i] | 0x20
	}
	switch string(lower[:len(word)]) {
	case "mod", "plugin":
		if name := s.announcedName(before, rest); name != "" {
			s.owned(Named, weightNamed, rankNamed, name)
		}
	case "by", "mod" + "id":
		if strings.HasSuffix(before, "provided ") || strings.HasPrefix(rest, ":") {
			s.named(strings.TrimLeft(rest, ": "))
		}
	case "load", "loading", "skipping":
		s.plugin(rest)
	case "package" + "id": // packageId
		if id := packageID(afterColon(rest)); id != "" && !hasWord(before, "example") {
			s.owned(Named, weightNamed, rankOwner, stem(id))
		}
	case "assembly":
		s.assembly(before, rest)
	}
}

// named reads the id of a mod after a word that only ids follow.
func (s *scan) named(rest string) {
	name, ok := quoted(rest)
	if !ok {
		name = rest[:len(rest)-len(strings.TrimLeftFunc(rest, idRune))]
	}
	if letters(name) > 1 {
		s.owned(Named, weightNamed, rankNamed, name)
	}
}

func idRune(r rune) bool { return r == '-' || r == '.' || r < utf8.RuneSelf && wordByte(byte(r)) }

// parts reads classes with their namespace that the line names anywhere, where a word or a sign leads up to one, the
// mod is known by the namespace, or the class is called after a part of the game: "Exception in Acme.JobGiver_Press".
func (s *scan) parts(line string) {
	for i := 0; i < len(line); i++ {
		if line[i] != '.' || i == 0 || !wordByte(line[i-1]) {
			continue
		}
		from := i
		for from > 0 && wordByte(line[from-1]) {
			from--
		}
		end := i
		for end < len(line) && (wordByte(line[end]) || line[end] == '.' || line[end] == '+') {
			end++
		}
		path := strings.TrimRight(line[from:end], ".+")
		if from == 0 || strings.IndexByte(" '\"`(<=,>", line[from-1]) >= 0 {
			root := line[from:i]
			names := s.finder.known(root) != 0 || s.finder.hint(root) != 0 || isPart(path)
			if leadsToType(line[:from]) || names && strings.IndexByte(line[:from], '<') < 0 { // no XML
				s.typeName(line[from:])
			}
		}
		i = end
	}
}

// leadsToType reports whether a text ends with a word or a sign that the name of a type follows.
func leadsToType(before string) bool {
	if strings.HasSuffix(before, "=") {
		return true
	}
	before = strings.TrimRight(before, " '\"`")
	return typeLeads[strings.ToLower(before[strings.LastIndexByte(before, ' ')+1:])]
}

var typeLeads = texts.Words("type class for registering named")

// prefixes reads definitions, components and resources that are called after a mod that is known, as in SomeMod_Press
// and some_mod:press.
func (s *scan) prefixes(line string) {
	if len(s.finder.mods) == 0 {
		return
	}
	for i := 1; i+1 < len(line); i++ {
		if c := line[i]; c != '_' && c != ':' || !wordByte(line[i-1]) || !wordByte(line[i+1]) || line[i+1] == '_' {
			continue
		}
		from := i
		for from > 0 && wordByte(line[from-1]) {
			from--
		}
		prefix := line[from:i]
		if len(prefix) >= minTag && (s.finder.known(prefix) != 0 || s.finder.hint(prefix) != 0) {
			s.owned(Type, weightDoubt, rankCode, prefix)
		}
	}
}

// isPart reports whether a path ends with a class whose name has its kind in front: JobGiver_Press.
func isPart(path string) bool {
	kind, name, _ := strings.Cut(path[strings.LastIndexAny(path, ".+")+1:], "_")
	return kind != "" && name != "" && kind[0]-'A' < 26 && name[0]-'A' < 26
}

// plugin reads what BepInEx writes of a plugin that it does not load, with its
// version: "Skipping [Some Mod 1.2.0] because …".
func (s *scan) plugin(rest string) {
	tag, _, ok := cutTag(strings.TrimLeft(rest, " "))
	if i := strings.LastIndexByte(tag, ' '); ok && i > 0 && version(tag[i+1:]) {
		s.owned(Named, weightNamed, rankNamed, tag[:i])
	}
}

// hasWord reports whether a line has a word, in whichever case.
func hasWord(line, word string) bool {
	for w := range strings.FieldsFuncSeq(line, func(r rune) bool { return r < utf8.RuneSelf && !wordByte(byte(r)) }) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// wordByte reports whether a byte may be part of a word.
func wordByte(c byte) bool {
	return c >= utf8.RuneSelf || c == '_' || digit(c) || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// announcedName returns the name of a mod that follows the word "mod" or "plugin" with
// before and rest around it.
func (s *scan) announcedName(before, rest string) string {
	rest, colon := strings.CutPrefix(rest, ":")
	if rest == "" || rest[0] != ' ' && !colon {
		return ""
	}
	rest = strings.TrimLeft(rest, " ")
	if name, ok := quoted(rest); ok {
		return unversioned(name)
	}
	if name := s.knownPrefix(rest); name != "" {
		return name
	}
	if id := packageID(rest); id != "" {
		return stem(id)
	}
	if word, _, _ := strings.Cut(rest, " "); number(word) && len(word) >= workshopDigits {
		return workshop + word
	}
	name, rest := capitalized(rest)
	name = unversioned(name)
	if name == "" || notAName(name) {
		return ""
	}
	// "Mod Loaded." is no name: at the beginning of a line the sentence must go
	// on, and within it the word before must lead up to a name.
	before = strings.TrimRight(before, " ")
	switch strings.ToLower(before[strings.LastIndexByte(before, ' ')+1:]) {
	case "":
		if next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " ")); unicode.IsLower(next) {
			return name
		}
	case "the", "from", "by", "of", "in", "for":
		return name
	}
	return ""
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
	if len(s.finder.index) == 0 {
		return ""
	}
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
	s = strings.TrimLeft(s, " '\"`([<>:=")
	end := 0
	for end < len(s) && (wordByte(s[end]) && s[end] < utf8.RuneSelf || s[end] == '.' || s[end] == '-') {
		end++
	}
	id := strings.TrimRight(s[:end], ".-")
	if strings.Contains(id, "..") || letters(id) < 5 || len(id) > maxName {
		return ""
	}
	last := lastPart(id)
	if last == "" || digit(last[0]) || digit(id[0]) || extension(last) {
		return ""
	}
	return id
}

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

// maxAbbreviation is the length of the longest word with a dot that counts as an
// abbreviation, as in "Misc. Tools", and not for the end of the sentence.
const maxAbbreviation = len("Misc.")

// capitalized returns the words at the beginning of s that are written like a
// title, and the text after them.
func capitalized(s string) (name, rest string) {
	end, at := 0, 0
	for at < len(s) && at < maxName {
		word, _, _ := strings.Cut(s[at:], " ")
		first, _ := utf8.DecodeRuneInString(word)
		switch {
		case unicode.IsUpper(first), unicode.IsDigit(first), first == '[', first == '(':
			end = at + len(word)
		case end > 0 && (word == "of" || word == "the" || word == "and" || word == "for" || word == "-" || word == "&" ||
			word == "+" || word == "x"):
		default:
			return strings.TrimRight(s[:end], " .,:;!"), s[end:]
		}
		if strings.HasSuffix(word, ".") && len(word) > maxAbbreviation || strings.HasSuffix(word, ",") ||
			strings.HasSuffix(word, ":") || strings.HasSuffix(word, ")") {
			break
		}
		at += len(word) + 1
	}
	return strings.TrimRight(s[:end], " .,:;!"), s[min(end, len(s)):]
}

// notAName reports whether the first of the words after "Mod" means mods in
// general.
func notAName(name string) bool {
	first, _, _ := strings.Cut(name, " ")
	return notNames[fold(first)]
}

var notNames = texts.Words(`
	settings manager loader loaded loading list options config configuration menu identifier name id folder version
	error errors content contents initialized init is has not with conflict
`)

// typeName reads the name of a type with its namespace in a line. A name before
// a parenthesis is a method, whose namespace the game leaves out: "Error in LordToil.Init()". It reports
// whether a mod owns the type.
func (s *scan) typeName(text string) bool {
	end := 0
	for end < len(text) && (wordByte(text[end]) || text[end] == '.' || text[end] == '+') {
		end++
	}
	if end < len(text) && text[end] == '(' {
		return false
	}
	path := strings.TrimRight(text[:end], ".")
	root := identifier(path)
	if len(root) == len(path) || letters(root) < 3 || s.finder.isGameCode(path) || extension(lastPart(path)) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(root)
	member, _ := utf8.DecodeRuneInString(path[len(root)+1:])
	if !unicode.IsUpper(first) || !unicode.IsUpper(member) {
		return false
	}
	if s.tagged(path[len(root)+1:]) {
		return false // Author.Mod, after [Mod]
	}
	if o, ok := s.codeOwner(path, root); ok {
		weight := weightType
		if s.victim {
			weight = weightDoubt
		}
		s.found(Type, weight, o)
		return true
	}
	return false
}

// tagged reports whether the record carries the tag of a mod of that name.
func (s *scan) tagged(name string) bool {
	key := fold(name)
	return key != "" && slices.ContainsFunc(s.findings, func(f finding) bool {
		return f.Kind == Tag && slices.Contains(f.owner.keys[:], key)
	})
}

// assembly reads the assembly after the word:
//
//	Exception getting types in assembly SomeMod: …
//	Could not load type 'Some.Type' from assembly 'SomeMod, Version=1.0.0.0, …'
//	Could not load file or assembly 'SomeLib, Version=1.0.0.0, …' or one of its dependencies
//	Error in Some Mod, assembly name: SomeMod, method: …
//
// A missing assembly is weaker evidence than the assembly that needs it, which may
// be out of date.
func (s *scan) assembly(before, rest string) {
	before = strings.TrimRight(before, " ")
	weight := weightType
	switch before[strings.LastIndexByte(before, ' ')+1:] {
	case "in", "from", "of":
	case "or":
		weight = weightMissing
	default:
		after, named := strings.CutPrefix(rest, " name:")
		name, _, versioned := strings.Cut(strings.TrimLeft(rest, " "), ", Version=")
		if named {
			rest = after
		} else if !versioned || strings.ContainsAny(name, " ,") {
			return
		}
	}
	if name := s.assemblyName(rest); name != "" {
		s.owned(Type, weight, rankCode, name)
	}
}

// assemblyName returns the name of an assembly that follows the word, without
// its version and the ending of its file, and "" where the word is one of prose.
func (s *scan) assemblyName(rest string) string {
	if !strings.HasPrefix(rest, " ") {
		return ""
	}
	rest = strings.TrimLeft(rest, " ")
	name, ok := quoted(rest)
	if ok {
		name, _, _ = strings.Cut(name, ",")
	} else if name = s.knownPrefix(rest); name != "" {
		return name
	} else {
		// A name has spaces only where something ends it.
		end := strings.IndexAny(rest, ":,")
		if end < 0 || words(rest[:end]) > maxWords {
			end = max(0, strings.IndexByte(rest+" ", ' '))
		}
		name = strings.TrimRight(rest[:end], ".;!)'\"")
		first, _ := utf8.DecodeRuneInString(name)
		if !unicode.IsUpper(first) && !unicode.IsDigit(first) {
			return ""
		}
	}
	if n := len(name) - len(".dll"); n > 0 && strings.EqualFold(name[n:], ".dll") {
		name = name[:n]
	}
	if !readable(name) {
		return ""
	}
	return name
}
