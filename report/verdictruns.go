package report

import (
	"fmt"
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
)

// runs is what is known of the runs of the game before the last one in a log.
type runs struct {
	last    uint64          // line at which the last run begins, 0 where there is but one
	before  ending          // how the run before it ended
	crashes map[string]bool // rules that said that the game crashed; nil where none did
}

func (n *runs) observe(rec *capture.Record, o *heed.Outcome, before *ending) {
	switch {
	case rec.Kind == event.KindNotice:
		if rec.Status == event.StatusRestarted {
			n.last, n.before = uint64(rec.Line()), *before
		}
	case o.Decision.Disposition == event.Blocking && slices.Contains(o.Decision.Tags, crashTag):
		if n.crashes == nil {
			n.crashes = map[string]bool{}
		}
		n.crashes[o.Decision.Rule] = true
	}
}

// runsSentence says, of a log that starts anew where says it, how the run before ended
// and of which run the environment is.
func (r *Replay) runsSentence(says string, times uint64) string {
	n, run := &r.runs, "the run before"
	if times > 1 {
		run = "the run before the last"
	}
	switch {
	case n.before.fatal && n.before.crash:
		says += fmt.Sprintf(": %s ended with the crash at line %d", run, n.before.line)
	case n.before.fatal:
		says += fmt.Sprintf(": %s ended with something fatal at line %d", run, n.before.line)
	}
	if r.environment != nil {
		says += ". Versions and mods are those of the last run"
	}
	return says + "."
}

// brokeBefore reports whether all that blocked did so before the last run, in which the
// game may be well.
func (r *Replay) brokeBefore(causes []*cause) bool {
	return r.runs.last > 0 && !slices.ContainsFunc(causes, func(c *cause) bool {
		return c.Disposition == event.Blocking && c.Last >= r.runs.last
	})
}

// restarted reports whether what rule saw last at line was a crash, and the game was there
// again after it. To whoever plays the game that is no end of it, so that an engine keeps
// such an item open: but a report says so.
func (n *runs) restarted(rule string, line uint64) bool {
	return n.crashes[rule] && line < n.last
}
