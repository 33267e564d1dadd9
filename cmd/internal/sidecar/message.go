package sidecar

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/wire"
	"github.com/heedlog/heed/journal"
)

// The bounds of what a frame holds. The payload's own bound holds as well.
const (
	maxName   = 4 << 10
	maxText   = maxPayload
	maxFile   = 1 << 20
	maxFiles  = 64
	maxMods   = 4096
	maxSeen   = 4096
	maxLevels = int(event.LevelFatal) + 1
	maxNumber = 1<<63 - 1
)

// coder codes the payload of a frame, in either direction.
type coder struct{ wire.Coder }

func (c *coder) number(what string, n *uint64) { c.Uint64(what, n, math.MaxUint64) }

// name codes a text of at most maxName bytes. A longer one is cut when it is written.
func (c *coder) name(what string, s *string) {
	if c.Reading() || len(*s) <= maxName {
		c.Text(what, s, maxName)
		return
	}
	short := strings.ToValidUTF8((*s)[:maxName], "")
	c.Text(what, &short, maxName)
}

// bytes codes bytes. What is read is a part of the payload.
func (c *coder) bytes(what string, b *[]byte) {
	if !c.Reading() {
		c.Put(func(dst []byte) []byte { return append(dst, *b...) })
		return
	}
	*b = c.Section(what)
}

// list codes the elements of a list.
func list[T any](c *coder, what string, elements *[]T, limit int, code func(*T)) {
	n := c.Len(what, len(*elements), limit)
	if !c.Reading() {
		for i := range *elements {
			code(&(*elements)[i])
		}
		return
	}
	*elements = (*elements)[:0]
	for i := 0; i < n && c.Err() == nil; i++ {
		*elements = slices.Grow(*elements, 1)[:i+1]
		var zero T
		(*elements)[i] = zero
		code(&(*elements)[i])
	}
}

func (c *coder) names(what string, names *[]string, limit int) {
	list(c, what, names, limit, func(s *string) { c.name(what, s) })
}

// hello is the first frame of a client.
type hello struct {
	client   string
	process  uint64
	rules    string
	files    []ruleFile
	phase    string
	lines    uint64 // ingested by sidecars before this one
	snapshot []byte
	seen     [][]byte // payloads of the updates that the client received since the snapshot
}

type ruleFile struct{ name, text string }

func (h *hello) code(c *coder) {
	c.name("client", &h.client)
	c.number("process id", &h.process)
	c.name("rules", &h.rules)
	list(c, "rule files", &h.files, maxFiles, func(f *ruleFile) {
		c.name("name of a rule file", &f.name)
		c.Text("rule file", &f.text, maxFile)
	})
	c.name("phase", &h.phase)
	c.number("lines before", &h.lines)
	c.bytes("snapshot", &h.snapshot)
	list(c, "updates since", &h.seen, maxSeen, func(b *[]byte) { c.bytes("update", b) })
}

// line is a log record. Its bytes are parts of the payload.
type line struct {
	number         uint64
	thread         uint64
	time           time.Time
	level          event.Level
	wide           bool // message and stack are UTF-16
	cutMessage     uint64
	cutStack       uint64
	operation      []byte
	message, stack []byte
}

func (l *line) code(c *coder) {
	c.number("line", &l.number)
	c.Time("time", &l.time)
	wire.Uint(&c.Coder, "level", &l.level, event.LevelFatal)
	c.Bool("UTF-16", &l.wide)
	c.number("thread", &l.thread)
	c.Part("operation", &l.operation, maxName)
	c.number("bytes cut from the message", &l.cutMessage)
	c.number("bytes cut from the stack", &l.cutStack)
	c.Part("message", &l.message, maxText)
	c.Part("stack", &l.stack, maxText)
}

// operation codes what happened to an operation.
func (c *coder) operation(e *event.Entry) {
	e.Kind = event.KindOperation
	c.Time("time", &e.Time)
	status := uint8(e.Status)
	wire.Uint(&c.Coder, "status", &status, uint8(event.StatusTimedOut))
	if e.Status = event.Status(status); e.Status == event.StatusNone {
		c.Fail("status is 0: must be from 1 to %d", event.StatusTimedOut)
	}
	c.name("id", &e.OperationID)
	c.name("parent", &e.Parent)
	c.name("method", &e.Source)
	c.Text("error", &e.Message, maxText)
	c.Bool("by the caller", &e.ByCaller)
}

// The kinds of a state frame.
const (
	statePhase uint8 = iota + 1
	stateLongEvent
	stateLongEventEnd
	stateAlive
	stateRead
)

// state is what a client reports of its game.
type state struct {
	event.State
	kind uint8
	due  uint64 // milliseconds until the next sign of life
	text string
}

func (s *state) code(c *coder) {
	c.Time("time", &s.Time)
	wire.Uint(&c.Coder, "what", &s.kind, stateRead)
	c.Uint64("due", &s.due, 1<<31)
	c.Text("text", &s.text, maxName)
	if s.kind == 0 {
		c.Fail("what is 0: must be from 1 to %d", stateRead)
	}
}

// The reasons of a dropped frame.
const (
	droppedFull uint8 = iota + 1
	droppedEnded
)

// dropped is what a client could not pass on.
type dropped struct {
	time    time.Time
	why     uint8
	byLevel [maxLevels]uint64
	others  uint64 // of levels that are not known
	bytes   uint64
}

func (d *dropped) code(c *coder) {
	c.Time("time", &d.time)
	wire.Uint(&c.Coder, "why", &d.why, droppedEnded)
	for i := range d.byLevel {
		c.Uint64("lines dropped", &d.byLevel[i], maxNumber)
	}
	c.Uint64("lines dropped", &d.others, maxNumber)
	c.Uint64("bytes dropped", &d.bytes, maxNumber)
}

// mods codes a list of mods.
func (c *coder) mods(mods *[]heed.Mod) {
	list(c, "mods", mods, maxMods, func(m *heed.Mod) {
		c.name("name", &m.Name)
		c.name("package id", &m.PackageID)
		c.name("number in the workshop", &m.WorkshopID)
		c.names("assemblies", &m.Assemblies, maxName)
	})
}

// report codes a report of the host.
func (c *coder) report(r *heed.Report) {
	c.Time("time", &r.Time)
	c.name("key", &r.Key)
	wire.Uint(&c.Coder, "disposition", &r.Disposition, event.Blocking)
	wire.Uint(&c.Coder, "severity", &r.Severity, event.SeverityFatal)
	c.Bool("invalidates", &r.Invalidates)
	c.name("summary", &r.Summary)
	c.Text("message", &r.Message, maxText)
	c.name("operation", &r.OperationID)
}

// queryKind is what a query asks for.
type queryKind uint8

// The kinds of queries.
const (
	queryCurrent queryKind = iota + 1
	queryVerdict
	queryRead
	queryAck
	queryAttach
	queryDetach
	queryDelivered
	queryClear
	queryStats
	queryExplain
	queryOpen
	querySnapshot
	queryFlush
)

// query is a question. Which fields it has is its kind's.
type query struct {
	number   uint64
	kind     queryKind
	consumer string
	id       string // of an item or an operation
	through  uint64
	cursor   heed.Cursor
	limit    uint64
	least    event.Disposition
}

func (q *query) code(c *coder) {
	c.number("id", &q.number)
	wire.Uint(&c.Coder, "kind", &q.kind, queryFlush)
	if q.kind == 0 {
		c.Fail("kind is 0: must be from 1 to %d", queryFlush)
	}
	switch q.kind {
	case queryCurrent, queryAttach, queryDetach, queryAck, queryDelivered:
		c.name("consumer", &q.consumer)
	case queryRead:
		c.name("epoch", &q.cursor.Epoch)
		c.number("after", &q.cursor.Seq)
		c.Uint64("limit", &q.limit, journal.MaxLimit)
		wire.Uint(&c.Coder, "least disposition", &q.least, event.Blocking)
	}
	switch q.kind {
	case queryVerdict, queryRead, queryAck, queryDelivered, queryClear, queryExplain:
		c.name("id", &q.id)
	}
	if q.kind == queryAck || q.kind == queryDelivered {
		c.number("through", &q.through)
	}
}

// welcome answers a hello.
type welcome struct {
	program  string
	epoch    string
	restored bool
	reason   string
}

func (w *welcome) code(c *coder) {
	c.name("program", &w.program)
	c.name("epoch", &w.epoch)
	c.Bool("restored", &w.restored)
	c.name("reason", &w.reason)
}

// updateKinds are the kinds of an update on the wire, from 1.
var updateKinds = []string{"", coalesce.Opened, coalesce.Updated, coalesce.Cleared}

// update is a change of an item.
type update struct {
	kind    string
	reason  string
	current string // id of the item that is current now, or ""
	item    heed.Item
}

func (u *update) code(c *coder) {
	kind := uint8(slices.Index(updateKinds, u.kind))
	wire.Uint(&c.Coder, "kind", &kind, uint8(len(updateKinds)-1))
	u.kind = updateKinds[kind]
	c.name("reason", &u.reason)
	c.name("current", &u.current)
	c.item(&u.item)
}

// item codes an item.
func (c *coder) item(a *heed.Item) {
	open := a.State == coalesce.Open
	c.name("id", &a.ID)
	c.Bool("open", &open)
	wire.Uint(&c.Coder, "severity", &a.Severity, event.SeverityFatal)
	wire.Uint(&c.Coder, "disposition", &a.Disposition, event.Blocking)
	c.Bool("blocks", &a.Blocking)
	c.Bool("state invalidated", &a.StateInvalidated)
	for _, s := range []*string{
		&a.Summary, &a.CausalOperationID, &a.CausalMethod, &a.AfterOperation, &a.AfterMethod,
	} {
		c.Text("text of an item", s, maxText)
	}
	for _, n := range []*uint64{&a.OpenedAtSequence, &a.LatestSequence, &a.DiagnosticsCursor, &a.TotalUrgentEntries} {
		c.number("number of an item", n)
	}
	groups := uint64(a.Groups)
	c.Uint64("groups", &groups, math.MaxInt32)
	c.pos(&a.OpenedPos)
	c.names("blame", &a.Blame, maxName)
	c.name("predecessor", &a.Predecessor)
	cleared := string(a.ClearedBy)
	c.name("cleared by", &cleared)
	list(c, "samples", &a.Sample, maxName, func(s *heed.Sample) {
		wire.Uint(&c.Coder, "severity", &s.Level, event.SeverityFatal)
		c.Text("message", &s.Message, maxText)
		c.number("repeats", &s.RepeatCount)
		c.number("latest", &s.LatestSequence)
		c.name("rule", &s.Rule)
	})
	if c.Reading() {
		a.State, a.Groups, a.ClearedBy = coalesce.Cleared, int(groups), coalesce.Reason(cleared)
		if open {
			a.State = coalesce.Open
		}
	}
}

// The position of an entry holds its line and its thread.
const lineBits = 40

// position returns the position of a line of a thread.
func position(line, thread uint64) uint64 { return thread<<lineBits | line&(1<<lineBits-1) }

// pos codes a position as line and thread.
func (c *coder) pos(p *uint64) {
	line, thread := *p&(1<<lineBits-1), *p>>lineBits
	c.Uint64("line", &line, 1<<lineBits-1)
	c.Uint64("thread", &thread, 1<<(64-lineBits)-1)
	*p = position(line, thread)
}

// verdict codes a verdict.
func (c *coder) verdict(v *heed.Verdict) {
	status, reason := uint8(v.Status), string(v.Reason)
	c.name("operation", &v.Operation)
	c.name("method", &v.Method)
	wire.Uint(&c.Coder, "status", &status, uint8(event.StatusTimedOut))
	c.name("outcome", &v.Outcome)
	c.name("reason", &reason)
	c.name("text", &v.Text)
	c.number("clean through", &v.CleanThrough)
	c.Bool("known", &v.Known)
	c.Bool("final", &v.Final)
	c.name("item", &v.AttentionID)
	v.Status, v.Reason = event.Status(status), coalesce.VerdictReason(reason)
}

// page codes a page of the journal.
func (c *coder) page(p *heed.Page) {
	c.name("epoch", &p.Next.Epoch)
	c.number("next", &p.Next.Seq)
	c.number("lost", &p.Lost)
	c.Bool("more", &p.More)
	list(c, "records", &p.Records, journal.MaxLimit, func(r *journal.Record) {
		c.number("sequence", &r.Seq)
		c.Time("time", &r.Time)
		wire.Uint(&c.Coder, "kind", &r.Kind, event.KindHost)
		wire.Uint(&c.Coder, "level", &r.Level, event.LevelFatal)
		wire.Uint(&c.Coder, "status", &r.Status, math.MaxUint8)
		c.name("source", &r.Source)
		c.Text("message", &r.Message, maxText)
		c.Text("stack", &r.Stack, maxText)
		c.name("operation", &r.OperationID)
		c.name("rule", &r.Decision.Rule)
		wire.Uint(&c.Coder, "disposition", &r.Decision.Disposition, event.Blocking)
		wire.Uint(&c.Coder, "severity", &r.Decision.Severity, event.SeverityFatal)
		c.pos(&r.Pos)
		c.Bool("cut", &r.Truncated)
	})
}

// answer is the answer to a query, without its body.
type answer struct {
	number uint64
	kind   queryKind
	err    string
}

func (a *answer) code(c *coder) {
	c.number("id", &a.number)
	wire.Uint(&c.Coder, "kind", &a.kind, queryFlush)
	c.name("error", &a.err)
}

// progress is how far the input was ingested.
type progress struct {
	latest uint64 // number of a line
	lines  uint64 // ingested, by sidecars before this one as well
}

func (p *progress) code(c *coder) {
	c.number("latest line", &p.latest)
	c.number("lines", &p.lines)
}

// problem reports a frame that could not be read.
type problem struct {
	frame frameType
	at    uint64
	fatal bool
	text  string
}

func (p *problem) code(c *coder) {
	wire.Uint(&c.Coder, "type", &p.frame, math.MaxUint8)
	c.number("position", &p.at)
	c.Bool("fatal", &p.fatal)
	c.name("text", &p.text)
}

// named is a text with a name.
type named struct{ name, text string }

func (c *coder) texts(texts *[]named) {
	list(c, "texts", texts, maxName, func(n *named) {
		c.name("name", &n.name)
		c.Text("text", &n.text, maxText)
	})
}

// figure is a number with a name.
type figure struct {
	name   string
	number uint64
}

func (c *coder) figures(figures *[]figure) {
	list(c, "numbers", figures, maxName, func(f *figure) {
		c.name("name", &f.name)
		c.number("number", &f.number)
	})
}
