package coalesce

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// attention renders an item.
func (c *Coalescer) attention(it *item) Attention {
	a := c.bare(it)
	a.Summary, _ = c.summarize(it, &a, nil)
	a.Sanitize()
	return a
}

// bare renders an item without its summary, and before it is sanitized.
func (c *Coalescer) bare(it *item) Attention {
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
			Rule: ctr.rule, Signature: ctr.sig, FirstPos: ctr.first.pos, LatestPos: ctr.lastPos, Blame: ctr.attributed(),
		})
	}
	return samples
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
	sample := strings.TrimSpace(strings.Join(parts, " "))
	if sample == "" {
		sample = "(empty " + e.Kind.String() + " entry)"
	}
	return string(text.AppendSafe(nil, sample, limit))
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
