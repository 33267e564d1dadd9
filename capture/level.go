package capture

import (
	"bytes"

	"github.com/heedlog/heed/event"
)

// level returns the level of the record and what it rests on, from the hardest
// evidence to the softest. Footered reports that the log has footers under warnings
// and errors, so that in the layouts that have them the lack of one is evidence as well.
func (a *assembly) level(layout Layout, footered bool) (event.Level, Evidence) {
	footered = footered && (layout == layoutUnity2019_2 || layout == layoutUnity2019_4)
	if layout == LayoutPlain && !a.plain {
		if l, ok := plainLevel(a.message); ok {
			return l, evidenceTag
		}
	}
	switch {
	case a.block == blockCrash:
		return event.LevelFatal, evidenceCrash
	case a.byConsole:
		return a.console, evidenceConsole
	case (a.frames > 0 || a.refState != "" || a.footer) && a.isException():
		return event.LevelError, evidenceException
	case !a.plain && !a.mentionsNone() && beginsException(a.message):
		return event.LevelError, evidenceException
	}
	tag, tagged := tagLevel(a.message)
	switch {
	case a.footer && tagged && tag > event.LevelWarning:
		return tag, evidenceTag
	case a.footer && a.lines == 1 && isFooter(a.message):
		// What it is the footer of is missing.
	case a.footer:
		// A footer means a warning or an error.
		return event.LevelWarning, evidenceFooter
	case tagged:
		return tag, evidenceTag
	case footered && a.frames == 0 && a.refState == "" && a.split != evidenceHole && !a.opensFault():
		return event.LevelInfo, evidenceNoFooter
	}
	return event.LevelUnknown, evidenceNone
}

// maxTags is how many tags in brackets are looked at: the mod, the part of it,
// the level.
const maxTags = 3

// tagLevel returns the level that b, the text of a record, gives itself by a tag
// in brackets before anything else: "[Gadgets][ERR] no panel", "[WARN] old panel".
// The name of a mod that is no more than such a word would be taken for one.
func tagLevel(b []byte) (event.Level, bool) {
	for range maxTags {
		if len(b) == 0 || b[0] != '[' {
			break
		}
		end := bytes.IndexByte(b[:min(len(b), maxTag)], ']')
		if end < 0 {
			break
		}
		if l, ok := levelTag(b[1:end]); ok {
			return l, true
		}
		b = trimLeft(b[end+1:])
	}
	return event.LevelUnknown, false
}

// maxTag is how long such a tag, or a word before a level, may be.
const maxTag = 48

// levelTag returns the level that a tag names, alone or with the time, the thread or
// the logger, as loaders of mods and loggers write them:
//
//	[ERR]   [Error  :   BepInEx]   [main/WARN]   [10:00:00 ERROR Some Mod]
func levelTag(tag []byte) (event.Level, bool) {
	if i := bytes.IndexByte(tag, ' '); i > 0 && isDigit(tag[0]) {
		tag, _, _ = bytes.Cut(trimLeft(tag[i:]), []byte(" "))
	} else if i := bytes.LastIndexByte(tag, '/'); i > 0 {
		tag = tag[i+1:]
	} else if i := bytes.IndexByte(tag, ':'); i > 0 {
		tag = trimRight(tag[:i])
	}
	return levelWord(tag, false)
}

// ParseLevel reads the value of a level field: the names that common loggers use, in any
// case, with slog's offsets ("WARN+2"), and the numbers of pino and bunyan.
func ParseLevel(value []byte) (event.Level, bool) {
	if i := bytes.IndexAny(value, "+-"); i > 0 {
		value = value[:i]
	}
	return levelWord(value, true)
}

// levelWord returns the level that a word names. Of the words some count only where a
// field holds nothing but a level: in text they are words like others.
func levelWord(word []byte, field bool) (event.Level, bool) {
	var lower [len("information")]byte
	if len(word) > len(lower) {
		return event.LevelUnknown, false
	}
	for i, c := range word {
		if c-'A' < 26 {
			c |= 0x20
		}
		lower[i] = c
	}
	level, known := event.LevelUnknown, field
	switch string(lower[:len(word)]) {
	case "debug", "trace", "verbose":
		return event.LevelDebug, true
	case "info", "display":
		return event.LevelInfo, true
	case "warning", "warn":
		return event.LevelWarning, true
	case "error", "err", "severe":
		return event.LevelError, true
	case "fatal", "critical":
		return event.LevelFatal, true
	case "10", "20":
		level = event.LevelDebug
	case "information", "notice", "message", "log", "30":
		level = event.LevelInfo
	case "40":
		level = event.LevelWarning
	case "exception", "assert", "dpanic", "50":
		level = event.LevelError
	case "panic", "crit", "alert", "emerg", "emergency", "60":
		level = event.LevelFatal
	case "unknown":
	default:
		known = false
	}
	if !known {
		level = event.LevelUnknown
	}
	return level, known
}

// opensFault reports whether b, the text of a record, opens as the engine's and
// the game's own reports of faults do, or names an exception. The engine's reports
// may lack a footer, and of a report whose end was not recognized only the last
// line has one; so the lack of it is no evidence there.
func opensFault(b []byte) bool { return opensFaultWord(b) || namesException(b) }

// opensFault is opensFault of the message, with what is known of it.
func (a *assembly) opensFault() bool {
	b := a.message
	return len(b) > 0 && opens[b[0]]&mayFault != 0 && opensFaultWord(b) || a.mentionsException() && namesException(b)
}

// opensFaultWord reports whether the first word of b is one that those reports open with.
func opensFaultWord(b []byte) bool {
	word, _, _ := bytes.Cut(b, []byte(" "))
	switch string(word) {
	case "Could", "Couldn't", "Failed", "Unable", "Cannot", "Can't", "Invalid", "Error", "ERROR:", "Exception", "Fatal",
		"Assertion", "GC", "WARNING:", "Warning:", "Config", "XML", "Plugins:", "Metal:", "d3d11:", "d3d12:", "Vulkan:":
		return true
	}
	return false
}

// isManaged reports whether b is the footer of a line that managed code logged:
// it names the file of the engine's that all of them pass through
// ("…/Debug/Debug.bindings.h"). Footers of
// native code stay where those are stripped, as old uploads by HugsLib do.
func isManaged(footer []byte) bool { return bytes.Contains(footer, []byte("/Debug")) }
