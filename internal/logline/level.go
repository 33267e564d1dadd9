package logline

import (
	"strings"

	"github.com/heedlog/heed/event"
)

// class is where a word stands for a level.
type class uint8

const (
	anywhere class = iota // in brackets or where loggers have the level, in any case
	abridged              // the same, but in small letters or in capitals only
	timed                 // as abridged, and below a time only: else it may be the name of a mod or a word of the text
	field                 // in a field that holds nothing else
)

// levelOf returns the level that a word in small letters names, and where it does.
func levelOf(word string) (event.Level, class, bool) {
	switch word {
	case "debug", "trace", "verbose":
		return event.LevelDebug, anywhere, true
	case "info", "display":
		return event.LevelInfo, anywhere, true
	case "warning", "warn":
		return event.LevelWarning, anywhere, true
	case "error", "err", "severe":
		return event.LevelError, anywhere, true
	case "fatal", "critical":
		return event.LevelFatal, anywhere, true
	case "dbg", "dbug", "trc", "trce", "vrb":
		return event.LevelDebug, abridged, true
	case "inf":
		return event.LevelInfo, abridged, true
	case "wrn":
		return event.LevelWarning, abridged, true
	case "eror", "exc":
		return event.LevelError, abridged, true
	case "ftl", "crit", "emerg":
		return event.LevelFatal, abridged, true
	case "notice", "log":
		return event.LevelInfo, timed, true
	case "alert", "panic", "pnc":
		return event.LevelFatal, timed, true
	case "information", "informational", "message", "i", "30", "200", "250":
		return event.LevelInfo, field, true
	case "exception", "assert", "dpanic", "fail", "fault", "e", "50", "400":
		return event.LevelError, field, true
	case "emergency", "f", "c", "60", "500", "550", "600":
		return event.LevelFatal, field, true
	case "d", "v", "t", "10", "20", "100":
		return event.LevelDebug, field, true
	case "w", "40", "300":
		return event.LevelWarning, field, true
	case "unknown":
		return event.LevelUnknown, field, true
	}
	return event.LevelUnknown, field, false
}

// ParseLevel reads the value of a level field: the names that common loggers use, in any case, with slog's offsets
// ("WARN+2"), and the numbers of pino, bunyan and Monolog.
func ParseLevel(value string) (event.Level, bool) {
	if i := strings.IndexAny(value, "+-"); i > 0 {
		value = value[:i]
	}
	return find(value, field)
}

// Priority returns the level of a number that syslog writes: a severity, or one with a facility.
func Priority(digits string) (event.Level, bool) {
	n := 0
	for i := range len(digits) {
		if !isDigit(digits[i]) || n > 191 {
			return event.LevelUnknown, false
		}
		n = 10*n + int(digits[i]-'0')
	}
	if digits == "" || n > 191 {
		return event.LevelUnknown, false
	}
	return [...]event.Level{
		event.LevelFatal, event.LevelFatal, event.LevelFatal, event.LevelError, event.LevelWarning, event.LevelInfo,
		event.LevelInfo, event.LevelDebug,
	}[n%8], true
}

// find returns the level that a word names where words of a class and those before it count.
func find(word string, upTo class) (event.Level, bool) {
	var lower [len("informational")]byte
	if len(word) == 0 || len(word) > len(lower) {
		return event.LevelUnknown, false
	}
	small, capital := 0, 0
	for i := range len(word) {
		c := word[i]
		switch {
		case c-'A' < 26:
			c |= 0x20
			capital++
		case c-'a' < 26:
			small++
		case upTo < field:
			return event.LevelUnknown, false
		}
		lower[i] = c
	}
	level, class, ok := levelOf(string(lower[:len(word)]))
	if !ok || class > upTo || class != anywhere && upTo < field && small > 0 && capital > 0 {
		return event.LevelUnknown, false
	}
	return level, true
}

// ofLetter returns the level of the letter with which logcat and klog begin.
func ofLetter(c byte) (event.Level, bool) {
	switch c {
	case 'V', 'D', 'T':
		return event.LevelDebug, true
	case 'I', 'N':
		return event.LevelInfo, true
	case 'W':
		return event.LevelWarning, true
	case 'E':
		return event.LevelError, true
	case 'F', 'A', 'C':
		return event.LevelFatal, true
	}
	return event.LevelUnknown, false
}

// Tag returns the level that the text of a tag in brackets names, alone or with the time, the thread, the module or the
// logger, as loaders of mods and loggers write them. After a time more words count.
//
//	[ERR]   [WARN ]   [Error  :   BepInEx]   [main/WARN]   [10:00:00 ERROR Some Mod]   [ERR 10:00:00]   [core:emerg]
//	[1:2:0405/100000.1:ERROR:a.cc(1)]
func Tag(tag string, afterTime bool) (event.Level, bool) {
	tag = strings.Trim(tag, " ")
	upTo := abridged
	if afterTime || len(tag) > 0 && isDigit(tag[0]) {
		upTo = timed
	}
	if l, ok := find(tag, upTo); ok {
		return l, true
	}
	if len(tag) == 1 && upTo == timed {
		return ofLetter(tag[0])
	}
	if len(tag) > 0 && isDigit(tag[0]) {
		return timedTag(tag)
	}
	if word, rest, ok := strings.Cut(tag, " "); ok && rest != "" && timeLen(rest) > 0 {
		return find(word, timed)
	}
	if i := strings.LastIndexByte(tag, '/'); i > 0 {
		return find(tag[i+1:], upTo)
	}
	if i := strings.IndexByte(tag, ':'); i > 0 {
		if l, ok := find(strings.TrimRight(tag[:i], " "), upTo); ok {
			return l, true
		}
		return find(tag[i+1:], upTo)
	}
	return event.LevelUnknown, false
}

// timedTag is Tag of a tag that begins with a digit.
func timedTag(tag string) (event.Level, bool) {
	for rest := tag; rest != ""; {
		n := wordLen(rest)
		word, more := rest[:n], n < len(rest)
		rest = rest[min(len(rest), n+1):]
		if l, ok := find(word, timed); ok {
			if word == "ALERT" && more {
				l = event.LevelInfo // as SMAPI asks the player for something
			}
			return l, true
		}
		if word != "" && !isDigit(word[0]) && !isSign(word[0]) && !isZone(word) {
			break
		}
	}
	for rest, more := tag, true; more; {
		var word string
		word, rest, more = strings.Cut(rest, ":")
		if isCapitals(word) {
			if l, ok := find(word, timed); ok {
				return l, true
			}
		}
	}
	return event.LevelUnknown, false
}

func isSign(c byte) bool { return c == '+' || c == '-' }

func isCapitals(s string) bool {
	for i := range len(s) {
		if s[i]-'A' >= 26 {
			return false
		}
	}
	return s != ""
}

func isDigit(c byte) bool { return c-'0' < 10 }

func isLetter(c byte) bool { return (c|0x20)-'a' < 26 }
