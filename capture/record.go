package capture

import (
	"fmt"
	"strings"

	"github.com/heedlog/heed/event"
)

// The sources of records that no logger wrote: see [Record].
const (
	contextSource = "context"
	reportSource  = "crash-report"
)

// What became of a stack reference "[Ref X]" in a record.
const (
	refOriginal   = "original"   // the record prints the trace of X
	refResolved   = "resolved"   // a duplicate: Stack was filled from the trace printed before
	refUnresolved = "unresolved" // a duplicate of a trace that is not known: Message keeps the line
)

// Record is an entry of a capture, with its place. Its Part is set by a [Stream].
//
// An entry of [event.KindHost] is a call of an engine's method as recordings hold it: with
// [event.StatusAcknowledged], Source acknowledged the item Message through the sequence
// number Count; with [event.StatusDelivered], the item Message was delivered to Source through Count, or the current
// item if Message is empty; with [event.StatusStateRead], the game's state was read; without a status, the engine's
// time was set to Time.
//
// Every string in it is valid until the next call of [Reader.Next] only.
type Record struct {
	event.Entry

	// Context reports that the entry is the header of an upload or a mod list: a log
	// record with Source "context"; or that it is the text around the crash in the
	// report of one, with Source "crash-report".
	Context bool

	// Mods are those that the record lists, nil in nearly all. They do not depend on
	// how much of the record's text is kept.
	Mods *ModList

	// machine has the facts about the machine, if the record is the header of an
	// upload, else nil. It does not depend on how much of the
	// record's text is kept.
	machine *Facts

	// StartLine and EndLine are the first and the last line of the record,
	// counted from 1 in the decompressed input. A line ends with \n, or with a \r
	// below which a logger begins the next line. The last line is never blank. Both
	// are 0 for a notice that capture makes itself: it has no
	// lines of its own, and its Pos is the line near which it arose.
	StartLine, EndLine int

	// Split is the evidence for the end of the record.
	Split Evidence
	// LevelBy is the evidence for Level.
	LevelBy Evidence
	// Layout is the layout in which the record was read.
	Layout Layout
	// Family is the family of the log, as rule files name it: "rimworld", "minecraft", "json". It is "plain" for text
	// that shows none, "" for a recording that shows none, and may become another one at a record that shows it.
	Family string

	// RefState is what became of the reference Ref, the X of a line "[Ref X]" in the
	// record, the last one if there are several: "original", "resolved" or "unresolved";
	// "" where the record names none.
	RefState string
	Ref      uint64

	// Cut is how many bytes of the record's text were left out because a line
	// or the record was too long.
	Cut uint64
}

// readError returns the error for an input that cannot be read to its end: it names the last line that was read, whole
// or in part, 0 for none, and the operation that failed. All whole data before the damage has been delivered.
func readError(line int, op string, err error) error {
	if !strings.HasPrefix(err.Error(), op+": ") {
		err = fmt.Errorf("%s: %w", op, err)
	}
	return fmt.Errorf("capture: after line %d: %w", line, err)
}

// KindName is the word for what r is: the name of its Kind, or "context" or
// "continuation".
func (r *Record) KindName() string {
	switch {
	case r.Context:
		return contextSource
	case r.Part == event.Rest:
		return event.RestSource
	}
	return r.Kind.String()
}

// IsLog reports whether r is a log record of its own: neither context nor a
// continuation.
func (r *Record) IsLog() bool { return r.Kind == event.KindLog && !r.Context && r.Part != event.Rest }

// Line is the line that r begins at, or for a notice without lines of its own the
// one near which it arose.
func (r *Record) Line() int {
	if r.StartLine == 0 {
		return int(r.Pos)
	}
	return r.StartLine
}

// Evidence shows the end of a record ([Record.Split]) or its level ([Record.LevelBy]). It is kept with every
// record so that a wrong split or level can be traced to the form that caused
// it.
type Evidence uint8

// Evidence for the extent of a record, roughly from hard to soft, and then for
// its level.
const (
	evidenceNone Evidence = iota

	evidenceFooter // a footer "(Filename: … Line: N)" ended it, or gave the level
	evidenceJSON   // the line is one JSON object
	evidenceBlock  // a block with a known end: a crash, memory statistics, a header
	evidenceFrame  // its last line has the shape of a stack frame or a stack reference
	evidenceIndent // its last line is indented
	evidenceForm   // its last line is known to follow another
	evidenceList   // its last line belongs to a list that an earlier line announced
	evidenceBlank  // a blank line followed
	evidenceLine   // a line of its own: nothing spoke for joining a neighbor
	evidenceHole   // bytes are missing where it begins or ends

	evidenceConsole   // the frame of a logging method: "Verse.Log:Error (string)"; of an extent, text above such frames
	evidenceException // the text has the form of an exception
	evidenceCrash     // it is the report of a native crash
	evidenceField     // a field of the input says so
	evidenceTag       // a tag in brackets with which the text begins: "[Gadgets][ERR]", or a word where loggers have it
	evidenceNoFooter  // it has no footer where warnings and errors have one
)

var evidenceNames = [...]string{
	"none", "footer", "json", "block", "frame", "indent", "form", "list", "blank", "line", "hole",
	"console", "exception", "crash", "field", "tag", "no-footer",
}

// String returns the lower-case name of e.
func (e Evidence) String() string {
	if int(e) < len(evidenceNames) {
		return evidenceNames[e]
	}
	return fmt.Sprintf("evidence(%d)", uint8(e))
}
