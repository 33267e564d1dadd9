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
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
)

// The details of an item. A template without a list of them gets allParts.
const (
	partCause     = "cause"     // the whole text and stack of its dominant entry and its cause, as far as they are bounded
	partOperation = "operation" // the verdict of the operation that caused it, or came before it
	partSamples   = "samples"   // its other groups
	partBefore    = "before"    // entries before its cause
	partAfter     = "after"     // entries after its cause
	partBlame     = "blame"     // the mods that its dominant entry points at, with evidence
	partAdvice    = "advice"    // why the rule decides so
)

var allParts = []string{partOperation, partSamples, partCause, partBefore, partAfter, partBlame, partAdvice}

// The bounds of the text about an item.
const (
	headLines, headFrames   = 3, 3   // of the cause
	causeLines, causeFrames = 12, 16 // where the head does not have all
	shortCause              = 160    // characters of the cause's line in the shortest form
	shortestCause           = 101
	briefTitle              = 60 // characters of a title in the briefest
	fullIDs                 = 8
	maxScale                = 16 // of the bounds of details, where there are tokens for it
	alikeNeighbors          = 8  // entries that are read for each that is shown around a cause
	maxSuspects             = 3
	maxClearedLooked        = 64  // items that are looked at for those that were cleared lately
	maxEvidence             = 4   // notices about the log
	detailShare             = 0.4 // of the tokens, which heads but the first leave to details
	leastShare              = 0.5 // of the tokens, which the titles of items that block may take at least
	clock                   = "15:04:05"
)

// revision is the id of an item's head: the item with its latest entry.
func revision(a *heed.Item) string { return fmt.Sprintf("%s@%d", a.ID, a.LatestSequence) }

// Open implements [briefing.Attention].
func (s *source) Open(context.Context) []briefing.Item {
	var out []briefing.Item
	for _, a := range s.Engine.Open(nil) {
		out = append(out, briefing.Item{SourceID: revision(&a), Blocking: a.Disposition == event.Blocking})
	}
	return out
}

// view is an answer about items.
type view struct {
	*source
	in   *briefing.Input
	q    *briefing.AttentionQuery
	room int // tokens that are left, if in.Tokens bounds them
}

// add appends a fragment, for which room is taken.
func (v *view) add(dst []briefing.Fragment, f briefing.Fragment) []briefing.Fragment {
	v.room -= cost(v.in, &f)
	return append(dst, f)
}

// Items implements [briefing.Attention]: first the gaps of the log, then the verdict of the requested operation, then
// the items: heads, the problems that a report names, the items without a head, and details.
func (s *source) Items(ctx context.Context, in *briefing.Input, q *briefing.AttentionQuery) (briefing.Found, error) {
	var out briefing.Found
	least, ok := event.Parse[event.Disposition](cmp.Or(q.Least, event.Advisory.String()))
	if !ok {
		return out, fmt.Errorf("least: unknown disposition %s; known: advisory, blocking", named(q.Least))
	}
	parts := q.Parts
	for _, p := range parts {
		if !slices.Contains(allParts, p) {
			return out, fmt.Errorf("parts: unknown part %s; known: %s", named(p), strings.Join(allParts, ", "))
		}
	}
	if len(parts) == 0 {
		parts = allParts
	}
	v := &view{s, in, q, in.Tokens}
	gaps, err := s.evidence(ctx)
	if err != nil {
		return out, err
	}
	if len(gaps.Lines) > 0 {
		out.Fragments = v.add(nil, gaps)
		out.Warnings = []string{strings.ToLower(gaps.Title[:1]) + gaps.Title[1:]}
	}
	work := in.Request.WorkOrderID
	asked, known := s.Engine.Item(work) // by its id, or by the number that ends it
	switch of := s.Engine.Verdict(work); {
	case of.Known:
		out.Fragments = v.add(out.Fragments, verdict(&of))
	case work != "" && !known:
		out.Warnings = append(out.Warnings, "no item or operation is called "+named(work)+": this is about all that is open")
	}
	items := s.items(work, &asked, least, q.ClearedSince)
	looks, heads := v.heads(items, asked.ID)
	if len(heads) == 0 {
		return out, nil
	}
	of, rest := items, items[len(looks):]
	if items[0].ID == asked.ID {
		of = items[:1] // it is about this one
	}
	first := heads[:1:1]
	if summary, has := v.named(of, min(len(of), len(looks))); len(summary.Lines) > 0 {
		first = v.add(first, summary)
		rest = slices.DeleteFunc(slices.Clone(rest), func(a heed.Item) bool { return slices.Contains(has, a.ID) })
	}
	var others []briefing.Fragment
	if len(rest) > 0 {
		others = v.add(nil, v.others(rest))
	}
	out.More = len(looks) < len(items)
	details := v.details(looks, parts)
	out.Fragments = slices.Concat(out.Fragments, first, details[0], heads[1:], others, slices.Concat(details[1:]...))
	return out, nil
}

// heads returns the heads of items: as many as leave a share of the tokens to details, and at least one.
func (v *view) heads(items []heed.Item, asked string) (looks []*look, heads []briefing.Fragment) {
	reserve := int(float64(v.in.Tokens) * detailShare)
	for i := range items {
		l := v.look(&items[i], v.in.Request.AgentClass)
		head := l.head()
		head.Required = head.Required || items[i].ID == asked
		if i > 0 && (v.room-cost(v.in, &head) < reserve || i == v.q.MaxItems) {
			break
		}
		looks, heads = append(looks, l), v.add(heads, head)
	}
	return looks, heads
}

// details returns the parts of items: as much of each as the tokens allow, by bounds that double until they do not.
func (v *view) details(looks []*look, parts []string) (found [][]briefing.Fragment) {
	for scale := 1; scale <= maxScale; scale *= 2 {
		all, takes := make([][]briefing.Fragment, len(looks)), 0
		for i, l := range looks {
			order := parts
			if at := slices.Index(parts, partBefore); at >= 0 && l.crashed { // its own text says little
				order = slices.Concat(parts[at:at+1], parts[:at], parts[at+1:])
			}
			for _, part := range order {
				if f, ok := l.part(part, v.q.Neighbors, scale); ok {
					all[i] = append(all[i], f)
					takes += cost(v.in, &f)
				}
			}
		}
		if found != nil && takes > v.room {
			break
		}
		if found = all; v.in.Tokens == 0 || takes > v.room {
			break
		}
	}
	return found
}

// items returns the requested item, open or not; the open items, first of the requested operation; and items that were
// cleared lately, the latest first.
func (s *source) items(work string, asked *heed.Item, least event.Disposition, cleared time.Duration) []heed.Item {
	items, latest, opened := s.Engine.Open(nil), s.Engine.Latest(), s.Engine.Stats().Coalesce.Opened
	since := s.latestTime(latest).Add(-cleared)
	for n := opened; n > 0 && cleared > 0 && opened-n < maxClearedLooked; n-- {
		it, ok := s.Engine.Item(fmt.Sprintf("%s-%d", latest.Epoch, n))
		if r := s.record(it.LatestSequence); ok && it.State != coalesce.Open && r != nil && !r.Time.Before(since) {
			items = append(items, it)
		}
	}
	items = slices.DeleteFunc(items, func(a heed.Item) bool { return a.Disposition < least || a.ID == asked.ID })
	rank := func(a *heed.Item) int {
		if work != "" && a.State == coalesce.Open && (a.CausalOperationID == work || a.AfterOperation == work) {
			return 0
		}
		return 1 // by the engine's order
	}
	slices.SortStableFunc(items, func(a, b heed.Item) int { return rank(&a) - rank(&b) })
	if asked.ID != "" {
		items = slices.Insert(items, 0, *asked)
	}
	return items
}

// others shows the items without a head in one fragment: each in a line, with its cause and the next step if that fits.
// Items that block are never left out, and named by their numbers alone only if nothing else fits.
func (v *view) others(rest []heed.Item) briefing.Fragment {
	f := briefing.Fragment{
		Source: briefing.SourceAttention, SourceID: fmt.Sprintf("others@%d", rest[0].LatestSequence),
		Title: text.Count(len(rest), "other item"), Section: "Also open",
		Refs: map[string]string{"items": strings.Join(blocking(rest), " ")},
	}
	each := func(lines []briefing.Line, how brevity, items []heed.Item) []briefing.Line {
		for i := range items {
			lines = append(lines, inShort(&items[i], how, "- ", items[i].TotalUrgentEntries)...)
		}
		return lines
	}
	// The least are the ids, and of each item that blocks its title, number and culprit.
	f.Short = blockers(rest)
	blocks := slices.DeleteFunc(slices.Clone(rest), func(a heed.Item) bool { return !a.Blocking })
	least := each(slices.Clone(f.Short), briefest, blocks)
	f.Required = len(f.Short) > 0
	forms := [...][]briefing.Line{each(nil, whole, rest), each(slices.Clone(f.Short), shortest, rest), least}
	if cost(v.in, &briefing.Fragment{Lines: least}) <= int(float64(v.in.Tokens)*leastShare) {
		f.Short = least
	}
	for _, f.Lines = range forms {
		if cost(v.in, &f) <= v.room {
			break
		}
	}
	return f
}

// blockers names the items that block: many of them after the first by their numbers.
func blockers(items []heed.Item) (lines []briefing.Line) {
	ids := blocking(items)
	if len(ids) == 0 {
		return nil
	}
	if len(ids) > fullIDs {
		epoch := ids[0][:strings.LastIndexByte(ids[0], '-')+1]
		for i := range ids[1:] {
			ids[i+1] = strings.TrimPrefix(ids[i+1], epoch)
		}
	}
	return own("Next: a brief about each that blocks: " + strings.Join(ids, ", "))
}

// blocking returns the ids of the items that block.
func blocking(items []heed.Item) (ids []string) {
	for i := range items {
		if items[i].Blocking {
			ids = append(ids, items[i].ID)
		}
	}
	return ids
}

// brevity is how little is shown of an item.
type brevity int

const (
	whole    brevity = iota // a line, its cause, what to do next
	shortest                // a line and the beginning of its cause
	briefest                // its title, number and culprit
)

// inShort shows an item in a few lines, the first after lead, with a number of entries.
func inShort(a *heed.Item, how brevity, lead string, entries uint64) []briefing.Line {
	times, culprit := "", culpritOf(a.Blame, a.Perhaps)
	if entries > 1 {
		times = ", " + text.Count(entries, "time")
	}
	if how == briefest {
		return own(lead + a.ID + ": " + text.Safe(a.Title, briefTitle) + times + culprit)
	}
	line, cause := lead+a.ID+", "+state(a), shortestCause
	if how == whole {
		line, cause = line+": "+a.Title, shortCause
	}
	line += times + "; " + where(a.Cause.Seq, a.Cause.Pos) + culprit
	if id := cmp.Or(a.CausalOperationID, a.AfterOperation); id != "" {
		line += "; operation " + operation(cmp.Or(a.CausalMethod, a.AfterMethod), id)
	} else if a.Cause.Phase != "" {
		line += "; phase " + named(a.Cause.Phase)
	}
	lines := own(line)
	if len(a.Sample) > 0 {
		lines = append(lines, briefing.Line{Text: text.Safe(a.Sample[0].Message, cause), Data: true})
	}
	if how == whole && a.Blocking && a.Advice != "" {
		lines = append(lines, own("Next: "+a.Advice)...)
	}
	return lines
}

// culpritOf returns the first of the suspected mods as a clause, "" for none.
func culpritOf(likely, perhaps []string) string {
	switch {
	case len(likely) > 0:
		return "; culprit " + named(likely[0])
	case len(perhaps) > 0:
		return "; culprit perhaps " + named(perhaps[0])
	}
	return ""
}

// state returns the state of an item, such as "blocking error" or "advisory warning (cleared: acknowledged)".
func state(a *heed.Item) string {
	s := a.Disposition.String() + " " + a.Severity.String()
	switch {
	case a.ClearedBy != "":
		s += " (cleared: " + string(a.ClearedBy) + ")"
	case a.Disposition == event.Blocking && !a.Blocking:
		s += " (stops no call until the game is loaded)"
	}
	return s
}

// record returns the entry with a number, nil where it is not held.
func (s *source) record(seq uint64) *journal.Record {
	if seq == 0 {
		return nil
	}
	p := s.Engine.Read(heed.Cursor{Seq: seq - 1}, 1, heed.Filter{})
	if len(p.Records) == 0 || p.Records[0].Seq != seq {
		return nil
	}
	return &p.Records[0]
}

// ruleOf returns the rule called id, a zero rule if it is not known.
func (s *source) ruleOf(id string) *rules.Rule {
	if s.Rules != nil {
		if r := s.Rules().Rule(id); r != nil {
			return r
		}
	}
	return &rules.Rule{}
}

// evidence returns the gaps of the log, which no budget cuts, without lines if there is none.
func (s *source) evidence(ctx context.Context) (briefing.Fragment, error) {
	f := briefing.Fragment{
		Source: briefing.SourceAttention, Section: "The log", Title: "Parts of the log are missing", Required: true,
	}
	st := s.Engine.Stats()
	if !st.Blind && st.Notices == 0 {
		return f, nil
	}
	if st.Blind {
		f.Title = "The log is not complete: more may have happened"
		f.Lines = own("Reason: " + cmp.Or(s.ruleOf(st.BlindRule).Summary, "rule "+named(st.BlindRule)))
		open := s.Engine.Open(nil)
		if i := slices.IndexFunc(open, func(a heed.Item) bool { return a.Cause.Rule == st.BlindRule }); i >= 0 {
			cause := &open[i].Cause
			f.Lines = append(f.Lines, own("Since: "+where(cause.Seq, cause.Pos)+", item "+open[i].ID)...)
			f.Seq = cause.Seq
		}
	}
	epoch := s.Engine.Latest().Epoch
	notices, more, err := s.latest(ctx, epoch, heed.Filter{
		Kinds: []event.Kind{event.KindNotice}, MinDisposition: event.Advisory, // others only say that a log or a run began
	})
	runs, others := s.runs(notices, maxEvidence)
	for _, r := range runs {
		f.Lines = append(f.Lines, own("- "+sourceID(epoch, r.Seq)+": "+r.title(more || others))...)
		f.Seq = max(f.Seq, r.Seq)
	}
	f.Short = f.Lines[:min(len(f.Lines), 1)]
	f.SourceID = fmt.Sprintf("evidence@%d", f.Seq)
	return f, err
}

// named shows the problems that the first screen of a report names of the same items: a line each with its text, or
// with the item alone where a head has the problem. Of the items, the first ones have heads. It also returns the ids of
// the items that need no other line. The fragment has no lines if it says no more than the first head.
func (v *view) named(items []heed.Item, heads int) (f briefing.Fragment, has []string) {
	var named []string
	var forms [briefest + 1][]briefing.Line
	var unheaded []heed.Item
	more := false
	problems, in := v.problems(items)
	chosen, _ := problems.Named()
	for _, n := range chosen {
		it, lead := in[n.Member], leadOf(n.As)
		named = append(named, it.ID)
		dominates := it.Rule == n.Rule
		headed := slices.ContainsFunc(items[:heads], func(a heed.Item) bool { return a.ID == it.ID })
		known := headed && dominates && (it.Disposition == event.Blocking || it.ID == items[0].ID) // no budget cuts its head
		if dominates && !headed {
			unheaded, has = append(unheaded, *it), append(has, it.ID)
		}
		if !known {
			f.Seq = max(f.Seq, it.LatestSequence)
		}
		more = more || !known || it.ID != items[0].ID
		for how := range forms {
			switch lines := &forms[how]; {
			case known:
				*lines = append(*lines, own(lead+"item "+it.ID+", "+text.Count(n.Entries, "time"))...)
			case dominates && !headed:
				*lines = append(*lines, inShort(it, brevity(how), lead, n.Entries)...)
			default:
				line := lead + n.Title + ", " + text.Count(n.Entries, "time") + ", in item " + it.ID
				if n.First > 0 {
					line += fmt.Sprintf(", first at line %d", n.First)
				}
				*lines = append(*lines, own(line+culpritOf(n.Mods()))...)
				if brevity(how) < briefest {
					*lines, _ = quoted(*lines, n.Message, 1, briefing.Prose)
				}
			}
		}
	}
	if !more {
		return f, nil
	}
	next := blockers(unheaded)
	f = briefing.Fragment{
		Source: briefing.SourceAttention, SourceID: fmt.Sprintf("named@%d", f.Seq), Seq: f.Seq, Title: "What matters most",
		Section: "What else broke", Required: true, Refs: map[string]string{"items": strings.Join(named, " ")},
		Lines: forms[whole], Short: append(forms[briefest], next...),
	}
	if cost(v.in, &f) > v.room {
		f.Lines = append(forms[shortest], next...)
	}
	return f, has
}

// problems returns the problems of items, and the most urgent item of each.
func (s *source) problems(items []heed.Item) (p report.Problems, in map[*heed.Member]*heed.Item) {
	p = report.Problems{Blinds: func(rule string) bool { return s.ruleOf(rule).Blinds }}
	in = map[*heed.Member]*heed.Item{}
	for i := range items {
		for _, m := range items[i].Members {
			same := func(o *heed.Member) bool { return o.Rule == m.Rule && o.Disposition == m.Disposition }
			if at := slices.IndexFunc(p.All, same); at >= 0 {
				p.All[at].Join(&m)
				continue
			}
			p.All, in[&m] = append(p.All, &m), &items[i]
		}
	}
	if len(p.All) > 0 {
		p.Top = p.All[0]
		if s.Engine.Stats().Blind { // the log has a limit, and ignored entries are in no item
			p.Filler = slices.MaxFunc(p.All, func(a, b *heed.Member) int { return cmp.Compare(a.Entries, b.Entries) })
		}
	}
	return p, in
}

// leadOf returns the reasons why a problem is named, before its line: "first" would be read as the order of the lines.
func leadOf(as []string) string {
	s := strings.NewReplacer("most", "mostly", "first", "earliest").Replace(strings.Join(as, ", ")) + ": "
	return strings.ToUpper(s[:1]) + s[1:]
}
