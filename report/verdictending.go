package report

import (
	"fmt"
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
)

// ending is what the last records of a log say of the end of the game.
type ending struct {
	fatal bool   // nothing came after something fatal
	crash bool   // which was a crash
	line  uint64 // of the first of it
	after int    // records after a crash
}

// aftermath is how many records may follow a crash, such as what a shell says of the
// process. With more the game is alive, whatever was taken for a crash.
const aftermath = 8

// crashed is what rules call the phase of a game that has crashed, and crashTag the
// tag of what says that it has.
const (
	crashed  = "crashed"
	crashTag = "crash"
)

func (n *ending) observe(e *Entry, o *heed.Outcome) {
	switch d := &o.Decision; {
	case e.Kind == event.KindNotice:
		if e.Status == event.StatusRestarted {
			*n = ending{}
		}
	case d.Disposition == event.Blocking && d.Severity == event.SeverityFatal:
		if !n.fatal {
			n.line = e.First
		}
		n.fatal, n.after = true, 0
		n.crash = n.crash || slices.Contains(d.Tags, crashTag)
	case !n.fatal:
	case o.Phase != crashed || n.after == aftermath:
		*n = ending{}
	default:
		n.after++
	}
}

// sentence says how the log ends. Call it where fatal is set.
func (n *ending) sentence() string {
	if n.crash {
		return fmt.Sprintf("The log ends with the crash at line %d: the game is gone.", n.line)
	}
	return fmt.Sprintf("The log ends with something fatal at line %d: the game may be gone.", n.line)
}

// The shares of a log that may be missing, in percent: one that is told, and one that
// leaves nothing to be said of the whole.
const (
	considerable = 10
	most         = 50
)

// missingShare returns about how much of the log is missing bytes, in percent. What
// there is counts by the text of its records: footers and blank lines are left out, so
// that the share is a little less. Tens are as exact as that is.
func (r *Replay) missingShare() int {
	m := r.notices[event.StatusHole]
	if m == nil || r.text == 0 {
		return 0
	}
	return 10 * int(10*float64(m.Amount)/(float64(m.Amount)+float64(r.text)))
}

func (r *Replay) mostlyMissing() bool { return r.missingShare() >= most }

// asFar limits what is said of a game to the part of its log that told anything.
func (r *Replay) asFar(says string) string {
	switch {
	case r.unread != "" || r.end.Interrupted:
		return "As far as the log was read, " + says
	case r.blind.stretches > 0 || r.notices[event.StatusHole] != nil:
		return "In what is left of the log, " + says
	}
	return capital(says)
}
