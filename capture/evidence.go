package capture

import "fmt"

// Evidence says what a statement about a record rests on: where it ends
// ([Record.Split]) or how heavy it is ([Record.LevelBy]). It is kept with every
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
	evidenceForm   // its last line is one that is known never to stand alone
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
