package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
)

// The widths of texts in an explanation, in characters: enough to recognize a
// line by, while the capture itself has the rest.
const (
	widthText   = 400
	widthMasked = 120
	widthClause = 200
	maxBody     = 3  // lines of a record after its first
	maxMasked   = 12 // masked parts
	maxInner    = 3  // clauses of a macro
)

// notKnown stands for a value that the log does not show.
const notKnown = "not known"

// lines writes the explanation for a person.
func (e *explanation) lines(p *prose) {
	what := "this text"
	if e.Record.File != "" {
		what = safe(e.Record.File, 0) + ":" + lineRange(e.Record.StartLine, e.Record.EndLine)
	}
	p.line("%s: %s, by %s", what, className(&e.Decision), decidedBy(&e.Decision))
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
		if words := endWords[r.Ends]; words != "" {
			p.field("extent", "%s (%s)", words, r.Ends)
		}
	}
	head, rest, _ := strings.Cut(r.Message, "\n")
	if head != "" || r.Status == "" {
		p.field("text", "%s", safe(head, widthText))
	}
	if rest != "" {
		body := strings.Split(rest, "\n")
		for _, line := range body[:min(len(body), maxBody)] {
			p.field("", "%s", safe(line, widthText))
		}
		if n := len(body) - maxBody; n > 0 {
			p.field("", "… and %s", text.Count(n, "more line"))
		}
	}
	if n := strings.Count(strings.TrimSpace(r.Stack), "\n") + 1; strings.TrimSpace(r.Stack) != "" {
		p.field("stack", "%s", text.Count(n, "line"))
	}
	if r.Reference != "" {
		p.field("reference", "[Ref %s]", r.Reference)
	}
	if r.Cut > 0 {
		p.field("cut", "%s of its text", text.Count(int(r.Cut), "byte"))
	}
	switch {
	case r.Status != "":
		p.field("kind", "%s, %s", r.Kind, r.Status)
		if r.Kind == event.KindOperation.String() {
			p.field("method", "%s", cmp.Or(safe(r.Source, widthText), notKnown))
		}
		if r.Status == event.StatusHole.String() && r.Count > 0 {
			p.field("missing", "%s", text.Count(int(r.Count), "byte"))
		}
	case levelWords[r.LevelBy] == "":
		p.field("level", "%s", r.Level)
	default:
		p.field("level", "%s: %s (%s)", r.Level, levelWords[r.LevelBy], r.LevelBy)
	}
	p.known("operation", safe(r.Operation, widthText))
	if r.Kind == event.KindLog.String() && r.Source != "" {
		p.field("source", "%s", safe(r.Source, widthText))
	}
	p.known("blame", safe(strings.Join(r.named, ", "), widthText))
	p.field("phase", "%s", cmp.Or(safe(e.Phase, widthText), notKnown))
	if e.Blind != nil {
		p.field("blind", "yes, since line %d, by rule %s: a part of the log is missing here", e.Blind.Since, e.Blind.Rule)
	}
}

func (e *explanation) signature(p *prose) {
	s := &e.Signature
	p.line("\nSIGNATURE %s (check %s)", s.ID, s.Check)
	p.field("template", "%s", safe(s.Template, 0))
	for i, f := range s.Frames {
		p.field(atFirst(i, "frames"), "%s", safe(f, widthText))
	}
	if len(s.Masked) == 0 {
		p.field("masked", "nothing")
	}
	width := 0
	for _, m := range s.Masked {
		width = max(width, len(m.Mask))
	}
	for i, m := range s.Masked {
		if i == maxMasked && len(s.Masked) > maxMasked+1 {
			p.field("", "… and %d more", len(s.Masked)-i)
			break
		}
		lead := fmt.Sprintf("  %-10s%-*s  ", atFirst(i, "masked"), width, m.Mask)
		p.hang(lead, "%s: %s", maskWords[m.Mask], quoted(m.Text, widthMasked))
	}
}

// atFirst returns the name of a list at its first item, and "" at the others.
func atFirst(i int, name string) string {
	if i > 0 {
		return ""
	}
	return name
}

// quoted returns text of a log in quotes that its own cannot be taken for.
func quoted(s string, width int) string {
	if s == "" {
		return "empty text"
	}
	open, end := "“", "”"
	return open + strings.NewReplacer(open, `"`, end, `"`).Replace(safe(s, width)) + end
}

func (e *explanation) rules(p *prose) {
	p.line("\nRULES tried in order: %d of %d", e.Tried, e.Total)
	for i := range e.Trials {
		trialLines(p, &e.Trials[i])
	}
	if e.Omitted > 0 {
		among := " between these"
		if len(e.Trials) == 0 {
			among = ""
		}
		p.line("  %s tried%s: none came close (--all shows them)",
			text.Count(e.Omitted, "other rule"), among)
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
		c := &r.Clauses[i]
		word := "fails"
		switch {
		case c.Holds:
			word = "holds"
		case !c.Decisive:
			word = "fails too"
		}
		p.hang(fmt.Sprintf("            %-9s  ", word), "%s%s", safe(c.Text, widthClause), reason(c))
		for j, m := range c.Parts {
			if j == maxInner && len(c.Parts) > maxInner+1 {
				p.line("                         … and %d more", len(c.Parts)-j)
				break
			}
			p.line("                         %t: %s%s", m.Holds, safe(m.Text, widthClause), reason(&m))
		}
	}
	if r.Exception != nil {
		p.hang("            but        ", "%s%s", safe(r.Exception.Text, widthClause), reason(r.Exception))
	}
	if r.Omitted > 0 {
		p.line("            … and %s", text.Count(r.Omitted, "more clause"))
	}
	if r.Alternatives > 0 {
		p.line("            … and %s, not close", text.Count(r.Alternatives, "other alternative"))
	}
}

// reason returns what a clause was evaluated on.
func reason(c *rules.Clause) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.Reads)) {
		if v := c.Reads[name]; v != "" {
			parts = append(parts, name+" is "+safe(v, widthMasked))
		} else {
			parts = append(parts, name+" is "+notKnown)
		}
	}
	if c.Item != "" {
		parts = append(parts, "by "+quoted(c.Item, widthMasked))
	}
	if c.Error != "" {
		parts = append(parts, "cannot be evaluated: "+safe(c.Error, widthClause))
	}
	if len(parts) == 0 {
		return ""
	}
	return "  — " + strings.Join(parts, ", ")
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

// window returns the window of an escalation in words.
func window(e *rules.Escalates) string {
	return fmt.Sprintf("%s (or %s, if the log has no times)", time.Duration(e.Seconds*float64(time.Second)),
		text.Count(e.Entries, "entry", "entries"))
}

// ordinal returns "1st", "2nd" and so on.
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n) + suffix
}

func (e *explanation) decision(p *prose) {
	d := &e.Decision
	p.field("class", "%s", className(d))
	if d.Place != "" {
		p.field("rule", "%s (%s)", d.Rule, places(d.Place, d.Overrides))
	} else {
		p.field("default", "%s", d.Rule)
	}
	if by := d.Escalates; d.Escalated {
		p.field("escalated", "the %s or a later one within %s; fewer are %s", ordinal(by.After), window(by), e.alone)
	} else if by != nil {
		p.field("escalates", "to %s, from the %s within %s", by.To, ordinal(by.After), window(by))
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
