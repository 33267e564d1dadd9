// Package format describes families of logs to package capture. A family is the logs of one game, engine or loader:
// text that only its logs have lies in the package of the family, and its rules in the rule files that name it.
//
//	var Format = format.Format{Name: "acme", Detect: detect, Facts: facts}
//
//	func detect(line string) format.Evidence {
//		if strings.HasPrefix(line, "Acme Engine v") {
//			return format.Banner
//		}
//		return format.None
//	}
//
//	func facts(f *format.Facts, line string) {
//		if version, ok := strings.CutPrefix(line, "Acme Engine v"); ok {
//			format.Learn(&f.Engine, "Acme "+version)
//		}
//	}
//
// Functions see one line without its end, of any content: they neither panic nor keep it. [Learn] stores a copy.
package format

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/heedlog/heed/event"
)

// Format is a family of logs. A function that the family does not need is nil.
type Format struct {
	Name string // as rule files name it

	// Detect returns the evidence in a line that the log is of the family.
	Detect func(line string) Evidence

	// Level returns the level of a record by its first line, if the logger means something else by its words than
	// loggers do.
	Level func(line string) (event.Level, bool)

	// Silent reports that the program reports no mod that it loads: its lists have a heading.
	Silent bool

	// Facts learns facts about game, loader and machine from a line.
	Facts func(f *Facts, line string)
}

// Evidence is how certain it is that a log is of a family.
type Evidence uint8

// Evidence of a family, from none to certainty.
const (
	None   Evidence = iota
	Form            // lines of the family often look like this
	Banner          // only the family's own program writes it, at its start
)

// Facts are facts about game, loader and machine in a capture. Texts are parts of the log,
// untrusted and not scrubbed, of at most 200 characters, and "" if unknown.
type Facts struct {
	Game           string `json:"game,omitempty" jsonschema:"The game with its version, such as \"RimWorld 1.6.4566 rev607\"."`
	Engine         string `json:"engine,omitempty" jsonschema:"The engine with its version, such as \"Unity 2022.3.35f1\"."`
	Loader         string `json:"loader,omitempty" jsonschema:"The loader of mods with its version, such as \"BepInEx 5.4.21.0\"."`
	Platform       string `json:"platform,omitempty" jsonschema:"The system that the game was built for: Windows, Linux or macOS."`
	Runtime        string `json:"runtime,omitempty" jsonschema:"The runtime of the scripts, such as \"Mono\"."`
	Language       string `json:"language,omitempty" jsonschema:"The language of the game."`
	System         string `json:"system,omitempty" jsonschema:"The operating system."`
	CPU            string `json:"cpu,omitempty" jsonschema:"The processor."`
	Memory         string `json:"memory,omitempty" jsonschema:"Memory of the machine, such as \"16384 MB\"."`
	Graphics       string `json:"graphics,omitempty" jsonschema:"The graphics card."`
	GraphicsAPI    string `json:"graphicsApi,omitempty" jsonschema:"The graphics interface, such as \"Direct3D 11.0 [level 11.1]\"."`
	GraphicsMemory string `json:"graphicsMemory,omitempty" jsonschema:"Memory of the graphics card, such as \"6052 MB\"."`
	GraphicsDriver string `json:"graphicsDriver,omitempty" jsonschema:"The version of its driver."`
	Arguments      string `json:"arguments,omitempty" jsonschema:"The arguments of the command line; they may contain folders with a person's name."`
}

const maxFact = 200 // characters

// Learn keeps the first text for a fact.
func Learn(fact *string, text string) {
	if text = strings.TrimSpace(text); *fact == "" && utf8.ValidString(text) {
		*fact = Shorten(text, maxFact)
	}
}

// Shorten returns a copy of s of at most limit characters.
func Shorten(s string, limit int) string {
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return strings.Clone(s)
}

// IsVersion reports whether a word is a version: "1.2.0", "v2", "0.92.0+1.20.1".
func IsVersion(word string) bool {
	begins := word != "" && (word[0]-'0' < 10 || word[0]|0x20 == 'v') // as few words
	return begins && len(word) <= maxVersion && version.MatchString(word)
}

const maxVersion = 40

// version matches a number, or one with a sign after it: the first number of an id is part of a word.
var version = regexp.MustCompile(`^[vV]?\d+(?:[._+-][\w.+-]*)?$`)

// IsLongVersion reports whether a word is a version of more than one number.
func IsLongVersion(word string) bool { return strings.Contains(word, ".") && IsVersion(word) }

// Word returns the text after mark in a line, up to the next space, comma or bracket; "" without the mark.
func Word(line, mark string) string {
	_, rest, _ := strings.Cut(line, mark)
	if end := strings.IndexAny(rest, " ,;)]}\t"); end >= 0 {
		rest = rest[:end]
	}
	return rest
}
