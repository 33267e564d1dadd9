package blame

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// assemblies reads what a line says of assemblies:
//
//	Exception getting types in assembly SomeMod: …
//	Could not load type 'Some.Type' from assembly 'SomeMod, Version=1.0.0.0, …'
//	Could not load file or assembly 'SomeLib, Version=1.0.0.0, …' or one of its dependencies
//
// What cannot be found is less telling than what it was looked for in: it may be
// whoever asks for it that is out of date.
func (s *scan) assemblies(line string) {
	for i, rest := range wordsAfter(line, "assembly") {
		before := strings.TrimRight(line[:i-len("assembly")], " ")
		weight := weightType
		switch before[strings.LastIndexByte(before, ' ')+1:] {
		case "in", "from", "of":
		case "or":
			weight = weightMissing
		default:
			continue
		}
		if name := s.assemblyName(rest); name != "" {
			if o, ok := s.finder.owner(rankCode, name); ok {
				s.found(Type, weight, o)
			}
		}
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
