package coalesce

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/safetext"
)

func sortItems(items []*item) {
	slices.SortFunc(items, func(a, b *item) int {
		if precedes(a, b) {
			return -1
		}
		return 1
	})
}

// attention renders an item.
func (c *Coalescer) attention(it *item) Attention {
	a := Attention{
		ID:                 it.id,
		State:              Open,
		Severity:           it.severity,
		Blocking:           it.blocking(),
		StateInvalidated:   it.invalidates,
		OpenedAtSequence:   it.opened.seq,
		LatestSequence:     it.latest.seq,
		DiagnosticsCursor:  it.cause.Seq - 1,
		TotalUrgentEntries: it.total,
		Sample:             c.samples(it),
		Disposition:        it.disposition,
		Cause:              it.cause,
		Prelude:            it.prelude,
		Groups:             len(it.counters.rows),
		GroupsExact:        it.untracked == 0,
		OpenedPos:          it.opened.pos,
		LatestPos:          it.latestPos,
		Predecessor:        c.id(it.predecessor),
		ClearedBy:          it.clearedBy,
		Blame:              it.blame(),
	}
	if it.causeBy != nil {
		a.CausalOperationID, a.CausalMethod = it.causeBy.id, it.causeBy.method
	} else if it.root != nil {
		a.AfterOperation, a.AfterMethod = it.root.id, it.root.method
	}
	if it.scope == scopeDigest {
		it.digest.show(&a)
	}
	if it.state != itemOpen {
		a.State = Cleared
	}
	a.Summary = summary(it, &a)
	return a
}

// samples chooses the groups that tell most: that of the cause, then by
// severity, rarity and recency.
func (c *Coalescer) samples(it *item) []Sample {
	order := make([]*counter, 0, len(it.counters.rows))
	for i := range it.counters.rows {
		order = append(order, &it.counters.rows[i])
	}
	isCause := func(ctr *counter) int {
		if ctr.rule == it.cause.Rule && ctr.sig == it.cause.Signature {
			return 0
		}
		return 1
	}
	slices.SortFunc(order, func(a, b *counter) int {
		return cmp.Or(
			cmp.Compare(isCause(a), isCause(b)),
			cmp.Compare(b.severity, a.severity),
			cmp.Compare(a.count, b.count),
			cmp.Compare(b.last.seq, a.last.seq),
		)
	})
	samples := make([]Sample, 0, min(len(order), c.cfg.MaxSamples))
	for _, ctr := range order[:min(len(order), c.cfg.MaxSamples)] {
		samples = append(samples, Sample{
			Level: ctr.severity, Message: ctr.text, RepeatCount: ctr.count, LatestSequence: ctr.last.seq,
			Rule: ctr.rule, Signature: ctr.sig, FirstPos: ctr.first.pos, LatestPos: ctr.lastPos, Blame: ctr.accused(),
		})
	}
	return samples
}

// headline says what the item is about, in heed's own words.
func (it *item) headline() string {
	if r := it.rule(it.cause.Rule); r != nil && r.summary != "" {
		return r.summary
	}
	switch {
	case it.severity >= event.SeverityFatal:
		return "something fatal was reported"
	case it.severity == event.SeverityError:
		return "an error was reported"
	case it.severity == event.SeverityWarning:
		return "a warning was reported"
	}
	return "something worth attention was reported"
}

// maxName bounds a method or an operation id inside a summary, in characters.
const maxName = 64

// summary says in one line what an agent needs to decide what to do next.
func summary(it *item, a *Attention) string {
	var b strings.Builder
	b.WriteString(it.headline())
	if it.scope != scopeDigest { // whose headline tells its counts
		b.WriteString(" (")
		writeCount(&b, a.TotalUrgentEntries, "entry", "entries")
		b.WriteString(" in ")
		if !a.GroupsExact {
			b.WriteString("at least ")
		}
		writeCount(&b, uint64(a.Groups), "group", "groups")
		b.WriteByte(')')
	}
	if name := cmp.Or(a.CausalMethod, a.CausalOperationID); name != "" {
		b.WriteString("; from ")
		writeName(&b, name)
	} else if name := cmp.Or(a.AfterMethod, a.AfterOperation); name != "" {
		b.WriteString("; after ")
		writeName(&b, name)
	}
	writeBlame(&b, a.Blame)
	if a.StateInvalidated {
		b.WriteString("; what you know of the game's state may be stale")
	}
	if a.Prelude > 0 {
		b.WriteString("; preceded by ")
		writeCount(&b, a.Prelude, "lesser entry", "lesser entries")
	}
	if a.Predecessor != "" {
		b.WriteString("; continues ")
		b.WriteString(a.Predecessor)
	}
	if a.ClearedBy != "" {
		b.WriteString("; cleared: ")
		b.WriteString(string(a.ClearedBy))
	}
	return b.String()
}

// appendOthers adds the other open items to the summary of the current one.
func (c *Coalescer) appendOthers(s string, others []*item) string {
	if len(others) == 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s)
	b.WriteString("; also open: ")
	named := min(len(others), c.cfg.MaxNamed) // at least one
	for i, it := range others[:named] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(it.id)
		b.WriteString(" (")
		b.WriteString(it.disposition.String())
		b.WriteString(": ")
		b.WriteString(it.headline())
		b.WriteByte(')')
	}
	if rest := len(others) - named; rest > 0 {
		b.WriteString(" and ")
		b.WriteString(strconv.Itoa(rest))
		b.WriteString(" more")
	}
	return b.String()
}

func writeCount(b *strings.Builder, n uint64, one, many string) {
	b.WriteString(strconv.FormatUint(n, 10))
	b.WriteByte(' ')
	if n == 1 {
		b.WriteString(one)
	} else {
		b.WriteString(many)
	}
}

// writeName writes what a host called a method or an operation. It stands in
// quotes where it could be taken for heed's own words.
func writeName(b *strings.Builder, name string) {
	plain := !strings.ContainsFunc(name, func(r rune) bool { return !nameRune(r) })
	name = safetext.Text(name, maxName)
	if !plain {
		name = `"` + strings.ReplaceAll(name, `"`, `\"`) + `"`
	}
	b.WriteString(name)
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:#@", r)
}

// sampleText returns one line that shows what an entry said, escaped and cut
// to limit characters.
func sampleText(e *event.Entry, limit int) string {
	var parts []string
	switch e.Kind {
	case event.KindLog:
	case event.KindOperation:
		parts = append(parts, e.Source, e.Status.String())
	default:
		parts = append(parts, e.Status.String())
	}
	parts = appendHead(parts, e.Message, limit)
	text := strings.TrimSpace(strings.Join(parts, " "))
	if text == "" {
		text = "(empty " + e.Kind.String() + " entry)"
	}
	return string(safetext.AppendText(nil, text, limit))
}

// appendHead appends the first line of a message that is not blank, and the
// next one where the first ends in a colon. Of a long message it looks at what
// can hold limit characters and one more, which shows that text was cut.
func appendHead(lines []string, message string, limit int) []string {
	message = strings.TrimSpace(message)
	message = message[:min(len(message), utf8.UTFMax*(limit+1))]
	head := 0
	for line := range strings.SplitSeq(message, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		lines = append(lines, line)
		if head++; head == 2 || !strings.HasSuffix(line, ":") {
			break
		}
	}
	return lines
}
