package classify

import (
	"fmt"

	"github.com/heedlog/heed/signature"
)

// State is the state of a [Classifier] in a form that JSON keeps: all that it cannot find out again. The tables of
// signatures and decisions are caches: each signature costs once more after [Restore].
type State struct {
	Phase  string
	Blind  []string `json:",omitempty"` // the rules whose blindness lasts
	Stats  Stats    // its counts
	Groups *signature.GrouperState
}

// State returns a copy of the state. It costs as much as [signature.Grouper.State].
func (c *Classifier) State() *State {
	st := c.Stats()
	st.Signatures, st.TemplateBytes, st.Decisions, st.Sources, st.Phases = 0, 0, 0, 0, 0 // of caches
	st.Groups = signature.GrouperStats{}
	return &State{Phase: c.phase, Blind: c.Blind(), Stats: st, Groups: c.grouper.State()}
}

// Restore returns a Classifier for cfg in the state s, and keeps nothing of s. The rules may be others. A blindness
// is over if its rule does not exist any more or begins none now, since nothing could end it. The masking must be the
// same, which the caller checks. A signature that came when all cfg.Groups.Signatures were known is put into a group
// again, as after its eviction.
func Restore(cfg Config, s *State) (*Classifier, error) {
	c, err := newUngrouped(cfg)
	if err != nil {
		return nil, err
	}
	st := s.Stats
	if s.Groups == nil || st.Entries != st.Hits+st.Misses+st.Collisions ||
		st.Entries != st.DecisionHits+st.DecisionMisses+st.Uncached {
		return nil, fmt.Errorf("classify: state: Groups are missing, or the counts of %d entries do not add up", st.Entries)
	}
	if c.grouper, err = signature.RestoreGrouper(cfg.Groups, s.Groups); err != nil {
		return nil, fmt.Errorf("classify: state: Config.Groups: %w", err)
	}
	c.setPhase(s.Phase)
	c.Blinded(s.Blind)
	c.stats, c.signatures.evicted, c.decisions.evicted = st, st.SignaturesEvicted, st.DecisionsEvicted
	return c, nil
}
