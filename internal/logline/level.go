package logline

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/heedlog/heed/event"
)

// class is where a word means a level.
type class uint8

const (
	anywhere class = iota // in brackets or where loggers have the level, in any case
	abridged              // the same, but in small letters or in capitals only
	timed                 // as abridged, and below a time only: else it may be the name of a mod or a word of the text
	field                 // in a field that holds nothing else
)

// meaning is the level that a word names, and where it does.
type meaning struct {
	level event.Level
	class class
}

// meanings holds the words for levels: words of loggers in small letters, words of localized programs as they are.
var meanings = func() map[string]meaning {
	all := map[string]meaning{}
	for _, row := range []struct {
		meaning
		words string
	}{
		{meaning{event.LevelDebug, anywhere}, "debug trace verbose"},
		{meaning{event.LevelInfo, anywhere}, "info display 信息 情報 정보"},
		{meaning{event.LevelWarning, anywhere}, "warning warn warnung avertissement advertencia avviso uwaga 警告 경고 " +
			"предупреждение Предупреждение ПРЕДУПРЕЖДЕНИЕ"},
		{meaning{event.LevelError, anywhere}, "error err severe fehler erreur errore erro hata 错误 錯誤 エラー 오류 " +
			"ошибка Ошибка ОШИБКА błąd Błąd BŁĄD"},
		{meaning{event.LevelFatal, anywhere}, "fatal critical"},
		{meaning{event.LevelDebug, abridged}, "dbg dbug trc trce vrb"},
		{meaning{event.LevelInfo, abridged}, "inf"},
		{meaning{event.LevelWarning, abridged}, "wrn"},
		{meaning{event.LevelError, abridged}, "eror exc"},
		{meaning{event.LevelFatal, abridged}, "ftl crit emerg"},
		{meaning{event.LevelInfo, timed}, "notice log"},
		{meaning{event.LevelFatal, timed}, "alert panic pnc"},
		{meaning{event.LevelDebug, field}, "d v t trac debu 10 20 100"},
		{meaning{event.LevelInfo, field}, "information informational message i 30 200 250"},
		{meaning{event.LevelWarning, field}, "w 40 300"},
		{meaning{event.LevelError, field}, "exception assert dpanic fail fault e 50 400"},
		{meaning{event.LevelFatal, field}, "emergency fata pani f c 60 500 550 600"},
		{meaning{event.LevelUnknown, field}, "unknown"},
	} {
		for word := range strings.FieldsSeq(row.words) {
			all[word] = row.meaning
		}
	}
	return all
}()

// ParseLevel reads the value of a level field: the names that common loggers use, in any case, with slog's offsets
// ("WARN+2"), and the numbers of pino, bunyan and Monolog.
func ParseLevel(value string) (event.Level, bool) {
	if i := strings.IndexAny(value, "+-"); i > 0 {
		value = value[:i]
	}
	return find(value, field)
}

// Priority returns the level of a number that syslog writes: a severity, or one with a facility.
func Priority(number string) (event.Level, bool) {
	n, err := strconv.ParseUint(number, 10, 8)
	if err != nil || n > 191 {
		return event.LevelUnknown, false
	}
	return [...]event.Level{
		event.LevelFatal, event.LevelFatal, event.LevelFatal, event.LevelError, event.LevelWarning, event.LevelInfo,
		event.LevelInfo, event.LevelDebug,
	}[n%8], true
}

// maxLevel is the length of the longest word for a level.
const maxLevel = len("ПРЕДУПРЕЖДЕНИЕ")

// find returns the level that a word names where words of a class and those before it count.
func find(word string, upTo class) (event.Level, bool) {
	var lower [maxLevel]byte
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
		case upTo < field && c < 0x80:
			return event.LevelUnknown, false
		}
		lower[i] = c
	}
	m, ok := meanings[string(lower[:len(word)])]
	if !ok && lower[len(word)-1] >= 0x80 {
		m, ok = meanings[word]
	}
	isOneCase := m.class == anywhere || upTo == field || small == 0 || capital == 0
	return m.level, ok && m.class <= upTo && isOneCase
}

// ofLetter returns the level of the letter with which logcat and klog begin.
func ofLetter(c byte) (event.Level, bool) {
	i := strings.IndexByte("VDTINWEFAC", c)
	if i < 0 {
		return event.LevelUnknown, false
	}
	return [...]event.Level{
		event.LevelDebug, event.LevelDebug, event.LevelDebug, event.LevelInfo, event.LevelInfo, event.LevelWarning,
		event.LevelError, event.LevelFatal, event.LevelFatal, event.LevelFatal,
	}[i], true
}

// Tag returns the level that the text of a tag in brackets names, alone or with the time, the thread, the module or the
// logger, as loaders of mods and loggers write them. After a time more words count.
//
//	[ERR]   [WARN ]   [Error  :   BepInEx]   [main/WARN]   [10:00:00 ERROR Some Mod]   [ERR 10:00:00]   [core:emerg]
//	[ERROR @ 10:00:00 | press]   [1:2:0405/100000.1:ERROR:a.cc(1)]   [ERROR|press]   [=ERROR=]   10:00:00 [Server Error]
//	[10:00:00.123 E]
func Tag(tag string, afterTime bool) (event.Level, bool) {
	tag = strings.Trim(tag, " =*")
	begins := tag != "" && isDigit(tag[0])
	upTo := abridged
	if afterTime || begins {
		upTo = timed
	}
	if l, ok := find(tag, upTo); ok {
		return l, true
	}
	if len(tag) == 1 && upTo == timed {
		return ofLetter(tag[0])
	}
	for rest := tag; begins && rest != ""; {
		n := tagWordLen(rest)
		word := rest[:n]
		if l, ok := find(word, timed); ok {
			return l, true
		}
		if len(rest) == 1 && strings.Contains("VDIWEF", rest) && timeLen(tag) == len(tag)-len(" E") {
			return ofLetter(rest[0])
		}
		begins = word == "" || isDigit(word[0]) || isSign(word[0]) || isZone(word)
		rest = rest[min(len(rest), n+1):]
	}
	if word, rest, ok := strings.Cut(tag, " "); ok && timeLen(strings.TrimLeft(rest, "-@ ")) > 0 {
		return find(word, timed)
	} else if l, isLevel := find(rest, anywhere); isLevel && afterTime && (word == "Server" || word == "Client") {
		return l, true
	}
	i := strings.LastIndexByte(tag, '/')
	if i < 0 {
		i = strings.IndexAny(tag, ":|")
	}
	if i <= 0 {
		return event.LevelUnknown, false
	}
	if l, ok := find(strings.TrimRight(tag[:i], " "), upTo); ok {
		return l, true
	}
	return find(tag[i+1:], upTo)
}

// betweenWords reports whether c is a sign between the words of a tag.
func betweenWords(c rune) bool { return c == ' ' || c == ':' || c == '|' || c == ',' || c == ';' }

// tagWordLen returns the length of the word of a tag that s begins with.
func tagWordLen(s string) int {
	for i := range len(s) {
		if betweenWords(rune(s[i])) {
			return i
		}
	}
	return len(s)
}

func isSign(c byte) bool { return c == '+' || c == '-' }

// isCapitals reports whether s has no letter but capitals and letters of scripts without them.
func isCapitals(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c < 0x80 && (c < 'A' || c > 'Z') || unicode.IsLower(c)
	})
}

func isDigit(c byte) bool { return c-'0' < 10 }

func isLetter(c byte) bool { return (c|0x20)-'a' < 26 }

// undetailed reports whether s, after "dbg", has a tag with 0 for the details: "dbg: [press:0] ", printed in any case.
func undetailed(s string) bool {
	tag, _, ok := strings.Cut(s[:min(len(s), maxPart)], "]")
	return ok && strings.HasPrefix(tag, ": [") && strings.HasSuffix(tag, ":0")
}
