package blame

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/heedlog/heed/internal/frame"
	"github.com/heedlog/heed/internal/logline"
	texts "github.com/heedlog/heed/internal/text"
)

// Neighbors finds the mod of a fault in the records next to it, for loaders that write a trace as records of its own:
//
//	[10:00:00 ERROR]: The server has stopped responding!      a fault that points at no mod
//	[10:00:00 ERROR]: Current Thread: Server thread
//	[10:00:00 ERROR]:     press.jar//com.acme.press.Roller.turn(Roller.java:57)
//
// A trace is a record that gives a place in code, and is an error or a frame. It belongs to the fault below it, or else
// to the fault above it, with few records and little time in between. The zero Neighbors has seen no record.
type Neighbors struct {
	before []byte // the message of the latest record
	latest Record // its time, and whether it is an error
	fault  uint64 // number of the latest fault, 0 if it points at mods
	at     time.Time
	after  int // records of other business after it
}

// Bounds of [Neighbors].
const (
	maxRecords = 16      // after a fault
	maxAfter   = 6       // of other business
	maxTrace   = 4 << 10 // bytes of a record after a fault
	maxBefore  = 1 << 10 // bytes of a record before one
	maxApart   = 10 * time.Second
)

// Record is a record of the log as [Neighbors] look at it.
type Record struct {
	Seq     uint64
	Time    time.Time
	Message string
	IsError bool // of its level
	IsFault bool // it blocks
	IsNamed bool // it points at mods
	IsOther bool // it is trouble of another kind: no part of the report of a fault
}

// Before returns the mod that the latest record names as the place of code, for the fault of this time that comes next.
func (n *Neighbors) Before(f *Finder, fault time.Time) []string {
	n.latest.Message = string(n.before)
	return f.trace(&n.latest, fault)
}

// Next takes the next log record. It returns the mod that the record names as the place of code, if it is the trace of
// a fault above it, and the number of the fault.
func (n *Neighbors) Next(f *Finder, r *Record) (names []string, fault uint64) {
	switch {
	case r.IsFault && !r.IsNamed:
		n.fault, n.at, n.after = r.Seq, r.Time, 0
	case r.IsFault, r.IsError && n.after > 0, n.after > maxAfter, r.Seq-n.fault > maxRecords:
		n.fault = 0 // an error after other business is the beginning of another report
	case n.fault == 0 || r.IsOther:
	default:
		names = f.trace(r, n.at)
		if len(names) == 0 && !r.IsError && logline.Parse(r.Message).Len < len(r.Message) { // it has a text
			n.after++
		}
	}
	n.before, n.latest.Time, n.latest.IsError = n.before[:0], r.Time, r.IsError
	if !r.IsFault { // a fault names its own mods
		n.before = append(n.before, r.Message[:min(len(r.Message), maxBefore)]...)
	}
	return names, n.fault
}

// trace returns the name of the one mod that r, a trace of a fault with this time, gives as the place of code; nil if r
// is none, for several, and for code whose mod is not known.
func (f *Finder) trace(r *Record, fault time.Time) []string {
	text := r.Message[:min(len(r.Message), maxTrace)]
	if !mayBePlace(text) || !r.Time.IsZero() && !fault.IsZero() && r.Time.Sub(fault).Abs() > maxApart {
		return nil
	}
	line, _, _ := strings.Cut(text, "\n")
	head := logline.Parse(line).Len
	_, sure := frame.Parse(line[head:])
	text = text[head:]
	placed := (r.IsError || sure != frame.None) && isPlace().MatchString(text) || head == 0 && isCalled().MatchString(text)
	if !placed && !isFrame().MatchString(text) && !nativeFrame().MatchString(text) {
		return nil
	}
	found := slices.DeleteFunc(f.Find(nil, text, text), func(s Suspect) bool {
		return s.Score < weightNamed || strings.HasPrefix(s.Mod, texts.Code)
	})
	if len(found) != 1 {
		return nil
	}
	return []string{strings.Clone(found[0].Mod)}
}

// mayBePlace reports whether a few letters are between a full stop and a sign before a place, as in few messages.
func mayBePlace(message string) bool {
	for _, rest, more := strings.Cut(message, "."); more; _, rest, more = strings.Cut(rest, ".") {
		near := rest[:min(len(rest), maxEnding*utf8.UTFMax+1)]
		n := strings.IndexFunc(near, func(r rune) bool { return !unicode.IsLetter(r) })
		if n > 0 && utf8.RuneCountInString(near[:n]) <= maxEnding && strings.IndexByte("\": !+", near[n]) >= 0 {
			return true
		}
	}
	return false
}

// maxEnding is how many letters the ending of a file has at most.
const maxEnding = 5

// isPlace matches a file with a line: "main.gd:140". isFrame matches one where a word says that it is a line,
// "Press.lua line # 12", and isCalled one with a function after it: "main.gd:140 (_ready)".
var (
	isPlace  = texts.Lazy(`\.\pL{1,5}"?:\d`)
	isFrame  = texts.Lazy(`\.\pL{1,5}"? \(?[Ll]ine \D{0,2}\d`)
	isCalled = texts.Lazy(`\.\pL{1,5}"?:\d+ \([\pL_]\w*\)$`)
)
