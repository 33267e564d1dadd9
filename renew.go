package heed

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/snapshotv1"
	"github.com/heedlog/heed/journal"
)

// Renew returns an engine for cfg that begins where a snapshot ends whose ids are of version 1 of signatures, which
// [Restore] refuses: with its epoch, its numbers and counts, its phase and blindness. So no id of an item and no cursor
// is given twice, and those that were given out are known to be old. cfg.Epoch must be the same or "". The rest of the
// state depends on ids: items, operations, consumers and what was learned of groups are gone, as if they were evicted.
//
// The items that were open and held calls back are returned in the order of their numbers, with id, severity, counts
// and, each for the first rule that blocked, a summary and a sample: a host reports them, see [Engine.Raise].
//
// Any other snapshot is refused, as by Restore.
func Renew(cfg Config, snapshot []byte) (*Engine, []Attention, error) {
	e, held, err := renew(cfg, snapshot)
	if err != nil {
		return nil, nil, fmt.Errorf("heed: snapshot: %w", err)
	}
	return e, held, nil
}

func renew(cfg Config, snapshot []byte) (*Engine, []Attention, error) {
	body, err := openSnapshot(snapshot, formatVersion1)
	if err != nil {
		return nil, nil, err
	}
	before, err := snapshotv1.Read(body)
	if err != nil {
		return nil, nil, err
	}
	if cfg.Epoch != "" && cfg.Epoch != before.Epoch {
		return nil, nil, fmt.Errorf("it is of the epoch %q, and Config.Epoch is %q", before.Epoch, cfg.Epoch)
	}
	cfg.Epoch, cfg.InitialPhase = before.Epoch, before.Phase
	p, err := prepare(cfg)
	if err != nil {
		return nil, nil, err
	}
	e := p.engine()
	e.seq, e.byKind = before.Seq, before.ByKind
	if e.classifier, err = classify.Resume(p.classify, before.Classify, before.Blind); err != nil {
		return nil, nil, err
	}
	if e.coalescer, err = coalesce.Resume(p.coalesce, before.Coalesce); err != nil {
		return nil, nil, err
	}
	p.journal.After = e.seq
	if e.journal, err = journal.New(p.journal); err != nil {
		return nil, nil, err
	}
	s := e.Stats()
	if err := s.Check(); err != nil {
		return nil, nil, fmt.Errorf("it does not add up: %w", err)
	}
	return e, heldBefore(before), nil
}

// heldBefore returns the items that blocked.
func heldBefore(before *snapshotv1.State) []Attention {
	slices.SortFunc(before.Blocking, func(a, b snapshotv1.Item) int { return cmp.Compare(a.Number, b.Number) })
	held := make([]Attention, len(before.Blocking))
	for i := range before.Blocking {
		it := &before.Blocking[i]
		held[i] = Attention{
			ID: before.Epoch + "-" + strconv.FormatUint(it.Number, 10), State: "open", Blocking: true,
			Disposition: event.Blocking, Severity: it.Severity, StateInvalidated: it.Invalidates,
			Summary:          cmp.Or(it.Summary, "a fault of the rule "+it.Rule),
			OpenedAtSequence: it.Opened, LatestSequence: it.Latest, TotalUrgentEntries: it.Entries,
			Sample: []Sample{{Level: it.Severity, Message: it.Text, Rule: it.Rule}},
		}
	}
	return held
}
