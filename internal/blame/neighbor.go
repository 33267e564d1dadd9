package blame

import (
	"regexp"
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/logline"
	texts "github.com/heedlog/heed/internal/text"
)

// Neighbors finds the mod of a fault in the records next to it, for loaders that write a trace as records of its own:
//
//	[10:00:00 ERROR]: The server has stopped responding!      a fault that points at no mod
//	[10:00:00 ERROR]: Current Thread: Server thread
//	[10:00:00 ERROR]:     press.jar//com.acme.press.Roller.turn(Roller.java:57)
//
// A trace is a record that gives a place in code. It belongs to the fault below it, or else to the fault above it, with
// few records in between. The zero Neighbors has seen no record.
type Neighbors struct {
	before []byte // the message of the latest record
	fault  uint64 // number of the latest fault, 0 if it points at mods
	after  int    // records of other business after it
}

// Bounds of [Neighbors].
const (
	maxRecords = 16      // after a fault
	maxAfter   = 6       // of other business
	maxTrace   = 4 << 10 // bytes of a record after a fault
	maxBefore  = 1 << 10 // bytes of a record before one
)

// Record is a record of the log as [Neighbors] look at it.
type Record struct {
	Seq     uint64
	Message string
	IsError bool // of its level
	IsFault bool // it blocks
	IsNamed bool // it points at mods
	IsOther bool // it is trouble of another kind: no part of the report of a fault
}

// Before returns the mod that the latest record names as the place of code, for the fault that comes next.
func (n *Neighbors) Before(f *Finder) []string { return f.place(string(n.before)) }

// Next takes the next log record. It returns the mod that the record names as the place of code, if it is the trace of
// a fault above it, and the number of the fault.
func (n *Neighbors) Next(f *Finder, r *Record) (names []string, fault uint64) {
	switch {
	case r.IsFault && !r.IsNamed:
		n.fault, n.after = r.Seq, 0
	case r.IsFault, r.IsError && n.after > 0, n.after > maxAfter, r.Seq-n.fault > maxRecords:
		n.fault = 0 // an error after other business is the beginning of another report
	case n.fault == 0 || r.IsOther:
	default:
		names = f.place(r.Message[:min(len(r.Message), maxTrace)])
		if len(names) == 0 && !r.IsError && logline.Parse(r.Message).Len < len(r.Message) { // it has a text
			n.after++
		}
	}
	n.before = n.before[:0]
	if !r.IsFault { // a fault names its own mods
		n.before = append(n.before, r.Message[:min(len(r.Message), maxBefore)]...)
	}
	return names, n.fault
}

// place returns the name of the one mod that a message gives as the place of code; nil for several, and for code whose
// mod is not known.
func (f *Finder) place(message string) []string {
	if !isPlace.MatchString(message) && !nativeFrame.MatchString(message) {
		return nil
	}
	line, _, _ := strings.Cut(message, "\n")
	text := message[logline.Parse(line).Len:]
	found := slices.DeleteFunc(f.Find(nil, text, text), func(s Suspect) bool {
		return s.Score < weightNamed || strings.HasPrefix(s.Mod, texts.Code)
	})
	if len(found) != 1 {
		return nil
	}
	return []string{strings.Clone(found[0].Mod)}
}

// isPlace matches a file with a line: "main.gd:140", "Press.lua line # 12".
var isPlace = regexp.MustCompile(`\.\pL{1,5}"?(?::| \(?[Ll]ine \D{0,2})\d`)
