package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// head sets the headline. The trouble begins with the first cause that is listed.
func (v *Verdict) head(earlier bool) {
	if v.State == stateHung || v.State == stateBroken || v.State == stateWrong {
		v.Since = v.Causes[0].Line
	}
	v.title = cmp.Or(v.title, stateTitles[v.State])
	if earlier {
		v.title += " in an earlier run"
	}
	v.Headline = v.title
	if v.Since > 0 {
		v.Headline += fmt.Sprintf(" %s line %d", v.since(), v.Since)
	}
	v.Headline += v.because
	if v.Blind > 0 {
		v.Headline += fmt.Sprintf("; the log stops at line %d", v.Blind)
	}
}

// since returns the preposition before the line of a state.
func (v *Verdict) since() string {
	if v.State == stateCrashed || v.State == stateBlind {
		return "at"
	}
	return "since"
}

// label returns what a cause is named for on the first screen.
func (v *Verdict) label(c *verdictCause) string {
	first := &v.Causes[0]
	if first.As[0] == asCause && len(v.Causes) > 1 {
		first = &v.Causes[1]
	}
	switch {
	case v.single:
		return "problem"
	case c == first:
		return asWorst
	}
	return c.As[0]
}

// either joins the names of mods of which it may be either. quote makes a name stand out, here and below.
func either(mods []verdictMod, quote func(string) string) string {
	return strings.Join(each(mods, func(m verdictMod) string { return m.title(quote) }), " or ")
}

// mod returns which mod it was and what that rests on, in a sentence, or how to find it; "" where the log lists no mods
// and names none.
func (c *verdictCause) mod(quote func(string) string) string {
	because := ""
	if len(c.Mods) > 0 && len(c.Mods[0].Evidence) > 0 {
		because = ": " + c.Mods[0].Evidence[0].Describe()
	}
	switch {
	case c.Perhaps:
		return fmt.Sprintf("Perhaps %s, which %s of %d %s, first at line %d%s.", either(c.Mods, quote),
			text.Number(c.Mods[0].Entries), c.Times, text.Plural(c.Mods[0].Entries, "names", "name"), c.Mods[0].Line, because)
	case len(c.Mods) > 0:
		return either(c.Mods, quote) + because + "."
	case len(c.Running) > 0:
		return "Not known. Memory ran out, and " + strings.Join(each(c.Running, quote), " and ") +
			text.Plural(len(c.Running), " was", " were") + " running; that alone is no proof."
	case len(c.patched) == 0 && !c.modded:
		return ""
	case len(c.patched) == 0:
		return "Not known. To find it, remove the mods added last, or half of them at a time."
	}
	return "Not known. The stack trace contains game code that " + strings.Join(each(c.patched, quote), " and ") +
		text.Plural(len(c.patched), " patches", " patch") + "; that alone is no proof."
}

// links returns the addresses of the pages of the mods that a cause points at. They are made of numbers alone.
func (c *verdictCause) links() []string {
	var links []string
	for i := range c.Mods {
		if link := c.Mods[i].Link; link != "" {
			links = append(links, link)
		}
	}
	return links
}

// title is the name of a mod, with its package id where that is known.
func (m *verdictMod) title(quote func(string) string) string {
	if m.PackageID == "" {
		return quote(m.Name)
	}
	return quote(m.Name) + " (" + quote(m.PackageID) + ")"
}

// named returns by how many entries a mod is named.
func (m *verdictMod) named(quote func(string) string) string {
	return quote(m.Name) + " by " + text.Many(m.Entries, "entry", "entries")
}

// elsewhere lists the mods that no cause names, "" where there are none.
func (v *Verdict) elsewhere(quote func(string) string) string {
	if len(v.Mods) == 0 {
		return ""
	}
	list := make([]string, 0, len(v.Mods)+1)
	for i := range v.Mods {
		list = append(list, fmt.Sprintf("%s (first at line %d)", v.Mods[i].named(quote), v.Mods[i].Line))
	}
	if v.MoreMods > 0 {
		list = append(list, v.moreMods())
	}
	return strings.Join(list, ", ") + "."
}

// moreMods counts those beyond the named ones.
func (v *Verdict) moreMods() string {
	return fmt.Sprintf("and %d more", v.MoreMods)
}

// lead is the verdict in a few words: the headline, what it means where that is not
// that of a cause, and how many problems there are.
func (v *Verdict) lead() string {
	return oneSpace(v.Headline + ". " + v.meaning() + " " + v.counts)
}

// place is what a cause is, how often and where.
func (v *Verdict) place(c *verdictCause) string {
	where := fmt.Sprintf("line %d", c.Line)
	if c.Times > 1 {
		where = fmt.Sprintf("%s, lines %d to %d", times(c.Times), c.Line, c.Last)
	}
	if c.Share > 0 {
		where += fmt.Sprintf(", %d%% of the log before it stops", c.Share)
	}
	where += v.also(c)
	if c.Explains > 0 {
		where += "; it explains " + text.Many(c.Explains, "later entry", "later entries")
	}
	if c.Because > 0 {
		where += fmt.Sprintf("; because of line %d", c.Because)
	}
	return fmt.Sprintf("%s (%s).", strings.TrimSuffix(c.What, "."), where)
}

// also returns what else than its label a cause is.
func (v *Verdict) also(c *verdictCause) string {
	label := v.label(c)
	more := slices.DeleteFunc(slices.Clone(c.As), func(as string) bool { return as == label || as == asAlso })
	if v.single || len(more) == 0 {
		return ""
	}
	words := map[string]string{asWorst: "the worst", asMost: "the most frequent", asFirst: "the first"}
	return "; also " + strings.Join(each(more, func(as string) string { return words[as] }), " and ")
}

// counts counts problems, that is rules and not items, in words for people; "" where there is none.
func counts(blocking, advisory []*problem) string {
	var parts []string
	for _, of := range []struct {
		problems []*problem
		noun     string
	}{{blocking, "problem"}, {advisory, "small problem"}} {
		n, most := len(of.problems), uint64(0)
		if n == 0 {
			continue
		}
		for _, p := range of.problems {
			most = max(most, p.Entries)
		}
		part := text.Count(n, of.noun)
		switch {
		case most == 1:
		case n == 1:
			part += ": " + text.Number(most) + " of these"
		default:
			part += ", the most frequent " + times(most)
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, "; ") + "."
}

// logSentences returns whether the log is complete: first why it was not read to
// its end, then where it was blind, then what is missing; or that it is all there.
func (r *Replay) logSentences() []string {
	says := r.doubts()
	switch {
	case says != nil:
	case r.silent():
		return []string{"The log has no record."}
	case r.run.ending.fatal:
		return []string{r.run.ending.sentence() + " " + completeTo}
	default:
		return []string{r.completeSentence()}
	}
	switch {
	case r.unread != "" || r.end.Interrupted:
	case r.run.ending.fatal:
		says = append(says, r.run.ending.sentence())
	case r.starting(), r.runs.last > 0 && !r.blind.now && r.notices[event.StatusTruncated] == nil:
		says = append(says, r.endSentence())
	}
	return says
}

// headlessSentence is what it means that a log lacks its beginning.
const headlessSentence = "The beginning of the log is missing: the first problem may be in that part."

// doubts returns why the log is not complete, nil where it is not known to lack anything.
func (r *Replay) doubts() []string {
	var says []string
	switch {
	case r.end.Interrupted:
		says = append(says, fmt.Sprintf("Reading was interrupted after line %d: the report covers the log up to there.",
			r.end.Lines))
	case r.unread != "":
		says = append(says, fmt.Sprintf("The log could not be read to its end: %s.", r.unread))
	}
	if r.end.Headless {
		says = append(says, headlessSentence)
	}
	if s := r.blind.sentence(); s != "" {
		says = append(says, s)
	}
	for _, m := range r.noticed() {
		s := m.sentence()
		if share := r.shareWords(); m.Status == event.StatusHole && share != "" {
			s = strings.TrimSuffix(s, ".") + ", " + share + "."
		}
		if m.Status == event.StatusRestarted {
			s = r.runsSentence(strings.TrimSuffix(s, "."), m.Times)
		}
		says = append(says, s)
	}
	return says
}

// sentence returns where the log was blind, "" where it was not. What is missing at one point has a sentence of
// its own.
func (b *blindness) sentence() string {
	where, lost := fmt.Sprintf("from line %d to line %d", b.first.From, b.first.To), "in between"
	if b.stretches == 0 {
		return ""
	}
	if b.last.To == 0 {
		where, lost = fmt.Sprintf("at line %d", b.last.From), "after that line"
	}
	if b.stretches > 1 {
		where = fmt.Sprintf("%s, first at line %d, last %s", times(b.stretches), b.first.From, where)
	}
	return fmt.Sprintf("The log stops %s: what would have been logged %s is not known.", where, lost)
}

// sentence returns what is missing from a log.
func (m *missing) sentence() string {
	where := fmt.Sprintf("at line %d", m.First)
	if m.Times > 1 {
		where = fmt.Sprintf("in %d places, lines %d to %d", m.Times, m.First, m.Last)
	}
	switch m.Status {
	case event.StatusHole:
		return fmt.Sprintf("%s missing %s.", text.Many(m.Amount, "byte is", "bytes are"), where)
	case event.StatusRunCut:
		return fmt.Sprintf("Repeated messages are left out %s: the real counts may be higher.", where)
	case event.StatusTruncated:
		return fmt.Sprintf("A record is cut off %s.", where)
	case event.StatusRestarted:
		return fmt.Sprintf("The log starts again %s.", where)
	case event.StatusNoLog:
		return fmt.Sprintf("There was no log to read %s.", where)
	}
	return fmt.Sprintf("Notice %q %s.", m.Status, where)
}
