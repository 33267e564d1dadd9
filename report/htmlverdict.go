package report

import (
	"fmt"
	"strings"
	"time"
)

// verdictView is the answer to: is this game healthy?
type verdictView struct {
	Class string // of style
	Title string
	Since *place
	Blind *place // since when the log was blind too, at its end
	What  string
	At    *place // of What

	Before   string // what came shortly before that
	BeforeAt *place
}

// factView is one of the facts on the first screen.
type factView struct {
	Class  string
	Answer string
	Says   string // its text in the log
	At     *place
	More   []moreView
}

type moreView struct {
	Text string
	At   *place
}

// facts fills in the first screen.
func (s *section) facts() {
	v := s.doc.Summary.Verdict
	s.Verdict = verdictView{Class: stateClasses[v.State], Title: v.title, What: v.What}
	s.Copy = s.doc.markdownVerdict()
	if v.Since > 0 {
		s.Verdict.Since = s.at(v.Since, time.Time{})
	}
	if v.Blind > 0 {
		s.Verdict.Blind = s.at(v.Blind, time.Time{})
	}
	s.logFact(v)
	if v.First == nil {
		s.First = factView{Class: s.Verdict.Class, Answer: "No problem was found."}
		s.Mod = factView{Class: s.Verdict.Class, Answer: v.modAnswer(literally)}
		return
	}
	first := v.First.cause
	if v.State == stateBroken {
		s.Verdict.Since = s.causeAt(first)
	}
	f := &s.First
	f.Class, f.Answer, f.Says, f.At = first.Disposition.String(), v.First.What, v.First.Says, s.causeAt(first)
	f.More = append(f.More, moreView{Text: first.howOften() + first.ended()})
	if first.Invalidates {
		f.More = append(f.More, moreView{Text: "The game’s state may have changed."})
	}
	if v.Worst != nil {
		s.Verdict.What, s.Verdict.At = "Worst: "+strings.TrimSuffix(v.Worst.What, "."), s.causeAt(v.Worst.cause)
	}
	if v.Before != nil {
		s.Verdict.Before, s.Verdict.BeforeAt = strings.TrimSuffix(v.Before.What, "."), s.at(v.Before.Line, time.Time{})
	}
	s.mods(v)
}

var stateClasses = map[string]string{
	stateBroken: "blocking", stateBlind: "blind", stateWasBlind: "blind", stateComplaints: "advisory",
	stateUnread: "none", stateGaps: "blind",
	stateStarting: "none", stateUnrecognized: "none", stateHealthy: "healthy", stateEmpty: "none",
}

func literally(name string) string { return name }

// mods answers which mod it was: that of what broke first, that of the worst, and
// others that are named.
func (s *section) mods(v *Verdict) {
	f := &s.Mod
	f.Class, f.Answer = "none", v.modAnswer(literally)
	if len(v.by(byFirst)) > 0 {
		f.Class = v.First.Disposition.String()
	}
	if reason := v.modReason(literally); reason != "" {
		f.More = append(f.More, moreView{Text: reason})
	}
	if worst := v.modOfWorst(literally); worst != "" {
		f.More = append(f.More, moreView{Text: worst})
	}
	elsewhere := namedElsewhere
	for _, m := range v.by(byOther) {
		f.More = append(f.More, moreView{Text: elsewhere + m.named(literally), At: s.at(m.Line, time.Time{})})
		elsewhere = ""
	}
	if v.MoreMods > 0 {
		f.More = append(f.More, moreView{Text: v.moreMods()})
	}
}

// logFact answers whether the log is complete.
func (s *section) logFact(v *Verdict) {
	f, e := &s.Log, &s.doc.evidence
	f.Answer = v.Log[0]
	for _, says := range v.Log[1:] {
		f.More = append(f.More, moreView{Text: says})
	}
	switch {
	case s.doc.Summary.Interrupted, v.State == stateEmpty:
		f.Class = "none"
	case s.doc.Summary.Error != "":
		f.Class = "blind"
	case s.doc.Summary.Blind.AtEnd:
		f.Class, f.At = "blind", s.at(e.blindAt, time.Time{})
	case e.blindAt > 0:
		f.Class, f.At = "gaps", s.at(e.blindAt, time.Time{})
	case e.doubts != nil:
		f.Class = "gaps"
	case e.fatalAt > 0:
		f.Class, f.At = "none", s.at(e.fatalAt, time.Time{})
	case e.starting:
		f.Class = "none"
	default:
		f.Class = "healthy"
	}
}

// ended returns until when a cause went on.
func (c *Cause) ended() string {
	if c.Open > 0 && c.Last > c.First {
		return fmt.Sprintf(", up to line %d; %s", c.Last, c.fate)
	}
	return "; " + c.fate
}
