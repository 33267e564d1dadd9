// Package rimworld knows the logs of RimWorld, a game on Unity.
//
//	Mono path[0] = 'C:/Games/RimWorld/RimWorldWin64_Data/Managed'
//	RimWorld 1.5.4069 rev707
//	Verse.Log:Error (string)
package rimworld

import (
	"regexp"
	"strings"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/begins"
	"github.com/heedlog/heed/capture/internal/unity"
)

// Lines are the lines of the game. It reports a failed patch of XML as a trace of operations in brackets:
//
//	[Some Mod - Start of stack trace]
//	Verse.PatchOperationAdd(xpath="…"): Failed to find a node with the given xpath
//	Verse.PatchOperationSequence: Error in the operation at position=1
//	[End of stack trace]
//	The top operation is the one that failed, the ones below it are the parents
//	Source file: C:\…\Patches\Some.xml
var Lines = unity.Lines{
	Own: []string{"Loading game from file ", "RimWorld 0.", "RimWorld 1."},
	Opens: []string{
		"<color=", "Could not ", "Config error in ", "Exception ", "Error ", "Translation data for language ", "XML error: ",
	},
	Below: []string{
		"file: ", "Source file: ", "Subnode:", "The top operation is the one that failed", "XML:", PatchTraceEnd,
	},
	Alive:  []string{"Loading game from file ", "Initializing new game with mods"},
	Shows:  []string{"RimWorld 1.", "Reached max messages limit. Stopping logging"},
	Apart:  []string{"Field contents: ", "Root node: ", "Whole XML:"},
	Logs:   []string{"Verse.Log"},
	Faults: []string{"Could", "Couldn't", "Error", "Exception", "Config", "XML"},
}

// Reports are beginnings of reports that mention errors and are complete.
var Reports = []string{"Translation data for language ", "Config error in "}

// The end of the first line of such a trace, and the beginning of its last.
const (
	PatchTraceStart = "Start of stack trace]"
	PatchTraceEnd   = "[End of stack trace]"
)

// Format is the family of RimWorld's logs.
var Format = format.Format{Name: "rimworld", Detect: detect, Facts: facts, Silent: true}

func detect(line string) format.Evidence {
	if _, native, ok := strings.Cut(line, " (Mono JIT Code) "); ok {
		line = native
	}
	named := begins.Has(line, "RimWorld", "Verse.") // as few
	return begins.Evidence(named && banner.MatchString(line),
		begins.Any(line, Lines.Alive...) || strings.HasPrefix(line, Lines.Shows[1]) ||
			(named || strings.HasPrefix(line, "[Ref ")) && form.MatchString(line))
}

var (
	// banner matches the first lines of a log, and of a crash report.
	banner = regexp.MustCompile(`^(?:RimWorld (?:\d|by Ludeon Studios)|Mono path\[0\] = .*/RimWorld)`)
	// form matches a reference, and a frame of the game's code.
	form = regexp.MustCompile(`^(?:\[Ref [^\]]{8}\]|[ \t]*(?:at )?(?:\(wrapper .*?\) )?(?:Verse|RimWorld)\.)`)
)

// facts learns the language: "Translation data for language Basque has 12 errors.".
func facts(f *format.Facts, line string) {
	if language := translated.FindStringSubmatch(line); language != nil {
		format.Learn(&f.Language, language[1])
	}
}

var translated = regexp.MustCompile(`^Translation data for language (.{0,80}?) has \d+ errors\.`)
