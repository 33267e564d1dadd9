package session

import (
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
func (s *Session) update(ec heed.Config, other *statefile.VersionError) (
	before string, held []heed.Attention, refused, err error,
) {
	path := s.cfg.Snapshot
	if before, err = statefile.SetAside(path, fmt.Sprintf(".v%d", other.Is)); err != nil {
		return "", nil, nil, fmt.Errorf("session: a snapshot of another version cannot be set aside: %w", err)
	}
	refused = other
	if other.Is == 1 {
		var e *heed.Engine
		if e, held, refused = renew(ec, before); refused == nil {
			s.engine, s.restored = e, true
			s.log.Info("the snapshot is from before an update: numbers go on, and the rest begins again",
				"file", path, "kept", before, "blocking", len(held))
			return before, held, nil, nil
		}
	}
	return before, nil, fmt.Errorf("snapshot %s, kept as %s: %w", path, before, refused), nil
}

func renew(ec heed.Config, path string) (*heed.Engine, []heed.Attention, error) {
	old, err := statefile.ReadFile(path, snapshotKind, 1)
	if err != nil {
		return nil, nil, err
	}
	ec.Epoch = "" // that of the snapshot goes on
	return heed.Renew(ec, old)
}

// maxHeldBefore bounds the items from before an update that are named, maxHeldSummary the characters about each.
const (
	maxHeldBefore  = 8
	maxHeldSummary = 160
)

// raiseHeld opens one item for those that blocked before an update, whose state is in a file.
func (s *Session) raiseHeld(held []heed.Attention, file string) {
	s.enter()
	var id string
	for _, r := range heldBefore(held, file) {
		r.Time = s.now()
		id = s.engine.Raise(r)
	}
	s.leave()
	s.disk.keep(id)
}

// heldBefore returns reports of one item: where the state is, and one about each item that blocked.
func heldBefore(held []heed.Attention, file string) []heed.Report {
	items := "from before an update: 1 blocking item was open"
	if len(held) > 1 {
		items = fmt.Sprintf("from before an update: %d blocking items were open", len(held))
	}
	var numbers []string
	for i := range held[:min(len(held), maxHeldBefore)] {
		numbers = append(numbers, held[i].ID[strings.LastIndexByte(held[i].ID, '-')+1:])
	}
	message := fmt.Sprintf("%s; their state is in %s", items, text.Safe(file, 0))
	if more := len(held) - len(numbers); more > 0 {
		numbers = append(numbers, fmt.Sprintf("%d more", more))
	}
	summary := fmt.Sprintf("%s: %s; see %s", items, strings.Join(numbers, ", "), filepath.Base(file))
	reports := []heed.Report{{Message: message}}
	for i := range held {
		a := &held[i]
		reports[0].Severity = max(reports[0].Severity, a.Severity)
		reports[0].Invalidates = reports[0].Invalidates || a.StateInvalidated
		if i < maxHeldBefore {
			reports = append(reports, heed.Report{
				Message:  a.ID + ": " + text.Safe(a.Summary, maxHeldSummary),
				Severity: a.Severity, Invalidates: a.StateInvalidated,
			})
		}
	}
	for i := range reports {
		reports[i].Key, reports[i].Disposition, reports[i].Summary = "update", event.Blocking, summary
	}
	return reports
}
