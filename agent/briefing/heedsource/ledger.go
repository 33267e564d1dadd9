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
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/yamlfile"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/signature"
)

// The bounds of one query.
const (
	maxMatched   = 1024 // entries that match
	latestWindow = 256  // the last entries, one with a time if any has one
)

// Revision returns the cursor after the latest entry.
func (s *source) Revision(context.Context) string {
	latest := s.Engine.Latest()
	return sourceID(latest.Epoch, latest.Seq)
}

// Entries implements [briefing.Ledger]. Entries of one group and one rule are one fragment: the
// latest of them, with their number.
//
// A query's EventType is a kind (log, operation, state, notice, host) or a status (failed, phase, hole, …). Its
// filters are signature (of an entry, or of another of its group), operation (with its parts), rule, disposition and
// severity (at least), source (of a record, or the method of an operation) and contains (a text, as it is). A query
// chooses among the latest 1,024 entries of its kind that its filters match. Found.More and titles say if there may be
// more.
func (s *source) Entries(ctx context.Context, in *briefing.Input, q *briefing.LedgerQuery) (briefing.Found, error) {
	var found briefing.Found
	filter, status, err := filterOf(q)
	if err != nil {
		return found, err
	}
	latest := s.Engine.Latest()
	var since time.Time
	if q.Recency > 0 {
		if at := s.latestTime(latest); at.IsZero() {
			found.Warnings = append(found.Warnings, "the latest entries have no time: recency does not restrict them")
		} else {
			since = at.Add(-q.Recency)
		}
	}
	records, more, err := s.latest(ctx, latest.Epoch, filter)
	if err != nil {
		return found, err
	}
	records = slices.DeleteFunc(records, func(r journal.Record) bool {
		return r.Time.Before(since) || status != event.StatusNone && r.Status != status
	})
	runs, others := s.runs(records, cmp.Or(q.MaxEntries, maxMatched))
	more = more || others
	found.More = more
	left := in.Tokens
	for i := range runs {
		f := s.entry(latest.Epoch, &runs[i], more)
		if left -= cost(in, &f); left < 0 && i > 0 {
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
func (s *source) runs(records []journal.Record, most int) (runs []run, more bool) {
	index := map[[6]any]int{}
	for i := range records {
		key := s.kindOf(&records[i])
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

// latest returns the latest entries that a filter chooses, the latest first, at most maxMatched, and whether there are
// more.
func (s *source) latest(ctx context.Context, epoch string, f heed.Filter) (all []journal.Record, more bool, err error) {
	p := heed.Page{Next: heed.Cursor{Epoch: epoch}, More: true}
	for p.More {
		p = s.Engine.Read(p.Next, journal.MaxLimit, f)
		if err := cmp.Or(p.Err, ctx.Err()); err != nil {
			return nil, false, err
		}
		all = append(all, p.Records...)
		if extra := len(all) - maxMatched; extra > 0 {
			all, more = all[extra:], true
		}
	}
	slices.Reverse(all)
	return all, more, nil
}

// latestTime returns the time of the latest entry that has one, among the last.
func (s *source) latestTime(latest heed.Cursor) time.Time {
	latest.Seq -= min(latest.Seq, latestWindow)
	records := s.Engine.Read(latest, latestWindow, heed.Filter{}).Records
	for i := range slices.Backward(records) {
		if t := records[i].Time; !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// kindOf returns the values that entries of one fragment share.
func (s *source) kindOf(r *journal.Record) [6]any {
	if r.Kind == event.KindLog {
		return [...]any{r.Kind, r.Status, s.Engine.Group(r.Signature), "", r.Rule, r.Disposition}
	}
	return [...]any{r.Kind, r.Status, r.Signature, r.Source, r.Rule, r.Disposition}
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
	texts := map[string]*string{
		"operation": &f.Operation, "rule": &f.Rule, "source": &f.Source, "contains": &f.Contains,
	}
	ok := true
	switch text := texts[name]; {
	case text != nil:
		*text = value
	case name == "signature":
		f.Signature, err = signature.ParseID(value)
		ok = err == nil && f.Signature != 0
	case name == "disposition":
		f.MinDisposition, ok = event.Parse[event.Disposition](value)
	case name == "severity":
		f.MinSeverity, ok = event.Parse[event.Severity](value)
	default:
		return fmt.Errorf("there is no filter %s (%s)", named(name), yamlfile.DidYouMean(name, filterNames))
	}
	if !ok {
		return fmt.Errorf("filter %s: %s is no such value", name, named(value))
	}
	return nil
}

// cost estimates the tokens of a fragment, 0 where nothing bounds them.
func cost(in *briefing.Input, f *briefing.Fragment) int {
	if in.Tokens == 0 {
		return 0
	}
	n := in.Estimate(briefing.Line{Text: "[" + f.Source + " " + f.SourceID + "] " + f.Title})
	for _, l := range f.Lines {
		n += in.Estimate(l)
	}
	return n
}

// The bounds of the text of one entry, in lines and characters.
const (
	maxMessageLines = 3
	maxStackLines   = 4
	maxLineChars    = 300
	maxNameChars    = 64
)

// monoOffset begins the useless rest of a frame of Mono.
const monoOffset = " [0x"

// defaultRule is the prefix of the rules of entries that none decided but their level or status.
const defaultRule = "default."

// entry returns an entry of the journal as a fragment: what heed knows about it in the title, its text as data. more
// reports whether there may be earlier entries of its kind than the run has.
func (s *source) entry(epoch string, r *run, more bool) briefing.Fragment {
	f := briefing.Fragment{
		Source: briefing.SourceLedger, SourceID: sourceID(epoch, r.Seq), Title: r.title(more), Seq: r.Seq, Section: "Steps",
	}
	if r.Kind == event.KindLog {
		f.Section = "Other entries"
		f.Refs = map[string]string{"signature": s.Engine.Group(r.Signature).ID.String()}
	}
	if r.Status != event.StatusPhase { // the title has it
		lines, left := quoted(nil, r.Message, maxMessageLines, briefing.Prose)
		lines, more := quoted(lines, r.Stack, maxStackLines, briefing.Stack)
		f.Lines = andMore(lines, left+more)
	}
	return f
}

// title describes an entry in heed's own words: kind, place, decision unless it is ignored, and number of repeats.
func (r *run) title(more bool) string {
	s := subject(&r.Entry)
	if r.Pos > 0 {
		s += fmt.Sprintf(" at line %d", r.Pos)
	}
	if d := r.Decision; d.Disposition.Urgent() {
		s += ": " + d.Disposition.String()
		if d.Rule != "" && !strings.HasPrefix(d.Rule, defaultRule) {
			s += ", rule " + named(d.Rule)
		}
	}
	if r.Kind == event.KindLog && r.OperationID != "" {
		s += ", in operation " + named(r.OperationID)
	}
	if r.times > 1 {
		least := ""
		if more {
			least = "at least "
		}
		s += fmt.Sprintf(", %s%d times since entry %d", least, r.times, r.last)
	}
	return s
}

// where names an entry with its place: "entry 39 (line 599)".
func where(seq, pos uint64) string {
	if pos == 0 {
		return fmt.Sprintf("entry %d", seq)
	}
	return fmt.Sprintf("entry %d (line %d)", seq, pos)
}

// subject returns the kind of an entry: "error", "operation colony/build (op-7) failed", "phase play".
func subject(e *event.Entry) string {
	switch {
	case e.Kind == event.KindLog && e.Level == event.LevelUnknown:
		return "record"
	case e.Kind == event.KindLog:
		return e.Level.String()
	case e.Kind == event.KindOperation:
		return "operation " + operation(e.Source, e.OperationID) + " " + strings.ReplaceAll(e.Status.String(), "_", " ")
	case e.Status == event.StatusPhase:
		return "phase " + named(e.Message)
	}
	if e.Status == event.StatusHole && e.Count > 0 {
		return fmt.Sprintf("%d bytes of the log are missing", e.Count)
	}
	return cmp.Or(statusWords[e.Status], e.Kind.String()+" "+strings.ReplaceAll(e.Status.String(), "_", " "))
}

// statusWords are what states of the game and notices about the log mean, where the status alone does not say it.
var statusWords = map[event.Status]string{
	event.StatusStall:        "the game does not answer",
	event.StatusRecovered:    "the game answers again",
	event.StatusDisconnected: "the connection to the game is lost",
	event.StatusConnected:    "the game is connected",
	event.StatusExited:       "the game ended",
	event.StatusLongEvent:    "the game does something during which it cannot answer",
	event.StatusLongEventEnd: "the game can answer again",
	event.StatusHole:         "part of the log is missing",
	event.StatusRunCut:       "the game stopped writing repeats",
	event.StatusTruncated:    "the log ends within a record",
	event.StatusRestarted:    "another run of the game begins",
	event.StatusNoLog:        "there is no log to read",
	event.StatusLogFound:     "the log is there",
	event.StatusRaised:       "raised by the host",
	event.StatusWithdrawn:    "ended by the host",
	event.StatusAcknowledged: "acknowledged",
	event.StatusStateRead:    "the game's state was read again",
}

// quoted appends the first lines of s that are not blank, and returns how many others there are. Frames of Mono lose
// the offset in the method and the id of the module.
func quoted(dst []briefing.Line, s string, limit int, kind briefing.Kind) (lines []briefing.Line, left int) {
	n := 0
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); kind == briefing.Stack {
			line, _, _ = strings.Cut(" "+line, monoOffset)
			line = strings.TrimSpace(line)
		}
		if line == "" {
			continue
		}
		if n++; n <= limit {
			dst = append(dst, briefing.Line{Text: text.Safe(line, maxLineChars), Data: true, Kind: kind})
		}
	}
	return dst, max(0, n-limit)
}

// sourceID returns the form in which an entry is named.
func sourceID(epoch string, seq uint64) string { return fmt.Sprintf("%s/%d", epoch, seq) }

// named returns a name that a peer, a mod or a rule file chose, bounded, for use in heed's own words: in quotes, which
// nothing in it ends, if it has other characters than [nameRune] reports.
func named(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool { return !nameRune(r) })
	s = text.Safe(s, maxNameChars)
	if plain {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, "'") + `"`
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:#@", r)
}
