package capture

import (
	"fmt"
	"strings"
	"time"

	"github.com/heedlog/heed/event"
)

// Kind tells which of a [Record]'s payloads holds what was read.
type Kind uint8

// Kinds of records.
const (
	KindLog       Kind = iota // Record.Log
	KindOperation             // Record.Operation
	KindState                 // Record.State
	KindNotice                // Record.Notice
	KindContext               // Record.Log with Source "context": a header or mod list

	// KindContinuation is Record.Log with Source "continuation": lines that came
	// after the record that they belong to had been delivered, by a [Stream].
	KindContinuation

	KindAct // Record.Act: what a host did besides giving entries, as recordings have it
)

var kindNames = [...]string{"log", "operation", "state", "notice", "context", "continuation", "act"}

// String returns the lower-case name of k.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// ContextSource is the source of records of [KindContext].
const ContextSource = "context"

// Act is what a host did with an engine besides giving it entries: it told it the
// time, or somebody acknowledged an item. Only recordings hold it.
type Act struct {
	Time time.Time // that the engine was told; zero for an acknowledgement

	Viewer, ID string // who acknowledged which item ...
	UpTo       uint64 // ... up to where
}

// ContinuationSource is the source of records of [KindContinuation].
const ContinuationSource = "continuation"

// RefState tells what became of a stack reference "[Ref X]" in a record.
type RefState uint8

// States of a stack reference.
const (
	RefNone       RefState = iota // the record names no reference
	RefOriginal                   // the record prints the trace that X stands for
	RefResolved                   // a duplicate: Log.Stack was filled from the trace printed before
	RefUnresolved                 // a duplicate of a trace that is not known (any more): Log.Message keeps the line
)

var refStateNames = [...]string{"none", "original", "resolved", "unresolved"}

// String returns the lower-case name of s.
func (s RefState) String() string {
	if int(s) < len(refStateNames) {
		return refStateNames[s]
	}
	return fmt.Sprintf("ref(%d)", uint8(s))
}

// Record is one thing that a capture holds, with the lines it was read from.
//
// Every string in it is valid until the next call of [Reader.Next] only.
type Record struct {
	Kind Kind

	// Exactly one of these is set, as Kind says; the others are zero.
	Log       event.Log
	Operation event.Operation
	State     event.State
	Notice    event.Notice
	Act       Act

	// Mods are those that the record lists, nil in nearly all. They do not depend on
	// how much of the record's text is kept.
	Mods *ModList

	// Machine is what the record tells about the machine, if it is the header of an
	// upload; nil where it tells nothing. It does not depend on how much of the
	// record's text is kept.
	Machine *Machine

	// StartLine and EndLine are the first and the last line of the record,
	// counted from 1 in the decompressed input split on \n. The last line is
	// never blank. Both are 0 for a notice that capture makes itself: it has no
	// lines of its own, and its Pos says near which line it arose.
	StartLine, EndLine int

	// Split says what the end of the record rests on.
	Split Evidence
	// LevelBy says what Log.Level rests on.
	LevelBy Evidence
	// Layout is the layout in which the record was read.
	Layout Layout

	// Continues says that part of the record was delivered before: see [Stream].
	Continues bool

	// RefState says what became of the reference Ref, the X of a line "[Ref X]" in the
	// record, the last one if there are several.
	RefState RefState
	Ref      uint64

	// Cut is how many bytes of the record's text were left out because a line
	// or the record was longer than [Options.MaxRecordText].
	Cut uint64
}

// ReadError says that the input could not be read to its end. All whole data
// before the damage has been delivered when [Reader.Next] returns it.
type ReadError struct {
	Line int    // the last line that was read, whole or in part; 0 if none was
	Op   string // what failed: "read", "gzip" or "zstd"
	Err  error  // the cause; errors.Is and errors.As see it
}

// Error names the line, the operation and the cause.
func (e *ReadError) Error() string {
	return fmt.Sprintf("capture: after line %d: %s: %s", e.Line, e.Op, strings.TrimPrefix(e.Err.Error(), e.Op+": "))
}

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// Entry returns what an engine makes of the record, by its kind. It shares the
// record's strings.
func (r *Record) Entry() event.Entry {
	switch r.Kind {
	case KindOperation:
		return r.Operation.Entry()
	case KindState:
		return r.State.Entry()
	case KindNotice:
		return r.Notice.Entry()
	}
	return r.Log.Entry()
}
