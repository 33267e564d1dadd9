package report

import "github.com/heedlog/heed/event"

// fate says of how many problems nothing shows that they ended before the log did.
func fate(open, all uint64) string {
	switch {
	case open == 0 && all > 1:
		return "all over by the end"
	case open == 0:
		return "over by the end"
	case open < all:
		return grouped(open) + " not known to be over"
	case all > 1:
		return "none known to be over"
	}
	return "not known to be over"
}

// fateOf is fate for the items of a cause. Where the log ends with a crash, nobody needs to
// be told that nothing after it is known.
func (r *Replay) fateOf(c *cause) string {
	switch {
	case r.runs.restarted(c.Rule, c.Last):
		return "over: the game was started again"
	case !r.ending.crash || c.Open == 0:
		return fate(c.Open, c.Items)
	case c.Severity == event.SeverityFatal && c.Last >= r.ending.line:
		return "the game ended with it"
	case c.Open < c.Items:
		return grouped(c.Open) + " open when the game crashed"
	case c.Items > 1:
		return "all open when the game crashed"
	}
	return "open when the game crashed"
}

// fateOfAll is fate for all blocking items.
func (r *Replay) fateOfAll(blocking uint64) string {
	if r.ending.crash {
		return "and the game crashed"
	}
	return fate(r.openBlocking(), blocking)
}

// openBlocking counts the items that block and are open, but for crashes after which the
// game was started again.
func (r *Replay) openBlocking() uint64 {
	n := uint64(0)
	for _, it := range r.causes.open {
		a := &it.attention
		if a.Disposition == event.Blocking && !r.runs.restarted(a.Cause.Rule, a.LatestPos) {
			n++
		}
	}
	return n
}
