package report

import (
	"fmt"
	"strings"

	"github.com/heedlog/heed/event"
)

// by returns the mods that something names.
func (v *Verdict) by(what string) []VerdictMod {
	var mods []VerdictMod
	for _, m := range v.Mods {
		if m.By == what {
			mods = append(mods, m)
		}
	}
	return mods
}

// either joins the names of mods of which it may be either.
func either(mods []VerdictMod, quote func(string) string) string {
	names := make([]string, len(mods))
	for i := range mods {
		names[i] = quote(mods[i].Name)
	}
	return strings.Join(names, " or ")
}

// cameFirst calls First by what it is.
func (v *Verdict) cameFirst() string {
	if v.First.Disposition == event.Blocking {
		return "the first blocking problem"
	}
	return "the first advisory problem"
}

// because returns the strongest evidence against the first of mods, after a colon.
func because(mods []VerdictMod) string {
	if len(mods) == 0 || len(mods[0].Evidence) == 0 {
		return ""
	}
	return ": " + mods[0].Evidence[0].Describe()
}

// modAnswer returns which mod it was. quote makes a name stand out, here and below.
func (v *Verdict) modAnswer(quote func(string) string) string {
	if mods := v.by(byFirst); len(mods) > 0 {
		return either(mods, quote)
	}
	mods := v.by(byAlike)
	switch {
	case len(mods) > 0:
		return "Perhaps " + either(mods, quote)
	case v.First == nil:
		return "No mod is named."
	}
	return "Not known: " + v.cameFirst() + " does not name a mod."
}

// modReason returns what the answer rests on, "" where there is none. Of what is not
// known it names what there is to start from.
func (v *Verdict) modReason(quote func(string) string) string {
	if mods := v.by(byFirst); len(mods) > 0 {
		them := "it"
		if len(mods) > 1 {
			them = "them"
		}
		return capital(v.cameFirst()) + " points at " + them + because(mods) + "."
	}
	if mods := v.by(byAlike); len(mods) > 0 {
		return fmt.Sprintf("%s does not name a mod; a similar entry in the same item does, at line %d%s.",
			capital(v.cameFirst()), v.alike, because(mods))
	}
	if len(v.patched) == 0 {
		return ""
	}
	names := make([]string, len(v.patched))
	for i, name := range v.patched {
		names[i] = quote(name)
	}
	patches := plural(uint64(len(names)), " patches", " patch")
	return "Its stack trace contains game code that " + strings.Join(names, " and ") + patches +
		"; that alone is no proof."
}

// modOfWorst returns whom the worst names, "" where it is nobody else.
func (v *Verdict) modOfWorst(quote func(string) string) string {
	mods := v.by(byWorst)
	if len(mods) == 0 {
		return ""
	}
	return "The worst problem points at " + either(mods, quote) + because(mods) + "."
}

// named returns by how many entries a mod is named.
func (m *VerdictMod) named(quote func(string) string) string {
	atLeast := ""
	if m.atLeast {
		atLeast = "at least "
	}
	return quote(m.Name) + " by " + atLeast + many(m.Entries, "entry", "entries")
}

// modSentences is all of that, one after the other.
func (v *Verdict) modSentences(quote func(string) string) []string {
	says := []string{v.modAnswer(quote)}
	if reason := v.modReason(quote); reason != "" {
		says[0] = strings.TrimSuffix(says[0], ".") + ". " + reason
	}
	if s := v.modOfWorst(quote); s != "" {
		says = append(says, s)
	}
	others := v.by(byOther)
	if len(others) == 0 {
		return says
	}
	list := make([]string, 0, len(others)+1)
	for i := range others {
		list = append(list, fmt.Sprintf("%s (first at line %d)", others[i].named(quote), others[i].Line))
	}
	if v.MoreMods > 0 {
		list = append(list, v.moreMods())
	}
	return append(says, namedElsewhere+strings.Join(list, ", ")+".")
}

// namedElsewhere begins the list of mods that neither the first problem nor the worst names.
const namedElsewhere = "Named elsewhere: "

// moreMods counts those beyond the named ones.
func (v *Verdict) moreMods() string {
	if v.moreNamed {
		return fmt.Sprintf("and at least %d more", v.MoreMods)
	}
	return fmt.Sprintf("and %d more", v.MoreMods)
}

// lead is the verdict in a few words: the headline, what it means where that is not
// that of what broke first, and the items.
func (v *Verdict) lead() string {
	s := v.Headline + "."
	if v.First == nil || v.What != v.First.What {
		s += " " + v.What
	}
	if v.counts != "" {
		s += " " + v.counts
	}
	return s
}

// place is what a cause is and where.
func (c *VerdictCause) place() string {
	return fmt.Sprintf("%s (line %d).", strings.TrimSuffix(c.What, "."), c.Line)
}

// counts counts the items in words for people, to whom an item is a problem; "" where
// there is none.
func (r *Replay) counts() string {
	blocking, advisory := r.causes.byDisposition[event.Blocking], r.causes.byDisposition[event.Advisory]
	var parts []string
	if blocking > 0 {
		parts = append(parts, count(blocking, "blocking problem")+", "+r.fateOfAll(blocking))
	}
	if advisory > 0 {
		parts = append(parts, count(advisory, "advisory problem"))
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
	case r.ending.fatal:
		return []string{r.ending.sentence() + " " + completeTo}
	default:
		return []string{r.completeSentence()}
	}
	switch {
	case r.unread != "" || r.end.Interrupted:
	case r.ending.fatal:
		says = append(says, r.ending.sentence())
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
	n, first, last := b.stretches, b.first, b.last
	switch {
	case n == 0:
		return ""
	case n == 1 && first.To == 0:
		return blindSince(first.From)
	case n == 1:
		return fmt.Sprintf("Blind from line %d to line %d: logging stopped, and later resumed. What happened in between "+
			"is not known.", first.From, first.To)
	case last.To == 0:
		return fmt.Sprintf("Blind %s, first at line %d. ", times(n), first.From) + blindSince(last.From)
	}
	return fmt.Sprintf("Blind %s, first from line %d to line %d, last from line %d to line %d: logging stopped each "+
		"time, and what happened until it resumed is not known.", times(n), first.From, first.To, last.From, last.To)
}

// blindSince explains a log that ends blind.
func blindSince(line uint64) string {
	return fmt.Sprintf("Blind since line %d: logging stopped there, so nothing after that line is known.", line)
}

// sentence returns what is missing from a log.
func (m *missing) sentence() string {
	where := fmt.Sprintf("at line %d", m.First)
	if m.Times > 1 {
		where = fmt.Sprintf("in %d places, lines %d to %d", m.Times, m.First, m.Last)
	}
	switch m.Status {
	case event.StatusHole:
		return fmt.Sprintf("%s missing %s.", many(m.Amount, "byte is", "bytes are"), where)
	case event.StatusRunCut:
		return fmt.Sprintf("The game stopped writing repeated messages %s: the real counts may be higher.", where)
	case event.StatusTruncated:
		return fmt.Sprintf("A record is cut off %s.", where)
	case event.StatusRestarted:
		return fmt.Sprintf("The log starts again %s.", where)
	case event.StatusNoLog:
		return fmt.Sprintf("There was no log to read %s.", where)
	}
	return fmt.Sprintf("Notice %q %s.", m.Status, where)
}
