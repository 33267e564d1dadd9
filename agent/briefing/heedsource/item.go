package heedsource

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/frame"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
)

// sections are the headings of the parts of an item in Markdown.
var sections = map[string]string{
	partCause: "Stack", partOperation: "Operation", partSamples: "Also in it", partBefore: "Before", partAfter: "After",
	partBlame: "Which mod", partAdvice: "Why it matters",
}

// look has the records, rule and suspects of one item.
type look struct {
	*source
	item     *heed.Item
	cause    *journal.Record // nil: not held
	shown    *journal.Record // the dominant entry, nil: not held
	rule     *rules.Rule     // a zero rule: not known
	suspects []heed.Suspect

	class          string // of readers
	frames         int    // of the stack that the head shows: for the author of a mod none, since the stack has a part
	crashed        bool   // the process of the game ended in native code
	message, stack string // of the dominant entry, as shown: of a native crash a line, and the frames of managed code
}

func (s *source) look(a *heed.Item, class string) *look {
	l := &look{source: s, item: a, class: class, frames: headFrames}
	l.cause, l.rule = s.record(a.Cause.Seq), s.ruleOf(a.Rule)
	if l.crashed = slices.Contains(l.rule.Tags, "crash"); class == TemplateModAuthor {
		l.frames = 0
	}
	if len(a.Members) > 0 {
		l.shown = s.record(a.Members[0].Seq)
	}
	if l.shown == nil {
		return l
	}
	l.suspects = s.Engine.Blame(&l.shown.Entry)
	l.message, l.stack = l.shown.Message, l.shown.Stack
	if l.crashed {
		if frames := managed(l.stack); frames != "" {
			l.message, _, _ = strings.Cut(strings.TrimLeft(l.message, "\r\n"), "\n")
			l.stack = frames
		}
	}
	return l
}

// managed returns the frames of managed code, or of scripts, in the stack of a native crash.
func managed(stack string) string {
	var b strings.Builder
	for line := range strings.Lines(stack) {
		if _, sure := frame.Parse(strings.TrimRight(line, "\r\n")); sure != frame.None {
			b.WriteString(line)
		}
	}
	return b.String()
}

// head returns the first fragment about an item: its text, time, culprit, operation and next step.
func (l *look) head() briefing.Fragment {
	a := l.item
	f := briefing.Fragment{
		Source: briefing.SourceAttention, SourceID: revision(a), Title: state(a) + ": " + a.Title, Section: "What broke",
		Required: a.Disposition == event.Blocking, Seq: a.Cause.Seq, Refs: l.refs(),
	}
	facts, next := own(l.culprit(), l.origin()), l.next()
	f.Short = slices.Concat(shortened(l.text(1, 0), shortCause), shortened(l.first(), shortestCause), facts)
	f.Short = append(f.Short, next[:min(1, len(next))]...)
	if a.StateInvalidated {
		facts = append(facts, own("State: what is known of the game may not hold any more; read it again.")...)
	}
	f.Lines = slices.Concat(l.text(headLines, l.frames), own(l.since()), l.first(), facts, next)
	return f
}

// own returns lines of heed's own.
func own(texts ...string) (lines []briefing.Line) {
	for _, s := range texts {
		lines = append(lines, briefing.Line{Text: s})
	}
	return lines
}

// shortened returns lines with at most so many characters.
func shortened(lines []briefing.Line, limit int) (short []briefing.Line) {
	for _, line := range lines {
		short = append(short, briefing.Line{Text: text.Safe(line.Text, limit), Data: line.Data})
	}
	return short
}

// refs are what later stages may use.
func (l *look) refs() map[string]string {
	a := l.item
	refs := map[string]string{
		"item": a.ID, "rule": a.Rule, "operation": cmp.Or(a.CausalOperationID, a.AfterOperation),
		"method": cmp.Or(a.CausalMethod, a.AfterMethod),
	}
	if len(a.Sample) > 0 {
		refs["signature"] = l.Engine.Group(a.Sample[0].Signature).ID.String()
	}
	if lines := l.text(1, 0); lines[len(lines)-1].Data {
		refs["text"] = lines[len(lines)-1].Text
	}
	if len(a.Blame) > 0 {
		refs["blame"] = a.Blame[0]
	}
	maps.DeleteFunc(refs, func(_, value string) bool { return value == "" })
	return refs
}

// text returns the dominant entry as logged: at least one line.
func (l *look) text(lines, frames int) (out []briefing.Line) {
	if l.shown != nil && l.shown.Kind != event.KindLog {
		out = own(subject(&l.shown.Entry))
	}
	out, _ = quoted(out, l.message, lines, briefing.Prose)
	out, _ = quoted(out, l.stack, frames, briefing.Stack)
	switch {
	case len(out) > 0:
		return out
	case len(l.item.Sample) == 0:
		return own("Its entries are not held any more.")
	}
	out = []briefing.Line{{Text: l.item.Sample[0].Message, Data: true}}
	if l.item.Cause.Seq > 0 {
		out = append(out, own("heed holds this text alone of the entry: it is too old, or heed was restarted.")...)
	}
	return out
}

// first returns the first line of the cause where another entry is shown.
func (l *look) first() (lines []briefing.Line) {
	if l.another() {
		lines, _ = quoted(nil, l.cause.Message, 1, briefing.Prose)
	}
	return lines
}

// another reports whether the cause is held, and another entry than the shown one.
func (l *look) another() bool {
	return l.cause != nil && (l.shown == nil || l.cause.Seq != l.shown.Seq)
}

// since returns the beginning of an item, and its entries since.
func (l *look) since() string {
	a := l.item
	s := "Since: " + where(a.Cause.Seq, a.Cause.Pos)
	if l.cause != nil && !l.cause.Time.IsZero() {
		s += ", " + l.cause.Time.UTC().Format(clock)
	}
	if a.Prelude > 0 {
		s += ", after " + text.Count(a.Prelude, "less serious entry", "less serious entries")
	}
	if a.TotalUrgentEntries > 1 {
		s += fmt.Sprintf("; %d entries in ", a.TotalUrgentEntries)
		if !a.GroupsExact {
			s += "at least "
		}
		s += text.Count(a.Groups, "group") + mostly(a.Members) + ", the latest " + where(a.LatestSequence, a.LatestPos)
	}
	if a.Recurrence != "" {
		s += "; " + a.Recurrence
	}
	if a.Predecessor != "" {
		s += "; continues " + a.Predecessor
	}
	return s
}

// mostly returns the most frequent of several members as a clause, "" if each came once.
func mostly(members []heed.Member) string {
	if len(members) < 2 {
		return ""
	}
	most := slices.MaxFunc(members, func(a, b heed.Member) int { return cmp.Compare(a.Entries, b.Entries) })
	what := ": " + most.Title
	if most.Rule == members[0].Rule {
		what = " this"
	}
	if most.Entries == 1 {
		return ""
	}
	return ", mostly" + what + " (" + text.Count(most.Entries, "time") + ")"
}

// culprit returns whom the dominant entries point at, and by what.
func (l *look) culprit() string {
	var out []string
	mods, perhaps := l.item.Blame, ""
	if len(mods) == 0 && len(l.item.Perhaps) > 0 {
		mods, perhaps = l.item.Perhaps, "perhaps "
	}
	for _, name := range mods {
		s := named(name)
		if i := slices.IndexFunc(l.suspects, func(s heed.Suspect) bool { return s.Mod == name }); i >= 0 {
			s += " (" + l.suspects[i].Evidence[0].Kind.Describe() + ")"
		} else if l.crashed && len(l.suspects) == 0 {
			s += " (the fault just before the crash points at it)"
		}
		out = append(out, s)
	}
	return "Culprit: " + perhaps + cmp.Or(strings.Join(out, ", "), "not known")
}

// origin returns the operation that caused an item or came before it, else the phase of the game.
func (l *look) origin() string {
	a := l.item
	var out []string
	switch {
	case a.CausalOperationID != "":
		out = append(out, "Operation: "+operation(a.CausalMethod, a.CausalOperationID)+", which the cause names")
	case a.AfterOperation != "":
		out = append(out, "Operation: "+operation(a.AfterMethod, a.AfterOperation)+
			", during or after which it came: possibly its cause")
	}
	if a.Cause.Phase != "" || len(out) == 0 {
		out = append(out, "Phase: "+cmp.Or(named(a.Cause.Phase), "not known"))
	}
	return strings.Join(out, "; ")
}

// operation names an operation: "colony/build (op-7)".
func operation(method, id string) string {
	switch {
	case method == "":
		return named(id)
	case id == "":
		return named(method)
	}
	return named(method) + " (" + named(id) + ")"
}

// next returns the next steps.
func (l *look) next() []briefing.Line {
	a := l.item
	var all []string
	idle := a.Disposition == event.Blocking && strings.HasPrefix(a.Advice, "Nothing") // it is for a single advisory entry
	if a.Advice != "" && !idle {
		all = append(all, a.Advice)
	}
	if l.Next != nil {
		all = append(all, l.Next(l.class, a)...)
	}
	if l.cause != nil && (l.Next == nil || len(all) == 0) {
		all = append(all, "read "+where(a.Cause.Seq, a.Cause.Pos)+" and what follows it")
	}
	lead := "Next: "
	for i := range all {
		all[i], lead = lead+all[i], "- "
	}
	return own(all...)
}

// part returns a detail of an item, and false where there is none.
// Scale multiplies its bounds.
func (l *look) part(name string, neighbors, scale int) (briefing.Fragment, bool) {
	f := briefing.Fragment{
		Source: briefing.SourceAttention, SourceID: revision(l.item) + "#" + name, Parent: revision(l.item),
		Seq: l.item.Cause.Seq, Section: sections[name],
	}
	switch name {
	case partCause:
		if f.Title = "The text goes on"; l.frames == 0 {
			f.Title = "Where it happened"
		}
		f.Lines = beyond(f.Lines, l.message, headLines, scale*causeLines, briefing.Prose)
		f.Lines = beyond(f.Lines, l.stack, l.frames, scale*causeFrames, briefing.Stack)
		if r := l.cause; l.another() {
			f.Lines = append(f.Lines, own("First: "+where(r.Seq, r.Pos))...)
			f.Lines = beyond(f.Lines, r.Message, 0, scale*causeLines, briefing.Prose)
			f.Lines = beyond(f.Lines, r.Stack, 0, scale*causeFrames, briefing.Stack)
		}
	case partOperation:
		if v := l.Engine.Verdict(cmp.Or(l.item.CausalOperationID, l.item.AfterOperation)); v.Known {
			of := verdict(&v)
			f.Title, f.Lines, f.Refs, f.Seq = of.Title, of.Lines, of.Refs, 0
		}
	case partSamples:
		l.samples(&f)
	case partBefore, partAfter:
		if l.item.Cause.Seq > 0 && neighbors > 0 {
			l.neighbors(&f, name == partBefore, scale*neighbors)
		}
	case partBlame:
		f.Title = "What points at mods"
		if len(l.suspects) == 1 && len(l.suspects[0].Evidence) == 1 && len(l.item.Blame) == 1 {
			return f, false // the head has it
		}
		for _, s := range l.suspects[:min(len(l.suspects), maxSuspects)] {
			var why []string
			for _, e := range s.Evidence {
				why = append(why, e.Kind.Describe())
			}
			f.Lines = append(f.Lines, own("- "+named(s.Mod)+": "+strings.Join(why, "; "))...)
		}
	case partAdvice:
		f.Title = "Rule " + named(l.item.Rule)
		if l.rule.Why != "" {
			f.Lines = own("Why: " + l.rule.Why)
		}
	}
	return f, len(f.Lines) > 0
}

// beyond appends the lines of s that come after the first ones, through a limit.
func beyond(dst []briefing.Line, s string, first, limit int, kind briefing.Kind) []briefing.Line {
	lines, left := quoted(nil, s, limit, kind)
	return andMore(append(dst, lines[min(first, len(lines)):]...), left)
}

// andMore appends how many lines are left out, if any.
func andMore(dst []briefing.Line, left int) []briefing.Line {
	if left > 0 {
		dst = append(dst, own("and "+text.Count(left, "more line", "more lines"))...)
	}
	return dst
}

// samples shows the other samples of an item, in its order.
func (l *look) samples(f *briefing.Fragment) {
	f.Title = "What else it holds"
	if len(l.item.Sample) < 2 {
		return
	}
	for _, s := range l.item.Sample[1:] { // the head has the first
		line := "- " + s.Level.String() + ", rule " + named(s.Rule) + ", " +
			text.Count(s.RepeatCount, "time", "times") + ", the latest " + where(s.LatestSequence, s.LatestPos)
		if len(s.Blame) > 0 {
			line += ", points at " + named(s.Blame[0])
		}
		f.Lines = append(f.Lines, own(line+":")...)
		f.Lines = append(f.Lines, briefing.Line{Text: text.Safe(s.Message, maxLineChars), Data: true})
	}
	if more := l.item.Groups - len(l.item.Sample); more > 0 {
		f.Lines = append(f.Lines, own("and "+text.Count(more, "more group", "more groups"))...)
	}
}

// neighbors are entries just before or after the cause: the n nearest that differ, each with how often it came there.
func (l *look) neighbors(f *briefing.Fragment, before bool, n int) {
	seq := l.item.Cause.Seq
	after, reach := seq, uint64(min(n*alikeNeighbors, maxMatched))
	f.Title = "After its cause"
	if before {
		reach = min(reach, seq-1)
		after = seq - 1 - reach
		f.Title = "Before its cause"
	}
	if reach == 0 {
		return
	}
	records := l.Engine.Read(heed.Cursor{Seq: after}, int(reach), heed.Filter{}).Records
	if before {
		records = slices.DeleteFunc(records, func(r journal.Record) bool { return r.Seq >= seq })
		slices.Reverse(records) // the nearest first
	}
	nearest, _ := l.runs(records, n)
	if before {
		slices.Reverse(nearest)
	}
	for i, r := range nearest {
		if i == 0 {
			f.Seq = r.Seq
			f.Title += ", from " + where(r.Seq, r.Pos)
		}
		if r.Kind == event.KindLog {
			f.Lines, _ = quoted(f.Lines, r.Message, 1, briefing.Prose)
		} else {
			f.Lines = append(f.Lines, own(subject(&r.Entry))...)
		}
		if r.times > 1 {
			f.Lines = append(f.Lines, own("("+text.Count(r.times-1, "more time", "more times")+")")...)
		}
	}
}

// verdict shows the outcome of an operation.
func verdict(v *heed.Verdict) briefing.Fragment {
	title := "Operation " + operation(v.Method, v.Operation)
	if v.Status != event.StatusNone { // known by entries that name it
		title += ", " + strings.ReplaceAll(v.Status.String(), "_", " ")
	}
	return briefing.Fragment{
		Source: briefing.SourceAttention, SourceID: "operation/" + url.PathEscape(v.Operation), Title: title,
		Lines: []briefing.Line{{Text: "Verdict: " + v.Outcome + ". " + v.Text}},
		Refs:  map[string]string{"operation": v.Operation, "method": v.Method},
	}
}
