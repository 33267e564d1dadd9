package classify

import "github.com/heedlog/heed/event"

// latest is the result of the entry that came last, and, where it is valid, that
// entry: another one like it gets the same result. A storm of one line is mostly
// without anything in between; this takes 10 ns of it where the front and a
// decision take 40.
//
// Nothing that a result depends on can have changed since that entry: phase,
// blindness, groups and tables change with entries alone, and those that change
// one are not kept. What it stands for was used last in both tables and stays so.
// It is kept when the front has found a text twice in a row, so that lines that
// take turns do not pay for it.
type latest struct {
	valid  bool
	level  event.Level
	status event.Status
	source string // of the table of sources
	place  int32  // of the text in the front, which keeps it at least until another text comes
	result Result // set whether valid or not
}

// keep takes note of an entry, which the front has found at place and whose result
// depends on nothing but its text, level, status, source and the phase.
func (l *latest) keep(e *event.Entry, source string, place int32) {
	if e.Kind != event.KindLog {
		return
	}
	if rule := l.result.Rule; rule != nil && (rule.SetsPhase != "" || rule.Blinds || len(rule.Resolves) > 0) {
		return
	}
	l.valid, l.level, l.status, l.source, l.place = true, e.Level, e.Status, source, place
}

// is reports whether e is like the entry that was kept.
func (l *latest) is(e *event.Entry, f *front) bool {
	return e.Kind == event.KindLog && e.Level == l.level && e.Status == l.status &&
		f.holds(&f.texts[l.place], e.Message, e.Stack) && e.Source == l.source
}
