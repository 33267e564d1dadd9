package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
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
	return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(words, part) })
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

// up begins with a connection to the mod, before its first event.
func (p *Proxy) up(again bool) {
	w, _ := p.mod.welcome()
	p.intake.connected(w.Capabilities.Events)
	if again {
		p.session.Observe(event.State{Status: event.StatusConnected, Detail: "the mod answers again"}.Entry())
	}
}

// down records that the connection to the mod has ended.
func (p *Proxy) down(err error) {
	p.log.Info("the connection to the mod ended", "error", err)
	if !p.mod.awaitEnd(context.Background()) { // else the game has ended, which is recorded
		p.session.Observe(event.State{Status: event.StatusDisconnected, Detail: "the connection to the mod was lost"}.Entry())
	}
}

// event ingests an event of the mod, and passes it on.
func (p *Proxy) event(e gabp.Event) {
	p.mod.heard.Add(1)
	if e.Lost > 0 {
		p.mod.lost.Add(e.Lost)
		p.log.Warn("events of the mod were dropped: they came faster than heed can read them", "lost", e.Lost)
	}
	switch {
	case p.attends && strings.HasPrefix(e.Channel, "attention/"):
		p.offer(p.intake.takeAttention(e.Payload))
		return
	case isLogChannel(e.Channel):
		p.intake.takeLog(e.Payload)
	case isOperationChannel(e.Channel) && !p.mod.calls.any():
		p.intake.takeOperation(e.Payload)
	}
	var err error
	if strings.HasPrefix(e.Channel, "attention/") { // attention is left to the mod
		err = p.server.Publish(e.Channel, "", e.Payload, nil)
	} else {
		err = p.server.Pass(e.Channel, p.mod.missed(&e), e.Payload)
	}
	if err != nil {
		p.log.Warn("an event of the mod cannot be passed on", "channel", e.Channel, "error", err)
	}
}

// acknowledgeAll acknowledges ingested items to the mod, so that it does not gather open items, until ctx is done.
func (p *Proxy) acknowledgeAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-p.unacked:
			p.acknowledge(ctx, id)
		}
	}
}

func (p *Proxy) acknowledge(ctx context.Context, id string) {
	client := p.mod.client.Load()
	if client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	answer, err := client.CallRaw(ctx, gabp.MethodAttentionAck, Encode(gabp.AckParams{AttentionID: id}))
	if err != nil {
		p.log.Debug("the mod's attention could not be acknowledged", "error", err)
		return
	}
	// The next event of an item that is still open acknowledges it.
	if next := textIn(answer, "currentAttention", "attentionId"); next != id {
		p.offer(next)
	}
}

// offer has an item acknowledged, "" for none.
func (p *Proxy) offer(id string) {
	if id == "" {
		return
	}
	select {
	case p.unacked <- id:
	default: // one is being acknowledged; its answer has the next
	}
}

// The bounds of a [Dedup]. An event comes within milliseconds of its record, the line in the file within tens of them;
// the window leaves time for a busy machine.
const (
	dedupWindow = 5 * time.Second
	dedupTexts  = 4096
	dedupBytes  = 160 // of the first line: mods cut messages
)

// Dedup recognizes a record that comes by two ways, through the followed log and as an event of the mod, so that it
// counts once. Each way's records of a text are counted against the other's: the first is ingested, and its duplicate
// dropped. A text is identified by the first 160 bytes of its first line.
//
// The event has more data: the level, and the operation. A second record is also ingested if it is the first of its
// text with a level or an operation: a duplicate is better than a record without its level.
//
// A record that comes later than 5 s after the latest of its text is another one. Beyond 4,096 texts the least recently
// seen is evicted, and its duplicates count twice. A Dedup is safe for concurrent use.
type Dedup struct {
	mu    sync.Mutex
	texts *simplelru.LRU[string, *sighting]
}

// sighting is the state of a text.
type sighting struct {
	balance int  // events minus records of the log
	leveled bool // a level or an operation came
	at      time.Time
}

// NewDedup returns a Dedup that has seen nothing.
func NewDedup() *Dedup { return &Dedup{texts: newLRU[*sighting](dedupTexts)} }

// FromLog records a record of the followed log, and reports whether it is to be ingested.
func (d *Dedup) FromLog(message string, now time.Time) bool { return d.isNew(message, -1, false, now) }

// FromMod records a record that the mod sent, and reports whether it is to be ingested. More means that it has a level
// or an operation.
func (d *Dedup) FromMod(message string, more bool, now time.Time) bool {
	return d.isNew(message, 1, more, now)
}

// dedupKey is what identifies a text.
func dedupKey(message string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(message, "\r\n"), "\n")
	line = strings.TrimRight(line, " \t\r")
	return line[:min(len(line), dedupBytes)]
}

// isNew records a record that came by a way, 1 or -1.
func (d *Dedup) isNew(message string, way int, more bool, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := dedupKey(message)
	s, known := d.texts.Get(key)
	switch {
	case !known:
		s = &sighting{}
		d.texts.Add(strings.Clone(key), s)
	case now.Sub(s.at) > dedupWindow:
		*s = sighting{}
	}
	s.at = now
	s.balance += way
	news := more && !s.leveled
	s.leveled = s.leveled || more
	return s.balance*way > 0 || news
}

// Feed returns log without the records that the mod has sent: see [Dedup].
func Feed(log session.Feed, d *Dedup) session.Feed { return feed{Feed: log, dedup: d} }

type feed struct {
	session.Feed
	dedup *Dedup
}

// Run implements [session.Feed].
func (f feed) Run(ctx context.Context, h func(*follow.Record)) error {
	var latest struct {
		key  string
		line int
		news bool
	}
	return f.Feed.Run(ctx, func(rec *follow.Record) {
		if rec.IsLog() && !rec.History { // history is from before the mod's events
			key := dedupKey(rec.Message)
			if rec.Part == event.Whole || rec.StartLine != latest.line || key != latest.key { // else it was counted
				latest.key, latest.line, latest.news = strings.Clone(key), rec.StartLine, f.dedup.FromLog(rec.Message, rec.Arrived)
			}
			if !latest.news {
				return
			}
		}
		h(rec)
	})
}
