package report

import (
	"regexp"
	"strings"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
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
	Advice      string
	Rule        ruleRef
	Escalated   bool
	Invalidates bool
	Blame       []string
	Often       string
	First, Last *place
	Samples     []causeSampleView
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

type causeSampleView struct {
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

func (s *section) causeAt(c *Cause) *place { return s.at(c.First, c.time) }

func (s *section) causes(causes []Cause) {
	shown := min(len(causes), s.share(pageCauses))
	s.MoreCauses = uint64(len(causes) - shown)
	for i := range causes[:shown] {
		c := &causes[i]
		v := &causeView{
			Open: i < openCauses, Disposition: c.Disposition.String(), Severity: c.Severity.String(),
			What: sentence(c.Summary), Why: sentence(c.Why), Advice: sentence(c.Advice), Rule: s.rule(c.Rule),
			Escalated:   c.Escalated,
			Invalidates: c.Invalidates, Blame: c.Blame,
			Often: c.howOften(), First: s.causeAt(c), Last: s.at(c.Last, time.Time{}), State: c.fate,
			Copy: s.doc.markdownCause(c),
		}
		if c.Items > 1 {
			v.Often += "; " + text.Many(c.Items, "item")
		}
		for _, sample := range c.samples {
			cs := causeSampleView{At: s.at(sample.line, time.Time{}), Text: sample.text}
			if sample.times > 1 {
				cs.Times = text.Number(sample.times) + " times"
			}
			v.Samples = append(v.Samples, cs)
		}
		parts, more := c.first(pageParts)
		v.MoreParts = more
		for _, p := range parts {
			v.Parts = append(v.Parts, partView{
				Disposition: p.disposition.String(), What: sentence(p.what), Rule: s.rule(p.rule), Times: text.Number(p.entries),
				First: s.at(p.first, time.Time{}), Blame: p.blame,
			})
		}
		s.Causes = append(s.Causes, v)
	}
}

// items lists the attention items in the order in which they were opened.
func (s *section) items() {
	items := s.doc.page.items
	items = items[:min(len(items), s.share(pageItems))]
	s.MoreItems = s.doc.Summary.Items.Opened - uint64(len(items))
	for i := range items {
		a := &items[i]
		v := itemView{
			ID: safe(a.ID), Disposition: a.Disposition.String(), Count: text.Number(a.TotalUrgentEntries),
			Summary: sentence(safe(forPeople(a.Summary))), State: "open",
			From: s.at(a.OpenedPos, time.Time{}), To: s.at(a.LatestPos, time.Time{}),
		}
		if a.State == cleared {
			v.State = strings.ReplaceAll(string(a.ClearedBy), "_", " ")
		}
		s.Items = append(s.Items, v)
		s.chart.Items = append(s.chart.Items, chartItem{
			From: s.moment(a.OpenedAtSequence), To: s.moment(a.LatestSequence), Blocking: a.Disposition == event.Blocking,
			line: a.OpenedPos, id: v.ID,
		})
	}
}

// forPeople leaves out of the summary of an item what is meant for an agent: where to read on, at which entry
// of the journal it began, and what to read again. A report has no journal, but it has the lines.
func forPeople(summary string) string {
	short, _, _ := strings.Cut(summary, "; see entries after ")
	const changed = "; the game's state may have changed"
	short = strings.Replace(short, changed+": read it again", changed, 1)
	return sinceEntry.ReplaceAllString(short, "")
}

var sinceEntry = regexp.MustCompile(`; first at entry \d+`)

// moment returns where on the chart an entry stands, by its number. In time
// that is as exact as the chart.
func (s *section) moment(seq uint64) float64 {
	p := s.doc.page
	if !p.clock {
		return float64(seq)
	}
	h := &p.byRecord
	at := p.first
	for i := range min(int((max(seq, 1)-1)>>h.shift)+1, h.used) {
		if t := h.buckets[i].time; t.After(at) {
			at = t
		}
	}
	return seconds(at)
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
