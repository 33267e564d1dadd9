package report

import (
	"slices"
	"strconv"
)

type excerptView struct {
	Lines []excerptLine

	// What it shows: a place that the first screen names, or what a rule came upon first.
	named, cause bool
}

type excerptLine struct {
	Number      uint64 // 0 for a line whose number is not known
	ID          string
	Text        string
	Disposition string
	Rule        string
	Marked      bool
	Head        bool
}

func (s *section) excerpts() {
	budget := excerptAll / s.logs
	var ex *excerptView
	var all []*excerptView
	seen := map[uint64]bool{}
	last := uint64(0)
	named := map[uint64]bool{}
	for _, at := range []*place{s.First.At, s.Verdict.At, s.Verdict.Since, s.Verdict.Blind, s.Speaking.At} {
		if at != nil {
			named[at.Line] = true
		}
	}
	for _, r := range s.doc.page.excerpts {
		if ex == nil || r.seq != last+1 {
			ex = &excerptView{}
			all = append(all, ex)
		}
		last = r.seq
		ex.named, ex.cause = ex.named || named[r.first], ex.cause || r.cause
		exact := uint64(len(r.lines)+r.more) == r.last-r.first+1
		for j, text := range r.lines {
			l := excerptLine{Text: text, Marked: r.marked, Head: j == 0, Disposition: r.disposition.String()}
			if j == 0 {
				l.Rule = r.rule
			}
			if j == 0 || exact {
				l.Number = r.first + uint64(j)
			}
			if j == 0 && !seen[l.Number] {
				seen[l.Number] = true
				l.ID = s.prefix + strconv.FormatUint(l.Number, 10)
			}
			ex.Lines = append(ex.Lines, l)
		}
		if r.more > 0 {
			ex.Lines = append(ex.Lines, excerptLine{Text: "… " + many(uint64(r.more), "more line", "more lines"), Disposition: r.disposition.String(), Marked: r.marked})
		}
	}
	s.Excerpts = all
	for bytes := s.doc.page.excerptBytes; bytes > budget; bytes /= 2 {
		s.halveExcerpts()
	}
}

// halveExcerpts leaves out half of the excerpts: those of groups before those of
// causes, late ones before early ones, and what the first screen names last.
func (s *section) halveExcerpts() {
	n := len(s.Excerpts) / 2
	keep := map[*excerptView]bool{}
	for _, wanted := range [...]func(*excerptView) bool{
		func(e *excerptView) bool { return e.named },
		func(e *excerptView) bool { return e.cause },
		func(*excerptView) bool { return true },
	} {
		for _, e := range s.Excerpts {
			if wanted(e) && len(keep) < n {
				keep[e] = true
			}
		}
	}
	s.LeftOut += uint64(len(s.Excerpts) - n)
	s.Excerpts = slices.DeleteFunc(s.Excerpts, func(e *excerptView) bool { return !keep[e] })
}
