package capture

import (
	"bytes"

	"github.com/heedlog/heed/event"
)

// consoleMark is the frame on top of nearly every trace in a copy of the
// game's console.
const consoleMark = "UnityEngine.StackTraceUtility:ExtractStackTrace"

// noTrace is what the console's copy has below a message that was logged
// without a trace.
const noTrace = "No stack trace."

// isLogging reports whether b is a frame of the top of a console's trace.
func isLogging(b []byte) bool {
	if hasPrefix(b, consoleMark) {
		return true
	}
	_, ok := consoleLevel(b)
	return ok
}

// consoleLevel returns the level that b gives, a frame in Unity's form, if the
// method is one that logs:
//
//	Verse.Log:Error (string)
//	UnityEngine.Debug:LogWarning(Object)
//	(wrapper dynamic-method) Verse.Log:Verse.Log.Error_Patch2 (string)
//	(wrapper dynamic-method) MonoMod.Utils.DynamicMethodDefinition:Verse.Log.Error_Patch2 (string)
func consoleLevel(b []byte) (event.Level, bool) {
	if hasPrefix(b, "(wrapper ") {
		i := bytes.IndexByte(b, ')')
		if i < 0 {
			return event.LevelUnknown, false
		}
		b = trimLeft(b[i+1:])
		// A detour of Harmony's stands under MonoMod's type, or under its own.
		if j := bytes.IndexByte(b, ':'); j > 0 && hasPrefix(b, "MonoMod.") {
			b = b[j+1:]
		}
	}
	if !hasPrefix(b, "Verse.Log:") && !hasPrefix(b, "Verse.Log.") &&
		!hasPrefix(b, "UnityEngine.Debug:") && !hasPrefix(b, "UnityEngine.Debug.") {
		return event.LevelUnknown, false
	}
	if i := bytes.IndexByte(b, '('); i >= 0 {
		b = trimRight(b[:i])
	}
	if i := bytes.LastIndexAny(b, ".:"); i >= 0 {
		b = b[i+1:]
	}
	if i := bytes.Index(b, []byte("_Patch")); i > 0 {
		b = b[:i]
	}
	if hasPrefix(b, "Log") && len(b) > len("Log") {
		b = b[len("Log"):]
	}
	switch {
	case hasPrefix(b, "Error"), hasPrefix(b, "Exception"), hasPrefix(b, "Assert"):
		return event.LevelError, true
	case hasPrefix(b, "Warning"):
		return event.LevelWarning, true
	case hasPrefix(b, "Message"), hasPrefix(b, "Format"), string(b) == "Log":
		return event.LevelInfo, true
	}
	return event.LevelUnknown, false
}
