package classify

import "github.com/heedlog/heed/signature"

// Stats has the counts and sizes of a [Classifier]. Its counts only grow.
//
// Entries = Hits + Misses + Collisions, and every entry is either a DecisionHit, a DecisionMiss, or Uncached.
type Stats struct {
	Entries    uint64 // classified
	Hits       uint64 // with a known signature
	Misses     uint64 // with a new one
	Collisions uint64 // whose key had the hash of another text

	DecisionHits   uint64 // decided by a remembered decision
	DecisionMisses uint64 // decided afresh, and remembered
	Uncached       uint64 // decided afresh, and not remembered

	Oversize         uint64 // templates too large to be kept
	Holes            uint64 // notices of holes in the log
	EvaluationErrors uint64 // conditions that ended in an error, which counts as no match

	Signatures        int // held
	SignaturesEvicted uint64
	TemplateBytes     int // held
	Decisions         int // held
	DecisionsEvicted  uint64
	Sources           int // known
	Phases            int // known

	Groups signature.GrouperStats
}

// Stats returns the counts so far. It costs a copy.
func (c *Classifier) Stats() Stats {
	s := c.stats
	s.EvaluationErrors += c.eval.Failures() // in addition to the failures before a restore
	s.Signatures, s.SignaturesEvicted, s.TemplateBytes = c.signatures.table.used, c.signatures.evicted, c.signatures.bytes
	s.Decisions, s.DecisionsEvicted = c.decisions.table.used, c.decisions.evicted
	s.Sources, s.Phases = c.sources.held(), c.phases.held()
	s.Groups = c.grouper.Stats()
	return s
}
