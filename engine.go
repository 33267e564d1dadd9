package heed

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/bounds"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// Types of the packages of the engine that its callers use.
type (
	// Item is an item of attention.
	Item = coalesce.Item
	// Sample is one group of an Item.
	Sample = coalesce.Sample
	// Member is what one rule decided among the entries of an Item.
	Member = coalesce.Member
	// Variant is what one variant of a group has counted.
	Variant = coalesce.Variant
	// Variants of one group, the most frequent first.
	Variants = coalesce.Variants
	// Update is a change of one Item.
	Update = coalesce.Update
	// AckResult is the answer to an acknowledgement.
	AckResult = coalesce.AckResult
	// Verdict is the result of an operation, as far as the log shows it.
	Verdict = coalesce.Verdict
	// Cursor is a position in the journal.
	Cursor = journal.Cursor
	// Filter chooses records of the journal.
	Filter = journal.Filter
	// Page is a part of the journal.
	Page = journal.Page
)

// Engine turns entries into attention. Make one with [New]. All methods are safe for concurrent use; one lock orders
// them, so that each costs its own work and the work of the callers before it in the queue. Long ones hold it in short
// turns and let others go first. Their results belong to the caller, unless documented otherwise; they keep copies of
// the strings that they are given. No input makes them fail or panic. An item is called by its id, or by the number at
// its end.
type Engine struct {
	mu        lock
	snapshots sync.Mutex // held before mu while a snapshot is made: there is one copy of the state

	snapshotSize int // of the latest, with some room

	setup
	classifier *classify.Classifier
	journal    *journal.Journal
	coalescer  *coalesce.Coalescer

	ruling sync.Mutex // held before mu while the rules change

	carriedOver error // see CarriedOver

	kept
	entry     event.Entry              // reused, so that no entry escapes to the heap
	result    *classify.Result         // of the last entry
	input     coalesce.Input           // reused by ingest, which sets all fields that it does not leave zero
	retention []coalesce.Retention     // reused
	suspects  []Suspect                // reused
	accused   map[signature.ID]accused // by signature of urgent entries, see accuse
	merges    []signature.GroupMerge   // reused
}

// New returns an engine with the bounds of cfg, which it does not change. An
// error names the field of cfg that is at fault. Without cfg.Rules it compiles
// the default rules, which takes some milliseconds.
func New(cfg Config) (*Engine, error) {
	s, err := prepare(cfg)
	if err != nil {
		return nil, fmt.Errorf("heed: %w", err)
	}
	e, err := s.begin(cfg.Journal.After)
	if err != nil {
		return nil, fmt.Errorf("heed: %w", err)
	}
	return e, nil
}

// setup is the part of an engine that its Config sets.
type setup struct {
	cfg        Config     // without zeros that stand for a default here
	own        *rules.Set // cfg.Rules for cfg.Family
	normalizer *signature.Normalizer
	finder     *blame.Finder
}

// prepare completes cfg and makes the parts that do not depend on entries.
func prepare(cfg Config) (*setup, error) {
	least := max(32<<10, 2*cfg.Journal.MaxText) // so that the journal marks each entry that is cut
	if err := bounds.Complete("Config", bounds.Of("MaxText", &cfg.MaxText, max(64<<10, least), least, 0)); err != nil {
		return nil, err
	}
	if cfg.Rules == nil {
		set, err := rules.Compile(rules.Defaults()...)
		if err != nil {
			return nil, fmt.Errorf("default rules: %w", err)
		}
		cfg.Rules = set
	}
	cfg.Epoch, cfg.LoadPhase = cmp.Or(cfg.Epoch, coalesce.DefaultEpoch), cmp.Or(cfg.LoadPhase, "load")
	cfg.Journal.Epoch, cfg.Coalesce.Epoch = cfg.Epoch, cfg.Epoch
	s := &setup{cfg: cfg}
	var err error
	if s.own, err = cfg.Rules.For(cfg.Family); err != nil {
		return nil, fmt.Errorf("Config.Family: %w", err)
	}
	s.normalizer, _ = signature.New(s.own.Masking()) // the set has validated it
	s.finder = blame.New(s.own.GameCode())
	return s, nil
}

// begin returns an engine that has no entry but begins after one.
func (s *setup) begin(after uint64) (e *Engine, err error) {
	e = s.engine()
	e.Seq, e.Carried, e.cfg.Journal.After = after, after, after
	if e.classifier, err = classify.New(s.classify()); err != nil {
		return nil, inConfig(err)
	}
	if e.journal, err = journal.New(e.cfg.Journal); err != nil {
		return nil, inConfig(err)
	}
	if e.coalescer, err = coalesce.New(s.cfg.Coalesce); err != nil {
		return nil, inConfig(err)
	}
	e.coalescer.Continue(after, 0, false)
	return e, nil
}

// inConfig returns the error of a part with the names that fields have in [Config].
func inConfig(err error) error {
	return errors.New(strings.NewReplacer(
		"classify: Config.Groups: signature: GrouperConfig", "Config.Groups", "classify: Config", "Config",
		"journal: Config", "Config.Journal", "coalesce: Config.Epoch", "Config.Epoch", "coalesce: Config", "Config.Coalesce",
	).Replace(err.Error()))
}

// engine returns an engine without classifier, journal and coalescer.
func (s *setup) engine() *Engine { return &Engine{setup: *s, accused: map[signature.ID]accused{}} }

func (s *setup) classify() classify.Config {
	return classify.Config{
		Rules: s.own, Normalizer: s.normalizer, Signatures: s.cfg.Signatures, Decisions: s.cfg.Signatures,
		Groups: s.cfg.Groups, InitialPhase: s.cfg.InitialPhase,
	}
}

// SetRules replaces the rules from the next entry on. The effect is that of a [Engine.Snapshot] and a [Restore] with
// the new rules, except that the journal and the mods learned stay: items, operations, counts, phase and time are kept,
// decisions are not revised, and a blindness ends with the next entry if its rule does not exist any more or does not
// begin it any more. An item about such blindness stays until it is acknowledged or expires.
//
// Rules with another masking ([rules.Set.Masking]) give the same text other signatures. Learned groups are then
// dropped, and new entries count in groups of their own, not in the groups of open and remembered items, so that an
// acknowledged fault may return once. Counters, cursors and conservation hold. Later snapshots are restored with the
// new rules.
//
// It returns an error, and changes nothing, if set is nil. It allocates the tables of decisions, and with another
// masking the tables of signatures, under the lock.
func (e *Engine) SetRules(set *rules.Set) error {
	if set == nil {
		return errors.New("heed: SetRules: the set is nil: compile rules.Defaults for the default rules")
	}
	e.ruling.Lock()
	defer e.ruling.Unlock()
	if err := e.rule(set, e.cfg.Family); err != nil {
		return fmt.Errorf("heed: SetRules: %w", err)
	}
	return nil
}

// SetFamily replaces Config.Family from the next entry on, as [Engine.SetRules] replaces the rules. It returns an
// error, and changes nothing, if there is no such family.
func (e *Engine) SetFamily(family string) error {
	e.ruling.Lock()
	defer e.ruling.Unlock()
	if err := e.rule(e.cfg.Rules, family); err != nil {
		return fmt.Errorf("heed: SetFamily: %w", err)
	}
	return nil
}

// Rules returns the rules that decide: those for the family.
func (e *Engine) Rules() *rules.Set {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.own
}

// rule uses the rules of a set for a family from now on. The lock of the rules is held.
func (e *Engine) rule(given *rules.Set, family string) error {
	set, err := given.For(family)
	if err != nil {
		return err
	}
	normalizer, _ := signature.New(set.Masking()) // the set has validated it
	e.mu.Lock()
	defer e.mu.Unlock()
	if normalizer.Version() == e.normalizer.Version() {
		normalizer = e.normalizer
	}
	if err := e.classifier.SetRules(set, normalizer, e.cfg.Groups); err != nil {
		return err
	}
	e.finder.SetGameCode(set.GameCode())
	e.normalizer, e.own, e.cfg.Rules, e.cfg.Family = normalizer, set, given, family
	clear(e.accused)
	return nil
}
