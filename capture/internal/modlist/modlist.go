// Package modlist reads the lines by which programs report the mods that they load, of any game:
//
//	[10:00:01] [main/INFO]: Loading 3 mods:             a heading: the items are below it
//	[Info   :   BepInEx] Loading [Some Mod 1.2.0]       words of loading, then a mod
//	[ModLoader] 2 mods found: some-mod 1.2.0, other     or several
//	[mods] some_mod 1.2.0 loaded, 14 items              or a mod, then the words
//	== game.exe -port=2302 -mod=@some_mod;@other        an argument of the program
//
// Such a line says that it is about mods by a noun in its words or in the name of its logger. Where it gives neither a
// version nor a quotation, it counts only with a second line of the same words.
package modlist

import (
	"path"
	"strings"
	"unicode"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/begins"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
)

// Mod is a mod of a list, with its version.
type Mod struct {
	blame.Mod

	Version string
}

const (
	verbs = "load|loaded|loading|mounted|mounting|enabled|enabling|selected|selecting|added|adding|instantiating|started|" +
		"initialized|initializing|active|found|registered|running"
	nouns   = "mod|mods|plugin|plugins|addon|addons|melon|melons|pack|packs"
	fillers = "trying|to|from|for|at|in|of|by|order|sorted|dependency|set|up|server|client|workshop|filesystem|project|" +
		"file|files|folder|manifest|assembly|settings"
)

// vocabulary has the words that may begin a report, leading all words that may be before its first mod, and other names
// of parts of a game with the words that are no names.
var (
	vocabulary = text.Words(strings.ReplaceAll(verbs+"|"+nouns+"|trying", "|", " "))
	leading    = text.Words(strings.ReplaceAll(verbs+"|"+nouns+"|"+fillers, "|", " "))
	other      = text.Words(strings.ReplaceAll("base|core|game|creative|survival|none|null|version|"+verbs+"|"+nouns+"|"+fillers, "|", " "))
	code       = text.Words(".jar .dll .zip .pyc .js")
)

var (
	// word matches a word of loading at the beginning of a text, maybe with a number before it, and the colon or space
	// after it.
	word   = text.Lazy(`^(?:\d+ )?([A-Za-z]+)(?:(:) *|,? +)`)
	verb   = text.Lazy(`(?i)\b(?:` + verbs + `)\b`)
	noun   = text.Lazy(`(?i)\b(?:` + nouns + `)\b`)
	plural = text.Lazy(`(?i)\b(?:mods|plugins|add-?ons)\b[^:]*: *$`)
	// about matches words before a text that say that it is about mods: "[ModLoader] ", "LogPluginManager: ".
	// "[PressMod] " is a mod, which may load anything.
	about = text.Lazy(`\b(?:Mod|MOD|Plugin|PLUGIN|Addon|mod|plugin|addon)[sS]?\b|(?:Mod|Plugin|Addon)[sS]?[A-Z]`)
	// heading matches a line that announces the mods that were loaded.
	heading = text.Lazy(`(?:^|[\]):] )[ \t]*((?:(?:Loaded|Loading|Initializing|Initialized|Active|Enabled|Running)` +
		` (?:.* )?(?i:mods|plugins|packs)|\S+ (?i:mods|plugins) \(\d+\)|(?i:mod list)):)$`)
	// tail matches the end of an item after its version.
	tail = text.Lazy(`^ ?(?:$|[([",]|(?:by|for|of type) |(?:[A-Z]+ )?(?:` + verbs + `)\b)`)
	// isDone matches the same where it has a verb.
	isDone = text.Lazy(`^ ?(?:[A-Z]+ )?(?:` + verbs + `)\b`)
	// title matches a name and no sentence: one word, or words that are written like a title.
	title = text.Lazy(`^(?:\S+|(?:(?:[\p{Lu}\d([&+-]\S*|of|the|and|for|in|to|a)(?: |$))+)$`)
	// archive matches a file of code with its version in its name.
	archive = text.Lazy(`^(.*?)(?:-(?:fabric|forge|neoforge|quilt))*(?:[-_+](\d.*|mc1\..*))?\.jar$`)
	number  = text.Lazy(`^\d{6,}$`)
	// numbered matches a number of the Steam Workshop, or the folder of one, and the name after it.
	numbered = text.Lazy(`^(?:(workshop-\d+)|(\d{6,}))(?: \((.+)\)| (\pL.*))`)
	// identified matches a name and the id or the number after it.
	identified = text.Lazy(`^(.*\S) [([](?:(\d{6,})|(?:\S*/)?([\pL_][\w.+-]*?)(?:\.mod)?)[)\]]$`)
	// argument matches the option by which a program was started with mods.
	argument = text.Lazy(`[ "]-(?:server)?[mM]ods?=([^" ]+)`)
)

// Heading reports whether a line announces mods, and how long the prefix is that a logger put before the text.
func Heading(line string) (prefix int, ok bool) {
	line = strings.TrimRight(line, " \t")
	if n := len(line); n < 2 || line[n-1] != ':' || strings.IndexByte("sStT)", line[n-2]) < 0 {
		return 0, false // as nearly all lines, for which the expression would take long
	}
	if at := heading().FindStringSubmatchIndex(line); at != nil {
		return at[2], true
	}
	return 0, false
}

// Author begins the line with the author of the mod that the line above names, with its version and nothing else.
const Author = "by "

// minNamed is how many mods in a row need no version.
const minNamed = 3

// The words of a report are looked for in maxLine bytes of a line, and a list may have maxList.
const (
	maxLine = 512
	maxList = 64 << 10
)

// Read returns the mods that a line names, and the words before them. It is not sure of a line that needs a second one
// of the same words. Strings are parts of the line.
func Read(line string) (mods []Mod, words string, isSure bool) {
	whole := line[:min(len(line), maxList)]
	line = whole[:min(len(whole), maxLine)]
	mayBegin := true // the text of a logger may begin here
	for at := 0; at < len(line); at++ {
		switch c := line[at]; {
		case c == ' ', c == '\t':
			mayBegin = mayBegin || at > 0 && line[at-1]-'0' < 10
		case c == ']', c == ':', c == ')', c == '"', c == '>' && at > 0 && line[at-1]-'0' < 10: // not "<player> "
			mayBegin = true
		case mayBegin && isLead(line[at:]):
			words = lead(line[at:])
			if isPlural(words) {
				line = whole // once: a list is no further looked at
			}
			switch mods, isSure = report(line[:at], words, line[at+len(words):]); {
			case len(mods) > 0:
				return mods, words, isSure
			case len(line) > maxLine:
				return nil, "", false
			}
			fallthrough
		default:
			mayBegin = false
		}
	}
	return readBare(line, whole)
}

// isLead reports whether a text begins with a word of a report.
func isLead(line string) bool {
	var lower [len("instantiating")]byte // a small letter of ASCII differs in one bit
	n := 0
	for n < len(lower) && n < len(line) && (line[n]|0x20)-'a' < 26 {
		lower[n] = line[n] | 0x20
		n++
	}
	return vocabulary[string(lower[:n])]
}

// lead returns the words of loading at the beginning of a text, and the colon or space after them.
func lead(line string) string {
	at, isColon := 0, false
	for !isColon {
		next := word().FindStringSubmatch(line[at:])
		if next == nil || !leading[strings.ToLower(next[1])] {
			break
		}
		at, isColon = at+len(next[0]), next[2] != ""
	}
	return line[:at]
}

// isPlural reports whether words of loading end in the announcement of several mods.
func isPlural(words string) bool { return strings.Contains(words, ":") && plural().MatchString(words) }

// readBare reads a line without words before the mods. An argument may be in the whole line.
func readBare(line, whole string) (mods []Mod, words string, isSure bool) {
	if strings.Contains(whole, "=") && (strings.Contains(whole, "od=") || strings.Contains(whole, "ods=")) {
		if option := argument().FindStringSubmatch(whole); option != nil {
			for item := range strings.SplitSeq(option[1], ";") {
				var m Mod
				if _, ok := m.Read(strings.TrimPrefix(item, "@")); ok {
					mods = append(mods, m)
				}
			}
			return mods, "", true
		}
	}
	tag := strings.LastIndexByte(line, ']') + 1
	text := strings.TrimLeft(line[tag:], ": -")
	switch last := text[strings.LastIndexByte(text, ' ')+1:]; {
	case tag == 0:
	case strings.HasPrefix(text, Author):
		return nil, Author, false
	case last != "" && last[0] == 'v' && format.IsLongVersion(last):
		var m Mod
		if rest, ok := m.Read(text); ok && rest == "" && isReport(&m, text) {
			return []Mod{m}, Author, false
		}
	case begins.Has(line[:tag], "od", "OD", "lugin", "LUGIN", "ddon"):
		if mods, isSure = report(line[:tag], "", text); isSure && about().MatchString(line[:tag]) {
			return mods, "", true
		}
	}
	return nil, "", false
}

// report reads the mods in a text after words of loading, and after others.
func report(before, words, after string) (mods []Mod, isSure bool) {
	if strings.Count(before, `"`)%2 == 1 {
		after, _, _ = strings.Cut(after, `"`)
	}
	var l line
	list := []string{after}
	if isPlural(words) {
		list = strings.Split(strings.Trim(after, "[] "), ", ")
	}
	for _, item := range list {
		var m Mod
		rest, ok := m.Read(item)
		if !ok || !tail().MatchString(rest) || !isReport(&m, item) {
			continue
		}
		if len(mods) == 0 {
			l = line{verb().MatchString(words), noun().MatchString(words), about().MatchString(before), 0}
		}
		l.learn(&m, before, item, rest)
		mods = append(mods, m)
	}
	switch {
	case len(mods) == 0, !l.isNoun && !l.isAbout && l.marked == 0:
		return nil, false
	case len(list) > 1:
		return mods, l.marked > 0 || len(mods) >= minNamed
	case !l.isVerb && (l.marked == 0 || !strings.Contains(words, ":")):
		return nil, false
	}
	name := mods[0].Name
	return mods, l.marked > 0 && (l.isNoun || l.isAbout) || l.isNoun && l.isAbout && name != strings.ToLower(name)
}

// line is the evidence in a line that it reports mods.
type line struct {
	isVerb, isNoun bool // it has words of loading, and a word for mods
	isAbout        bool // the words before are about mods
	marked         int  // mods with a version or an id, or in quotation marks
}

// learn learns from a mod between other text, which was read from an item.
func (l *line) learn(m *Mod, before, item, rest string) {
	if m.Version != "" {
		m.PackageID = "" // else a file of it
	}
	l.isAbout = l.isAbout || strings.HasSuffix(before, "["+m.Name+"] ")
	l.isVerb = l.isVerb || isDone().MatchString(rest) || strings.HasSuffix(item, ".jar")
	if m.Version+m.WorkshopID+m.PackageID != "" || l.isNoun && strings.IndexByte(`"'`, item[0]) >= 0 {
		l.marked++
	}
	l.isNoun = l.isNoun || item[0] == '[' && m.Version != ""
}

// isReport reports whether a program may report a mod so, which was read from a text: as a name and no sentence, and
// with a version that is no mere number.
func isReport(m *Mod, text string) bool {
	return m.Name != "" && !strings.HasSuffix(m.Name, ":") && (strings.IndexByte(`"'[`, text[0]) >= 0 || title().MatchString(m.Name)) &&
		(m.Version == "" || m.Version[0]|0x20 == 'v' || strings.Contains(m.Version, "."))
}

// maxItem is how long an item of a list is at most, without its description: a longer one is a sentence.
const maxItem = 256

// Read reads a mod at the beginning of a text: a name with its version, a package id, or both names, which may be in
// quotation marks or brackets, or a file. It returns the words after it.
func (m *Mod) Read(item string) (rest string, ok bool) {
	item, _, _ = strings.Cut(strings.TrimSpace(item), " | ")
	isProgress := strings.HasSuffix(item, "...") // no name: "metadata..."
	if item = strings.TrimRight(item, ".!"); item == "" || len(item) > maxItem || isProgress {
		return "", false
	}
	switch item[0] {
	case '\'', '"':
		item, rest, _ = strings.Cut(item[1:], item[:1])
		return rest, m.file(item)
	case '[':
		if inner, ok := strings.CutSuffix(item[1:], "]"); ok && inner != "" {
			item = inner
		}
	}
	if strings.IndexByte("w0123456789", item[0]) >= 0 {
		if parts := numbered().FindStringSubmatch(item); parts != nil {
			m.PackageID, m.WorkshopID, m.Name, item = parts[1], parts[2], parts[3], parts[4]
		}
		if item == "" {
			return "", true
		}
	}
	word, rest, _ := strings.Cut(item, " ")
	isID := isPackageID(word)
	switch {
	case code[path.Ext(word)]:
		return rest, m.file(word)
	case rest == "" && !isID && item[0]-'0' >= 10 && isPlain(item):
		return "", m.file(item)
	case isID && (rest == "" || rest[0] == '('):
		m.PackageID = word
		return "", true
	}
	rest = m.versioned(item, len(word))
	if m.Name == "" && strings.IndexByte(")]", item[len(item)-1]) >= 0 { // as few
		id := identified().FindStringSubmatch(item)
		if id != nil && (id[2] != "" || strings.ContainsAny(id[0][len(id[1]):], "./")) {
			m.Name, m.WorkshopID, m.PackageID = id[1], id[2], id[3]
		}
	}
	return rest, m.Name != "" && !other[strings.ToLower(m.Name)]
}

// maxWords is how many words a name with a version has at most.
const maxWords = 12

// versioned reads a name with its version, whose first word ends at a place, and the id after it. It returns the words
// after the version, or the last word.
func (m *Mod) versioned(item string, at int) (rest string) {
	for word, n := "", 0; at < len(item) && n < maxWords; at, n = at+1+len(word), n+1 {
		word, rest, _ = strings.Cut(item[at+1:], " ")
		version := strings.Trim(word, "(),")
		if !format.IsVersion(version) || number().MatchString(version) || !tail().MatchString(rest) {
			continue
		}
		m.Name, m.Version = item[:at], version
		if id := identified().FindStringSubmatch("x " + rest); id != nil {
			m.PackageID, m.WorkshopID = id[3], id[2]
		}
		break
	}
	return rest
}

// file takes the name of a mod or of the file of its code, which may be in a folder.
func (m *Mod) file(file string) bool {
	name := file[strings.LastIndexAny(file, `/\`)+1:]
	if found := archive().FindStringSubmatch(name); found != nil {
		name, m.Version = found[1], found[2]
	}
	if m.Name = name; code[path.Ext(name)] {
		m.Name = strings.TrimSuffix(name, path.Ext(name))
	}
	return m.Name != "" && !other[strings.ToLower(m.Name)]
}

// isPackageID reports whether a word is the id of a mod: with a dot in it, and no version.
func isPackageID(word string) bool {
	dot := strings.IndexByte(word, '.')
	return dot > 0 && dot < len(word)-1 && isPlain(word) && !format.IsVersion(word)
}

// isPlain reports whether a word has only the characters of an id, a version or a name of one word.
func isPlain(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.+-", r)
	})
}
