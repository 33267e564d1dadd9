package sidecar

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/journal"
)

// answer answers a query.
func (s *server) answer(q *query) error {
	q.Consumer, q.ID, q.Epoch = short(q.Consumer), short(q.ID), short(q.Epoch)
	a := answer{Number: q.Number, Kind: q.Kind}
	switch q.Kind {
	case "current":
		if it, open := s.engine.Current(q.Consumer); open {
			a.Result = it
		}
	case "verdict":
		a.Result = s.engine.Verdict(q.ID)
	case "read":
		p, err := s.read(q)
		if a.Result = p; err != nil {
			a.Result, a.Error = nil, err.Error()
		}
	case "ack":
		a.Result = s.engine.Ack(q.Consumer, q.ID, q.Through)
	case "attach":
		a.Result = s.engine.Attach(q.Consumer, time.Now())
	case "detach":
		s.engine.Detach(q.Consumer)
	case "delivered":
		a.Result = s.engine.Delivered(q.Consumer, q.ID, q.Through)
	case "clear":
		a.Result = s.engine.Clear(q.ID)
	case "stats":
		a.Result = s.stats()
	case "explain":
		if it, known := s.engine.Item(q.ID); known {
			a.Result = s.explain(&it)
		}
	case "open":
		a.Result = s.engine.Open([]heed.Item{})
	case "snapshot":
		s.w.saveSoon()
	case "flush":
	default:
		a.Error = fmt.Sprintf("kind is %.40q, which no query is", q.Kind)
	}
	s.w.put(typeAnswer, a)
	return nil
}

// read returns a page of the journal.
func (s *server) read(q *query) (page, error) {
	if q.Limit < 0 || q.Limit > journal.MaxLimit {
		return page{}, fmt.Errorf("limit is %d: must be from 0 to %d", q.Limit, journal.MaxLimit)
	}
	if q.Epoch == "" {
		q.Epoch = s.engine.Latest().Epoch
	}
	p := s.engine.Read(heed.Cursor{Epoch: q.Epoch, Seq: q.After}, q.Limit,
		journal.Filter{MinDisposition: q.Least, Operation: q.ID})
	return page{Epoch: p.Next.Epoch, Next: p.Next.Seq, Lost: p.Lost, More: p.More, Records: p.Records}, p.Err
}

// stats returns the accounting.
func (s *server) stats() map[string]any {
	st := s.engine.Stats()
	return map[string]any{
		"lines":         s.lines.Load(),
		"latestLine":    s.latest.Load(),
		"received":      st.Received,
		"ignored":       st.Ignored,
		"folded":        st.Folded,
		"open":          st.Coalesce.Open,
		"opened":        st.Coalesce.Opened,
		"acknowledged":  st.Coalesce.Acknowledged,
		"busy":          st.Busy,
		"blind":         st.Blind,
		"dropped":       s.dropped,
		"cutTexts":      s.cutTexts,
		"cutBytes":      s.cutBytes,
		"badFrames":     s.badFrames,
		"unknownFrames": s.unknownFrames,
		"phase":         st.Phase,
		"blindRule":     st.BlindRule,
	}
}

// explain returns why an item is there.
func (s *server) explain(a *heed.Item) map[string]string {
	texts := map[string]string{"summary": a.Summary, "rule": a.Cause.Rule}
	if r := s.rules.Rule(a.Cause.Rule); r != nil {
		texts["meaning"], texts["why"], texts["advice"] = r.Summary, r.Why, r.Advice
	}
	texts["template"], _ = s.engine.Template(a.Cause.Signature)
	texts["blame"] = strings.Join(a.Blame, ", ")
	maps.DeleteFunc(texts, func(_, text string) bool { return text == "" })
	return texts
}
