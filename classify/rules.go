package classify

import (
	"fmt"

	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// SetRules lets other rules decide from the next entry on, with signatures made by
// normalizer, which should mask at least as their Masking says. Phase, counts and
// sources stay. Decisions are made anew, and a blindness that was begun by a rule
// that is no more, or begins none now, is over.
//
// A normalizer of another Version makes other signatures of the same texts: then
// those that were known are forgotten, and what was learned of groups, which is
// bounded by groups, with them. The error is about groups; then nothing has changed.
func (c *Classifier) SetRules(set *rules.Set, normalizer *signature.Normalizer, groups signature.GrouperConfig) error {
	if set == nil {
		return fmt.Errorf("classify: SetRules: the set is nil")
	}
	fresh, err := newWithout(Config{
		Rules: set, Normalizer: normalizer, InitialPhase: c.phase,
		Signatures: c.signatures.table.limit, TemplateBytes: c.signatures.maxBytes,
		Decisions: c.decisions.table.limit, Sources: c.sources.limit - 1,
	})
	if err != nil {
		return err
	}
	if normalizer.Version() != c.normalizer.Version() {
		if fresh.grouper, err = signature.NewGrouper(groups); err != nil {
			return fmt.Errorf("classify: SetRules: groups: %w", err)
		}
		fresh.signatures.evicted = c.signatures.evicted
	} else {
		fresh.grouper, fresh.signatures = c.grouper, c.signatures
	}
	fresh.decisions.evicted = c.decisions.evicted
	fresh.stats = c.stats
	failures, _, _ := c.eval.Failures()
	fresh.stats.EvaluationErrors += failures
	for _, rule := range c.blind {
		(&coder{c: fresh}).blindBy(set.Rule(rule.ID))
	}
	*c = *fresh
	return nil
}
