package capture

import (
	"strings"

	"github.com/heedlog/heed/capture/format"
	"github.com/heedlog/heed/capture/internal/unity"
	"github.com/heedlog/heed/event"
)

// Facts are facts about game, loader and machine in a capture; see [format.Facts].
type Facts = format.Facts

// maxBeginning is how many records an [Environment] looks at: loaders and mods speak before the game does.
const maxBeginning = 2000

// Environment gathers the facts that the beginning of a capture has about where it
// was made: the game, the engine, the machine. Of a kind the first fact counts. Only
// forms count that the engine, the game or a loader writes in every log: a wrong
// fact would be worse than none, and so the name of a game has to be the name of the
// folder that the engine names, since mods print names and versions as well.
//
// The zero value is ready. It keeps a few hundred bytes, and
// costs a comparison for each record after the first 2,000. An Environment is for one
// goroutine.
type Environment struct {
	records int
	start   unity.Start
	origin  origin
}

// Facts returns the facts so far.
func (e *Environment) Facts() Facts { return e.start.Facts }

// Observe looks at the next record of a capture. It keeps nothing of rec. A notice of
// [event.StatusRestarted] begins another run of the game, which has facts of its own; the answers
// of Recognized and Headless stay. It returns the name of
// the game's program with the record that reveals it, which an engine learns then, and "" with all others.
func (e *Environment) Observe(rec *Record) (program string) {
	if e.records == maxBeginning && rec.Status != event.StatusRestarted {
		e.origin.engine = e.origin.engine || rec.LevelBy == evidenceFooter // after so many records only that is evidence
		return ""
	}
	known := e.start.Program()
	if rec.Status == event.StatusRestarted {
		*e = Environment{origin: e.origin}
	}
	e.records++
	e.origin.observe(rec)
	if m := rec.machine; m != nil {
		format.Learn(&e.start.Facts.CPU, m.CPU)
		format.Learn(&e.start.Facts.System, m.System)
		format.Learn(&e.start.Facts.Memory, m.Memory)
	}
	crashed, own := rec.Source == reportSource || rec.LevelBy == evidenceCrash, formatOf(rec.Family).Facts
	for line := range strings.SplitSeq(rec.Message, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if crashed {
			e.start.CrashLine(line)
		}
		if !rec.IsLog() {
			continue
		}
		if own != nil {
			own(&e.start.Facts, line)
		}
		e.start.Line(line)
	}
	if program = e.start.Program(); program == known {
		return ""
	}
	return program
}
