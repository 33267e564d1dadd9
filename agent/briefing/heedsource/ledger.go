package heedsource

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/yamlfile"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/signature"
)

// The bounds of one query.
const (
	maxMatched   = 1024 // entries that match
	latestWindow = 256  // the last entries, one with a time if any has one
)

// ledger is the journal of an engine as a [briefing.Ledger]. Entries of one group and one rule are one fragment: the
// latest of them, with their number.
//
// A query's EventType is a kind (log, operation, state, notice, host) or a status (failed, phase, hole, …). Its
// filters are signature (of an entry, or of another of its group), operation (with its parts), rule, disposition and
// severity (at least), source (of a record, or the method of an operation) and contains (a text, as it is). A query
// chooses among the latest 1,024 entries of its kind that its filters match. Found.More and titles say if there may be
// more.
type ledger struct{ engine *heed.Engine }

// Revision returns the cursor after the latest entry.
func (l *ledger) Revision(context.Context) string {
	latest := l.engine.Latest()
	return sourceID(latest.Epoch, latest.Seq)
}

// Entries implements [briefing.Ledger].
func (l *ledger) Entries(ctx context.Context, in *briefing.Input, q *briefing.LedgerQuery) (briefing.Found, error) {
	var found briefing.Found
	filter, status, err := filterOf(q)
	if err != nil {
		return found, err
	}
	latest := l.engine.Latest()
	var since time.Time
	if q.Recency > 0 {
		if at := l.latestTime(latest); at.IsZero() {
			found.Warnings = append(found.Warnings, "the latest entries have no time: recency does not restrict them")
		} else {
			since = at.Add(-q.Recency)
		}
	}
	records, more, err := l.latest(ctx, heed.Cursor{Epoch: latest.Epoch}, filter)
	if err != nil {
		return found, err
	}
	records = slices.DeleteFunc(records, func(r journal.Record) bool {
		return r.Time.Before(since) || status != event.StatusNone && r.Status != status
	})
	slices.Reverse(records)
	runs, others := l.runs(records, cmp.Or(q.MaxEntries, maxMatched))
	more = more || others
	found.More = more
	left := in.Tokens
	for i := range runs {
		f := l.entry(latest.Epoch, &runs[i], more)
		if left -= cost(in, &f); left < 0 && in.Tokens > 0 && i > 0 {
			found.More = true
			break
		}
		found.Fragments = append(found.Fragments, f)
	}
	slices.Reverse(found.Fragments)
	return found, nil
}

// run is an entry, and the number of entries of its kind from it through another.
type run struct {
	*journal.Record
	times uint64
	last  uint64 // sequence number of the other
}

// runs returns the first entry of each kind, of at most so many kinds, with the number of its kind before another kind
// comes. more reports whether one comes.
func (l *ledger) runs(records []journal.Record, most int) (runs []run, more bool) {
	index := map[sameKind]int{}
	for i := range records {
		key := l.kindOf(&records[i])
		at, known := index[key]
		if !known {
			if at = len(runs); at == most {
				return runs, true
			}
			index[key], runs = at, append(runs, run{Record: &records[i]})
		}
		runs[at].times++
		runs[at].last = records[i].Seq
	}
	return runs, false
}

// latest returns the latest entries after a cursor that a filter chooses, at most maxMatched, and whether there are
// more.
func (l *ledger) latest(ctx context.Context, after heed.Cursor, f heed.Filter) (
	all []journal.Record, more bool, err error,
) {
	for {
		p := l.engine.Read(after, journal.MaxLimit, f)
		if err := cmp.Or(p.Err, ctx.Err()); err != nil {
			return nil, false, err
		}
		all = append(all, p.Records...)
		if extra := len(all) - maxMatched; extra > 0 {
			all, more = all[extra:], true
		}
		if after = p.Next; !p.More {
			return all, more, nil
		}
	}
}

// latestTime returns the time of the latest entry that has one, among the last.
func (l *ledger) latestTime(latest heed.Cursor) time.Time {
	latest.Seq -= min(latest.Seq, latestWindow)
	records := l.engine.Read(latest, latestWindow, heed.Filter{}).Records
	for i := range slices.Backward(records) {
		if t := records[i].Time; !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// sameKind has the values that entries of one fragment share.
type sameKind struct {
	kind      event.Kind
	status    event.Status
	signature signature.Signature
	source    string // "" of a log record
	rule      string
	decided   event.Disposition
}

func (l *ledger) kindOf(r *journal.Record) sameKind {
	key := sameKind{r.Kind, r.Status, r.Signature, r.Source, r.Rule, r.Disposition}
	if r.Kind == event.KindLog {
		key.signature, key.source = l.engine.Group(r.Signature), ""
	}
	return key
}

// filterOf reads a query. A status is left to the caller, since the journal's filter has none.
func filterOf(q *briefing.LedgerQuery) (f heed.Filter, status event.Status, err error) {
	if q.EventType != "" {
		kind, ok := event.Parse[event.Kind](q.EventType)
		if !ok {
			if status, ok = event.Parse[event.Status](q.EventType); !ok || status == event.StatusNone {
				return f, status, fmt.Errorf("event_type %s is no kind of entry and no status: use log, operation, state, "+
					"notice, host, or a status such as failed", named(q.EventType))
			}
			kind = status.Kind()
		}
		f.Kinds = []event.Kind{kind}
	}
	for name, value := range q.Filters {
		if err := restrict(&f, name, value); err != nil {
			return f, status, err
		}
	}
	return f, status, nil
}

// filterNames are the filters of a ledger.
var filterNames = []string{"signature", "operation", "rule", "disposition", "severity", "source", "contains"}

// restrict adds one filter.
func restrict(f *heed.Filter, name, value string) (err error) {
	ok := true
	switch name {
	case "signature":
		f.Signature, err = signature.ParseID(value)
		ok = err == nil && f.Signature != 0
	case "operation":
		f.Operation = value
	case "rule":
		f.Rule = value
	case "disposition":
		f.MinDisposition, ok = event.Parse[event.Disposition](value)
	case "severity":
		f.MinSeverity, ok = event.Parse[event.Severity](value)
	case "source":
		f.Source = value
	case "contains":
		f.Contains = value
	default:
		return fmt.Errorf("there is no filter %s (%s)", named(name), yamlfile.DidYouMean(name, filterNames))
	}
	if !ok {
		return fmt.Errorf("filter %s: %s is no such value", name, named(value))
	}
	return nil
}

// cost estimates the tokens of a fragment.
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
