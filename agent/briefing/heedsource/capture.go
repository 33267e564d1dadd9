package heedsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/rules"
)

// maxEpochBytes is what an engine allows of its epoch.
const maxEpochBytes = 64

// ReadCapture reads a captured log to its end, or until ctx is done, and returns it as a ledger for [TierCaptures]. Its
// entries are named after name, with what an engine allows in an epoch. Positions are lines.
//
// A set of nil is the default rules. Memory does not depend on the length of the log: the ledger holds what the journal
// of an engine holds of it ([heed.Config.Journal]). The error says where the log could not be read; it has no ledger.
func ReadCapture(ctx context.Context, name string, r io.Reader, set *rules.Set) (*Ledger, error) {
	e, err := heed.New(heed.Config{Rules: set, Epoch: epochOf(name)})
	if err != nil {
		return nil, err
	}
	reader, err := capture.NewReader(r, capture.Options{})
	if err != nil {
		return nil, fmt.Errorf("heedsource: %s: %w", name, err)
	}
	var (
		rec     capture.Record
		out     heed.Outcome
		updates []heed.Update
		began   capture.Environment
	)
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("heedsource: %s: read to line %d: %w", name, rec.Line(), err)
		}
		switch err := reader.Next(&rec); {
		case errors.Is(err, io.EOF):
			return newLedger(e, func(pos uint64) string { return fmt.Sprintf("line %d", pos) }), nil
		case err != nil:
			return nil, fmt.Errorf("heedsource: %s: %w", name, err)
		}
		if rec.Mods != nil {
			e.LearnMods(rec.Mods.Plain())
		}
		if program := began.Observe(&rec); program != "" {
			e.LearnGame(program)
		}
		e.ObserveInto(&out, &rec.Entry)
		if out.Pending {
			updates = e.Updates(updates[:0]) // nobody reads them, and they would pile up to a bound
		}
	}
}

// epochOf returns a name as an epoch.
func epochOf(name string) string {
	s := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, name)
	return s[max(0, len(s)-maxEpochBytes):]
}
