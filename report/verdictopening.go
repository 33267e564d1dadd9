package report

import (
	"fmt"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
)

// opening is what the last run in a log says of how far the start of the game came.
type opening struct {
	began   bool // the engine told of the start
	scene   bool // the engine came to the first scene
	up      bool // the game was in a phase that comes after its start
	records int  // since the run began
	known   bool // a rule knew a record of any run: none of the defaults
}

// The phases in which a game starts, as the rules call them: that of the engine, and
// that of the game's own code. The rule unloadRule decides about what the engine
// says at the first scene, and later.
const (
	phaseStart = "start"
	phaseBoot  = "boot"
	unloadRule = "engine.unload"
)

// prelude is within how many records the engine comes to the first scene. A game that
// has said more is up, whatever rules know of its phases.
const prelude = 40

func (n *opening) observe(rec *capture.Record, o *heed.Outcome) {
	switch {
	case rec.Kind != event.KindNotice:
		n.records++
		if n.up && n.known { // nothing else is asked
			return
		}
		n.enter(o.Phase)
		n.scene = n.scene || o.Decision.Rule == unloadRule
		if !n.known {
			_, _, isDefault := defaultRule(o.Decision.Rule)
			n.known = !isDefault
		}
	case rec.Status == event.StatusRestarted:
		*n = opening{known: n.known}
	}
}

func (n *opening) enter(phase string) {
	switch phase {
	case "":
	case phaseStart:
		n.began = true
	case phaseBoot:
	default:
		n.up = true
	}
}

// starting reports whether the log ends before the game was up. Only the engine's own
// log tells: a copy of the console, or what a mod wrote down, has no word of it, and
// uploads are without the engine's housekeeping.
func (r *Replay) starting() bool {
	n, last := r.opening, r.end.Stats.Phase
	n.enter(last)
	if !n.began || n.up || r.headers > 0 || r.ending.fatal || r.unread != "" || r.end.Interrupted {
		return false
	}
	return last == phaseBoot || last == phaseStart && !n.scene && n.records <= prelude
}

// unrecognized reports whether nothing shows that a game wrote the log, neither to
// whoever read it nor to a rule.
func (r *Replay) unrecognized() bool {
	return r.end.Unrecognized && !r.opening.known && r.end.Stats.Phase == ""
}

// endSentence says how far a log goes that nothing fatal ends.
func (r *Replay) endSentence() string {
	if r.starting() {
		return fmt.Sprintf("The log ends at line %d, while the game starts", r.end.Lines)
	}
	return fmt.Sprintf("The log speaks to its end at line %d", r.end.Lines)
}
