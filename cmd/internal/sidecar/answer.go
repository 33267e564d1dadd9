package sidecar

import (
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/journal"
)

// answer answers a query.
func (s *server) answer(q *query) {
	var err error
	body := func(*coder) {}
	switch q.kind {
	case queryCurrent:
		a, open := s.engine.Current(q.consumer)
		body = func(c *coder) { c.perhaps(open, &a) }
	case queryVerdict:
		v := s.engine.Verdict(q.id)
		body = func(c *coder) { c.verdict(&v) }
	case queryRead:
		var p heed.Page
		p, err = s.read(q)
		body = func(c *coder) { c.page(&p) }
	case queryAck:
		r := s.engine.Ack(q.consumer, q.id, q.through)
		body = func(c *coder) {
			c.Bool("acknowledged", &r.Acknowledged)
			c.Bool("already", &r.Already)
			c.name("successor", &r.Successor)
			c.names("covered", &r.Covered, maxName)
			c.perhaps(r.Open, &r.Current)
		}
	case queryAttach:
		id := s.engine.Attach(q.consumer, time.Now())
		body = func(c *coder) { c.name("item", &id) }
	case queryDetach:
		s.engine.Detach(q.consumer)
	case queryDelivered:
		known := s.engine.Delivered(q.consumer, q.id, q.through)
		body = func(c *coder) { c.Bool("known", &known) }
	case queryClear:
		cleared := s.engine.Clear(q.id)
		body = func(c *coder) { c.Bool("cleared", &cleared) }
	case queryStats:
		body = s.stats()
	case queryExplain:
		body = s.explain(q.id)
	case queryOpen:
		items := s.engine.Open(nil)
		body = func(c *coder) { list(c, "items", &items, maxName, c.item) }
	case querySnapshot:
		s.w.saveSoon()
	}
	a := answer{number: q.number, kind: q.kind}
	if err != nil {
		a.err = err.Error()
	}
	s.w.put(typeAnswer, func(c *coder) {
		if a.code(c); err == nil {
			body(c)
		}
	})
}

// perhaps codes an item that may not be there.
func (c *coder) perhaps(there bool, a *heed.Item) {
	if c.Bool("open", &there); there {
		c.item(a)
	}
}

// read returns a page of the journal.
func (s *server) read(q *query) (heed.Page, error) {
	if q.cursor.Epoch == "" {
		q.cursor.Epoch = s.engine.Latest().Epoch
	}
	p := s.engine.Read(q.cursor, int(q.limit), journal.Filter{MinDisposition: q.least, Operation: q.id})
	return p, p.Err
}

// stats describes the accounting.
func (s *server) stats() func(c *coder) {
	st := s.engine.Stats()
	flag := map[bool]uint64{true: 1}
	figures := []figure{
		{"lines", s.lines.Load()},
		{"latestLine", s.latest.Load()},
		{"received", st.Received},
		{"ignored", st.Ignored},
		{"folded", st.Folded},
		{"open", uint64(st.Coalesce.Open)},
		{"opened", st.Coalesce.Opened},
		{"acknowledged", st.Coalesce.Acknowledged},
		{"busy", flag[st.Busy]},
		{"blind", flag[st.Blind]},
		{"dropped", s.dropped},
		{"cutTexts", s.cutTexts},
		{"cutBytes", s.cutBytes},
		{"badFrames", s.badFrames},
		{"unknownFrames", s.unknownFrames},
	}
	texts := []named{{"phase", st.Phase}, {"blindRule", st.BlindRule}}
	return func(c *coder) {
		c.figures(&figures)
		c.texts(&texts)
	}
}

// explain describes why an item is there.
func (s *server) explain(id string) func(c *coder) {
	a, known := s.engine.Item(id)
	var texts []named
	add := func(name, text string) {
		if text != "" {
			texts = append(texts, named{name, text})
		}
	}
	if known {
		add("summary", a.Summary)
		add("rule", a.Cause.Rule)
		if r := s.rules.Rule(a.Cause.Rule); r != nil {
			add("meaning", r.Summary)
			add("why", r.Why)
			add("advice", r.Advice)
		}
		if template, ok := s.engine.Template(a.Cause.Signature); ok {
			add("template", template)
		}
		for _, mod := range a.Blame {
			add("blame", mod)
		}
	}
	return func(c *coder) {
		c.Bool("known", &known)
		c.texts(&texts)
	}
}
