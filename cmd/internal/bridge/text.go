package bridge

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/heedlog/heed/internal/text"
)

// maxInteger is the largest integer that every JSON reader keeps.
const maxInteger = 1<<53 - 1

// maxNameChars bounds names in answers, in characters, and maxSaid sentences of rule files and errors.
const (
	maxNameChars = 200
	maxSaid      = 600
)

// named returns a name from a peer or a rule file, safe to show.
func named(s string) string { return text.Safe(s, maxNameChars) }

// said returns a sentence from the owner's files, the system or the host, safe to show.
func said(s string) string { return text.Safe(s, maxSaid) }

// allNamed returns at most limit names.
func allNamed(list []string, limit int) []string {
	var out []string
	for _, s := range list[:min(len(list), limit)] {
		out = append(out, named(s))
	}
	return out
}

// cutName bounds a name that an error repeats.
func cutName(s string) string { return text.Safe(s, 64) }

// logText returns log text of at most limit characters on one line, and whether it
// was cut.
func logText(s string, limit int) (string, bool) {
	shown := text.Safe(s, limit)
	return shown, shown != s && shown != text.Safe(s, 0)
}

// logLines returns log text line by line, at most so many lines and characters in
// all, and whether it was cut.
func logLines(s string, lines, chars int) (out []string, cut bool) {
	for line := range strings.Lines(s) {
		if len(out) == lines || chars <= 0 {
			return out, true
		}
		shown, short := logText(strings.TrimRight(line, "\r\n"), chars)
		out = append(out, shown)
		cut = cut || short
		chars -= len(shown)
	}
	return out, cut
}

// integer bounds a number to what JSON readers keep.
func integer(n uint64) uint64 { return min(n, maxInteger) }

// stamp returns a time that has a form in JSON: in UTC, and zero for a year that has none.
func stamp(t time.Time) time.Time {
	if t = t.UTC().Round(0); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// Encode returns the JSON form of plain data in one line, without escapes for HTML.
func Encode(v any) json.RawMessage { return text.JSON(v) }
