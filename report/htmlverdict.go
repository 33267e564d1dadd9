package report

import "time"

// verdictView is the answer to: is this game healthy?
type verdictView struct {
	Class string // of style
	Title string
	Says  string // how the line of Since is told
	Since *place
	Blind *place // since when the log was blind too, at its end
	What  string // "" where it is that of a cause
	Count string

	Causes []verdictCauseView
	Others []moreView // mods that no cause names
}

// verdictCauseView is one of the problems on the first screen.
type verdictCauseView struct {
	Class  string
	Label  string
	What   string
	Times  string // "" for once
	Also   string // what else it is than its label
	Says   string // its text in the log
	At, To *place // To is nil for once
	Mod    string
	Links  []string // of pages of mods, made of their numbers
	Advice string

	History string
}

// factView is whether the log is complete.
type factView struct {
	Class  string
	Answer string
	At     *place
	More   []string
}

type moreView struct {
	Text string
	At   *place // nil for what is left out
}

// facts fills in the first screen.
func (s *section) facts() {
	v := s.doc.Summary.Verdict
	f := &s.Verdict
	*f = verdictView{
		Class: stateClasses[v.State], Title: v.title + v.because, Says: v.since(), What: v.What, Count: v.counts,
	}
	s.Copy = s.doc.markdownVerdict()
	if v.Since > 0 {
		f.Since = s.at(v.Since, time.Time{})
	}
	if v.Blind > 0 {
		f.Blind = s.at(v.Blind, time.Time{})
	}
	s.logFact(v)
	for i := range v.Causes {
		c := &v.Causes[i]
		if c.What == f.What {
			f.What = ""
		}
		view := verdictCauseView{
			Class: c.Disposition.String(), Label: v.heading(c), What: c.What, Says: c.Says, At: s.at(c.Line, c.time),
			Mod: c.mod(literally), Links: c.links(), Advice: c.Advice,
			History: c.History,
		}
		if c.Times > 1 {
			view.Times, view.To = times(c.Times), s.at(c.Last, time.Time{})
		}
		view.Also = v.also(c)
		if c.Line == v.Since {
			f.Since = view.At
		}
		f.Causes = append(f.Causes, view)
	}
	for i := range v.Mods {
		m := &v.Mods[i]
		f.Others = append(f.Others, moreView{m.named(literally), s.at(m.Line, time.Time{})})
	}
	if v.MoreMods > 0 {
		f.Others = append(f.Others, moreView{Text: v.moreMods()})
	}
}

var stateClasses = map[string]string{
	stateCrashed: "blocking", stateHung: "blocking", stateBroken: "blocking", stateWrong: "advisory", stateBlind: "blind",
	stateComplaints: "advisory", stateUnknown: "none", stateHealthy: "healthy",
}

func literally(name string) string { return name }

// logFact answers whether the log is complete.
func (s *section) logFact(v *Verdict) {
	f, e := &s.Log, &s.doc.evidence
	f.Answer, f.More = v.Log[0], v.Log[1:]
	switch {
	case s.doc.Summary.Interrupted, e.silence != "":
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
