package blame

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	texts "github.com/heedlog/heed/internal/text"
)

// The weights of evidence, as the package documentation lists them.
const (
	weightThrown   = 60
	weightNear     = 45
	weightSecond   = 25
	weightFar      = 10
	weightTitle    = 55
	weightPath     = 50
	weightNamed    = 40
	weightType     = 35
	weightTag      = 30
	weightPatch    = 20
	weightFarPatch = 8
	weightPhrase   = 15

	// weightDoubt is for evidence that a mod reports rather than fails: not enough to be named.
	weightDoubt = 20

	// weightUnlisted is for a tag that names none of the loaded mods, or in capitals.
	weightUnlisted = 10
)

// headLines is how many lines of a message may name mods: later lines are data.
const headLines = 8

// pathLines is how many may name a file that matters: lists of files that are loaded
// come far below.
const pathLines = 24

// maxPaths is how many mods' files a record may name. A record with more lists the
// installed mods, as a report of a crash does.
const maxPaths = 4

// scan gathers the findings of one record.
type scan struct {
	finder   *Finder
	findings []finding
	files    []finding // paths, until all are known
	line     int
	head     int // lines of the message that are no frames
	frames   int // frames with a name
	game     bool
	code     []owner // mods whose code is in the trace, the nearest to the throw first
	memory   bool    // the reason is that memory ran out: code in the trace was only running
	stranger bool    // code of an unknown module has thrown
	victim   bool    // the text is about a patch or hook that failed, and names the method that it was for
	first    string  // the first line; if it is about nodes of XML, the code that reads them did not write them
	cause    int     // how many findings there were above the last cause
	within   int     // the indentation of the suppressed exception that lines belong to
}

// text reads the message, or the stack.
func (s *scan) text(text string, stack bool) {
	if text == "" {
		return
	}
	s.within = 0
	for line := range strings.SplitSeq(text[:min(len(text), maxText)], "\n") {
		s.line++
		line = strings.TrimRight(line, " \t\r")
		f, isFrame := parse(line, stack)
		switch {
		case line == "", s.suppressed(line):
		case isFrame:
			s.frame(&f)
		case s.patch(line):
		case !stack:
			s.prose(line)
		default:
			s.thrown(line)
			if f.Script {
				s.path(strings.TrimLeft(line[strings.Index(line, " - ")+1:], "- \t"))
			}
		}
	}
}

// suppressed reports whether a line belongs to an exception that was thrown while another one was on its way, as Java
// writes it below that: it is no evidence.
func (s *scan) suppressed(line string) bool {
	t := strings.TrimLeft(line, " \t")
	indent := len(line) - len(t)
	switch {
	case strings.HasPrefix(t, "Suppressed: ") && indent > 0:
		s.within = indent
	case s.within > 0 && indent <= s.within && (indent < s.within || !strings.HasPrefix(t, causedBy)):
		s.within = 0
	}
	return s.within > 0
}

const causedBy = "Caused by: "

// thrown reads a line that hands on an exception, with its trace above or below it.
func (s *scan) thrown(line string) {
	s.memory = s.memory || outOfMemory(line)
	switch {
	case strings.HasPrefix(line, causedBy):
		s.causes()
		s.code, s.game = s.code[:0], false
	case strings.HasPrefix(line, "Rethrow as "):
		if _, typ, ok := strings.Cut(line, "'"); ok {
			s.typeName(typ, true) // whose initializer it was
		}
	}
}

// causes ends the trace of an exception: its cause is below it, and outweighs the frames above.
func (s *scan) causes() {
	thrown := func(f finding) bool { return f.Kind == Frame && f.weight > weightDoubt }
	if slices.ContainsFunc(s.findings[s.cause:], thrown) {
		for i := range s.findings[:s.cause] {
			if f := &s.findings[i]; f.Kind == Frame {
				f.weight = min(f.weight, weightDoubt)
			}
		}
	}
	s.cause = len(s.findings)
}

// outOfMemory reports whether a line says that memory ran out.
func outOfMemory(line string) bool {
	return strings.Contains(line, "OutOfMemory") || strings.Contains(line, "out of memory")
}

// found adds a finding, unless there are enough.
func (s *scan) found(kind Kind, weight int, o owner) {
	weight = o.doubted(weight)
	if len(s.findings) < maxFindings {
		s.findings = append(s.findings, finding{Evidence: Evidence{kind, s.line}, weight: weight, owner: o})
	}
}

// owned adds a piece of evidence about the owner of the names, if they have one.
func (s *scan) owned(kind Kind, weight, rank int, names ...string) {
	if o, ok := s.finder.owner(rank, names...); ok {
		s.found(kind, weight, o)
	}
}

// prose reads a line of the message that is no frame.
func (s *scan) prose(line string) {
	s.head++
	if s.head <= pathLines {
		s.path(line)
	}
	if s.head > headLines {
		return
	}
	s.thrown(line)
	line = plain(line)
	if s.head == 1 {
		line = s.tags(line)
		s.first = line
	}
	s.victim = strings.Contains(line, "atch") || strings.Contains(line, "ook ")
	s.words(line)
}

// plain returns a line without tags of rich text, such as <color=#fff>.
func plain(line string) string {
	if strings.IndexByte(line, '<') < 0 {
		return line
	}
	return strings.TrimSpace(richText().ReplaceAllString(line, ""))
}

var richText = texts.Lazy("</?(color|b|i|size|material)(=[^>]*)?>")

// source matches a tag that is a place in the program's own source, [dlc.cpp:222], or the address of a native frame.
var source = texts.Lazy(`^ *(?:\[[^\]]+\.(?:c|cc|cpp|cxx|h|hpp|rs|go):\d+\]|0x[[:xdigit:]]{8,} )`)

// titled follows the name of the mod in the tag of a trace about its files.
const titled = " - Start of stack trace"

// tags reads the tags that a message begins with, and returns the rest. The first tag
// that may name a mod does.
func (s *scan) tags(line string) string {
	found := false
	for range 4 {
		line = strings.TrimLeft(line, " ")
		tag, rest, ok := cutTag(line)
		if !ok {
			break
		}
		line = rest
		if found {
			continue
		}
		if name, ok := strings.CutSuffix(tag, titled); ok {
			s.owned(Title, weightTitle, rankTag, name)
			return ""
		}
		if source().MatchString(rest) {
			continue // of a stamp that a program writes before each place in its source, or before each frame
		}
		if s.finder.known(tag) == 0 {
			tag = tagName(tag)
		}
		var o owner
		if o, found = s.finder.owner(rankTag, tag); found {
			weight := s.tagWeight(&o)
			if s.heading(strings.TrimLeft(line, " "), &o) {
				weight = min(weight, weightDoubt)
			}
			s.found(Tag, weight, o)
		}
	}
	if !found {
		s.heading(strings.TrimLeft(line, " "), nil)
	}
	return line
}

// heading reads a text that begins with the name of a mod that is known: before a colon, as its tag, or before a word
// in small letters, a verb in most texts, or after the tag of reporter. It reports whether the text is about that mod.
func (s *scan) heading(text string, reporter *owner) bool {
	name := s.knownPrefix(text)
	if len(name) < minName {
		return false
	}
	o, ok := s.finder.owner(rankNamed, name)
	rest := text[len(name):]
	verb, _ := utf8.DecodeRuneInString(strings.TrimPrefix(rest, " "))
	kind, weight := Named, weightNamed
	switch {
	case !ok:
	case reporter != nil:
		// A word may be the name of a mod and none.
		ok = strings.ContainsAny(name, " .") && !o.same(reporter)
	case strings.HasPrefix(strings.TrimLeft(rest, " "), ":"):
		kind, weight = Tag, weightTag
	default:
		ok = s.finder.whole() && rest != "" && rest[0] == ' ' && unicode.IsLower(verb) && !isWord(name)
	}
	if ok {
		s.found(kind, weight, o)
	}
	return ok
}

// minName is how long a name is at least that heads a text.
const minName = 3

// isWord reports whether a name may be a word of a sentence: letters alone, with no capital but the first.
func isWord(name string) bool {
	_, size := utf8.DecodeRuneInString(name)
	return !strings.ContainsFunc(name[size:], func(r rune) bool { return !unicode.IsLower(r) })
}

// nodes matches a text about nodes of XML, but not the name of a file.
var nodes = texts.Lazy(`(?i)(?:^|[^.\w])xml\b|\bnode\b`)

// cutTag takes a tag in brackets off the beginning of a line. Brackets may be
// nested, since names of mods begin with names of series: [[XY] Some Mod].
func cutTag(line string) (tag, rest string, ok bool) {
	whole := tagForm().FindString(line[:min(len(line), 2*maxName)])
	if whole == "" {
		return "", line, false
	}
	return whole[1 : len(whole)-1], line[len(whole):], true
}

var tagForm = texts.Lazy(`^\[(?:[^][]|\[(?:[^][]|\[[^][]*\])*\])*\]`)

// tagWeight returns the weight of the tag of o: little where o is a messenger, or
// none of the loaded mods, or in capitals.
func (s *scan) tagWeight(o *owner) int {
	switch {
	case messenger(o.display):
		return weightDoubt
	case o.mod != 0:
		return weightTag
	case s.finder.whole() && !s.finder.running[fold(o.display)]:
		return weightUnlisted
	case inCapitals().MatchString(o.display):
		return weightDoubt
	}
	return weightTag
}

// inCapitals matches a tag as engines write the tags of their parts.
var inCapitals = texts.Lazy(`^[A-Z][-_+'&!?#: A-Z]+$`)

// tagName returns the part of a tag that may be the name of a mod, without the
// part of the mod, and without a version.
func tagName(tag string) string {
	tag = behindLevel(strings.TrimSpace(tag))
	if strings.ContainsAny(tag, ",=/\\{}<>\"|%$;") || len(tag) > maxName {
		return ""
	}
	// [Some Mod:Loader] is a part of the mod, [Some Series: Some Mod] its name.
	if i := strings.IndexByte(tag, ':'); i >= 0 && i+1 < len(tag) && tag[i+1] != ' ' {
		if digit(tag[i+1]) {
			return ""
		}
		if kind := tag[:i]; kind == "script" || kind == "resource" {
			return tag[i+1:]
		}
		tag = tag[:i]
	}
	tag = unversioned(tag)
	key := fold(tag)
	n := letters(key)
	isShort := n == 0 || n == 1 && utf8.RuneCountInString(key) < 3 || digit(tag[0]) && n < 3
	if isShort || levels[key] || version(tag) || unnamed().MatchString(tag) {
		return ""
	}
	return tag
}

// behindLevel returns the text of a tag after its level, as loaders of mods write it: [Error  :  Some Mod], [10:00:00
// ERROR Some Mod]. A tag of another form stays.
func behindLevel(tag string) string {
	if m := leveled().FindStringSubmatch(tag); m != nil && levels[fold(m[1]+m[2])] {
		return m[3]
	}
	return tag
}

// Spoken returns the part of the message of a record that may name mods: text, which is without a logger's head, or all
// if the head has a name after the level.
func Spoken(message, text string) string {
	if tag, _, ok := cutTag(message); ok && len(text) < len(message) && behindLevel(tag) != tag {
		return message
	}
	return text
}

var leveled = texts.Lazy(`^(?:([^:\d][^:]*):|\d[\d:.]* +(\S+) ) *(.*)`)

// levels are what loggers of any mod, or parts of any game, write in tags, folded.
var levels = texts.Words(`
	err error errors wrn warn warning warnings inf info information dbg debug trace trc verbose log logger logging
	message msg notice fatal ftl crit critical severe exception assert fail failed failure ok success test null none
	todo mod mods main utc gmt pm am thread mainthread ref endofstacktrace
	ai audio chat client combat game net network quest render save saves scripting server ui world
`)

// unnamed matches a tag that names no mod: a thread or a pool of threads, something printed elsewhere, a constant.
var unnamed = texts.Lazy(
	`(?i:(thread|thread ?pool|worker|finalizer)[^\pL]*$)|^Ref [[:xdigit:]]+$|^([A-Z][^\p{Ll}]*)?_[^\p{Ll}]*$`)

// version reports whether a word is a version, such as v1.2.
func version(word string) bool {
	word = strings.TrimLeft(word, "vV(")
	return word != "" && digit(word[0]) && strings.Trim(word, "0123456789.-+abcdefr)") == ""
}

func digit(c byte) bool { return c-'0' < 10 }
