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

type levelWord struct {
	level event.Level
	class class
}

var levelWords = map[string]levelWord{
	"debug": {event.LevelDebug, anywhere}, "trace": {event.LevelDebug, anywhere}, "verbose": {event.LevelDebug, anywhere},
	"info": {event.LevelInfo, anywhere}, "display": {event.LevelInfo, anywhere},
	"warning": {event.LevelWarning, anywhere}, "warn": {event.LevelWarning, anywhere},
	"error": {event.LevelError, anywhere}, "err": {event.LevelError, anywhere}, "severe": {event.LevelError, anywhere},
	"fatal": {event.LevelFatal, anywhere}, "critical": {event.LevelFatal, anywhere},

	"dbg": {event.LevelDebug, abridged}, "dbug": {event.LevelDebug, abridged}, "trc": {event.LevelDebug, abridged},
	"trce": {event.LevelDebug, abridged}, "vrb": {event.LevelDebug, abridged}, "inf": {event.LevelInfo, abridged},
	"wrn": {event.LevelWarning, abridged}, "eror": {event.LevelError, abridged}, "ftl": {event.LevelFatal, abridged},
	"crit": {event.LevelFatal, abridged}, "emerg": {event.LevelFatal, abridged},

	"notice": {event.LevelInfo, timed}, "log": {event.LevelInfo, timed}, "alert": {event.LevelFatal, timed},
	"panic": {event.LevelFatal, timed}, "pnc": {event.LevelFatal, timed},

	"information": {event.LevelInfo, field}, "informational": {event.LevelInfo, field},
	"message":   {event.LevelInfo, field},
	"exception": {event.LevelError, field}, "assert": {event.LevelError, field}, "dpanic": {event.LevelError, field},
	"fail": {event.LevelError, field}, "fault": {event.LevelError, field}, "emergency": {event.LevelFatal, field},
	"d": {event.LevelDebug, field}, "v": {event.LevelDebug, field}, "t": {event.LevelDebug, field},
	"i": {event.LevelInfo, field}, "w": {event.LevelWarning, field}, "e": {event.LevelError, field},
	"f": {event.LevelFatal, field}, "c": {event.LevelFatal, field}, "unknown": {event.LevelUnknown, field},

	// Of pino and bunyan, and of Monolog. Those of syslog are as often something else.
	"10": {event.LevelDebug, field}, "20": {event.LevelDebug, field}, "30": {event.LevelInfo, field},
	"40": {event.LevelWarning, field}, "50": {event.LevelError, field}, "60": {event.LevelFatal, field},
	"100": {event.LevelDebug, field}, "200": {event.LevelInfo, field}, "250": {event.LevelInfo, field},
	"300": {event.LevelWarning, field}, "400": {event.LevelError, field}, "500": {event.LevelFatal, field},
	"550": {event.LevelFatal, field}, "600": {event.LevelFatal, field},
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
	w, ok := levelWords[string(lower[:len(word)])]
	if !ok || w.class > upTo || w.class != anywhere && upTo < field && small > 0 && capital > 0 {
		return event.LevelUnknown, false
	}
	return w.level, true
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
//	[ERR]   [Error  :   BepInEx]   [main/WARN]   [10:00:00 ERROR Some Mod]   [core:emerg]
//	[1:2:0405/100000.1:ERROR:a.cc(1)]
func Tag(tag string, afterTime bool) (event.Level, bool) {
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
	for rest, more := tag, true; more; {
		var word string
		word, rest, more = strings.Cut(rest, " ")
		if l, ok := find(word, timed); ok {
			return l, true
		}
		if word == "" || isDigit(word[0]) || isSign(word[0]) {
			continue
		}
		break
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
