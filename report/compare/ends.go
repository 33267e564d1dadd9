package compare

import (
	"maps"
	"slices"
	"strings"
)

// whole parts the texts from those that the end of a log has cut, each of which it
// returns with the text that it is the beginning of, or with nil. A game that is
// killed, or still running, leaves a log that ends within a line or within a stack;
// what is left of the record has a signature of its own, and is no news. A log does
// not say that it is cut, so that the other texts must: only the last entries of
// logs can be, and only those that came nowhere else and with which another text
// begins. Of a log that is visibly cut, what is left of a record is also left out
// where it is not urgent.
func (c *Collector) whole(texts, known []*entryText) (whole []*entryText, cut map[*entryText]*entryText) {
	last := c.lastEntries()
	if len(last) == 0 {
		return texts, nil
	}
	cut = map[*entryText]*entryText{}
	for _, t := range texts {
		l := last[t]
		if l == nil {
			whole = append(whole, t)
			continue
		}
		var longer *entryText
		for _, other := range texts {
			if begins(other.template, t.template, last[other] == nil) && (longer == nil || !longer.beside(t) && other.beside(t)) {
				longer = other
			}
		}
		found := longer != nil || slices.ContainsFunc(known, func(k *entryText) bool { return begins(k.template, t.template, true) })
		if found || l.truncated && !t.urgent() {
			cut[t] = longer
			continue
		}
		whole = append(whole, t)
	}
	return whole, cut
}

// lastEntries returns the texts that came nowhere but at the ends of logs.
func (c *Collector) lastEntries() map[*entryText]*lastEntries {
	last := map[*entryText]*lastEntries{}
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
	maps.DeleteFunc(last, func(t *entryText, l *lastEntries) bool { return l.count < t.tally[Old].count+t.tally[New].count })
	return last
}

// beside reports whether t is on every side that u is on.
func (t *entryText) beside(u *entryText) bool {
	return (u.tally[Old].count == 0 || t.tally[Old].count > 0) && (u.tally[New].count == 0 || t.tally[New].count > 0)
}

func (t *entryText) urgent() bool {
	return t.tally[Old].judged.disposition.Urgent() || t.tally[New].judged.disposition.Urgent()
}

// addCut counts what is left of an entry of the group. A rule that saw half of an
// entry may have judged another, so that the group is judged by the whole ones.
func (g *group) addCut(t *entryText) {
	for side := range t.tally {
		u, v, other := &t.tally[side], &g.tally[side], &g.tally[1-side]
		if u.count == 0 {
			continue
		}
		if v.count == 0 {
			*v = *u
			if other.count > 0 {
				v.judged, v.own = other.judged, other.own
			}
			continue
		}
		v.count += u.count
	}
	g.see(t)
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
