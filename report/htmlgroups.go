package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

type groupView struct {
	ID          string
	Disposition string
	Severity    string
	Count       uint64
	Shown       string // the count
	First, Last *place
	Forms       uint64
	Template    string
	Frames      []string
	Blame       []string
	Variants    string
	Rule        string
	Summary     string
	Why         string
	Advice      string
	Default     bool
	Escalated   bool
	Reason      []string
	Signature   string
	Spark       string // path of a sketch
	Sample      []sampleText
	More        uint64 // lines of the sample that are left out
}

type countView struct {
	Disposition string
	Word        string // for entries of it
	Entries     string
	Says        string // how many entries in how many groups
	Shown       int
}

func (s *section) groups() {
	for _, d := range dispositions {
		t, rows := &s.doc.tables[d], s.doc.rows(d)
		rows = rows[:min(len(rows), s.share(pageGroups[d]))]
		s.Counts = append(s.Counts, countView{
			Disposition: d.String(), Word: dispositionWords[d], Entries: text.Number(t.Entries), Shown: len(rows),
			Says: text.Many(t.Entries, "entry", "entries") + " in " + text.Many(t.Rows, "group"),
		})
		s.MoreGroups += uint64(t.Rows - len(rows))
		s.Dropped += t.Dropped
		for i := range rows {
			g := s.group(&rows[i])
			g.ID = fmt.Sprintf("%s-g%d", s.ID, len(s.Groups)+1)
			s.Groups = append(s.Groups, g)
		}
	}
}

var dispositionWords = [len(dispositions)]string{
	event.Blocking: "blocking", event.Advisory: "advisory",
	event.Ignore: "ignored",
}

func (s *section) group(row *Row) *groupView {
	rule := s.doc.rules[row.Rule]
	g := &groupView{
		Disposition: row.Disposition.String(), Severity: row.Severity.String(), Count: row.Count, Shown: text.Number(row.Count),
		Forms: row.Forms, Blame: row.Blame, Variants: row.Variants.String(),
		Rule: row.Rule, Summary: sentence(rule.Summary), Why: rule.Why, Advice: sentence(rule.Advice),
		Escalated: row.escalated,
		Signature: row.Signature.String(), First: s.at(row.First, time.Time{}), Last: s.at(row.Last, time.Time{}),
	}
	_, frames, _ := strings.Cut(row.Template, "\n")
	g.Template = row.head(0)
	if frames != "" {
		g.Frames = strings.Split(frames, "\n")
	}
	_, _, g.Default = defaultRule(row.Rule)
	det := row.detail
	if det == nil {
		return g
	}
	g.Spark, g.More, g.Reason, g.First.Time = det.spark.path(), uint64(det.more), det.reason, s.clock(det.time)
	g.Sample = det.sample
	return g
}

// The size of a sparkline in its own units.
const sparkHeight = 16

// path draws the counts as bars. One entry is one unit high, so that it can be seen.
func (s *spark) path() string {
	most := uint64(slices.Max(s.counts[:]))
	var b strings.Builder
	for i, n := range s.counts {
		if n == 0 {
			continue
		}
		h := max(uint64(n)*sparkHeight/most, 2)
		fmt.Fprintf(&b, "M%d %dv-%dh.8v%dz", i, sparkHeight, h, h)
	}
	return b.String()
}
