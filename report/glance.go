package report

import (
	"bytes"
	"slices"
)

// glance answers what matters, in a line or two each: what broke first, which mod
// it points at, and whether the log told everything. It comes first, and again at
// the end of a text that has scrolled it out of sight.
func (t *textReport) glance(v *Verdict) {
	all := func(label string, sentences []string, in style) {
		for _, s := range sentences {
			t.labeledIn(label, s, in)
			label = ""
		}
	}
	if v.First != nil {
		t.labeledIn("first", v.First.place(), strong)
		t.quote(v.First)
		if v.Worst != nil {
			t.labeledIn("worst", v.Worst.place(), strong)
			t.quote(v.Worst)
			if v.Before != nil {
				t.labeledIn("", "Shortly before: "+v.Before.place(), plain)
			}
		}
		in := plain
		if slices.ContainsFunc(v.Mods, func(m VerdictMod) bool { return m.By == byFirst }) {
			in = name
		}
		says := v.modSentences(func(name string) string { return name })
		t.labeledIn("mod", says[0], in)
		all("", says[1:], plain)
	}
	switch {
	case t.blind.now || t.unread != "":
		all("log", v.Log, alarm)
	case t.doubts() != nil:
		all("log", v.Log, notice)
	case t.ending.fatal, t.starting():
		all("log", v.Log, plain)
	default:
		all("log", v.Log, calm)
	}
}

// quoteLines is how many lines of text the words of the log may take: loggers write so
// much before them that one may hold nothing else.
const quoteLines = 2

// quote shows a cause in the words of the log: what a rule says of it is true of others
// as well.
func (t *textReport) quote(c *VerdictCause) {
	if c.Says == "" {
		return
	}
	const mark = "> "
	indent := t.label("") + len(mark)
	says := c.Says
	if t.options.Width > 0 {
		says = fit(says, quoteLines*(t.options.Width-indent-quoteSlack))
	}
	t.printf(mark)
	t.wrapped(says, indent, faint)
}

// quoteSlack is how many columns of a line of a quote may stay free, since it ends with a
// word.
const quoteSlack = 6

// stateStyles are the colors of states.
var stateStyles = map[State]style{
	StateBroken: alarm, StateBlind: alarm, StateWasBlind: notice, StateComplaints: notice, StateUnread: notice, StateGaps: notice,
	StateStarting: notice, StateUnrecognized: notice, StateHealthy: calm,
}

// again repeats the glance where it has scrolled out of sight.
func (t *textReport) again(v *Verdict, start int) {
	if t.options.Rows == 0 || bytes.Count(t.out[start:], []byte("\n")) < t.options.Rows {
		return
	}
	t.section(strong, "AT A GLANCE: %s", v.Headline)
	t.glance(v)
}
