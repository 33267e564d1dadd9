package coalesce

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// attention renders an item, whose summary names the first of others, and returns how many.
func (c *Coalescer) attention(it *item, others ...*item) (a Item, named int) {
	a = c.bare(it)
	a.Summary, named = c.summarize(it, &a, others)
	a.Sanitize()
	return a, named
}

// bare renders an item without its summary, and before it is sanitized.
func (c *Coalescer) bare(it *item) Item {
	members := c.members(it)
	m := &members[0]
	row := it.dominant(m.Rule)
	a := Item{
		ID:                 it.id,
		State:              Open,
		Severity:           it.Severity,
		Blocking:           it.blocking(),
		StateInvalidated:   it.Invalidates,
		Title:              m.Title,
		Advice:             m.Advice,
		Rule:               m.Rule,
		OpenedAtSequence:   it.Opened.Seq,
		LatestSequence:     it.Latest.seq,
		DiagnosticsCursor:  it.Cause.Seq - 1,
		TotalUrgentEntries: it.Total,
		Sample:             c.samples(it, row),
		Disposition:        it.Disposition,
		Cause:              CauseEntry(it.Cause),
		Prelude:            it.Prelude,
		OpenedPos:          it.Opened.Pos,
		LatestPos:          it.LatestPos,
		Predecessor:        c.id(it.Predecessor),
		ClearedBy:          it.ClearedBy,
		Variants:           c.variants(it, row),
		Recurrence:         c.again(it, row),
		Known:              it.Known,
		Members:            members,
	}
	a.Blame, a.Perhaps = m.Mods()
	for i := range members {
		shown := it.dominant(members[i].Rule)
		members[i].Signature, members[i].Message, members[i].Seq = shown.Sig, shown.Text, shown.First.Seq
	}
	a.Groups, a.GroupsExact = int(it.Counters.groups()), it.Untracked == 0
	if it.CauseBy != nil {
		a.CausalOperationID, a.CausalMethod = it.CauseBy.ID, it.CauseBy.Method
	} else if it.Root != nil {
		a.AfterOperation, a.AfterMethod = it.Root.ID, it.Root.Method
	}
	if it.Scope == scopeDigest {
		d := &it.Digest // which sums up other items
		a.OpenedAtSequence, a.OpenedPos, a.DiagnosticsCursor = d.From.Seq, d.From.Pos, d.From.Seq-1
		a.TotalUrgentEntries += d.Entries
		a.Sample = nil
		for i := range d.Samples {
			a.Sample = append(a.Sample, d.Samples[i].sample())
		}
	}
	if !it.open() {
		a.State = Cleared
	}
	return a
}

// samples chooses the most informative groups: the dominant one, the one of the cause, then by severity, rarity and
// recency.
func (c *Coalescer) samples(it *item, dominant *counter) []Sample {
	order := slices.Clone(it.Counters.Rows)
	first := []*counter{it.causeRow(), dominant}
	place := func(r *counter) int { return slices.Index(first, r) }
	slices.SortFunc(order, func(a, b *counter) int {
		return cmp.Or(
			cmp.Compare(place(b), place(a)),
			cmp.Compare(b.Severity, a.Severity),
			cmp.Compare(a.Count, b.Count),
			cmp.Compare(b.Last.seq, a.Last.seq),
		)
	})
	samples := make([]Sample, 0, min(len(order), c.Config.MaxSamples))
	for _, r := range order {
		if slices.ContainsFunc(samples, func(s Sample) bool { return s.Signature == r.Sig && s.Rule == r.Rule }) {
			continue // another variant shows the group
		}
		if len(samples) == c.Config.MaxSamples {
			break
		}
		g := it.Counters.group(r)
		s := g.sample()
		if r := it.rule(r.Rule); r != nil && r.Effects&memory != 0 {
			s.Blame = nil
		}
		s.Variants = c.variants(it, r)
		samples = append(samples, s)
	}
	return samples
}

// sample returns the sample of a group.
func (c *counter) sample() Sample {
	likely, _ := c.Accused.pointed(c.Count)
	return Sample{
		Level: c.Severity, Message: c.Text, RepeatCount: c.Count, LatestSequence: c.Last.seq,
		Rule: c.Rule, Signature: c.Sig, FirstPos: c.First.Pos, LatestPos: c.LastPos, Blame: likely,
	}
}

// clause is a part of a summary.
type clause struct {
	text string
	rank int // the lower, the more it matters
}

// The ranks of clauses. Within one, the earlier matters more.
const (
	rankHeadline = iota
	rankState    // needed before an agent acts
	rankOrigin   // where it comes from
	rankOthers   // what else waits
	rankNext     // what to do about it
	rankBlame
	rankKnown
	rankHistory
)

// summarize describes, in one line, the facts that an agent needs to decide its next step: it, and the first of the
// other open items. It returns how many of them it names, which MaxSummaryTokens may limit.
func (c *Coalescer) summarize(it *item, a *Item, others []*item) (text string, named int) {
	clauses := c.clauses(it, a)
	first := len(clauses)
	for i, o := range others[:min(len(others), c.Config.MaxNamed)] {
		lead := [...]string{"; also open: ", ", "}[min(i, 1)]
		clauses = append(clauses, clause{
			lead + o.id + " (" + o.Disposition.String() + ": " + c.members(o)[0].Title + ")",
			rankOthers,
		})
	}
	kept := fit(clauses, latinPerToken*c.Config.MaxSummaryTokens-maxRemainder)
	var b strings.Builder
	for i, cl := range clauses {
		if !kept[i] {
			continue
		}
		b.WriteString(cl.text)
		if i >= first {
			named++
		}
	}
	if rest := len(others) - named; rest > 0 {
		b.WriteString([...]string{"; also open: ", " and "}[min(named, 1)])
		b.WriteString(strconv.Itoa(rest))
		b.WriteString([...]string{" others", " more"}[min(named, 1)])
	}
	return b.String(), named
}

// maxRemainder fits the number of others that are open.
const maxRemainder = 30

// weight estimates how much of a budget s takes, in Latin characters: any other
// character counts as a token of its own, which is about what tokenizers make of Hangul
// and Han, and more than they make of Cyrillic.
func weight(s string) (n int) {
	for _, r := range s {
		if r < 0x250 { // where the blocks of Latin end
			n++
		} else {
			n += latinPerToken
		}
	}
	return n
}

// lighter returns how many characters s may have, from its first on, to weigh at most
// size; no less than one.
func lighter(s string, size int) (n int) {
	for _, r := range s {
		if size -= weight(string(r)); size < 0 {
			break
		}
		n++
	}
	return max(n, 1)
}

// fit returns which clauses fit into a budget, by their ranks. The headline is always
// among them.
func fit(clauses []clause, size int) []bool {
	kept := make([]bool, len(clauses))
	for rank := range rankHistory + 1 {
		for i, cl := range clauses {
			if cl.rank != rank {
				continue
			}
			if size -= weight(cl.text); size < 0 && rank != rankHeadline {
				return kept
			}
			kept[i] = true
		}
	}
	return kept
}

// clauses returns the parts of an item's summary, in the order in which they read
// well.
func (c *Coalescer) clauses(it *item, a *Item) []clause {
	out := make([]clause, 0, 16)
	say := func(rank int, parts ...string) {
		out = append(out, clause{strings.Join(parts, ""), rank})
	}
	say(rankHeadline, text.Safe(a.Title, lighter(a.Title, latinPerToken*c.Config.MaxSummaryTokens/2)))
	if it.Scope != scopeDigest { // whose headline has its counts
		exact := "at least "
		if a.GroupsExact {
			exact = ""
		}
		say(rankState, " (", text.Count(a.TotalUrgentEntries, "entry", "entries"), " in ", exact,
			text.Count(a.Groups, "group"), ")")
	}
	if name := cmp.Or(a.CausalMethod, a.CausalOperationID); name != "" {
		say(rankOrigin, "; during ", safeName(name))
	} else if name := cmp.Or(a.AfterMethod, a.AfterOperation); name != "" {
		say(rankOrigin, "; after ", safeName(name))
	}
	switch len(a.Variants) {
	case 0:
	case 1:
		say(rankOrigin, "; variant: ", a.Variants[0].name())
	default:
		say(rankOrigin, "; variants: ", a.Variants.String())
	}
	if a.Recurrence != "" {
		say(rankOrigin, "; ", a.Recurrence)
	}
	if it.State == itemDeferred && it.Disposition == event.Blocking {
		say(rankState, "; it stops no call until the game is loaded")
	}
	switch running := a.Members[0].Running(); {
	case len(running) > 0:
		say(rankBlame, "; was running: ", safeNames(running))
	case len(a.Blame) > 0:
		say(rankBlame, "; blame: ", safeNames(a.Blame))
	case len(a.Perhaps) > 0:
		say(rankBlame, "; perhaps ", safeNames(a.Perhaps))
	}
	if a.StateInvalidated {
		say(rankState, "; the game's state may have changed: read it again")
	}
	if a.Known != "" {
		say(rankKnown, `; history: "`, strings.ReplaceAll(a.Known, `"`, `\"`), `"`)
	}
	if a.TotalUrgentEntries > 1 {
		say(rankHistory, "; first at entry ", strconv.FormatUint(a.OpenedAtSequence, 10))
	}
	if a.Prelude > 0 {
		say(rankHistory, "; ", text.Count(a.Prelude, "less serious entry", "less serious entries"),
			" before the cause")
	}
	if a.Predecessor != "" {
		say(rankHistory, "; continues item ", a.Predecessor)
	}
	if a.ClearedBy != "" {
		say(rankState, "; cleared: ", string(a.ClearedBy))
	} else {
		say(rankNext, "; see entries after ", strconv.FormatUint(a.DiagnosticsCursor, 10))
	}
	return out
}

// again describes how often the dominant group of an item came back after it was over, or returns "" if it did not.
func (c *Coalescer) again(it *item, row *counter) string {
	if row.Recurrence == nil {
		return ""
	}
	x := row.Recurrence
	text, apart := "came back once", ", after "
	if x.Times > 1 {
		text, apart = "came back "+strconv.FormatUint(x.Times, 10)+" times", ", every "
	}
	if every := (row.Last.at - x.First.at) / time.Duration(x.Times); clocked(x.First, row.Last) && every >= time.Second {
		text += apart + every.Round(max(time.Second, every/100)).String()
	}
	if it.AckedAt.seq != 0 && row.Last.seq > it.AckedAt.seq {
		text += ", again after it was acknowledged"
	}
	return text
}

func safeNames(names []string) string {
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = safeName(n)
	}
	return strings.Join(shown, ", ")
}
