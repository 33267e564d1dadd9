package command

import (
	"strings"

	"github.com/heedlog/heed/report"
	"github.com/heedlog/heed/rules"
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
	for i := range e.Trials {
		t := &e.Trials[i]
		t.Place, t.Overrides = s.Text(t.Place), s.Text(t.Overrides)
		scrubClauses(s, t.Clauses)
		if t.Exception != nil {
			scrubClause(s, t.Exception)
		}
	}
	for _, d := range []*rules.Details{&e.Decision, e.Without} {
		if d != nil {
			d.Place, d.Overrides = s.Text(d.Place), s.Text(d.Overrides)
		}
	}
}

func scrubClauses(s *report.Scrubber, clauses []rules.Clause) {
	for i := range clauses {
		scrubClause(s, &clauses[i])
	}
}

func scrubClause(s *report.Scrubber, c *rules.Clause) {
	c.Place, c.Item, c.Error = s.Text(c.Place), s.Text(c.Item), s.Text(c.Error)
	for name, value := range c.Reads {
		c.Reads[name] = s.Text(value)
	}
	scrubClauses(s, c.Parts)
}
