package heedsource

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/signature"
)

// The bounds of one query.
const (
	maxMatched   = 1024 // entries that match, alike or not
	maxLooked    = 4096 // entries that the journal's own filter chooses: it knows neither statuses nor mods
	maxAttribute = 128  // kinds of entries that are attributed to mods, for the filter "blame"
	latestWindow = 8    // entries of which one has a time, where any do
	firstWindow  = 256  // entries that are read first; then twice as many each time
)

// ledger is the journal of an engine as a [briefing.Ledger]. Entries that are alike, of one group and one rule, are
// one fragment: the latest of them, with their number.
//
// A query's EventType is a kind (log, operation, state, notice, host) or a status (failed, phase, hole, …). Its
// filters are signature (of an entry, or of another of its group), operation (with its parts), rule, disposition and
// severity (at least that), source (of a record, or the method of an operation), contains (a text, as it is) and blame
// (the name of a mod). A query reads no more than the latest 1,024 entries that match, and 4,096 to find them where the
// journal's own filter cannot, as for mods; that there may be more is in Found.More, and in titles.
type ledger struct {
	view
}

// newLedger returns the journal of an engine as a ledger. Place shows a host's position, such as "line 599"; nil:
// positions are not shown.
func newLedger(e *heed.Engine, place func(pos uint64) string) *ledger {
	return &ledger{view{engine: e, place: place}}
}

// Revision returns the cursor after the latest entry.
func (l *ledger) Revision(context.Context) string {
	latest := l.engine.Latest()
	return sourceID(latest.Epoch, latest.Seq)
}

// Entries reads the journal from its end backwards, in windows that double, until it has what the query asks for.
func (l *ledger) Entries(ctx context.Context, in *briefing.Input, q *briefing.LedgerQuery) (briefing.Found, error) {
	c, err := l.choice(q)
	if err != nil {
		return briefing.Found{}, err
	}
	latest := l.engine.Latest()
	if q.Recency > 0 {
		if at := l.latestTime(latest); at.IsZero() {
			c.warnings = append(c.warnings, "the latest entries have no time: recency does not restrict them")
		} else {
			c.since = at.Add(-q.Recency)
		}
	}
	if err := l.collect(ctx, latest, c); err != nil {
		return briefing.Found{}, err
	}
	return c.found(in, latest.Epoch), nil
}

// collect adds the entries through the latest to c, the latest first, until it has enough.
func (l *ledger) collect(ctx context.Context, latest heed.Cursor, c *choice) error {
	end, size := latest.Seq, uint64(firstWindow)
	for end > 0 && !c.full {
		if err := ctx.Err(); err != nil {
			return err
		}
		after := heed.Cursor{Epoch: latest.Epoch, Seq: end - min(end, size)}
		records, err := l.between(after, end, c.filter)
		if err != nil {
			return err
		}
		for i := range slices.Backward(records) {
			if !c.add(&records[i]) {
				break
			}
		}
		if dense := uint64(len(records)) > size/2; dense {
			size = min(size, uint64(max(maxMatched-c.matched, 0))+1)
		} else {
			size *= 2
		}
		end = after.Seq
		if !c.full && l.before(after, c.since) {
			break
		}
	}
	return nil
}

// between returns the entries after a cursor and through a sequence number that a filter chooses.
func (l *ledger) between(after heed.Cursor, through uint64, f heed.Filter) ([]journal.Record, error) {
	var out []journal.Record
	for {
		p := l.engine.Read(after, int(min(maxMatched, through-after.Seq)), f)
		if p.Err != nil {
			return nil, p.Err
		}
		for i := range p.Records {
			if p.Records[i].Seq > through {
				return append(out, p.Records[:i]...), nil
			}
		}
		out = append(out, p.Records...)
		if after = p.Next; !p.More || after.Seq >= through {
			return out, nil
		}
	}
}

// before reports whether the first entry after a cursor was before a time.
func (l *ledger) before(after heed.Cursor, since time.Time) bool {
	if since.IsZero() {
		return false
	}
	p := l.engine.Read(after, 1, heed.Filter{})
	return len(p.Records) > 0 && !p.Records[0].Time.IsZero() && p.Records[0].Time.Before(since)
}

// latestTime returns the time of the latest entry that has one, among the last.
func (l *ledger) latestTime(latest heed.Cursor) time.Time {
	for _, window := range []uint64{latestWindow, firstWindow} { // nearly always the first will do
		after := latest
		after.Seq -= min(latest.Seq, window)
		records, err := l.between(after, latest.Seq, heed.Filter{})
		if err != nil {
			return time.Time{}
		}
		for i := range slices.Backward(records) {
			if t := records[i].Time; !t.IsZero() {
				return t
			}
		}
	}
	return time.Time{}
}

// choice is a query as it is worked on: what it chooses, and what it has found, the latest first.
type choice struct {
	view
	filter heed.Filter
	status event.Status
	blame  string // key of a mod's name
	since  time.Time

	limit    int
	entries  []journal.Record
	runs     []run
	index    map[alike]int  // of entries
	charged  map[alike]bool // points at the mod
	looked   int
	matched  int
	full     bool
	more     bool
	warnings []string
}

// alike is what entries of one fragment have in common.
type alike struct {
	kind      event.Kind
	status    event.Status
	signature signature.Signature
	source    string // of what is no log record
	rule      string
	decided   event.Disposition
}

// choice reads a query.
func (l *ledger) choice(q *briefing.LedgerQuery) (*choice, error) {
	c := &choice{
		limit: cmp.Or(q.MaxEntries, maxMatched), view: l.view, index: map[alike]int{}, charged: map[alike]bool{},
	}
	if q.EventType != "" {
		kind, ok := event.Parse[event.Kind](q.EventType)
		if !ok {
			if c.status, ok = event.Parse[event.Status](q.EventType); !ok || c.status == event.StatusNone {
				return nil, fmt.Errorf("event_type %s is no kind of entry and no status: use log, operation, state, "+
					"notice, host, or a status such as failed", named(q.EventType))
			}
			kind = c.status.Kind()
		}
		c.filter.Kinds = []event.Kind{kind}
	}
	for name, value := range q.Filters {
		if err := c.restrict(name, value); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// filterNames are the filters of a ledger.
var filterNames = []string{"signature", "operation", "rule", "disposition", "severity", "source", "contains", "blame"}

// restrict adds one filter.
func (c *choice) restrict(name, value string) (err error) {
	ok := true
	switch name {
	case "signature":
		c.filter.Signature, err = signature.ParseID(value)
		ok = err == nil && c.filter.Signature != 0
	case "operation":
		c.filter.Operation = value
	case "rule":
		c.filter.Rule = value
	case "disposition":
		c.filter.MinDisposition, ok = event.Parse[event.Disposition](value)
	case "severity":
		c.filter.MinSeverity, ok = event.Parse[event.Severity](value)
	case "source":
		c.filter.Source = value
	case "contains":
		c.filter.Contains = value
	case "blame":
		c.blame = blame.Key(value)
		ok = c.blame != ""
	default:
		return unknownFilter(name, filterNames)
	}
	if !ok {
		return fmt.Errorf("filter %s: %s is no such value", name, named(value))
	}
	return nil
}

// unknownFilter is the error about a filter that a source does not have.
func unknownFilter(name string, known []string) error {
	hint := "use " + strings.Join(known, ", ")
	if near := text.Nearest(name, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fmt.Errorf("there is no filter %s: %s", named(name), hint)
}

// add takes an entry that the filter chooses, if the rest of the query does, and reports whether there is room for
// more.
func (c *choice) add(r *journal.Record) bool {
	if !r.Time.IsZero() && r.Time.Before(c.since) {
		c.full = true
		return false
	}
	if c.looked++; c.looked > maxLooked {
		c.full, c.more = true, true
		return false
	}
	if c.status != event.StatusNone && r.Status != c.status {
		return true
	}
	key := alike{kind: r.Kind, status: r.Status, rule: r.Rule, decided: r.Disposition}
	if key.signature = r.Signature; r.Kind == event.KindLog {
		key.signature = c.engine.Group(r.Signature)
	} else {
		key.source = r.Source
	}
	if c.blame != "" && !c.points(key, r) {
		return !c.full
	}
	if c.matched++; c.matched > maxMatched {
		c.full, c.more = true, true
		return false
	}
	i, known := c.index[key]
	if known {
		c.runs[i].count++
		c.runs[i].since = r.Seq
		return true
	}
	if len(c.entries) == c.limit {
		c.full, c.more = true, true
		return false
	}
	c.index[key] = len(c.entries)
	c.entries = append(c.entries, *r)
	c.runs = append(c.runs, run{count: 1, since: r.Seq})
	return true
}

// points reports whether entries like r point at the mod of the query.
func (c *choice) points(key alike, r *journal.Record) bool {
	is, known := c.charged[key]
	if known {
		return is
	}
	if len(c.charged) == maxAttribute {
		c.full, c.more = true, true
		return false
	}
	is = slices.ContainsFunc(c.engine.Blame(&r.Entry), func(s heed.Suspect) bool {
		return blame.Key(s.Mod) == c.blame || s.PackageID != "" && blame.Key(s.PackageID) == c.blame
	})
	c.charged[key] = is
	return is
}

// found returns the fragments, oldest first: as many of the latest as fit.
func (c *choice) found(in *briefing.Input, epoch string) briefing.Found {
	found := briefing.Found{Warnings: c.warnings, More: c.more}
	left := in.Tokens
	for i := range c.entries {
		same := c.runs[i]
		same.atLeast = c.more
		f := c.entry(epoch, &c.entries[i], same)
		if left -= cost(in, &f); left < 0 && in.Tokens > 0 && len(found.Fragments) > 0 {
			found.More = true
			break
		}
		found.Fragments = append(found.Fragments, f)
	}
	slices.Reverse(found.Fragments)
	return found
}

// cost estimates what a fragment takes of the budget.
func cost(in *briefing.Input, f *briefing.Fragment) int {
	if in.Estimate == nil {
		return 0
	}
	n := in.Estimate(briefing.Line{Text: "[" + f.Source + " " + f.SourceID + "] " + f.Title})
	for _, l := range f.Lines {
		n += in.Estimate(l)
	}
	return n
}
