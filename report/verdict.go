package report

import (
	"fmt"

	"github.com/heedlog/heed/event"
)

// verdict says in a few sentences how the log fared: what deserved attention,
// whether the log tells all, and whether it was read to its end. Each form of a
// report begins with them.
func (r *Replay) verdict() []string {
	sentences := []string{r.attentionSentence()}
	if s := r.blind.sentence(); s != "" {
		sentences = append(sentences, s)
	}
	for _, m := range r.noticed() {
		sentences = append(sentences, m.sentence())
	}
	if s := r.endSentence(); s != "" {
		sentences = append(sentences, s)
	}
	return sentences
}

// endSentence says why the log was not read to its end, "" where it was.
func (r *Replay) endSentence() string {
	switch {
	case r.end.Interrupted:
		return fmt.Sprintf("Interrupted after line %d: this is what was known by then.", r.end.Lines)
	case r.unread != "":
		return fmt.Sprintf("NOT READ TO ITS END: %s.", r.unread)
	}
	return ""
}

// attentionSentence counts the items.
func (r *Replay) attentionSentence() string {
	blocking, advisory := r.causes.byDisposition[event.Blocking], r.causes.byDisposition[event.Advisory]
	var open string
	switch n := uint64(r.end.Stats.Coalesce.OpenBlocking); n {
	case 0:
	case blocking:
		open = ", open at the end"
	default:
		open = fmt.Sprintf(", %d open at the end", n)
	}
	switch {
	case blocking > 0 && advisory > 0:
		return fmt.Sprintf("%s%s; %s.", count(blocking, "blocking item"), open, count(advisory, "advisory item"))
	case blocking > 0:
		return fmt.Sprintf("%s%s.", count(blocking, "blocking item"), open)
	case advisory > 0:
		return fmt.Sprintf("Nothing blocking; %s.", count(advisory, "advisory item"))
	}
	return "Nothing deserved attention."
}

// sentence says where the log stopped telling what happened, "" where it did
// not. What is missing at one point has a sentence of its own.
func (b *blindness) sentence() string {
	times, first, last := b.stretches, b.first, b.last
	switch {
	case times == 0:
		return ""
	case times == 1 && first.To == 0:
		return fmt.Sprintf("THE LOG WENT BLIND at line %d (%s) and stayed so to its end: silence after that line says nothing.", first.From, first.Rule)
	case times == 1:
		return fmt.Sprintf("The log was blind from line %d to line %d (%s).", first.From, first.To, first.Rule)
	case last.To == 0:
		return fmt.Sprintf("THE LOG WENT BLIND %d times, first at line %d (%s), and is so since line %d: silence after that line says nothing.", times, first.From, first.Rule, last.From)
	}
	return fmt.Sprintf("The log was blind %d times, first from line %d to line %d (%s), last from line %d to line %d.", times, first.From, first.To, first.Rule, last.From, last.To)
}

// sentence says what is missing from a log.
func (m *Missing) sentence() string {
	where := fmt.Sprintf("at line %d", m.First)
	if m.Times > 1 {
		where = fmt.Sprintf("in %d places, lines %d to %d", m.Times, m.First, m.Last)
	}
	switch m.Status {
	case event.StatusHole:
		return fmt.Sprintf("%s missing %s.", verb(m.Amount, "byte is", "bytes are"), where)
	case event.StatusRunCut:
		return fmt.Sprintf("The game stopped writing repeats %s: counts are lower bounds.", where)
	case event.StatusTruncated:
		return fmt.Sprintf("A record is cut off %s.", where)
	case event.StatusRestarted:
		return fmt.Sprintf("The log starts anew %s.", where)
	}
	return fmt.Sprintf("Notice %q %s.", m.Status, where)
}

// brokeFirst returns, of causes in the order of their list, the one that came first
// among the most urgent, and the one that weighs most; and apart from them, since it
// is told by itself, the first of those by which the log went blind. Each may be nil.
func (r *Replay) brokeFirst(causes []*Cause) (first, worst, mute *Cause) {
	blinds := map[string]bool{}
	for _, span := range r.blind.spans {
		blinds[span.Rule] = true
	}
	for _, c := range causes {
		if blinds[c.Rule] {
			if mute == nil {
				mute = c
			}
			continue
		}
		if worst == nil { // the list begins with it
			worst = c
		}
		if first == nil || c.Disposition == first.Disposition && c.FirstItem.Cause.Seq < first.FirstItem.Cause.Seq {
			first = c
		}
	}
	return first, worst, mute
}
