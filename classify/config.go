package classify

import (
	"fmt"

	"github.com/heedlog/heed/internal/bounds"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

const (
	// maxPhases bounds the phases that decisions are remembered for. Rules and
	// hosts know about ten.
	maxPhases = 256

	// maxPhaseBytes bounds the name of a phase that a host reports; a longer one is cut.
	maxPhaseBytes = 64
)

// Config configures a [Classifier]. Of the numbers, zero means the default and
// a negative one is an error; all are hard limits.
type Config struct {
	// Rules decide. Required.
	Rules *rules.Set

	// Normalizer makes signatures. It should mask at least what Rules.Masking
	// does; nil means exactly that.
	Normalizer *signature.Normalizer

	// Signatures is how many signatures are remembered; by default 65,536.
	Signatures int

	// TemplateBytes is how many bytes their templates may take together; by
	// default 5 MiB.
	TemplateBytes int

	// Decisions is how many decisions are remembered; by default 65,536.
	Decisions int

	// Sources is how many different sources decisions are remembered for; by
	// default 1,024. Entries of further ones, and of those with a name of more
	// than 256 bytes, are decided each time.
	Sources int

	// Groups bounds the learning of groups of signatures.
	Groups signature.GrouperConfig

	// InitialPhase is the phase of the first entry. Empty means unknown.
	InitialPhase string
}

// withDefaults returns c with the defaults of its numbers. An error names the first field of c that is not valid.
func (c Config) withDefaults() (Config, error) {
	if c.Rules == nil {
		return c, fmt.Errorf("classify: Config.Rules is nil")
	}
	err := bounds.Complete("classify: Config",
		bounds.Of("Signatures", &c.Signatures, 65_536, 1, maxTable),
		bounds.Of("TemplateBytes", &c.TemplateBytes, 5<<20, 1, maxTable),
		bounds.Of("Decisions", &c.Decisions, 65_536, 1, maxTable),
		bounds.Of("Sources", &c.Sources, 1024, 1, maxTable),
	)
	return c, err
}

// maxTable bounds every table, so that slots can be numbered with 32 bits.
const maxTable = 1<<31 - 1

// New returns a classifier.
func New(c Config) (*Classifier, error) {
	cl, err := newUngrouped(c)
	if err != nil {
		return nil, err
	}
	if cl.grouper, err = signature.NewGrouper(c.Groups); err != nil {
		return nil, fmt.Errorf("classify: Config.Groups: %w", err)
	}
	return cl, nil
}

// newUngrouped returns a classifier without a grouper, which takes most of the
// memory.
func newUngrouped(c Config) (*Classifier, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	n := c.Normalizer
	if n == nil {
		if n, err = signature.New(c.Rules.Masking()); err != nil {
			return nil, fmt.Errorf("classify: Config.Rules: %w", err)
		}
	}
	cl := &Classifier{
		normalizer: n,
		rules:      c.Rules,
		eval:       c.Rules.NewEvaluator(),
		texts:      textCache{exact: newKept(textPlaces, textBytes), alike: newKept(linePlaces, lineBytes)},
		signatures: newSignatures(c.Signatures, c.TemplateBytes),
		decisions:  decisions{table: newLRU[decisionKey, rules.Plan](c.Decisions), maxWeight: weightPerPlan * c.Decisions},
		sources:    newNames(c.Sources),
		phases:     newNames(maxPhases),
	}
	cl.setPhase(c.InitialPhase)
	return cl, nil
}

// SetRules lets other rules decide from the next entry on, with signatures made by normalizer, which should mask at
// least what their Masking does. Phase, counts and sources stay. Decisions are made again, and a blindness is over if
// its rule is gone or begins none now.
//
// A normalizer of another Version makes other signatures of the same texts: then the known signatures are dropped, and
// with them the learned groups, which groups bounds. The error is about groups; then nothing has changed.
func (c *Classifier) SetRules(set *rules.Set, normalizer *signature.Normalizer, groups signature.GrouperConfig) error {
	if set == nil {
		return fmt.Errorf("classify: SetRules: the set is nil")
	}
	fresh, err := newUngrouped(Config{
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
	fresh.stats.EvaluationErrors += c.eval.Failures()
	fresh.Blinded(c.Blind())
	*c = *fresh
	return nil
}
