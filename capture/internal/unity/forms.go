package unity

import (
	"regexp"
	"slices"
	"strings"

	"github.com/heedlog/heed/capture/internal/begins"
	"github.com/heedlog/heed/event"
)

// Footer begins the line that Unity 2019 puts under a warning, an error or a message of the engine itself:
//
//	(Filename: C:\buildslave\unity\build\Runtime/Export/Debug/Debug.bindings.h Line: 39)
//	(Filename:  Line: 580)
//	(Filename:  Line: -1)
const Footer = "(Filename: "

// IsFooter reports whether a line is a footer.
func IsFooter(line string) bool {
	return strings.HasPrefix(line, Footer) && footer.MatchString(line)
}

var footer = regexp.MustCompile(` Line: -?\d+\)[ \t]*$`)

// IsManaged reports whether a footer is of a line that managed code logged: it names the file of the engine's that all
// of them pass through ("…/Debug/Debug.bindings.h"). Footers of native code stay where the others are stripped, as old
// uploads by HugsLib do.
func IsManaged(footer string) bool { return strings.Contains(footer, "/Debug") }

// IsCutFooter reports whether a line is the beginning of a footer that lacks its end.
func IsCutFooter(line string) bool { return strings.HasPrefix(line, Footer) && !IsFooter(line) }

// ConsoleMark is the frame on top of nearly every trace in a copy of the game's console. NoTrace is below a message
// there that was logged without a trace.
const (
	ConsoleMark = "UnityEngine.StackTraceUtility:ExtractStackTrace"
	NoTrace     = "No stack trace."
)

// Logged returns the level of a frame in Unity's form whose method is one of a class that logs:
//
//	Verse.Log:Error (string)
//	UnityEngine.Debug:LogWarning(Object)
//	(wrapper dynamic-method) Verse.Log:Verse.Log.Error_Patch2 (string)
//	(wrapper dynamic-method) MonoMod.Utils.DynamicMethodDefinition:Verse.Log.Error_Patch2 (string)
func Logged(line string, classes []string) event.Level {
	if strings.HasPrefix(line, "(wrapper ") {
		_, line, _ = strings.Cut(line, ")")
		line = strings.TrimLeft(line, " \t")
		if _, path, ok := strings.Cut(line, ":"); ok && strings.HasPrefix(line, "MonoMod.") {
			line = path // a detour of Harmony's is below MonoMod's type, or below its own
		}
	}
	i := slices.IndexFunc(classes, func(class string) bool { return strings.HasPrefix(line, class) })
	if i < 0 {
		return event.LevelUnknown // as nearly all lines
	}
	path, _, _ := strings.Cut(line[len(classes[i]):], "(")
	last := strings.LastIndexAny(path, ".:")
	if last < 0 || path[0] != ':' && (path[0] != '.' || last > 0) { // of another class, whose name begins so
		return event.LevelUnknown
	}
	method, _, _ := strings.Cut(strings.TrimRight(path[last+1:], " \t"), "_Patch")
	if kind := strings.TrimPrefix(method, "Log"); kind != "" {
		method = kind
	}
	switch {
	case begins.Any(method, "Error", "Exception", "Assert"):
		return event.LevelError
	case strings.HasPrefix(method, "Warning"):
		return event.LevelWarning
	case method == "Log", begins.Any(method, "Message", "Format"):
		return event.LevelInfo
	}
	return event.LevelUnknown
}

// Generation returns which footers the engine writes, by the line with its version: 0, below a line of one space, up to
// 2019.2; 1, after a space, from 2019.3 on; 2, none, from 2020 on.
func Generation(line string) (generation uint8, ok bool) {
	number, ok := strings.CutPrefix(line, BannerVersion)
	if !ok {
		return 0, false
	}
	switch version := engine.FindStringSubmatch(number); {
	case version == nil:
		return 0, false
	case version[1] != "":
		return 1, true
	case version[2] != "":
		return 0, true
	}
	return 2, true
}

var engine = regexp.MustCompile(`^(?:(2019\.[34])|(2019|2018|2017|5)\b|\d)`)

// IsSignal reports whether a line is "Got a SIG… while executing native code", the same with the "UNKNOWN" of a system
// without signals, or the title above.
func IsSignal(line string) bool {
	return signal.MatchString(line) || strings.HasPrefix(strings.TrimLeft(line, " \t"), "Native Crash Reporting")
}

var signal = regexp.MustCompile(`^Got a [A-Z]+ while executing native code`)

// IsSymbols reports whether a line belongs to the list below SymbolsStart: the system's version, or a module with the
// source of its symbols.
func IsSymbols(line string) bool {
	return strings.HasPrefix(line, "OS-Version: ") || strings.Contains(line, ", SymType: '")
}

// IsUnloading reports whether the engine writes a line when it leaves a scene.
func IsUnloading(line string) bool {
	rest, ok := strings.CutPrefix(line, "Unloading ")
	return ok && strings.Contains(rest, "nused ") || strings.HasPrefix(line, "UnloadTime: ")
}

// IsTotal reports whether a line has the times of an unloading, which are below it.
func IsTotal(line string) bool {
	return strings.HasPrefix(line, "Total: ") && strings.Contains(line, "(FindLiveObjects: ")
}
