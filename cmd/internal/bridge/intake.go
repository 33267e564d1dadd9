package bridge

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
)

const (
	// maxCopies bounds the records that one event of the mod counts as: it has a count of repeats.
	maxCopies = 100

	// maxRepeats bounds the entries, and maxModItems the attention items of the mod, whose latest count is kept.
	maxRepeats  = 4096
	maxModItems = 256

	// maxID bounds the ids that are kept, in bytes. An entry with a longer id is ingested each time that it is sent.
	maxID = 256
)

// intake makes entries of the mod's events. It is used by one goroutine.
type intake struct {
	observe func(event.Entry) heed.Outcome // [session.Session.Observe]
	dedup   *Dedup
	now     func() time.Time

	// hasLog is set if the mod has a channel for its log, so that the samples of its attention are known already.
	hasLog bool

	repeats *simplelru.LRU[string, uint64] // by the mod's id of an entry
	items   *simplelru.LRU[string, uint64] // latest sequence number by attention id
}

func newIntake(dedup *Dedup, observe func(event.Entry) heed.Outcome, now func() time.Time) *intake {
	return &intake{
		observe: observe, dedup: dedup, now: now,
		repeats: newLRU[uint64](maxRepeats), items: newLRU[uint64](maxModItems),
	}
}

// connected begins with another connection to the mod. The ids of earlier ones are dropped: a mod that was started
// again gives them again.
func (in *intake) connected(channels []string) {
	in.hasLog = slices.ContainsFunc(channels, isLogChannel)
	in.repeats.Purge()
	in.items.Purge()
}

func newLRU[V any](size int) *simplelru.LRU[string, V] {
	lru, _ := simplelru.NewLRU[string, V](size, nil) // sizes are constants
	return lru
}

// isLogChannel reports whether a channel carries a log, by its name.
func isLogChannel(channel string) bool { return hasWord(channel, "log", "logs", "logging", "console") }

func isOperationChannel(channel string) bool { return hasWord(channel, "operation", "operations") }

// hasWord reports whether one of the parts of a channel's name is one of words.
func hasWord(channel string, words ...string) bool {
	parts := strings.FieldsFunc(strings.ToLower(channel), func(r rune) bool { return strings.ContainsRune("/.:_-", r) })
	for _, p := range parts {
		if slices.Contains(words, p) {
			return true
		}
	}
	return false
}

// logRecord is the JSON form of a log record of a mod. encoding/json ignores the case of names, as mods do.
type logRecord struct {
	Level       string `json:"level"`
	Message     string `json:"message"`
	StackTrace  string `json:"stackTrace"`
	Source      string `json:"source"`
	OperationID string `json:"operationId"`
	ParentID    string `json:"parentOperationId"`
	EntryID     string `json:"entryId"`
	Repeats     uint64 `json:"repeatCount"`
}

// takeLog ingests the payload of a log channel. Another form is ignored.
func (in *intake) takeLog(payload json.RawMessage) {
	var p struct {
		logRecord
		LogEntry *logRecord `json:"logEntry"`
	}
	if json.Unmarshal(payload, &p) != nil {
		return
	}
	r := cmp.Or(p.LogEntry, &p.logRecord)
	in.ingest(event.Entry{
		Level: modLevel(r.Level), Source: r.Source, Message: r.Message, Stack: r.StackTrace, OperationID: r.OperationID,
	}, r.ParentID, r.EntryID, r.Repeats)
}

// ingest ingests an entry of the mod that has a message, as often as it is new: id is the mod's id of the entry, and
// repeats the mod's count so far. parent is the parent of the entry's operation.
func (in *intake) ingest(e event.Entry, parent, id string, repeats uint64) {
	if e.Message == "" {
		return
	}
	repeats = max(1, repeats)
	if id != "" && len(id) <= maxID {
		before, _ := in.repeats.Get(id)
		in.repeats.Add(id, max(before, repeats))
		if repeats <= before {
			return
		}
		repeats -= before
	}
	if parent != "" && e.OperationID != "" {
		in.observe(event.Operation{ID: e.OperationID, Parent: parent}.Entry())
	}
	more := e.Level >= event.LevelWarning || e.OperationID != ""
	e.Time = in.now()
	for range min(repeats, maxCopies) {
		if in.dedup.FromMod(e.Message, more, e.Time) {
			in.observe(e)
		}
	}
}

// modLevel parses a level by any of the names that loggers of games use.
func modLevel(s string) event.Level {
	level, _ := logline.ParseLevel(strings.TrimSpace(s))
	return level
}

// takeOperation ingests the payload of a channel for operations, of those that were not called through this proxy:
// those end with their call.
func (in *intake) takeOperation(payload json.RawMessage) {
	type operation struct {
		Type    string `json:"eventType"`
		ID      string `json:"operationId"`
		Method  string `json:"capabilityId"`
		Parent  string `json:"parentOperationId"`
		Message string `json:"errorMessage"`
	}
	var p struct {
		operation
		Kind  string     `json:"type"`
		Event *operation `json:"operationEvent"`
	}
	if json.Unmarshal(payload, &p) != nil {
		return
	}
	o := cmp.Or(p.Event, &p.operation)
	status, ok := event.Parse[event.Status](strings.TrimPrefix(strings.ToLower(cmp.Or(o.Type, p.Kind)), "operation."))
	if !ok || status.Kind() != event.KindOperation || o.ID == "" {
		return
	}
	in.observe(event.Operation{
		ID: o.ID, Parent: o.Parent, Method: o.Method, Status: status, Error: o.Message,
	}.Entry())
}

// takeAttention ingests an attention item of the mod, and returns its id, "" if it is not open. If the mod has no
// log channel, new samples become entries, with the item's operation.
func (in *intake) takeAttention(payload json.RawMessage) string {
	var a struct {
		ID       string `json:"attentionId"`
		State    string `json:"state"`
		Severity string `json:"severity"`
		Summary  string `json:"summary"`
		ByID     string `json:"causalOperationId"`
		By       string `json:"causalMethod"`
		Latest   uint64 `json:"latestSequence"`
		Sample   []struct {
			Level   string `json:"level"`
			Message string `json:"message"`
			Latest  uint64 `json:"latestSequence"`
		} `json:"sample"`
	}
	if json.Unmarshal(payload, &a) != nil || a.ID == "" || a.State != "open" {
		return ""
	}
	before, seen := in.items.Get(a.ID)
	if len(a.ID) <= maxID {
		in.items.Add(a.ID, max(before, a.Latest))
	}
	if a.ByID != "" && a.By != "" && !seen {
		in.observe(event.Operation{ID: a.ByID, Method: a.By}.Entry())
	}
	if in.hasLog {
		return a.ID
	}
	if len(a.Sample) == 0 && !seen && a.Summary != "" {
		in.ingest(event.Entry{Level: modLevel(a.Severity), Message: a.Summary, OperationID: a.ByID}, "", "", 1)
	}
	for _, s := range a.Sample {
		if !seen || s.Latest > before {
			in.ingest(event.Entry{
				Level: modLevel(s.Level), Message: strings.TrimRight(s.Message, "…."), OperationID: a.ByID,
			}, "", "", 1)
		}
	}
	return a.ID
}
