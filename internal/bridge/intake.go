package bridge

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
)

const (
	// maxCopies bounds how many records one event of the mod stands for: it tells
	// of repeats by a count.
	maxCopies = 100

	// maxRepeats bounds the entries, and maxModItems the attention items of the mod,
	// whose latest count is known.
	maxRepeats  = 4096
	maxModItems = 256

	// maxID bounds the ids that are remembered, in bytes. What has a longer one is taken in each
	// time that it is told.
	maxID = 256
)

// entries receives what an intake makes: a [session.Session].
type entries interface {
	Observe(event.Entry) heed.Outcome
}

// intake makes entries of what a mod tells by its events. It is for one goroutine.
type intake struct {
	entries entries
	dedup   *Dedup
	now     func() time.Time

	// hasLog says that the mod has a channel for its log, so that the samples of its
	// attention say nothing new.
	hasLog bool

	repeats *simplelru.LRU[string, uint64] // by the mod's id of an entry
	items   *simplelru.LRU[string, uint64] // latest sequence number by attention id
}

func newIntake(dedup *Dedup, entries entries, now func() time.Time) *intake {
	return &intake{
		entries: entries, dedup: dedup, now: now,
		repeats: newLRU(maxRepeats), items: newLRU(maxModItems),
	}
}

// connected begins with another connection to the mod. Its ids say nothing of those before: a
// mod that was started again gives them anew, and what it tells must not pass for told.
func (in *intake) connected(channels []string) {
	in.hasLog = slices.ContainsFunc(channels, isLogChannel)
	in.repeats.Purge()
	in.items.Purge()
}

func newLRU(size int) *simplelru.LRU[string, uint64] {
	lru, err := simplelru.NewLRU[string, uint64](size, nil)
	if err != nil {
		panic("BUG: " + err.Error()) // sizes are constants
	}
	return lru
}

// isLogChannel reports whether a channel's name says that it carries a log.
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

// modEntry is a log record as mods tell of it. encoding/json does not look at the
// case of names, and neither do mods.
type modEntry struct {
	Level       string `json:"level"`
	Severity    string `json:"severity"`
	Message     string `json:"message"`
	Text        string `json:"text"`
	StackTrace  string `json:"stackTrace"`
	Stack       string `json:"stack"`
	Source      string `json:"source"`
	OperationID string `json:"operationId"`
	ParentID    string `json:"parentOperationId"`
	EntryID     string `json:"entryId"`
	Repeats     uint64 `json:"repeatCount"`
}

// takeLog takes in the payload of a log channel. What has another form says
// nothing.
func (in *intake) takeLog(payload json.RawMessage) {
	var p struct {
		modEntry
		LogEntry *modEntry       `json:"logEntry"`
		Entry    *modEntry       `json:"entry"`
		Log      json.RawMessage `json:"log"` // an entry, or a name
	}
	if json.Unmarshal(payload, &p) != nil {
		return
	}
	e := &p.modEntry
	switch {
	case p.LogEntry != nil:
		e = p.LogEntry
	case p.Entry != nil:
		e = p.Entry
	case len(p.Log) > 0 && p.Log[0] == '{':
		e = &modEntry{}
		if json.Unmarshal(p.Log, e) != nil {
			return
		}
	}
	in.takeEntry(e)
}

func (in *intake) takeEntry(e *modEntry) {
	if e.Message == "" {
		e.Message = e.Text
	}
	if e.Message == "" {
		return
	}
	if e.Stack == "" {
		e.Stack = e.StackTrace
	}
	level := modLevel(e.Level)
	if level == event.LevelUnknown {
		level = modLevel(e.Severity)
	}
	copies := max(1, e.Repeats)
	if e.EntryID != "" && len(e.EntryID) <= maxID {
		before, _ := in.repeats.Get(e.EntryID)
		in.repeats.Add(e.EntryID, max(before, e.Repeats, 1))
		if copies <= before {
			return // told of before
		}
		copies -= before
	}
	if e.ParentID != "" && e.OperationID != "" {
		in.entries.Observe(event.Operation{ID: e.OperationID, Parent: e.ParentID}.Entry())
	}
	more := level >= event.LevelWarning || e.OperationID != ""
	now := in.now()
	for range min(copies, maxCopies) {
		if in.dedup.FromMod(e.Message, more, now) {
			in.entries.Observe(event.Entry{
				Time: now, Level: level, Source: e.Source, Message: e.Message, Stack: e.Stack, OperationID: e.OperationID,
			})
		}
	}
}

// modLevel reads a level in any of the words that loggers of games have for it.
func modLevel(s string) event.Level {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "trace", "debug", "verbose":
		return event.LevelDebug
	case "info", "information", "log", "message", "notice":
		return event.LevelInfo
	case "warning", "warn":
		return event.LevelWarning
	case "error", "err", "assert", "exception":
		return event.LevelError
	case "fatal", "critical":
		return event.LevelFatal
	}
	return event.LevelUnknown
}

// takeOperation takes in the payload of a channel for operations: of those that
// nobody called through this proxy. A call's own end says the rest.
func (in *intake) takeOperation(payload json.RawMessage) {
	type operation struct {
		Type    string `json:"eventType"`
		ID      string `json:"operationId"`
		Method  string `json:"capabilityId"`
		Tool    string `json:"tool"`
		Parent  string `json:"parentOperationId"`
		Message string `json:"errorMessage"`
		Error   string `json:"error"`
	}
	var p struct {
		operation
		Kind  string     `json:"type"`
		Event *operation `json:"operationEvent"`
	}
	if json.Unmarshal(payload, &p) != nil {
		return
	}
	o := &p.operation
	if p.Event != nil {
		o = p.Event
	}
	if o.Type == "" {
		o.Type = p.Kind
	}
	status, ok := event.ParseStatus(strings.TrimPrefix(strings.ToLower(o.Type), "operation."))
	if !ok || status.Kind() != event.KindOperation || o.ID == "" {
		return
	}
	if o.Method == "" {
		o.Method = o.Tool
	}
	if o.Message == "" {
		o.Message = o.Error
	}
	in.entries.Observe(event.Operation{ID: o.ID, Parent: o.Parent, Method: o.Method, Status: status, Error: o.Message}.Entry())
}

// takeAttention takes in an attention item of the mod, and returns its id, "" for
// one that is not open. Where the mod has no log channel, samples become entries: as
// many as are new, with the item's operation.
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
		in.entries.Observe(event.Operation{ID: a.ByID, Method: a.By}.Entry())
	}
	if in.hasLog {
		return a.ID
	}
	if len(a.Sample) == 0 && !seen && a.Summary != "" {
		in.takeEntry(&modEntry{Level: a.Severity, Message: a.Summary, OperationID: a.ByID})
	}
	for _, s := range a.Sample {
		if !seen || s.Latest > before {
			in.takeEntry(&modEntry{Level: s.Level, Message: strings.TrimRight(s.Message, "…."), OperationID: a.ByID})
		}
	}
	return a.ID
}
