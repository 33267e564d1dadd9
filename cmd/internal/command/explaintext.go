package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
)

// The widths of texts in an explanation, in characters: enough to recognize a
// line by, while the capture itself has the rest.
const (
	widthText   = 400
	widthMasked = 120
	widthClause = 200
	maxMasked   = 12 // masked parts
)

// notKnown stands for a value that the log does not show.
const notKnown = "not known"

// lines writes the explanation for a person.
func (e *explanation) lines(p *prose) {
	name := "this text"
	if e.Record.File != "" {
		name = safe(e.Record.File, 0) + ":" + lineRange(e.Record.StartLine, e.Record.EndLine)
	}
	p.line("%s: %s, by %s", name, className(&e.Decision), decidedBy(&e.Decision))
	e.record(p)
	e.signature(p)
	e.rules(p)
	p.line("\nDECISION")
	e.decision(p)
	if e.Without != nil {
		p.line("\nWITHOUT that rule")
		p.field("decision", "%s, by %s", className(e.Without), decidedBy(e.Without))
		p.known("summary", safe(e.Without.Summary, 0))
	}
}

func (e *explanation) record(p *prose) {
	r := &e.Record
	p.line("\nRECORD")
	if r.File != "" {
		p.field("lines", "%s, layout %s", lineRange(r.StartLine, r.EndLine), r.Layout)
		p.field("end", "by %s", r.Ends)
	}
	head, rest, _ := strings.Cut(r.Message, "\n")
	if head != "" || r.Status == "" {
		p.field("text", "%s", safe(head, widthText))
	}
	if rest != "" {
		p.field("", "… and %s", text.Count(strings.Count(rest, "\n")+1, "more line"))
	}
	if stack := strings.TrimSpace(r.Stack); stack != "" {
		p.field("stack", "%s", text.Count(strings.Count(stack, "\n")+1, "line"))
	}
	if r.Cut > 0 {
		p.field("cut", "%s of its text", text.Count(int(r.Cut), "byte"))
	}
	switch {
	case r.Status == event.StatusHole.String():
		p.field("kind", "%s, %s: %s missing", r.Kind, r.Status, text.Count(int(r.Count), "byte"))
	case r.Status != "":
		p.field("kind", "%s, %s", r.Kind, r.Status)
	case r.LevelBy == "" || r.LevelBy == "none":
		p.field("level", "%s", r.Level)
	default:
		p.field("level", "%s, by %s", r.Level, r.LevelBy)
	}
	p.known("operation", safe(r.Operation, widthText))
	p.known("source", safe(r.Source, widthText))
	p.known("blame", safe(strings.Join(blame.Likely(r.Blame), ", "), widthText))
	p.field("phase", "%s", cmp.Or(safe(e.Phase, widthText), notKnown))
	if e.Blind != nil {
		p.field("blind", "yes, since line %d, by rule %s: a part of the log is missing here", e.Blind.Since, e.Blind.Rule)
	}
}

func (e *explanation) signature(p *prose) {
	s := &e.Signature
	p.line("\nSIGNATURE %s (check %s)", s.ID, s.Check)
	p.field("template", "%s", safe(s.Template, 0))
	name := "frames"
	for _, f := range s.Frames {
		p.field(name, "%s", safe(f, widthText))
		name = ""
	}
	name = "masked"
	for _, m := range s.Masked[:min(len(s.Masked), maxMasked)] {
		p.field(name, "%-8s  %s", m.Mask, quoted(m.Text, widthMasked))
		name = ""
	}
	if more := len(s.Masked) - maxMasked; more > 0 {
		p.field("", "… and %d more", more)
	}
}

// quoted returns text of a log in quotes that its own cannot be taken for.
func quoted(s string, width int) string {
	open, end := "“", "”"
	return open + strings.NewReplacer(open, `"`, end, `"`).Replace(safe(s, width)) + end
}

func (e *explanation) rules(p *prose) {
	p.line("\nRULES tried in order: %d of %d", e.Tried, e.Total)
	for i := range e.Trials {
		trialLines(p, &e.Trials[i])
	}
	if e.Omitted > 0 {
		p.line("  %s tried: none came close (--all shows them)", text.Count(e.Omitted, "other rule"))
	}
	if e.Without == nil {
		p.line("  no rule matched: the default for this kind of entry decides")
	}
}

func trialLines(p *prose, r *rules.Trial) {
	verdict := "no"
	switch {
	case r.Matched && len(r.AddsTags) > 0:
		verdict = "adds"
	case r.Matched:
		verdict = "MATCHES"
	}
	p.hang(fmt.Sprintf("  %-8s", verdict), "%s  (%s)", r.ID, places(r.Place, r.Overrides))
	for i := range r.Clauses {
		word := "fails"
		if r.Clauses[i].Holds {
			word = "holds"
		}
		clauseLine(p, word, &r.Clauses[i])
	}
	if r.Exception != nil {
		clauseLine(p, "but", r.Exception)
	}
	if r.Omitted > 0 {
		p.line("            … and %s", text.Count(r.Omitted, "more clause"))
	}
}

// clauseLine writes a clause, and the values and words by which it holds or fails.
func clauseLine(p *prose, word string, c *rules.Clause) {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.Reads)) {
		parts = append(parts, name+" is "+cmp.Or(safe(c.Reads[name], widthMasked), notKnown))
	}
	for _, word := range c.Words {
		parts = append(parts, "by "+quoted(word, widthMasked))
	}
	if c.Error != "" {
		parts = append(parts, "cannot be evaluated: "+safe(c.Error, widthClause))
	}
	reason := ""
	if len(parts) > 0 {
		reason = "  — " + strings.Join(parts, ", ")
	}
	p.hang(fmt.Sprintf("            %-7s", word), "%s%s", safe(c.Text, widthClause), reason)
}

func className(d *rules.Details) string {
	s := d.Disposition.String()
	if d.Disposition == event.Blocking {
		s = "BLOCKING"
	}
	return s + " " + d.Severity.String()
}

func decidedBy(d *rules.Details) string {
	switch {
	case d.Place == "":
		return "the default " + d.Rule
	case d.Escalated:
		return "rule " + d.Rule + ", escalated by repetition"
	}
	return "rule " + d.Rule
}

// places returns the place of a rule, and the place of the overridden rule.
func places(own, over string) string {
	if over == "" {
		return safe(own, 0)
	}
	return safe(own, 0) + ", which overrides " + safe(over, 0)
}

func (e *explanation) decision(p *prose) {
	d := &e.Decision
	p.field("class", "%s", className(d))
	if d.Place != "" {
		p.field("rule", "%s (%s)", d.Rule, places(d.Place, d.Overrides))
	} else {
		p.field("default", "%s", d.Rule)
	}
	if by := d.Escalates; by != nil {
		name := "escalates"
		if d.Escalated {
			name = "escalated"
		}
		p.field(name, "to %s if the rule decides %d entries within %s (without times, %d entries); fewer are %s", by.To,
			by.After, time.Duration(by.Seconds*float64(time.Second)), by.Entries, cmp.Or(e.alone, className(d)))
	}
	p.known("summary", safe(d.Summary, 0))
	p.known("why", safe(d.Why, 0))
	p.known("do", safe(d.Advice, 0))
	if d.Invalidates && d.Disposition != event.Ignore { // an override to ignore keeps the flag, which then means nothing
		p.field("state", "the game's state may have changed")
	}
	if d.SetsPhase != "" {
		p.field("effect", "the phase is %s from the next record on", d.SetsPhase)
	}
	if d.Blinds {
		p.field("effect", "the log is blind from here on (a part of it is missing), until a rule resolves %s", d.Rule)
	}
	if len(d.Resolves) > 0 {
		p.field("effect", "ends what these rules reported: %s", strings.Join(d.Resolves, ", "))
	}
	p.known("tags", strings.Join(d.Tags, ", "))
}
