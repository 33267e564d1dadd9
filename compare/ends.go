package compare

import (
	"slices"
	"strings"
)

// whole returns the texts without those that the end of a log has cut. A game
// that is killed, or still running, leaves a log that ends within a line or within
// a stack; what is left of the record has a signature of its own, and is no news.
// A log does not say that it is cut, so that the other texts must: only the last
// entries of logs can be, and only those that came nowhere else and with which
// another text begins. Of a log that is visibly cut, what is left of a record is
// also left out where it is not urgent.
func (c *Collector) whole(texts, known []*text) []*text {
	last := map[*text]*lastEntries{}
	for _, runs := range c.runs {
		for _, r := range runs {
			if t := r.latest; t != nil {
				l := last[t]
				if l == nil {
					l = &lastEntries{truncated: true}
					last[t] = l
				}
				l.count++
				l.truncated = l.truncated && r.truncated
			}
		}
	}
	for t, l := range last {
		if l.count < t.tally[Old].count+t.tally[New].count {
			delete(last, t)
		}
	}
	if len(last) == 0 {
		return texts
	}
	cut := func(t *text) bool {
		l := last[t]
		if l == nil {
			return false
		}
		urgent := t.tally[Old].judged.disposition.Urgent() || t.tally[New].judged.disposition.Urgent()
		if l.truncated && !urgent {
			return true
		}
		continued := func(longer *text) bool { return begins(longer.template, t.template, last[longer] == nil) }
		return slices.ContainsFunc(texts, continued) || slices.ContainsFunc(known, continued)
	}
	whole := make([]*text, 0, len(texts))
	for _, t := range texts {
		if !cut(t) {
			whole = append(whole, t)
		}
	}
	return whole
}

// lastEntries is a text with which logs end.
type lastEntries struct {
	count     uint64
	truncated bool // all of these logs are visibly cut
}

// begins reports whether a template may be that of a text of which an end is
// missing, and longer that of the whole. The word in which the text ends may be
// masked in one of them alone: "A = Thing_Lam" is the beginning of "A = <*>". Of two
// such, each may be the beginning of the other, so that this holds only where
// longer is known to be whole.
func begins(longer, template string, whole bool) bool {
	if template == "" || longer == template {
		return false
	}
	if strings.HasPrefix(longer, template) {
		return true
	}
	at := strings.LastIndexAny(template, " \n") + 1
	if !whole || at == 0 || !strings.HasPrefix(longer, template[:at]) {
		return false
	}
	word := longer[at:]
	if end := strings.IndexAny(word, " \n"); end >= 0 {
		word = word[:end]
	}
	return strings.Contains(word, mask) || strings.Contains(template[at:], mask)
}

// mask stands in templates for what varies.
const mask = "<*>"
