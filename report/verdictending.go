package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
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

func (n *ending) observe(rec *capture.Record, o *heed.Outcome) {
	switch d := &o.Decision; {
	case rec.Kind == event.KindNotice:
		if rec.Status == event.StatusRestarted {
			*n = ending{}
		}
	case d.Disposition == event.Blocking && d.Severity == event.SeverityFatal:
		if !n.fatal {
			n.line = uint64(rec.Line())
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

// missingShare returns how much of the log is missing bytes, in percent. Where
// nobody has said how many bytes it has, the text of its records counts for what there
// is: footers and blank lines are left out, so that tens are as exact as that is.
func (r *Replay) missingShare() (percent float64, exact bool) {
	m := r.notices[event.StatusHole]
	switch {
	case m == nil:
		return 0, false
	case r.end.Bytes >= m.Amount && r.end.Bytes > 0:
		return 100 * float64(m.Amount) / float64(r.end.Bytes), true
	case r.text == 0:
		return 0, false
	}
	return 10 * math.Floor(10*float64(m.Amount)/(float64(m.Amount)+float64(r.text))), false
}

func (r *Replay) mostlyMissing() bool {
	percent, _ := r.missingShare()
	return percent >= most
}

// shareWords says how much of the log is missing bytes, "" where that is not
// considerable.
func (r *Replay) shareWords() string {
	percent, exact := r.missingShare()
	switch {
	case percent < considerable:
		return ""
	case exact:
		if percent < 100 {
			percent = min(percent, 99) // something is left
		}
		return fmt.Sprintf("%.0f%% of the log", percent)
	}
	return fmt.Sprintf("about %.0f%% of the log", percent)
}

// asFar limits what is said of a game to the part of its log that told anything.
func (r *Replay) asFar(says string) string {
	switch {
	case r.unread != "" || r.end.Interrupted:
		return "As far as the log was read, " + says
	case r.end.Headless || r.blind.stretches > 0 || r.notices[event.StatusHole] != nil:
		return "In what is left of the log, " + says
	}
	return capital(says)
}
