package capture

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
)

// Where nearly all records of plain text began with the head of a logger so far, a line without one directly below a
// record that has one and reports a fault, or ends in a colon, continues it. Another program's
// lines may be below any record. Most of them begin a record, which soon shows that the rule does not hold.
const (
	minHeaded    = 2  // records with a head, and
	headedShare  = 16 // this many for each without one
	maxContinued = 64 // lines of a record
)

// headsRecords reports whether nearly all records of the log so far began with the head of a logger.
func (r *Reader) headsRecords() bool {
	return r.layout == LayoutPlain && r.headed >= minHeaded && r.headed >= headedShare*r.bare
}

// continues reports whether ln, which has no head and no claim to the open record, continues it.
func (r *Reader) continues(ln *line) bool {
	a := &r.asm
	if !r.headsRecords() || a.lines >= maxContinued || !a.logger().Sure || !a.awaitsMore() || !ln.mayGoOn() {
		return false
	}
	b := ln.text
	first, rest, _ := bytes.Cut(b, []byte(" "))
	second, _, _ := bytes.Cut(rest, []byte(" "))
	switch {
	case bytes.IndexByte([]byte("#[("), b[0]) >= 0, isDrawn(b), opensDump(b), panicked(b), showsUnity(ln),
		is(first, ofFault), is(second, ofFault):
		return false // a head of another form, or a report of its own
	}
	return r.format.Detect == nil || r.format.Detect(text(b)) != format.Banner
}

// awaitsMore reports whether the first line of the record reports a fault or announces more.
func (a *assembly) awaitsMore() bool {
	h := a.logger()
	return hasSuffix(a.head(), ":") || h.Level >= event.LevelWarning || !h.Leveled && a.reportsFault()
}

// A logger may write a report line by line, each with the time and the tags of the first:
//
//	[10:00:00] [Press] Exception: no oil
//	[10:00:00] [Press] Blaming: lamps.smx
//	[10:00:00] [Press] Call stack trace:
//	[10:00:00] [Press]   [0] Turn

// sameHead returns the text of b after the time and the tags of the first line, and whether b begins with all of them.
func (a *assembly) sameHead(b []byte) (t []byte, ok bool) {
	head := a.head()
	n := 0
	for n < min(len(b), len(head)) && b[n] == head[n] {
		n++
	}
	n = bytes.LastIndexByte(b[:n], ']') + 1
	first := trimLeft(head[n:])
	ok = n > 0 && a.lines < maxContinued && bytes.IndexByte(b[:n], ':') >= 0 && len(first) > 0 && first[0] != '['
	return bytes.TrimPrefix(b[n:], []byte(" ")), ok
}

// repeats reports whether b continues such a report: it is empty, a frame, the title of a trace or a line of one. In
// Unreal Engine, the level is part of the head of each line.
func (a *assembly) repeats(b []byte) bool {
	if t, ok := bytes.CutPrefix(b, trimRight(a.head()[:a.logger().Len])); ok && len(t) < len(b) {
		if t = trimLeft(t); len(t) == 0 || hasPrefix(t, "[Callstack] 0x") {
			return a.lines < maxContinued
		}
	}
	t, ok := a.sameHead(b)
	return ok && (len(t) == 0 || isBareAtFrame(t) ||
		(isTraceTitle(t) || isIndented(t) && hasPrefix(trimLeft(t), "[")) && a.reportsFault())
}

// isField reports whether b may be a field of such a report, if one of the other lines comes below it.
func (a *assembly) isField(b []byte) bool {
	t, ok := a.sameHead(b)
	key, value, isField := bytes.Cut(t, []byte(": "))
	return ok && isField && len(key) > 0 && isWord(key) && bytes.IndexByte(value, ' ') < 0 && a.is(ofException) &&
		!is(t, ofFault|ofException) && !logline.Parse(text(t)).Leveled
}

// isIndented reports whether b is set in under the line above: by two spaces
// or more, or by a tab. One space is not enough: messages begin with one often,
// and those who labeled the reference captures read " - item" as a line of its
// own.
func isIndented(b []byte) bool {
	return b[0] == '\t' || b[0] == ' ' && len(b) > 1 && (b[1] == ' ' || b[1] == '\t')
}

// isInDocument reports whether b can only be a line of a document that a
// message prints: the end of an XML element, or nothing but brackets, as on
// lines of their own in JSON: "{", "},", "])".
func isInDocument(b []byte) bool {
	return len(b) > 0 && strings.IndexByte("<{}])", b[0]) >= 0 && ofDocument.Match(b) && !hasPrefix(b, "</color>")
}

// isPath reports whether b is nothing but an absolute path, as the game lists
// them under a message about folders, and no sentence that begins with one.
func isPath(b []byte) bool {
	return len(b) > 2 && (b[0] == '/' || b[1] == ':') && path.Match(b) && !sentence.Match(b)
}

var (
	ofDocument = regexp.MustCompile(`^(?:</[A-Za-z]|[{}\])][{}\[\](),;]{0,3}[ \t]*$)`)
	path       = regexp.MustCompile(`^(?:[A-Za-z]:[\\/]|/[\pL\pN_][^:(/]*/)[^:(]*$`)
	sentence   = regexp.MustCompile(`[.!][ \t]*$`)
)
