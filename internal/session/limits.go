package session

import "github.com/heedlog/heed"

// limits returns the bounds that were hit, with what that means for whoever relies
// on what is told.
func limits(s *heed.Stats) []Limit {
	c, k, j := &s.Classify, &s.Coalesce, &s.Journal
	all := []Limit{
		{"journal.tail", j.Tail.Evicted, "the oldest entries gave way; pages say how many"},
		{"journal.firsts", j.Firsts.Refused, "the first entry of a group could not be kept beyond the tail"},
		{"journal.pinned", j.Pinned.Refused, "entries around a cause could not be kept beyond the tail"},
		{"journal.text", j.Truncated, "text of an entry was cut"},
		{"classify.signatures", c.SignaturesEvicted, "a signature was forgotten, and is worked out again when it returns"},
		{"classify.decisions", c.DecisionsEvicted, "a decision was forgotten, and is made again"},
		{"classify.oversize", c.Oversize, "a text was too long for its decision to be remembered"},
		{"classify.errors", c.EvaluationErrors, "a condition of a rule failed, which counts as no match"},
		{"groups.unlearned", c.Groups.Unlearned, "a signature came when no more could be learned from"},
		{"items.crowded", k.Overflowed, "too many blocking items were open: a burst joined another's item"},
		{"items.forgotten", k.Evicted, "a cleared item was forgotten, and its return counts as new"},
		{"updates.dropped", k.UpdatesDropped, "an item was forgotten before its update was handed over"},
		{"operations.displaced", k.OperationsEvicted, "an operation was forgotten to make room"},
		{"operations.abandoned", k.OperationsAbandoned, "an operation had no end in time"},
		{"viewers.displaced", k.ConsumersEvicted, "what a viewer was shown was forgotten to make room"},
	}
	var hit []Limit
	for _, l := range all {
		if l.Count > 0 {
			hit = append(hit, l)
		}
	}
	return hit
}
