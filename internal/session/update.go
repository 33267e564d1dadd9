package session

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/statefile"
	"github.com/heedlog/heed/internal/text"
)

// update keeps the snapshot of another version of signatures under a name of its own, which it returns. After one of
// version 1 the engine goes on with its numbers, and held has what blocked. After another, or a damaged one, refused
// says why the engine is new. The error is that the file cannot be kept.
func (s *Session) update(ec heed.Config, refused error) (before string, held []heed.Attention, _, err error) {
	path := s.cfg.Snapshot
	old, unread := statefile.ReadFile(path, snapshotKind, 1)
	suffix := ".v1"
	if errors.Is(unread, statefile.ErrVersion) {
		suffix = ".newer"
	} else {
		refused = unread
	}
	if before, err = statefile.SetAside(path, suffix); err != nil {
		return "", nil, nil, fmt.Errorf("session: a snapshot of another version cannot be set aside: %w", err)
	}
	if unread == nil {
		ec.Epoch = ""
		var e *heed.Engine
		if e, held, refused = heed.Renew(ec, old); refused == nil {
			s.engine, s.restored = e, true
			s.log.Info("the snapshot is from before an update: numbers go on, and the rest begins again",
				"file", path, "kept", before, "blocking", len(held))
			return before, held, nil, nil
		}
	}
	return before, nil, fmt.Errorf("snapshot %s, kept as %s: %w", path, before, refused), nil
}

// maxHeldBefore bounds the items of before an update that are named.
const maxHeldBefore = 8

// heldBefore sums up items that blocked before an update, whose state is in a file.
func heldBefore(held []heed.Attention, file string) heed.Report {
	r := heed.Report{Key: "update", Disposition: event.Blocking}
	items := "1 blocking item was open"
	if len(held) > 1 {
		items = fmt.Sprintf("%d blocking items were open", len(held))
	}
	var numbers []string
	var lines strings.Builder
	for i := range held {
		a := &held[i]
		r.Severity = max(r.Severity, a.Severity)
		r.Invalidates = r.Invalidates || a.StateInvalidated
		if i < maxHeldBefore {
			numbers = append(numbers, a.ID[strings.LastIndexByte(a.ID, '-')+1:])
			fmt.Fprintf(&lines, "\n%s: %s", a.ID, text.Safe(a.Summary, maxHeldSummary))
		}
	}
	if more := len(held) - maxHeldBefore; more > 0 {
		numbers = append(numbers, fmt.Sprintf("%d more", more))
		fmt.Fprintf(&lines, "\nand %d more", more)
	}
	items = "from before an update: " + items
	r.Summary = fmt.Sprintf("%s: %s; see %s", items, strings.Join(numbers, ", "), filepath.Base(file))
	r.Message = fmt.Sprintf("%s; their state is in %s%s", items, text.Safe(file, 0), lines.String())
	return r
}

// maxHeldSummary bounds the summary of each, in characters.
const maxHeldSummary = 160
