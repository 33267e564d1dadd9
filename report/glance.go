package report

import (
	"bytes"
	"slices"
)

// glance answers what matters, in a line or two each: what broke first, which mod
// it points at, and whether the log told everything. It comes first, and again at
// the end of a text that has scrolled it out of sight.
func (t *text) glance(v *Verdict) {
	all := func(label string, sentences []string, in style) {
		for _, s := range sentences {
			t.labeledIn(label, s, in)
			label = ""
		}
	}
	if v.First != nil {
		t.labeledIn("first", v.First.place(), strong)
		if v.Worst != nil {
			t.labeledIn("worst", v.Worst.place(), strong)
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
	case t.ending.fatal:
		all("log", v.Log, plain)
	default:
		all("log", v.Log, calm)
	}
}

// stateStyles are the colors of states.
var stateStyles = map[State]style{
	StateBroken: alarm, StateBlind: alarm, StateWasBlind: notice, StateComplaints: notice, StateUnread: notice, StateGaps: notice,
	StateHealthy: calm,
}

// again repeats the glance where it has scrolled out of sight.
func (t *text) again(v *Verdict, start int) {
	if t.options.Rows == 0 || bytes.Count(t.out[start:], []byte("\n")) < t.options.Rows {
		return
	}
	t.section(strong, "AT A GLANCE: %s", v.Headline)
	t.glance(v)
}
