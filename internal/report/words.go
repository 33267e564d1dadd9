package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/template"
)

// RuleText has the texts of the author of a rule, each in a line or "": the event, why it matters, and the next step of
// a player.
type RuleText struct {
	Summary, Why, Advice string
}

// shown returns the text of a rule escaped, each in one line.
func (t RuleText) shown() RuleText {
	return RuleText{safe(oneSpace(t.Summary)), safe(oneSpace(t.Why)), safe(oneSpace(t.Advice))}
}

// described returns the text of a rule, with a summary by severity if the rule has none.
func (t RuleText) described(rule string, severity event.Severity) RuleText {
	t.Summary = cmp.Or(t.Summary, coalesce.Reported(rule, severity))
	if t.Why == "" && isDefault(rule) {
		t.Why = "no rule matches it, so the default for its kind applies"
	}
	return t
}

// maxName bounds the name of an operation in a sentence, in characters.
const maxName = 64

// isDefault reports whether no rule of a file has the id.
func isDefault(id string) bool { return strings.HasPrefix(id, "default.") }

// baseName is the last part of a path of any system.
func baseName(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }

// oneSpace folds white space, line feeds included, to single spaces.
func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// blamed shows the names of mods, which hold no comma.
func blamed(names []string) string { return safe(strings.Join(names, ", ")) }

// noTemplate is shown for a template that the engine has evicted.
const noTemplate = "(template no longer stored)"

// oneLine shows a canonical template in one line.
func oneLine(t string) string {
	if t == "" {
		return noTemplate
	}
	return template.Line(t)
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// LineRange returns "7" or "7-9".
func LineRange(first, last int) string {
	if first == last {
		return strconv.Itoa(first)
	}
	return strconv.Itoa(first) + "-" + strconv.Itoa(last)
}

// sentence makes a phrase of a rule's author begin and end as a sentence does.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	s = capital(strings.TrimRight(s, stops))
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return s + "。"
	}
	return s + "."
}

// stops end sentences.
const stops = ".。"

// capital begins a sentence.
func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if first == utf8.RuneError { // or none
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// HowOften counts the entries of a cause's rule, and then the entries of other rules: the name of the first fault is
// not the name of all.
func (c *Cause) HowOften() string {
	often := text.Many(c.own, "entry", "entries")
	if with := c.Entries - min(c.own, c.Entries); with > 0 {
		often += fmt.Sprintf(", plus %s", text.Many(with, "other"))
	}
	return often
}

// where returns how often another rule decided, and from which line on.
func where(p *heed.Member) string {
	if p.Entries == 1 {
		return fmt.Sprintf("once at line %d", p.First)
	}
	return fmt.Sprintf("%s from line %d on", texts(nil).times(p.Entries), p.First)
}

// changed is the part of a summary about the state of the game.
const changed = "; the game's state may have changed"

// words returns words about a game, in the log of a program as words about that.
func (r *Replay) words(s string) string {
	if text.IsProgram(r.family) {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "the game", "the program"), "The game", "The program")
	}
	return s
}

// fateOf returns whether the items of a cause ended before the log did. Where that ends with a crash, nothing after it
// is known.
func (r *Replay) fateOf(c *cause) string {
	open := "still open"
	if r.run.ending.crash {
		open = "open when the game crashed"
	}
	switch {
	case c.Last < r.run.from:
		return "over: the game was started again"
	case c.Open == 0 && c.Items > 1:
		return "all over before the end"
	case c.Open == 0:
		return "over before the end"
	case r.run.ending.crash && c.Severity == event.SeverityFatal && c.Last >= r.run.ending.line:
		return "the game ended with it"
	case c.Open < c.Items:
		return text.Number(c.Open) + " " + open
	case c.Items > 1:
		return "all " + open
	}
	return open
}

// texts has the texts of a language by the English ones: sentences of the first screen and of rules. Without one, a
// text stays English; nil is English.
type texts map[string]string

// say returns a text, with its arguments if it has any.
func (t texts) say(english string, args ...any) string {
	if own := t[english]; own != "" {
		english = own
	}
	if len(args) == 0 {
		return english
	}
	return fmt.Sprintf(english, args...)
}

// one returns the first text for one thing, and the second for any other number.
func (t texts) one(n uint64, one, many string, args ...any) string {
	if n == 1 {
		many = one
	}
	return t.say(many, args...)
}

// number returns a number with the separator of thousands.
func (t texts) number(n uint64) string { return strings.ReplaceAll(text.Number(n), ",", t.say(",")) }

func (t texts) times(n uint64) string {
	switch n {
	case 1:
		return t.say("once")
	case 2:
		return t.say("twice")
	}
	return t.say("%s times", t.number(n))
}

// head sets the headline. The trouble begins with the first cause that is listed.
func (v *verdict) head(earlier bool) {
	if v.State == stateHung || v.State == stateBroken || v.State == stateWrong {
		v.Since = v.Causes[0].Line
	}
	v.title = cmp.Or(v.title, v.say(states[v.State].title))
	if earlier {
		v.title = v.say("%s in an earlier run", v.title)
	}
	v.Headline = v.title
	if v.Since > 0 {
		v.Headline = v.say("%s "+v.since()+" line %d", v.title, v.Since)
	}
	v.Headline += v.because
	if v.Blind > 0 {
		v.Headline += v.say("; the log stops at line %d", v.Blind)
	}
}

// Title returns the state with the reason of a crash, without lines.
func (v *verdict) Title() string { return v.title + v.because }

// since returns the preposition before the line of a state.
func (v *verdict) since() string {
	if v.State == stateCrashed || v.State == stateBlind {
		return "at"
	}
	return "since"
}

// label returns the reason why the first screen names a cause.
func (v *verdict) label(c *verdictCause) string {
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

// either joins the names of mods with "or". quote marks a name, here and below.
func (t texts) either(mods []verdictMod, quote func(string) string) string {
	return strings.Join(each(mods, func(m verdictMod) string { return m.title(quote) }), t.say(" or "))
}

func (t texts) all(names []string, quote func(string) string) string {
	return strings.Join(each(names, quote), t.say(" and "))
}

// mod returns which mod it was and what that rests on, in a sentence, or how to find it; "" where the log lists no mods
// and names none, or the problem that explains a crash has the answer.
func (c *verdictCause) mod(quote func(string) string) string {
	because := ""
	if len(c.Mods) > 0 && len(c.Mods[0].Evidence) > 0 {
		because = ": " + c.say(c.Mods[0].Evidence[0].Describe())
	}
	switch {
	case c.Perhaps:
		m := &c.Mods[0]
		return c.one(m.Entries, "Perhaps %s, which %s of %d names, first at line %d%s.",
			"Perhaps %s, which %s of %d name, first at line %d%s.",
			c.either(c.Mods, quote), c.number(m.Entries), c.Times, m.Line, because)
	case len(c.Mods) > 0:
		return c.say("%s.", c.either(c.Mods, quote)+because)
	case len(c.Running) > 0:
		return c.one(uint64(len(c.Running)), "Not known. Memory ran out, and %s was running; that alone is no proof.",
			"Not known. Memory ran out, and %s were running; that alone is no proof.", c.all(c.Running, quote))
	case len(c.patched) == 0 && (!c.modded || c.crash && c.Because > 0):
		return ""
	case len(c.patched) == 0 && (c.modless || c.Disposition != event.Blocking):
		return c.say("Not known.")
	case len(c.patched) == 0:
		return c.say("Not known. To find it, remove the mods added last, or half of them at a time.")
	}
	return c.one(uint64(len(c.patched)), "Not known. The stack trace contains game code that %s patches; that alone is no proof.",
		"Not known. The stack trace contains game code that %s patch; that alone is no proof.", c.all(c.patched, quote))
}

// Links returns the addresses of the pages of the mods that a cause points at. They are made of numbers alone.
func (c *verdictCause) Links() []string {
	links := each(c.Mods, func(m verdictMod) string { return m.Link })
	return slices.DeleteFunc(links, func(link string) bool { return link == "" })
}

// title is the name of a mod, with its package id where that is known.
func (m *verdictMod) title(quote func(string) string) string {
	if m.PackageID == "" {
		return quote(m.Name)
	}
	return quote(m.Name) + " (" + quote(m.PackageID) + ")"
}

// named returns by how many entries a mod is named.
func (m *verdictMod) named(t texts, quote func(string) string) string {
	return t.one(m.Entries, "%s by %s entry", "%s by %s entries", quote(m.Name), t.number(m.Entries))
}

// elsewhere lists the mods that no cause names, "" where there are none.
func (v *verdict) elsewhere(quote func(string) string) string {
	if len(v.Mods) == 0 {
		return ""
	}
	list := make([]string, 0, len(v.Mods)+1)
	for i := range v.Mods {
		list = append(list, v.say("%s (first at line %d)", v.Mods[i].named(v.texts, quote), v.Mods[i].Line))
	}
	if v.MoreMods > 0 {
		list = append(list, v.AndMore())
	}
	return v.say("%s.", strings.Join(list, v.say(", ")))
}

// AndMore counts those beyond the named ones.
func (v *verdict) AndMore() string {
	return v.say("and %d more", v.MoreMods)
}

// lead returns the headline, its meaning if no cause has the same, and how many problems there are.
func (v *verdict) lead() string {
	return oneSpace(v.say("%s.", v.Headline) + " " + v.Meaning() + " " + v.Counts)
}

// place returns the summary of a cause, how often and where it came.
func (v *verdict) place(c *verdictCause) string {
	where := v.say("line %d", c.Line)
	if c.Times > 1 {
		where = v.say("%s, lines %d to %d", v.times(c.Times), c.Line, c.Last)
	}
	if c.Share > 0 {
		where += v.say(", %d%% of the log before it stops", c.Share)
	}
	where += v.Also(c)
	if c.Explains > 0 {
		where += v.one(c.Explains, "; it explains %s later entry", "; it explains %s later entries", v.number(c.Explains))
	}
	if c.Because > 0 {
		where += v.say("; because of line %d", c.Because)
	}
	return v.say("%s (%s).", strings.TrimRight(c.What, stops), where)
}

// Also returns the other reasons to name a cause, besides its label, and how most of its names begin.
func (v *verdict) Also(c *verdictCause) (words string) {
	if c.Prefix != "" {
		words = v.say("; most begin with %s", c.Prefix)
	}
	label := v.label(c)
	more := slices.DeleteFunc(slices.Clone(c.As), func(as string) bool { return as == label || as == asAlso })
	if v.single || len(more) == 0 {
		return words
	}
	reasons := map[string]string{asWorst: "the worst", asMost: "the most frequent", asFirst: "the first"}
	return words + v.say("; also %s", v.all(more, func(as string) string { return v.say(reasons[as]) }))
}

// counts counts problems, that is rules and not items, in words for people; "" where there is none.
func (t texts) counts(blocking, advisory []*heed.Member) string {
	var parts []string
	for _, of := range []struct {
		problems  []*heed.Member
		one, many string
	}{{blocking, "%d problem", "%d problems"}, {advisory, "%d small problem", "%d small problems"}} {
		n, most := len(of.problems), uint64(0)
		if n == 0 {
			continue
		}
		for _, p := range of.problems {
			most = max(most, p.Entries)
		}
		part := t.one(uint64(n), of.one, of.many, n)
		switch {
		case most == 1:
		case n == 1:
			part = t.say("%s: %s of these", part, t.number(most))
		default:
			part = t.say("%s, the most frequent %s", part, t.times(most))
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return ""
	}
	return t.say("%s.", strings.Join(parts, t.say("; ")))
}

// logSentences returns whether the log is complete: first why it was not read to its end, then where it was blind, then
// the missing parts; or that nothing is missing.
func (r *Replay) logSentences() []string {
	says := r.doubts()
	switch {
	case says != nil:
	case r.silent():
		return []string{r.say("The log has no record.")}
	case r.run.ending.fatal:
		return []string{r.run.ending.sentence(r.texts) + " " + r.say(completeTo)}
	default:
		return []string{r.endSentence(true)}
	}
	switch {
	case r.unread != "" || r.end.Interrupted:
	case r.run.ending.fatal:
		says = append(says, r.run.ending.sentence(r.texts))
	case r.starting(), r.run.from > 0 && !r.blind.now && r.notices[event.StatusTruncated] == nil:
		says = append(says, r.endSentence(false))
	}
	return says
}

// headlessSentence is about a log without its beginning.
const headlessSentence = "The beginning of the log is missing: the first problem may be in that part."

// doubts returns why the log is not complete, nil where it is not known to lack anything.
func (r *Replay) doubts() []string {
	var says []string
	switch {
	case r.end.Interrupted:
		says = append(says, r.say("Reading was interrupted after line %d: the report covers the log up to there.",
			r.end.Lines))
	case r.unread != "":
		says = append(says, r.say("The log could not be read to its end: %s.", r.unread))
	}
	if r.end.Headless {
		says = append(says, r.say(headlessSentence))
	}
	if s := r.blind.sentence(r.texts); s != "" {
		says = append(says, s)
	}
	for _, m := range r.noticed() {
		s := m.sentence(r.texts)
		if share := r.shareWords(); m.Status == event.StatusHole && share != "" {
			s = sentence(strings.TrimRight(s, stops) + ", " + share)
		}
		if m.Status == event.StatusRestarted {
			s = r.runsSentence(strings.TrimRight(s, stops), m.Times)
		}
		says = append(says, s)
	}
	if r.end.Unended {
		says = append(says, r.say("The last line, %d, has no line end: it may be cut.", r.end.Lines))
	}
	return says
}

// sentence returns where the log was blind, "" if it was not. Parts that are missing at one point have sentences of
// their own.
func (b *blindness) sentence(t texts) string {
	where, lost := t.say("from line %d to line %d", b.last.From, b.last.To), t.say("in between")
	if b.stretches == 0 {
		return ""
	}
	if b.last.To == 0 {
		where, lost = t.say("at line %d", b.last.From), t.say("after that line")
	}
	if b.stretches > 1 {
		where = t.say("%s, first at line %d, last %s", t.times(b.stretches), b.first, where)
	}
	return t.say("The log stops %s: what would have been logged %s is not known.", where, lost)
}

// sentence returns which part is missing from a log.
func (m *missing) sentence(t texts) string {
	where := t.say("at line %d", m.First)
	if m.Times > 1 {
		where = t.say("in %d places, lines %d to %d", m.Times, m.First, m.Last)
	}
	switch m.Status {
	case event.StatusHole:
		if m.cut == m.Amount && m.cut > 0 {
			return t.say("Lines are cut at 256 KiB %s: %s bytes were not read.", where, t.number(m.cut))
		}
		return t.one(m.Amount, "%s byte is missing %s.", "%s bytes are missing %s.", t.number(m.Amount), where)
	case event.StatusRunCut:
		return t.say("Repeated messages are left out %s: the real counts may be higher.", where)
	case event.StatusTruncated:
		return t.say("The log is cut off %s.", where)
	case event.StatusRestarted:
		return t.say("The log starts again %s.", where)
	case event.StatusNoLog:
		return t.say("There was no log to read %s.", where)
	}
	return t.say("Notice %q %s.", m.Status, where)
}
