package heed

import (
	"errors"
	"fmt"
	"slices"

	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// SetRules lets other rules decide from the next entry on. It is as if the engine
// went on from a [Engine.Snapshot] by [Restore] with them, but for the journal and
// what was learned of mods, which stay: items, operations, counts, phase and time
// are kept, what was decided is not decided anew, and blindness that was begun by a
// rule that is no more, or begins none now, is over with the next entry. An item
// that tells of such blindness stays until it is acknowledged or expires.
//
// Rules that mask otherwise ([rules.Set.Masking]) make other signatures of the same
// text. Then what was learned of groups starts anew, and what comes counts under
// its new signature: in groups of its own, beside those that open and remembered
// items have. Something that was acknowledged may so return once. Counters,
// cursors and conservation hold. A snapshot that is taken from then on is restored
// with the new rules.
//
// An error says that the engine's own Config does not go with the set, or that set
// is nil; then nothing has changed. It costs the memory of the tables of decisions,
// and with another masking of those of signatures: some milliseconds under the lock.
func (e *Engine) SetRules(set *rules.Set) error {
	if set == nil {
		return errors.New("heed: SetRules: the set is nil: compile rules.Defaults for the default rules")
	}
	masking := e.ruled.maskingWith(set)
	normalizer, err := signature.New(masking)
	if err != nil {
		return fmt.Errorf("heed: SetRules: Config.Signature: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if normalizer.Version() == e.normalizer.Version() {
		normalizer = e.normalizer
	}
	if err := e.classifier.SetRules(set, normalizer, e.ruled.groups); err != nil {
		return fmt.Errorf("heed: SetRules: %w", err)
	}
	if err := e.finder.SetGameCode(set.GameCode()); err != nil {
		panic("BUG: heed: " + err.Error()) // the set has seen to the names
	}
	e.normalizer = normalizer
	return nil
}

// ruled is what of a Config goes with the rules, so that others can take their place.
type ruled struct {
	masking signature.Config
	groups  signature.GrouperConfig
}

// newRuled copies what it keeps.
func newRuled(cfg *Config) ruled {
	r := ruled{masking: cfg.Signature, groups: cfg.Groups}
	r.masking.Protect = slices.Clone(r.masking.Protect)
	r.masking.LoggerFrames = slices.Clone(r.masking.LoggerFrames)
	return r
}

// maskingWith returns how text is masked by a set and what the Config adds.
func (r *ruled) maskingWith(set *rules.Set) signature.Config {
	masking := set.Masking()
	masking.Protect = append(masking.Protect, r.masking.Protect...)
	masking.LoggerFrames = append(masking.LoggerFrames, r.masking.LoggerFrames...)
	masking.MaxFrames = r.masking.MaxFrames
	return masking
}
