package sidecar

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// greet reads the hello, and makes a server as it says. The welcome is written before all else.
func greet(f *frames, w *writer, cfg Config) (*server, error) {
	t, payload, err := f.next()
	if err != nil {
		return nil, err
	}
	if t != typeHello {
		return nil, fmt.Errorf("the first frame has type %d: it must be a hello, of type %d", t, typeHello)
	}
	var h hello
	if err := h.read(payload); err != nil {
		return nil, fmt.Errorf("the hello cannot be read: %w", err)
	}
	set, err := compile(&h)
	if err != nil {
		return nil, err
	}
	if cfg.Greeted != nil {
		cfg.Greeted(h.Process)
	}
	s := &server{rules: set, w: w}
	s.lines.Store(h.Lines)
	c := bounded(set)
	c.Epoch, c.InitialPhase, c.Family = cmp.Or(cfg.Epoch, newEpoch()), h.Phase, h.Family
	if h.Rules == "generic" {
		c.Family = "plain"
	}
	welcome := welcome{Program: cfg.Program, Reason: short(strings.Join(set.Ended(), "; "))}
	var why error
	if len(h.snapshot) > 0 || len(h.Seen) > 0 {
		why = s.restore(c, &h)
		welcome.Restored = why == nil
	}
	if s.engine == nil {
		if s.engine, err = heed.New(c); err != nil {
			return nil, err
		}
	}
	if why == nil {
		why = s.engine.CarriedOver()
	} else {
		s.engine.Raise(heed.Report{
			Key: "state", Disposition: event.Blocking, Severity: event.SeverityError, Invalidates: true,
			Summary: "the saved state cannot be read: faults from before are not known", Message: why.Error(),
		})
	}
	if why != nil {
		welcome.Reason = strings.Trim(why.Error()+"; "+welcome.Reason, "; ")
	}
	welcome.Epoch = s.engine.Latest().Epoch
	s.welcome = &welcome
	return s, nil
}

// bounded returns a configuration with bounds for one game: the process stays below 40 MB for any input.
func bounded(set *rules.Set) heed.Config {
	return heed.Config{
		Rules: set, Signatures: 16 << 10,
		Groups: signature.GrouperConfig{Signatures: 16 << 10, Columns: 8 << 10},
		Journal: journal.Config{
			Entries: 16 << 10, Bytes: 2 << 20, Firsts: 1 << 10, FirstsBytes: 512 << 10, Pinned: 1 << 10, PinnedBytes: 512 << 10,
		},
	}
}

// compile returns the rules that the client wants.
func compile(h *hello) (*rules.Set, error) {
	files := make([]rules.File, 0, len(h.Files))
	for _, f := range h.Files {
		files = append(files, rules.File{Name: f.Name, Data: []byte(f.Text), Today: time.Now().UTC().Format(time.DateOnly)})
	}
	switch h.Rules {
	case "", "unity", "generic":
		files = append(files, rules.Defaults()...)
	case "none":
	default:
		return nil, fmt.Errorf("the hello wants the rules %.40q: there are unity, generic and none", h.Rules)
	}
	return rules.Compile(files...)
}

// restore makes the engine of the hello's snapshot, and brings it to the state that the client knows. Without a
// snapshot it continues in the epoch of the items.
func (s *server) restore(c heed.Config, h *hello) error {
	items, err := latest(h.Seen)
	if err != nil {
		return err
	}
	for i := range items {
		c.Journal.After = max(c.Journal.After, min(items[i].LatestSequence, maxSequence)) // they are not given again
	}
	var engine *heed.Engine
	if len(h.snapshot) > 0 {
		c.Epoch = ""
		engine, err = heed.Restore(c, h.snapshot)
	} else {
		c.Epoch = strings.TrimSuffix(items[0].ID, "-"+strconv.FormatUint(number(items[0].ID), 10))
		engine, err = heed.New(c)
	}
	if err != nil {
		return err
	}
	for i := range items {
		if err := catchUp(engine, &items[i]); err != nil {
			return err
		}
	}
	s.engine = engine
	s.before = slices.DeleteFunc(engine.Updates(nil), func(u heed.Update) bool {
		return slices.ContainsFunc(items, func(a heed.Item) bool { return a.ID == u.Item.ID })
	})
	return nil
}

// latest returns each item of a list of updates as it was last, in the order of their numbers.
func latest(updates []json.RawMessage) ([]heed.Item, error) {
	items := map[string]heed.Item{}
	for _, b := range updates {
		var u heed.Update
		if err := json.Unmarshal(b, &u); err != nil {
			return nil, fmt.Errorf("an update in the hello cannot be read: %w", err)
		}
		items[u.Item.ID] = u.Item
	}
	return slices.SortedFunc(maps.Values(items), func(a, b heed.Item) int {
		return cmp.Or(cmp.Compare(number(a.ID), number(b.ID)), cmp.Compare(a.ID, b.ID))
	}), nil
}

// number returns the number at the end of an item's id.
func number(id string) uint64 {
	n, _ := strconv.ParseUint(id[strings.LastIndexByte(id, '-')+1:], 10, 64)
	return n
}

// maxSequence bounds the numbers of entries that a client has seen: snapshots take twice as many.
const maxSequence = 1 << 52

// catchUp brings an engine to the state of an item that was reported after the engine's snapshot was taken. An item
// that the engine does not know is raised under its old id, since its entries are gone.
func catchUp(engine *heed.Engine, a *heed.Item) error {
	if _, known := engine.Item(a.ID); !known {
		id := engine.Raise(heed.Report{
			ID: a.ID, Key: "restored-" + strconv.FormatUint(number(a.ID), 10), Disposition: a.Disposition,
			Severity: a.Severity, Invalidates: a.StateInvalidated, Summary: a.Title, Message: message(a),
			OperationID: a.CausalOperationID, Pos: a.OpenedPos,
		})
		if id != a.ID {
			return errors.New("an item that was reported after the snapshot cannot be raised again: " + a.ID)
		}
	}
	switch {
	case a.State == coalesce.Open:
	case a.ClearedBy == coalesce.ReasonAcknowledged:
		engine.Ack("", a.ID, a.LatestSequence)
	default:
		engine.Clear(a.ID)
	}
	return nil
}

func message(a *heed.Item) string {
	if len(a.Sample) == 0 {
		return a.Summary
	}
	return a.Sample[0].Message
}
