package command

import (
	"strings"

	"github.com/heedlog/heed/report"
)

// takenOut stands for masked text that holds a part of what is private.
const takenOut = "(taken out)"

// scrub takes out of e what is private. Ids and decisions stay those of the text as it
// was logged. masking is the text that the masked parts are of: a part may be half of
// a name in a path, which has no form of its own, so that only what the scrubbed
// text still has is shown.
func (e *explanation) scrub(s *report.Scrubber, masking string) {
	if s == nil {
		return
	}
	r, sig := &e.Record, &e.Signature
	for _, text := range []*string{&r.File, &r.Source, &r.Operation, &r.Message, &r.Stack, &sig.Template} {
		*text = s.Text(*text)
	}
	for i, f := range sig.Frames {
		sig.Frames[i] = s.Text(f)
	}
	left := s.Text(masking)
	for i := range sig.Masked {
		m := &sig.Masked[i]
		if m.Text = s.Text(m.Text); !strings.Contains(left, m.Text) {
			m.Text = takenOut
		}
	}
	r.Blame = s.Suspects(r.Blame)
	for i, name := range r.named {
		r.named[i] = s.Text(name)
	}
	for i := range e.Rules {
		rule := &e.Rules[i]
		rule.Place, rule.Over = s.Text(rule.Place), s.Text(rule.Over)
		scrubClauses(s, rule.Clauses)
		if rule.Except != nil {
			except := []explainedClause{*rule.Except}
			scrubClauses(s, except)
			rule.Except = &except[0]
		}
	}
	for _, d := range []*decision{&e.Decision, e.Without} {
		if d != nil {
			d.Place, d.Over = s.Text(d.Place), s.Text(d.Over)
		}
	}
}

func scrubClauses(s *report.Scrubber, clauses []explainedClause) {
	for i := range clauses {
		c := &clauses[i]
		c.Place, c.Item, c.Error = s.Text(c.Place), s.Text(c.Item), s.Text(c.Error)
		for name, value := range c.Reads {
			c.Reads[name] = s.Text(value)
		}
		scrubClauses(s, c.Macro)
	}
}
