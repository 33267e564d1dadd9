package heedsource

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
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
	*attention
	item     *heed.Item
	cause    *journal.Record // nil: not held
	shown    *journal.Record // the dominant entry, nil: not held
	rule     *rules.Rule     // a zero rule: not known
	suspects []heed.Suspect

	frames         int    // of the stack that the head shows: for the author of a mod none, since the stack has a part
	message, stack string // of the dominant entry, as shown: of a native crash a line, and the frames of managed code
}

func (s *attention) look(a *heed.Item, class string) *look {
	l := &look{attention: s, item: a, frames: headFrames, cause: s.record(a.Cause.Seq), rule: s.ruleOf(a.Rule)}
	if len(a.Members) > 0 {
		l.shown = s.record(a.Members[0].Seq)
	}
	if class == TemplateModAuthor {
		l.frames = 0
	}
	if r := l.shown; r != nil {
		l.suspects = s.Engine.Blame(&r.Entry)
		l.message, l.stack = r.Message, r.Stack
		if l.crashed() {
			if frames := managed(r.Stack); frames != "" {
				l.message, _, _ = strings.Cut(strings.TrimLeft(r.Message, "\r\n"), "\n")
				l.stack = frames
			}
		}
	}
	return l
}

// crashed reports whether the process of the game ended in native code.
func (l *look) crashed() bool { return slices.Contains(l.rule.Tags, "crash") }

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

// head returns the first fragment about an item for a class of readers: its text, time, culprit, operation and next
// step.
func (l *look) head(class string) briefing.Fragment {
	a := l.item
	f := briefing.Fragment{
		Source: briefing.SourceAttention, SourceID: revision(a), Title: state(a) + ": " + a.Title, Section: "What broke",
		Required: a.Disposition == event.Blocking, Seq: a.Cause.Seq, Refs: l.refs(),
	}
	own := func(s string) briefing.Line { return briefing.Line{Text: s} }
	facts, next := []briefing.Line{own(l.culprit()), own(l.origin())}, l.next(class)
	f.Short = slices.Concat(shortened(l.text(1, 0), shortCause), shortened(l.first(), shortestCause), facts, next[:1])
	if a.StateInvalidated {
		facts = append(facts, own("State: what is known of the game may not hold any more; read it again."))
	}
	f.Lines = slices.Concat(l.text(headLines, l.frames), []briefing.Line{own(l.since())}, l.first(), facts, next)
	return f
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
		refs["signature"] = l.engine.Group(a.Sample[0].Signature).ID.String()
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
func (l *look) text(lines, frames int) []briefing.Line {
	var out []briefing.Line
	if r := l.shown; r != nil {
		if r.Kind != event.KindLog {
			out = append(out, briefing.Line{Text: subject(&r.Entry)})
		}
		out, _ = quoted(out, l.message, lines, briefing.Prose)
		out, _ = quoted(out, l.stack, frames, briefing.Stack)
	}
	if len(out) == 0 && len(l.item.Sample) > 0 {
		out = append(out, briefing.Line{Text: l.item.Sample[0].Message, Data: true})
		if l.item.Cause.Seq > 0 {
			out = append(out, briefing.Line{Text: "heed holds no more of this entry: it is too old, or heed was restarted."})
		}
	}
	if len(out) == 0 {
		out = append(out, briefing.Line{Text: "Its entries are not held any more."})
	}
	return out
}

// first returns the first line of the cause where another entry is shown.
func (l *look) first() (lines []briefing.Line) {
	if l.cause != nil && (l.shown == nil || l.cause.Seq != l.shown.Seq) {
		lines, _ = quoted(nil, l.cause.Message, 1, briefing.Prose)
	}
	return lines
}

// where names an entry with its place: "entry 39 (line 599)".
func (l *ledger) where(seq, pos uint64) string {
	s := "entry " + strconv.FormatUint(seq, 10)
	if at := l.at(pos); at != "" {
		s += " (" + at + ")"
	}
	return s
}

// since returns the beginning of an item, and its entries since.
func (l *look) since() string {
	a := l.item
	s := "Since: " + l.where(a.Cause.Seq, a.Cause.Pos)
	if l.cause != nil && !l.cause.Time.IsZero() {
		s += ", " + l.cause.Time.UTC().Format(clock)
	}
	if a.Prelude > 0 {
		s += ", after " + text.Count(a.Prelude, "less serious entry", "less serious entries")
	}
	if a.TotalUrgentEntries > 1 {
		s += "; " + strconv.FormatUint(a.TotalUrgentEntries, 10) + " entries in "
		if !a.GroupsExact {
			s += "at least "
		}
		s += text.Count(a.Groups, "group", "groups")
		s += mostly(a.Members) + ", the latest " + l.where(a.LatestSequence, a.LatestPos)
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
	times := " (" + text.Count(most.Entries, "time", "times") + ")"
	switch {
	case most.Entries == 1:
		return ""
	case most.Rule == members[0].Rule:
		return ", mostly this" + times
	}
	return ", mostly: " + most.Title + times
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

// next returns the next steps: at least one line.
func (l *look) next(class string) []briefing.Line {
	a := l.item
	var all []string
	if l.Next != nil {
		all = l.Next(class, a)
	}
	idle := a.Disposition == event.Blocking && strings.HasPrefix(a.Advice, "Nothing")
	if l.Next == nil || len(all) == 0 && (idle || a.Advice == "") {
		all = append(all, "read "+l.where(a.Cause.Seq, a.Cause.Pos)+" and what follows it")
	}
	switch {
	case idle: // it is for a single advisory entry, and this one was escalated
	case a.Advice != "":
		all = append([]string{a.Advice}, all...)
	}
	out := make([]briefing.Line, len(all))
	for i, s := range all {
		lead := "- "
		if i == 0 {
			lead = "Next: "
		}
		out[i] = briefing.Line{Text: lead + s}
	}
	return out
}

// part returns a detail of an item, and false where there is none.
// Scale multiplies its bounds.
func (l *look) part(name string, neighbors, scale int) (briefing.Fragment, bool) {
	f := briefing.Fragment{SourceID: revision(l.item) + "#" + name, Seq: l.item.Cause.Seq, Section: sections[name]}
	switch name {
	case partCause:
		if f.Title = "The text goes on"; l.frames == 0 {
			f.Title = "Where it happened"
		}
		f.Lines = beyond(f.Lines, l.message, headLines, scale*causeLines, briefing.Prose)
		f.Lines = beyond(f.Lines, l.stack, l.frames, scale*causeFrames, briefing.Stack)
		if r := l.cause; r != nil && (l.shown == nil || r.Seq != l.shown.Seq) {
			f.Lines = append(f.Lines, briefing.Line{Text: "First: " + l.where(r.Seq, r.Pos)})
			f.Lines = beyond(f.Lines, r.Message, 0, scale*causeLines, briefing.Prose)
			f.Lines = beyond(f.Lines, r.Stack, 0, scale*causeFrames, briefing.Stack)
		}
	case partOperation:
		id := cmp.Or(l.item.CausalOperationID, l.item.AfterOperation)
		v := l.Engine.Verdict(id)
		if id == "" || !v.Known {
			return f, false
		}
		f = verdict(&v, f.SourceID)
		f.Section = sections[name]
	case partSamples:
		l.samples(&f)
	case partBefore, partAfter:
		if l.item.Cause.Seq == 0 || neighbors <= 0 {
			return f, false
		}
		l.neighbors(&f, name == partBefore, scale*neighbors)
	case partBlame:
		f.Title = "What points at mods"
		for _, s := range l.suspects[:min(len(l.suspects), maxSuspects)] {
			var why []string
			for _, e := range s.Evidence {
				why = append(why, e.Kind.Describe())
			}
			f.Lines = append(f.Lines, briefing.Line{Text: "- " + named(s.Mod) + ": " + strings.Join(why, "; ")})
		}
		if len(f.Lines) == 1 && len(l.suspects[0].Evidence) == 1 && len(l.item.Blame) == 1 {
			return f, false // the head has it
		}
	case partAdvice:
		f.Title = "Rule " + named(l.item.Rule)
		if l.rule.Why != "" {
			f.Lines = append(f.Lines, briefing.Line{Text: "Why: " + l.rule.Why})
		}
	}
	return f, len(f.Lines) > 0
}

// beyond appends the lines of s that come after the first ones, through a limit.
func beyond(dst []briefing.Line, s string, first, limit int, kind briefing.Kind) []briefing.Line {
	lines, left := quoted(nil, s, limit, kind)
	dst = append(dst, lines[min(first, len(lines)):]...)
	if left > 0 {
		dst = append(dst, briefing.Line{Text: "and " + text.Count(left, "more line", "more lines")})
	}
	return dst
}

// samples shows the other samples of an item: the cause, the most frequent of the highest severity, the latest, then
// the rarest.
func (l *look) samples(f *briefing.Fragment) {
	f.Title = "What else it holds"
	if len(l.item.Sample) < 2 {
		return
	}
	rest := slices.Clone(l.item.Sample[1:]) // the head has the first
	slices.SortStableFunc(rest, func(a, b heed.Sample) int { return cmp.Compare(a.RepeatCount, b.RepeatCount) })
	first := func(worth func(s *heed.Sample) uint64) {
		best := 0
		for i := range rest {
			if worth(&rest[i]) > worth(&rest[best]) {
				best = i
			}
		}
		s := rest[best]
		rest = slices.Insert(slices.Delete(rest, best, best+1), 0, s)
	}
	frequent := func(s *heed.Sample) uint64 { return uint64(s.Level)<<32 + min(s.RepeatCount, 1<<32-1) }
	first(func(s *heed.Sample) uint64 { return s.LatestSequence })
	first(frequent)
	first(func(s *heed.Sample) uint64 {
		if s.Signature == l.item.Cause.Signature && s.Rule == l.item.Cause.Rule {
			return frequent(s)
		}
		return 0
	})
	for i := range rest {
		l.sample(f, &rest[i])
	}
	if more := l.item.Groups - len(l.item.Sample); more > 0 {
		f.Lines = append(f.Lines, briefing.Line{Text: "and " + text.Count(more, "more group", "more groups")})
	}
}

func (l *look) sample(f *briefing.Fragment, s *heed.Sample) {
	own := "- " + s.Level.String() + ", rule " + named(s.Rule) + ", " +
		text.Count(s.RepeatCount, "time", "times") + ", the latest " + l.where(s.LatestSequence, s.LatestPos)
	if len(s.Blame) > 0 {
		own += ", points at " + named(s.Blame[0])
	}
	f.Lines = append(f.Lines, briefing.Line{Text: own + ":"},
		briefing.Line{Text: text.Safe(s.Message, maxLineChars), Data: true})
}

// neighbors are entries just before or after the cause: the n nearest that differ, each with how often it came there.
func (l *look) neighbors(f *briefing.Fragment, before bool, n int) {
	seq := l.item.Cause.Seq
	reach := uint64(min(n*alikeNeighbors, maxMatched))
	after := heed.Cursor{Seq: seq}
	f.Title = "After its cause"
	if before {
		reach = min(reach, seq-1)
		after.Seq = seq - 1 - reach
		f.Title = "Before its cause"
	}
	if reach == 0 {
		return
	}
	records := l.Engine.Read(after, int(reach), heed.Filter{}).Records
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
			f.Title += ", from " + l.where(r.Seq, r.Pos)
		}
		if r.Kind == event.KindLog {
			f.Lines, _ = quoted(f.Lines, r.Message, 1, briefing.Prose)
		} else {
			f.Lines = append(f.Lines, briefing.Line{Text: subject(&r.Entry)})
		}
		if r.times > 1 {
			f.Lines = append(f.Lines, briefing.Line{Text: "(" + text.Count(r.times-1, "more time", "more times") + ")"})
		}
	}
}

// verdict shows the outcome of an operation.
func verdict(v *heed.Verdict, id string) briefing.Fragment {
	return briefing.Fragment{
		Source: briefing.SourceAttention, SourceID: cmp.Or(id, "operation/"+escaped(v.Operation)),
		Title: "Operation " + operation(v.Method, v.Operation) + ", " + strings.ReplaceAll(v.Status.String(), "_", " "),
		Lines: []briefing.Line{{Text: "Verdict: " + v.Outcome + ". " + v.Text}},
		Refs:  map[string]string{"operation": v.Operation, "method": v.Method},
	}
}
