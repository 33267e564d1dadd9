package report

import (
	"regexp"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
)

// ruleRef names a rule, which is a link where a group shows what it decided.
type ruleRef struct {
	Name string

	section *section
}

// Href returns the id of the weightiest group that the rule decided about, ""
// where the page has none.
func (r ruleRef) Href() string { return r.section.ofRule[r.Name] }

type causeView struct {
	Open        bool
	Disposition string
	Severity    string
	What, Why   string
	Rule        ruleRef
	Escalated   bool
	Invalidates bool
	Blame       []string
	Often       string
	First, Last *place
	Samples     []causeSample
	Parts       []partView // what came with it
	MoreParts   int        // rules
	State       string
	Copy        string // as Markdown
}

// partView is what another rule than the cause's decided in the same items.
type partView struct {
	Disposition string
	What        string
	Rule        ruleRef
	Times       string
	First       *place
	Blame       []string
}

type causeSample struct {
	At    *place
	Times string
	Text  string
}

type itemView struct {
	ID          string
	Disposition string
	Count       string
	Summary     string
	State       string
	From, To    *place
}

func (s *section) causeAt(c *cause) *place {
	return s.at(c.First, s.replay.details.causes[causeKey{c.Rule, c.Disposition}])
}

func (s *section) causes(causes []*cause) {
	r := s.replay
	shown := min(len(causes), s.share(pageCauses))
	s.MoreCauses = uint64(len(causes) - shown)
	for i, c := range causes[:shown] {
		what, why := r.explain(c)
		v := &causeView{
			Open: i < openCauses, Disposition: c.Disposition.String(), Severity: c.Severity.String(),
			What: sentence(safe(what)), Why: sentence(safe(why)), Rule: s.rule(c.Rule), Escalated: r.escalated(c.Rule, c.Disposition),
			Invalidates: c.Invalidates, Blame: safeAll(c.FirstItem.Blame),
			Often: howOften(c), First: s.causeAt(c), Last: s.at(c.Last, time.Time{}),
			Copy: r.markdownCause(c),
		}
		if c.Items > 1 {
			v.Often += " in " + many(c.Items, "item", "items")
		}
		v.State = r.fateOf(c)
		for _, sample := range c.samples() {
			cs := causeSample{At: s.at(sample.FirstPos, time.Time{}), Text: safe(sample.Message)}
			if sample.RepeatCount > 1 {
				cs.Times = grouped(sample.RepeatCount) + " times"
			}
			v.Samples = append(v.Samples, cs)
		}
		s.parts(v, c)
		s.Causes = append(s.Causes, v)
	}
}

// parts lists what came with a cause.
func (s *section) parts(v *causeView, c *cause) {
	others, more := c.others(pageParts)
	v.MoreParts = more
	for _, o := range others {
		what, _ := s.replay.describe(o.rule, c.Severity)
		v.Parts = append(v.Parts, partView{
			Disposition: o.disposition.String(), What: sentence(safe(what)), Rule: s.rule(o.rule), Times: grouped(o.entries),
			First: s.at(o.first, time.Time{}), Blame: safeAll(o.blame),
		})
	}
}

// items lists the attention items in the order in which they were opened.
func (s *section) items() {
	r := s.replay
	var order []string
	latest := map[string]*heed.Attention{}
	see := func(a *heed.Attention) {
		if latest[a.ID] == nil {
			order = append(order, a.ID)
		}
		latest[a.ID] = a
	}
	first, last := r.timeline.ends()
	for _, updates := range [][]heed.Update{first, last} {
		for i := range updates {
			see(&updates[i].Attention)
		}
	}
	for _, id := range order {
		if it := r.causes.open[id]; it != nil { // updates are few: there may have been more since
			see(&it.attention)
		}
	}
	order = order[:min(len(order), s.share(pageItems))]
	s.MoreItems = r.causes.items - uint64(len(order))
	for _, id := range order {
		a := latest[id]
		v := itemView{
			ID: safe(a.ID), Disposition: a.Disposition.String(), Count: grouped(a.TotalUrgentEntries),
			Summary: sentence(safe(forPeople(a.Summary))), State: "open",
			From: s.at(a.OpenedPos, time.Time{}), To: s.at(a.LatestPos, time.Time{}),
		}
		if a.State == cleared {
			v.State = strings.ReplaceAll(string(a.ClearedBy), "_", " ")
		}
		s.Items = append(s.Items, v)
		s.chart.Items = append(s.chart.Items, chartItem{
			From: s.moment(a.OpenedAtSequence), To: s.moment(a.LatestSequence), Blocking: a.Disposition == event.Blocking, line: a.OpenedPos, id: v.ID,
		})
	}
}

// forPeople leaves out of the summary of an item where an agent reads on, and at
// which entry of the journal it began: nobody who looks at a page has the
// journal, and the page tells the lines.
func forPeople(summary string) string {
	short, _, _ := strings.Cut(summary, "; read the journal after ")
	return sinceEntry.ReplaceAllString(short, "")
}

var sinceEntry = regexp.MustCompile(`; since entry \d+`)

// moment returns where on the chart an entry stands, by its number. In time
// that is as exact as the chart.
func (s *section) moment(seq uint64) float64 {
	d := s.replay.details
	if !d.hasClock() {
		return float64(seq)
	}
	h := &d.byRecord
	at := d.first
	for i := range min(int((max(seq, 1)-1)>>h.shift)+1, h.used) {
		if t := h.buckets[i].time; t.After(at) {
			at = t
		}
	}
	return seconds(at)
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
