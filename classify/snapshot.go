package classify

import (
	"fmt"
	"math"

	"github.com/heedlog/heed/internal/wire"
	"github.com/heedlog/heed/signature"
)

// BeginSnapshot appends to dst the first part of a snapshot, and
// [Classifier.ContinueSnapshot] the rest, as with a [signature.Grouper]: the state
// is that of this call, whatever is classified in between. It holds what the
// Classifier cannot find out again: phase, blindness, counts and what was learned
// about groups. The same state gives the same bytes; they have no version and no
// checksum of their own. The tables of signatures and decisions are caches and
// not part of it: each signature costs once more after [Restore]. Besides the
// groups, it takes less than 200 bytes, and 130 for each rule whose
// blindness lasts. It allocates nothing but the growth of dst.
func (c *Classifier) BeginSnapshot(dst []byte) []byte {
	return c.grouper.BeginSnapshot(c.own(dst))
}

// ContinueSnapshot appends about size bytes of the snapshot that was begun. It
// returns false when that was the last of it.
func (c *Classifier) ContinueSnapshot(dst []byte, size int) ([]byte, bool) {
	return c.grouper.ContinueSnapshot(dst, size)
}

// own appends a section with all but the groups.
func (c *Classifier) own(dst []byte) []byte {
	w := wire.Writer(dst)
	w.Put(func(dst []byte) []byte {
		s := coder{Coder: wire.Writer(dst), c: c}
		s.code()
		return s.Bytes()
	})
	return w.Bytes()
}

// Restore returns a Classifier for cfg in the state that a snapshot holds, of
// which it keeps nothing. The rules may be others; a blindness that was begun by
// one that is no more, or begins none now, is over, since nothing could end it.
// The masking must be the same, which the caller has to see to. What was learned
// of groups is bounded: a signature that came when all cfg.Groups.Signatures were
// known is put into a group again, as it is after it was evicted.
func Restore(cfg Config, snapshot []byte) (*Classifier, error) {
	c, err := newUngrouped(cfg)
	if err != nil {
		return nil, err
	}
	all := wire.Reader(snapshot)
	s := coder{Coder: wire.Reader(all.Section("own")), c: c}
	if err = all.Err(); err == nil {
		s.code()
		err = s.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("classify: snapshot: %w", err)
	}
	if c.grouper, err = signature.RestoreGrouper(cfg.Groups, all.Bytes()); err != nil {
		return nil, fmt.Errorf("classify: snapshot: Config.Groups: %w", err)
	}
	return c, nil
}

// coder writes a Classifier, or sets a new one, but for the groups.
type coder struct {
	wire.Coder
	c *Classifier
}

func (s *coder) code() {
	phase := s.c.phase
	s.Text("phase", &phase, maxPhaseBytes)
	if s.Reading() {
		s.c.setPhase(phase)
	}
	for i := range s.Len("blind", len(s.c.blind), math.MaxInt32) {
		var rule string
		if !s.Reading() {
			rule = s.c.blind[i].ID
		}
		s.Text("blind", &rule, math.MaxInt32)
		if s.Reading() {
			s.c.Blinded([]string{rule})
		}
	}
	s.stats()
}

// stats codes the counts. What the tables hold is not among them.
func (s *coder) stats() {
	st := &s.c.stats
	for _, f := range [...]struct {
		name string
		v    *uint64
	}{
		{"Entries", &st.Entries},
		{"Hits", &st.Hits},
		{"Misses", &st.Misses},
		{"Collisions", &st.Collisions},
		{"DecisionHits", &st.DecisionHits},
		{"DecisionMisses", &st.DecisionMisses},
		{"Uncached", &st.Uncached},
		{"Oversize", &st.Oversize},
		{"Holes", &st.Holes},
		{"SignaturesEvicted", &s.c.signatures.evicted},
		{"DecisionsEvicted", &s.c.decisions.evicted},
	} {
		s.Uint64(f.name, f.v, math.MaxUint64)
	}
	failures, _, _ := s.c.eval.Failures()
	failures += st.EvaluationErrors
	s.Uint64("EvaluationErrors", &failures, math.MaxUint64)
	if s.Reading() {
		st.EvaluationErrors = failures
	}
	if st.Entries != st.Hits+st.Misses+st.Collisions || st.Entries != st.DecisionHits+st.DecisionMisses+st.Uncached {
		s.Fail("the counts of %d entries do not add up", st.Entries)
	}
}
