package bridge

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/signature"
)

// The bounds of pages.
const (
	defaultChars  = 500
	maxChars      = 4000
	maxPageBytes  = 96 << 10 // of JSON, if there is more than one entry
	maxStackLines = 40
	maxRounds     = 64 // reads without result for a page: more than a journal is long
	maxTags       = 16
)

// Entry is an entry of the journal with its decision.
type Entry struct {
	journal.Record

	Stack      []string     `json:"stack,omitempty" jsonschema:"Log text, line by line, if requested."`
	StackLines int          `json:"stackLines,omitempty" jsonschema:"How many lines the stack has."`
	Cut        bool         `json:"cut,omitempty" jsonschema:"Text was cut in this answer: use a larger chars."`
	Signature  signature.ID `json:"signature" jsonschema:"Id of the text without its variable parts, to filter by."`
}

// Page is a part of the journal.
type Page struct {
	Epoch   string  `json:"epoch" jsonschema:"Identifies this count of entries; cursors are valid within it."`
	Entries []Entry `json:"entries" jsonschema:"Oldest first."`
	Next    string  `json:"next" jsonschema:"The cursor to continue from: use it as after."`

	Oldest     uint64 `json:"oldest" jsonschema:"Number of the oldest entry that heed holds, 0 if none."`
	Latest     uint64 `json:"latest" jsonschema:"Number of the latest entry."`
	Lost       uint64 `json:"lost" jsonschema:"Entries between the cursor and next that were evicted, whatever the filter."`
	LostBefore uint64 `json:"lostBefore" jsonschema:"How many of lost belong to an earlier process."`
	More       bool   `json:"more" jsonschema:"There is more after next: call again at once."`

	TimedOut bool   `json:"timedOut,omitempty" jsonschema:"For heed/wait: nothing came in time; call again with next."`
	Behind   string `json:"behind,omitempty" jsonschema:"Why newer entries may be missing."`
}

// look is how much of the text of entries is shown.
type look struct {
	Chars int  `json:"chars,omitempty" minimum:"40" maximum:"4000" default:"500" jsonschema:"The most characters of each message; a stack may have twice as many."`
	Stack bool `json:"stack,omitempty" jsonschema:"Show the stacks as well."`
}

// entry returns the JSON form of a record.
func (l look) entry(r *journal.Record) Entry {
	e := Entry{Record: *r, Signature: r.Signature.ID}
	e.Seq, e.Count, e.Pos, e.Time = integer(r.Seq), integer(r.Count), integer(r.Pos), stamp(r.Time)
	e.Source, e.OperationID, e.Parent = named(r.Source), named(r.OperationID), named(r.Parent)
	e.Rule, e.Tags = named(r.Rule), allNamed(r.Tags, maxTags)
	e.Message, e.Cut = logText(r.Message, l.Chars)
	if stack := strings.TrimRight(r.Stack, "\r\n"); stack != "" {
		e.StackLines = 1 + strings.Count(stack, "\n")
		if l.Stack {
			var cut bool
			e.Stack, cut = logLines(stack, maxStackLines, 2*l.Chars)
			e.Cut = e.Cut || cut
		}
	}
	return e
}

// entries returns as many of the records as fit a page, at least one of them.
func (l look) entries(records []journal.Record) []Entry {
	out := make([]Entry, 0, len(records))
	size := 0
	for i := range records {
		e := l.entry(&records[i])
		if size += len(Encode(&e)); size > maxPageBytes && i > 0 {
			break
		}
		out = append(out, e)
	}
	return out
}

// filter chooses entries.
type filter struct {
	MinDisposition event.Disposition `json:"minDisposition,omitempty" jsonschema:"Only entries with at least this disposition: advisory excludes ignored entries."`
	MinSeverity    event.Severity    `json:"minSeverity,omitempty" jsonschema:"Only entries at least this serious."`
	Kinds          []event.Kind      `json:"kinds,omitempty" jsonschema:"Only entries of these kinds."`
	Operation      string            `json:"operation,omitempty" jsonschema:"Only entries that name this operation or a part of it."`
	Rule           string            `json:"rule,omitempty" jsonschema:"Only entries that this rule decided."`
	Signature      string            `json:"signature,omitempty" jsonschema:"Only entries of this signature, or of its group."`
	Source         string            `json:"source,omitempty" jsonschema:"Only entries from this source, or of this tool."`
	Contains       string            `json:"contains,omitempty" jsonschema:"Only entries with exactly this text in their message or stack."`
}

// parse returns the engine's filter.
func (in *filter) parse() (heed.Filter, error) {
	f := heed.Filter{
		Operation: in.Operation, Rule: in.Rule, Source: in.Source, Contains: in.Contains, Kinds: in.Kinds,
		MinDisposition: in.MinDisposition, MinSeverity: in.MinSeverity,
	}
	if in.Signature != "" {
		id, err := signature.ParseID(in.Signature)
		if err != nil || id == 0 {
			return f, gabp.BadArgument("signature", "a signature of an entry, with 16 hexadecimal digits", "another text")
		}
		f.Signature = id
	}
	return f, nil
}

// cursorText is the form of a cursor in answers.
func cursorText(epoch string, seq uint64) string {
	return epoch + "/" + strconv.FormatUint(seq, 10)
}

// cursor returns the cursor that is meant, and without if there is none.
func (r Ref) cursor(without heed.Cursor) (heed.Cursor, error) {
	if r == "" {
		return without, nil
	}
	slash := strings.LastIndexByte(string(r), '/') // -1: it has no epoch
	seq, err := strconv.ParseUint(string(r[slash+1:]), 10, 53)
	if err != nil {
		return heed.Cursor{}, gabp.BadArgument("after", wantCursor, "another text")
	}
	return heed.Cursor{Epoch: string(r[:max(0, slash)]), Seq: seq}, nil
}

// refused is the error about a cursor that heed has not given out, with those to continue from.
func (d *Diagnostics) refused(p *heed.Page) error {
	reason, got := "epoch", "a cursor of another run of heed, whose entries are gone"
	if errors.Is(p.Err, journal.ErrCursorBeyond) {
		reason, got = "beyond", "a cursor past the latest entry"
	}
	return notAfter(reason, got, "entries", cursorText(d.epoch, max(p.Oldest, 1)-1), cursorText(d.epoch, p.Latest))
}

// read returns the next page after a cursor that has entries, or the last one.
func (d *Diagnostics) read(after heed.Cursor, limit int, f heed.Filter, l look) (*Page, []journal.Record, error) {
	out := Page{Epoch: d.epoch}
	for round := 0; ; round++ {
		p := d.session.Engine().Read(after, limit, f)
		if p.Err != nil {
			return nil, nil, d.refused(&p)
		}
		shown := l.entries(p.Records)
		if len(shown) < len(p.Records) { // a shorter page has its own losses
			limit = len(shown)
			continue
		}
		out.Lost, out.LostBefore = out.Lost+p.Lost, out.LostBefore+p.LostBefore
		if len(shown) > 0 || !p.More || round >= maxRounds {
			out.Entries, out.Next = shown, cursorText(d.epoch, p.Next.Seq)
			out.Oldest, out.Latest, out.More = p.Oldest, p.Latest, p.More
			return &out, p.Records, nil
		}
		after = p.Next
	}
}

type entriesArgs struct {
	After Ref    `json:"after,omitempty" minimum:"0" maximum:"512" jsonschema:"Start after this cursor: next of an earlier answer, or the diagnosticsCursor of an item, whose cause is then the first entry."`
	Last  uint64 `json:"last,omitempty" minimum:"1" jsonschema:"Start this many entries before the end, instead of after a cursor. Without both, start with the oldest entry."`
	pageArgs
}

// pageArgs choose the contents of a page.
type pageArgs struct {
	Limit int `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" jsonschema:"The most entries to return."`
	filter
	look
}

// entries answers heed/entries.
func (d *Diagnostics) entries(ctx context.Context, consumer string, in entriesArgs) (*Page, error) {
	f, err := in.parse()
	if err != nil {
		return nil, err
	}
	if in.After != "" && in.Last > 0 {
		return nil, gabp.BadArgument("last", "after or last", "both")
	}
	after, err := in.After.cursor(heed.Cursor{})
	if err != nil {
		return nil, err
	}
	behind := d.sync(ctx)
	if in.Last > 0 {
		after = d.session.Engine().Latest()
		after.Seq -= min(in.Last, after.Seq)
	}
	return d.page(consumer, after, &in.pageArgs, f, behind)
}

func (d *Diagnostics) page(
	consumer string, after heed.Cursor, in *pageArgs, f heed.Filter, behind string,
) (*Page, error) {
	page, records, err := d.read(after, in.Limit, f, in.look)
	if err != nil {
		return nil, err
	}
	d.markRead(consumer, records)
	page.Behind = behind
	return page, nil
}

// markRead records which open items a consumer has read: those whose cause is among the records.
func (d *Diagnostics) markRead(consumer string, records []journal.Record) {
	if !slices.ContainsFunc(records, func(r journal.Record) bool { return r.Disposition.Urgent() }) {
		return
	}
	for _, it := range d.session.Engine().Open(nil) {
		if slices.ContainsFunc(records, func(r journal.Record) bool { return r.Seq == it.Cause.Seq }) {
			d.session.MarkRead(consumer, it.ID)
		}
	}
}

// margin is how long before the end of its context a wait ends, which leaves time to answer.
const margin = 250 * time.Millisecond

type waitArgs struct {
	After   Ref `json:"after,omitempty" minimum:"0" maximum:"512" jsonschema:"Wait for entries after this cursor: next of an earlier answer. Without it, wait for new entries."`
	Seconds int `json:"seconds,omitempty" minimum:"1" maximum:"30" default:"10" jsonschema:"The longest time to wait."`
	pageArgs
}

// wait answers heed/wait.
func (d *Diagnostics) wait(ctx context.Context, consumer string, in waitArgs) (*Page, error) {
	f, err := in.parse()
	if err != nil {
		return nil, err
	}
	behind := d.sync(ctx)
	after, err := in.After.cursor(d.session.Engine().Latest())
	if err != nil {
		return nil, err
	}
	within := time.Duration(in.Seconds) * time.Second
	if end, ok := ctx.Deadline(); ok {
		within = min(within, time.Until(end)-margin)
	}
	waiting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	p, err := d.session.Wait(waiting, after, 1, f)
	timedOut := err != nil
	switch {
	case ctx.Err() != nil && timedOut:
		return nil, gabp.Errorf(gabp.CodeTimeout, "the wait ended because its caller left")
	case timedOut:
		after = p.Next
	}
	page, err := d.page(consumer, after, &in.pageArgs, f, behind)
	if err == nil {
		page.TimedOut = timedOut && len(page.Entries) == 0
	}
	return page, err
}
